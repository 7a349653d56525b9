//! The run in slices.

use std::collections::HashMap;
use std::ops::Range;

use super::Cells;
use super::pieces::Piece;

/// Slices at most between cuts: more than a reader tells apart. Cuts come on top.
const SLICES: u64 = 64;
/// Cuts at most.
const CUTS: usize = 4096;

/// A part of the run, times in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    pub from: u64,
    pub to: u64,
    pub cells: Cells,
    pub at_barrier: bool,
}

/// Cuts the run. Pieces come by the moment they begin.
///
/// Where no piece reaches from before to after, all counts are exactly on one side. Elsewhere a piece that lies in
/// several slices is spread over them in proportion to time, in whole events that add up.
pub fn cut(pieces: &[Piece]) -> Vec<Cut> {
    let stretches = join(stretches(pieces));
    let begin = stretches.first().map_or(0, |s| s.from);
    let end = stretches.last().map_or(0, |s| s.to);
    let width = (end - begin).div_ceil(SLICES).max(1);
    stretches.into_iter().flat_map(|stretch| slices(&pieces[stretch.pieces.clone()], &stretch, width)).collect()
}

/// Pieces that hang together in time.
struct Stretch {
    pieces: Range<usize>,
    from: u64,
    to: u64,
    at_barrier: bool,
}

fn stretches(pieces: &[Piece]) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for (index, p) in pieces.iter().enumerate() {
        match found.last_mut() {
            // One of no duration belongs to what ends where it is.
            Some(last) if p.from < last.to || p.until == last.to => {
                last.pieces.end = index + 1;
                last.to = last.to.max(p.until);
                last.at_barrier |= p.at_barrier;
            }
            _ => found.push(Stretch { pieces: index..index + 1, from: p.from, to: p.until, at_barrier: p.at_barrier }),
        }
    }
    found
}

/// Of too many cuts, gives up those that come sooner after the last one than [`CUTS`] equal parts of the run would.
fn join(stretches: Vec<Stretch>) -> Vec<Stretch> {
    let (Some(first), Some(last)) = (stretches.first(), stretches.last()) else { return stretches };
    if stretches.len() <= CUTS {
        return stretches;
    }
    let least = (last.to - first.from).div_ceil(CUTS as u64);
    let mut joined: Vec<Stretch> = Vec::new();
    for next in stretches {
        match joined.last_mut() {
            Some(last) if next.from - last.from < least => {
                last.pieces.end = next.pieces.end;
                (last.to, last.at_barrier) = (next.to, next.at_barrier);
            }
            _ => joined.push(next),
        }
    }
    joined
}

fn slices(pieces: &[Piece], stretch: &Stretch, width: u64) -> Vec<Cut> {
    let length = stretch.to - stretch.from;
    // Where each reader has one piece of time, nothing tells when in it something happened: as between two meetings at
    // a barrier, however the threads took turns.
    let mut periods = HashMap::new();
    let is_one = pieces.iter().all(|p| *periods.entry(p.reader).or_insert((p.from, p.to)) == (p.from, p.to));
    let count = if is_one { 1 } else { length.div_ceil(width).max(1) };
    let edge = |k: u64| stretch.from + (u128::from(length) * u128::from(k) / u128::from(count)) as u64;
    let empty = |k: u64| Cut {
        from: edge(k),
        to: edge(k + 1),
        cells: Cells::new(),
        at_barrier: stretch.at_barrier && k + 1 == count,
    };
    let mut cuts: Vec<Cut> = (0..count).map(empty).collect();
    for p in pieces {
        let first = cuts.partition_point(|c| c.to <= p.from).min(cuts.len() - 1);
        let mut before = (0, 0);
        for cut in &mut cuts[first..] {
            let upto = |events: u64| share(events, p, cut.to);
            let reached = (upto(p.raw), upto(p.rar));
            let here = (reached.0 - before.0, reached.1 - before.1);
            before = reached;
            if here != (0, 0) {
                let cell = cut.cells.entry((p.writer, p.reader)).or_default();
                *cell = (cell.0.saturating_add(here.0), cell.1.saturating_add(here.1));
            }
            if cut.to >= p.to {
                break;
            }
        }
    }
    cuts
}

/// How many of the events of a piece were before a moment, if they came evenly; all at its end.
fn share(events: u64, p: &Piece, moment: u64) -> u64 {
    if moment >= p.to {
        return events;
    }
    let (done, all) = (moment.saturating_sub(p.from), p.to - p.from);
    (u128::from(events) * u128::from(done) / u128::from(all)) as u64
}
