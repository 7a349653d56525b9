//! The accesses of a whole loop, for [`crate::hooks::LOOP`].
//!
//! The pass keeps two copies of an innermost loop whose accesses are affine in the iteration number, that makes no
//! calls, synchronises nowhere and has a known number of iterations: one with a sequence at each access, and one
//! without. (Accesses elsewhere, at addresses that are read or computed, have sequences in both.) Before it, its affine
//! accesses are described to the runtime ([`crate::question`]), which counts them all if it can do so without seeing
//! their order.
//!
//! The same holds for nests of two or three such loops each iteration of which takes one way, and whose accesses are
//! affine in all of them: [`NestAccess`], for [`crate::hooks::NEST`].

use crate::GRANULE;

/// One access of the loop.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Address in the first iteration.
    pub address: u64,
    /// Bytes from one iteration's address to the next; 0 = the same address each time.
    pub stride: i64,
    /// Bytes of one access.
    pub bytes: u32,
    /// [`WRITE`], [`STRIDED`], [`READ_FIRST`], and the access's [`Order`].
    pub flags: u32,
    /// Global site: the number for reads, or for writes the number that writes use.
    pub site: u32,
    /// Number of the window ([`crate::window`]) that the access shares with others of the loop at fixed distances, plus
    /// 1; 0: none.
    pub window: u32,
}

impl Access {
    /// Its place in the loop's body, the last one of those that were joined.
    pub const fn place(&self) -> u8 {
        Order::of(self.flags).last
    }

    /// Bytes of each of the accesses that it was joined of, if they begin inside of granules: see [`PIECES`].
    #[inline(always)]
    pub const fn piece(&self) -> Option<u32> {
        if self.flags & PIECES == 0 || (self.address | self.stride as u64).is_multiple_of(GRANULE) {
            return None;
        }
        Some(2 << ((self.flags & PIECES) >> PIECES_SHIFT))
    }

    /// Its address in an iteration, counted from 0.
    #[inline]
    pub const fn address_in(&self, iteration: u64) -> u64 {
        self.address.wrapping_add_signed(self.stride.wrapping_mul(iteration as i64))
    }
}

/// The access writes.
pub const WRITE: u32 = 1;

/// The access is one of a [`crate::window::Window`] of starts: a fixed stride that skips more than it reads.
pub const STRIDED: u32 = 2;

/// Of a nest: no access, but memory that the descriptions of the others were computed from. They hold if the nest
/// writes none of it.
pub const FIXED: u32 = 4;

/// Of a loop's read: all that it reads in an iteration it reads before writes of the same [`Order::group`] come there.
/// (Of an unrolled loop that reads and writes by turns, places do not say so.)
pub const READ_FIRST: u32 = 8;

/// Of a row of a question's table: what is joined of accesses of equal size that follow each other, each of whole
/// granules if its address is a multiple of a granule, which is known only when the program runs. log2 of their bytes,
/// less 1, in these bits; 0: one access, or whole granules in any case. The runtime puts those that begin inside of
/// granules back as they were: each reads one granule more.
pub const PIECES: u32 = 0b111 << PIECES_SHIFT;

/// See [`PIECES`].
pub const PIECES_SHIFT: u32 = 4;

/// The bits of [`PIECES`] for accesses of so many bytes, a power of two; `None`: too many, or parts of granules.
pub const fn pieces(bytes: u64) -> Option<u32> {
    let log2 = bytes.trailing_zeros();
    let fits = bytes.is_power_of_two() && bytes >= GRANULE && log2 <= 1 + (PIECES >> PIECES_SHIFT);
    if fits { Some((log2 - 1) << PIECES_SHIFT) } else { None }
}

/// When in an iteration of a loop an access is made: bits of [`Access::flags`]. (In older object files `first` and
/// `group` are 0, in still older ones all of it.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Its place in the loop's body, below [`MOST_ACCESSES`]: the first one of those that were joined to it.
    pub first: u8,
    /// The last one.
    pub last: u8,
    /// The number of those that move in step, which are described side by side, in the order of their addresses.
    pub group: u8,
}

impl Order {
    /// The bits.
    pub const fn flags(self) -> u32 {
        (self.last as u32) << 8 | (self.first as u32) << 16 | (self.group as u32) << 24
    }

    /// That of an access with these flags.
    pub const fn of(flags: u32) -> Order {
        Order { first: (flags >> 16) as u8, last: (flags >> 8) as u8, group: (flags >> 24) as u8 }
    }
}

/// Added to the number of accesses: what the loop finds may be kept in windows (see [`crate::window`]).
pub const WINDOWS: u32 = 1 << 29;

/// Added to the number of accesses: the loop is part of a nest with memos, so that ranges looked at for its earlier
/// rounds need not be looked at again (see [`crate::thread::ThreadHeader::ranges`]).
pub const IN_NEST: u32 = 1 << 31;

/// Added to the number of accesses: the loop has others that are not in the list. They touch other memory, and both
/// copies have their sequences.
pub const STRAYS: u32 = 1 << 30;

/// Added to the number of accesses: the loop is in a function that nests may call. While one does, it is as with
/// [`WINDOWS`].
pub const CALLED: u32 = 1 << 28;

/// Added to the number of accesses: the question has a last argument, where the loop's credit is ([`crate::credit`]).
pub const CREDIT: u32 = 1 << 27;

/// Loops with more accesses are not offered.
pub const MOST_ACCESSES: usize = 64;

/// A loop that ends by what it finds goes on without hooks after so many iterations. They take once or twice as long as
/// what is told of it when it ends.
pub const SEARCHED_AFTER: u64 = 64;

/// Such loops with more accesses keep their hooks.
pub const MOST_SEARCHED: usize = 8;

/// Of structures longer than a line, one byte in so many is read, or more, where what lies between the reads is looked
/// at with them. With less, that costs more than the loop's sequences: n-body reads 32 of 80, and took 25 times as long
/// with 4.
pub const LEAST_READ: u64 = 2;

/// Nests with more accesses are not described as a whole, and loops with more have no windows: what is found of each
/// takes 300 bytes of the program's stack.
pub const MOST_IN_NEST: usize = 32;

const _: () = assert!(size_of::<Access>() == 32);

/// How an access moves with a loop.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Bytes from one iteration to the next; 0 = the same address each time.
    pub stride: i64,
    /// Iterations, at least 1. (In a question, 0: this nest makes no such access.)
    pub count: u64,
}

/// Loops that an access of a nest moves with.
pub const STEPS: usize = 3;

/// Iterations of a nest that is asked about: less than twice what is inlined takes as long as the question, and more
/// hold a sample of the reuse distance nearly always.
pub const NEST_ITERATIONS: (u64, u64) = (128, 1 << 16);

/// One access of a nest of loops. It runs in each iteration of its loops.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct NestAccess {
    /// Address of the first one.
    pub address: u64,
    /// Bytes of one access: whole granules.
    pub bytes: u32,
    /// [`WRITE`], [`FIXED`]. (Older object files may have set others.)
    pub flags: u32,
    /// Global site: the number for reads, or for writes the number that writes use.
    pub site: u32,
    /// Number of its window, plus 1.
    pub window: u32,
    /// Its loops, innermost first; loops that it is not in have one iteration.
    pub steps: [Step; STEPS],
}

const _: () = assert!(size_of::<NestAccess>() == 72);
