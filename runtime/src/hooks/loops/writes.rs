//! The writes of a whole loop, so that each element keeps the line that wrote it last.
//!
//! They are stored access by access, not iteration by iteration. Of two lines that write the same element that makes a
//! difference: `a[i] = x;` and on the next line `a[i + 1] = y;` leave the first line's id in all elements but one.

use super::Span;
use super::ids::write;
use crate::process::Process;
use crate::thread::Thread;
use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::{Access, WRITE};

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

/// Begin and length of what a write leaves its id in: of granules, or of halves of one, what it touches, if that is as
/// much in each iteration; else its bytes.
fn marked(access: &Access) -> (u64, u64) {
    let unit = 1 << access.stride.trailing_zeros().min(GRANULE.trailing_zeros());
    let first = access.address & !(unit - 1);
    (first, (access.address - first + u64::from(access.bytes)).next_multiple_of(unit))
}

/// Whether it writes parts of granules that a granule's next part follows in another iteration.
fn is_partial(access: &Access) -> bool {
    access.stride % GRANULE as i64 != 0
}

/// Whether two writes of parts that are further apart than half a granule may share granules though they never write
/// the same bytes: each is the last by turns. (What both write in one iteration, or one so many iterations later, is in
/// the order of that.)
fn take_turns((low, low_bytes): (u64, u64), (high, high_bytes): (u64, u64), stride: u64) -> bool {
    let behind = (high - low) % stride.max(1);
    let gaps = [behind.saturating_sub(low_bytes), stride.saturating_sub(behind + high_bytes)];
    stride > GRANULE / 2 && (behind, low_bytes) != (0, high_bytes) && gaps.iter().any(|gap| *gap < GRANULE - 1)
}

/// How two writes of a loop meet.
fn meeting(one: &Access, other: &Access, iterations: u64) -> Meeting {
    let (Some(span), Some(other_span)) = (Span::of(one, iterations), Span::of(other, iterations)) else {
        return Meeting::Unordered;
    };
    if one.site == other.site || !span.meets(other_span) {
        return Meeting::Never;
    }
    // Of one that overlaps with itself, too, it is not the distance alone that tells.
    let stride = one.stride.unsigned_abs();
    let (one_marked, other_marked) = (marked(one), marked(other));
    let wide = |(_, bytes): (u64, u64)| stride != 0 && bytes > stride;
    if one.stride != other.stride || wide(one_marked) || wide(other_marked) {
        return Meeting::Unordered;
    }
    let (lower, higher) = (one_marked.min(other_marked), one_marked.max(other_marked));
    if is_partial(one) && take_turns(lower, higher, stride) {
        return Meeting::Unordered;
    }
    let ((low, low_bytes), (high, high_bytes)) = (lower, higher);
    let distance = high - low;
    let at_once = distance < low_bytes;
    // So many iterations later the one behind has come to where the other one was.
    let later = distance.saturating_sub(low_bytes).checked_div(stride).map(|whole| whole + 1);
    let behind = later.is_some_and(|n| n < iterations && n * stride < distance + high_bytes);
    match (at_once, behind) {
        // The one behind ends in a granule that the other one began in.
        (false, false) if is_partial(one) => Meeting::OneBehind,
        (false, false) => Meeting::Never,
        (true, false) => Meeting::InOneIteration,
        (false, true) => Meeting::OneBehind,
        (true, true) => Meeting::Unordered,
    }
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
    in_order(accesses, iterations, |access, iterations| write(t, p, access, iterations));
}

