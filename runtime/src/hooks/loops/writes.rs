//! The writes of a whole loop, so that each element keeps the line that wrote it last.
//!
//! They are stored access by access, not iteration by iteration. Of two lines that write the same element that makes a
//! difference: `a[i] = x;` and on the next line `a[i + 1] = y;` leave the first line's id in all elements but one.

use super::{Span, write};
use crate::process::Process;
use crate::thread::Thread;
use threadtalk_abi::loops::{Access, PLACE_SHIFT, WRITE};

/// How two lines write the same element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meeting {
    /// They do not.
    Never,
    /// In the same iteration: a structure, and one of its members.
    InOneIteration,
    /// In different ones: the one that is behind comes to it later.
    OneBehind,
    /// In another way.
    Unordered,
}

/// How two writes of a loop meet. (Of parts of granules only bytes that both write count.)
fn meeting(one: &Access, other: &Access, iterations: u64) -> Meeting {
    let (Some(span), Some(other_span)) = (Span::of(one, iterations), Span::of(other, iterations)) else {
        return Meeting::Unordered;
    };
    if one.site == other.site || !span.meets(other_span) {
        return Meeting::Never;
    }
    // Of one that overlaps with itself, too, it is not the distance alone that tells.
    let stride = one.stride.unsigned_abs();
    let wide = |access: &Access| stride != 0 && u64::from(access.bytes) > stride;
    if one.stride != other.stride || wide(one) || wide(other) {
        return Meeting::Unordered;
    }
    let (low, high) = if one.address <= other.address { (one, other) } else { (other, one) };
    let distance = high.address - low.address;
    let at_once = distance < u64::from(low.bytes);
    // So many iterations later the one behind has come to where the other one was.
    let later = distance.saturating_sub(u64::from(low.bytes)).checked_div(stride).map(|whole| whole + 1);
    let behind = later.is_some_and(|n| n < iterations && n * stride < distance + u64::from(high.bytes));
    match (at_once, behind) {
        (false, false) => Meeting::Never,
        (true, false) => Meeting::InOneIteration,
        (false, true) => Meeting::OneBehind,
        (true, true) => Meeting::Unordered,
    }
}

fn place(access: &Access) -> u32 {
    access.flags >> PLACE_SHIFT
}

/// The writes with their numbers.
fn all(accesses: &[Access]) -> impl Iterator<Item = (&Access, u32)> {
    accesses.iter().zip(0..).filter(|(access, _)| access.flags & WRITE != 0)
}

fn any_pair(accesses: &[Access], is: impl Fn(&Access, &Access) -> bool) -> bool {
    all(accesses).any(|(one, number)| all(accesses).take_while(|(_, n)| *n < number).any(|(other, _)| is(one, other)))
}

/// Whether [`store`] knows in which order elements are written that several lines write.
pub fn can_be_ordered(accesses: &[Access], iterations: u64) -> bool {
    !any_pair(accesses, |one, other| meeting(one, other, iterations) == Meeting::Unordered)
}

/// Stores what the loop's writes leave. An element that several of them write is written last by the one that comes to
/// it last.
pub fn store(t: &mut Thread, p: &Process, accesses: &[Access], iterations: u64) {
    in_order(accesses, iterations, |access| write(t, p, access, iterations));
}

