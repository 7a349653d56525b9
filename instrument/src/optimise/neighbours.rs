//! Joins accesses of neighbouring addresses at one line: the pieces of an unrolled loop, the fields of a vector.
//!
//! Two sequences of 16 bytes cost twice what one of 32 costs. Accesses of one direction and site whose bytes follow
//! each other become one, at the place of the last of them. Each piece consists of whole granules, so the events are
//! the same as before, as long as nothing between a piece and that place can touch the piece's bytes and would have to
//! come after it: for a write any access, for a read a write, or a read at another line, which might have been the
//! first one. Members of an object have one site by then ([`super::members`]).

use super::segment::{Segments, plain};
use crate::access::{Access, Direction, Event, LONGEST, Plan, Worth};
use crate::llvm::analysis::Analysis;
use crate::llvm::loops::Loops;
use crate::tables::Tables;
use inkwell::values::InstructionValue;
use std::collections::HashSet;
use threadtalk_abi::module::VARIABLE_STRIDE;

/// Groups that are open at a time: those used last. Keeps the work linear.
const MOST_OPEN: usize = 4;
/// Accesses of a group: a line of bytes in 4-byte pieces.
const MOST_PIECES: usize = 16;

/// An access that may become part of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    /// Number of the event.
    event: usize,
    /// Bytes from the group's leader.
    first: i64,
    bytes: u64,
}

struct Group<'ctx> {
    leader: usize,
    event: usize,
    /// Its pieces may add up to any length: there are no memos, whose sequences are for powers of two.
    any_length: bool,
    pieces: Vec<Piece>,
    instructions: Vec<InstructionValue<'ctx>>,
}

/// Joins them in the plan; returns how many accesses became part of others.
pub fn run<'ctx>(plan: &mut Plan<'ctx>, analysis: &mut Analysis, tables: &Tables) -> usize {
    let segments = Segments::find(&plan.events);
    let accesses: Vec<usize> = (0..plan.events.len()).filter(|&i| plain(&plan.events[i]).is_some()).collect();
    let pointers: Vec<_> = accesses
        .iter()
        .filter_map(|&i| Some((plain(&plan.events[i])?.1.pointer, segments.of(&plan.events[i])? as u32)))
        .collect();
    if pointers.len() < 2 || pointers.len() != accesses.len() {
        return 0;
    }
    let distances = analysis.distances(&pointers);
    let mut distance_of = vec![None; plan.events.len()];
    for (k, distance) in distances.into_iter().enumerate() {
        distance_of[accesses[k]] = Some(distance);
    }

    // Beside loops stand fields that were written one by one: as one access they would be in several states.
    let loops = Loops::find(plan.function);
    let repeats = |event: &Event<'ctx>| {
        loops.all.is_empty() || event.inst.get_parent().is_some_and(|block| loops.innermost(block).is_some())
    };

    let lasts = |event: &Event<'ctx>| {
        let innermost = event.inst.get_parent().and_then(|block| loops.innermost(block));
        loops.chain(innermost).any(|number| !plan.brief.holds(&loops, number))
    };

    let mut joined: Vec<Vec<Piece>> = Vec::new();
    let mut open: Vec<Group<'ctx>> = Vec::new();
    let mut segment = None;
    for (number, event) in plan.events.iter().enumerate() {
        let here = segments.of(event);
        let access = plain(event);
        if here != segment || access.is_none() {
            open.drain(..).for_each(|group| joined.extend(runs(group.pieces, group.any_length)));
            segment = here;
        }
        let (Some((direction, access)), Some((leader, first))) = (access, distance_of[number]) else { continue };
        let bytes = access.bytes;
        let joinable = event.worth > Worth::Call && access.is_whole() && access.is_inlined() && repeats(event);
        let same = |group: &Group<'ctx>| {
            let other = &plan.events[group.event];
            joinable
                && group.leader == leader
                && (other.site, other.worth) == (event.site, event.worth)
                && plain(other).is_some_and(|(d, _)| d == direction)
                && group.pieces.len() < MOST_PIECES
                && group.pieces.iter().all(|p| p.first + p.bytes as i64 <= first || first + bytes as i64 <= p.first)
        };
        let own = open.iter().position(same);
        let mut place = 0;
        open.retain_mut(|group| {
            place += 1;
            let other = &plan.events[group.event];
            let reads = direction == Direction::Read && plain(other).is_some_and(|(d, _)| d == Direction::Read);
            let keeps = own == Some(place - 1)
                || reads && tables.line(other.site) == tables.line(event.site)
                || group.instructions.iter().all(|&i| analysis.disjoint(i, event.inst));
            if !keeps {
                joined.extend(runs(std::mem::take(&mut group.pieces), group.any_length));
            }
            keeps
        });
        if !joinable {
            continue;
        }
        let piece = Piece { event: number, first, bytes };
        match open.iter_mut().find(|group| same(group)) {
            Some(group) => {
                group.pieces.push(piece);
                group.instructions.push(event.inst);
            }
            None => {
                if open.len() == MOST_OPEN {
                    let first = open.remove(0);
                    joined.extend(runs(first.pieces, first.any_length));
                }
                let (pieces, instructions) = (vec![piece], vec![event.inst]);
                open.push(Group { leader, event: number, any_length: !lasts(event), pieces, instructions });
            }
        }
    }
    open.into_iter().for_each(|group| joined.extend(runs(group.pieces, group.any_length)));
    joined.retain(|run| !has_gaps(run, plan, &loops, analysis));
    replace(plan, &joined)
}

