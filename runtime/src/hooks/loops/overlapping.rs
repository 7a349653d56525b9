//! Rows of which one reads what another one has read some iterations before: the neighbours of a stencil, a block
//! beside the next, a signal beside itself a little later.
//!
//! The one ahead comes to each element first; for the others that is reuse. So rows are read some iterations at a time,
//! the one ahead before those behind it. What they make of each element is what it is in the loop; reads of different
//! elements may change places within a block, so that distances are off by that much.

use super::period::{self, Period, Turns};
use super::row::in_parts;
use super::{Span, dense, stream};
use crate::process::Process;
use crate::thread::Thread;
use core::slice;
use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::Access;

/// Bytes of a row that are read before the next row's: as much as those of a row that is read downwards.
const BLOCK: u64 = 256 * GRANULE;

/// Whether of two [rows](is_row) that share granules each element has the same first reader in blocks as in the loop.
pub fn are_in_step(one: &Access, other: &Access) -> bool {
    // Nearer ones come to some granules in one iteration, where it is their places in the body that tell.
    let far = one.address.abs_diff(other.address) >= one.stride.unsigned_abs() + GRANULE - 1;
    one.stride == other.stride && (far || one.site == other.site)
}

/// Whether a row can be read.
pub fn is_row(access: &Access, iterations: u64) -> bool {
    access.stride > 0 && (dense(access) || in_parts(access).is_some() && of_parts(access, iterations).is_some())
}

/// Reads these accesses, which are rows, those that share granules [in step](are_in_step).
pub fn read<'a>(t: &mut Thread, p: &Process, accesses: impl Iterator<Item = &'a Access> + Clone, iterations: u64) {
    let Some(stride) = accesses.clone().map(|access| access.stride.unsigned_abs()).max() else { return };
    let block = BLOCK.checked_div(stride).unwrap_or(1).max(1);
    let mut at = 0;
    while at < iterations {
        let some = block.min(iterations - at);
        // By falling addresses, of which there are few.
        let mut before = u64::MAX;
        while let Some(ahead) = accesses.clone().map(|a| a.address).filter(|address| *address < before).max() {
            for access in accesses.clone().filter(|access| access.address == ahead) {
                read_row(t, p, &Access { address: access.address_in(at), ..*access }, some);
            }
            before = ahead;
        }
        at += some;
    }
}

/// Reads a row from its begin to its end.
pub fn read_row(t: &mut Thread, p: &Process, access: &Access, iterations: u64) {
    if dense(access) {
        if let Some(span) = Span::of(access, iterations) {
            stream(t, p, (span.first, span.last + 1), access.site);
        }
    } else if let Some(turns) = of_parts(access, iterations) {
        period::stream(t, p, &Period::of(turns));
    }
}

/// A row in which granules are read piece by piece.
fn of_parts(access: &Access, iterations: u64) -> Option<Turns<'_>> {
    Turns::of(slice::from_ref(access), iterations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    fn access(address: u64, bytes: u32, site: u32) -> Access {
        Access { address, stride: bytes.into(), bytes, flags: 0, site, window: 0 }
    }

    /// Who reads each granule first: by running the loop, or row by row in blocks of `block` iterations.
    fn first(accesses: &[Access], iterations: u64, block: Option<u64>) -> BTreeMap<u64, u32> {
        let mut first = BTreeMap::new();
        let mut read = |access: &Access, iteration: u64| {
            let from = access.address_in(iteration);
            for granule in from / GRANULE..=(from + u64::from(access.bytes) - 1) / GRANULE {
                first.entry(granule).or_insert(access.site);
            }
        };
        let Some(block) = block else {
            (0..iterations).for_each(|iteration| accesses.iter().for_each(|access| read(access, iteration)));
            return first;
        };
        let mut ahead: Vec<_> = accesses.to_vec();
        ahead.sort_by_key(|access| core::cmp::Reverse(access.address));
        for from in (0..iterations).step_by(block as usize) {
            for access in &ahead {
                (from..(from + block).min(iterations)).for_each(|iteration| read(access, iteration));
            }
        }
        first
    }

    #[test]
    fn first_readers_in_blocks_are_those_of_the_loop() {
        let mut rng = fastrand::Rng::with_seed(21);
        let mut in_step = 0;
        for _ in 0..20_000 {
            let bytes = [1, 2, 4, 8, 16][rng.usize(0..5)];
            let unit = if bytes == 2 { 2 } else { 1 };
            let mut next = |site| access(4096 + unit * rng.u64(0..60), bytes, site);
            let accesses = [next(1), next(2)];
            let (iterations, block) = (rng.u64(1..40), rng.u64(1..12));
            if are_in_step(&accesses[0], &accesses[1]) {
                in_step += 1;
                let expected = first(&accesses, iterations, None);
                assert_eq!(first(&accesses, iterations, Some(block)), expected, "{accesses:?} {iterations} {block}");
            }
        }
        assert!(in_step > 4000, "{in_step}");
    }

    #[test]
    fn rows_of_other_strides_and_lines_that_are_near_are_not_in_step() {
        let row = access(4096, 16, 1);
        assert!(are_in_step(&row, &access(4097, 16, 1)), "one line");
        assert!(!are_in_step(&row, &access(4097, 16, 2)) && are_in_step(&row, &access(4096 + 19, 16, 2)));
        assert!(!are_in_step(&row, &access(4096, 8, 1)) && !are_in_step(&row, &Access { stride: 32, ..row }));
        assert!(!are_in_step(&row, &Access { stride: -16, ..row }));
    }
}
