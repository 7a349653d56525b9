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
mod judge;
mod readers;

use crate::memory;
use crate::process::Process;
use crate::tally::Tally;
use crate::thread;
use alike::{Alike, Hand, Lines};
use core::sync::atomic::{AtomicU32, Ordering};
use judge::judge;
use readers::OpenReaders;
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::{NONE, SHARED};
use threadtalk_profile::layout::{SharedLineRecord, WrittenSiteRecord, block};
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
    /// By both sites and flags ([`threadtalk_profile::layout::shared_line_flags`]): lines, address and allocation of
    /// the first, its two threads plus 1, threads seen.
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
        let mut hands = (0..HANDS).map(|other| self.hand((number as usize + other) % HANDS));
        let look = |lines: &Lines| self.look_at(process, lines, &OpenReaders::NONE);
        let by_kind =
            |alike: &mut Alike| self.look_through(process, address, bytes, |line, at| alike.add(line, at, look));
        if hands.all(|hand| hand.take(by_kind).is_none()) {
            // More threads than hands: each line by itself.
            self.look_through(process, address, bytes, |line, at| look(&Lines::of(line, at)));
        }
    }

    fn hand(&self, number: usize) -> &Hand {
        debug_assert!(number < HANDS);
        // SAFETY: below their number; zeroed memory is one that nobody has taken, with no lines.
        unsafe { &*self.hands.add(number) }
    }

    /// `look` is given the cells of each line without open values, and its address.
    fn look_through(
        &self,
        process: &Process,
        address: u64,
        bytes: u64,
        mut look: impl FnMut(&[AtomicU32; ELEMENTS], u64),
    ) {
        let first = address & !(LINE - 1);
        let end = address.saturating_add(bytes).next_multiple_of(LINE);
        let are_open = process.open_lines.are_used();
        for run in process.signature.directory.runs(first, end.saturating_sub(first)) {
            let Run::Mapped { address, cells } = run else { continue };
            // Cells that serve several chunks show neighbours that are none.
            if process.signature.is_aliased(address) {
                continue;
            }
            for (line, at) in cells.as_chunks::<ELEMENTS>().0.iter().zip((address..).step_by(LINE as usize)) {
                if are_open && line.iter().any(|cell| is_open(cell.load(Ordering::Relaxed))) {
                    self.look_at_open(process, line, at);
                    continue;
                }
                look(line, at);
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
    fn look_at_open(&self, process: &Process, line: &[AtomicU32; ELEMENTS], address: u64) {
        self.look_at(process, &Lines::of(line, address), &OpenReaders::of(process, line));
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
        let writers = || line.iter().filter(|e| e.parallel).fold(0, |bits, e| bits | 1 << (e.thread % 64));
        judge(&line, reads, reader, |finding| self.add(process, lines, finding, writers()));
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
