//! Communication by allocation: which call made the memory that a site reads.
//!
//! Instrumented calls of allocators tell here what they made ([`Objects::allocated`]), and calls of functions that
//! allocate for others what they got from these ([`Objects::handed_on`]); `free` and its kin tell what is gone.
//! One in [`Options::objects`] true communications looks its address up, and so do the reuses that the traces of the
//! reuse distance sample. Apart by writing site: what is read at one line again and again and what is read there once
//! were mostly written at different ones. A lost update of the index costs an attribution, never more.
//!
//! [`Options::objects`]: crate::process::options::Options::objects

mod index;

use crate::process::Process;
use crate::tally::Tally;
use core::mem::offset_of;
use core::sync::atomic::Ordering;
use index::Index;
use threadtalk_profile::layout::{AllocationRecord, ObjectEventRecord, block};

/// What a thread has allocated last: address, bytes, site of the call. Address 0: nothing.
#[derive(Default)]
pub struct Allocated {
    address: u64,
    bytes: u64,
    /// Bytes from the address on in which something lies that may be this block for its users.
    near: u64,
    /// Below the frame of the call that made it so far. Who made the block has called that one: its frame is above. A
    /// function that the same caller calls afterwards, such as one that appends to a container that has room, may
    /// return the block as well, but did not make it.
    frame: u64,
    site: u32,
    /// What the functions that allocated it have returned so far.
    returned: u64,
}

/// A function that allocates for others may return what lies behind a header, or the next address that is aligned; no
/// further behind the begin, a page.
const MOST_BEFORE: u64 = 4096;
/// Such an address is a multiple of this, as `malloc`'s are. What a function finds in a text seldom is.
const ALIGNED: u64 = 16;

impl Allocated {
    /// Offset of the address for the hook, which turns most calls away before it saves any register.
    pub const ADDRESS: usize = offset_of!(Self, address);
    /// Likewise of the bytes behind it.
    pub const NEAR: usize = offset_of!(Self, near);
    /// Likewise of the frame.
    pub const FRAME: usize = offset_of!(Self, frame);

    fn new(address: u64, bytes: u64, site: u32, frame: u64) -> Self {
        Self { address, bytes, near: bytes.min(MOST_BEFORE + 1), frame, site, returned: address }
    }

    /// Whether a call that returned this address is who made the block: those that return its begin, one that returns
    /// what is near to it, and those that return the same after that one, each from a frame above the last one's.
    fn is_handed_on(&self, address: u64, frame: u64) -> bool {
        let is_near = address.wrapping_sub(self.address) < self.near && address.is_multiple_of(ALIGNED);
        frame > self.frame && address != 0 && (address == self.returned || self.returned == self.address && is_near)
    }
}

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

    /// A call at `site` from above the stack address `frame` made a block, which is returned; none if it failed.
    pub fn allocated(&self, address: u64, bytes: u64, site: u32, frame: u64) -> Allocated {
        if address == 0 || address == u64::MAX || bytes == 0 {
            return Allocated::default();
        }
        if let Some([blocks, total]) = self.allocations.counters(site.into()) {
            blocks.fetch_add(1, Ordering::Relaxed);
            total.fetch_add(bytes, Ordering::Relaxed);
        }
        self.index.set(address, bytes, site);
        Allocated::new(address, bytes, site, frame)
    }

    /// A call at `site` from above the stack address `frame` returned `address`. If that is the thread's latest block,
    /// or near its begin, this call is who made it.
    pub fn handed_on(&self, latest: &mut Allocated, address: u64, site: u32, frame: u64) {
        if !latest.is_handed_on(address, frame) {
            return;
        }
        (latest.returned, latest.frame) = (address, frame);
        // Where there is no room for the one or the other, it stays where it was counted.
        let (from, to) = (self.allocations.counters(latest.site.into()), self.allocations.counters(site.into()));
        if let (Some([from_blocks, from_bytes]), Some([blocks, bytes])) = (from, to) {
            from_blocks.fetch_sub(1, Ordering::Relaxed);
            from_bytes.fetch_sub(latest.bytes, Ordering::Relaxed);
            blocks.fetch_add(1, Ordering::Relaxed);
            bytes.fetch_add(latest.bytes, Ordering::Relaxed);
        }
        self.index.set(latest.address, latest.bytes, site);
        latest.site = site;
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
