//! Where heap blocks die: `free` and `realloc`.
//!
//! How large a block is only its allocator knows. `malloc_usable_size` answers, provided that it comes from
//! the same library as the `free` that will be called; an allocator without it (none of the usual ones) leaves its
//! blocks' elements alive until they are written again.

use super::interpose;
use super::next::{kin, next};
use crate::core_api;
use crate::lifecycle;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU8, Ordering};
use threadtalk_abi::GRANULE;

/// Blocks up to this size that must grow while other threads exist are moved here and not by the allocator: it would
/// hand the old block to another thread before its elements died. Larger ones are left to the allocator, which can
/// extend them in place or remap them; growing one step by step would otherwise cost quadratic time (below this limit
/// at most 128 MiB are copied in 16-byte steps).
const MOVED_HERE: usize = 64 << 10;

interpose! {
    /// The elements of the block die, then the block is freed.
    fn free(block: *mut c_void) {
        if !block.is_null() && lifecycle::is_active() {
            // SAFETY: the caller gives up a block of the heap.
            let bytes = unsafe { usable(block) };
            core_api::clear_range(block.addr(), bytes);
        }
        // Inside dlsym the block is leaked: it is the text of an error, and there is no allocator to give it to yet.
        if let Some(free) = next!(free: fn(*mut c_void)) {
            // SAFETY: handed on unchanged.
            unsafe { free(block) }
        }
    }
}

interpose! {
    /// What is cut off dies; a move is a read of the old block and a write of the new one, then the old one dies.
    fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void {
        let Some(realloc) = next!(realloc: fn(*mut c_void, usize) -> *mut c_void) else {
            return core::ptr::null_mut();
        };
        if !lifecycle::is_active() {
            // SAFETY: handed on unchanged.
            return unsafe { realloc(block, bytes) };
        }
        // In any case: it must not be taken for the site of a later call of code that is not instrumented.
        let site = core_api::call_site();
        if block.is_null() {
            // SAFETY: handed on unchanged.
            return unsafe { realloc(block, bytes) };
        }
        // SAFETY: a block of the heap, by the caller's contract.
        let old = unsafe { usable(block) };
        if bytes > old && old <= MOVED_HERE && lifecycle::others_exist() {
            // SAFETY: as above; `old` bytes of it may be read.
            if let Some(moved) = unsafe { move_block(block, old, bytes, site) } {
                return moved;
            }
        }
        if bytes < old {
            // An element of which a part is left lives on.
            let tail = (block.addr() + bytes).next_multiple_of(GRANULE as usize);
            core_api::clear_range(tail, (block.addr() + old).saturating_sub(tail));
        }
        // SAFETY: handed on unchanged.
        let new = unsafe { realloc(block, bytes) };
        if !new.is_null() && new != block {
            core_api::copy_range(new.addr(), block.addr(), old.min(bytes), site);
            core_api::clear_range(block.addr(), old);
        }
        new
    }
}

/// Moves a block to a new one of `bytes` for the call at `site`, in an order that other threads cannot disturb. `None`:
/// no memory, nothing has changed.
///
/// # Safety
/// `block` is a block of the heap with at least `old` usable bytes.
unsafe fn move_block(block: *mut c_void, old: usize, bytes: usize, site: u32) -> Option<*mut c_void> {
    let malloc = kin!(malloc: fn(usize) -> *mut c_void)?;
    let free = next!(free: fn(*mut c_void))?;
    // SAFETY: C's malloc.
    let new = unsafe { malloc(bytes) };
    if new.is_null() {
        return None;
    }
    core_api::copy_range(new.addr(), block.addr(), old, site);
    // SAFETY: the new block is larger than the old one, and they do not overlap.
    unsafe { core::ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast::<u8>(), old) };
    core_api::clear_range(block.addr(), old);
    // SAFETY: nobody uses the old block any more.
    unsafe { free(block) };
    Some(new)
}

/// Bytes of a block; 0 if its allocator does not tell.
///
/// # Safety
/// `block` is a live block of the heap.
pub(super) unsafe fn usable(block: *mut c_void) -> usize {
    const UNKNOWN: u8 = 0;
    const TRUSTED: u8 = 1;
    static TRUST: AtomicU8 = AtomicU8::new(UNKNOWN);
    let Some(size) = kin!(malloc_usable_size: fn(*mut c_void) -> usize) else { return 0 };
    let trust = match TRUST.load(Ordering::Relaxed) {
        UNKNOWN => {
            let Some(free) = next!(free: fn(*mut c_void)) else { return 0 };
            let trust = TRUSTED + !same_library(free as *const c_void, size as *const c_void) as u8;
            TRUST.store(trust, Ordering::Relaxed);
            trust
        }
        trust => trust,
    };
    // SAFETY: a live block of the allocator that this function belongs to.
    if trust == TRUSTED { unsafe { size(block) } } else { 0 }
}

/// Whether two functions lie in the same library (or both in the executable).
pub(super) fn same_library(a: *const c_void, b: *const c_void) -> bool {
    if cfg!(feature = "wrap") {
        return true;
    }
    match (library(a), library(b)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

fn library(function: *const c_void) -> Option<usize> {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked for; the structure is filled in when the result is not 0.
    unsafe { (libc::dladdr(function, info.as_mut_ptr()) != 0).then(|| info.assume_init().dli_fbase.addr()) }
}
