//! Loops over parts of granules that were unrolled, described as they were before.
//!
//! Unrolled four times, a loop over bytes makes four accesses to each granule in an iteration, which cannot be joined:
//! each is a read of its own. In the loop as it was they are one access, which moves by a byte: a row, of which the
//! runtime knows more than of accesses that take turns.

use super::whole_loops::{Strand, mark_first_reads};
use threadtalk_abi::loops::Order;

/// The accesses of a loop's body, if its iterations are several of a shorter one, and how many. `stride`: the constant
/// one of a leader.
pub fn rolled(strands: &[Strand], stride: impl Fn(usize) -> Option<i64>) -> Option<(Vec<Strand>, u64)> {
    if strands.iter().all(|strand| strand.whole) {
        return None;
    }
    let is_body = |length: &usize| {
        let times = (strands.len() / length) as i64;
        let is_next = |(one, next): (&Strand, &Strand)| {
            let step = stride(one.leader).filter(|stride| stride % times == 0).map(|stride| stride / times);
            let again = Strand { order: one.order, reads_first: one.reads_first, ..next.clone() };
            step.is_some_and(|step| again == Strand { first: one.first + step, ..one.clone() })
        };
        strands.len().is_multiple_of(*length) && strands.iter().zip(&strands[*length..]).all(is_next)
    };
    let length = (1..=strands.len() / 2).find(is_body)?;
    let mut body = strands[..length].to_vec();
    for (place, strand) in body.iter_mut().enumerate() {
        strand.order = Order { first: place as u8, last: place as u8, ..strand.order };
        strand.reads_first = false;
    }
    mark_first_reads(&mut body);
    Some((body, (strands.len() / length) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Direction::{self, Read, Write};
    use crate::tables::SiteId;

    fn body(accesses: &[(Direction, usize, i64, u64)]) -> Vec<Strand> {
        let strand = |(&(direction, leader, first, bytes), place): (&(Direction, usize, i64, u64), u8)| Strand {
            direction,
            site: SiteId(leader as u32),
            leader,
            first,
            bytes,
            whole: bytes >= 4,
            aligned: true,
            piece: bytes,
            order: Order { first: place, last: place, group: leader as u8 },
            reads_first: false,
        };
        let mut body: Vec<Strand> = accesses.iter().zip(0..).map(strand).collect();
        mark_first_reads(&mut body);
        body
    }

    #[test]
    fn a_body_that_repeats_a_step_later_is_what_it_repeats() {
        // out[i] = a[i] * b[2 * i], unrolled twice
        let twice =
            [(Read, 0, 0, 2), (Read, 1, 0, 1), (Write, 2, 0, 4), (Read, 0, 2, 2), (Read, 1, 2, 1), (Write, 2, 4, 4)];
        let stride = |leader| Some([4, 4, 8][leader]);
        let (once, times) = rolled(&body(&twice), stride).unwrap();
        assert_eq!((once, times), (body(&twice[..3]), 2));
        // Downwards, four times: as short as can be.
        let downwards = [0, -1, -2, -3].map(|first| (Read, 0, first, 1));
        let (once, times) = rolled(&body(&downwards), |_| Some(-4)).unwrap();
        assert_eq!((once, times), (body(&downwards[..1]), 4));
    }

    #[test]
    fn what_does_not_repeat_or_has_gaps_stays_as_it_is() {
        let bytes = [0, 1, 2, 3].map(|first| (Read, 0, first, 1));
        assert!(rolled(&body(&bytes), |_| Some(8)).is_none(), "a gap behind the fourth");
        assert!(rolled(&body(&bytes), |_| None).is_none(), "a stride that is not known");
        assert!(rolled(&body(&bytes[..3]), |_| Some(4)).is_none(), "three of four");
        let turned = [(Read, 0, 1, 1), (Read, 0, 0, 1)];
        assert!(rolled(&body(&turned), |_| Some(2)).is_none(), "another order");
        let lines = [(Read, 0, 0, 1), (Read, 1, 1, 1)];
        assert!(rolled(&body(&lines), |_| Some(2)).is_none(), "two lines");
        let whole = [(Read, 0, 0, 4), (Read, 0, 4, 4)];
        assert!(rolled(&body(&whole), |_| Some(8)).is_none(), "whole granules are joined");
    }

    #[test]
    fn what_is_read_before_it_is_written_is_so_in_each_iteration() {
        let update = [(Read, 0, 0, 1), (Write, 0, 0, 1), (Read, 0, 1, 1), (Write, 0, 1, 1)];
        let (once, _) = rolled(&body(&update), |_| Some(2)).unwrap();
        assert_eq!(
            once.iter().map(|s| (s.direction, s.reads_first)).collect::<Vec<_>>(),
            [(Read, true), (Write, false)]
        );
    }
}
