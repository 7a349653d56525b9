//! A slow, exact and obvious model of what is counted, to test against: one map from elements to {writer, readers}.
//!
//! It shares no code with the signature. [`Oracle::step`] returns the events of one step of a trace; the record
//! holds all of them in order, so that matrices and reuse distances are read off it and not counted along the
//! way.

pub mod distance;
pub mod record;
pub mod trace;

pub use record::{Event, Pair, Record};
pub use trace::{Access, Op, Region, Step};

use std::collections::{BTreeSet, HashMap};
use std::vec::Vec;

/// A live element: who wrote it and who has read that value.
struct Element {
    writer: u32,
    readers: BTreeSet<u32>,
}

/// The model. An element is `granule` bytes.
pub struct Oracle {
    granule: u64,
    elements: HashMap<u64, Element>,
    regions: HashMap<u32, Vec<Region>>,
    record: Record,
}

impl Oracle {
    /// Nothing has a writer.
    pub fn new(granule: u64) -> Self {
        Self { granule, elements: HashMap::new(), regions: HashMap::new(), record: Record::default() }
    }

    /// Everything so far.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// One step; its events in order.
    pub fn step(&mut self, step: &Step) -> &[Event] {
        let begin = self.record.events.len();
        if step.op.touches_memory() {
            let region = self.region(step.thread);
            self.record.participants.entry(region).or_default().insert(step.thread);
        }
        match step.op {
            Op::Enter(region) => self.regions.entry(step.thread).or_default().push(region),
            Op::Exit(region) => {
                let left = self.regions.entry(step.thread).or_default().pop();
                assert_eq!(left, Some(region), "regions are left in the reverse order of entering");
            }
            _ => {
                for access in step.op.accesses() {
                    self.access(step.thread, access);
                }
            }
        }
        &self.record.events[begin..]
    }

    fn access(&mut self, thread: u32, access: Access) {
        let (Access::Read { at, bytes, .. } | Access::Write { at, bytes } | Access::Death { at, bytes }) = access;
        for element in trace::elements(at, bytes, self.granule) {
            match access {
                Access::Read { sync, .. } => self.read(thread, element, sync),
                Access::Write { .. } => {
                    self.elements.insert(element, Element { writer: thread, readers: BTreeSet::new() });
                }
                Access::Death { .. } => {
                    self.elements.remove(&element);
                }
            }
        }
    }

    fn read(&mut self, reader: u32, element: u64, sync: bool) {
        let region = self.region(reader);
        let Some(Element { writer, readers }) = self.elements.get_mut(&element) else { return };
        if *writer == reader {
            return;
        }
        let reuse = !readers.insert(reader);
        let pair = Pair { writer: *writer, reader };
        self.record.events.push(Event { region, pair, element, reuse, sync });
    }

    fn region(&self, thread: u32) -> Region {
        self.regions.get(&thread).and_then(|stack| stack.last()).copied().unwrap_or(trace::PROGRAM)
    }
}
