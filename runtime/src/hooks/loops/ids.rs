//! What a loop's writes leave: the ids in the cells of what they write.

use super::{Span, columns};
use crate::hooks::access::fresh_id;
use crate::hooks::range::fill;
use crate::process::Process;
use crate::thread::Thread;
use crate::thread::quiet::{Pattern, part_end};
use core::num::NonZeroU64;
use core::ops::Range;
use threadtalk_abi::loops::Access;
use threadtalk_abi::{CHUNK_BYTES, CHUNK_SHIFT, GRANULE};
use threadtalk_sigmem::claims::LINE;

/// Stores the ids that a loop's write leaves, but where the thread knows that they are there.
pub fn write(t: &mut Thread, p: &Process, access: &Access, iterations: u64) {
    let fresh = fresh_id(t, p, access.site).0;
    let Some(span) = Span::of(access, iterations) else { return };
    let is_gapless = gapless(access);
    let pattern = if is_gapless { Pattern::ALL } else { Pattern::of(access, span.first) };
    let is_known = is_gapless || is_pair(access) && access.stride > 0 && pattern.is_exact();
    // Writes in windows are not seen.
    if !is_known || t.has_written_windows() || p.signature.pool.chunks_aliased() != 0 {
        return store(t, p, access, span, iterations, fresh);
    }
    let (mut at, end) = (span.first & !(GRANULE - 1), span.last + 1);
    let own = t.header.own_base;
    while at < end {
        let part = (at, part_end(at, end));
        at = part.1;
        let mut rest = part.0;
        while let Some((from, to)) = t.quiet.unfilled((&p.claims, &t.writable), own, (rest, part.1), (pattern, fresh)) {
            if is_gapless {
                fill(t, p, from, to - from, fresh);
            } else if let Some(stride) = NonZeroU64::new(access.stride.unsigned_abs()) {
                // The accesses that begin there; being whole words, they end there.
                let steps = |bytes: u64| bytes.saturating_add(stride.get() - 1) / stride;
                let first = span.first + steps(from - span.first) * stride.get();
                let count = steps(to.saturating_sub(first));
                if count > 0 {
                    let some = Access { address: first, ..*access };
                    store(t, p, &some, Span { first, last: to - 1 }, count, fresh);
                }
            }
            t.quiet.fill((&p.claims, &t.writable), own, (from, to), (pattern, fresh));
            rest = to;
        }
    }
}

/// Whether it accesses two granules at a time.
fn is_pair(access: &Access) -> bool {
    let whole = access.address.is_multiple_of(GRANULE) && access.stride % GRANULE as i64 == 0;
    u64::from(access.bytes) == 2 * GRANULE && whole
}

fn store(t: &mut Thread, p: &Process, access: &Access, span: Span, iterations: u64, fresh: u32) {
    if gapless(access) {
        fill(t, p, span.first, span.last - span.first + 1, fresh);
        return;
    }
    if columns::is_column(access) {
        return columns::store(t, p, access, iterations, fresh);
    }
    let (bytes, step) = (u64::from(access.bytes), access.stride);
    let is_whole = access.address.is_multiple_of(GRANULE) && step % GRANULE as i64 == 0;
    let (mut at, mut rest) = (access.address, iterations);
    while rest > 0 {
        // Also makes cells where there are none.
        fill(t, p, at, bytes, fresh);
        let many = in_chunk(access, at, rest);
        if let Some(offset) = p.signature.directory.offset(at).filter(|_| many > 1) {
            let nth = |i: i64| at.wrapping_add_signed(step * i);
            let last = nth(many as i64 - 1);
            let (from, to) = (at.min(last), at.max(last) + bytes);
            let pattern = Pattern::of(access, from);
            // Steps that are no longer than what a line of cells stands for store to all lines of the range, so that
            // nobody is spared any by knowing what lies between the accesses: it is forgotten with them, at once.
            if pattern.is_exact() || step.unsigned_abs() <= LINE {
                t.quiet.forget(t.header.own_base, (from, to), pattern);
            } else if t.quiet.is_filled(t.header.own_base, from) {
                for first in (1..many as i64).map(nth) {
                    t.quiet.forget(t.header.own_base, (first, first + bytes), Pattern::ALL);
                }
            }
            let cells = core::ptr::with_exposed_provenance_mut::<u8>(at.wrapping_add(offset) as usize);
            let many = 1..many as i64;
            match bytes.div_ceil(GRANULE) {
                // SAFETY: the accesses lie in one chunk, which has cells for all their granules.
                1 if is_whole => unsafe { scatter(cells, step, many, fresh) },
                // SAFETY: as above.
                2 if is_whole => unsafe { scatter(cells, step, many, [fresh; 2]) },
                // SAFETY: as above.
                4 if is_whole => unsafe { scatter(cells, step, many, [fresh; 4]) },
                // SAFETY: as above. Three doubles: places and forces.
                6 if is_whole => unsafe { scatter(cells, step, many, [fresh; 6]) },
                _ => {
                    for first in many.map(nth) {
                        let cells = (first & !(GRANULE - 1)).wrapping_add(offset);
                        let cells = core::ptr::with_exposed_provenance_mut::<u32>(cells as usize);
                        for granule in 0..((first + bytes - 1) / GRANULE - first / GRANULE + 1) as usize {
                            // SAFETY: as above.
                            unsafe { cells.add(granule).write(fresh) };
                        }
                    }
                }
            }
        }
        at = at.wrapping_add_signed(step.wrapping_mul(many as i64));
        rest -= many;
    }
}

/// Stores the ids of accesses of some whole granules.
///
/// # Safety
/// Those `many` places, `step` bytes from each other, are cells.
#[inline]
unsafe fn scatter<Ids: Copy>(cells: *mut u8, step: i64, many: Range<i64>, ids: Ids) {
    for i in many {
        // SAFETY: the caller's promise. Cells of two granules are aligned as one.
        unsafe { cells.wrapping_offset((step * i) as isize).cast::<Ids>().write(ids) };
    }
}

/// How many of the next `most` accesses, one at least, lie wholly in the chunk of the first one's first byte. (A first
/// one that does not is alone.)
fn in_chunk(access: &Access, at: u64, most: u64) -> u64 {
    let (bytes, stride) = (u64::from(access.bytes), access.stride.unsigned_abs());
    let within = at % CHUNK_BYTES;
    let room = if access.stride < 0 { Some(within) } else { (CHUNK_BYTES - within).checked_sub(bytes) };
    let inside = (at + bytes - 1) >> CHUNK_SHIFT == at >> CHUNK_SHIFT;
    let more = room.filter(|_| inside).and_then(|room| room.checked_div(stride)).unwrap_or(0);
    (more + 1).min(most)
}

/// Whether a write leaves its id in all cells of its span: it writes every byte, or some of every granule.
fn gapless(access: &Access) -> bool {
    access.stride == 0 || access.stride.unsigned_abs() <= u64::from(access.bytes).max(GRANULE)
}
