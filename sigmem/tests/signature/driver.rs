//! Runs a trace through the signature the way the runtime does, and records what it finds in the oracle's terms.

use crate::memory::{KnownMemory, Memory, Size};
use std::collections::HashMap;
use threadtalk_abi::cell::{NONE, TRACKED};
use threadtalk_abi::{CHUNK_SHIFT, GRANULE};
use threadtalk_sigmem::mixed::{MOST_STATES, Mixed};
use threadtalk_sigmem::open::Lines;
use threadtalk_sigmem::oracle::{Access, Event, Op, Pair, Record, Region, Step, trace};
use threadtalk_sigmem::primitive::{AtomicU32, Ordering};
use threadtalk_sigmem::{
    Alike, ChunkStock, FreshId, Member, MemberRead, Read, Run, States, Transition, View, track, untrack, write,
};

pub const SITE_BITS: u32 = 12;

/// Slots of each thread's transition cache: few, so that states push each other out.
const TRANSITIONS_LOG2: u32 = 3;

struct Thread {
    view: View,
    chunks: ChunkStock,
    regions: Vec<Region>,
    /// What the event cache would know: the writer to count reuse for, or `None` for a read that is no event.
    known: HashMap<u32, Option<u32>>,
    /// What first reads have made of states, and whose values they were.
    firsts: HashMap<u32, (u32, u32)>,
    _known: KnownMemory,
    _transitions: Box<[Transition]>,
}

pub struct Driver {
    pub memory: Memory,
    pub record: Record,
    /// Reads whose reader the tables had no room for.
    pub exhausted: u64,
    /// Reads open values now and then.
    pub opens: bool,
    /// Lines that were opened, and reads of what does not tell whether it was read.
    pub opened: u64,
    pub unlisted: u64,
    /// Times that more than one structure was read at once.
    pub structures: u64,
    /// How often neighbours in several states were read at once.
    pub mixed: u64,
    granule: u64,
    threads: HashMap<u32, Thread>,
    clock: u32,
}

impl Driver {
    /// `granule`: bytes of an element of the trace. Elements are laid out on 4-byte granules one by one.
    pub fn new(size: Size, granule: u64) -> Self {
        let memory = Memory::new(size);
        Self {
            memory,
            record: Record::default(),
            exhausted: 0,
            opens: false,
            opened: 0,
            unlisted: 0,
            structures: 0,
            mixed: 0,
            granule,
            threads: HashMap::new(),
            clock: 0,
        }
    }

    /// One step; its events in order.
    pub fn step(&mut self, step: &Step) -> &[Event] {
        let begin = self.record.events.len();
        self.clock += 1;
        let mut thread =
            self.threads.remove(&step.thread).unwrap_or_else(|| new_thread(step.thread, self.memory.lines));
        if step.op.touches_memory() {
            self.record.participants.entry(thread.region()).or_default().insert(step.thread);
        }
        match step.op {
            Op::Enter(region) => thread.regions.push(region),
            Op::Exit(_) => drop(thread.regions.pop()),
            _ => step.op.accesses().into_iter().for_each(|access| self.access(&mut thread, access)),
        }
        self.threads.insert(step.thread, thread);
        &self.record.events[begin..]
    }

    /// Whether an event of this element may be false.
    pub fn is_aliased(&self, element: u64) -> bool {
        self.memory.signature.is_aliased(element * GRANULE)
    }

