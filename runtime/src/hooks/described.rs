//! What the tables of questions describe ([`threadtalk_abi::question`]), put together in the hook's frame.
//!
//! What the pass has joined of accesses that may begin inside of granules ([`PIECES`]) is put back as it was where they
//! do. If all accesses of a loop go through memory without gaps, they are described as ones that move by a piece in so
//! many times more iterations: rows. Else each piece is an access by itself.

use core::mem::MaybeUninit;
use core::slice;
use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::{Access, MOST_ACCESSES, NestAccess, PIECES, WRITE};
use threadtalk_abi::module::ModuleBases;
use threadtalk_abi::question::{LoopRow, NestRow};

/// Accesses whose distances are compared: more take as long as a short row.
const MOST_COMPARED: usize = 8;

/// The accesses of a nest's table; `None`: more than there can be.
///
/// # Safety
/// As for [`of_loop`].
#[inline(always)]
pub unsafe fn of_nest(
    room: &mut [MaybeUninit<NestAccess>],
    (rows, count): (*const NestRow, u32),
    (values, bases): (*const u64, *const ModuleBases),
) -> Option<&[NestAccess]> {
    let mut used = 0;
    for number in 0..count as usize {
        // SAFETY: the caller's promise.
        let Some(access) = (unsafe { (*rows.add(number)).access(values, &*bases) }) else { continue };
        room.get_mut(used)?.write(access);
        used += 1;
    }
    // SAFETY: the first `used` were written; the layouts are the same.
    Some(unsafe { slice::from_raw_parts(room.as_ptr().cast(), used) })
}

/// The accesses of a loop's table, and how many iterations they make of each of the loop's; `None`: more than there can
/// be.
///
/// # Safety
/// `rows` is a table of `count` rows, `values` and `bases` what it was made for.
#[inline(always)]
pub unsafe fn of_loop(
    room: &mut [MaybeUninit<Access>],
    (rows, count): (*const LoopRow, u32),
    (values, bases): (*const u64, *const ModuleBases),
) -> Option<(&[Access], u64)> {
    let mut is_astride = false;
    for number in 0..count as usize {
        // SAFETY: the caller's promise.
        let access = unsafe { (*rows.add(number)).access(values, &*bases) };
        is_astride |= access.piece().is_some();
        room.get_mut(number)?.write(access);
    }
    let (mut used, mut times) = (count as usize, 1);
    if is_astride {
        (used, times) = put_back(room, used)?;
    }
    // SAFETY: the first `used` were written; the layouts are the same.
    Some((unsafe { slice::from_raw_parts(room.as_ptr().cast(), used) }, times))
}

/// Puts the pieces of the first `used` accesses back. How many accesses there are then, and how many iterations they
/// make of one.
#[inline(never)]
fn put_back(room: &mut [MaybeUninit<Access>], used: usize) -> Option<(usize, u64)> {
    let mut before = [const { MaybeUninit::<Access>::uninit() }; MOST_ACCESSES];
    for (place, access) in before.get_mut(..used)?.iter_mut().zip(room.iter()) {
        *place = *access;
    }
    // SAFETY: the caller has written the first `used`; the layouts are the same.
    let before: &[Access] = unsafe { slice::from_raw_parts(before.as_ptr().cast(), used) };
    if let Some(log2) = times_log2(before) {
        for (place, access) in room.iter_mut().zip(before) {
            let (bytes, stride) = (access.bytes >> log2, access.stride >> log2);
            place.write(Access { bytes, stride, flags: access.flags & !PIECES, ..*access });
        }
        return Some((used, 1 << log2));
    }
    let mut used = 0;
    for access in before {
        let (bytes, mut from) = (access.piece().unwrap_or(access.bytes), 0);
        while from < access.bytes {
            let address = access.address.wrapping_add(from.into());
            room.get_mut(used)?.write(Access { address, bytes, flags: access.flags & !PIECES, ..*access });
            used += 1;
            from = from.saturating_add(bytes);
        }
    }
    Some((used, 1))
}

