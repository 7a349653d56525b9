//! Sheaves: reads that move in step, so near each other that one look serves them all.
//!
//! *Members* lie side by side within a stride: members of structures at lines of their own, or elements that a
//! vectorised loop reads one by one. *Rows* overlap in all but their ends: the neighbours that a stencil reads.

use super::pieces::is_in_pieces;
use super::reads::NEAR;
use super::{Span, dense};
use crate::thread::quiet::Pattern;
use threadtalk_abi::loops::{Access, LEAST_READ, WRITE};

/// Bytes from one row's begin to the next one's, at most.
const NEXT_ROW: u64 = 64;

/// Bytes of an iteration that are looked at by themselves: what takes as long as a look is eight accesses of two
/// granules.
const WIDE: u32 = 128;

/// What belongs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One access.
    One,
    /// Accesses side by side within a stride.
    Members,
    /// Accesses that all cover their spans, which overlap.
    Rows,
}

/// Accesses of a loop.
pub struct Sheaf<'a> {
    /// By their addresses.
    pub accesses: &'a [Access],
    /// How they lie.
    pub shape: Shape,
}

/// The accesses of a loop, cut into sheaves. Writes are alone.
pub fn all(accesses: &[Access], iterations: u64) -> impl Iterator<Item = Sheaf<'_>> {
    let mut rest = accesses;
    core::iter::from_fn(move || {
        let (length, shape) = first(rest, iterations);
        let (accesses, others) = rest.split_at_checked(length)?;
        rest = others;
        (!accesses.is_empty()).then_some(Sheaf { accesses, shape })
    })
}

/// How many accesses from the start are one sheaf, and how they lie.
#[inline(always)]
pub fn first(accesses: &[Access], iterations: u64) -> (usize, Shape) {
    let Some((head, others)) = accesses.split_first() else { return (0, Shape::One) };
    let stride = head.stride.unsigned_abs();
    // Most are far from the next one.
    let near =
        |next: &&Access| next.address.wrapping_sub(head.address) <= stride.max(NEXT_ROW) && is_in_step(head, next);
    let Some(next) = others.first().filter(near) else { return (1, Shape::One) };
    if end(head, next) <= stride {
        let members = others.iter().take_while(|access| is_in_step(head, access) && end(head, access) <= stride);
        return (1 + members.count(), Shape::Members);
    }
    let reach = NEXT_ROW.min(stride.saturating_mul(iterations));
    if stride == 0 || !dense(head) || next.address - head.address > reach {
        return (1, Shape::One);
    }
    let follows = |(before, access): &(&Access, &Access)| {
        is_in_step(before, access) && dense(access) && access.address - before.address <= reach
    };
    (1 + accesses.iter().zip(others).take_while(follows).count(), Shape::Rows)
}

/// Whether both read, with one stride, the other one not before this one.
#[inline]
fn is_in_step(access: &Access, other: &Access) -> bool {
    other.stride == access.stride && (access.flags | other.flags) & WRITE == 0 && other.address >= access.address
}

/// Bytes from an access's begin to the end of another one.
#[inline]
fn end(head: &Access, access: &Access) -> u64 {
    (access.address - head.address).saturating_add(u64::from(access.bytes))
}

impl Sheaf<'_> {
    /// Whether so little of what it spans is read that it is better not looked at.
    pub fn is_loose(&self) -> bool {
        self.is_sparse() && self.pieces().is_none()
    }

    /// Its access, if that reads so little of what it spans, but so much in each iteration, that each piece is looked
    /// at by itself.
    pub fn pieces(&self) -> Option<&Access> {
        let access = self.accesses.first().filter(|_| self.shape == Shape::One)?;
        (access.bytes >= WIDE && is_in_pieces(access) && self.is_sparse()).then_some(access)
    }

    fn is_sparse(&self) -> bool {
        let Some(head) = self.accesses.first() else { return false };
        let stride = head.stride.unsigned_abs();
        head.flags & WRITE == 0
            && stride > NEAR
            && stride > LEAST_READ * self.accesses.iter().map(|access| u64::from(access.bytes)).sum::<u64>()
    }

    /// All that the accesses span, and what they read of it.
    pub fn hull(&self, iterations: u64) -> Option<(Span, Pattern)> {
        let head = self.accesses.first()?;
        let bytes = self.accesses.iter().map(|access| end(head, access)).max()?;
        let span = Span::with(head, bytes, iterations)?;
        let pattern = match self.shape {
            Shape::One => Pattern::of(head, span.first),
            Shape::Members => Pattern::of_all(self.accesses, span.first),
            Shape::Rows => Pattern::ALL,
        };
        Some((span, pattern))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn read(address: u64, stride: i64, bytes: u32) -> Access {
        Access { address, stride, bytes, flags: 0, site: 1, window: 0 }
    }

    fn shapes(accesses: &[Access]) -> Vec<(usize, Shape)> {
        all(accesses, 100).map(|sheaf| (sheaf.accesses.len(), sheaf.shape)).collect()
    }

    #[test]
    fn members_are_those_within_a_stride_and_the_next_structure_is_another_sheaf() {
        let members = [400, 408, 424, 440].map(|at| read(at, 40, 8));
        assert_eq!(shapes(&members), [(3, Shape::Members), (1, Shape::One)]);
        let backwards = [400, 408, 424].map(|at| read(at, -40, 8));
        let sheaf = Sheaf { accesses: &backwards, shape: Shape::Members };
        let (span, _) = sheaf.hull(3).unwrap();
        assert_eq!((shapes(&backwards), span.first, span.last), ([(3, Shape::Members)].to_vec(), 320, 431));
    }

    #[test]
    fn neighbours_of_a_stencil_are_rows_and_what_lies_farther_is_not() {
        let stencil = [392, 400, 408, 800, 808].map(|at| read(at, 8, 8));
        assert_eq!(shapes(&stencil), [(3, Shape::Rows), (2, Shape::Rows)]);
        assert_eq!(all(&stencil, 1).count(), 1 + 1, "rows of one element touch");
        assert_eq!(shapes(&[read(400, 0, 8), read(408, 0, 8)]), [(1, Shape::One); 2]);
        assert_eq!(shapes(&[read(402, 8, 8), read(410, 8, 8)]), [(1, Shape::One); 2], "parts of granules");
    }

    #[test]
    fn writes_and_other_strides_are_alone() {
        let write = Access { flags: WRITE, ..read(408, 40, 8) };
        assert_eq!(shapes(&[read(400, 40, 8), write, read(416, 40, 8)]), [(1, Shape::One); 3]);
        assert_eq!(shapes(&[read(400, 40, 8), read(408, 48, 8)]), [(1, Shape::One); 2]);
    }

    #[test]
    fn what_is_read_sparsely_is_loose() {
        let loose = |accesses: &[Access]| all(accesses, 100).any(|sheaf| sheaf.is_loose());
        assert!(!loose(&[read(400, 64, 8)]) && loose(&[read(400, 72, 8)]));
        assert!(!loose(&[read(400, 72, 24), read(432, 72, 16)]) && loose(&[read(400, 72, 24), read(432, 72, 8)]));
        assert!(!loose(&[Access { flags: WRITE, ..read(400, 4096, 8) }]));
        assert!(!loose(&[read(400, 4096, 128)]) && loose(&[read(400, 4096, 120)]) && loose(&[read(400, -4096, 128)]));
        let pieces = |access| all(&[access], 100).any(|sheaf| sheaf.pieces().is_some());
        assert!(pieces(read(400, 4096, 128)) && !pieces(read(400, 256, 128)), "half of it is looked at as a whole");
    }
}
