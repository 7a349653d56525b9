//! Which events a thread looks up in the index of allocations: one in so many, fewer the more it knows.
//!
//! Intervals are random, because programs read their arrays in turns: every eighth read may always be the same one's.

/// Counts down to the next event that is looked up. Starts with one that is.
#[derive(Default)]
pub struct Lookups {
    until: u32,
    /// Made so far, by all threads that the block has served.
    made: u32,
}

impl Lookups {
    /// Whether one of the next `n` events is to be looked up.
    #[inline(always)]
    pub fn are_due(&self, n: u64) -> bool {
        n >= u64::from(self.until)
    }

    /// So many events can be counted before one is due, which takes one more.
    #[inline(always)]
    pub fn left(&self) -> u32 {
        self.until.saturating_sub(1)
    }

    /// `n` events of which none was due, or which went by uncounted.
    #[inline(always)]
    pub fn pass(&mut self, n: u32) {
        self.until = self.until.saturating_sub(n);
    }

    /// Of `n` events that follow each other, the number of the next one that is looked up, from 1, and how many events
    /// it stands for where one in `least` is asked for. `random` is what the interval after it is made of. None: all
    /// pass.
    pub fn next_of(&mut self, n: u64, least: u64, random: u64) -> Option<(u64, u64)> {
        if n == 0 || !self.are_due(n) {
            self.pass(n as u32);
            return None;
        }
        let number = u64::from(self.until.max(1));
        let weight = period(self.made, least);
        self.made = self.made.saturating_add(1);
        // Uniform from 1 to 2n - 1, which is n on average: a step of a linear congruential generator (Knuth, MMIX).
        let mixed = random.wrapping_mul(6_364_136_223_846_793_005) >> 33;
        self.until = (mixed % (2 * period(self.made, least) - 1)) as u32 + 1;
        Some((number, weight))
    }
}

/// One in how many events a thread looks up, which has looked up so many. A share of a thread's events is known to 3 %
/// after 1024 of them; from there on each doubling of its precision may cost as much as the one before. Who asks for
/// all of them (`least` 1) gets all.
fn period(made: u32, least: u64) -> u64 {
    let doublings = if least > 1 { (made / 1024).min(6) } else { 0 };
    // Not 0: nothing is looked up then.
    (least << doublings).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A period is followed by itself or by its double, up to 64 times the first one.
    #[test]
    fn lookups_become_rarer_step_by_step_unless_all_are_asked_for() {
        for made in [0, 1, 1023, 1024, 1 << 20, u32::MAX] {
            assert_eq!(period(made, 1), 1, "{made}");
            let (now, next) = (period(made, 64), period(made.saturating_add(1), 64));
            assert!((64..=64 * 64).contains(&now) && now <= next && next <= 2 * now, "{made}: {now}");
        }
        assert!(period(0, 64) == 64 && period(u32::MAX, 64) > 64);
    }

    #[test]
    fn weights_of_all_lookups_add_up_to_the_events() {
        for (least, tolerance) in [(1, 0.0), (64, 0.05)] {
            let mut lookups = Lookups::default();
            let (mut events, mut weights, mut random) = (0, 0, 1u64);
            for size in (1..2000).cycle().take(40_000) {
                let mut rest = size;
                while let Some((number, weight)) = lookups.next_of(rest, least, random) {
                    random = random.wrapping_mul(2_862_933_555_777_941_757).wrapping_add(3_037_000_493);
                    assert!((1..=rest).contains(&number));
                    rest -= number;
                    weights += weight;
                }
                events += size;
            }
            assert!((weights as f64 / events as f64 - 1.0).abs() <= tolerance, "{least}: {weights} of {events}");
        }
    }
}
