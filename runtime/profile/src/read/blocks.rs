//! The chain of blocks.

use std::mem::size_of;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

use super::record::field;
use crate::error::ErrorKind;
use crate::layout::{
    AllocationRecord, BLOCK_MAGIC, BlockHeader, BlockedRecord, BucketPage, CodeRecord, CountRecord, EventRecord,
    InstanceRecord, LevelRecord, NodeRecord, ObjectEventRecord, PhaseRecord, PrivateRecord, SharedLineRecord,
    ThreadRecord, TraceRecord, UNIT, UserRegionRecord, VisitRecord, WrittenSiteRecord, block,
};

/// A block whose header was checked.
#[derive(Clone, Debug)]
pub struct Block {
    /// One of [`block`].
    pub kind: u16,
    /// Where in the file it begins.
    pub offset: usize,
    /// Where in the file its payload is; whole records.
    pub payload: Range<usize>,
}

impl Block {
    /// An error about this block.
    pub fn damaged(&self, what: impl Into<String>) -> ErrorKind {
        ErrorKind::Damaged { block: name(self.kind), offset: self.offset as u64, what: what.into() }
    }
}

/// All blocks of the file in order. `sealed`: also compares checksums.
pub fn walk(bytes: &[u8], sealed: bool) -> Result<Vec<Block>, ErrorKind> {
    let unit = UNIT as usize;
    let mut blocks = Vec::new();
    let mut offset = unit;
    while offset < bytes.len() {
        let rest = &bytes[offset..];
        if rest.len() < size_of::<BlockHeader>() {
            if rest.iter().all(|b| *b == 0) {
                break;
            }
            return Err(truncated(offset, size_of::<BlockHeader>(), bytes));
        }
        let units = field!(rest, BlockHeader, units) as usize;
        let length = units.saturating_mul(unit);
        match field!(rest, BlockHeader, magic) {
            BLOCK_MAGIC => {
                let found = check(bytes, offset, length, sealed)?;
                blocks.push(found);
                offset += length;
            }
            // Reserved, not filled when the process ended. Its length is there as soon as it is longer than a unit.
            0 if length <= rest.len() => offset += length.max(unit),
            0 => return Err(truncated(offset, length, bytes)),
            _ => return Err(damaged(0, offset, "no block begins here")),
        }
    }
    Ok(blocks)
}

fn check(bytes: &[u8], offset: usize, length: usize, sealed: bool) -> Result<Block, ErrorKind> {
    let rest = &bytes[offset..];
    let kind = field!(rest, BlockHeader, kind);
    if name(kind) == name(0) {
        return Err(damaged(kind, offset, &format!("unknown kind {kind}")));
    }
    let version = field!(rest, BlockHeader, version);
    if version != 1 {
        return Err(damaged(kind, offset, &format!("unknown version {version}")));
    }
    if length == 0 {
        return Err(damaged(kind, offset, "it has no length"));
    }
    if length > rest.len() {
        return Err(truncated(offset, length, bytes));
    }
    let used = field!(rest, BlockHeader, used);
    let room = length - size_of::<BlockHeader>();
    let used = usize::try_from(used).ok().filter(|u| *u <= room);
    let used = used.ok_or_else(|| damaged(kind, offset, "its contents are longer than itself"))?;
    if let Some(size) = record_size(kind) {
        if field!(rest, BlockHeader, record_size) as usize != size {
            return Err(damaged(kind, offset, "records of another size"));
        }
        if !used.is_multiple_of(size) {
            return Err(damaged(kind, offset, "it ends inside a record"));
        }
    }
    let start = offset + size_of::<BlockHeader>();
    let payload = start..start + used;
    let checksum = field!(rest, BlockHeader, checksum);
    // The runtime writes 1 for a checksum of 0, which means "none".
    if sealed && checksum != 0 && checksum != xxh3_64(&bytes[payload.clone()]).max(1) {
        return Err(damaged(kind, offset, "its checksum does not fit its contents"));
    }
    Ok(Block { kind, offset, payload })
}

/// What a kind of block is called in messages.
pub fn name(kind: u16) -> &'static str {
    match kind {
        block::META => "meta block",
        block::MODULE => "module block",
        block::THREADS => "thread block",
        block::EVENTS => "event block",
        block::LIVE_VISITS => "live visit block",
        block::VISITS => "visit block",
        block::TRACES => "trace block",
        block::BUCKETS => "bucket block",
        block::PRIVATE => "private bytes block",
        block::USER_REGIONS => "user region block",
        block::PHASES => "phase block",
        block::COUNTS => "count block",
        block::NODES => "call tree block",
        block::INSTANCES => "instance block",
        block::BLOCKED => "blocked time block",
        block::LEVELS => "level block",
        block::CODE => "code block",
        block::ALLOCATIONS => "allocation block",
        block::OBJECT_EVENTS => "object event block",
        block::SHARED_LINES => "shared line block",
        block::WRITTEN_SITES => "written site block",
        block::SERIAL_SITES => "serial site block",
        _ => "block",
    }
}

/// Bytes of a record of the kinds that are arrays.
pub const fn record_size(kind: u16) -> Option<usize> {
    match kind {
        block::THREADS => Some(size_of::<ThreadRecord>()),
        block::EVENTS => Some(size_of::<EventRecord>()),
        block::VISITS => Some(size_of::<VisitRecord>()),
        block::TRACES => Some(size_of::<TraceRecord>()),
        block::BUCKETS => Some(size_of::<BucketPage>()),
        block::PRIVATE => Some(size_of::<PrivateRecord>()),
        block::USER_REGIONS => Some(size_of::<UserRegionRecord>()),
        block::PHASES => Some(size_of::<PhaseRecord>()),
        block::COUNTS => Some(size_of::<CountRecord>()),
        block::NODES => Some(size_of::<NodeRecord>()),
        block::INSTANCES => Some(size_of::<InstanceRecord>()),
        block::BLOCKED => Some(size_of::<BlockedRecord>()),
        block::LEVELS => Some(size_of::<LevelRecord>()),
        block::CODE => Some(size_of::<CodeRecord>()),
        block::ALLOCATIONS => Some(size_of::<AllocationRecord>()),
        block::OBJECT_EVENTS => Some(size_of::<ObjectEventRecord>()),
        block::SHARED_LINES => Some(size_of::<SharedLineRecord>()),
        block::WRITTEN_SITES | block::SERIAL_SITES => Some(size_of::<WrittenSiteRecord>()),
        _ => None,
    }
}

fn damaged(kind: u16, offset: usize, what: &str) -> ErrorKind {
    ErrorKind::Damaged { block: name(kind), offset: offset as u64, what: what.to_owned() }
}

fn truncated(offset: usize, length: usize, bytes: &[u8]) -> ErrorKind {
    let needed = (offset as u64).saturating_add(length as u64);
    ErrorKind::Truncated { what: "the block", offset: offset as u64, needed, length: bytes.len() as u64 }
}
