//! The layout of a profile file, version 1. Little endian, all structures `repr(C)` without padding.
//!
//! ```text
//! 0        FileHeader                      unit 0 of 16 KiB
//! 16 Ki    block                           BlockHeader, then its payload; 1 or more units
//! ...      block, or an empty unit         (a unit whose magic is 0 was reserved and not yet filled: skip it)
//! ```
//!
//! The profiled process maps the blocks that it fills and updates them in place, so that the file is
//! readable whenever the process ends, however it ends:
//!
//! * Space is taken by adding to one counter; each block's owner extends the file and maps its own part. Nobody waits.
//! * A block's header is written last (`magic` with release ordering), after its payload is in order.
//! * [`BlockHeader::used`] grows with release ordering after the record that it covers was written. Records already
//!   covered are updated in place by aligned 8-byte stores: a reader sees each counter as it was at some moment.
//! * A clean end seals the blocks: it writes their checksums and then the header's `state`. A file that
//!   was not sealed says `RUNNING`: its process still runs, or was killed.
//!
//! Numbers: *thread* = logical thread, in order of creation, 0 = the first; *site* and *region* = global numbers,
//! `base + index` of the module tables ([`threadtalk_abi::module`]); region 0 = the program.

mod execution;
mod objects;
mod phases;

pub use self::execution::{
    BlockedKind, BlockedRecord, CODE_SITE, CodeRecord, CountKind, CountRecord, CounterEvent, InstanceKind,
    InstanceRecord, LevelKind, LevelRecord, NodeRecord, instance_flags,
};
pub use self::objects::{AllocationRecord, ObjectEventRecord, SharedLineRecord, WrittenSiteRecord, shared_line_flags};
pub use self::phases::{PhaseEnd, PhaseRecord, phase_flags};

/// First bytes of every profile. The PNG trick: a high bit, a line end of each kind and an end-of-file mark, so that a
/// transfer in text mode shows.
pub const FILE_MAGIC: [u8; 8] = *b"\x89TTP\r\n\x1a\n";
/// The version that this code writes.
pub const VERSION: u32 = 1;
/// Reads as this number on a machine of the same byte order.
pub const ENDIAN_MARK: u32 = 0x0102_0304;
/// Blocks begin at multiples of this.
pub const UNIT: u64 = 16384;
/// First bytes of every block.
pub const BLOCK_MAGIC: u32 = u32::from_le_bytes(*b"TTBK");

/// Values of [`FileHeader::state`].
pub mod state {
    /// Not sealed: still running or killed.
    pub const RUNNING: u32 = 0;
    /// The process returned from main, called exit, or its last thread ended.
    pub const NORMAL: u32 = 1;
    /// Replaced by exec.
    pub const EXEC: u32 = 2;
    /// `_exit`, `quick_exit`, `abort` or a fatal signal that the runtime saw: counts are whole, checksums are not
    /// there.
    pub const ABRUPT: u32 = 3;
}

/// Unit 0. Counters are updated in place while the process runs.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FileHeader {
    /// [`FILE_MAGIC`].
    pub magic: [u8; 8],
    /// [`VERSION`].
    pub version: u32,
    /// [`ENDIAN_MARK`].
    pub endian: u32,
    /// Bytes of this structure.
    pub header_size: u32,
    /// [`UNIT`].
    pub unit: u32,
    /// Bytes of an element.
    pub granule: u32,
    /// Bits of a site in a fresh id.
    pub site_bits: u32,
    /// Process id.
    pub pid: u32,
    /// A [`SignatureMode`].
    pub signature_mode: u32,
    /// A [`CrdMode`].
    pub crd_mode: u32,
    /// One of [`state`]; written last.
    pub state: u32,
    /// Nanoseconds since 1970 when recording began.
    pub start_unix_ns: u64,
    /// Nanoseconds from the beginning to the end; 0 until the end.
    pub duration_ns: u64,
    /// CPU time of the process at the end in nanoseconds (user + system); 0 until the end.
    pub cpu_ns: u64,
    /// Exit status if known, else -1.
    pub exit_status: i64,
    /// What happened in the run that bears on accuracy.
    pub accuracy: Accuracy,
    /// Bytes of the file when it was sealed; 0 until then. A shorter file was cut.
    pub sealed_length: u64,
    /// What threads wrote at lines that could not be told apart for all their readers: numbers that stand for a
    /// thread's values of an unknown line. Older versions' headers end before it.
    pub lineless_values: u64,
}

