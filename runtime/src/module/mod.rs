//! Modules: object files that registered, their sites and regions.

pub mod lines;
pub mod private;

use crate::memory;
use crate::process::{Process, accuracy};
use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::control::MOST_IN_MODULE;
use threadtalk_abi::module::{ModuleBases, ModuleDescriptor, RegionEntry, SiteEntry, TablesHeader, site_flags};
use threadtalk_abi::thread::EVENT_SITE_FACTOR;
use threadtalk_profile::layout::{ModuleRecord, block};

/// Most sites of a process: 64 MiB of addresses for their regions.
pub const MOST_SITES: u32 = 1 << 24;
/// Most counters of control flow of a process: 32 MiB of addresses for a column.
const MOST_COUNTERS: u32 = 1 << 22;
/// Words of a column: a module that finds no numbers counts behind the others, where nobody reads.
pub const COLUMN: usize = (MOST_COUNTERS + MOST_IN_MODULE) as usize;
/// In the region of a site: reads here are atomic.
const ATOMIC: u32 = 1 << 31;
/// In the region of a site: a call that creates threads or may wait for them.
const THREADS: u32 = 1 << 30;

/// Region of each site.
pub struct Sites {
    regions_of: *mut u32,
    next_site: AtomicU32,
    next_region: AtomicU32,
    next_counter: AtomicU32,
}

// SAFETY: the array lives for ever; an element is written before the bases that name it are published.
unsafe impl Sync for Sites {}

impl Sites {
    /// No sites; numbers begin at 1.
    pub fn new() -> Option<Self> {
        let regions_of = memory::reserve(MOST_SITES as usize * size_of::<u32>())?;
        let one = || AtomicU32::new(1);
        Some(Self {
            regions_of: regions_of.as_ptr().cast(),
            next_site: one(),
            next_region: one(),
            next_counter: AtomicU32::new(0),
        })
    }

    /// Number of region numbers handed out, region 0 included.
    pub fn regions(&self) -> u32 {
        self.next_region.load(Ordering::Relaxed)
    }

    /// Number of site numbers handed out, site 0 included.
    pub fn sites(&self) -> u32 {
        self.next_site.load(Ordering::Relaxed)
    }

    /// Number of counters of control flow handed out.
    pub fn counters(&self) -> u32 {
        self.next_counter.load(Ordering::Relaxed)
    }

    /// Region of a site.
    pub fn region(&self, site: u32) -> u32 {
        self.entry(site) & !(ATOMIC | THREADS)
    }

    /// Whether accesses at a site are atomic.
    pub fn is_atomic(&self, site: u32) -> bool {
        self.entry(site) & ATOMIC != 0
    }

    /// Whether a site is a call that creates threads or may wait for them.
    pub fn is_of_threads(&self, site: u32) -> bool {
        self.entry(site) & THREADS != 0
    }

    fn entry(&self, site: u32) -> u32 {
        if site >= MOST_SITES {
            return 0;
        }
        // SAFETY: below the array's length.
        unsafe { *self.regions_of.add(site as usize) }
    }
}

/// Registers a module: gives it numbers, copies its tables into the profile.
///
/// # Safety
/// `descriptor` and what it points to are as the pass wrote them.
pub unsafe fn register(process: &Process, descriptor: *const ModuleDescriptor) {
    // SAFETY: the caller's promise.
    let d = unsafe { &*descriptor };
    // SAFETY: as above; only this constructor writes the bases.
    let bases = unsafe { &mut *d.bases };
    if bases.site_base != 0 || d.abi_version != threadtalk_abi::ABI_VERSION {
        return;
    }
    let site_base = process.sites.next_site.fetch_add(d.sites, Ordering::Relaxed);
    let region_base = process.sites.next_region.fetch_add(d.regions, Ordering::Relaxed);
    *bases = ModuleBases {
        site_base,
        site_salt: site_base.wrapping_mul(EVENT_SITE_FACTOR),
        write_site_base: write_base(process, site_base, d.sites),
        region_base,
        counter_base: counter_base(process, d.counters),
    };
    // SAFETY: the caller's promise.
    let tables = unsafe { slice::from_raw_parts(d.tables.cast::<u8>(), d.tables_len as usize) };
    // SAFETY: as above: the tables begin with their header and hold what it says.
    unsafe { note_regions(process, tables, site_base, region_base) };
    record(process, d, *bases, tables);
    make_room_for_visits(process);
    if d.counters > 0 {
        make_room_for_counts(process);
    }
}

