//! Memory of the runtime's own: straight from the kernel, never from the program's heap.
//!
//! The hooks run inside `malloc`, inside signal handlers and before `main`; anonymous mappings are the only
//! source that is safe in all of them.

pub mod arena;
pub mod cells;

use core::ptr::{self, NonNull};
use core::slice;
use core::sync::atomic::AtomicU32;

/// Zeroed memory that costs nothing until it is touched (`MAP_NORESERVE`: not counted against the commit limit).
pub fn reserve(bytes: usize) -> Option<NonNull<u8>> {
    map(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_NORESERVE)
}

/// Zeroed counts that all threads may use and that live for ever.
pub fn counts(number: usize) -> Option<&'static [AtomicU32]> {
    let first = reserve(number * size_of::<AtomicU32>())?.as_ptr().cast::<AtomicU32>();
    // SAFETY: zeroed memory of that length, aligned to a page, never unmapped, and only used as atomics.
    Some(unsafe { slice::from_raw_parts(first, number) })
}

/// Whether the address space is limited (`ulimit -v`): then what can be done without is.
pub fn is_limited() -> bool {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a place for the answer.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &mut limit) == 0 && limit.rlim_cur != libc::RLIM_INFINITY }
}

/// Address space without memory: pages are put there later.
pub fn reserve_addresses(bytes: usize) -> Option<NonNull<u8>> {
    map(ptr::null_mut(), bytes, libc::PROT_NONE, libc::MAP_NORESERVE)
}

/// Zeroed memory that can only be read.
pub fn reserve_zeros(bytes: usize) -> Option<NonNull<u8>> {
    map(ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_NORESERVE)
}

/// Like [`reserve`], at an address of its own choosing that is a multiple of `align` (a power of two).
pub fn reserve_aligned(bytes: usize, align: usize) -> Option<NonNull<u8>> {
    let whole = reserve(bytes + align)?;
    let start = whole.as_ptr() as usize;
    let aligned = (start + align - 1) & !(align - 1);
    let (head, tail) = (aligned - start, start + align - aligned);
    // SAFETY: both ranges are parts of the mapping just made that nobody has seen.
    unsafe {
        if head > 0 {
            libc::munmap(start as *mut _, head);
        }
        if tail > 0 {
            libc::munmap((aligned + bytes) as *mut _, tail);
        }
    }
    NonNull::new(aligned as *mut u8)
}

/// Replaces part of a mapping of ours by zeroed memory.
///
/// # Safety
/// The range must lie in a mapping of ours in which nobody holds a reference.
pub unsafe fn map_over(at: NonNull<u8>, bytes: usize) -> bool {
    map(at.as_ptr(), bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_NORESERVE | libc::MAP_FIXED).is_some()
}

/// Zeros again, which cost nothing until they are touched.
///
/// # Safety
/// The range must lie in memory that came from [`reserve`], in which nobody holds a reference.
pub unsafe fn forget(at: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise; anonymous memory.
    unsafe { libc::madvise(at.cast(), bytes, libc::MADV_DONTNEED) };
}

/// Asks for pages that can be written (Linux 5.14).
///
/// # Safety
/// The range must lie in memory that came from [`reserve`] and begin with a page.
pub unsafe fn populate(at: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise; contents stay as they are.
    unsafe { libc::madvise(at.cast(), bytes, libc::MADV_POPULATE_WRITE) };
}

/// Asks for huge pages: cells are walked as the program walks its arrays, and 4 KiB pages made the stencil and FFT
/// kernels 1.5 times slower.
pub fn prefer_huge_pages(at: NonNull<u8>, bytes: usize) {
    // SAFETY: advice on memory of ours; it changes no contents.
    unsafe { libc::madvise(at.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE) };
}

/// Asks for small pages, also where the system gives huge ones to all memory.
pub fn prefer_small_pages(at: NonNull<u8>, bytes: usize) {
    // SAFETY: advice on memory of ours; it changes no contents.
    unsafe { libc::madvise(at.as_ptr().cast(), bytes, libc::MADV_NOHUGEPAGE) };
}

/// Gives memory back.
///
/// # Safety
/// The range must have come from this module, and nobody may use it any more.
pub unsafe fn release(at: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { libc::munmap(at.as_ptr().cast(), bytes) };
}

fn map(at: *mut u8, bytes: usize, protection: i32, flags: i32) -> Option<NonNull<u8>> {
    // SAFETY: an anonymous mapping at a free address, or (MAP_FIXED) where `map_over`'s caller vouches for the range.
    let got =
        unsafe { libc::mmap(at.cast(), bytes, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags, -1, 0) };
    if got == libc::MAP_FAILED { None } else { NonNull::new(got.cast()) }
}
