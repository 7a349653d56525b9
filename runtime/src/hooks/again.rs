//! Reads like ones that the thread has made before at the same line: first reads of values in a state that it came
//! across, and reuse that has lost its slot of the event cache, settled by one look into [`crate::thread::firsts`]; and
//! reuse of elements that other threads have marked.

use super::{event, open};
use crate::distance::watch::Waiting;
use crate::process::Process;
use crate::process::clock::thread_cpu_ns;
use crate::thread::Thread;
use crate::thread::diversity::is_sample;
use crate::thread::firsts::{Key, Known};
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::{SHARED, TRACKED};
use threadtalk_abi::thread::EventCounter;
use threadtalk_profile::layout::EventRecord;
use threadtalk_sigmem::open::{OpenName, is_open};

/// Settles the reads of neighbouring elements of one block from `element` on, if all are in one state of which the
/// thread knows what its read means. Returns how many, from the first on: fewer than all where another thread's read
/// came between.
///
/// `is_scattered`: it is no vector. Those are of loops over rows, which look at many cells at a time: these had better
/// be alike.
#[inline(always)]
pub fn settle(
    t: &mut Thread,
    p: &Process,
    cells: &[AtomicU32],
    (element, site): (u64, u32),
    is_scattered: bool,
) -> usize {
    let Some(first) = cells.first() else { return 0 };
    let n = cells.len();
    if is_scattered && open::is_worth_opening(t, p, first.load(Ordering::Relaxed), element) {
        t.view.open(&p.states, first);
    }
    // Relaxed: what the name stands for is known since the thread made such a read before.
    let from = first.load(Ordering::Relaxed);
    let differ = cells.iter().fold(0, |differ, cell| differ | (cell.load(Ordering::Relaxed) ^ from));
    let mark = if from & SHARED != 0 { TRACKED } else { 0 };
    if (differ | from) & mark != 0 && differ & !mark == 0 {
        return if reuse_in_spite_of_marks(t, p, from & !mark, element, site, n as u64) { n } else { 0 };
    }
    if differ != 0 {
        return 0;
    }
    if is_open(from) {
        return 0;
    }
    let known = t.firsts.get(Key::new(from, site, t.context));
    if is_scattered && is_sample(element) {
        // Reuse in a trace that is followed exactly is not known either.
        t.diversity.meets(from & SHARED != 0 && known.is_none() && t.view.first_from(&p.states, from).is_some());
    }
    let Some(known) = known else { return 0 };
    if known.to == from {
        return if reuse_once_more(t, from, site, known.record.cast(), n as u64) { n } else { 0 };
    }
    first_reads(t, p, cells, (element, site), (from, known))
}

/// First reads of the leading cells that hold `from`, all in one block, of which the thread knows what they are.
/// Returns how many.
#[inline(always)]
pub fn first_reads(
    t: &mut Thread,
    p: &Process,
    cells: &[AtomicU32],
    (element, site): (u64, u32),
    (from, known): (u32, Known),
) -> usize {
    let read = t.view.read_again(&p.states, cells, (from, known.to));
    let Some(read_cells @ [_, ..]) = cells.get(..read) else { return 0 };
    p.claims.touch(element, element + read as u64 * GRANULE);
    event::communications_again(t, p, read_cells, element, site, known);
    read
}

/// What [`super::first`] has left, of one access of `CELLS` granules, one or two, where nothing but counting is to be
/// done: open values, and elements that other threads have marked. No call, and no vector register, so that inlined
/// code need not save any. A locked exchange would wait for these stores as well: a sparse product by 16 threads took a
/// fifth longer. False: nothing was done.
#[inline(always)]
pub fn at_once<const CELLS: usize>(t: &mut Thread, p: &Process, address: u64, site: u32) -> bool {
    let Some((element, cells)) = one_access::<CELLS>(p, address) else { return false };
    let [Some(first), Some(last)] = [cells.first(), cells.last()] else { return false };
    // Relaxed: as in `settle`.
    let from = first.load(Ordering::Relaxed);
    let differ = from ^ last.load(Ordering::Relaxed);
    let mark = if from & SHARED != 0 { TRACKED } else { 0 };
    if differ & !mark != 0 {
        return false;
    }
    if (differ | from) & mark != 0 {
        return reuse_unless_watched(t, from & !mark, element, site, CELLS as u64);
    }
    OpenName::of(from).is_some_and(|name| open::at_once(t, p, cells, element, site, (from, name)))
}

