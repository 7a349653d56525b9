//! The decoder. Everything is checked when a profile is opened; after that, reading cannot fail.

mod arrays;
pub(crate) mod blocks;
mod control;
mod execution;
mod header;
mod module;
mod pages;
mod phases;
mod record;
mod source;

use std::mem::size_of;
use std::path::Path;

use self::blocks::Block;
use self::pages::{PageCheck, Pages};
use self::record::{Field, field, text};
use self::source::Source;
use crate::error::{Error, ErrorKind};
use crate::layout::{LiveVisits, NO_THREAD, TraceRecord, block};
use crate::tables::{
    Allocations, Blocked, Code, Count, Event, Header, Instance, Level, Module, Node, ObjectEvents, Phase, PrivateBytes,
    Region, SharedLines, Site, SiteAccess, State, Thread, Trace, UserRegion, Visit, WrittenSite,
};

/// A profile that was opened and checked.
///
/// Small tables are in memory; events, visits and traces are decoded from the file as they are asked for.
#[derive(Debug)]
pub struct Profile {
    source: Source,
    header: Header,
    meta: Vec<(String, String)>,
    modules: Vec<Module>,
    threads: Vec<Thread>,
    user_regions: Vec<UserRegion>,
    blocks: Vec<Block>,
    pages: Pages,
}

