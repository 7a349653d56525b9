//! First reads like earlier ones, in as few instructions as can be.
//!
//! Where many threads read what one has written, most reads that leave the inlined code are first reads of a state that
//! the thread has come across at that line. The inlined code has asked all that it can by then, so its gates
//! (`instrument/src/emit/gates.rs`) ask here before anything is saved, and before the archive's function asks all of it
//! again: a sparse product by 16 threads, nine reads of ten being of this kind, took a third longer without.

use super::again::{one_access, reuse_once_more};
use super::event;
use crate::process::Process;
use crate::thread::Thread;
use crate::thread::diversity::is_sample;
use crate::thread::firsts::Key;
use core::sync::atomic::Ordering;
use threadtalk_abi::cell::SHARED;

/// Settles an access of `CELLS` granules, one or two, if it is such a first read, or reuse that has lost its slot of
/// the event cache. No call, no vector register, as in [`super::again::at_once`], which settles what is rarer. What
/// tells how diverse readers are, and values that are to be opened, is left to the hook. False: nothing was done.
#[inline(always)]
pub fn at_once<const CELLS: usize>(t: &mut Thread, p: &Process, address: u64, site: u32) -> bool {
    let Some((element, cells)) = one_access::<CELLS>(p, address) else { return false };
    let [Some(first), Some(last)] = [cells.first(), cells.last()] else { return false };
    // Relaxed: what the name stands for is known since the thread made such a read before.
    let from = first.load(Ordering::Relaxed);
    if last.load(Ordering::Relaxed) != from {
        return false;
    }
    let Some(known) = t.firsts.get(Key::new(from, site, t.context)) else { return false };
    if known.to == from {
        return reuse_once_more(t, from, site, known.record.cast(), CELLS as u64);
    }
    if is_sample(element) || t.diversity.is_great() && from & SHARED == 0 {
        return false;
    }
    let read = (element, CELLS as u32);
    // SAFETY: what the thread knows of its first reads are records of its own, with what their traces hold.
    if !unsafe { event::is_only_counted(t, p, read, known.countdown) }
        || !t.view.read_all_again(&p.states, cells, (from, known.to))
    {
        return false;
    }
    // SAFETY: as above; just asked.
    unsafe { event::communications_at_once(t, p, read, known) };
    t.remember(known.to, site, known.record.cast());
    true
}
