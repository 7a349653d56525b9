//! Ranges: what memcpy, string functions and masked vectors touch.

use super::access::{fresh_id, read_cell};
use crate::process::Process;
use crate::thread::Thread;
use core::sync::atomic::Ordering;
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::NONE;
use threadtalk_sigmem::Run;

/// A read of a range.
pub fn read(t: &mut Thread, p: &Process, address: u64, bytes: u64, site: u32) {
    if p.is_paused() {
        return;
    }
    // Memory without cells has no writer: nothing to count, no cells to make.
    for run in p.signature.directory.runs(address, bytes) {
        let Run::Mapped { address, cells } = run else { continue };
        for (cell, i) in cells.iter().zip(0..) {
            let state = cell.load(Ordering::Relaxed);
            if state != NONE && state.wrapping_sub(t.header.own_base) >= t.header.own_span {
                read_cell(t, p, cell, address + i * GRANULE, site);
            }
        }
    }
}

/// A write of a range.
pub fn write(t: &mut Thread, p: &Process, address: u64, bytes: u64, site: u32) {
    let fresh = fresh_id(t, p, site);
    let mut stock = core::mem::take(&mut t.chunks);
    for run in p.signature.cells(address, bytes, &mut stock) {
        let Run::Mapped { address, cells } = run else { continue };
        t.overwrite(p, (address, address + cells.len() as u64 * GRANULE));
        for cell in cells {
            cell.store(fresh.0, Ordering::Relaxed);
        }
    }
    t.chunks = stock;
}

/// Calls `access` with the address of each active lane.
pub fn masked(address: u64, bytes: u64, mask: u64, mut access: impl FnMut(u64)) {
    let mut rest = mask;
    while rest != 0 {
        access(address + u64::from(rest.trailing_zeros()) * bytes);
        rest &= rest - 1;
    }
}
