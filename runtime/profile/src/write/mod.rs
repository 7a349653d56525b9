//! An encoder for tools and tests: tables to a valid, sealed file. The profiled process does not use it, it
//! fills its blocks in place.

mod arrays;
mod bytes;
mod control;
mod execution;
mod module;
mod phases;

use std::mem::{offset_of, size_of};
use xxhash_rust::xxh3::xxh3_64;

use self::bytes::put;
use crate::Profile;
use crate::layout::{
    BLOCK_MAGIC, BlockHeader, BucketPage, ENDIAN_MARK, FILE_MAGIC, FileHeader, UNIT, VERSION, block, state,
};
use crate::read::blocks::record_size;
use crate::tables::{
    Allocations, Blocked, Code, Count, Event, Header, Histogram, Instance, Level, Module, Node, ObjectEvents, Phase,
    PrivateBytes, SharedLines, State, Thread, Trace, UserRegion, Visit, WrittenSite,
};

/// All that a profile holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// Its version is written as the one that this code writes.
    pub header: Header,
    /// Keys and values, without NUL.
    pub meta: Vec<(String, String)>,
    /// Modules; their numbers must not overlap.
    pub modules: Vec<Module>,
    /// Threads.
    pub threads: Vec<Thread>,
    /// Events.
    pub events: Vec<Event>,
    /// Visits, all written as those of ended threads.
    pub visits: Vec<Visit>,
    /// Reuse distances.
    pub traces: Vec<Trace>,
    /// Private bytes.
    pub private_bytes: Vec<PrivateBytes>,
    /// User regions.
    pub user_regions: Vec<UserRegion>,
    /// Counts of edges and cache misses.
    pub counts: Vec<Count>,
    /// Call trees; a parent before its children.
    pub nodes: Vec<Node>,
    /// Dynamic instances of parallel sections.
    pub instances: Vec<Instance>,
    /// Waiting.
    pub blocked: Vec<Blocked>,
    /// Time at each number of threads.
    pub levels: Vec<Level>,
    /// Places in code that was not compiled with the pass.
    pub code: Vec<Code>,
    /// Communication over time.
    pub phases: Vec<Phase>,
    /// Allocations.
    pub allocations: Vec<Allocations>,
    /// Where the memory came from that sites read.
    pub object_events: Vec<ObjectEvents>,
    /// Cache lines in which threads use different elements.
    pub shared_lines: Vec<SharedLines>,
    /// What writes left in memory, those while more than one thread existed.
    pub written_sites: Vec<WrittenSite>,
    /// What the others left.
    pub serial_sites: Vec<WrittenSite>,
}

impl From<&Profile> for Contents {
    fn from(profile: &Profile) -> Self {
        Self {
            header: profile.header().clone(),
            meta: profile.meta().to_vec(),
            modules: profile.modules().to_vec(),
            threads: profile.threads().to_vec(),
            events: profile.events().collect(),
            visits: profile.visits().collect(),
            traces: profile.traces().collect(),
            private_bytes: profile.private_bytes().collect(),
            user_regions: profile.user_regions().to_vec(),
            counts: profile.counts().collect(),
            nodes: profile.nodes().collect(),
            instances: profile.instances().collect(),
            blocked: profile.blocked().collect(),
            levels: profile.levels().collect(),
            code: profile.code().collect(),
            phases: profile.phases().collect(),
            allocations: profile.allocations().collect(),
            object_events: profile.object_events().collect(),
            shared_lines: profile.shared_lines().collect(),
            written_sites: profile.written_sites().collect(),
            serial_sites: profile.serial_sites().collect(),
        }
    }
}

impl Contents {
    /// The bytes of the file. Of a [`State::Running`] one too, but without checksums.
    ///
    /// # Panics
    /// If a table is longer than its block can be (64 TiB), or a string holds a NUL.
    pub fn encode(&self) -> Vec<u8> {
        let mut file = File { bytes: vec![0; UNIT as usize], sealed: self.header.state != State::Running };
        file.block(block::META, &self.meta_bytes());
        for module in &self.modules {
            file.block(block::MODULE, &module::encode(module));
        }
        file.block(block::THREADS, &arrays::encode(&self.threads, arrays::thread));
        file.block(block::USER_REGIONS, &arrays::encode(&self.user_regions, arrays::user_region));
        file.block(block::EVENTS, &arrays::encode(&self.events, arrays::event));
        file.block(block::VISITS, &arrays::encode(&self.visits, arrays::visit));
        file.block(block::PRIVATE, &arrays::encode(&self.private_bytes, arrays::private_bytes));
        file.block(block::ALLOCATIONS, &arrays::encode(&self.allocations, arrays::allocations));
        file.block(block::OBJECT_EVENTS, &arrays::encode(&self.object_events, arrays::object_events));
        file.block(block::SHARED_LINES, &arrays::encode(&self.shared_lines, arrays::shared_lines));
        file.block(block::WRITTEN_SITES, &arrays::encode(&self.written_sites, arrays::written_site));
        file.block(block::SERIAL_SITES, &arrays::encode(&self.serial_sites, arrays::written_site));
        file.traces(&self.traces);
        file.block(block::COUNTS, &arrays::encode(&self.counts, execution::count));
        file.block(block::NODES, &arrays::encode(&self.nodes, execution::node));
        file.block(block::INSTANCES, &arrays::encode(&self.instances, execution::instance));
        file.block(block::BLOCKED, &arrays::encode(&self.blocked, execution::blocked));
        file.block(block::LEVELS, &arrays::encode(&self.levels, execution::level));
        file.block(block::CODE, &arrays::encode(&self.code, execution::code));
        file.block(block::PHASES, &arrays::encode(&self.phases, phases::phase));
        self.write_header(&mut file.bytes);
        file.bytes
    }

