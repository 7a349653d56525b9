//! Communication by allocation: which call made the memory that a site reads.
//!
//! Instrumented calls of allocators tell here what they made ([`Objects::allocated`]), `free` and its kin what is gone.
//! One in [`Options::objects`] true communications looks its address up, and so do the reuses that the traces of the
//! reuse distance sample. Apart by writing site: what is read at one line again and again and what is read there once
//! were mostly written at different ones. A lost update of the index costs an attribution, never more.
//!
//! [`Options::objects`]: crate::process::options::Options::objects

mod index;

use crate::process::Process;
use crate::tally::Tally;
use index::Index;
use threadtalk_profile::layout::{AllocationRecord, ObjectEventRecord, block};

/// The index and what was counted with it, for all threads.
pub struct Objects {
    index: Index,
    /// By site of the allocation: blocks, bytes.
    allocations: Tally<2>,
    /// Reading and writing sites.
    pairs: Tally<0>,
    /// By number of the pair and site of the allocation: sampled communications times the period, reuses likewise.
    events: Tally<2>,
}

impl Objects {
    /// Nothing allocated yet.
    pub fn new() -> Option<Self> {
        Some(Self { index: Index::new()?, allocations: Tally::new()?, pairs: Tally::new()?, events: Tally::new()? })
    }

    /// A call at `site` made a block.
    pub fn allocated(&self, address: u64, bytes: u64, site: u32) {
        if address == 0 || address == u64::MAX || bytes == 0 {
            return;
        }
        if let Some([blocks, total]) = self.allocations.counters(site.into()) {
            blocks.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
            total.fetch_add(bytes, core::sync::atomic::Ordering::Relaxed);
        }
        self.index.set(address, bytes, site);
    }

    /// Memory is given back.
    pub fn range_dies(&self, address: u64, bytes: u64) {
        self.index.forget(address, bytes);
    }

    /// The call that made the block at this address; 0 = none that is known.
    pub fn site_of(&self, address: u64) -> u32 {
        self.index.site_of(address)
    }

    /// True communication between these sites, seen with a probability of one in `weight`.
    pub fn communication(&self, (reader, writer): (u32, u32), address: u64, weight: u64) {
        self.event((reader, writer), address, 0, weight);
    }

    /// Reuse, likewise.
    pub fn reuse(&self, (reader, writer): (u32, u32), address: u64, weight: u64) {
        self.event((reader, writer), address, 1, weight);
    }

    fn event(&self, (reader, writer): (u32, u32), address: u64, counter: usize, weight: u64) {
        if let Some(pair) = self.pairs.number(u64::from(reader) << 32 | u64::from(writer)) {
            self.events.add(u64::from(pair) << 32 | u64::from(self.site_of(address)), counter, weight);
        }
    }

    /// The process ends.
    pub fn finish(&self, process: &Process) {
        self.allocations.write(process, block::ALLOCATIONS, |site, [blocks, bytes]| AllocationRecord {
            site: site as u32,
            reserved: 0,
            blocks,
            bytes,
        });
        self.events.write(process, block::OBJECT_EVENTS, |key, [raw, rar]| {
            let pair = self.pairs.key((key >> 32) as u32).unwrap_or(0);
            ObjectEventRecord {
                reader_site: (pair >> 32) as u32,
                writer_site: pair as u32,
                allocation_site: key as u32,
                reserved: 0,
                raw,
                rar,
            }
        });
    }
}