/// Of how many pieces each access is, as a power of two, if all go through memory without gaps, and none comes to a
/// granule in an iteration that another line's or a write comes to in the same or the next one: then what each finds
/// does not depend on which of an iteration's pieces come first.
fn times_log2(accesses: &[Access]) -> Option<u32> {
    let (bytes, piece) = accesses.iter().find_map(|access| Some((access.bytes, access.piece()?)))?;
    let log2 = bytes.trailing_zeros().checked_sub(piece.trailing_zeros()).filter(|log2| piece << log2 == bytes)?;
    let is_row = |access: &Access| {
        let piece = access.bytes >> log2;
        let whole = piece << log2 == access.bytes && u64::from(piece).is_multiple_of(GRANULE);
        whole && access.stride == i64::from(access.bytes) && access.piece().is_none_or(|bytes| bytes == piece)
    };
    let are_apart = |one: &Access, other: &Access| {
        let reach = one.bytes.max(other.bytes);
        let is_one_line = one.site == other.site && (one.flags | other.flags) & WRITE == 0;
        is_one_line || one.address.abs_diff(other.address) >= 2 * u64::from(reach) + GRANULE
    };
    let mut pairs = accesses.iter().enumerate().flat_map(|(n, one)| accesses.iter().take(n).map(move |two| (one, two)));
    let fits = accesses.len() <= MOST_COMPARED && accesses.iter().all(is_row);
    (fits && pairs.all(|(one, other)| are_apart(one, other))).then_some(log2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn access(address: u64, bytes: u32, piece: Option<u64>, site: u32) -> Access {
        let flags = piece.and_then(threadtalk_abi::loops::pieces).unwrap_or(0);
        Access { address, stride: bytes.into(), bytes, flags, site, window: 0 }
    }

    /// Address, stride and bytes.
    type Short = (u64, i64, u32);

    fn put_back(accesses: &[Access]) -> Option<(Vec<Short>, u64)> {
        let mut room = [const { MaybeUninit::uninit() }; MOST_ACCESSES];
        for (place, access) in room.iter_mut().zip(accesses) {
            place.write(*access);
        }
        let (used, times) = super::put_back(&mut room, accesses.len())?;
        // SAFETY: written above or by what is tested.
        let all = room.iter().take(used).map(|access| unsafe { access.assume_init() });
        let all = all.inspect(|access| assert_eq!(access.flags & PIECES, 0));
        Some((all.map(|access| (access.address, access.stride, access.bytes)).collect(), times))
    }

    #[test]
    fn rows_move_by_a_piece() {
        let row = access(4098, 32, Some(8), 1);
        assert_eq!(put_back(&[row]), Some(([(4098, 8, 8)].to_vec(), 4)));
        // Beside a row of whole granules, and at one line as near as can be.
        let others = [row, access(4102, 32, Some(8), 1), access(8192, 32, None, 2)];
        assert_eq!(put_back(&others), Some(([(4098, 8, 8), (4102, 8, 8), (8192, 8, 8)].to_vec(), 4)));
    }

    #[test]
    fn pieces_with_gaps_or_near_other_lines_are_accesses_by_themselves() {
        let row = access(4098, 16, Some(8), 1);
        let pieces = |stride| [(4098, stride, 8), (4106, stride, 8)];
        assert_eq!(put_back(&[Access { stride: 64, ..row }]), Some((pieces(64).to_vec(), 1)));
        let near = |other: Access| {
            let mut expected = pieces(16).to_vec();
            expected.push((other.address, other.stride, other.bytes));
            assert_eq!(put_back(&[row, other]), Some((expected, 1)), "{other:?}");
        };
        near(access(4128, 16, None, 2));
        near(Access { flags: WRITE, ..access(4128, 16, None, 1) });
        // What has another size cannot move as often.
        near(access(8192, 4, None, 1));
    }

    #[test]
    fn more_pieces_than_there_is_room_for_are_none() {
        let rows: Vec<Access> = (0..9).map(|n| access(4097 + 1024 * n, 64, Some(4), 1)).collect();
        assert!(put_back(&rows).is_none() && put_back(&rows[..4]).is_some());
    }
}
