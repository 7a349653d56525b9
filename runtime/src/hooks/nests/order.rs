//! When a loop or a nest reads each of a group's granules.

use super::group::Group;
use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::{NestAccess, STEPS, Step};

/// The time that a nest takes. Accesses of one nest may be in loops of different depths, so that there is no number of
/// iterations that all of them count; that of a loop is its iterations.
const NEST: u64 = 1 << 40;

/// How reads move with one loop.
#[derive(Clone, Copy)]
struct Move {
    /// Bytes from one iteration to the next.
    stride: u64,
    /// Iterations.
    count: u64,
    /// Time of one; negative if the first iteration reads the highest address.
    time: i64,
}

/// How much of the iteration that begins at a moment is over.
#[derive(Clone, Copy)]
pub enum Now {
    /// Nothing: the access is behind in the loop's body.
    Ahead,
    /// All of it: the access is before.
    Over,
    /// What lies below this address.
    At(u64),
}

/// Some parts of what is read: see [`Order::slices`].
#[derive(Clone, Copy)]
pub struct Slices {
    /// The loop that goes from one to the next.
    step: u8,
    /// A bit for each.
    bits: u64,
}

impl Slices {
    /// How many of them are below this number.
    fn first(self, number: u64) -> u64 {
        let below = 1u64.checked_shl(number.min(64) as u32).map_or(u64::MAX, |bit| bit - 1);
        u64::from((self.bits & below).count_ones())
    }

    /// The number of the one that has so many of them below it.
    fn number(self, below: u64) -> u64 {
        let rest = (0..below).fold(self.bits, |bits, _| bits & bits.wrapping_sub(1));
        rest.trailing_zeros().into()
    }
}

/// How far the loops of an access are.
pub struct Reached<'o> {
    order: &'o Order,
    /// Iterations of each that are over, outermost first.
    iterations: [u64; STEPS],
    /// Granules that are read of the iteration that is not.
    of_this: u64,
}

impl Reached<'_> {
    /// How many granules are read so far, of some slices or of all.
    pub fn reads(&self, of: Option<Slices>) -> u64 {
        let Order { moves, nested, bytes, .. } = self.order;
        // Whether the iteration that is not over is in one of the slices.
        let (mut iterations, mut counts) = (0u64, true);
        for (&number, &done) in nested.iter().zip(&self.iterations) {
            let Some(step) = moves.get(usize::from(number)).filter(|step| step.count > 1) else { continue };
            let (all, before, has) = match of.filter(|some| some.step == number) {
                None => (step.count, done, true),
                Some(some) => (some.first(step.count), some.first(done), some.first(done + 1) > some.first(done)),
            };
            iterations = iterations.saturating_mul(all).saturating_add(if counts { before } else { 0 });
            counts &= has;
        }
        let of_this = if counts { self.of_this } else { 0 };
        iterations.saturating_mul(bytes / GRANULE).saturating_add(of_this)
    }
}

/// The reads of a group, each as often as it happens.
#[derive(Clone, Copy)]
pub struct Order {
    /// The lowest address...
    first: u64,
    /// ...and when it is read first.
    begin: i64,
    /// Bytes of one iteration.
    bytes: u64,
    /// The loops. Short strides first, so that what a longer one leaves of a distance belongs to those before it;
    /// loops that all read the same as they are nested, innermost first.
    moves: [Move; STEPS],
    /// Numbers of them, outermost first.
    nested: [u8; STEPS],
}

impl Order {
    /// Of a loop's group; time counts iterations. What a row reads must have no gaps, and each granule be read as often
    /// as the others.
    pub fn of_loop(group: &Group) -> Self {
        let none = Step { stride: 0, count: 1 };
        let reach = group.to - group.from;
        if let Some(times @ 2..) = group.times {
            let granules = Step { stride: GRANULE as i64, count: reach / GRANULE };
            return Self::new(group.from, GRANULE, [Step { count: times, ..none }, granules, none], [1, times, times]);
        }
        let (stride, count, bytes) = match group.strided {
            Some((stride, count)) => (stride, count, reach),
            None if group.step == 0 => (0, 1, reach),
            None => (group.step as i64, reach.div_ceil(group.step), group.step),
        };
        Self::new(group.from, bytes, [Step { stride, count }, none, none], [1, 1, 1])
    }

