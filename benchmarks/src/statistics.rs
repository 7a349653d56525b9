//! Summaries of repeated measurements.

use serde::{Deserialize, Serialize};

/// Which of several runs stands for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Summary {
    /// The least: what a busy machine adds is only ever positive.
    Minimum,
    /// The middle one (the mean of the two middle ones).
    Median,
}

impl Summary {
    /// The value that stands for `values`; `None` if there are none.
    pub fn of(self, values: &[f64]) -> Option<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match self {
            Summary::Minimum => sorted.first().copied(),
            Summary::Median if sorted.is_empty() => None,
            Summary::Median if sorted.len() % 2 == 1 => Some(sorted[middle]),
            Summary::Median => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
        }
    }
}

/// The geometric mean of positive ratios; `None` if there are none.
pub fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    if ratios.is_empty() {
        return None;
    }
    Some((ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_do_not_depend_on_the_order() {
        assert_eq!(Summary::Minimum.of(&[3.0, 1.0, 2.0]), Some(1.0));
        assert_eq!(Summary::Median.of(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(Summary::Median.of(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }

    #[test]
    fn nothing_has_no_summary() {
        assert_eq!(Summary::Minimum.of(&[]), None);
        assert_eq!(Summary::Median.of(&[]), None);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn the_geometric_mean_of_a_ratio_and_its_inverse_is_one() {
        assert!((geometric_mean(&[4.0, 0.25]).unwrap() - 1.0).abs() < 1e-12);
        assert!((geometric_mean(&[2.0, 2.0, 16.0]).unwrap() - 4.0).abs() < 1e-12);
    }
}