impl Profile {
    /// Opens a file. That of a process still running is read as it is at this moment.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        Source::open(path).and_then(Self::read).map_err(|kind| Error::at(path, kind))
    }

    /// Reads a profile from memory.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self::read(Source::Memory(bytes.to_vec()))?)
    }

    fn read(source: Source) -> Result<Self, ErrorKind> {
        let bytes = source.bytes();
        let header = header::read(bytes)?;
        let blocks = blocks::walk(bytes, header.state != State::Running)?;
        let pages = Pages::new(&blocks);
        let mut profile = Self {
            header,
            meta: Vec::new(),
            modules: Vec::new(),
            threads: Vec::new(),
            user_regions: Vec::new(),
            pages,
            blocks: Vec::new(),
            source,
        };
        profile.read_tables(&blocks)?;
        profile.check_arrays(&blocks)?;
        profile.blocks = blocks;
        Ok(profile)
    }

    fn read_tables(&mut self, blocks: &[Block]) -> Result<(), ErrorKind> {
        for b in blocks {
            let payload = &self.source.bytes()[b.payload.clone()];
            match b.kind {
                block::META => read_meta(payload, &mut self.meta).map_err(|what| b.damaged(what))?,
                block::MODULE => self.modules.push(module::read(payload).map_err(|what| b.damaged(what))?),
                block::THREADS => self.threads.extend(records(payload, b).filter_map(arrays::thread)),
                block::USER_REGIONS => {
                    for r in records(payload, b) {
                        self.user_regions.extend(arrays::user_region(r).map_err(|what| b.damaged(what))?);
                    }
                }
                _ => {}
            }
        }
        self.threads.sort_by_key(|t| t.id);
        self.user_regions.sort_by_key(|r| std::cmp::Reverse(r.id));
        self.modules.sort_by_key(|m| (m.bases.site_base, m.bases.region_base));
        self.check_numbers(blocks)
    }

    /// No number is given out twice.
    fn check_numbers(&self, blocks: &[Block]) -> Result<(), ErrorKind> {
        let damaged = |kind, what: &str| {
            let of_kind = blocks.iter().find(|b| b.kind == kind).cloned();
            of_kind.unwrap_or(Block { kind, offset: 0, payload: 0..0 }).damaged(what)
        };
        if self.threads.windows(2).any(|t| t[0].id == t[1].id) {
            return Err(damaged(block::THREADS, "two threads with one number"));
        }
        if self.user_regions.windows(2).any(|r| r[0].id == r[1].id) {
            return Err(damaged(block::USER_REGIONS, "two regions with one number"));
        }
        let known =
            |id: u32| self.user_regions.binary_search_by_key(&std::cmp::Reverse(id), |r| std::cmp::Reverse(r.id));
        if self.user_regions.iter().filter_map(|r| r.parent).any(|p| known(p).is_err()) {
            return Err(damaged(block::USER_REGIONS, "a region inside one that is not there"));
        }
        let apart = |base: u32, count: usize, next: u32| u64::from(base) + count as u64 <= u64::from(next);
        let mut counters: Vec<_> = self.modules.iter().map(|m| (m.bases.counter_base, m.counters)).collect();
        counters.retain(|(_, count)| *count > 0);
        counters.sort_unstable();
        if counters.windows(2).any(|c| !apart(c[0].0, c[0].1 as usize, c[1].0)) {
            return Err(damaged(block::MODULE, "two modules with the same counters"));
        }
        for pair in self.modules.windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            if !apart(a.bases.site_base, a.sites.len(), b.bases.site_base)
                || !apart(a.bases.region_base, a.regions.len(), b.bases.region_base)
            {
                return Err(damaged(block::MODULE, "two modules with the same numbers"));
            }
        }
        Ok(())
    }

    fn check_arrays(&self, blocks: &[Block]) -> Result<(), ErrorKind> {
        let mut check = PageCheck::new(&self.pages);
        let mut nodes = execution::NodeCheck::default();
        for b in blocks {
            let payload = &self.source.bytes()[b.payload.clone()];
            match b.kind {
                block::EVENTS => {
                    let mut events = records(payload, b).map(arrays::event);
                    if let Some(e) = events.find(|e| !arrays::is_pair(e.writer, e.reader)) {
                        return Err(b.damaged(format!("an event from thread {} to thread {}", e.writer, e.reader)));
                    }
                }
                block::TRACES => {
                    for r in records(payload, b) {
                        let (writer, reader) = (field!(r, TraceRecord, writer), field!(r, TraceRecord, reader));
                        if !arrays::is_pair(writer, reader) {
                            return Err(b.damaged(format!("a trace from thread {writer} to thread {reader}")));
                        }
                        for table in [
                            field!(r, TraceRecord, distinct),
                            field!(r, TraceRecord, index),
                            field!(r, TraceRecord, sampled),
                        ] {
                            check.take(&table).map_err(|what| b.damaged(what))?;
                        }
                        for table in [field!(r, TraceRecord, begun), field!(r, TraceRecord, open)] {
                            check.take(&table).map_err(|what| b.damaged(what))?;
                        }
                    }
                }
                block::LIVE_VISITS if live_visits(payload).is_none() => {
                    return Err(b.damaged("it is too short for its counters"));
                }
                block::PHASES => {
                    for r in records(payload, b) {
                        phases::check(r).map_err(|what| b.damaged(what))?;
                    }
                }
                _ => {
                    for r in records(payload, b) {
                        execution::check(b.kind, r, &mut nodes).map_err(|what| b.damaged(what))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Recording, modes, end.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What the runtime noted about the run, in the order of the file.
    pub fn meta(&self) -> &[(String, String)] {
        &self.meta
    }

    /// Instrumented modules, in the order of their numbers.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// Threads, by id.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// Regions that the program named, first opened first: a parent comes before its children.
    pub fn user_regions(&self) -> &[UserRegion] {
        &self.user_regions
    }

    /// The module of the site with a global number, and the site's place in its tables.
    pub fn module_of(&self, site: u32) -> Option<(&Module, usize)> {
        let after = self.modules.partition_point(|m| m.bases.site_base <= site);
        let module = self.modules.get(after.checked_sub(1)?)?;
        let place = (site - module.bases.site_base) as usize;
        (place < module.sites.len()).then_some((module, place))
    }

    /// The site with a global number.
    pub fn site(&self, number: u32) -> Option<&Site> {
        let (module, place) = self.module_of(number)?;
        module.sites.get(place)
    }

    /// What the site with a global number accesses, if its module tells.
    pub fn access(&self, number: u32) -> Option<&SiteAccess> {
        let (module, place) = self.module_of(number)?;
        module.accesses.get(place)
    }

    /// The region of the innermost loop of a caller that the code of the site with a global number was inlined into.
    pub fn caller_loop(&self, number: u32) -> Option<u32> {
        let (module, place) = self.module_of(number)?;
        let index = *module.caller_loops.get(place)?;
        index.map(|index| module.bases.region_base + index)
    }

    /// The module region with a global number.
    pub fn region(&self, number: u32) -> Option<&Region> {
        let after = self.modules.partition_point(|m| m.bases.region_base <= number);
        let module = self.modules.get(after.checked_sub(1)?)?;
        module.regions.get((number - module.bases.region_base) as usize)
    }

    /// All events, in the order of the file: one record for each combination that occurred.
    pub fn events(&self) -> impl Iterator<Item = Event> + '_ {
        self.records(block::EVENTS).map(arrays::event)
    }

    /// Number of [`Self::events`].
    pub fn events_len(&self) -> usize {
        self.lengths(block::EVENTS)
    }

    /// Visits of regions, of threads that ended and of live ones. A pair of thread and region may come more than once.
    pub fn visits(&self) -> impl Iterator<Item = Visit> + '_ {
        let live = self.payloads(block::LIVE_VISITS).filter_map(|(_, p)| live_visits(p)).flatten();
        self.records(block::VISITS).map(arrays::visit).chain(live)
    }

    /// Reuse distances, in the order of the file.
    pub fn traces(&self) -> impl Iterator<Item = Trace> + '_ {
        self.records(block::TRACES).map(|r| self.trace(r))
    }

    /// Those of them that have samples. The histograms of the others are not read.
    pub fn sampled_traces(&self) -> impl Iterator<Item = Trace> + '_ {
        let sampled = self.records(block::TRACES).filter(|r| field!(r, TraceRecord, samples) > 0);
        sampled.map(|r| self.trace(r))
    }

    fn trace(&self, record: &[u8]) -> Trace {
        arrays::trace(record, self.source.bytes(), &self.pages)
    }

    /// Private bytes by region and writer. A pair may come more than once.
    pub fn private_bytes(&self) -> impl Iterator<Item = PrivateBytes> + '_ {
        self.records(block::PRIVATE).map(arrays::private_bytes)
    }

    /// Counts of edges and cache misses. A combination of all but the count may come more than once.
    pub fn counts(&self) -> impl Iterator<Item = Count> + '_ {
        self.records(block::COUNTS).filter_map(execution::count)
    }

    /// Nodes of the threads' call trees; a parent comes before its children.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + '_ {
        self.records(block::NODES).map(execution::node)
    }

    /// Parts of threads in dynamic instances of parallel sections, in the order of the file.
    pub fn instances(&self) -> impl Iterator<Item = Instance> + '_ {
        self.records(block::INSTANCES).filter_map(execution::instance)
    }

    /// Where threads waited. A combination of thread, site and kind may come more than once.
    pub fn blocked(&self) -> impl Iterator<Item = Blocked> + '_ {
        self.records(block::BLOCKED).filter_map(execution::blocked)
    }

    /// Time at each number of threads. A combination of level and kind may come more than once.
    pub fn levels(&self) -> impl Iterator<Item = Level> + '_ {
        self.records(block::LEVELS).filter_map(execution::level)
    }

    /// Places in code that was not compiled with the pass.
    pub fn code(&self) -> impl Iterator<Item = Code> + '_ {
        self.records(block::CODE).map(execution::code)
    }

    /// Communication over time, in the order of the file: that of one thread by time.
    pub fn phases(&self) -> impl Iterator<Item = Phase> + '_ {
        self.records(block::PHASES).filter_map(phases::phase)
    }

    /// Blocks of memory by the call that allocated them. A site may come more than once.
    pub fn allocations(&self) -> impl Iterator<Item = Allocations> + '_ {
        self.records(block::ALLOCATIONS).map(arrays::allocations)
    }

    /// Where the memory came from that sites read. A combination may come more than once.
    pub fn object_events(&self) -> impl Iterator<Item = ObjectEvents> + '_ {
        self.records(block::OBJECT_EVENTS).map(arrays::object_events)
    }

    /// Cache lines in which two threads use different elements.
    pub fn shared_lines(&self) -> impl Iterator<Item = SharedLines> + '_ {
        self.records(block::SHARED_LINES).map(arrays::shared_lines)
    }

    /// What the writes of sites left in memory, those while more than one thread existed. A site may come more than
    /// once.
    pub fn written_sites(&self) -> impl Iterator<Item = WrittenSite> + '_ {
        self.records(block::WRITTEN_SITES).map(arrays::written_site)
    }

    /// The same for what one thread wrote while it was alone.
    pub fn serial_sites(&self) -> impl Iterator<Item = WrittenSite> + '_ {
        self.records(block::SERIAL_SITES).map(arrays::written_site)
    }

    fn payloads(&self, kind: u16) -> impl Iterator<Item = (&Block, &[u8])> + '_ {
        let bytes = self.source.bytes();
        self.blocks.iter().filter(move |b| b.kind == kind).map(|b| (b, &bytes[b.payload.clone()]))
    }

    fn records(&self, kind: u16) -> impl Iterator<Item = &[u8]> + '_ {
        self.payloads(kind).flat_map(|(b, payload)| records(payload, b))
    }

    fn lengths(&self, kind: u16) -> usize {
        self.payloads(kind).map(|(b, payload)| records(payload, b).len()).sum()
    }
}

