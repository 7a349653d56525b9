//! A profile's tables in memory. Numbers of threads, sites and regions mean what [`crate::layout`] says.

mod execution;
mod phases;

use std::sync::Arc;
use threadtalk_abi::control::CATEGORIES;
use threadtalk_abi::module::{ModuleBases, ObjectKind, RegionKind};

pub use self::execution::{Blocked, Code, Count, Instance, Level, Node};
pub use self::phases::Phase;

use crate::buckets;
use crate::layout::{Accuracy, CrdMode, SignatureMode, VERSION, event_flags};

/// What the file's header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Version of the format.
    pub version: u32,
    /// Bytes of an element.
    pub granule: u32,
    /// Bits of a site in a fresh id.
    pub site_bits: u32,
    /// Process id.
    pub pid: u32,
    /// Hashed or exact.
    pub signature_mode: SignatureMode,
    /// Reuse distances.
    pub crd_mode: CrdMode,
    /// How the process ended.
    pub state: State,
    /// Nanoseconds since 1970 when recording began.
    pub start_unix_ns: u64,
    /// Nanoseconds from the beginning to the end; none if the end was not recorded.
    pub duration_ns: Option<u64>,
    /// CPU time of the process in nanoseconds.
    pub cpu_ns: Option<u64>,
    /// Exit status, if known.
    pub exit_status: Option<i64>,
    /// What was exact and what was not.
    pub accuracy: Accuracy,
    /// [`crate::layout::FileHeader::lineless_values`].
    pub lineless_values: u64,
}

impl Default for Header {
    fn default() -> Self {
        Self {
            version: VERSION,
            granule: threadtalk_abi::GRANULE as u32,
            site_bits: 16,
            pid: 0,
            signature_mode: SignatureMode::Exact,
            crd_mode: CrdMode::Auto,
            state: State::Normal,
            start_unix_ns: 0,
            duration_ns: None,
            cpu_ns: None,
            exit_status: None,
            accuracy: Accuracy::default(),
            lineless_values: 0,
        }
    }
}

/// How the profiled process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Still running, or killed: blocks have no checksums.
    Running,
    /// Returned from main, called exit, or its last thread ended.
    Normal,
    /// Replaced by exec.
    Exec,
    /// `_exit`, `abort` or a fatal signal that the runtime saw.
    Abrupt,
}

/// An instrumented module and its place in the global numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// The numbers that it got.
    pub bases: ModuleBases,
    /// Main source file.
    pub name: Arc<str>,
    /// Regions; the first has the global number `bases.region_base`. Parents form a forest.
    pub regions: Vec<Region>,
    /// Sites; the first has the global number `bases.site_base`.
    pub sites: Vec<Site>,
    /// What each site accesses, in the order of the sites; empty if the module's tables do not tell.
    pub accesses: Vec<SiteAccess>,
    /// The innermost loop of a caller that each site's code was inlined into (its index in `regions`), in the order of
    /// the sites; empty if no site has one.
    pub caller_loops: Vec<Option<u32>>,
    /// Number of counters of control flow; the first has the global number `bases.counter_base`.
    pub counters: u32,
    /// Functions whose control flow is counted.
    pub functions: Vec<Function>,
}

/// The control flow graph of a function, and where its counters are ([`threadtalk_abi::control`] has the meaning).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Function {
    /// Index of its region in the module.
    pub region: u32,
    /// [`threadtalk_abi::control::function_flags`].
    pub flags: u32,
    /// Basic blocks; the first is the entry.
    pub blocks: Vec<Block>,
    /// Edges.
    pub edges: Vec<Edge>,
    /// Calls.
    pub calls: Vec<Call>,
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Block {
    /// Index of the innermost region in the module.
    pub region: u32,
    /// File; empty = unknown.
    pub file: Arc<str>,
    /// First line of this file in it; 0 = unknown.
    pub line: u32,
    /// Last line of this file in it; 0 = unknown.
    pub end_line: u32,
    /// Instructions of each category.
    pub opcodes: [u16; CATEGORIES],
    /// Loads.
    pub reads: u16,
    /// Stores.
    pub writes: u16,
}