    /// Of a nest's access.
    pub fn of_nest(access: &NestAccess) -> Self {
        let mut times = [NEST; STEPS];
        let mut left = NEST;
        for (time, step) in times.iter_mut().zip(&access.steps).rev() {
            left = left.checked_div(step.count).unwrap_or(left);
            *time = left;
        }
        Self::new(access.address, u64::from(access.bytes), access.steps, times)
    }

    fn new(address: u64, bytes: u64, steps: [Step; STEPS], times: [u64; STEPS]) -> Self {
        let (mut first, mut begin) = (address, 0);
        let mut moves = [Move { stride: 0, count: 1, time: 0 }; STEPS];
        for ((place, step), time) in moves.iter_mut().zip(steps).zip(times) {
            *place = Move { stride: step.stride.unsigned_abs(), count: step.count, time: time as i64 };
            if step.stride < 0 {
                let last = step.count as i64 - 1;
                first = first.wrapping_add_signed(step.stride.wrapping_mul(last));
                begin += place.time * last;
                place.time = -place.time;
            }
        }
        for (one, other) in [(0, 1), (1, 2), (0, 1)] {
            if moves[one].stride > moves[other].stride {
                moves.swap(one, other);
            }
        }
        let mut nested = [0, 1, 2];
        for (one, other) in [(0, 1), (1, 2), (0, 1)] {
            let time = |of: usize| moves[nested[of] as usize].time.unsigned_abs();
            if time(one) < time(other) {
                nested.swap(one, other);
            }
        }
        Order { first, begin, bytes, moves, nested }
    }

    /// How many reads of granules there are, of some slices or of all.
    pub fn reads(&self, of: Option<Slices>) -> u64 {
        self.moves(of).fold(self.bytes / GRANULE, |reads, (_, count, _)| reads.saturating_mul(count))
    }

    /// One of them: its address, and when it is.
    pub fn read(&self, number: u64, of: Option<Slices>) -> (u64, u64) {
        let each = (self.bytes / GRANULE).max(1);
        let (mut rest, mut address, mut at) = (number / each, self.first + number % each * GRANULE, self.begin);
        for (step, count, some) in self.moves(of) {
            let i = rest.checked_rem(count).unwrap_or(0);
            let i = some.map_or(i, |some| some.number(i));
            rest = rest.checked_div(count).unwrap_or(0);
            (address, at) = (address + step.stride * i, at + step.time * i as i64);
        }
        (address, at as u64)
    }

    /// The loops that have several iterations, or of which some slices are meant, and how many of their iterations.
    fn moves(&self, of: Option<Slices>) -> impl Iterator<Item = (&Move, u64, Option<Slices>)> {
        (0..).zip(&self.moves).filter(|(_, step)| step.count > 1).map(move |(number, step)| {
            let some = of.filter(|some| some.step == number);
            (step, some.map_or(step.count, |some| some.first(step.count)), some)
        })
    }

    /// Whether a granule that is read lies in these slices.
    pub fn is_in(&self, address: u64, of: Slices) -> bool {
        let stride = self.moves.get(usize::from(of.step)).map_or(0, |step| step.stride);
        let number = address.checked_sub(self.first).and_then(|distance| distance.checked_div(stride));
        number.is_some_and(|number| number < 64 && of.bits >> number & 1 == 1)
    }

    /// When a granule is read first, or first after a given time, if it is.
    pub fn next(&self, address: u64, after: Option<u64>) -> Option<u64> {
        let mut rest = address.checked_sub(self.first)?;
        let mut first = self.begin;
        for step in self.moves.iter().rev().filter(|step| step.stride > 0) {
            let i = (rest / step.stride).min(step.count - 1);
            (rest, first) = (rest - step.stride * i, first + step.time * i as i64);
        }
        if rest >= self.bytes {
            return None;
        }
        let first = first as u64;
        let Some(mut rest) = after.and_then(|after| after.checked_sub(first)) else { return Some(first) };
        let (mut at, mut next) = (first, None);
        for step in self.moves.iter().rev().filter(|step| step.stride == 0 && step.count > 1) {
            let time = step.time as u64;
            let i = rest.checked_div(time).unwrap_or(0).min(step.count - 1);
            if i + 1 < step.count {
                next = Some(at + time * (i + 1));
            }
            (rest, at) = (rest - time * i, at + time * i);
        }
        next
    }

    /// Parts of what is read, of equal size: as many as the loop with the longest stride has iterations. The distance
    /// from one to the next; how many there are.
    pub fn slices(&self) -> (u64, u64) {
        self.longest().map_or((u64::MAX, 1), |(_, step)| (step.stride, step.count))
    }