fn in_order(accesses: &[Access], iterations: u64, mut write: impl FnMut(&Access)) {
    if !any_pair(accesses, |one, other| meeting(one, other, iterations) != Meeting::Never) {
        return all(accesses).for_each(|(access, _)| write(access));
    }
    // Whether one is to be stored before another one.
    let precedes =
        |(one, number): (&Access, u32), (other, other_number): (&Access, u32)| match meeting(one, other, iterations) {
            Meeting::InOneIteration => (place(one), number) < (place(other), other_number),
            Meeting::OneBehind => (one.address > other.address) == (one.stride > 0),
            Meeting::Never | Meeting::Unordered => false,
        };
    let mut stored = 0u64;
    loop {
        let left = || all(accesses).filter(|(_, number)| stored >> number & 1 == 0);
        let is_free = |next: &(&Access, u32)| !left().any(|other| other.1 != next.1 && precedes(other, *next));
        // Where each of a few waits for another one there is no order: as they are described.
        let Some((access, number)) = left().find(is_free).or_else(|| left().next()) else { break };
        write(access);
        stored |= 1 << number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use std::collections::BTreeMap;
    use std::vec::Vec;
    use threadtalk_abi::GRANULE;

    fn granules(access: &Access, iteration: u64) -> impl Iterator<Item = u64> + use<> {
        let first = access.address.wrapping_add_signed(access.stride * iteration as i64);
        (first..first + u64::from(access.bytes)).step_by(GRANULE as usize)
    }

    /// Who writes each granule last, iteration by iteration.
    fn by_iterations(accesses: &[Access], iterations: u64) -> BTreeMap<u64, u32> {
        let mut last = BTreeMap::new();
        for iteration in 0..iterations {
            for access in accesses {
                last.extend(granules(access, iteration).map(|granule| (granule, access.site)));
            }
        }
        last
    }

    fn by_accesses(accesses: &[Access], iterations: u64) -> BTreeMap<u64, u32> {
        let mut last = BTreeMap::new();
        in_order(accesses, iterations, |access| {
            for iteration in 0..iterations {
                last.extend(granules(access, iteration).map(|granule| (granule, access.site)));
            }
        });
        last
    }

    #[test]
    fn elements_keep_the_line_that_wrote_them_last() {
        let mut rng = Rng::with_seed(9);
        let (mut ordered, mut met) = (0, 0);
        for _ in 0..40_000 {
            let stride = [4, 8, 8, 16, 24, -4, -8, -16, 0][rng.usize(0..9)];
            let mut access = |site| {
                let stride = if rng.u8(0..8) == 0 { 4 * rng.i64(-4..5) } else { stride };
                let bytes = [4, 4, 8, 8, 16, 24][rng.usize(0..6)];
                Access { address: 4096 + 4 * rng.u64(0..30), stride, bytes, flags: WRITE, site, window: 0 }
            };
            let accesses: Vec<Access> = (0..2).map(&mut access).collect();
            let iterations = rng.u64(1..12);
            if can_be_ordered(&accesses, iterations) {
                ordered += 1;
                met += u32::from(any_pair(&accesses, |a, b| meeting(a, b, iterations) != Meeting::Never));
                assert_eq!(
                    by_accesses(&accesses, iterations),
                    by_iterations(&accesses, iterations),
                    "{accesses:?} {iterations}"
                );
            }
        }
        assert!(ordered > 10_000 && met > 5_000, "{ordered} {met}");
    }

    #[test]
    fn lines_side_by_side_never_meet_and_a_member_follows_its_structure() {
        let write = |address, bytes, site| Access { address, stride: 24, bytes, flags: WRITE, site, window: 0 };
        let (x, y, whole) = (write(4096, 8, 1), write(4104, 8, 2), write(4096, 24, 3));
        assert_eq!(meeting(&x, &y, 100), Meeting::Never);
        assert_eq!(meeting(&y, &whole, 100), Meeting::InOneIteration);
        assert_eq!(meeting(&x, &write(4096 + 48, 8, 2), 100), Meeting::OneBehind);
        assert_eq!(meeting(&x, &write(4096 + 48, 8, 2), 2), Meeting::Never);
        assert_eq!(meeting(&whole, &write(4112, 24, 2), 100), Meeting::Unordered);
        let elsewhere = Access { stride: 8, ..x };
        assert!(!can_be_ordered(&[whole, elsewhere], 100) && can_be_ordered(&[x, y, whole], 100));
        // By address the member comes first; in the body it does not.
        let last = Access { flags: WRITE | 1 << PLACE_SHIFT, ..x };
        let mut order = Vec::new();
        in_order(&[last, whole], 100, |access| order.push(access.site));
        assert_eq!(order, [3, 1]);
    }
}
