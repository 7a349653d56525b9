//! Memory that is mapped, unmapped, moved or thrown away by the page.
//!
//! These go to the kernel directly until [`resolve`] has run: allocators call them while they start.

use super::interpose;
use super::next::Next;
use crate::core_api;
use crate::lifecycle;
use core::ffi::{c_int, c_long, c_void};
use core::mem::transmute;

type Mmap = unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, c_int, i64) -> *mut c_void;
type Munmap = unsafe extern "C" fn(*mut c_void, usize) -> c_int;
type Madvise = unsafe extern "C" fn(*mut c_void, usize, c_int) -> c_int;
type Mremap = unsafe extern "C" fn(*mut c_void, usize, usize, c_int, *mut c_void) -> *mut c_void;

static MMAP: Next = Next::new(c"mmap");
static MUNMAP: Next = Next::new(c"munmap");
static MADVISE: Next = Next::new(c"madvise");
static MREMAP: Next = Next::new(c"mremap");

/// Looks the next definitions up. Called once, when the process starts.
pub fn resolve() {
    if cfg!(not(feature = "wrap")) {
        for next in [&MMAP, &MUNMAP, &MADVISE, &MREMAP] {
            next.get();
        }
    }
}

interpose! {
    /// A mapping put over others at a fixed place ends their elements' lives.
    fn mmap(address: *mut c_void, bytes: usize, protection: c_int, flags: c_int, file: c_int, offset: i64) -> *mut c_void {
        if flags & libc::MAP_FIXED != 0 && page_aligned(address) {
            die(address, bytes);
        }
        // SAFETY: the C function; handed on unchanged.
        match unsafe { MMAP.known().map(|next| transmute::<*mut c_void, Mmap>(next)) } {
            // SAFETY: as above.
            Some(next) => unsafe { next(address, bytes, protection, flags, file, offset) },
            // SAFETY: the system call behind it.
            None => unsafe { pointer(libc::syscall(libc::SYS_mmap, address, bytes, protection, flags, file, offset)) },
        }
    }
}

interpose! {
    /// The same function: a `long` has 64 bits.
    fn mmap64(address: *mut c_void, bytes: usize, protection: c_int, flags: c_int, file: c_int, offset: i64) -> *mut c_void {
        // SAFETY: the same contract.
        unsafe { mmap(address, bytes, protection, flags, file, offset) }
    }
}

interpose! {
    /// The elements die first, so that nobody who gets the addresses next is disturbed.
    fn munmap(address: *mut c_void, bytes: usize) -> c_int {
        if page_aligned(address) {
            die(address, bytes);
        }
        // SAFETY: the C function; handed on unchanged.
        match unsafe { MUNMAP.known().map(|next| transmute::<*mut c_void, Munmap>(next)) } {
            // SAFETY: as above.
            Some(next) => unsafe { next(address, bytes) },
            // SAFETY: the system call behind it.
            None => unsafe { libc::syscall(libc::SYS_munmap, address, bytes) as c_int },
        }
    }
}

interpose! {
    /// Pages whose contents are thrown away.
    fn madvise(address: *mut c_void, bytes: usize, advice: c_int) -> c_int {
        // SAFETY: the C function; handed on unchanged.
        let result = match unsafe { MADVISE.known().map(|next| transmute::<*mut c_void, Madvise>(next)) } {
            // SAFETY: as above.
            Some(next) => unsafe { next(address, bytes, advice) },
            // SAFETY: the system call behind it.
            None => unsafe { libc::syscall(libc::SYS_madvise, address, bytes, advice) as c_int },
        };
        if result == 0 && matches!(advice, libc::MADV_DONTNEED | libc::MADV_FREE | libc::MADV_REMOVE) {
            die(address, bytes);
        }
        result
    }
}

interpose! {
    /// As `realloc`: what is cut off dies, a move is a read and a write. C declares the last parameter as variable;
    /// on this machine it is passed like any other.
    fn mremap(old: *mut c_void, old_bytes: usize, new_bytes: usize, flags: c_int, target: *mut c_void) -> *mut c_void {
        let site = if lifecycle::is_active() { core_api::call_site() } else { 0 };
        if new_bytes < old_bytes && page_aligned(old) {
            die(old.wrapping_byte_add(new_bytes), old_bytes - new_bytes);
        }
        if flags & libc::MREMAP_FIXED != 0 {
            die(target, new_bytes);
        }
        // SAFETY: the C function; handed on unchanged.
        let new = match unsafe { MREMAP.known().map(|next| transmute::<*mut c_void, Mremap>(next)) } {
            // SAFETY: as above.
            Some(next) => unsafe { next(old, old_bytes, new_bytes, flags, target) },
            // SAFETY: the system call behind it.
            None => unsafe { pointer(libc::syscall(libc::SYS_mremap, old, old_bytes, new_bytes, flags, target)) },
        };
        if new != libc::MAP_FAILED && new != old && lifecycle::is_active() {
            core_api::copy_range(new.addr(), old.addr(), old_bytes.min(new_bytes), site);
            die(old, old_bytes);
        }
        new
    }
}

interpose! {
    /// A smaller data segment: what was above its new end dies.
    fn sbrk(increment: isize) -> *mut c_void {
        let Some(sbrk) = super::next::next!(sbrk: fn(isize) -> *mut c_void) else { return libc::MAP_FAILED };
        if increment < 0 {
            // SAFETY: asks for the present end.
            let end = unsafe { sbrk(0) };
            die(end.wrapping_byte_offset(increment), increment.unsigned_abs());
        }
        // SAFETY: handed on unchanged.
        unsafe { sbrk(increment) }
    }
}

interpose! {
    /// See [`sbrk`].
    fn brk(end: *mut c_void) -> c_int {
        let Some(brk) = super::next::next!(brk: fn(*mut c_void) -> c_int) else { return -1 };
        let Some(sbrk) = super::next::next!(sbrk: fn(isize) -> *mut c_void) else { return -1 };
        // SAFETY: asks for the present end.
        let present = unsafe { sbrk(0) };
        if !end.is_null() && present != libc::MAP_FAILED && end < present {
            die(end, present.addr() - end.addr());
        }
        // SAFETY: handed on unchanged.
        unsafe { brk(end) }
    }
}

/// The elements of a range die.
pub(super) fn die(address: *mut c_void, bytes: usize) {
    if lifecycle::is_active() && address.addr().checked_add(bytes).is_some() {
        core_api::clear_range(address.addr(), bytes);
    }
}

/// What the kernel asks of an address; it refuses others, and then nothing dies.
fn page_aligned(address: *mut c_void) -> bool {
    address.addr().is_multiple_of(4096)
}

fn pointer(result: c_long) -> *mut c_void {
    core::ptr::with_exposed_provenance_mut(result as usize)
}
