//! Windows whose loops count in several counters.
//!
//! A column of a matrix whose rows have several writers is read alike again and again: so many granules of each
//! writer's. Inlined code adds to one counter for each window. Such a window has a counter of its own that is always
//! due, so that each of its loops asks, and the hook adds to the counters behind it: 16 of them take a tenth of the
//! time that a column of 960 elements takes.

use super::Thread;
use crate::memory;
use core::mem::MaybeUninit;
use core::slice;
use threadtalk_abi::thread::EventCounter;

/// Counters of a mixture.
const MOST_PARTS: usize = 32;
/// Mixtures of a thread. Those of a matrix are a few: all columns, and those with an element whose distance is watched.
const MOST: usize = 64;

/// So many granules of a loop count here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Where.
    pub counter: *mut EventCounter,
    /// How many.
    pub granules: u64,
    /// The iterations that read them: the first and the last one.
    pub range: (u64, u64),
    /// Of a tile's first 64 slices, those with such granules: a bit for each.
    pub slices: u64,
}

/// What the events of a loop count in.
pub struct Parts {
    parts: [MaybeUninit<Part>; MOST_PARTS],
    used: usize,
}

impl Parts {
    /// Nothing.
    pub fn new() -> Self {
        Self { parts: [const { MaybeUninit::uninit() }; MOST_PARTS], used: 0 }
    }

    /// So many more granules, of a range of iterations and of these slices of a tile, count in a counter. `None`: there
    /// are too many counters.
    #[inline]
    pub fn add(&mut self, counter: *mut EventCounter, granules: u64, range: (u64, u64), slices: u64) -> Option<()> {
        for part in self.parts.iter_mut().take(self.used) {
            // SAFETY: the first `used` ones were written.
            let part = unsafe { part.assume_init_mut() };
            if part.counter == counter {
                part.granules += granules;
                part.range = (part.range.0.min(range.0), part.range.1.max(range.1));
                part.slices |= slices;
                return Some(());
            }
        }
        self.parts.get_mut(self.used)?.write(Part { counter, granules, range, slices });
        self.used += 1;
        Some(())
    }

    /// All granules.
    pub fn granules(&self) -> u64 {
        self.all().iter().map(|part| part.granules).sum()
    }

    /// Where the only part is. Of several ones each knows that.
    pub fn range(&self) -> (u64, u64) {
        self.all().first().map_or((0, 0), |part| part.range)
    }

    fn all(&self) -> &[Part] {
        // SAFETY: the first `used` ones were written; the layouts are the same.
        unsafe { slice::from_raw_parts(self.parts.as_ptr().cast(), self.used) }
    }
}

/// A mixture. Windows name it by its first field.
#[repr(C)]
struct Mixture {
    /// Always due, never counted in.
    due: EventCounter,
    parts: Parts,
}

/// A thread's mixtures. They stay as long as its windows do.
pub struct Mixtures {
    place: *mut Mixture,
    used: usize,
}

impl Mixtures {
    /// None. `None`: no memory.
    pub fn new() -> Option<Self> {
        Some(Self { place: memory::reserve(MOST * size_of::<Mixture>())?.as_ptr().cast(), used: 0 })
    }

    /// Forgets all of them. No window names any.
    pub fn clear(&mut self) {
        self.used = 0;
    }

    fn all(&mut self) -> &mut [Mixture] {
        // SAFETY: this thread's memory, of which the first `used` mixtures were written.
        unsafe { slice::from_raw_parts_mut(self.place, self.used) }
    }

    /// The counter of the mixture of these parts. `None`: there are too many.
    fn counter(&mut self, parts: &Parts) -> Option<*mut EventCounter> {
        if let Some(known) = self.all().iter_mut().find(|mixture| mixture.parts.all() == parts.all()) {
            return Some(&raw mut known.due);
        }
        if self.used == MOST {
            return None;
        }
        let mut copy = Parts::new();
        for (place, part) in copy.parts.iter_mut().zip(parts.all()) {
            place.write(*part);
            copy.used += 1;
        }
        // SAFETY: below the number of places; this thread's memory.
        let place = unsafe { &mut *self.place.add(self.used).cast::<MaybeUninit<Mixture>>() };
        self.used += 1;
        Some(&raw mut place.write(Mixture { due: EventCounter { rar: 0, next: 0 }, parts: copy }).due)
    }

