//! Loops and nests with an event that is to be sampled, or that read an element whose distance is measured.
//!
//! What such a loop counts is known, and where in it each event lies is not: a column has its events anywhere. So each
//! counter is taken to grow evenly from the first iteration with an event of its own to the last ([`super::order`]). A
//! distance from an iteration of one loop to the same iteration of a later one is what it would be read by read, and
//! others are nearly so. Which element is sampled is chosen by chance among all that count in the counter that is due;
//! its distance begins at the iteration that reads it, and may end in the same nest.
//!
//! Reads of such elements happen one by one, in the order of the loop, and so do first reads of a nest's rows: what
//! they mean is found out by reading.
//!
//! The instrumented copy of a loop of a thousand iterations takes ten microseconds longer than the plain one; this
//! takes less than one for each sample.

use super::Look;
use super::unread::Columns;
use crate::hooks::access::read_cell;
use crate::hooks::range;
use crate::process::Process;
use crate::thread::mixtures::Part;
use crate::thread::{Thread, memos};
use core::mem::MaybeUninit;
use core::slice;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::cell::{SHARED, TRACKED};
use threadtalk_abi::loops::MOST_IN_NEST;
use threadtalk_abi::thread::EventCounter;
use threadtalk_abi::window::SPREAD;

/// Counters of a loop.
const MOST_COUNTERS: usize = 32;
/// What of a loop is read by itself, without samples and with them. (Threads may have small stacks.)
const MOST_APART: usize = 64;
const MOST_TURNS: usize = 96;
/// Iterations of a column between which counters stand still: its distances are known to as many events.
const STEP: u64 = 16;
/// Places at which an element to be sampled is looked for before all are tried in turn.
const TRIES: u64 = 64;

/// What a loop reads by itself.
#[derive(Clone, Copy)]
enum What {
    /// An element that the thread waits for.
    Awaited,
    /// An element that is sampled.
    Sample,
    /// So many bytes that nothing is known of yet.
    Row(u64),
}

/// A read of its own.
#[derive(Clone, Copy)]
struct Turn {
    iteration: u64,
    address: u64,
    /// The reading line.
    site: u32,
    what: What,
    /// Where the read of an element counts.
    counter: *mut EventCounter,
}

impl Turn {
    const NONE: Self = Turn { iteration: 0, address: 0, site: 0, what: What::Awaited, counter: core::ptr::null_mut() };
}

/// What of a loop must be read by itself: elements that the thread waits for, and such as are not known.
pub struct Apart {
    turns: [MaybeUninit<Turn>; MOST_APART],
    used: usize,
    /// Columns of which something is not known.
    pub unread: Columns,
}

impl Apart {
    /// Nothing.
    pub const fn new() -> Self {
        Apart { turns: [const { MaybeUninit::uninit() }; MOST_APART], used: 0, unread: Columns::new() }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.used == 0 && self.unread.is_empty()
    }

    /// How many reads there are, but for columns.
    pub fn count(&self) -> usize {
        self.used
    }

    /// One more element that the thread waits for: its address, and the iteration and the line that read it. `None`:
    /// there is no room.
    pub fn add_awaited(&mut self, address: u64, iteration: u64, site: u32) -> Option<()> {
        self.add(Turn { iteration, address, site, ..Turn::NONE })
    }

    /// So many bytes more that are not known, each of which is read once.
    pub fn add_row(&mut self, address: u64, bytes: u64, iteration: u64, site: u32) -> Option<()> {
        self.add(Turn { iteration, address, site, what: What::Row(bytes), ..Turn::NONE })
    }

    fn add(&mut self, turn: Turn) -> Option<()> {
        self.turns.get_mut(self.used)?.write(turn);
        self.used += 1;
        Some(())
    }

    fn all(&self) -> &[Turn] {
        // SAFETY: the first `used` ones were written; the layouts are the same.
        unsafe { slice::from_raw_parts(self.turns.as_ptr().cast(), self.used) }
    }
}