/// An edge of a control flow graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Edge {
    /// Block that it leaves; none: it enters the function.
    pub from: Option<u32>,
    /// Block that it enters; none: it leaves the function.
    pub to: Option<u32>,
    /// Number of its counter in the module; none: its count is derived.
    pub counter: Option<u32>,
    /// Line of the branch; 0 = unknown.
    pub line: u32,
    /// [`threadtalk_abi::control::edge_flags`].
    pub flags: u32,
}

/// A call, executed as often as its block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Call {
    /// Block.
    pub block: u32,
    /// Symbol of the function that runs; empty for an indirect call.
    pub callee: Arc<str>,
    /// [`threadtalk_abi::control::call_flags`].
    pub flags: u32,
    /// Line; 0 = unknown.
    pub line: u32,
}

/// What a site accesses, and with which strides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SiteAccess {
    /// What kind of object.
    pub kind: ObjectKind,
    /// The variable, as an expression of the source; empty = unknown.
    pub object: Arc<str>,
    /// File that declares it; empty = unknown.
    pub file: Arc<str>,
    /// Line of its declaration; 0 = unknown.
    pub line: u32,
    /// From one iteration of the innermost loop to the next.
    pub stride: Stride,
    /// The same for the loop around it.
    pub outer_stride: Stride,
}

/// How far an access moves from one iteration of a loop to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stride {
    /// There is no such loop, or no such number.
    None,
    /// The same in every iteration, but known only when the program runs.
    Variable,
    /// Bytes.
    Bytes(i32),
}

/// A region of the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// What it is.
    pub kind: RegionKind,
    /// Name as the linker knows it; of loops and constructs the enclosing function's.
    pub name: Arc<str>,
    /// File; empty = unknown.
    pub file: Arc<str>,
    /// First line; 0 = unknown.
    pub line: u32,
    /// Last line; 0 = unknown.
    pub end_line: u32,
    /// Index of the enclosing region in the module; none = the program.
    pub parent: Option<u32>,
}

/// A source position at which memory is accessed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Site {
    /// Index of the innermost region in the module.
    pub region: u32,
    /// File; empty = unknown.
    pub file: Arc<str>,
    /// Line; 0 = unknown.
    pub line: u32,
    /// [`threadtalk_abi::module::site_flags`].
    pub flags: u32,
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Logical id.
    pub id: u32,
    /// Creator's logical id.
    pub creator: Option<u32>,
    /// Global site of the call that created it; 0 = unknown.
    pub creation_site: u32,
    /// The thread has ended.
    pub ended: bool,
    /// A worker of the OpenMP runtime.
    pub openmp: bool,
    /// Stands for all threads beyond the ids.
    pub overflow: bool,
    /// Nanoseconds after the beginning of recording.
    pub start_ns: u64,
    /// Nanoseconds after the beginning of recording; none = not ended.
    pub end_ns: Option<u64>,
    /// CPU time in nanoseconds; none = not ended.
    pub cpu_ns: Option<u64>,
    /// The kernel's number.
    pub tid: u64,
    /// Name; empty = none. At most 32 bytes are kept.
    pub name: String,
}

/// Events of one kind: what `reader` read at `reader_site` of what `writer` wrote at `writer_site`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Logical thread; not `reader`.
    pub writer: u32,
    /// Logical thread.
    pub reader: u32,
    /// Global site; 0 = unknown.
    pub writer_site: u32,
    /// Global site.
    pub reader_site: u32,
    /// Global region.
    pub region: u32,
    /// User region, or 0.
    pub context: u32,
    /// [`event_flags`].
    pub flags: u32,
    /// True communication events.
    pub raw: u64,
    /// Reuse events.
    pub rar: u64,
}

impl Event {
    /// Written while only one thread existed.
    pub fn is_serial(&self) -> bool {
        self.flags & event_flags::SERIAL != 0
    }

    /// The read is atomic.
    pub fn is_sync(&self) -> bool {
        self.flags & event_flags::SYNC != 0
    }
}

/// How often a thread entered a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visit {
    /// Logical thread.
    pub thread: u32,
    /// Global region.
    pub region: u32,
    /// Entries.
    pub count: u64,
}

