//! How much memory each region touches that it shares with nobody: for the min cutoff (Mazaheri et al., section 3.3).
//!
//! Found by looking at cells at the end of the process: a value that no other thread has read belongs to the region whose line wrote it last.
//! One cell in 64 is looked at (256 bytes of memory: 10 ms for a full signature of 256 MiB).

use crate::memory;
use crate::process::Process;
use core::ptr;
use threadtalk_abi::cell::{NONE, SHARED};
use threadtalk_abi::{CHUNK_BYTES, DIRECTORY_ENTRIES, GRANULE};
use threadtalk_profile::layout::{PrivateRecord, block};
use threadtalk_sigmem::FreshId;

/// Cells from one looked at to the next.
const STRIDE: u64 = 64;
/// Most pairs of (region, thread) in the table.
const MOST: usize = 1 << 16;

#[derive(Clone, Copy)]
#[repr(C)]
struct Sum {
    region: u32,
    writer: u32,
    cells: u64,
}

/// Sums by (region, writing thread).
pub struct Scan {
    sums: *mut Sum,
}

impl Scan {
    /// An empty table.
    pub fn new() -> Self {
        let sums = memory::reserve(MOST * size_of::<Sum>());
        Self { sums: sums.map_or(ptr::null_mut(), |p| p.as_ptr().cast()) }
    }

    /// Looks at the cells of the process and writes the sums into the profile.
    pub fn run(&mut self, process: &Process) {
        if self.sums.is_null() {
            return;
        }
        let Some(residency) = Residency::of(process.signature.directory.base().cast()) else { return };
        for page in residency.pages() {
            for entry in page * ENTRIES_PER_PAGE..(page + 1) * ENTRIES_PER_PAGE {
                let first = entry * CHUNK_BYTES;
                if let Some(offset) = process.signature.directory.offset(first) {
                    self.chunk(process, first.wrapping_add(offset));
                }
            }
        }
        self.write(process);
    }

    fn chunk(&mut self, process: &Process, cells: u64) {
        let mut at = 0;
        while at < CHUNK_BYTES / GRANULE {
            // SAFETY: a chunk has this many cells, alive for ever.
            let cell = unsafe { ptr::with_exposed_provenance::<u32>((cells + at * GRANULE) as usize).read_volatile() };
            if cell != NONE && cell & SHARED == 0 {
                let written = FreshId(cell);
                let site = written.site(process.site_bits);
                let region = if site < process.lineless_sites { process.sites.region(site) } else { 0 };
                self.add(region, written.thread(process.site_bits));
            }
            at += STRIDE;
        }
    }

    fn add(&mut self, region: u32, writer: u32) {
        let mut at = (region.wrapping_mul(0x9E37_79B1) ^ writer.wrapping_mul(0x85EB_CA6B)) as usize % MOST;
        for _ in 0..MOST {
            // SAFETY: below the table's length.
            let sum = unsafe { &mut *self.sums.add(at) };
            if sum.cells == 0 {
                *sum = Sum { region, writer, cells: 0 };
            }
            if sum.region == region && sum.writer == writer {
                sum.cells += 1;
                return;
            }
            at = (at + 1) % MOST;
        }
    }

    fn write(&self, process: &Process) {
        let sums = (0..MOST).map(|i| {
            // SAFETY: below the table's length.
            unsafe { *self.sums.add(i) }
        });
        let used = sums.clone().filter(|s| s.cells > 0).count();
        if used == 0 {
            return;
        }
        let length = used * size_of::<PrivateRecord>();
        let Some(target) = process.file.allocate(length as u64) else { return };
        for (i, sum) in sums.filter(|s| s.cells > 0).enumerate() {
            let bytes = sum.cells * STRIDE * GRANULE;
            // SAFETY: i < used, for which the block has room.
            unsafe {
                let place = target.payload().cast::<PrivateRecord>().add(i);
                place.write(PrivateRecord { region: sum.region, writer: sum.writer, bytes });
            }
        }
        target.publish(block::PRIVATE, size_of::<PrivateRecord>(), length as u64);
    }
}

/// Entries of the directory in a page of memory.
const ENTRIES_PER_PAGE: u64 = 4096 / 8;
/// Pages of the directory.
const PAGES: usize = (DIRECTORY_ENTRIES / ENTRIES_PER_PAGE) as usize;

/// Which pages of the directory were ever touched: it is 16 GiB long and nearly empty, and one question to the kernel
/// answers for all of it.
struct Residency {
    pages: *const u64,
}

impl Residency {
    fn of(directory: *const u8) -> Option<Self> {
        let answer = memory::reserve(PAGES)?;
        // SAFETY: the directory's own mapping, and one byte of answer for each of its pages.
        let failed = unsafe { libc::mincore(directory.cast_mut().cast(), PAGES * 4096, answer.as_ptr()) };
        (failed == 0).then_some(Self { pages: answer.as_ptr().cast() })
    }

    fn pages(&self) -> impl Iterator<Item = u64> + '_ {
        (0..PAGES / 8)
            // SAFETY: below the length of the answer.
            .map(|word| (word, unsafe { *self.pages.add(word) }))
            .filter(|(_, eight)| *eight != 0)
            .flat_map(|(word, eight)| {
                (0..8).filter(move |i| eight >> (i * 8) & 1 != 0).map(move |i| word as u64 * 8 + i)
            })
    }
}