/// All of a loop.
struct Turns {
    turns: [Turn; MOST_TURNS],
    used: usize,
}

impl Turns {
    const fn new() -> Self {
        Turns { turns: [Turn::NONE; MOST_TURNS], used: 0 }
    }

    /// One more, in its place: the library's sorts may panic. `None`: there is no room.
    fn add(&mut self, mut turn: Turn) -> Option<()> {
        let (before, free) = self.turns.split_at_mut_checked(self.used)?;
        for place in before {
            if turn.iteration < place.iteration {
                core::mem::swap(place, &mut turn);
            }
        }
        *free.first_mut()? = turn;
        self.used += 1;
        Some(())
    }

    /// By iteration.
    fn all(&self) -> &[Turn] {
        self.turns.get(..self.used).unwrap_or(&[])
    }
}

/// What a loop counts in one counter.
#[derive(Clone, Copy)]
struct Flow {
    counter: *mut EventCounter,
    /// What the counter said before the loop, and since then about elements that somebody waited for.
    before: u64,
    /// Events of the loop, without those elements.
    events: u64,
    /// The iterations that make them: the first and the last one.
    range: (u64, u64),
    /// The next one that is to be sampled, as the counter counts.
    next: u64,
}

impl Flow {
    const NONE: Self = Flow { counter: core::ptr::null_mut(), before: 0, events: 0, range: (u64::MAX, 0), next: 0 };

    fn counter(&mut self) -> &mut EventCounter {
        // SAFETY: counters come from this thread's event cache, mapped for the life of the process, and only this
        // thread counts in them. The reference ends before anyone else counts.
        unsafe { &mut *self.counter }
    }

    /// Sets the counter to what it is when an iteration begins.
    fn go_to(&mut self, iteration: u64) {
        let (first, last) = self.range;
        let share = iteration.saturating_sub(first) as f64 / (last - first + 1) as f64;
        self.counter().rar = self.before + ((self.events as f64 * share) as u64).min(self.events);
    }
}

/// Counts all events of a loop; samples those that are due, and ends what is waited for. `false`: nothing is counted.
pub fn count(t: &mut Thread, p: &Process, looks: &[Look], apart: &Apart) -> bool {
    let mut flows = [Flow::NONE; MOST_COUNTERS];
    let mut turns = Turns::new();
    memos::settle(memos::used(&mut t.header));
    let Some(used) = gather(t, p, (looks, apart), &mut flows, &mut turns) else { return false };
    let flows = flows.get_mut(..used).unwrap_or(&mut []);
    // Those were given their shares before the loop counts.
    memos::empty(memos::used(&mut t.header));
    if !(0..used).all(|number| plan(t, p, looks, flows, number, &mut turns).is_some()) {
        return false;
    }
    read_columns(t, p, &apart.unread, flows);
    for turn in turns.all() {
        flows.iter_mut().for_each(|flow| flow.go_to(turn.iteration));
        if let What::Row(bytes) = turn.what {
            read_row(t, p, turn, bytes, flows);
        } else if let Some(flow) = flows.iter_mut().find(|flow| flow.counter == turn.counter) {
            take(t, p, turn, flow);
        }
    }
    for flow in flows {
        flow.counter().rar = flow.before + flow.events;
        flow.counter().next = flow.next;
    }
    true
}

/// Chooses the elements that are sampled of what counts in one counter. `None`: too many, or the event cache has lost
/// what says which they are.
fn plan(
    t: &mut Thread,
    p: &Process,
    looks: &[Look],
    flows: &mut [Flow],
    number: usize,
    turns: &mut Turns,
) -> Option<()> {
    while let Some(flow) = flows.get_mut(number).filter(|flow| flow.before + flow.events >= flow.next) {
        let turn = pick(t, p, looks, flow)?;
        // SAFETY: counters of windows with events are the heads of this thread's records.
        let gap = unsafe { t.traces.gap(flow.counter.cast(), &p.plan) };
        flow.next = flow.next.saturating_add(gap);
        turns.add(turn)?;
        if let Some(next) = read_again(t, p, looks, &turn) {
            let flow = flows.iter_mut().find(|flow| flow.counter == next.counter)?;
            flow.events = flow.events.checked_sub(1)?;
            turns.add(next)?;
        }
    }
    Some(())
}

