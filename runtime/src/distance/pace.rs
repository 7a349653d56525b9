//! How long traces are exact, and how often they are sampled then.

use super::shares::Shares;
use threadtalk_profile::layout::CrdMode;
use threadtalk_sigmem::Waiters;

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
/// A trace of many in its region is exact for so many usages at least: 240 of them together for as many as two are.
const LEAST_EXACT: u64 = 32;

/// Reads of other traces in whose way the watches of a trace may be before its period doubles, or its share. At 40 ns
/// each, a millisecond.
const MOST_IN_THE_WAY: u64 = 1 << 15;

/// Watches pushed out before a thread's period doubles.
const MOST_PUSHED_OUT: u32 = 256;
/// Where doubling ends: one sample in some 10 ms of pure reuse.
const MOST_CROWDED_PERIOD: u64 = 1 << 20;

impl Plan {
    /// A trace of this region has followed one usage more exactly, and so many by now. Whether it is to be sampled: it
    /// had its share, or all of them together have had what two have. Traces begin one after the other, so that the
    /// first ones have a share of few: with 16 threads 190 000 usages were followed in five regions, a tenth of a short
    /// run.
    pub fn follow(&self, region: u32, usages: u64) -> bool {
        let counts = usages.is_multiple_of(LEAST_EXACT);
        let of_region = self.exact_usages / self.shares.of_regions();
        let all_had = counts && self.shares.follow(region, LEAST_EXACT as u32) >= 2 * of_region;
        all_had || usages >= (of_region / self.shares.of(region)).max(LEAST_EXACT.min(self.exact_usages))
    }

    /// How many reads of other traces the watches of a trace of this region may send to the slow path before its period
    /// doubles. An element that a step's loop reads once is marked a step long, and another loop may read it a hundred
    /// times in between, as all other threads do: in each of those reads it costs what a sample costs.
    pub fn most_in_the_way(&self, region: u32) -> u64 {
        MOST_IN_THE_WAY / self.shares.of(region)
    }
}

/// How many samples a trace of so many events has until it has twice as many; the traces of a region together have as
/// many as two such. A sample takes some three microseconds with all that follows, an event of a loop a nanosecond, so
/// 2048 from the first on took a third of the time of programs that run for a tenth of a second. They grow with the
/// length instead: samples weigh twice as much in each doubling, so that those of the last ones are most of the
/// histogram. In programs with many regions they share.
fn samples_per_doubling(events: u64) -> u64 {
    32 << (events.max(1).ilog2() / 4).clamp(3, 6)
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
    /// because its watches were in the way. What they cost other threads counts for the region as a whole.
    pub fn period(&self, clock: u64, region: u32, doublings: u32, plan: &Plan) -> u64 {
        let least = plan.least_period.max(self.least_period);
        let share = plan.shares.of(region);
        let longest = LONGEST_PERIOD.saturating_mul(share).min(MOST_CROWDED_PERIOD);
        let events = clock.saturating_mul(share);
        let apart = events.saturating_mul(plan.shares.of_regions()) / samples_per_doubling(events);
        let period = apart.clamp(least, longest.max(least));
        (period << (doublings + plan.shares.doublings(region))).min(MOST_CROWDED_PERIOD.max(period))
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

    fn plan(shares: Shares) -> Plan {
        let waiters = Waiters::new(&[]);
        Plan { mode: CrdMode::Auto, exact_usages: 4096, least_period: 16, shares, waiters }
    }

    /// Usages that each of so many traces of a region follows exactly, one after the other.
    fn exact(traces: u32) -> Vec<u64> {
        let shares = Shares::new().unwrap();
        let plan = plan(shares);
        let follow = |_| {
            shares.enter(5);
            (1..).find(|&usages| plan.follow(5, usages)).unwrap()
        };
        (0..traces).map(follow).collect()
    }

    #[test]
    fn traces_of_a_region_are_exact_for_as_many_usages_as_two_are() {
        assert_eq!((exact(1), exact(2)), (vec![4096], vec![4096; 2]));
        let many = exact(240);
        assert_eq!((many[2], many[3], many[239]), (32, 32, 32), "nothing is left");
        let shares = Shares::new().unwrap();
        (0..240).for_each(|_| shares.enter(5));
        assert_eq!((1..).find(|&usages| plan(shares).follow(5, usages)), Some(4096 / 120));
    }

    #[test]
    fn periods_grow_with_the_clock_and_with_what_watches_cost_others() {
        let shares = Shares::new().unwrap();
        (0..32).for_each(|_| shares.enter(3));
        let plan = plan(shares);
        let pace = Pace::new();
        assert_eq!([0, 1 << 12, 1 << 20].map(|clock| pace.period(clock, 3, 0, &plan)), [16, 128, 1 << 13]);
        assert_eq!([0, 1 << 12, 1 << 20].map(|clock| pace.period(clock, 3, 2, &plan)), [64, 512, 1 << 15]);
        assert_eq!([0, 4].map(|doublings| pace.period(1 << 40, 3, doublings, &plan)), [MOST_CROWDED_PERIOD; 2]);
        let of_two = [1 << 12, 1 << 16, 1 << 20, 1 << 24].map(|clock| clock / pace.period(clock, 8, 0, &plan));
        assert_eq!(of_two, [256, 512, 1024, 2048], "samples of one doubling");
        assert_eq!([3, 8].map(|region| plan.most_in_the_way(region)), [MOST_IN_THE_WAY / 16, MOST_IN_THE_WAY]);
    }
}
