//! What the reads of a loop would be: counts for each counter, and the events one by one as long as they are few.

use core::mem::MaybeUninit;
use core::slice;
use threadtalk_abi::loops::Access;
use threadtalk_abi::thread::EventCounter;

/// Different (state, site) pairs with events in a loop.
const MOST_COUNTS: usize = 32;
/// Events that are kept one by one: the rims of rows that are otherwise own.
const MOST_FEW: usize = 64;

/// An event of the loop.
#[derive(Clone, Copy)]
pub struct Found {
    /// The iteration that reads.
    pub iteration: u64,
    /// Address of the granule.
    pub granule: u64,
    /// Number of the access.
    pub access: u32,
}

/// Events of an access that are alike: the granules of `from .. to` that it reads.
#[derive(Clone, Copy)]
pub struct Stretch {
    /// First byte.
    pub from: u64,
    /// End.
    pub to: u64,
    /// Number of the access.
    pub access: u32,
}

/// Events that the loop makes. Not initialised beyond what is used: loops of 32 iterations are asked for, too.
pub struct Findings {
    counts: [MaybeUninit<(*mut EventCounter, u64)>; MOST_COUNTS],
    used: usize,
    /// All events can be counted: their states are known, and there are counts enough.
    countable: bool,
    few: [MaybeUninit<Found>; MOST_FEW],
    listed: usize,
    /// Events that are not listed yet: most loops with few count them all at once.
    stretches: [MaybeUninit<Stretch>; MOST_FEW],
    kept: usize,
    /// How many those are.
    unlisted: u64,
    /// `few` and `stretches` have all events.
    complete: bool,
    /// Bit i: access i has events.
    pub eventful: u64,
}

/// Neither the counts nor the list can hold what was found.
pub struct TooMany;

impl Findings {
    /// Nothing found.
    pub fn new() -> Self {
        Findings {
            counts: [const { MaybeUninit::uninit() }; MOST_COUNTS],
            used: 0,
            countable: true,
            few: [const { MaybeUninit::uninit() }; MOST_FEW],
            listed: 0,
            stretches: [const { MaybeUninit::uninit() }; MOST_FEW],
            kept: 0,
            unlisted: 0,
            complete: true,
            eventful: 0,
        }
    }

    /// The counts, if all events have one.
    pub fn counts(&self) -> Option<&[(*mut EventCounter, u64)]> {
        // SAFETY: the first `used` entries were written; the layouts are the same.
        let used = unsafe { slice::from_raw_parts(self.counts.as_ptr().cast(), self.used) };
        self.countable.then_some(used)
    }

    /// Whether all events are here.
    pub fn is_few(&self) -> bool {
        self.complete
    }

    /// How many events are here, if all are.
    pub fn events(&self) -> u64 {
        self.listed as u64 + self.unlisted
    }

    /// The events, if all of them are here. `list` puts those of a stretch on the list.
    pub fn few(&mut self, list: impl Fn(&mut Self, Stretch)) -> Option<&mut [Found]> {
        self.unlisted = 0;
        for place in 0..core::mem::take(&mut self.kept) {
            if let Some(stretch) = self.stretches.get(place) {
                // SAFETY: the first `kept` entries were written.
                let stretch = unsafe { stretch.assume_init() };
                list(self, stretch);
            }
        }
        // SAFETY: the first `listed` entries were written; the layouts are the same.
        let listed = unsafe { slice::from_raw_parts_mut(self.few.as_mut_ptr().cast(), self.listed) };
        self.complete.then_some(listed)
    }

    /// There are events that neither list nor counts hold.
    pub fn give_up(&mut self) {
        (self.countable, self.complete) = (false, false);
    }

    /// See [`Self::give_up`].
    pub fn is_given_up(&self) -> bool {
        !self.countable && !self.complete
    }

    /// `n` events that count in `counter`; `None`: what they are depends on their order.
    #[inline]
    pub fn count(&mut self, counter: Option<*mut EventCounter>, n: u64) -> Result<(), TooMany> {
        let Some(counter) = counter else {
            self.countable = false;
            return if self.complete { Ok(()) } else { Err(TooMany) };
        };
        for entry in self.counts.iter_mut().take(self.used) {
            // SAFETY: below `used`.
            let entry = unsafe { entry.assume_init_mut() };
            if entry.0 == counter {
                entry.1 += n;
                return Ok(());
            }
        }
        let Some(free) = self.counts.get_mut(self.used) else { return self.count(None, n) };
        free.write((counter, n));
        self.used += 1;
        Ok(())
    }