/// Counters of what was exact and what was not.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accuracy {
    /// Budget of the signature in bytes; 0 = unbounded (exact mode).
    pub signature_budget: u64,
    /// Bytes of signature chunks in use.
    pub signature_mapped: u64,
    /// Chunks of memory that have cells.
    pub chunks: u64,
    /// Chunks of memory that share their cells with another chunk: the budget was used up.
    pub chunks_aliased: u64,
    /// Events that were looked at: all RaW, and samples of RaR.
    pub events_checked: u64,
    /// Those of them in aliased chunks: each may be false.
    pub events_suspect: u64,
    /// Shared states in the table.
    pub states: u64,
    /// Reads whose new reader set did not fit any more: counted as reuse without being remembered.
    pub states_exhausted: u64,
    /// Threads created.
    pub threads: u64,
    /// Threads beyond the ids: all counted under the last id.
    pub threads_overflowed: u64,
    /// Modules whose write sites have no numbers of their own: lines of what they write are unknown.
    pub modules_without_lines: u64,
    /// Hooks that arrived inside a hook (signal handlers): not counted.
    pub dropped_reentrant: u64,
    /// Events that could not be recorded because the file could not grow.
    pub dropped_full: u64,
    /// Reuse distance traces that went to sampling early because a thread's budget was used up.
    pub crd_budget_reached: u64,
    /// Threads whose event records used up their budget: the lines of the writers of later combinations are unknown.
    pub records_budget_reached: u64,
    /// Events that are not counted because even records without lines had no room in the budget.
    pub dropped_budget: u64,
    /// Of `events_checked`, RaR; 0 in profiles of older versions, which did not tell the two apart.
    pub reuse_checked: u64,
    /// Of `events_suspect`, RaR.
    pub reuse_suspect: u64,
    /// RaR events that those of `reuse_checked` stand for.
    pub reuse_weight: u64,
    /// RaR events that those of `reuse_suspect` stand for.
    pub suspect_reuse_weight: u64,
}

/// [`FileHeader::signature_mode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum SignatureMode {
    /// A fixed budget; chunks share cells when it is used up.
    Hashed = 0,
    /// Cells for all touched memory.
    Exact = 1,
}

/// [`FileHeader::crd_mode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum CrdMode {
    /// No reuse distances.
    Off = 0,
    /// Exact at first, then sampled intervals.
    Auto = 1,
    /// Every event.
    Exact = 2,
}

/// Kinds of blocks.
pub mod block {
    /// `key NUL value NUL` pairs, UTF-8 (arguments are bytes: decode lossily).
    pub const META: u16 = 1;
    /// One [`super::ModuleRecord`] followed by the module's tables.
    pub const MODULE: u16 = 2;
    /// Array of [`super::ThreadRecord`].
    pub const THREADS: u16 = 3;
    /// Array of [`super::EventRecord`].
    pub const EVENTS: u16 = 4;
    /// [`super::LiveVisits`], then one `u64` for each region number from 0.
    pub const LIVE_VISITS: u16 = 5;
    /// Array of [`super::VisitRecord`].
    pub const VISITS: u16 = 6;
    /// Array of [`super::TraceRecord`].
    pub const TRACES: u16 = 7;
    /// Array of [`super::BucketPage`]. Pages are named by their place in the file: byte offset / 128.
    pub const BUCKETS: u16 = 8;
    /// Array of [`super::PrivateRecord`].
    pub const PRIVATE: u16 = 9;
    /// Array of [`super::UserRegionRecord`].
    pub const USER_REGIONS: u16 = 10;
    /// Array of [`super::CountRecord`].
    pub const COUNTS: u16 = 20;
    /// Array of [`super::NodeRecord`].
    pub const NODES: u16 = 21;
    /// Array of [`super::InstanceRecord`].
    pub const INSTANCES: u16 = 22;
    /// Array of [`super::BlockedRecord`].
    pub const BLOCKED: u16 = 23;
    /// Array of [`super::LevelRecord`].
    pub const LEVELS: u16 = 24;
    /// Array of [`super::CodeRecord`].
    pub const CODE: u16 = 25;
    /// Array of [`super::PhaseRecord`].
    pub const PHASES: u16 = 30;
    /// Array of [`super::AllocationRecord`].
    pub const ALLOCATIONS: u16 = 31;
    /// Array of [`super::ObjectEventRecord`].
    pub const OBJECT_EVENTS: u16 = 32;
    /// Array of [`super::SharedLineRecord`].
    pub const SHARED_LINES: u16 = 33;
    /// Array of [`super::WrittenSiteRecord`]: what was written while more than one thread existed.
    pub const WRITTEN_SITES: u16 = 34;
    /// Array of [`super::WrittenSiteRecord`]: what was written before, or after all others had ended.
    pub const SERIAL_SITES: u16 = 35;
}

