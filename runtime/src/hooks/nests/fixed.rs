//! Elements that a loop reads in each iteration: a factor, or a pointer that a store might change, for all that the
//! compiler knows. Reuse that the thread knows, all of it.
//!
//! They are many events: a stencil of nine factors makes 18 000 in a row of a thousand, so that one is to be sampled in
//! every fourth row, which took fifteen times as long with sequences. Here a distance begins and ends as in
//! [`samples`].

use super::Look;
use super::group::{Group, Kind};
use super::samples;
use super::turns::Apart;
use crate::hooks::access::read_cells;
use crate::hooks::loops::row;
use crate::process::Process;
use crate::thread::Thread;
use crate::wide::Wide;
use core::mem::MaybeUninit;
use core::{ptr, slice};
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::NONE;
use threadtalk_abi::loops::{MOST_IN_NEST, NestAccess, Step};
use threadtalk_abi::thread::EventCounter;
use threadtalk_abi::window::Window;

/// Events in which there may be more samples than find room at once: 16 of the longest period. Of loops with fewer it
/// is not the number that is refused.
const MANY: u64 = 1 << 20;

/// Elements side by side that one access reads in each iteration, and that count in one counter.
#[derive(Clone, Copy)]
struct Repeated {
    /// First byte, a multiple of the granule.
    address: u64,
    bytes: u32,
    /// The reading line.
    site: u32,
    /// Where the reads count.
    counter: *mut EventCounter,
}

impl Repeated {
    /// How many granules it reads in one iteration.
    fn granules(&self) -> u64 {
        u64::from(self.bytes) / GRANULE
    }

    /// Their addresses.
    fn addresses(&self) -> impl Iterator<Item = u64> + use<> {
        (self.address..self.address + u64::from(self.bytes)).step_by(GRANULE as usize)
    }
}

/// All of a loop, in the order of its body.
pub struct AllRepeated {
    reads: [MaybeUninit<Repeated>; MOST_IN_NEST],
    used: usize,
    /// The thread waits for one of them.
    awaited: bool,
}

impl AllRepeated {
    /// None.
    pub const fn new() -> Self {
        AllRepeated { reads: [const { MaybeUninit::uninit() }; MOST_IN_NEST], used: 0, awaited: false }
    }

    /// A granule of an access more, and what its cell says. `None`: there is no room, or it is not known where its
    /// reads count.
    pub fn add(&mut self, t: &Thread, (granule, state): (u64, u32), site: u32) -> Option<()> {
        if state == NONE || t.header.is_own(state) {
            return Some(());
        }
        let value = state & Kind::mask(state);
        let counter = t.counter_of(value, site)?;
        if counter == t.idle_counter() {
            return Some(());
        }
        // A mark may be another thread's.
        self.awaited |= value != state && t.waits_for(granule);
        // SAFETY: the first `used` ones were written.
        let last = self.reads.get_mut(..self.used)?.last_mut().map(|last| unsafe { last.assume_init_mut() });
        if let Some(last) = last
            && (last.address + u64::from(last.bytes), last.site, last.counter) == (granule, site, counter)
        {
            last.bytes += GRANULE as u32;
            return Some(());
        }
        self.reads.get_mut(self.used)?.write(Repeated { address: granule, bytes: GRANULE as u32, site, counter });
        self.used += 1;
        Some(())
    }

    fn all(&self) -> &[Repeated] {
        // SAFETY: as above; the layouts are the same.
        unsafe { slice::from_raw_parts(self.reads.as_ptr().cast(), self.used) }
    }

    /// Counts the reads of a loop; samples those that are due, and ends what is waited for. `false`: nothing is
    /// counted.
    pub fn count(&self, t: &mut Thread, p: &Process, iterations: u64) -> bool {
        if !self.awaited && self.is_counted(t, iterations) {
            return true;
        }
        let each: u64 = self.all().iter().map(Repeated::granules).sum();
        let (mut done, mut many) = (0, iterations);
        while done < iterations {
            many = many.min(iterations - done);
            if self.part(t, p, many) {
                (done, many) = (done + many, 2 * many);
            } else if many > 1 && (done > 0 || many.saturating_mul(each) > MANY) {
                many /= 2;
            } else if done == 0 {
                return false;
            } else {
                self.one_by_one(t, p);
                done += 1;
            }
        }
        true
    }

    /// Counts all reads, unless some are to be sampled.
    fn is_counted(&self, t: &mut Thread, iterations: u64) -> bool {
        let mut reuse = [(ptr::null_mut(), 0); MOST_IN_NEST];
        for (read, place) in self.all().iter().zip(&mut reuse) {
            *place = (read.counter, read.granules() * iterations);
        }
        reuse.get(..self.used).is_some_and(|reuse| row::count(t, reuse))
    }

    /// So many iterations, all or none.
    #[inline(never)]
    fn part(&self, t: &mut Thread, p: &Process, iterations: u64) -> bool {
        let mut accesses = [const { MaybeUninit::<NestAccess>::uninit() }; MOST_IN_NEST];
        let mut looks = [const { MaybeUninit::<Look>::uninit() }; MOST_IN_NEST];
        let (mut apart, once) = (Apart::new(), Step { stride: 0, count: 1 });
        for (read, (access, place)) in self.all().iter().zip(accesses.iter_mut().zip(&mut looks)) {
            let &Repeated { address, bytes, site, counter } = read;
            let steps = [Step { stride: 0, count: iterations }, once, once];
            let access = access.write(NestAccess { address, bytes, flags: 0, site, window: 0, steps });
            for granule in read.addresses().filter(|granule| t.waits_for(*granule)) {
                if apart.add_awaited(granule, 0, site).is_none() {
                    return false;
                }
            }
            apart.look += 1;
            let (first, end, granules) = (address, address + u64::from(bytes), read.granules() * iterations);
            let window = Window { stamp: 0, first, end, counter, stride: 0, iterations, granules, cells: 0 };
            let group = Group {
                number: 0,
                from: first,
                to: end,
                strided: None,
                step: 0,
                writes: Wide::No,
                site: Some(site),
                granules,
                key: 0,
                times: Some(1),
            };
            place.write(Look { group, nest: Some(access), window, granules, range: None, known: Wide::Yes });
        }
        // SAFETY: as many were written as there are reads; the layouts are the same.
        let looks = unsafe { slice::from_raw_parts(looks.as_ptr().cast::<Look>(), self.used) };
        samples::count(t, p, looks, &apart)
    }

    /// One iteration, read by read.
    #[cold]
    fn one_by_one(&self, t: &mut Thread, p: &Process) {
        for read in self.all() {
            for granule in read.addresses() {
                if let Some(cell) = p.signature.cell(granule, &mut t.chunks) {
                    read_cells(t, p, slice::from_ref(cell), granule, read.site);
                }
            }
        }
    }
}