    fn access(&mut self, thread: &mut Thread, access: Access) {
        let (Access::Read { at, bytes, .. } | Access::Write { at, bytes } | Access::Death { at, bytes }) = access;
        let (at, bytes) = self.scale(at, bytes);
        let Memory { signature, states, .. } = &self.memory;
        if let Access::Death { .. } = access {
            return signature.clear(at, bytes);
        }
        let (region, reader) = (thread.region(), thread.view.thread());
        let Thread { view, chunks, known, firsts, .. } = thread;
        // Few sites, some of them serial: states of one thread's values differ in more than readers.
        let fresh = FreshId::new(reader, !self.clock.is_multiple_of(5), self.clock % 3 + 1, SITE_BITS);
        for run in signature.cells(at, bytes, chunks) {
            let Run::Mapped { address, cells } = run else { panic!("no cells for {:#x}", at >> CHUNK_SHIFT) };
            let mut at = 0;
            while let Some(rest @ [cell, ..]) = cells.get(at..) {
                let element = address / GRANULE + at as u64;
                at += 1;
                let Access::Read { sync, .. } = access else {
                    write(cell, fresh);
                    continue;
                };
                let event = |writer: u32, element, reuse| {
                    let pair = Pair { writer, reader };
                    Event { region, pair, element, reuse, sync }
                };
                if self.opens && (self.clock + at as u32).is_multiple_of(3) {
                    self.opened += u64::from(view.open(states, cell));
                }
                let found = cell.load(Ordering::Relaxed);
                let is_unlisted = view.is_unlisted(states, found & !TRACKED);
                self.unlisted += u64::from(is_unlisted);
                if let Some(writer) = known.get(&found) {
                    self.record.events.extend(writer.map(|writer| event(writer, element, true)));
                    assert_eq!(found & TRACKED, 0, "a tracked state of other threads' data is never known");
                    continue;
                }
                // A third of the steps makes first reads like earlier ones without asking what they are.
                let first = firsts.get(&found).filter(|_| self.clock.is_multiple_of(3));
                if let Some(&(to, writer)) = first {
                    let read = view.read_again(states, rest, (found, to));
                    self.record.events.extend((element..).take(read).map(|element| event(writer, element, false)));
                    at += read - 1;
                    continue;
                }
                // A fifth of the others reads structures of a few granules at once where they can.
                let mut members = [Member::NONE; 4];
                let members = &mut members[..self.clock as usize % 3 + 2];
                let is_tried = self.clock.is_multiple_of(5);
                let read = if is_tried { view.read_structures(states, rest, members, |_| true) } else { 0 };
                if read > 0 {
                    self.structures += u64::from(read > members.len());
                    for (element, member) in (element..).zip(members.iter().cycle()).take(read) {
                        let writer = member.writer.thread(SITE_BITS);
                        match member.read {
                            MemberRead::Nothing => assert_eq!(member.from, member.state),
                            MemberRead::Communication => self.record.events.push(event(writer, element, false)),
                            MemberRead::Reuse => self.record.events.push(event(writer, element, true)),
                        }
                    }
                    at += read - 1;
                    continue;
                }
                // A seventh reads neighbours in whatever states they are.
                let mut mixed = Mixed::new();
                let is_tried = self.clock.is_multiple_of(7);
                let read = if is_tried { view.read_mixed(states, rest, &mut mixed) } else { 0 };
                if read > 0 {
                    self.mixed += u64::from(mixed.members().len() > 1);
                    let mut counts = [0; MOST_STATES];
                    for (element, &number) in (element..).zip(mixed.numbers()).take(read) {
                        let member = mixed.members()[usize::from(number)];
                        let writer = member.writer.thread(SITE_BITS);
                        counts[usize::from(number)] += 1;
                        match member.read {
                            MemberRead::Nothing => assert_eq!(member.from, member.state),
                            MemberRead::Communication => self.record.events.push(event(writer, element, false)),
                            MemberRead::Reuse => self.record.events.push(event(writer, element, true)),
                        }
                    }
                    assert_eq!(&counts, mixed.counts());
                    at += read - 1;
                    continue;
                }
                // Half of the others read neighbours at once where they can.
                let alike = if self.clock.is_multiple_of(2) { view.read_alike(states, rest) } else { None };
                if let Some(Alike { writer, from, state, read }) = alike {
                    let writer = writer.thread(SITE_BITS);
                    let is_unlisted = view.is_unlisted(states, state);
                    assert!(is_unlisted == (from == state));
                    self.record.events.extend((element..).take(read).map(|element| event(writer, element, false)));
                    if !is_unlisted {
                        firsts.insert(from, (state, writer));
                        known.insert(state, Some(writer));
                    }
                    at += read - 1;
                    continue;
                }
                let first = view.first_from(states, found);
                let read = view.read(states, cell);
                let new = match read {
                    Read::Communication { writer, .. } | Read::Exhausted { writer, .. } => Some(writer),
                    Read::Cold | Read::Own { .. } | Read::Reuse { .. } => None,
                };
                assert!(first == new || is_unlisted && first.is_none(), "{found:#x}");
                match read {
                    Read::Cold => drop(known.insert(NONE, None)),
                    Read::Own { state, .. } => drop(known.insert(state, None)),
                    Read::Communication { writer, state, tracked } => {
                        let writer = writer.thread(SITE_BITS);
                        self.record.events.push(event(writer, element, false));
                        remember(view, states, known, (state, writer));
                        mark(cell, tracked, self.clock);
                    }
                    Read::Reuse { writer, state, tracked } => {
                        let writer = writer.thread(SITE_BITS);
                        self.record.events.push(event(writer, element, true));
                        remember(view, states, known, (state, writer));
                        mark(cell, tracked, self.clock);
                    }
                    Read::Exhausted { writer, .. } => {
                        self.exhausted += 1;
                        self.record.events.push(event(writer.thread(SITE_BITS), element, true));
                    }
                }
            }
        }
    }

    fn scale(&self, at: u64, bytes: u64) -> (u64, u64) {
        if self.granule == GRANULE {
            return (at, bytes);
        }
        let elements = trace::elements(at, bytes, self.granule);
        (elements.start * GRANULE, (elements.end - elements.start) * GRANULE)
    }
}

impl Thread {
    fn region(&self) -> Region {
        self.regions.last().copied().unwrap_or(trace::PROGRAM)
    }
}

fn remember(view: &View, states: &States, known: &mut HashMap<u32, Option<u32>>, (state, writer): (u32, u32)) {
    if !view.is_unlisted(states, state) {
        known.insert(state, Some(writer));
    }
}

fn new_thread(thread: u32, lines: Lines) -> Thread {
    let mut transitions = vec![Transition::EMPTY; 1 << TRANSITIONS_LOG2].into_boxed_slice();
    // SAFETY: that many slots; the box moves into the thread, its contents stay.
    let mut view = unsafe { View::new(thread, SITE_BITS, transitions.as_mut_ptr(), TRANSITIONS_LOG2) };
    let mut memory = KnownMemory::new(lines);
    view.known = memory.known();
    let (chunks, regions, known, firsts) = Default::default();
    Thread { view, chunks, regions, known, firsts, _known: memory, _transitions: transitions }
}

/// Now and then a reuse distance waits for the element, and now and then it is found.
fn mark(cell: &AtomicU32, tracked: bool, clock: u32) {
    assert_eq!(cell.load(Ordering::Relaxed) & TRACKED != 0, tracked);
    match (tracked, clock % 4) {
        (false, 0) => assert!(track(cell)),
        (true, 1) => assert!(untrack(cell)),
        _ => {}
    }
}