/// The first granule of an access of `CELLS` granules, one or two, and its cells. `None`: they lie in two chunks, or
/// have no cells.
#[inline(always)]
pub(super) fn one_access<const CELLS: usize>(p: &Process, address: u64) -> Option<(u64, &'static [AtomicU32; CELLS])> {
    let element = address & !(GRANULE - 1);
    let offset = p.signature.directory.offset(address).filter(|_| element.is_multiple_of(GRANULE * CELLS as u64))?;
    let first = core::ptr::with_exposed_provenance::<[AtomicU32; CELLS]>(element.wrapping_add(offset) as usize);
    // SAFETY: aligned as one access, they lie in one chunk, whose cells follow each other and live for ever.
    Some((element, unsafe { &*first }))
}

/// [`reuse_in_spite_of_marks`], unless it is more than counting.
#[inline(always)]
fn reuse_unless_watched(t: &mut Thread, state: u32, element: u64, site: u32, n: u64) -> bool {
    let Some(counter) = t.known(state, site) else { return false };
    let bears = match who_waits(t, counter, element, n) {
        Waiting::Nobody => t.bystander.bears(),
        Waiting::Same => false,
        Waiting::Other(trace) => t.traces.bears(trace),
    };
    bears && reuse(counter, n)
}

/// Counts reuse of `n` elements in a state that the thread knows, some of them marked, if no distance of the same trace
/// waits for them. With 16 threads a tenth of all elements may be marked at a time; and what one line waits for a
/// step long, another one may read a hundred times.
#[inline(never)]
fn reuse_in_spite_of_marks(t: &mut Thread, p: &Process, state: u32, element: u64, site: u32, n: u64) -> bool {
    let Some(counter) = t.counter_of(state, site) else { return false };
    match who_waits(t, counter, element, n) {
        Waiting::Nobody => {
            if t.bystander.is_held_up(thread_cpu_ns) {
                p.plan.shares.hold_up(p.sites.region(site));
            }
        }
        Waiting::Same => return false,
        Waiting::Other(trace) => t.traces.is_in_the_way(trace, &p.plan),
    }
    reuse_once_more(t, state, site, counter, n)
}

/// Who of this thread waits for one of `n` elements in one block whose reuse this counter counts.
#[inline(always)]
fn who_waits(t: &Thread, counter: *mut EventCounter, element: u64, n: u64) -> Waiting {
    if counter == t.idle_counter() {
        return Waiting::Nobody;
    }
    // SAFETY: other counters of the event cache are heads of this thread's records; the watches belong to this block.
    unsafe { (*t.watches).who_waits(element / GRANULE, n, (*counter.cast::<EventRecord>()).private) }
}

/// Reuse, or reads that are no event, in a state that has lost its slot of the event cache to another one.
#[inline(always)]
pub(super) fn reuse_once_more(t: &mut Thread, state: u32, site: u32, counter: *mut EventCounter, n: u64) -> bool {
    let counted = reuse(counter, n);
    if counted {
        t.remember(state, site, counter);
    }
    counted
}

/// Counts `n` reuses in a counter of the event cache, if no sample is due before.
#[inline(always)]
pub(super) fn reuse(counter: *mut EventCounter, n: u64) -> bool {
    // SAFETY: counters of the event cache are mapped for the life of the process, and only this thread counts in them.
    let counter = unsafe { &mut *counter };
    let free = counter.rar.saturating_add(n) < counter.next;
    counter.rar += if free { n } else { 0 };
    free
}
