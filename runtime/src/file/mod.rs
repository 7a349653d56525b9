//! The profile file while the process runs: a window of addresses onto which the file is mapped piece by piece.
//!
//! File offset `x` is at `window + x`, so a place in the file has one name for the life of the process. Space is taken
//! by adding to one counter; whoever took it extends the file over its part and maps it. Two threads never wait for
//! each other, and a process killed between two steps leaves an empty unit that the decoder skips.

pub mod appender;
pub mod name;
pub mod seal;

use crate::lifecycle::unnoticed::unnoticed;
use crate::memory;
use core::mem::{align_of, size_of};
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use threadtalk_profile::layout::{self, BLOCK_MAGIC, BlockHeader, FileHeader, UNIT};

/// Largest profile. 64 GiB of addresses; events are aggregated, so gigabytes are out of the ordinary.
const WINDOW: usize = 1 << 36;

/// The open profile.
pub struct ProfileFile {
    window: NonNull<u8>,
    /// -1: the results stay in memory (no place to write was found).
    fd: AtomicI32,
    /// The first free unit.
    next_unit: AtomicU64,
    /// Blocks that could not be given a part of the file.
    lost_blocks: AtomicU64,
}

// SAFETY: the window is mapped for the life of the process; all mutable state is atomic.
unsafe impl Sync for ProfileFile {}
// SAFETY: as above.
unsafe impl Send for ProfileFile {}

impl ProfileFile {
    /// Begins a profile in an open, empty file (`fd`), or in memory (`None`).
    pub fn begin(fd: Option<i32>) -> Option<Self> {
        let file = Self {
            window: memory::reserve_addresses(WINDOW)?,
            fd: AtomicI32::new(fd.unwrap_or(-1)),
            next_unit: AtomicU64::new(1),
            lost_blocks: AtomicU64::new(0),
        };
        file.map_units(0, 1).then_some(file)
    }

    /// The header at the start of the file. Its counters are updated through [`Self::count`].
    pub fn header(&self) -> *mut FileHeader {
        self.window.as_ptr().cast()
    }

    /// A counter or field of the header as an atomic.
    pub fn word(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset.is_multiple_of(8) && offset + 8 <= UNIT as usize);
        // SAFETY: unit 0 is mapped for the life of the process and the offset is aligned and inside it.
        unsafe { AtomicU64::from_ptr(self.window.as_ptr().add(offset).cast()) }
    }

    /// Adds to a counter of [`layout::Accuracy`], named by its offset in the header.
    pub fn count(&self, offset: usize, by: u64) {
        self.word(offset).fetch_add(by, Ordering::Relaxed);
    }

    /// A new block with room for `payload` bytes, header unwritten but for its `units`; `None` when there is
    /// no memory even to lose it in.
    pub fn allocate(&self, payload: u64) -> Option<Block> {
        let units = (size_of::<BlockHeader>() as u64 + payload).div_ceil(UNIT);
        let first = self.next_unit.fetch_add(units, Ordering::Relaxed);
        if (first + units) * UNIT > WINDOW as u64 {
            self.lost_blocks.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        if !self.map_units(first, units) {
            return None;
        }
        // SAFETY: the units were just mapped and belong to this caller alone.
        let header = unsafe { self.window.add((first * UNIT) as usize).cast::<BlockHeader>() };
        // SAFETY: as above.
        unsafe { (*header.as_ptr()).units = units as u32 };
        Some(Block { header, payload: units * UNIT - size_of::<BlockHeader>() as u64 })
    }

    /// Where in the file an address in the window is.
    pub fn offset_of(&self, at: *const u8) -> u64 {
        (at as usize).wrapping_sub(self.window.as_ptr() as usize) as u64
    }

    /// The address of an offset in the file that [`Self::offset_of`] gave.
    pub fn at(&self, offset: u64) -> *mut u8 {
        self.window.as_ptr().wrapping_add(offset as usize)
    }

    /// Units handed out so far.
    pub fn units(&self) -> u64 {
        self.next_unit.load(Ordering::Relaxed)
    }

    /// Whether some results had no place in the file.
    pub fn lost_blocks(&self) -> u64 {
        self.lost_blocks.load(Ordering::Relaxed)
    }

    /// Whether there is a file at all.
    pub fn is_in_memory(&self) -> bool {
        self.fd.load(Ordering::Relaxed) < 0
    }

    /// In the child of a fork: keeps the addresses but leaves the file to the parent. System calls only.
    pub fn detach_after_fork(&self) {
        let fd = self.fd.swap(-1, Ordering::Relaxed);
        if fd < 0 {
            return;
        }
        let bytes = (self.units() * UNIT) as usize;
        // SAFETY: replaces the shared pages of our own window by private copies of the same contents, so all pointers
        // into it stay good; the child has one thread.
        unsafe {
            let at = self.window.as_ptr().cast();
            let flags = libc::MAP_PRIVATE | libc::MAP_FIXED;
            if libc::mmap(at, bytes, libc::PROT_READ | libc::PROT_WRITE, flags, fd, 0) == libc::MAP_FAILED {
                memory::map_over(self.window, bytes);
            }
            libc::close(fd);
        }
    }

    fn map_units(&self, first: u64, units: u64) -> bool {
        let (offset, bytes) = (first * UNIT, units * UNIT);
        // SAFETY: the range lies in the window and belongs to the caller, who took these units from the counter.
        let at = unsafe { self.window.add(offset as usize) };
        let fd = self.fd.load(Ordering::Relaxed);
        if fd >= 0 && unnoticed(|| extend(fd, offset, bytes)) {
            // SAFETY: as above; the file reaches over the range, so no access to it can raise SIGBUS.
            let got = unsafe {
                libc::mmap(
                    at.as_ptr().cast(),
                    bytes as usize,
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_SHARED | libc::MAP_FIXED,
                    fd,
                    offset as i64,
                )
            };
            if got != libc::MAP_FAILED {
                return true;
            }
        }
        if fd >= 0 {
            self.lost_blocks.fetch_add(1, Ordering::Relaxed);
        }
        // The disk is full or there is no file: count on in memory, the program must not notice.
        // SAFETY: the range is ours, see above.
        unsafe { memory::map_over(at, bytes as usize) }
    }
}