    /// Whether `n` more events fit in the list. If not, it is given up.
    #[inline]
    pub fn has_room(&mut self, n: u64) -> Result<bool, TooMany> {
        self.complete &= self.events().saturating_add(n) <= MOST_FEW as u64;
        if self.complete || self.countable { Ok(self.complete) } else { Err(TooMany) }
    }

    /// Adds a stretch of `n` events, one at least, for which there is room.
    #[inline]
    pub fn keep(&mut self, stretch: Stretch, n: u64) {
        if let Some(free) = self.stretches.get_mut(self.kept) {
            free.write(stretch);
            self.kept += 1;
            self.unlisted += n;
        }
    }

    /// Adds an event for which there is room.
    #[inline]
    pub fn list(&mut self, found: Found) {
        if let Some(free) = self.few.get_mut(self.listed) {
            free.write(found);
            self.listed += 1;
        }
    }
}

/// Sorts by iteration and access; else the order stays. `false`: which of two events comes first is not known,
/// and matters. That is so if an iteration reads a granule at two lines, or, if all are to be `in_order`, if two
/// accesses have events in it.
pub fn sort(found: &mut [Found], accesses: &[Access], in_order: bool) -> bool {
    merge_runs(found);
    let site = |event: &Found| accesses.get(event.access as usize).map(|a| a.site);
    let clash =
        |a: &Found, b: &Found| a.access != b.access && (in_order || a.granule == b.granule && site(a) != site(b));
    (1..).zip(found.iter()).all(|(next, a)| {
        let mut after = found.iter().skip(next).take_while(|b| b.iteration == a.iteration);
        !after.any(|b| clash(a, b))
    })
}

/// Sorts by merging what is in order: each access has found its own events in the order of the loop, or against it.
fn merge_runs(found: &mut [Found]) {
    let mut spare = [const { MaybeUninit::uninit() }; MOST_FEW];
    loop {
        let (mut at, mut merged) = (0, false);
        while let Some(rest) = found.get_mut(at..) {
            let first = run(rest);
            let second = rest.get(first..).map_or(0, run);
            let Some(two) = rest.get_mut(..first + second).filter(|_| second > 0) else { break };
            merge(two, first, &mut spare);
            (at, merged) = (at + first + second, true);
        }
        if !merged {
            return;
        }
    }
}

/// How many events from the start are in order.
fn run(found: &[Found]) -> usize {
    let descents = found.iter().zip(found.iter().skip(1)).zip(1..);
    descents.filter(|((a, b), _)| place(a) > place(b)).map(|(_, at)| at).next().unwrap_or(found.len())
}

/// Merges two runs; the second begins at `middle`.
fn merge(found: &mut [Found], middle: usize, spare: &mut [MaybeUninit<Found>; MOST_FEW]) {
    let (mut left, mut right) = (0, middle);
    for (place, event) in spare.iter_mut().zip(found.iter().take(middle)) {
        place.write(*event);
    }
    for to in 0..found.len() {
        // SAFETY: as many were written as the first run has.
        let next = spare.get(left).filter(|_| left < middle).map(|event| unsafe { event.assume_init_read() });
        let Some(next) = next else { return };
        let other = found.get(right).copied().filter(|other| place(other) < place(&next));
        (left, right) = if other.is_some() { (left, right + 1) } else { (left + 1, right) };
        if let Some(place) = found.get_mut(to) {
            *place = other.unwrap_or(next);
        }
    }
}