    fn longest(&self) -> Option<(u8, &Move)> {
        (0..).zip(&self.moves).filter(|(_, step)| step.count > 1 && step.stride > 0).last()
    }

    /// These slices, a bit for each.
    pub fn some(&self, bits: u64) -> Option<Slices> {
        self.longest().filter(|(_, step)| step.time >= 0).map(|(step, _)| Slices { step, bits })
    }

    /// How far the loops are at a moment, and of an iteration that begins then, how much is over.
    pub fn reached(&self, at: u64, now: Now) -> Reached<'_> {
        let (mut rest, mut address) = (at, self.first);
        let mut reached = Reached { order: self, iterations: [0; STEPS], of_this: 0 };
        let mut running = true;
        for (&number, done) in self.nested.iter().zip(&mut reached.iterations) {
            // In loops with one iteration it is the first one.
            let Some(step) = self.moves.get(usize::from(number)).filter(|step| step.count > 1) else { continue };
            let time = step.time.unsigned_abs();
            let mut i = rest.checked_div(time).unwrap_or(0);
            if i >= step.count {
                // The last one is over.
                (i, rest, running) = (step.count, 0, false);
            }
            rest -= time.saturating_mul(i).min(rest);
            let place = if step.time < 0 { (step.count - 1).saturating_sub(i) } else { i };
            address = address.wrapping_add(step.stride.wrapping_mul(place));
            *done = i;
        }
        let each = self.bytes / GRANULE;
        reached.of_this = match now {
            _ if !running => 0,
            _ if rest > 0 => each,
            Now::Ahead => 0,
            Now::Over => each,
            Now::At(to) => (to.saturating_sub(address) / GRANULE).min(each),
        };
        reached
    }

    /// Whether bytes side by side, a row of what it reads once, are read one after the other from the first on.
    pub fn reads_at_once(&self, bytes: u64) -> bool {
        let mut longest = 0;
        self.moves.iter().filter(|step| step.count > 1).all(|step| {
            let later = step.time > longest;
            if step.stride < bytes {
                longest = step.time;
            }
            later
        })
    }

    /// From when to when it reads, both included.
    pub fn range(&self) -> (u64, u64) {
        let mut range = (self.begin, self.begin);
        let mut least = i64::MAX;
        for step in self.moves.iter().filter(|step| step.count > 1) {
            let whole = step.time * (step.count as i64 - 1);
            range = (range.0 + whole.min(0), range.1 + whole.max(0));
            least = least.min(step.time.abs());
        }
        // The last iteration takes its time, too.
        let rest = if least == i64::MAX { 0 } else { least - 1 };
        (range.0 as u64, (range.1 + rest) as u64)
    }

    /// From when to when a row that begins at an address is read: `bytes` of it side by side.
    pub fn range_of(&self, row: u64, bytes: u64) -> (u64, u64) {
        let mut of_row = *self;
        for step in of_row.moves.iter_mut().filter(|step| step.stride >= bytes) {
            step.count = 1;
        }
        of_row.begin = self.next(row, None).map_or(self.begin, |at| at as i64);
        of_row.range()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wide::Wide;
    use fastrand::Rng;

    const START: u64 = 0x7000_0000;

    fn group(strided: Option<(i64, u64)>, to: u64, step: u64) -> Group {
        let site = Some(1);
        let (writes, times) = (Wide::No, Some(1));
        Group { number: 0, from: 1000, to, strided, step, writes, times, site, granules: 0, key: 0 }
    }

    #[test]
    fn reads_of_a_loop_are_what_its_iterations_read() {
        let of = |group: &Group| {
            let order = Order::of_loop(group);
            let reads: Vec<_> = (0..order.reads(None)).map(|number| order.read(number, None)).collect();
            assert!(reads.iter().all(|&(address, at)| order.next(address, None) == Some(at)), "{reads:?}");
            assert!(reads.iter().all(|&(address, at)| order.next(address, Some(at)).is_none()), "{reads:?}");
            assert_eq!(order.range(), (0, reads.iter().map(|(_, at)| *at).max().unwrap()));
            reads
        };
        let mut column = of(&group(Some((-96, 3)), 1008, 96));
        column.sort_by_key(|&(address, at)| (at, address));
        assert_eq!(column, [(1000, 0), (1004, 0), (904, 1), (908, 1), (808, 2), (812, 2)]);
        let row = of(&group(None, 1048, 24));
        assert_eq!((row.len(), row[0], row[5], row[6], row[11]), (12, (1000, 0), (1020, 0), (1024, 1), (1044, 1)));
        assert_eq!(of(&group(None, 1008, 0)), [(1000, 0), (1004, 0)], "always the same");
        assert_eq!(Order::of_loop(&group(None, 1048, 24)).next(1048, None), None);
        assert_eq!(Order::of_loop(&group(Some((96, 3)), 1008, 96)).next(1010, None), None, "between two");
    }

    #[test]
    fn parts_of_a_granule_are_read_one_after_the_other() {
        let bytes = Group { times: Some(4), ..group(None, 1012, 1) };
        let order = Order::of_loop(&bytes);
        let mut reads: Vec<_> = (0..order.reads(None)).map(|number| order.read(number, None)).collect();
        reads.sort_by_key(|(_, at)| *at);
        assert_eq!(reads, (0..12).map(|at| (1000 + at / 4 * 4, at)).collect::<Vec<_>>());
        for (address, at) in reads {
            assert_eq!(order.next(address, None), Some(at / 4 * 4));
            assert_eq!(order.next(address, Some(at)), Some(at + 1).filter(|next| next % 4 != 0));
            assert_eq!(order.reached(at, Now::Ahead).reads(None), at);
        }
        assert_eq!(order.range(), (0, 11));
    }

    /// What a nest reads, iteration by iteration: address and time.
    fn reads(a: &NestAccess) -> Vec<(u64, u64)> {
        let [inner, middle, outer] = a.steps;
        let mut all = Vec::new();
        for (i, j) in (0..outer.count).flat_map(|i| (0..middle.count).map(move |j| (i, j))) {
            for k in 0..inner.count {
                let unit = [1, 2, 3].map(|n| {
                    let counts = [outer.count, middle.count, inner.count];
                    counts[..n].iter().fold(NEST, |time, count| time / count)
                });
                let at = i * unit[0] + j * unit[1] + k * unit[2];
                let moved = [(i, outer), (j, middle), (k, inner)].map(|(n, step)| n as i64 * step.stride);
                let address = START.wrapping_add_signed(moved.iter().sum());
                all.extend((address..address + u64::from(a.bytes)).step_by(4).map(|address| (address, at)));
            }
        }
        all
    }

    #[test]
    fn reads_of_a_nest_are_what_its_iterations_read() {
        let mut rng = Rng::with_seed(7);
        for _ in 0..500 {
            let access = nest(&mut rng);
            let order = Order::of_nest(&access);
            let mut expected = reads(&access);
            let mut found: Vec<_> = (0..order.reads(None)).map(|number| order.read(number, None)).collect();
            let range = order.range();
            assert!(found.iter().all(|&(_, at)| (range.0..=range.1).contains(&at)), "{access:?}");
            for &(address, at) in &expected {
                let later = |after: Option<u64>| {
                    let same = expected.iter().filter(|(a, _)| *a == address).map(|(_, at)| *at);
                    same.filter(|at| after.is_none_or(|after| *at > after)).min()
                };
                for after in [None, Some(at), at.checked_sub(1), Some(at + 1)] {
                    assert_eq!(order.next(address, after), later(after), "{access:?} {address:#x} {after:?}");
                }
            }
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{access:?}");
        }
    }

    /// A nest of three loops in any order: two move, each by more than all before it, and one does not.
    fn nest(rng: &mut Rng) -> NestAccess {
        let bytes = [4, 8, 16][rng.usize(0..3)];
        let (short, long) = (rng.u64(1..5), rng.u64(1..5));
        let stride = i64::from(bytes) * rng.i64(1..3);
        let further = stride * short as i64 + 4 * rng.i64(0..3);
        let mut steps =
            [(stride, short), (further, long), (0, rng.u64(1..5))].map(|(stride, count)| Step { stride, count });
        rng.shuffle(&mut steps);
        NestAccess { address: START, bytes, flags: 0, site: 1, window: 1, steps }
    }

    #[test]
    fn what_is_read_before_a_moment_is_what_the_iterations_before_it_read() {
        let mut rng = Rng::with_seed(8);
        for _ in 0..500 {
            let access = nest(&mut rng);
            let order = Order::of_nest(&access);
            let all = reads(&access);
            let before = |read: &dyn Fn(u64, u64) -> bool| all.iter().filter(|(to, at)| read(*to, *at)).count() as u64;
            for &(address, at) in all.iter().chain(&[(START, 0), (START, 1), (START, NEST), (START, NEST / 3)]) {
                assert_eq!(order.reached(at, Now::Ahead).reads(None), before(&|_, then| then < at), "{access:?} {at}");
                assert_eq!(order.reached(at, Now::Over).reads(None), before(&|_, then| then <= at), "{access:?} {at}");
                if all.contains(&(address, at)) {
                    let lower = before(&|to, then| (then, to) < (at, address));
                    assert_eq!(order.reached(at, Now::At(address)).reads(None), lower, "{access:?} {at}");
                }
            }
        }
    }

    #[test]
    fn what_is_read_of_some_slices_before_a_moment_is_what_the_iterations_read_of_them() {
        let mut rng = Rng::with_seed(9);
        let mut with_slices = 0;
        for _ in 0..500 {
            let access = nest(&mut rng);
            let order = Order::of_nest(&access);
            let bits = rng.u64(0..16);
            let (stride, count) = order.slices();
            let Some(slices) = order.some(bits) else { continue };
            with_slices += u32::from(count > 1);
            let is_one = |address: u64| bits >> ((address - START) / stride) & 1 == 1;
            let all: Vec<_> = reads(&access).into_iter().filter(|(address, _)| is_one(*address)).collect();
            for &(address, at) in &reads(&access) {
                let before = all.iter().filter(|(_, then)| *then < at).count() as u64;
                assert_eq!(order.reached(at, Now::Ahead).reads(Some(slices)), before, "{access:?} {bits:b} {at}");
                if is_one(address) {
                    let lower = all.iter().filter(|(to, then)| (*then, *to) < (at, address)).count() as u64;
                    let found = order.reached(at, Now::At(address)).reads(Some(slices));
                    assert_eq!(found, lower, "{access:?} {bits:b} {at}");
                }
            }
            assert_eq!(order.reached(NEST, Now::Over).reads(Some(slices)), all.len() as u64);
            let mut found: Vec<_> =
                (0..order.reads(Some(slices))).map(|number| order.read(number, Some(slices))).collect();
            found.sort_unstable();
            let mut expected = all.clone();
            expected.sort_unstable();
            assert_eq!(found, expected, "{access:?} {bits:b}");
            assert!(reads(&access).iter().all(|(address, _)| order.is_in(*address, slices) == is_one(*address)));
        }
        assert!(with_slices > 400, "{with_slices}");
    }

    #[test]
    fn rows_are_read_at_once_or_not() {
        // a[i][k] of 4 x 4 elements: for each i all k, or for each k all i.
        let order = |steps: [(i64, u64); 3]| {
            let steps = steps.map(|(stride, count)| Step { stride, count });
            Order::of_nest(&NestAccess { address: START, bytes: 8, flags: 0, site: 1, window: 1, steps })
        };
        assert!(order([(8, 4), (96, 4), (0, 1)]).reads_at_once(32));
        assert!(!order([(96, 4), (8, 4), (0, 1)]).reads_at_once(32));
        // The same of a block whose rows are side by side, which is one row.
        assert!(order([(8, 4), (32, 4), (0, 1)]).reads_at_once(128));
        assert!(!order([(32, 4), (8, 4), (0, 1)]).reads_at_once(128));
        assert!(order([(8, 4), (0, 1), (0, 1)]).reads_at_once(32), "the only one");
    }

    #[test]
    fn rows_of_a_nest_are_read_when_their_iterations_are() {
        // a[i][k] of a product of blocks of 4 x 4 with 8 columns: row i in the i-th quarter of the time.
        let steps = [(8, 4), (96, 4), (0, 1)].map(|(stride, count)| Step { stride, count });
        let a = Order::of_nest(&NestAccess { address: START, bytes: 8, flags: 0, site: 1, window: 1, steps });
        let quarter = NEST / 4;
        assert_eq!(a.range_of(START + 192, 32), (2 * quarter, 3 * quarter - 1));
        // b[k][j]: in each quarter; the second row from its second sixteenth on.
        let steps = [(32, 2), (96, 4), (0, 4)].map(|(stride, count)| Step { stride, count });
        let b = Order::of_nest(&NestAccess { address: START, bytes: 32, flags: 0, site: 1, window: 1, steps });
        assert_eq!(b.range_of(START + 96, 64), (quarter / 4, 3 * quarter + quarter / 2 - 1));
    }
}