/// Numbers for write sites end where a fresh id has no more bits. Modules beyond share the last quarter of them, which
/// the analysis reads as "line unknown"; a module too large even for that begins there all the same, and
/// the few of its sites that do not fit would run into the thread's bits: recording stops instead.
fn write_base(process: &Process, site_base: u32, sites: u32) -> u32 {
    if site_base.saturating_add(sites) <= process.lineless_sites {
        return site_base;
    }
    process.header_count(accuracy::MODULES_WITHOUT_LINES, 1);
    if sites > (1 << process.site_bits) - process.lineless_sites {
        crate::process::message::Line::new()
            .text(b"a module has more source lines than ids are left for; nothing is recorded: set THREADTALK_OPTIONS=site_bits=")
            .number(u64::from(process.site_bits) + 2)
            .print();
        process.stop_recording();
    }
    process.lineless_sites
}

/// Numbers for a module's counters of control flow.
fn counter_base(process: &Process, counters: u32) -> u32 {
    let next = |base: u32| base.checked_add(counters).filter(|end| *end <= MOST_COUNTERS);
    let base = process.sites.next_counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
    base.unwrap_or_else(|_| {
        crate::process::message::Line::new()
            .text(b"the program has more branches than can be counted; nothing is recorded: compile less of it with control")
            .print();
        process.stop_recording();
        MOST_COUNTERS
    })
}

/// # Safety
/// `tables` are module tables as the pass wrote them.
unsafe fn note_regions(process: &Process, tables: &[u8], site_base: u32, region_base: u32) {
    // SAFETY: the caller's promise; the tables may lie at any alignment.
    let header = unsafe { tables.as_ptr().cast::<TablesHeader>().read_unaligned() };
    let offset = size_of::<TablesHeader>() + header.regions as usize * size_of::<RegionEntry>();
    for i in 0..header.sites {
        let number = site_base.wrapping_add(i);
        if number >= MOST_SITES {
            return;
        }
        // SAFETY: as above.
        let site = unsafe {
            tables.as_ptr().add(offset + i as usize * size_of::<SiteEntry>()).cast::<SiteEntry>().read_unaligned()
        };
        let is = |flags: u32, mark: u32| if site.flags & flags != 0 { mark } else { 0 };
        let marks = is(site_flags::ATOMIC, ATOMIC) | is(site_flags::CREATION | site_flags::SYNC, THREADS);
        // SAFETY: below the array's length; the number belongs to this module alone.
        unsafe { *process.sites.regions_of.add(number as usize) = (region_base + site.region) | marks };
    }
}

fn record(process: &Process, d: &ModuleDescriptor, bases: ModuleBases, tables: &[u8]) {
    let length = size_of::<ModuleRecord>() + tables.len();
    let Some(target) = process.file.allocate(length as u64) else { return };
    let record = ModuleRecord {
        bases,
        sites: d.sites,
        regions: d.regions,
        tables_len: d.tables_len,
        counters: d.counters,
        reserved: [0; 3],
    };
    // SAFETY: the block is this thread's and has room for both.
    unsafe {
        target.payload().cast::<ModuleRecord>().write(record);
        ptr::copy_nonoverlapping(tables.as_ptr(), target.payload().add(size_of::<ModuleRecord>()), tables.len());
    }
    target.publish(block::MODULE, 0, length as u64);
}

/// The first module with counters: threads that run already have no rows for them.
fn make_room_for_counts(process: &Process) {
    for thread in process.pool.all() {
        // SAFETY: blocks are never unmapped; the rows are made by an exchange.
        unsafe { (*thread).execution.columns.make_room(process) };
    }
    process.levels.publish(process);
}

/// A library was loaded while threads run: their visit counters may be too few now.
fn make_room_for_visits(process: &Process) {
    for thread in process.pool.all() {
        // SAFETY: blocks are never unmapped. The owner of the block only reads `header.visits` in code of modules
        // that are already registered; this module's code runs after its registration, and finds the new array.
        unsafe {
            if (*thread).header.visits.is_null() {
                continue;
            }
            let id = (*thread).view.thread();
            if let Some(counters) = (*thread).visits.make_room(process, id) {
                ptr::write_volatile(&raw mut (*thread).header.visits, counters);
            }
        }
    }
}
