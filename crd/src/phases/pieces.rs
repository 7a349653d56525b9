//! What each thread read of each other one, piece by piece in time.

use std::collections::HashMap;
use threadtalk_profile::Profile;
use threadtalk_profile::layout::PhaseEnd;

/// Events of one pair of threads between two moments, in nanoseconds after the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub writer: u32,
    pub reader: u32,
    pub from: u64,
    pub to: u64,
    pub raw: u64,
    pub rar: u64,
    /// When those whom the reader waited for at its end were there, too; else `to`.
    pub until: u64,
    /// It ends where the reader waited for others.
    pub at_barrier: bool,
}

/// The pieces of a profile. The last one of each pair is what the event records have and no piece before: from the
/// reader's last set to its end. So the pieces of a pair add up to its events, unless a damaged profile has more in its
/// pieces than in its records.
pub fn of(profile: &Profile) -> Vec<Piece> {
    let mut left: HashMap<(u32, u32), (u64, u64)> = HashMap::new();
    for e in profile.events() {
        let sum = left.entry((e.writer, e.reader)).or_default();
        *sum = (sum.0.saturating_add(e.raw), sum.1.saturating_add(e.rar));
    }
    // A meeting is over when the last has arrived.
    let mut meetings: HashMap<u64, u64> = HashMap::new();
    for p in profile.phases().filter(|p| p.meeting != 0) {
        let end = meetings.entry(p.meeting).or_default();
        *end = (*end).max(p.to_ns);
    }
    let mut last: HashMap<u32, u64> = HashMap::new();
    let mut pieces = Vec::new();
    for p in profile.phases() {
        // What is more than the records have is not there.
        let rest = left.entry((p.writer, p.reader)).or_default();
        let (raw, rar) = (p.raw.min(rest.0), p.rar.min(rest.1));
        *rest = (rest.0 - raw, rest.1 - rar);
        let end = last.entry(p.reader).or_default();
        *end = (*end).max(p.to_ns);
        let (from, to) = (p.from_ns, p.to_ns);
        let until = meetings.get(&p.meeting).map_or(to, |end| *end);
        let at_barrier = p.end == PhaseEnd::Barrier;
        pieces.push(Piece { writer: p.writer, reader: p.reader, from, to, until, raw, rar, at_barrier });
    }
    let lives: HashMap<u32, (u64, Option<u64>)> =
        profile.threads().iter().map(|t| (t.id, (t.start_ns, t.end_ns))).collect();
    // A file whose process was killed has no end: it lies after all that is known.
    let known = pieces.iter().map(|p| p.to).chain(lives.values().map(|life| life.1.unwrap_or(life.0))).max();
    let run = profile.header().duration_ns.unwrap_or(0).max(known.unwrap_or(0));
    for ((writer, reader), (raw, rar)) in left.into_iter().filter(|(_, rest)| *rest != (0, 0)) {
        let (start, end) = lives.get(&reader).copied().unwrap_or((0, None));
        let from = last.get(&reader).copied().unwrap_or(start);
        let to = end.unwrap_or(run).max(from);
        pieces.push(Piece { writer, reader, from, to, until: to, raw, rar, at_barrier: false });
    }
    pieces.sort_unstable_by_key(|p| (p.from, p.to, p.writer, p.reader));
    pieces
}
