//! Reads of [open](threadtalk_sigmem::open) values: whether the thread has read one is not in the cell.

use super::again::{reuse, reuse_once_more};
use super::event;
use crate::process::Process;
use crate::thread::Thread;
use crate::thread::diversity::is_sample;
use crate::thread::firsts::{Key, Known, OWN};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering, fence};
use threadtalk_abi::cell::NONE;
use threadtalk_profile::layout::EventRecord;
use threadtalk_sigmem::open::{OpenName, is_open};

/// Whether the values in the line of an element are to be opened, whose cell holds this name.
#[inline(always)]
pub fn is_worth_opening(t: &Thread, p: &Process, from: u32, element: u64) -> bool {
    t.diversity.is_great()
        && from != NONE
        && !t.header.is_own(from)
        && !is_open(from)
        // Where nothing is opened, states are made all the time: not until there is no room for any.
        && (!is_sample(element) || p.states.are_half_used())
}

/// Settles an access as [`super::again::at_once`] does. All cells hold the name `from`.
#[inline(always)]
pub fn at_once<const CELLS: usize>(
    t: &mut Thread,
    p: &Process,
    cells: &[AtomicU32; CELLS],
    element: u64,
    site: u32,
    (from, name): (u32, OpenName),
) -> bool {
    let Some(Known { to: bit, record, countdown }) = t.firsts.get(Key::of_open(name, site, t.context)) else {
        return false;
    };
    if bit == OWN || name.listed() & bit != 0 {
        return reuse_once_more(t, from, site, record.cast(), CELLS as u64);
    }
    // Acquire: as in `View::read`, for cells that were loaded before.
    fence(Ordering::Acquire);
    let known = t.view.known;
    let Some(bits) = known.of(cells) else { return false };
    if bits.are_unread() {
        let read = (element, CELLS as u32);
        // SAFETY: what the thread knows of its first reads are records of its own, with what their traces hold.
        if !unsafe { event::is_only_counted(t, p, read, countdown) } {
            return false;
        }
        bits.read();
        // SAFETY: as above; just asked.
        unsafe { event::communications_at_once(t, p, read, Known { to: bit, record, countdown }) };
        return true;
    }
    if !bits.are_read() {
        return false;
    }
    if bit == 0 {
        return reuse(record.cast(), CELLS as u64);
    }
    let to = name.listing(bit);
    t.view.read_all_again(&p.states, cells, (from, to)) && reuse_once_more(t, to, site, record.cast(), CELLS as u64)
}

/// Where reads of an open value at `site` count, first ones and, which may be counted inline, reuse.
///
/// # Safety
/// `record` is one of the thread's.
pub unsafe fn put(t: &mut Thread, p: &Process, name: OpenName, site: u32, record: *mut EventRecord) {
    let bit = p.states.listing_bit(name.value(), t.view.thread()).unwrap_or(0);
    // SAFETY: the caller's promise.
    let countdown = unsafe { t.traces.countdown(record) };
    t.firsts.put(Key::of_open(name, site, t.context), Known { to: bit, record, countdown });
}

/// Reads of an own open value at `site` are no events.
pub fn put_own(t: &mut Thread, name: OpenName, site: u32) {
    let nobody = t.idle_counter().cast();
    let known = Known { to: OWN, record: nobody, countdown: ptr::null_mut() };
    t.firsts.put(Key::of_open(name, site, t.context), known);
}
