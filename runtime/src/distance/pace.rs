//! How long traces are exact, and how often they are sampled then.

use super::shares::Shares;
use super::waiters::Waiters;
use threadtalk_profile::layout::CrdMode;

/// How reuse distances are measured in this run.
#[derive(Clone, Copy)]
pub struct Plan {
    /// Off, auto or exact.
    pub mode: CrdMode,
    /// Usages of a trace that are exact before sampling begins, where it has its region for itself.
    pub exact_usages: u64,
    /// Least sampling period.
    pub least_period: u64,
    /// How many traces share a region.
    pub shares: Shares,
    /// How many threads wait for an element.
    pub waiters: Waiters,
}

/// Longest sampling period of a trace alone in its region: at 1 ns an event, which is what whole loops take, one
/// sample in 65 microseconds of pure reuse.
const LONGEST_PERIOD: u64 = 1 << 16;
/// The period grows so that a trace has about this many samples between two doublings of its length, or its share
/// of what two traces have.
const SAMPLES_PER_DOUBLING: u64 = 2048;
/// A trace of many in its region is exact for so many usages at least.
const LEAST_EXACT: u64 = 128;

/// Reads of other traces in whose way the watches of a trace may be before its period doubles, or its share. At 40 ns
/// each, a millisecond.
const MOST_IN_THE_WAY: u64 = 1 << 15;

/// Watches pushed out before a thread's period doubles.
const MOST_PUSHED_OUT: u32 = 256;
/// Where doubling ends: one sample in some 10 ms of pure reuse.
const MOST_CROWDED_PERIOD: u64 = 1 << 20;

impl Plan {
    /// How many usages of a trace of this region are exact.
    pub fn exact_usages(&self, region: u32) -> u64 {
        (self.exact_usages / self.shares.of(region)).max(LEAST_EXACT.min(self.exact_usages))
    }

    /// How many reads of other traces the watches of a trace of this region may send to the slow path before its period
    /// doubles. An element that a step's loop reads once is marked a step long, and another loop may read it a hundred
    /// times in between, as all other threads do: in each of those reads it costs what a sample costs.
    pub fn most_in_the_way(&self, region: u32) -> u64 {
        MOST_IN_THE_WAY / self.shares.of(region)
    }
}

/// When a thread's next samples are due.
pub struct Pace {
    random: u64,
    /// Least period of this thread: doubles as long as watches push each other out.
    least_period: u64,
    pushed_out: u32,
}

impl Pace {
    /// That of a thread that has sampled nothing.
    pub fn new() -> Self {
        Self { random: 0x2545_F491_4F6C_DD1D, least_period: 1, pushed_out: 0 }
    }

    /// As [`Self::new`], but what is random goes on.
    pub fn begin_anew(&mut self) {
        (self.least_period, self.pushed_out) = (1, 0);
    }

    /// The sampling period of a trace of this region that has `clock` events, and whose period was doubled so often
    /// because its watches were in the way.
    pub fn period(&self, clock: u64, region: u32, doublings: u32, plan: &Plan) -> u64 {
        let least = plan.least_period.max(self.least_period);
        let share = plan.shares.of(region);
        let longest = LONGEST_PERIOD.saturating_mul(share).min(MOST_CROWDED_PERIOD);
        let period = (clock.saturating_mul(share) / SAMPLES_PER_DOUBLING).clamp(least, longest.max(least));
        (period << doublings).min(MOST_CROWDED_PERIOD.max(period))
    }

    /// A watch was pushed out. Long intervals are the ones that suffer, so too many of these bend the histogram: sample
    /// less. A quarter of a full table between two doublings lets elements that are never used again leave without
    /// effect.
    pub fn crowded(&mut self) {
        self.pushed_out += 1;
        if self.pushed_out == MOST_PUSHED_OUT {
            self.pushed_out = 0;
            self.least_period = (self.least_period.max(16) * 2).min(MOST_CROWDED_PERIOD);
        }
    }

    /// A random number around `period`, so that sampling does not fall into step with a loop.
    pub fn gap(&mut self, period: u64) -> u64 {
        period / 2 + self.random() % period.max(1) + 1
    }

    /// The next random number: xorshift64*.
    pub fn random(&mut self) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        self.random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_grow_with_the_clock_and_with_what_watches_cost_others() {
        let shares = Shares::new().unwrap();
        (0..32).for_each(|_| shares.enter(3));
        let waiters = Waiters::new().unwrap();
        let plan = Plan { mode: CrdMode::Auto, exact_usages: 4096, least_period: 16, shares, waiters };
        let pace = Pace::new();
        assert_eq!([0, 1 << 12, 1 << 20].map(|clock| pace.period(clock, 3, 0, &plan)), [16, 32, 1 << 13]);
        assert_eq!([0, 1 << 12, 1 << 20].map(|clock| pace.period(clock, 3, 2, &plan)), [64, 128, 1 << 15]);
        assert_eq!([0, 4].map(|doublings| pace.period(1 << 40, 3, doublings, &plan)), [MOST_CROWDED_PERIOD; 2]);
        assert_eq!([3, 8].map(|region| plan.most_in_the_way(region)), [MOST_IN_THE_WAY / 16, MOST_IN_THE_WAY]);
    }
}