/// Reuse distances of one directed pair of threads in one region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Logical thread.
    pub reader: u32,
    /// Logical thread.
    pub writer: u32,
    /// Global region.
    pub region: u32,
    /// The exact phase is over, what followed was sampled.
    pub is_sampled: bool,
    /// The weights of the samples make up for those that were given up.
    pub makes_up: bool,
    /// Usages in the exact phase.
    pub exact_usages: u64,
    /// Distinct elements in the exact phase.
    pub exact_elements: u64,
    /// Sampled intervals before weighting.
    pub samples: u64,
    /// Sampled intervals given up.
    pub abandoned: u64,
    /// Distinct distances of the exact phase.
    pub distinct: Histogram,
    /// Index distances of the exact phase.
    pub index: Histogram,
    /// Index distances of sampled intervals, weighted by the events that each stands for.
    pub sampled: Histogram,
    /// Samples begun inside of sampled intervals, by length ([`crate::layout::TraceRecord::begun`]).
    pub begun: Histogram,
    /// Those of them that were still open at the interval's end.
    pub open: Histogram,
}

/// Counts in the log-linear buckets of [`crate::buckets`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// (bucket, count), ascending, without zeros.
    buckets: Vec<(u16, u64)>,
}

impl Histogram {
    /// A histogram of single distances.
    pub fn of(distances: impl IntoIterator<Item = u64>) -> Self {
        Self::of_buckets(distances.into_iter().map(|d| (buckets::bucket(d) as u16, 1)))
    }

    /// A histogram of counts by bucket number, in any order. Counts beyond the last bucket go there.
    pub fn of_buckets(counts: impl IntoIterator<Item = (u16, u64)>) -> Self {
        let mut sorted: Vec<_> = counts.into_iter().filter(|(_, n)| *n > 0).collect();
        for (bucket, _) in &mut sorted {
            *bucket = (*bucket).min(buckets::BUCKETS as u16 - 1);
        }
        sorted.sort_unstable();
        sorted.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        Self { buckets: sorted }
    }

    /// (bucket, count), ascending, without zeros.
    pub fn buckets(&self) -> &[(u16, u64)] {
        &self.buckets
    }

    /// Sum of the counts.
    pub fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }

    /// True if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// For counts that are in order already.
    pub(crate) fn push(&mut self, bucket: u16, count: u64) {
        debug_assert!(self.buckets.last().is_none_or(|(last, _)| *last < bucket));
        if count > 0 {
            self.buckets.push((bucket, count));
        }
    }
}

/// Bytes that a thread wrote in a region and that no other thread has read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrivateBytes {
    /// Global region.
    pub region: u32,
    /// Logical thread.
    pub writer: u32,
    /// Bytes.
    pub bytes: u64,
}

/// Blocks of memory that one call allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// Global site of the call.
    pub site: u32,
    /// Blocks.
    pub blocks: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// Where the memory came from that a site reads of what another one wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectEvents {
    /// Global site of the read.
    pub reader_site: u32,
    /// Global site of the write; 0 = unknown line.
    pub writer_site: u32,
    /// Global site of the allocation; 0 = none that was recorded.
    pub allocation_site: u32,
    /// True communication, estimated from a sample.
    pub raw: u64,
    /// Reuse, estimated from another one.
    pub rar: u64,
}

/// Cache lines in which two threads use different elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedLines {
    /// Global site of one write; 0 = unknown line.
    pub site: u32,
    /// Global site of the other's write; of a reader's line the site that wrote what it read.
    pub other_site: u32,
    /// A thread that wrote at `site`.
    pub thread: u32,
    /// A thread that wrote at `other_site`, or read what was written there.
    pub other_thread: u32,
    /// Global site of the allocation; 0 = not heap memory.
    pub allocation_site: u32,
    /// [`crate::layout::shared_line_flags`].
    pub flags: u32,
    /// Lines.
    pub lines: u64,
    /// Address of the first line found.
    pub address: u64,
    /// Bit t % 64 for each thread t that took part.
    pub threads: u64,
}

/// What a site's writes left in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenSite {
    /// Global site of the writes.
    pub site: u32,
    /// Cache lines.
    pub lines: u64,
    /// Elements.
    pub elements: u64,
    /// Those that another thread read.
    pub read: u64,
    /// Sum of the numbers of reading threads of these. Where their numbers are 17 and more apart, those that had ended
    /// when the last one read may be missing.
    pub readers: u64,
}

/// A region that the program named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRegion {
    /// Its region number, near `u32::MAX`.
    pub id: u32,
    /// User region in which it was first opened; none = the program. Has a larger number.
    pub parent: Option<u32>,
    /// Name. At most 120 bytes are kept.
    pub name: String,
}
