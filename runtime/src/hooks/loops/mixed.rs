//! Rows whose elements are in several states, as many threads have written them in turns or as members of structures:
//! the events of some hundred granules at once, summed up by state.

use super::halves::{self, Part};
use super::plain;
use crate::hooks::access::read_cell;
use crate::hooks::event::{Event, Reads, event, reads_of_alike};
use crate::hooks::scan::equal_prefix;
use crate::process::Process;
use crate::thread::Thread;
use core::sync::atomic::AtomicU32;
use threadtalk_abi::GRANULE;
use threadtalk_sigmem::mixed::{MOST_STATES, Mixed};
use threadtalk_sigmem::{Member, MemberRead};

/// Granules that are worth it: with 16 threads a row has a mark every so often, at which a look ends.
pub const LEAST: usize = 8;
/// Granules from the first one on that tell whether a row may be of this kind.
const TELLING: usize = 8;

/// Whether neighbours may be in several states.
#[inline]
pub fn may_be(cells: &[AtomicU32]) -> bool {
    let Some(telling) = cells.get(..TELLING).filter(|_| cells.len() >= LEAST) else { return false };
    let telling = plain(telling);
    telling.first().is_some_and(|first| equal_prefix(telling, *first) < TELLING)
}

/// The reads of neighbouring granules from `element` on, each once at `site`: how many were read; less than [`LEAST`]
/// were not worth it.
pub fn read(t: &mut Thread, p: &Process, cells: &[AtomicU32], element: u64, site: u32) -> usize {
    let mut mixed = Mixed::new();
    let read = t.view.read_mixed(&p.states, cells, &mut mixed);
    if read == 0 {
        return 0;
    }
    p.claims.touch(element, element + read as u64 * GRANULE);
    let numbers = |(from, n): Part| mixed.numbers().get(from..from + n).unwrap_or(&[]);
    let element_of = |from: usize| element + from as u64 * GRANULE;
    let whole = |t: &mut Thread, part: Part| {
        let (from, n) = part;
        let counts = if n == read { *mixed.counts() } else { count(numbers(part)) };
        let mut reads = [Reads::NONE; MOST_STATES];
        reads_of_alike(t, p, (element_of(from), n as u64), sums(mixed.members(), &counts, site, &mut reads))
    };
    let each = |t: &mut Thread, part: Part| {
        let elements = (element_of(part.0)..).step_by(GRANULE as usize);
        let cells = cells.iter().skip(part.0).zip(elements);
        for (at, number) in cells.zip(numbers(part)) {
            if let Some(member) = mixed.members().get(usize::from(*number)) {
                one(t, p, at, site, *member);
            }
        }
    };
    halves::count(t, (read, 1), whole, each);
    read
}

/// Reads of granules of which so many are what each of the members says.
fn sums<'a>(
    members: &[Member],
    counts: &[u64; MOST_STATES],
    site: u32,
    room: &'a mut [Reads; MOST_STATES],
) -> &'a [Reads] {
    let mut used = 0;
    for (member, &count) in members.iter().zip(counts) {
        let (raw, rar) = match member.read {
            MemberRead::Nothing => continue,
            MemberRead::Communication => (count, 0),
            MemberRead::Reuse => (0, count),
        };
        if count > 0
            && let Some(reads) = room.get_mut(used)
        {
            *reads = Reads { state: member.state, writer: member.writer, site, raw, rar };
            used += 1;
        }
    }
    room.get(..used).unwrap_or(&[])
}

/// How often each number is there.
fn count(numbers: &[u8]) -> [u64; MOST_STATES] {
    let mut counts = [0; MOST_STATES];
    for number in numbers {
        if let Some(count) = counts.get_mut(usize::from(*number)) {
            *count += 1;
        }
    }
    counts
}

/// The read of a granule that is what `member` says, and has been made.
fn one(t: &mut Thread, p: &Process, (cell, element): (&AtomicU32, u64), site: u32, member: Member) {
    let Member { writer, state, read, .. } = member;
    match read {
        MemberRead::Nothing => {}
        MemberRead::Communication => {
            event(t, p, cell, element, site, (writer, Event { state, tracked: false, raw: true }));
        }
        MemberRead::Reuse => read_cell(t, p, cell, element, site),
    }
}
