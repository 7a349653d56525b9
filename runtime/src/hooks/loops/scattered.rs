//! Reads of a few iterations, each looked at by itself: in whatever states, and however far apart.

use super::findings::{Findings, TooMany};
use crate::process::Process;
use crate::thread::Thread;
use core::slice;
use core::sync::atomic::Ordering;
use threadtalk_abi::cell::NONE;
use threadtalk_abi::loops::{Access, WRITE};
use threadtalk_abi::thread::EventCounter;
use threadtalk_abi::{CHUNK_BYTES, GRANULE};

/// Counts so many iterations, if all that they read is own, or reuse that the thread knows, and none of it is to be
/// sampled. `false`: nothing was counted.
pub fn count(t: &mut Thread, p: &Process, accesses: &[Access], iterations: u64) -> bool {
    let mut found = Findings::new();
    accesses.iter().all(|access| look(t, p, access, iterations, &mut found).is_ok())
        && found.counts().is_some_and(|counts| super::count(t, counts))
}

/// The events of an access. It is refused where one of them is not reuse that the thread knows.
fn look(t: &mut Thread, p: &Process, access: &Access, iterations: u64, found: &mut Findings) -> Result<(), TooMany> {
    let granules = granules(access).ok_or(TooMany)?;
    // Reads in one state follow each other.
    let (mut state, mut counter, mut reads) = (NONE, t.idle_counter(), 0);
    for iteration in 0..iterations {
        let address = access.address_in(iteration);
        // Memory without cells has no writer.
        let Some(first) = p.signature.directory.translate(address) else { continue };
        if address % CHUNK_BYTES + u64::from(access.bytes) > CHUNK_BYTES {
            return Err(TooMany);
        }
        // SAFETY: the access lies in one chunk, whose cells follow each other and live for ever.
        for cell in unsafe { slice::from_raw_parts(first, granules) } {
            let now = cell.load(Ordering::Relaxed);
            if t.header.is_own(now) || now == NONE {
                continue;
            }
            if now != state {
                add(found, counter, reads)?;
                (state, counter, reads) = (now, t.known(now, access.site).ok_or(TooMany)?, 0);
            }
            reads += 1;
        }
    }
    add(found, counter, reads)
}

fn add(found: &mut Findings, counter: *mut EventCounter, reads: u64) -> Result<(), TooMany> {
    if reads == 0 { Ok(()) } else { found.count(Some(counter), reads) }
}

/// How many granules a read touches, all of it or one of several parts, wherever the loop does it; `None`: it writes,
/// or that is not always the same.
fn granules(access: &Access) -> Option<usize> {
    let part = u64::from(access.bytes).min(GRANULE);
    let is_even =
        [access.address, access.stride as u64, u64::from(access.bytes)].iter().all(|n| n.is_multiple_of(part));
    let fits = is_even && part.is_power_of_two() && access.flags & WRITE == 0;
    fits.then_some(access.bytes.div_ceil(GRANULE as u32) as usize)
}