    fn meta_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for text in self.meta.iter().flat_map(|(key, value)| [key, value]) {
            assert!(!text.contains('\0'), "a NUL in the meta data");
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0);
        }
        bytes
    }

    fn write_header(&self, file: &mut [u8]) {
        let h = &self.header;
        let length = file.len() as u64;
        put!(file, FileHeader, magic, FILE_MAGIC);
        put!(file, FileHeader, version, VERSION);
        put!(file, FileHeader, endian, ENDIAN_MARK);
        put!(file, FileHeader, header_size, size_of::<FileHeader>() as u32);
        put!(file, FileHeader, unit, UNIT as u32);
        put!(file, FileHeader, granule, h.granule);
        put!(file, FileHeader, site_bits, h.site_bits);
        put!(file, FileHeader, pid, h.pid);
        put!(file, FileHeader, signature_mode, h.signature_mode as u32);
        put!(file, FileHeader, crd_mode, h.crd_mode as u32);
        put!(file, FileHeader, start_unix_ns, h.start_unix_ns);
        put!(file, FileHeader, duration_ns, h.duration_ns.unwrap_or(0));
        put!(file, FileHeader, cpu_ns, h.cpu_ns.unwrap_or(0));
        put!(file, FileHeader, exit_status, h.exit_status.unwrap_or(-1));
        arrays::accuracy(&mut file[offset_of!(FileHeader, accuracy)..], &h.accuracy);
        let (state, sealed_length) = match h.state {
            State::Running => (state::RUNNING, 0),
            State::Normal => (state::NORMAL, length),
            State::Exec => (state::EXEC, length),
            State::Abrupt => (state::ABRUPT, length),
        };
        put!(file, FileHeader, state, state);
        put!(file, FileHeader, sealed_length, sealed_length);
        put!(file, FileHeader, lineless_values, h.lineless_values);
    }
}

/// A file under construction.
struct File {
    bytes: Vec<u8>,
    sealed: bool,
}

impl File {
    /// Appends a block, if it holds anything, and returns the offset of its payload.
    fn block(&mut self, kind: u16, payload: &[u8]) -> usize {
        let start = self.bytes.len();
        let at = start + size_of::<BlockHeader>();
        if payload.is_empty() {
            return at;
        }
        let length = (size_of::<BlockHeader>() + payload.len()).next_multiple_of(UNIT as usize);
        self.bytes.resize(start + length, 0);
        let block = &mut self.bytes[start..];
        block[size_of::<BlockHeader>()..][..payload.len()].copy_from_slice(payload);
        put!(block, BlockHeader, magic, BLOCK_MAGIC);
        put!(block, BlockHeader, kind, kind);
        put!(block, BlockHeader, version, 1);
        put!(block, BlockHeader, units, u32::try_from(length as u64 / UNIT).expect("a block of less than 2^32 units"));
        put!(block, BlockHeader, record_size, record_size(kind).unwrap_or(0) as u32);
        put!(block, BlockHeader, used, payload.len() as u64);
        if self.sealed {
            put!(block, BlockHeader, checksum, xxh3_64(payload).max(1));
        }
        at
    }

    /// Appends the histograms' pages, then the traces that name them.
    fn traces(&mut self, traces: &[Trace]) {
        let first = (self.bytes.len() + size_of::<BlockHeader>()) / size_of::<BucketPage>();
        let mut pages = arrays::Pages::new(first as u32);
        let records = arrays::encode(traces, |r, t: &Trace| {
            let tables = [&t.distinct, &t.index, &t.sampled].map(|h: &Histogram| pages.add(h));
            let lengths = [&t.begun, &t.open].map(|h: &Histogram| pages.add(h));
            arrays::trace(r, t, &tables, &lengths);
        });
        self.block(block::BUCKETS, &pages.into_bytes());
        self.block(block::TRACES, &records);
    }
}