/// Begins each block.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockHeader {
    /// [`BLOCK_MAGIC`]; 0 = not filled yet.
    pub magic: u32,
    /// One of [`block`].
    pub kind: u16,
    /// Version of the kind's records: 1.
    pub version: u16,
    /// Length in units, this header included.
    pub units: u32,
    /// Bytes of one record; 0 where the payload is no array.
    pub record_size: u32,
    /// Bytes of payload that count.
    pub used: u64,
    /// XXH3-64 of the payload's `used` bytes; 0 = not sealed.
    pub checksum: u64,
    /// Reserved; zero.
    pub reserved: [u64; 12],
}

/// A thread. Updated in place (name, end).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ThreadRecord {
    /// Logical id. Records may stand in any order.
    pub id: u32,
    /// Creator's id plus 1; 0 = unknown (the first thread, or one that no instrumented thread created).
    pub creator: u32,
    /// Global site of the call that created it; 0 = unknown.
    pub creation_site: u32,
    /// Bit 0: the record is in use. Bit 1: the thread has ended. Bit 2: worker of the OpenMP runtime. Bit 3: stands for
    /// all threads beyond the ids.
    pub flags: u32,
    /// Nanoseconds after the file's start.
    pub start_ns: u64,
    /// Nanoseconds after the file's start; 0 = not ended.
    pub end_ns: u64,
    /// CPU time used; 0 until the end.
    pub cpu_ns: u64,
    /// Kernel's thread id.
    pub tid: u64,
    /// Name, NUL-padded.
    pub name: [u8; 32],
    /// Which of its creator's groups of threads it belongs to, from 0: what is created before the next join is a group.
    pub group: u64,
    /// Reserved; zero.
    pub reserved: [u64; 5],
}

/// [`ThreadRecord::flags`].
pub mod thread_flags {
    /// The record is in use.
    pub const USED: u32 = 1;
    /// The thread has ended.
    pub const ENDED: u32 = 2;
    /// A worker of the OpenMP runtime.
    pub const OPENMP: u32 = 4;
    /// Stands for all threads beyond the ids.
    pub const OVERFLOW: u32 = 8;
}

/// A registered module; its tables follow, `tables_len` bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ModuleRecord {
    /// The numbers that it got.
    pub bases: threadtalk_abi::module::ModuleBases,
    /// Number of sites.
    pub sites: u32,
    /// Number of regions.
    pub regions: u32,
    /// Bytes of tables.
    pub tables_len: u32,
    /// Number of counters of control flow.
    pub counters: u32,
    /// Reserved; zero.
    pub reserved: [u32; 3],
}

/// Events of one kind: what `reader` read at `reader_site` of what `writer` had written at `writer_site`.
/// The first two words are [`threadtalk_abi::thread::EventCounter`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct EventRecord {
    /// Reuse events.
    pub rar: u64,
    /// Private to the runtime.
    pub next: u64,
    /// True communication events.
    pub raw: u64,
    /// Logical thread.
    pub reader: u32,
    /// Logical thread.
    pub writer: u32,
    /// Global site; 0 = unknown line.
    pub writer_site: u32,
    /// Global site.
    pub reader_site: u32,
    /// Global region: the innermost active one of the reader.
    pub region: u32,
    /// Innermost open region of `threadtalk.h` in which it happened (a [`UserRegionRecord::id`]), or 0.
    pub context: u32,
    /// [`event_flags`].
    pub flags: u32,
    /// Private to the runtime.
    pub private: u32,
    /// Private to the runtime.
    pub link: u64,
}

/// [`EventRecord::flags`].
pub mod event_flags {
    /// Written while only one thread existed.
    pub const SERIAL: u32 = 1;
    /// The read is atomic: synchronisation.
    pub const SYNC: u32 = 2;
}