/// Whether a run of reads leaves memory out between two iterations of a loop that may run long, as far as is known.
/// Then its pieces are fields of structures, which may have been written at lines of their own, and no unrolled stream.
/// To test two own values instead of one costs less than to settle one read of several states.
fn has_gaps(run: &[Piece], plan: &Plan<'_>, loops: &Loops<'_>, analysis: &mut Analysis) -> bool {
    let Some(event) = run.first().map(|piece| &plan.events[piece.event]) else { return false };
    let (Some((Direction::Read, access)), Some(block)) = (plain(event), event.inst.get_parent()) else { return false };
    if loops.innermost(block).is_none_or(|innermost| plan.brief.holds(loops, innermost)) {
        return false;
    }
    let bytes: u64 = run.iter().map(|piece| piece.bytes).sum();
    let (stride, _) = analysis.strides(access.pointer, block);
    // Rows of an array whose length is known only when the program runs are no structures.
    stride != VARIABLE_STRIDE && (stride == 0 || u64::from(stride.unsigned_abs()) > bytes)
}

/// Runs of pieces without gaps, each of a length that is inlined. Pieces without neighbours are in none.
fn runs(mut pieces: Vec<Piece>, any_length: bool) -> Vec<Vec<Piece>> {
    pieces.sort_by_key(|p| p.first);
    let mut out: Vec<Vec<Piece>> = Vec::new();
    let mut rest = pieces.as_slice();
    while let [first, ..] = rest {
        // The longest beginning that is without gaps and has a length with a sequence.
        let (mut bytes, mut take) = (0, 1);
        for (n, piece) in rest.iter().enumerate() {
            if piece.first != first.first + bytes as i64 {
                break;
            }
            bytes += piece.bytes;
            if (any_length || bytes.is_power_of_two()) && bytes <= LONGEST {
                take = n + 1;
            }
        }
        if take > 1 {
            out.push(rest[..take].to_vec());
        }
        rest = &rest[take..];
    }
    out
}

/// Puts one access in the place of each run's last event.
fn replace(plan: &mut Plan<'_>, joined: &[Vec<Piece>]) -> usize {
    let mut gone = HashSet::new();
    for run in joined {
        let (Some(lowest), Some(last)) = (run.first(), run.iter().map(|p| p.event).max()) else { continue };
        let Some((direction, access)) = plain(&plan.events[lowest.event]).map(|(d, a)| (d, *a)) else { continue };
        let whole = Access { bytes: run.iter().map(|p| p.bytes).sum(), ..access };
        plan.events[last].action = crate::access::Action::Plain(direction, whole);
        gone.extend(run.iter().map(|p| p.event).filter(|&e| e != last));
    }
    let mut number = 0;
    plan.events.retain(|_| {
        number += 1;
        !gone.contains(&(number - 1))
    });
    gone.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(list: &[(i64, u64)]) -> Vec<Piece> {
        list.iter().enumerate().map(|(event, &(first, bytes))| Piece { event, first, bytes }).collect()
    }

    fn lengths(list: &[(i64, u64)]) -> Vec<(i64, u64)> {
        lengths_of(list, false)
    }

    fn lengths_of(list: &[(i64, u64)], any_length: bool) -> Vec<(i64, u64)> {
        runs(pieces(list), any_length).iter().map(|run| (run[0].first, run.iter().map(|p| p.bytes).sum())).collect()
    }

    #[test]
    fn pieces_of_an_unrolled_loop_are_one_whatever_their_order() {
        assert_eq!(lengths(&[(16, 8), (0, 8), (24, 8), (8, 8)]), [(0, 32)]);
        assert_eq!(lengths(&[(-16, 16), (0, 16)]), [(-16, 32)]);
    }

    #[test]
    fn only_lengths_with_a_sequence_are_made() {
        // Three coordinates: two and one.
        assert_eq!(lengths(&[(0, 8), (8, 8), (16, 8)]), [(0, 16)]);
        assert_eq!(lengths(&[(0, 64), (64, 64)]), []);
        assert_eq!(lengths(&[(0, 4), (4, 8), (12, 4)]), [(0, 16)]);
    }

    #[test]
    fn without_memos_any_length_is_made() {
        assert_eq!(lengths_of(&[(0, 8), (8, 8), (16, 8)], true), [(0, 24)]);
        assert_eq!(lengths_of(&[(0, 40), (40, 40)], true), []);
        assert_eq!(lengths_of(&[(0, 24), (24, 40), (64, 4), (68, 8)], true), [(0, 64), (64, 12)]);
    }

    #[test]
    fn gaps_part() {
        assert_eq!(lengths(&[(0, 8), (12, 4), (16, 16), (32, 16)]), [(16, 32)]);
        assert_eq!(lengths(&[(0, 8), (16, 8)]), []);
    }
}
