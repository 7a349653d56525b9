//! The inlined sequence, in Rust: what `threadtalk_abi::thread` says that the pass emits.

use threadtalk_abi::CHUNK_SHIFT;
use threadtalk_abi::thread::{EVENT_SITE_FACTOR, EVENT_SLOTS, ThreadHeader};

/// Whether the read was settled without a hook, and whether it was counted as reuse.
pub fn read(t: &ThreadHeader, address: u64, bytes: u64, site: u32) -> Option<bool> {
    let cells = cells(t.directory, address, bytes)?;
    let c = cells[0];
    if cells.iter().any(|other| *other != c) {
        return None;
    }
    if c.wrapping_sub(t.own_base) < t.own_span {
        return Some(false);
    }
    let slot = c.wrapping_add(site.wrapping_mul(EVENT_SITE_FACTOR)) % EVENT_SLOTS as u32;
    // SAFETY: below the length of the cache.
    let slot = unsafe { &*t.events.add(slot as usize) };
    if slot.key != u64::from(site) << 32 | u64::from(c) {
        return None;
    }
    // SAFETY: counters in the cache are mapped.
    let counter = unsafe { &mut *slot.counter };
    let rar = counter.rar + cells.len() as u64;
    if rar >= counter.next {
        return None;
    }
    counter.rar = rar;
    Some(true)
}

/// Whether the write was settled without a hook.
pub fn write(t: &ThreadHeader, address: u64, bytes: u64, site: u32) -> bool {
    let id = t.write_base + site;
    match cells(t.writable, address, bytes) {
        Some(cells) => {
            cells.fill(id);
            true
        }
        None => false,
    }
}

/// The cells, if the access is regular: a power of two at a multiple of 4 bytes, or inside one granule, in one chunk.
fn cells<'c>(directory: *const u64, address: u64, bytes: u64) -> Option<&'c mut [u32]> {
    let last = address + bytes - 1;
    let regular = bytes.is_power_of_two() && last / 4 - address / 4 + 1 == bytes.div_ceil(4);
    if !regular || last >> CHUNK_SHIFT != address >> CHUNK_SHIFT {
        return None;
    }
    // SAFETY: the directory covers the address space.
    let offset = unsafe { *directory.add((address >> CHUNK_SHIFT) as usize) };
    if offset == 0 {
        return None;
    }
    let first = (address & !3).wrapping_add(offset) as usize;
    // SAFETY: a mapped chunk has cells for all its granules; the test drives one thread at a time.
    Some(unsafe {
        core::slice::from_raw_parts_mut(core::ptr::with_exposed_provenance_mut(first), bytes.div_ceil(4) as usize)
    })
}
