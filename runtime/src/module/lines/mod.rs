//! Cache lines that threads share without sharing an element: false sharing.
//!
//! Writes never reach the runtime one by one, but what they left does: the sixteen cells of a line say who wrote each
//! of its elements last, where, and who has read it since. They are looked at when memory dies and at the end. What is
//! lost: elements that somebody else wrote later, how often a line went back and forth, and of readers whose numbers
//! are far from each other those that had ended when the last one came (`threadtalk_sigmem::states`).
//!
//! Beside the lines found, each writing site's elements and their readers are counted: a boundary between two large
//! blocks is one line of many, interleaved counters are all of them. What a thread wrote while it was alone is counted
//! apart: how many threads read an element of it tells what they divide among themselves from what all of them need.

mod alike;
mod readers;

use crate::memory;
use crate::process::Process;
use crate::tally::Tally;
use crate::thread;
use alike::{Alike, Hand, Lines};
use core::sync::atomic::{AtomicU32, Ordering};
use readers::OpenReaders;
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::{NONE, SHARED};
use threadtalk_profile::layout::{SharedLineRecord, WrittenSiteRecord, block, shared_line_flags};
use threadtalk_sigmem::open::is_open;
use threadtalk_sigmem::states::ReaderSet;
use threadtalk_sigmem::{FreshId, Run};

/// Bytes of a cache line.
const LINE: u64 = 64;
/// Elements of a line.
const ELEMENTS: usize = (LINE / GRANULE) as usize;
/// Threads that have kinds of lines in hand of their own; with more, some share them.
const HANDS: usize = 64;
/// Times that the end of the process yields to a thread that is looking at lines.
const PATIENCE: u32 = 1000;
/// Bits of a site in a key: more than `Sites` can number.
const SITE_BITS: u32 = 24;

/// Findings of all threads.
pub struct SharedLines {
    /// By both sites and [`shared_line_flags`]: lines, address and allocation of the first, its two threads plus 1,
    /// threads seen.
    found: Tally<5>,
    /// By site: lines, elements, those that were read, their readers; written while more than one thread existed.
    written: Tally<4>,
    /// The same of what was written serially.
    serial: Tally<4>,
    /// Kinds of lines, [`HANDS`] times.
    hands: *const Hand,
}

// SAFETY: the hands live for ever, and each keeps to one thread at a time.
unsafe impl Sync for SharedLines {}

/// What is known of one element.
#[derive(Clone, Copy, Default)]
struct Element {
    /// Name of its state; 0 = no writer.
    state: u32,
    thread: u32,
    site: u32,
    /// Written while other threads existed.
    parallel: bool,
    /// Its place in the line.
    at: usize,
    /// Who has read it, if others have; of an open value, those that are listed.
    readers: Option<ReaderSet>,
}

/// Two elements of a line, used by two threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Finding {
    sites: [u32; 2],
    threads: [u32; 2],
    flags: u32,
}

impl SharedLines {
    /// Nothing found yet.
    pub fn new() -> Option<Self> {
        let hands = memory::reserve(HANDS * size_of::<Hand>())?.as_ptr().cast_const().cast();
        Some(Self { found: Tally::new()?, written: Tally::new()?, serial: Tally::new()?, hands })
    }

    /// The elements of a range are about to die: looks at all lines that it touches.
    pub fn range_dies(&self, process: &Process, address: u64, bytes: u64) {
        let own = thread::own_block();
        // SAFETY: the calling thread's block, or that of threads that are not counted.
        let number = if own.is_null() { 0 } else { unsafe { (*own).view.thread() } };
        let hand = self.hand(number as usize % HANDS);
        if hand.take(|alike| self.look_through(process, address, bytes, alike)).is_none() {
            let mut alike = Alike::new();
            self.look_through(process, address, bytes, &mut alike);
            alike.look_at_all(|lines| self.look_at(process, lines, &OpenReaders::NONE));
        }
    }

    fn hand(&self, number: usize) -> &Hand {
        debug_assert!(number < HANDS);
        // SAFETY: below their number; zeroed memory is one that nobody has taken, with no lines.
        unsafe { &*self.hands.add(number) }
    }

    fn look_through(&self, process: &Process, address: u64, bytes: u64, alike: &mut Alike) {
        let first = address & !(LINE - 1);
        let end = address.saturating_add(bytes).next_multiple_of(LINE);
        let are_open = process.open_lines.are_used();
        for run in process.signature.directory.runs(first, end.saturating_sub(first)) {
            let Run::Mapped { address, cells } = run else { continue };
            // Cells that serve several chunks show neighbours that are none.
            if process.signature.is_aliased(address) {
                continue;
            }
            for (line, at) in cells.chunks_exact(ELEMENTS).zip((address..).step_by(LINE as usize)) {
                if are_open && line.iter().any(|cell| is_open(cell.load(Ordering::Relaxed))) {
                    self.look_at_open(process, line, at);
                    continue;
                }
                alike.add(line, at, |lines| self.look_at(process, lines, &OpenReaders::NONE));
            }
        }
    }