/// Begins a block of visits that a live thread updates. When the thread ends, its counts move to
/// [`VisitRecord`]s and `thread` becomes [`NO_THREAD`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct LiveVisits {
    /// Logical thread, or [`NO_THREAD`].
    pub thread: u32,
    /// Number of counters that follow.
    pub regions: u32,
}

/// No logical thread.
pub const NO_THREAD: u32 = u32::MAX;

/// How often a thread that ended entered a region.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct VisitRecord {
    /// Logical thread.
    pub thread: u32,
    /// Global region.
    pub region: u32,
    /// Entries.
    pub count: u64,
}

/// Reuse distances of one directed pair of threads in one region. Where sampled distances change, a further record of
/// the same pair and region begins: each is a sequence of its own.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TraceRecord {
    /// Logical thread.
    pub reader: u32,
    /// Logical thread.
    pub writer: u32,
    /// Global region.
    pub region: u32,
    /// [`trace_flags`].
    pub flags: u32,
    /// Usages (RaW and RaR) in the exact phase.
    pub exact_usages: u64,
    /// Distinct elements in the exact phase.
    pub exact_elements: u64,
    /// Intervals in the sampled histogram before weighting.
    pub samples: u64,
    /// Sampled intervals that were given up before the element was used again.
    pub abandoned: u64,
    /// Distinct distances of the exact phase.
    pub distinct: BucketTable,
    /// Index distances of the exact phase.
    pub index: BucketTable,
    /// Index distances of sampled intervals, weighted by the events that each stands for.
    pub sampled: BucketTable,
    /// Samples that began inside of sampled intervals, by the length of the interval ([`crate::buckets::length`] of its
    /// index distance): the events that they stand for, times those that the interval stands for.
    /// Zero in files of older versions of the runtime, like the next field.
    pub begun: LengthTable,
    /// Those of `begun` whose element had not been used again when the interval ended: each is another distinct
    /// element.
    pub open: LengthTable,
}

/// Bits of [`TraceRecord::flags`].
pub mod trace_flags {
    /// The exact phase is over, what follows is sampled.
    pub const SAMPLED: u32 = 1;
    /// The weights of the samples make up for those that were given up.
    pub const MAKES_UP: u32 = 2;
}

/// The pages of a histogram by length, as in [`BucketTable`].
pub type LengthTable = [u32; LENGTH_PAGES];

/// Pages of a histogram by length.
pub const LENGTH_PAGES: usize = 2;
/// Its buckets.
pub const LENGTHS: usize = LENGTH_PAGES * BUCKETS_PER_PAGE;

/// A histogram: the pages of [`BUCKETS_PER_PAGE`] buckets each, by file offset / 128; 0 = all its buckets are empty.
pub type BucketTable = [u32; BUCKET_PAGES];

/// Buckets in a page.
pub const BUCKETS_PER_PAGE: usize = 16;
/// Pages of a histogram: see [`crate::buckets`].
pub const BUCKET_PAGES: usize = 48;

/// A page of buckets, aligned to 128 bytes in the file.
pub type BucketPage = [u64; BUCKETS_PER_PAGE];

/// Bytes whose last writer wrote them in this region and that no other thread has read, found by sampling cells at the
/// end of the process and at the death of blocks.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct PrivateRecord {
    /// Global region.
    pub region: u32,
    /// Logical thread that wrote.
    pub writer: u32,
    /// Bytes.
    pub bytes: u64,
}

/// A region that the program named through `threadtalk.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct UserRegionRecord {
    /// Its region number: counted down from near `u32::MAX`, so that module regions can grow. 0 = the record is not in
    /// use.
    pub id: u32,
    /// The context (a user region's number) in which it was first opened; 0 = none.
    pub parent: u32,
    /// Name, NUL-padded, cut to fit.
    pub name: [u8; 120],
}

const _: () = {
    assert!(size_of::<BlockHeader>() == 128);
    assert!(size_of::<EventRecord>() == 64);
    assert!(size_of::<ThreadRecord>() == 128);
    assert!(size_of::<TraceRecord>() == 16 + 32 + 3 * 192 + 16);
    assert!(size_of::<BucketPage>() == 128);
    assert!(size_of::<FileHeader>() as u64 <= UNIT);
    assert!(size_of::<UserRegionRecord>() == 128);
};
