//! A model of the caches for each thread, fed by every access of code that was compiled for it: misses by line of the
//! source where the machine has no counters of its own, or gives them to nobody.
//!
//! Each thread has a first-level cache and a share of the last level to itself. What threads do to each other's caches
//! is communication, which is measured elsewhere and not guessed here.

mod machine;
pub mod model;

use crate::memory;
use crate::process::Process;
use crate::thread::Thread;
use core::ptr::{self, NonNull};
use model::{Geometry, Model};
use threadtalk_profile::layout::CountKind;

/// Sites that can be counted.
const SITES: usize = 1 << 24;
/// Counters of a site, by [`KINDS`]; a fourth keeps them in one line.
const STRIDE: usize = 4;
/// Addresses for the counters of all sites.
pub const CACHE_BYTES: usize = SITES * STRIDE * size_of::<u64>();
/// What is counted, in the order of a site's counters.
pub const KINDS: [CountKind; 3] = [CountKind::CacheAccess, CountKind::FirstLevelMiss, CountKind::LastLevelMiss];
/// In the hook's bytes: the access writes.
const WRITES: u32 = 1 << 31;

/// A thread's caches.
pub struct Cache {
    levels: Option<[Model; 2]>,
    line_log2: u32,
    counts: *mut u64,
    /// No memory for it.
    is_off: bool,
}

impl Cache {
    /// Nothing, without memory.
    pub const fn new() -> Self {
        Self { levels: None, line_log2: 6, counts: ptr::null_mut(), is_off: false }
    }

    fn make(&mut self, p: &Process) -> Option<()> {
        let (first, last) = geometry(p);
        let model = |geometry: Geometry| {
            let words = memory::reserve(geometry.words() * size_of::<u64>())?;
            // SAFETY: zeroed words of that number, for this model alone, never given back.
            Some(unsafe { Model::new(geometry, words.cast()) })
        };
        self.counts = memory::reserve(CACHE_BYTES)?.as_ptr().cast();
        self.line_log2 = first.line.trailing_zeros();
        self.levels = Some([model(first)?, model(last)?]);
        Some(())
    }

    /// Calls `act(site, kind, count)` for what is not 0 in the first `sites`. Other threads may ask.
    pub fn each(&self, sites: u32, mut act: impl FnMut(u32, CountKind, u64)) {
        if self.counts.is_null() {
            return;
        }
        for site in 0..sites.min(SITES as u32) {
            for (i, kind) in KINDS.into_iter().enumerate() {
                // SAFETY: below the number of sites; an aligned word that its owner may be changing.
                let count = unsafe { self.counts.add(site as usize * STRIDE + i).read_volatile() };
                if count > 0 {
                    act(site, kind, count);
                }
            }
        }
    }

    /// Forgets everything for the next thread.
    pub fn clear(&mut self, sites: u32) {
        if let Some(levels) = &mut self.levels {
            levels.iter_mut().for_each(Model::clear);
            // SAFETY: below the number of sites.
            unsafe { self.counts.write_bytes(0, sites.min(SITES as u32) as usize * STRIDE) };
        }
    }

    /// The counters, as long as there are sites: for differences.
    pub fn words(&self, sites: u32) -> Option<(NonNull<u64>, usize)> {
        Some((NonNull::new(self.counts)?, sites.min(SITES as u32) as usize * STRIDE))
    }

    /// Site and kind of the counter at an index of [`Self::words`].
    pub fn meaning(index: usize) -> Option<(u32, CountKind)> {
        Some(((index / STRIDE) as u32, *KINDS.get(index % STRIDE)?))
    }
}

/// The machine's caches, with what the options say instead. One length of lines for both.
fn geometry(p: &Process) -> (Geometry, Geometry) {
    let (mut first, mut last) = machine::caches();
    let given = |option: u64, other: u64| if option == 0 { other } else { option };
    let line = given(p.options.cache_line, first.line).next_power_of_two();
    first =
        Geometry { bytes: given(p.options.l1_bytes, first.bytes), ways: given(p.options.l1_ways, first.ways), line };
    last = Geometry { bytes: given(p.options.llc_bytes, last.bytes), ways: given(p.options.llc_ways, last.ways), line };
    (first, last)
}

/// An access of the calling thread. `bytes` with bit 31: it writes, which allocates a line as a read does.
pub fn access(t: &mut Thread, p: &Process, address: u64, bytes: u32, site: u32) {
    let cache = &mut t.execution.cache;
    if cache.levels.is_none() && (cache.is_off || cache.make(p).is_none()) {
        cache.is_off = true;
        return;
    }
    let Some([first, last]) = &mut cache.levels else { return };
    if site as usize >= SITES {
        return;
    }
    let length = u64::from(bytes & !WRITES).max(1);
    let (begin, end) = (address >> cache.line_log2, address.saturating_add(length - 1) >> cache.line_log2);
    let mut counts = [0u64; 3];
    for line in begin..=end {
        counts[0] += 1;
        if !first.touch(line) {
            counts[1] += 1;
            counts[2] += u64::from(!last.touch(line));
        }
    }
    for (i, count) in counts.into_iter().enumerate() {
        // SAFETY: below the number of sites.
        unsafe { *cache.counts.add(site as usize * STRIDE + i) += count };
    }
}