    /// The process ends, and all cells were looked at.
    pub fn finish(&self, process: &Process) {
        let look_at = |lines: &Lines| self.look_at(process, lines, &OpenReaders::NONE);
        for hand in (0..HANDS).map(|number| self.hand(number)) {
            // A thread that is in the middle of it finishes soon, unless a signal made it end the process from there.
            for _ in 0..PATIENCE {
                if hand.take(|alike| alike.look_at_all(look_at)).is_some() {
                    break;
                }
                // SAFETY: no arguments.
                unsafe { libc::sched_yield() };
            }
        }
        self.found.write(process, block::SHARED_LINES, |key, [lines, address, allocation, pair, threads]| {
            let site = |shift: u32| (key >> shift) as u32 & ((1 << SITE_BITS) - 1);
            SharedLineRecord {
                site: site(0),
                other_site: site(SITE_BITS),
                thread: (pair as u32).wrapping_sub(1),
                other_thread: ((pair >> 32) as u32).wrapping_sub(1),
                allocation_site: allocation as u32,
                flags: (key >> (2 * SITE_BITS)) as u32,
                lines,
                address,
                threads,
            }
        });
        let record = |site, [lines, elements, read, readers]: [u64; 4]| WrittenSiteRecord {
            site: site as u32,
            reserved: 0,
            lines,
            elements,
            read,
            readers,
        };
        self.written.write(process, block::WRITTEN_SITES, record);
        self.serial.write(process, block::SERIAL_SITES, record);
    }

    /// A line with open values, whose names do not tell what it is like.
    fn look_at_open(&self, process: &Process, line: &[AtomicU32], address: u64) {
        let mut states = [NONE; ELEMENTS];
        for (state, cell) in states.iter_mut().zip(line) {
            // Acquire: as for lines that are alike.
            *state = cell.load(Ordering::Acquire);
        }
        self.look_at(process, &Lines { states, first: address, times: 1 }, &OpenReaders::of(process, line));
    }

    fn look_at(&self, process: &Process, lines: &Lines, open: &OpenReaders) {
        let mut line = [Element::default(); ELEMENTS];
        let (mut last, mut parallel) = (Element::default(), false);
        let elements = line.iter_mut().enumerate().zip(&lines.states);
        for ((at, element), &state) in elements.filter(|(_, state)| **state != NONE) {
            if state != last.state {
                last = describe(process, state);
            }
            *element = Element { at, ..last };
            parallel |= last.parallel;
        }
        self.count(process, &line, lines.times, open);
        if !parallel {
            return;
        }
        let sets = &process.states.sets;
        let reads = |e: &Element, thread| {
            e.readers.is_some_and(|set| sets.contains(set, thread)) || open.at(e.state, e.at).any(|own| own == thread)
        };
        let reader = |e: &Element| sets.members(e.readers?).chain(open.at(e.state, e.at)).next();
        if let Some(finding) = judge(&line, reads, reader) {
            let writers = line.iter().filter(|e| e.parallel).fold(0, |bits, e| bits | 1 << (e.thread % 64));
            self.add(process, lines, finding, writers);
        }
    }

    /// Adds `times` such lines to those of the sites that wrote them.
    fn count(&self, process: &Process, line: &[Element; ELEMENTS], times: u64, open: &OpenReaders) {
        for (i, e) in line.iter().enumerate().filter(|(_, e)| e.state != NONE) {
            let is_same =
                |other: &&Element| other.state != NONE && other.parallel == e.parallel && other.site == e.site;
            if line.iter().take(i).any(|earlier| is_same(&earlier)) {
                continue;
            }
            let tally = if e.parallel { &self.written } else { &self.serial };
            let Some([lines, elements, read, readers]) = tally.counters(e.site.into()) else { return };
            lines.fetch_add(times, Ordering::Relaxed);
            let (mut own, mut own_read, mut own_readers) = (0, 0, 0);
            let mut last = (NONE, 0);
            for same in line.iter().filter(is_same) {
                own += 1;
                if is_open(same.state) {
                    let sets = &process.states.sets;
                    let listed = |thread: &u32| same.readers.is_some_and(|set| sets.contains(set, *thread));
                    let unlisted = open.at(same.state, same.at).filter(|thread| !listed(thread)).count() as u64;
                    let readers = u64::from(same.readers.map_or(0, |set| sets.size(set))) + unlisted;
                    own_read += u64::from(readers > 0);
                    own_readers += readers;
                } else if same.state & SHARED != 0 {
                    if last.0 != same.state {
                        let readers = same.readers.map_or(0, |set| process.states.sets.size(set));
                        last = (same.state, u64::from(readers));
                    }
                    own_read += 1;
                    own_readers += last.1;
                }
            }
            elements.fetch_add(own * times, Ordering::Relaxed);
            if own_read > 0 {
                read.fetch_add(own_read * times, Ordering::Relaxed);
                readers.fetch_add(own_readers * times, Ordering::Relaxed);
            }
        }
    }

