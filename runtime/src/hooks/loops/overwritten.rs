//! Reads of what the same loop writes. Events are found in the state that the cells are in before the loop: of an
//! element that it has written by the time it reads it there is none.

use super::Span;
use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::{Access, Order, READ_FIRST, WRITE};

/// Whether a read may find in some of `span`, which is part of what it reads, what the loop itself has written.
pub fn is_overwritten(read: &Access, span: Span, accesses: &[Access], iterations: u64) -> bool {
    let mut writes = accesses.iter().filter(|access| access.flags & WRITE != 0);
    writes.any(|write| {
        let meets = Span::of(write, iterations).is_none_or(|written| written.meets(span));
        meets && !is_read_first(read, write)
    })
}

/// Whether each granule that both come to is read before it is written, as by an update in place.
fn is_read_first(read: &Access, write: &Access) -> bool {
    let whole = |address: u64| address & !(GRANULE - 1);
    let Some(stride) = u64::try_from(read.stride).ok().filter(|s| *s > 0 && s.is_multiple_of(GRANULE)) else {
        return false;
    };
    // In an iteration the write ends at or before where the next one's read begins, so that it writes nothing that is
    // yet to be read ...
    let begin = whole(read.address);
    let end = whole(write.address.saturating_add(u64::from(write.bytes) + GRANULE - 1));
    let (reading, writing) = (Order::of(read.flags), Order::of(write.flags));
    let in_step = read.flags & READ_FIRST != 0 && reading.group == writing.group;
    // ... and nothing that this one is yet to read.
    read.stride == write.stride
        && end <= begin.saturating_add(stride)
        && (end <= begin || in_step || reading.last < writing.first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    /// By running the loop: whether a granule is read after it was written.
    fn by_running(read: &Access, write: &Access, is_first: bool, iterations: u64) -> bool {
        let granules = |access: &Access, iteration: u64| {
            let from = access.address_in(iteration);
            from / GRANULE..=(from + u64::from(access.bytes) - 1) / GRANULE
        };
        let mut written = std::collections::BTreeSet::new();
        (0..iterations).any(|iteration| {
            if !is_first {
                written.extend(granules(write, iteration));
            }
            let is_own = granules(read, iteration).any(|granule| written.contains(&granule));
            written.extend(granules(write, iteration));
            is_own
        })
    }

    #[test]
    fn what_is_said_to_be_read_first_is() {
        let mut rng = Rng::with_seed(5);
        let (mut first, mut own) = (0, 0);
        for _ in 0..40_000 {
            let stride = [4, 8, 8, 16, 24, 2, 1, 6, -8, 0][rng.usize(0..10)];
            let reads_first = rng.bool();
            let (one, other) = if reads_first { (0, 1) } else { (1, 0) };
            let mut access = |flags, place| Access {
                address: 4096 + if rng.u8(0..4) == 0 { rng.u64(0..40) } else { 4 * rng.u64(0..10) },
                stride: if rng.u8(0..8) == 0 { 4 } else { stride },
                bytes: [1, 4, 8, 8, 16][rng.usize(0..5)],
                flags: flags | Order { first: place, last: place, group: 0 }.flags(),
                site: 1,
                window: 0,
            };
            let (read, write) = (access(0, one), access(WRITE, other));
            let iterations = rng.u64(1..9);
            let span = Span::of(&read, iterations).unwrap();
            let found = is_overwritten(&read, span, &[read, write], iterations);
            let expected = by_running(&read, &write, reads_first, iterations);
            assert!(found || !expected, "{read:?} {write:?} {iterations}");
            let meets = Span::of(&write, iterations).unwrap().meets(span);
            first += u32::from(meets && !found);
            own += u32::from(expected);
        }
        assert!(first > 1_000 && own > 10_000, "{first} {own}");
    }

    #[test]
    fn an_unrolled_update_in_place_is_read_first_only_if_the_pass_says_so() {
        let access = |flags, order: Order| {
            let flags = flags | order.flags();
            Access { address: 4096, stride: 16, bytes: 16, flags, site: 1, window: 0 }
        };
        let (reading, writing) = (Order { first: 0, last: 2, group: 3 }, Order { first: 1, last: 3, group: 3 });
        let is = |read: Access, write: Access| is_overwritten(&read, Span::of(&read, 9).unwrap(), &[read, write], 9);
        assert!(is(access(0, reading), access(WRITE, writing)));
        assert!(!is(access(READ_FIRST, reading), access(WRITE, writing)));
        assert!(is(access(READ_FIRST, reading), access(WRITE, Order { group: 4, ..writing })), "another pointer");
        assert!(is(access(0, Order::default()), access(WRITE, Order::default())), "older object files");
    }
}
