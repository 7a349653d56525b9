//! Stores down a column whose rows are a chunk or more: each access finds cells of its own.

use crate::hooks::range::fill;
use crate::process::Process;
use crate::thread::Thread;
use threadtalk_abi::loops::Access;
use threadtalk_abi::{CHUNK_BYTES, CHUNK_SHIFT, GRANULE};

/// Whether no two accesses are in one chunk.
pub fn is_column(access: &Access) -> bool {
    access.stride.unsigned_abs() >= CHUNK_BYTES
}

/// Stores an id in the cells of all accesses.
pub fn store(t: &mut Thread, p: &Process, access: &Access, iterations: u64, fresh: u32) {
    let bytes = u64::from(access.bytes);
    let granules = (access.address % GRANULE + bytes).div_ceil(GRANULE);
    // A stride of parts of granules may reach one more.
    let is_even = access.stride % GRANULE as i64 == 0;
    let mut at = access.address;
    for _ in 0..iterations {
        let is_whole = is_even && (at + bytes - 1) >> CHUNK_SHIFT == at >> CHUNK_SHIFT;
        match p.signature.directory.offset(at).filter(|_| is_whole) {
            Some(offset) => {
                let granule = at & !(GRANULE - 1);
                t.overwrite(p, (granule, granule + granules * GRANULE));
                let cells = core::ptr::with_exposed_provenance_mut::<u32>(granule.wrapping_add(offset) as usize);
                for number in 0..granules as usize {
                    // SAFETY: the access lies in one chunk, which has cells for all its granules; in a race-free
                    // program nobody else touches those of memory that this thread is about to write.
                    unsafe { cells.add(number).write(fresh) };
                }
            }
            // Also makes cells where there are none.
            None => fill(t, p, at, bytes, fresh),
        }
        at = at.wrapping_add_signed(access.stride);
    }
}
