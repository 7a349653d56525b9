//! Files of processes that run or were killed.

mod sample;

use std::mem::{offset_of, size_of};
use threadtalk_profile::layout::{BLOCK_MAGIC, BlockHeader, LiveVisits, NO_THREAD, UNIT, block};
use threadtalk_profile::{Profile, State, Visit};

fn unsealed() -> Vec<u8> {
    let mut contents = sample::contents();
    contents.header.state = State::Running;
    contents.encode()
}

/// A block as the runtime lays it down.
fn append(bytes: &mut Vec<u8>, magic: u32, kind: u16, payload: &[u8]) {
    let start = bytes.len();
    bytes.resize(start + UNIT as usize, 0);
    let b = &mut bytes[start..];
    b[offset_of!(BlockHeader, magic)..][..4].copy_from_slice(&magic.to_le_bytes());
    b[offset_of!(BlockHeader, kind)..][..2].copy_from_slice(&kind.to_le_bytes());
    b[offset_of!(BlockHeader, version)..][..2].copy_from_slice(&1u16.to_le_bytes());
    b[offset_of!(BlockHeader, units)..][..4].copy_from_slice(&1u32.to_le_bytes());
    b[offset_of!(BlockHeader, used)..][..8].copy_from_slice(&(payload.len() as u64).to_le_bytes());
    b[size_of::<BlockHeader>()..][..payload.len()].copy_from_slice(payload);
}

fn counters(thread: u32, counts: &[u64]) -> Vec<u8> {
    let mut payload = thread.to_le_bytes().to_vec();
    payload.extend_from_slice(&(counts.len() as u32).to_le_bytes());
    assert_eq!(payload.len(), size_of::<LiveVisits>());
    payload.extend(counts.iter().flat_map(|c| c.to_le_bytes()));
    payload
}

#[test]
fn what_was_reserved_and_not_filled_is_skipped() {
    let mut bytes = unsealed();
    bytes.resize(bytes.len() + 3 * UNIT as usize, 0);
    append(&mut bytes, 0, block::EVENTS, &[0x5a; 640]);
    append(&mut bytes, BLOCK_MAGIC, block::META, b"late\0yes\0");
    let profile = Profile::from_bytes(&bytes).unwrap();
    assert_eq!(profile.meta().last().unwrap(), &("late".to_owned(), "yes".to_owned()));
    assert_eq!(profile.events_len(), sample::contents().events.len());
}

#[test]
fn visits_of_live_threads_join_those_of_ended_ones() {
    let mut bytes = unsealed();
    append(&mut bytes, BLOCK_MAGIC, block::LIVE_VISITS, &counters(0, &[0, 7, 0, 8]));
    append(&mut bytes, BLOCK_MAGIC, block::LIVE_VISITS, &counters(NO_THREAD, &[9, 9]));
    let profile = Profile::from_bytes(&bytes).unwrap();
    let visit = |thread, region, count| Visit { thread, region, count };
    let mut expected = sample::contents().visits;
    expected.extend([visit(0, 1, 7), visit(0, 3, 8)]);
    assert_eq!(profile.visits().collect::<Vec<_>>(), expected);
}
