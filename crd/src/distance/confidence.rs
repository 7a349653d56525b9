//! How much quantiles of sampled distances are worth.
//!
//! By the inequality of Dvoretzky, Kiefer and Wolfowitz (Annals of Mathematical Statistics 27, 1956), with the constant
//! of Massart (Annals of Probability 18, 1990), the shares found in `n` independent samples are nowhere further from
//! the true ones than `sqrt(ln(2 / 0.05) / 2n)`, with 95 % confidence. A trace whose samples stand for `w` usages each
//! has that error in its own part of the whole; the variances of several traces add up.
//!
//! Samples that were given up (the element was overwritten, or used elsewhere first) are not drawn by chance: their
//! distances may be anything, so all of their share adds to the error. Profiles say where the choice of what was given
//! up was made by chance, and the weights of the others make up for it: then it costs certainty, and nothing is
//! missing. What the transform from index to distinct distances may get wrong by chance is added by [`super::combine`].

/// ln(2 / 0.05) / 2.
const FACTOR: f64 = 1.844_439_727_056_968;

/// Sum of what sampled traces are unsure about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Confidence {
    /// Sum of (usages that a trace's samples stand for)^2 / (number of its samples).
    variance: f64,
    /// Samples, and the usages that they stand for.
    samples: f64,
    usages: f64,
    /// Usages that samples stand for which were given up.
    lost: f64,
    /// The same samples in traces of which no sample is known, so that nobody knows what each stands for.
    all_lost: f64,
}

impl Confidence {
    /// Adds a trace: `samples` that stand for `usages` together, and `abandoned` ones.
    pub fn add_samples(&mut self, samples: u64, usages: f64, abandoned: u64) {
        if samples == 0 {
            self.all_lost += abandoned as f64;
            return;
        }
        let number = samples as f64;
        self.variance += usages * usages / number;
        self.samples += number;
        self.usages += usages;
        self.lost += abandoned as f64 * usages / number;
    }

    /// Adds a trace whose samples stand for those that were given up as well. Of `n` samples with weights `w` as many
    /// as `sum(w)^2 / sum(w^2)` count (Kish, Survey Sampling, 1965); as one given up is passed on to three others of
    /// its set, they are taken for `n / (n + abandoned)` of the whole.
    pub fn add_weighted(&mut self, samples: u64, usages: f64, abandoned: u64) {
        if samples == 0 {
            self.all_lost += abandoned as f64;
            return;
        }
        let number = samples as f64;
        self.variance += usages * usages / number * (number + abandoned as f64) / number;
        self.samples += number;
        self.usages += usages;
    }

    /// Adds other traces.
    pub fn add(&mut self, other: Self) {
        self.variance += other.variance;
        self.samples += other.samples;
        self.usages += other.usages;
        self.lost += other.lost;
        self.all_lost += other.all_lost;
    }

    /// How far ranks may be off in a histogram of `count` usages, those that were followed exactly included; at most 1.
    /// Traces without a sample count as if each of theirs stood for as much as the others.
    pub fn rank_error(self, count: f64) -> f64 {
        if self.samples == 0.0 {
            return if self.all_lost > 0.0 { 1.0 } else { 0.0 };
        }
        let lost = self.lost + self.all_lost * self.usages / self.samples;
        ((FACTOR * self.variance).sqrt() / count + lost / (count + lost)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_is_that_of_95_percent() {
        assert!((FACTOR - (2.0f64 / 0.05).ln() / 2.0).abs() < 1e-12);
    }

    #[test]
    fn what_was_followed_exactly_has_no_error_and_few_samples_have_a_large_one() {
        let of = |parts: &[(u64, f64)], exact: f64| {
            let mut all = Confidence::default();
            parts.iter().for_each(|(samples, usages)| all.add_samples(*samples, *usages, 0));
            all.rank_error(parts.iter().map(|(_, usages)| usages).sum::<f64>() + exact)
        };
        let near = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-4, "{found} for {expected}");
        assert_eq!((of(&[], 7.0), of(&[], 0.0), of(&[(1, 5.0)], 0.0)), (0.0, 0.0, 1.0));
        near(of(&[(200, 1000.0)], 0.0), 0.0960);
        // As much again that is exact; the same samples in two traces; a trace that is nearly all, with few samples.
        near(of(&[(200, 1000.0)], 1000.0), 0.0480);
        near(of(&[(100, 500.0), (100, 500.0)], 0.0), 0.0960);
        near(of(&[(10, 900.0), (190, 100.0)], 0.0), 0.3867);
    }

    #[test]
    fn what_was_given_up_may_be_anything() {
        let of = |traces: &[(u64, f64, u64)], count: f64| {
            let mut all = Confidence::default();
            traces.iter().for_each(|(samples, usages, abandoned)| all.add_samples(*samples, *usages, *abandoned));
            all.rank_error(count)
        };
        // 1000 samples for 8 usages each, and 250 of them that were given up: a fifth of all.
        let (sure, expected) = (of(&[(1000, 8000.0, 0)], 8000.0), 0.2);
        assert!((of(&[(1000, 8000.0, 250)], 8000.0) - sure - expected).abs() < 1e-12);
        // Those of a trace that has no others.
        assert!((of(&[(1000, 8000.0, 0), (0, 0.0, 250)], 8000.0) - sure - expected).abs() < 1e-12);
        assert_eq!((of(&[(0, 0.0, 250)], 0.0), of(&[(0, 0.0, 250)], 4096.0)), (1.0, 1.0));
    }

    /// Samples of known distances, drawn again and again: no more than a twentieth of the draws is further off.
    #[test]
    fn the_error_covers_samples_of_known_distances() {
        let mut state = 42u64;
        let mut random = || {
            // Knuth's constants; the upper bits are the good ones.
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        for (samples, exact) in [(20u64, 0.0), (200, 0.0), (50, 1000.0)] {
            let sampled = 1000.0;
            let mut confidence = Confidence::default();
            confidence.add_samples(samples, sampled, 0);
            let allowed = confidence.rank_error(sampled + exact);
            let draws = 2000;
            let misses = (0..draws).filter(|_| {
                let mut drawn: Vec<f64> = (0..samples).map(|_| random()).collect();
                drawn.sort_by(f64::total_cmp);
                // The true share of what is at most x is x; the exact part is right everywhere.
                let off = drawn.iter().enumerate().map(|(i, x)| {
                    let [below, up_to] = [i, i + 1].map(|n| n as f64 / samples as f64);
                    (x - below).abs().max((up_to - x).abs()) * sampled / (sampled + exact)
                });
                off.fold(0.0, f64::max) > allowed
            });
            assert!(misses.count() as f64 <= 0.055 * f64::from(draws), "{samples} samples");
        }
    }
}
