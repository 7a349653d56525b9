//! The writes of a whole loop, so that each element keeps the line that wrote it last.
//!
//! They are stored access by access, not iteration by iteration. Of two lines that write the same element that makes a
//! difference: `a[i] = x;` and on the next line `a[i + 1] = y;` leave the first line's id in all elements but one.

use super::{Span, write};
use crate::process::Process;
use crate::thread::Thread;
use threadtalk_abi::loops::{Access, WRITE};

fn all(accesses: &[Access]) -> impl Iterator<Item = &Access> {
    accesses.iter().filter(|access| access.flags & WRITE != 0)
}

/// Whether no two lines write the same element but for accesses that move in step, whose order [`store`] knows.
pub fn can_be_ordered(accesses: &[Access], iterations: u64) -> bool {
    let may_meet = |one: &Access, other: &Access| match (Span::of(one, iterations), Span::of(other, iterations)) {
        (Some(one), Some(other)) => one.meets(other),
        _ => true,
    };
    let in_order = |one: &Access, other: &Access| {
        let in_step = one.stride == other.stride && one.stride != 0;
        one.site == other.site || in_step || !may_meet(one, other)
    };
    all(accesses).enumerate().all(|(number, one)| all(accesses).take(number).all(|other| in_order(one, other)))
}

/// Stores what the loop's writes leave: of those in step first the ones that are ahead. An element that several of them
/// write is written last by the one that comes to it last. (Parts of granules keep the order of the accesses.)
pub fn store(t: &mut Thread, p: &Process, accesses: &[Access], iterations: u64) {
    let Some(first) = all(accesses).next() else { return };
    if all(accesses).all(|access| access.site == first.site) {
        all(accesses).for_each(|access| write(t, p, access, iterations));
        return;
    }
    let ahead = |access: &Access| if access.stride < 0 { !access.address } else { access.address };
    let mut stored = 0u64;
    // Of those at one address the first one.
    let next = |stored: u64| {
        let is_left = |(access, number): &(&Access, u32)| access.flags & WRITE != 0 && stored >> number & 1 == 0;
        let left = accesses.iter().zip(0..).filter(is_left);
        left.reduce(|one, other| if ahead(other.0) > ahead(one.0) { other } else { one })
    };
    while let Some((access, number)) = next(stored) {
        write(t, p, access, iterations);
        stored |= 1 << number;
    }
}
