//! From a value to a share of the colour bar, and the numbers beside it.

/// Range above which a linear scale hides the small values: it becomes logarithmic.
const LOG_RATIO: f64 = 1000.0;

/// How the values of a matrix map to 0..1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Nothing to show.
    Empty,
    /// 0 to the largest value.
    Linear {
        /// Largest value.
        max: f64,
    },
    /// The smallest to the largest value, by powers of ten.
    Log {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
}

impl Scale {
    /// The scale for these values; zeros do not count.
    pub fn of(values: impl Iterator<Item = f64>) -> Self {
        let (mut min, mut max) = (f64::INFINITY, 0.0f64);
        for value in values.filter(|value| *value > 0.0) {
            (min, max) = (min.min(value), max.max(value));
        }
        match max / min {
            _ if max == 0.0 => Self::Empty,
            ratio if ratio > LOG_RATIO => Self::Log { min, max },
            _ => Self::Linear { max },
        }
    }

    /// Position of a value that is not zero.
    pub fn share(self, value: f64) -> f64 {
        match self {
            Self::Empty => 0.0,
            Self::Linear { max } => value / max,
            Self::Log { min, max } => (value / min).ln() / (max / min).ln(),
        }
    }

    /// Values to label, ascending, the ends included.
    pub fn ticks(self) -> Vec<f64> {
        match self {
            Self::Empty => Vec::new(),
            Self::Linear { max } => linear_ticks(max),
            Self::Log { min, max } => log_ticks(min, max),
        }
    }

    /// True if the picture has to say that steps are not equal.
    pub fn is_log(self) -> bool {
        matches!(self, Self::Log { .. })
    }
}

/// Multiples of 1, 2, 2.5 or 5 times a power of ten, and the maximum. Ticks closer to it than half a step collide.
fn linear_ticks(max: f64) -> Vec<f64> {
    let raw = max / 5.0;
    let magnitude = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * magnitude).into_iter().find(|s| *s >= raw).unwrap_or(raw);
    let mut ticks: Vec<f64> = (0..).map(|i| f64::from(i) * step).take_while(|tick| *tick <= max - step * 0.5).collect();
    ticks.push(max);
    ticks
}

/// Powers of ten between the ends, at most about six, and the ends.
fn log_ticks(min: f64, max: f64) -> Vec<f64> {
    let (first, last) = (min.log10().floor() as i32, max.log10().ceil() as i32);
    let step = ((last - first) / 6).max(1) as usize;
    let decades = (first..=last).step_by(step).map(|power| 10f64.powi(power));
    // A third of a decade (times the step) keeps the labels apart.
    let gap = 10f64.powf(0.34 * step as f64);
    let mut ticks = vec![min];
    ticks.extend(decades.filter(|tick| *tick > min * gap && *tick < max / gap));
    ticks.push(max);
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_range_is_logarithmic() {
        assert_eq!(Scale::of([0.0, 1.0, 1000.0].into_iter()), Scale::Linear { max: 1000.0 });
        assert_eq!(Scale::of([2.0, 0.0, 2001.0].into_iter()), Scale::Log { min: 2.0, max: 2001.0 });
        assert_eq!(Scale::of([0.0].into_iter()), Scale::Empty);
    }

    #[test]
    fn shares_begin_and_end_with_the_scale() {
        let log = Scale::Log { min: 10.0, max: 100_000.0 };
        assert_eq!((log.share(10.0), log.share(100_000.0)), (0.0, 1.0));
        assert!((log.share(1000.0) - 0.5).abs() < 1e-12);
        assert_eq!(Scale::Linear { max: 8.0 }.share(2.0), 0.25);
    }

    #[test]
    fn ticks_are_round_and_apart() {
        assert_eq!(Scale::Linear { max: 47.0 }.ticks(), [0.0, 10.0, 20.0, 30.0, 40.0, 47.0]);
        assert_eq!(Scale::Linear { max: 1.0 }.ticks().len(), 6);
        assert_eq!(Scale::Log { min: 1.0, max: 120_000.0 }.ticks(), [1.0, 10.0, 100.0, 1e3, 1e4, 120_000.0]);
        assert_eq!(Scale::Log { min: 1.0, max: 1e15 }.ticks().len(), 9);
    }
}