/// The read that ends the distance that begins with a sample, if it is in the same loop or nest.
fn read_again(t: &Thread, p: &Process, looks: &[Look], sample: &Turn) -> Option<Turn> {
    let with_events = looks.iter().filter(|look| look.granules > 0);
    let reads = with_events.filter_map(|look| {
        let iteration = look.order().next(sample.address, Some(sample.iteration))?;
        let site = look.group.site?;
        Some(Turn { iteration, site, what: What::Awaited, counter: counter_of(t, p, sample.address, site)?, ..*sample })
    });
    reads.min_by_key(|turn| turn.iteration)
}

/// Reads an element, to sample it or because the thread waits for it. The latter is no sample by itself.
fn take(t: &mut Thread, p: &Process, turn: &Turn, flow: &mut Flow) {
    let sampled = matches!(turn.what, What::Sample);
    flow.counter().next = if sampled { 0 } else { u64::MAX };
    if let Some(cell) = cell(p, turn.address) {
        read_cell(t, p, cell, turn.address, turn.site);
    }
    flow.before += u64::from(!sampled);
}

/// Reads what is not known. Some of it may count where the loop does, and is none of what that counts.
fn read_row(t: &mut Thread, p: &Process, turn: &Turn, bytes: u64, flows: &mut [Flow]) {
    beside(flows, || range::read(t, p, turn.address, bytes, turn.site));
}

/// Reads columns of which something is not known.
fn read_columns(t: &mut Thread, p: &Process, columns: &Columns, flows: &mut [Flow]) {
    let mut at = 0;
    while at < columns.iterations() {
        let end = columns.iterations().min(at + STEP);
        flows.iter_mut().for_each(|flow| flow.go_to(at));
        beside(flows, || columns.read(t, p, at..end));
        at = end;
    }
}

/// Lets reads count beside what the loop does.
fn beside(flows: &mut [Flow], read: impl FnOnce()) {
    for flow in flows.iter_mut() {
        flow.counter().next = u64::MAX;
        flow.before = flow.before.wrapping_sub(flow.counter().rar);
    }
    read();
    for flow in flows {
        flow.before = flow.before.wrapping_add(flow.counter().rar);
    }
}

/// The counters of a loop, how many there are, and the elements that somebody waits for. `None`: there are too many, or
/// it is not known where a group's events are.
fn gather(
    t: &mut Thread,
    p: &Process,
    (looks, apart): (&[Look], &Apart),
    flows: &mut [Flow; MOST_COUNTERS],
    turns: &mut Turns,
) -> Option<usize> {
    let mut used = 0;
    let mut fits = true;
    for look in looks.iter().filter(|look| look.granules > 0) {
        fits &= look.order().reads() == look.group.granules;
        let one = look.part();
        for &Part { counter, granules, range } in t.parts(&one) {
            let known = flows.iter().take(used).position(|flow| flow.counter == counter);
            match flows.get_mut(known.unwrap_or(used)) {
                Some(flow) => {
                    (flow.counter, flow.events) = (counter, flow.events + granules);
                    flow.range = (flow.range.0.min(range.0), flow.range.1.max(range.1));
                    (flow.before, flow.next) = (flow.counter().rar, flow.counter().next);
                }
                None => fits = false,
            }
            used += usize::from(known.is_none());
        }
    }
    if !fits {
        return None;
    }
    for turn in apart.all() {
        let mut turn = *turn;
        if matches!(turn.what, What::Awaited) {
            turn.counter = counter_of(t, p, turn.address, turn.site)?;
            let flow = flows.iter_mut().take(used).find(|flow| flow.counter == turn.counter)?;
            flow.events = flow.events.checked_sub(1)?;
        }
        turns.add(turn)?;
    }
    Some(used)
}