    /// `writers`: bits of all threads that wrote the line.
    fn add(&self, process: &Process, of: &Lines, mut f: Finding, writers: u64) {
        if f.flags == 0 && f.sites[0] > f.sites[1] {
            f.sites.swap(0, 1);
            f.threads.swap(0, 1);
        }
        let key = u64::from(f.flags) << (2 * SITE_BITS) | u64::from(f.sites[1]) << SITE_BITS | u64::from(f.sites[0]);
        let Some([lines, first, allocation, pair, threads]) = self.found.counters(key) else { return };
        lines.fetch_add(of.times, Ordering::Relaxed);
        let [a, b] = f.threads.map(u64::from);
        threads.fetch_or(writers | 1 << (a % 64) | 1 << (b % 64), Ordering::Relaxed);
        // Relaxed: each is meaningful alone; two threads that find the first line at once may mix their examples.
        if first.compare_exchange(0, of.first, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            allocation.store(self.allocation(process, of.first), Ordering::Relaxed);
            pair.store((b + 1) << 32 | (a + 1), Ordering::Relaxed);
        }
    }

    /// The first block in a line that is known.
    fn allocation(&self, process: &Process, line: u64) -> u64 {
        let pieces = (line..line + LINE).step_by(16);
        pieces.map(|at| process.objects.site_of(at)).find(|site| *site != 0).unwrap_or(0).into()
    }
}

fn describe(process: &Process, state: u32) -> Element {
    let (written, readers) = match process.states.decode(state) {
        Some(shared) => (shared.writer, Some(shared.readers)),
        None if state != NONE && state & SHARED == 0 => (FreshId(state), None),
        None => return Element::default(),
    };
    let (bits, site) = (process.site_bits, written.site(process.site_bits));
    Element {
        state,
        thread: written.thread(bits),
        site: if site < process.lineless_sites { site } else { 0 },
        parallel: !written.serial(bits),
        at: 0,
        readers,
    }
}