/// Makes the file reach over a range with disk space behind it: a sparse page would turn a full disk into SIGBUS.
fn extend(fd: i32, offset: u64, bytes: u64) -> bool {
    if offset + bytes > largest_file() {
        return false;
    }
    // SAFETY: plain system calls on a descriptor of ours.
    unsafe {
        if libc::fallocate(fd, 0, offset as i64, bytes as i64) == 0 {
            return true;
        }
        // File systems without fallocate: write the last byte of each page. pwrite never shortens the file, whoever
        // comes first.
        let unsupported = *libc::__errno_location() == libc::EOPNOTSUPP;
        unsupported
            && (offset..offset + bytes).step_by(4096).all(|page| {
                let zero = 0u8;
                libc::pwrite(fd, ptr::from_ref(&zero).cast(), 1, (page + 4095) as i64) == 1
            })
    }
}

/// `RLIMIT_FSIZE`: growing a file beyond it would raise SIGXFSZ, which ends the program.
fn largest_file() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a system call that fills in a structure of ours.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    limit.rlim_cur
}

/// A block that one thread fills.
#[derive(Clone, Copy)]
pub struct Block {
    header: NonNull<BlockHeader>,
    payload: u64,
}

impl Block {
    /// Bytes of payload that fit.
    pub fn capacity(&self) -> u64 {
        self.payload
    }

    /// The payload's address, aligned to 128 bytes.
    pub fn payload(&self) -> *mut u8 {
        // SAFETY: every block has at least one unit, which is longer than its header.
        unsafe { self.header.as_ptr().add(1).cast() }
    }

    /// Makes the block visible to readers of the file. Its contents up to `used` must be in order.
    pub fn publish(&self, kind: u16, record_size: usize, used: u64) {
        let h = self.header.as_ptr();
        // SAFETY: the block is this thread's; `magic` is written last, with release, and read first by a decoder of the
        // live file.
        unsafe {
            (*h).kind = kind;
            (*h).version = 1;
            (*h).record_size = record_size as u32;
            self.used().store(used, Ordering::Relaxed);
            AtomicU32::from_ptr(&raw mut (*h).magic).store(BLOCK_MAGIC, Ordering::Release);
        }
    }

    /// [`BlockHeader::used`]. Pairs with a decoder of a live file: records come before the count that covers them.
    pub fn used(&self) -> &AtomicU64 {
        // SAFETY: the header is mapped for the life of the process; the field is aligned.
        unsafe { AtomicU64::from_ptr(&raw mut (*self.header.as_ptr()).used) }
    }
}

const _: () = {
    assert!(align_of::<BlockHeader>() == 8);
    assert!(layout::UNIT.is_multiple_of(4096));
};