/// An element whose next read counts where a sample is due: each has the same chance.
fn pick(t: &mut Thread, p: &Process, looks: &[Look], flow: &Flow) -> Option<Turn> {
    let counter = flow.counter;
    let mut of_it = [const { None }; MOST_IN_NEST];
    let mut total = 0;
    for (look, of_it) in looks.iter().zip(&mut of_it).filter(|(look, _)| look.granules > 0) {
        let one = look.part();
        let counts = t.parts(&one).iter().any(|part| part.counter == counter);
        if let Some(site) = look.group.site.filter(|_| counts) {
            let order = look.order();
            total += order.reads();
            *of_it = Some((order, site));
        }
    }
    let nth = |mut number: u64| {
        for &(order, site) in of_it.iter().flatten() {
            if number < order.reads() {
                let (address, iteration) = order.read(number);
                return Some(Turn { iteration, address, site, what: What::Sample, counter });
            }
            number -= order.reads();
        }
        None
    };
    let suits = |e: &Turn| counter_of(t, p, e.address, e.site) == Some(counter) && !t.waits_for(e.address);
    // Where a sample is due is chosen at random.
    let mut random = flow.next.wrapping_mul(SPREAD) | 1;
    let mut random = || {
        // xorshift64 (Marsaglia, Journal of Statistical Software 8, 2003).
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random.checked_rem(total).unwrap_or(0)
    };
    let tried = (0..TRIES).find_map(|_| nth(random()).filter(suits));
    tried.or_else(|| {
        let first = random();
        (first..total).chain(0..first).find_map(|number| nth(number).filter(suits))
    })
}

/// The counter of reads of an element that nobody else's mark hides.
fn counter_of(t: &Thread, p: &Process, address: u64, site: u32) -> Option<*mut EventCounter> {
    let state = cell(p, address)?.load(Ordering::Relaxed);
    t.counter_of(if state & SHARED != 0 { state & !TRACKED } else { state }, site)
}

fn cell(p: &Process, address: u64) -> Option<&AtomicU32> {
    // SAFETY: the directory leads to cells that live for ever.
    p.signature.directory.translate(address).map(|cell| unsafe { &*cell })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_grows_evenly_over_the_iterations_that_have_its_events() {
        let mut counter = EventCounter { rar: 100, next: u64::MAX };
        let mut flow = Flow { counter: &raw mut counter, before: 100, events: 30, range: (4, 13), next: u64::MAX };
        let mut at = |iteration| {
            flow.go_to(iteration);
            flow.counter().rar
        };
        assert_eq!([0, 4, 5, 9, 13, 14, 200].map(&mut at), [100, 100, 103, 115, 127, 130, 130]);
        assert_eq!(at(4), 100, "and back");
    }

    #[test]
    fn turns_are_taken_by_iteration_and_no_more_than_there_is_room_for() {
        let turn = |iteration| Turn { iteration, ..Turns::new().turns[0] };
        let mut turns = Turns::new();
        assert!([7, 2, 5].iter().all(|&iteration| turns.add(turn(iteration)).is_some()));
        assert_eq!(turns.all().iter().map(|turn| turn.iteration).collect::<Vec<_>>(), [2, 5, 7]);
        assert_eq!((0..100).filter(|&iteration| turns.add(turn(iteration)).is_some()).count(), MOST_TURNS - 3);
        let mut apart = Apart::new();
        assert_eq!((0..100).filter(|&address| apart.add_awaited(address, 1, 1).is_some()).count(), MOST_APART);
    }
}