/// Whether two threads use a line without one of them using what the other writes there. `reads`: whether a thread has
/// read an element; `reader`: one that has.
///
/// Two writers: at least one of them reads nothing that the other wrote in the line. (Both read from each other in a
/// queue or at the border of two blocks with halos: there the line moves because data moves.) A writer and a reader:
/// the reader reads the line, but nothing that the writer wrote.
fn judge(
    line: &[Element; ELEMENTS],
    reads: impl Fn(&Element, u32) -> bool,
    reader: impl Fn(&Element) -> Option<u32>,
) -> Option<Finding> {
    let reads_from =
        |thread: u32, writer: u32| line.iter().any(|e| e.state != NONE && e.thread == writer && reads(e, thread));
    let written = || line.iter().filter(|e| e.parallel);
    // What is found depends on who wrote an element, and is said of the first one of each.
    let of_each = || {
        let is_first = |(at, a): &(usize, &Element)| !written().take(*at).any(|earlier| earlier.thread == a.thread);
        written().enumerate().filter(is_first).map(|(_, a)| a)
    };
    for a in of_each() {
        let other = written()
            .find(|b| b.thread != a.thread && !(reads_from(b.thread, a.thread) && reads_from(a.thread, b.thread)));
        if let Some(b) = other {
            return Some(Finding { sites: [a.site, b.site], threads: [a.thread, b.thread], flags: 0 });
        }
    }
    for a in of_each() {
        // Who has read an element of the same writer's reads from it.
        for e in line.iter().filter(|e| e.state & SHARED != 0 && e.thread != a.thread) {
            let Some(thread) = reader(e).filter(|t| *t != a.thread && *t != e.thread) else { continue };
            if !reads_from(thread, a.thread) {
                let flags = shared_line_flags::OTHER_READS;
                return Some(Finding { sites: [a.site, e.site], threads: [a.thread, thread], flags });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements of a line: (writer, readers), from the first on.
    fn found(elements: &[(u32, &[u32])]) -> Option<Finding> {
        let mut line = [Element::default(); ELEMENTS];
        for (i, (e, (thread, readers))) in line.iter_mut().zip(elements).enumerate() {
            let state = (i as u32 + 1) | if readers.is_empty() { 0 } else { SHARED };
            // Thread 0 wrote before there were others.
            *e = Element { state, thread: *thread, site: 10 + thread, parallel: *thread > 0, at: i, readers: None };
        }
        let readers = |e: &Element| elements[(e.state & !SHARED) as usize - 1].1;
        judge(&line, |e, thread| readers(e).contains(&thread), |e| readers(e).first().copied())
    }

    type Readers<'a> = &'a [u32];

    /// By every pair of elements.
    fn by_pairs(elements: &[(u32, Readers)]) -> Option<Finding> {
        let reads_from =
            |thread: u32, writer: u32| elements.iter().any(|(w, readers)| *w == writer && readers.contains(&thread));
        // Thread 0 wrote before there were others.
        let written = || elements.iter().filter(|(writer, _)| *writer > 0);
        let finding = |a: u32, (other, thread): (u32, u32), flags| {
            Some(Finding { sites: [10 + a, 10 + other], threads: [a, thread], flags })
        };
        for (a, _) in written() {
            let other = written().find(|(b, _)| b != a && !(reads_from(*b, *a) && reads_from(*a, *b)));
            if let Some((b, _)) = other {
                return finding(*a, (*b, *b), 0);
            }
        }
        for (a, _) in written() {
            for (writer, readers) in elements {
                let Some(thread) = readers.first().filter(|thread| **thread != *a && **thread != *writer) else {
                    continue;
                };
                if !reads_from(*thread, *a) {
                    return finding(*a, (*writer, *thread), shared_line_flags::OTHER_READS);
                }
            }
        }
        None
    }

    #[test]
    fn what_is_found_is_what_pairs_of_elements_show() {
        let mut rng = fastrand::Rng::with_seed(5);
        let (mut none, mut by_kind) = (0, [0; 2]);
        for _ in 0..20_000 {
            let threads = rng.u32(2..5);
            let elements: Vec<(u32, Vec<u32>)> = (0..rng.usize(1..ELEMENTS))
                .map(|_| {
                    let writer = rng.u32(0..threads);
                    (writer, (0..threads).filter(|reader| *reader != writer && rng.u32(0..3) > 0).collect())
                })
                .collect();
            let line: Vec<(u32, Readers)> = elements.iter().map(|(writer, readers)| (*writer, &readers[..])).collect();
            let expected = by_pairs(&line);
            assert_eq!(found(&line), expected, "{line:?}");
            match expected {
                Some(finding) => by_kind[usize::from(finding.flags != 0)] += 1,
                None => none += 1,
            }
        }
        assert!(none > 500 && by_kind.iter().all(|n| *n > 500), "{none} {by_kind:?}");
    }

    #[test]
    fn counters_side_by_side_are_false_sharing() {
        let finding = Finding { sites: [11, 12], threads: [1, 2], flags: 0 };
        assert_eq!(found(&[(1, &[]), (1, &[]), (2, &[]), (3, &[])]), Some(finding));
        // One thread reads all of them at the end.
        assert_eq!(found(&[(1, &[]), (2, &[1]), (3, &[1])]), Some(finding));
    }

    #[test]
    fn elements_that_threads_exchange_are_true_sharing() {
        // Head and tail of a queue, and the border of two blocks whose owners read each other's edge.
        assert_eq!(found(&[(1, &[2]), (2, &[1])]), None);
        assert_eq!(found(&[(1, &[]), (1, &[2]), (2, &[1]), (2, &[])]), None);
        // A flag.
        assert_eq!(found(&[(1, &[2, 3])]), None);
    }

    #[test]
    fn a_line_in_one_state_shares_nothing() {
        for readers in [&[][..], &[2], &[2, 3], &[1, 2]] {
            let state = if readers.is_empty() { 5 } else { SHARED | 5 };
            let line = [Element { state, thread: 1, site: 11, parallel: true, at: 0, readers: None }; ELEMENTS];
            assert_eq!(judge(&line, |_, thread| readers.contains(&thread), |_| readers.first().copied()), None);
        }
    }

    #[test]
    fn one_thread_alone_shares_nothing() {
        assert_eq!(found(&[(1, &[]), (1, &[]), (0, &[]), (0, &[])]), None);
        assert_eq!(found(&[(0, &[1, 2]), (0, &[2])]), None);
    }

    #[test]
    fn a_counter_beside_what_others_read_disturbs_them() {
        let finding = Finding { sites: [11, 10], threads: [1, 2], flags: shared_line_flags::OTHER_READS };
        assert_eq!(found(&[(1, &[]), (0, &[2])]), Some(finding));
        // Who reads the writer's elements in the line as well needs it anyway.
        assert_eq!(found(&[(1, &[2]), (0, &[2])]), None);
        assert_eq!(found(&[(1, &[]), (0, &[1])]), None);
    }
}