fn records<'a>(payload: &'a [u8], block: &Block) -> std::slice::ChunksExact<'a, u8> {
    payload.chunks_exact(blocks::record_size(block.kind).unwrap_or(1))
}

fn read_meta(payload: &[u8], meta: &mut Vec<(String, String)>) -> Result<(), &'static str> {
    let mut rest = payload;
    let mut next = || -> Option<String> {
        let end = rest.iter().position(|b| *b == 0)?;
        let string = text(&rest[..end]);
        rest = &rest[end + 1..];
        Some(string)
    };
    while let Some(key) = next() {
        meta.push((key, next().ok_or("a key without a value")?));
    }
    if rest.is_empty() { Ok(()) } else { Err("text without an end") }
}

/// Visits of a live thread; none if the counters do not fit.
fn live_visits(payload: &[u8]) -> Option<impl Iterator<Item = Visit> + '_> {
    let counters = payload.get(size_of::<LiveVisits>()..)?;
    let thread = field!(payload, LiveVisits, thread);
    let regions = field!(payload, LiveVisits, regions) as usize;
    let counters = counters.get(..regions.checked_mul(size_of::<u64>())?)?;
    let shown = if thread == NO_THREAD { &[] } else { counters };
    let visits = shown.chunks_exact(size_of::<u64>()).zip(0..).map(move |(bytes, region)| Visit {
        thread,
        region,
        count: u64::decode(bytes),
    });
    Some(visits.filter(|v| v.count > 0))
}