/// Where in the loop an event is.
fn place(event: &Found) -> (u64, u32) {
    (event.iteration, event.access)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn found(iteration: u64, access: u32) -> Found {
        Found { iteration, granule: 4 * iteration, access }
    }

    /// Three accesses, the last two at one line.
    fn accesses() -> [Access; 3] {
        [1, 2, 2].map(|site| Access { address: 0, stride: 4, bytes: 4, flags: 0, site, window: 0 })
    }

    #[test]
    fn events_are_put_in_the_order_of_the_loop() {
        let mut events = [5, 7, 9, 0, 8, 6, 1].map(|i| found(i, 0));
        assert!(sort(&mut events, &accesses(), true));
        let order: Vec<u64> = events.iter().map(|e| e.iteration).collect();
        assert_eq!(order, [0, 1, 5, 6, 7, 8, 9]);
    }

    /// Of an access that reads several granules in an iteration, they stay as they were.
    #[test]
    fn lists_in_any_order_are_merged_and_what_is_alike_stays() {
        let mut rng = fastrand::Rng::with_seed(3);
        for _ in 0..2000 {
            let mut events: Vec<Found> = (0..rng.u64(0..=MOST_FEW as u64))
                .map(|granule| Found { iteration: rng.u64(0..9), granule, access: rng.u32(0..3) })
                .collect();
            let stable = |events: &mut Vec<Found>| events.sort_by_key(|e| (e.iteration, e.access));
            let mut expected = events.clone();
            stable(&mut expected);
            merge_runs(&mut events);
            let granules = |events: &[Found]| events.iter().map(|e| e.granule).collect::<Vec<_>>();
            assert_eq!(granules(&events), granules(&expected));
        }
    }

    #[test]
    fn two_accesses_of_one_iteration_have_no_order() {
        assert!(sort(&mut [found(1, 2), found(1, 2), found(3, 0)], &accesses(), true));
        assert!(!sort(&mut [found(1, 2), found(3, 0), found(1, 1)], &accesses(), true));
        assert!(sort(&mut [], &accesses(), true));
    }

    #[test]
    fn the_order_within_an_iteration_matters_where_two_lines_read_one_granule() {
        let of = |access, granule| Found { iteration: 1, granule, access };
        assert!(sort(&mut [of(0, 8), of(1, 4), of(2, 12)], &accesses(), false));
        assert!(sort(&mut [of(1, 8), of(0, 4), of(2, 8)], &accesses(), false), "both at one line");
        assert!(!sort(&mut [of(0, 8), of(1, 4), of(2, 8)], &accesses(), false));
        assert!(sort(&mut [of(0, 8), Found { iteration: 2, ..of(1, 8) }], &accesses(), false));
    }

    #[test]
    fn a_list_that_is_full_leaves_the_counts_and_without_those_nothing() {
        let counter = core::ptr::null_mut();
        let mut f = Findings::new();
        assert!(f.count(Some(counter), 60).is_ok() && f.count(Some(counter), 40).is_ok());
        assert!(f.has_room(64).is_ok_and(|room| room));
        (0..64).for_each(|i| f.list(found(i, 0)));
        assert!(f.has_room(0).is_ok_and(|room| room));
        assert!(f.has_room(1).is_ok_and(|room| !room));
        assert!(f.few(|_, _| ()).is_none());
        assert_eq!(f.counts(), Some(&[(counter, 100)][..]));
        assert!(f.count(None, 1).is_err());
        assert!(f.counts().is_none());
    }

    #[test]
    fn stretches_take_room_and_are_listed_when_they_are_asked_for() {
        let mut f = Findings::new();
        f.list(found(7, 1));
        assert!(f.has_room(30).is_ok_and(|room| room));
        f.keep(Stretch { from: 0, to: 120, access: 0 }, 30);
        assert!(f.has_room(33).is_ok_and(|room| room));
        f.keep(Stretch { from: 400, to: 532, access: 2 }, 33);
        let spell_out = |f: &mut Findings, stretch: Stretch| {
            (stretch.from..stretch.to).step_by(4).for_each(|granule| f.list(found(granule / 4, stretch.access)));
        };
        let few = f.few(spell_out).unwrap();
        let listed: Vec<_> = few.iter().map(|event| (event.granule, event.access)).collect();
        let expected = (0..120).step_by(4).map(|at| (at, 0)).chain((400..532).step_by(4).map(|at| (at, 2)));
        assert_eq!(listed, [(28, 1)].into_iter().chain(expected).collect::<Vec<_>>());
        assert_eq!(f.few(spell_out).map(|few| few.len()), Some(64), "once");
        assert!(f.has_room(1).is_ok_and(|room| !room) && f.few(spell_out).is_none());
    }

    #[test]
    fn counters_beyond_the_table_leave_the_list() {
        let mut f = Findings::new();
        for n in 0..=MOST_COUNTS {
            assert!(f.count(Some(core::ptr::without_provenance_mut(n + 1)), 1).is_ok());
        }
        assert!(f.counts().is_none());
        assert!(f.has_room(65).is_err());
    }
}
