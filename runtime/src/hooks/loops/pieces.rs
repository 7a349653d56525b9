//! Accesses that read a piece of a row in each iteration, apart from the others: a block's part of a matrix.

use super::Span;
use super::findings::Findings;
use super::reads::Reader;
use crate::process::Process;
use crate::thread::Thread;
use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::Access;

/// Bytes of a piece, at least: one takes as long as an access with a hook.
const LEAST_PIECE: u32 = 32;

/// Where the access begins in each iteration.
pub fn pieces(access: &Access, iterations: u64) -> impl Iterator<Item = u64> {
    let access = *access;
    (0..iterations).map(move |iteration| access.address_in(iteration))
}

/// Whether the access reads whole granules upwards, each once, and long enough pieces of them.
pub fn is_in_pieces(access: &Access) -> bool {
    let bytes = u64::from(access.bytes);
    let is_whole = [access.address, bytes, access.stride as u64].iter().all(|n| n.is_multiple_of(GRANULE));
    access.bytes >= LEAST_PIECE && access.stride > i64::from(access.bytes) && is_whole
}

/// The events of an access whose pieces are far apart. Returns the number of ranges that are known to have none.
pub fn look(
    t: &mut Thread,
    p: &Process,
    (access, number): (&Access, u32),
    iterations: u64,
    mut ranges: u64,
    found: &mut Findings,
) -> u64 {
    let granules = u64::from(access.bytes) / GRANULE;
    for address in pieces(access, iterations) {
        let piece = Access { address, stride: GRANULE as i64, bytes: GRANULE as u32, ..*access };
        let all = Span::of(&piece, granules).is_some_and(|span| {
            let mut reader = Reader::new((t, p), (&piece, number), (span, granules), ranges);
            let all = reader.look(None, found).is_ok();
            ranges = reader.ranges;
            all
        });
        if !all {
            found.give_up();
            break;
        }
    }
    ranges
}