/// Calls `write` with accesses and how many iterations of them.
fn in_order(accesses: &[Access], iterations: u64, mut write: impl FnMut(&Access, u64)) {
    if !any_pair(accesses, |one, other| meeting(one, other, iterations) != Meeting::Never) {
        return all(accesses).for_each(|(access, _)| write(access, iterations));
    }
    // Whether one is to be stored before another one.
    let precedes =
        |(one, number): (&Access, u32), (other, other_number): (&Access, u32)| match meeting(one, other, iterations) {
            Meeting::InOneIteration => (one.place(), number) < (other.place(), other_number),
            Meeting::OneBehind => (one.address > other.address) == (one.stride > 0),
            Meeting::Never | Meeting::Unordered => false,
        };
    let next = |stored: u64| {
        let left = || all(accesses).filter(move |(_, number)| stored >> number & 1 == 0);
        let is_free = |next: &(&Access, u32)| !left().any(|other| other.1 != next.1 && precedes(other, *next));
        // Where each of a few waits for another one there is no order: as they are described.
        left().find(is_free).or_else(|| left().next())
    };
    one_by_one(next, |access| write(access, iterations));
    if all(accesses).any(|(access, _)| is_partial(access)) {
        end_in_order(accesses, iterations, |access| write(access, 1));
    }
}

/// Calls `write` with what comes next, given a bit for each that was written, until nothing does.
fn one_by_one<'a>(next: impl Fn(u64) -> Option<(&'a Access, u32)>, mut write: impl FnMut(&Access)) {
    let mut written = 0;
    while let Some((access, number)) = next(written) {
        write(access);
        written |= 1 << number;
    }
}

/// Writes of parts once more, as far back as they may share a granule with what the loop wrote last: the one ahead has
/// not left the granule that the loop ends in.
fn end_in_order(accesses: &[Access], iterations: u64, mut write: impl FnMut(&Access)) {
    let next = |written: u64| {
        let left = all(accesses).filter(|(access, number)| is_partial(access) && written >> number & 1 == 0);
        left.min_by_key(|(access, number)| (access.place(), *number))
    };
    for iteration in iterations.saturating_sub(GRANULE)..iterations {
        one_by_one(next, |access| {
            write(&Access { address: access.address_in(iteration), ..*access });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;
    use std::collections::BTreeMap;
    use std::vec::Vec;
    use threadtalk_abi::GRANULE;
    use threadtalk_abi::loops::Order;

    fn granules(access: &Access, iteration: u64) -> impl Iterator<Item = u64> + use<> {
        let first = access.address_in(iteration);
        (first & !(GRANULE - 1)..first + u64::from(access.bytes)).step_by(GRANULE as usize)
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
        in_order(accesses, iterations, |access, iterations| {
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
            let stride = [4, 8, 8, 16, 24, -4, -8, -16, 0, 1, -1, 2, 2, -2, 3, 3, 5, -6, 7, 18][rng.usize(0..20)];
            let mut access = |site| {
                let stride = if rng.u8(0..8) == 0 { 4 * rng.i64(-4..5) } else { stride };
                let narrow = if stride % 4 == 0 { 8 } else { stride.unsigned_abs() as u32 };
                let (granule, place) =
                    (4096 + GRANULE * rng.u64(0..30), Order { last: site as u8, ..Order::default() }.flags());
                let (byte, bytes) = match stride % 4 == 0 && rng.bool() {
                    true => (0, [4, 8, 8, 16, 24][rng.usize(0..5)]),
                    false => (rng.u64(0..4), [1, 1, 2, 8][rng.usize(0..4)].min(narrow)),
                };
                Access { address: granule + byte, stride, bytes, flags: WRITE | place, site, window: 0 }
            };
            let accesses: Vec<Access> = (0..2).map(&mut access).collect();
            let described: Vec<Access> =
                if rng.bool() { accesses.iter().rev().copied().collect() } else { accesses.clone() };
            let iterations = rng.u64(1..12);
            if can_be_ordered(&described, iterations) {
                ordered += 1;
                met += u32::from(any_pair(&accesses, |a, b| meeting(a, b, iterations) != Meeting::Never));
                assert_eq!(
                    by_accesses(&described, iterations),
                    by_iterations(&accesses, iterations),
                    "{accesses:?} {iterations}"
                );
            }
        }
        assert!(ordered > 10_000 && met > 4_000, "{ordered} {met}");
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
        let last = Access { flags: WRITE | Order { last: 1, ..Order::default() }.flags(), ..x };
        let mut order = Vec::new();
        in_order(&[last, whole], 100, |access, _| order.push(access.site));
        assert_eq!(order, [3, 1]);
    }
}