    /// The parts of the mixture whose counter this is.
    #[inline]
    fn find(&mut self, counter: *mut EventCounter) -> Option<&[Part]> {
        let distance = counter.addr().checked_sub(self.place.addr())?;
        self.all().get(distance / size_of::<Mixture>()).map(|mixture| mixture.parts.all())
    }
}

impl Thread {
    /// The counter for a window whose loops count in these: null if in none, the one that there is, or a mixture's.
    /// `None`: there are too many mixtures, and the windows are forgotten.
    pub fn mixed_counter(&mut self, parts: &Parts) -> Option<*mut EventCounter> {
        match parts.all() {
            [] => Some(core::ptr::null_mut()),
            [one] => Some(one.counter),
            _ => self.mixture(parts),
        }
    }

    /// The same for a tile that is read so often: where its events are is remembered unless all reads are.
    pub fn tile_counter(&mut self, parts: &Parts, reads: u64) -> Option<*mut EventCounter> {
        match parts.all() {
            [one] if one.granules < reads => self.mixture(parts),
            _ => self.mixed_counter(parts),
        }
    }

    fn mixture(&mut self, parts: &Parts) -> Option<*mut EventCounter> {
        let counter = self.mixtures.counter(parts);
        if counter.is_none() {
            self.forget_windows();
            self.mixtures.clear();
        }
        counter
    }

    /// Calls for each counter behind a window's with the granules that count there, of `granules` in all.
    #[inline]
    pub fn for_each_part(
        &mut self,
        counter: *mut EventCounter,
        granules: u64,
        mut each: impl FnMut(&mut EventCounter, u64),
    ) {
        for part in self.parts(&Part { counter, granules, range: (0, 0), slices: 0 }) {
            // SAFETY: counters come from this thread's event cache, mapped for the life of the process, and only this
            // thread counts in them.
            each(unsafe { &mut *part.counter }, part.granules);
        }
    }

    /// What is behind a window's counter: a mixture's parts, or `one`, which is of the window itself.
    #[inline]
    pub fn parts<'p>(&'p mut self, one: &'p Part) -> &'p [Part] {
        self.mixtures.find(one.counter).unwrap_or(slice::from_ref(one))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(of: &[(usize, u64)]) -> Parts {
        let mut parts = Parts::new();
        of.iter()
            .for_each(|&(counter, n)| parts.add(core::ptr::without_provenance_mut(counter), n, (0, 0), 0).unwrap());
        parts
    }

    fn found(mixtures: &mut Mixtures, counter: *mut EventCounter) -> Option<Vec<(usize, u64)>> {
        Some(mixtures.find(counter)?.iter().map(|part| (part.counter.addr(), part.granules)).collect())
    }

    #[test]
    fn parts_are_sums_by_counter() {
        let parts = parts(&[(8, 2), (16, 2), (8, 2), (24, 1), (16, 2)]);
        let all: Vec<_> = parts.all().iter().map(|part| (part.counter.addr(), part.granules)).collect();
        assert_eq!((all, parts.granules()), (vec![(8, 4), (16, 4), (24, 1)], 9));
    }

    #[test]
    fn more_counters_than_a_mixture_has_room_for_are_refused() {
        let mut parts = parts(&[]);
        let room = (1..100).take_while(|n| parts.add(core::ptr::without_provenance_mut(8 * n), 1, (0, 0), 0).is_some());
        assert_eq!(room.count(), MOST_PARTS);
        assert_eq!(parts.add(core::ptr::without_provenance_mut(8), 1, (0, 0), 0), Some(()), "one that has room");
    }

    #[test]
    fn a_mixture_is_found_by_its_counter_and_made_once() {
        let mut mixtures = Mixtures::new().unwrap();
        let of = |n: usize| vec![(8, n as u64), (16, 7)];
        let counters: Vec<_> = (0..MOST).map(|n| mixtures.counter(&parts(&of(n))).unwrap()).collect();
        for (n, counter) in counters.iter().enumerate() {
            assert_eq!(mixtures.counter(&parts(&of(n))), Some(*counter));
            assert_eq!(found(&mut mixtures, *counter), Some(of(n)));
            // SAFETY: of this thread's mixtures.
            assert!(unsafe { (**counter).rar >= (**counter).next }, "always due");
        }
        assert_eq!(mixtures.counter(&parts(&of(MOST))), None);
        let mut other = EventCounter { rar: 0, next: 9 };
        assert_eq!(found(&mut mixtures, &raw mut other), None);
        assert_eq!(found(&mut mixtures, core::ptr::null_mut()), None);
        mixtures.clear();
        assert_eq!(found(&mut mixtures, counters[0]), None);
    }
}
