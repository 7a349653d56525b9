//! An array of records that grows block by block.

use super::{Block, ProfileFile};
use core::marker::PhantomData;
use core::mem::size_of;
use core::sync::atomic::Ordering;
use threadtalk_profile::layout::UNIT;

/// Appends records of one kind for one thread at a time.
pub struct Appender<T> {
    kind: u16,
    block: Option<Block>,
    /// Payload bytes of the next block: doubles up to 1 MiB, so that small programs have small profiles.
    next_payload: u64,
    record: PhantomData<T>,
}

impl<T: Copy> Appender<T> {
    /// An empty array of blocks of `kind`.
    pub const fn new(kind: u16) -> Self {
        Self { kind, block: None, next_payload: UNIT / 2, record: PhantomData }
    }

    /// Appends a record and returns its place, which stays good for the life of the process.
    pub fn append(&mut self, file: &ProfileFile, record: T) -> Option<*mut T> {
        let size = size_of::<T>() as u64;
        let (block, used) = match self.block {
            Some(b) if b.used().load(Ordering::Relaxed) + size <= b.capacity() => (b, b.used().load(Ordering::Relaxed)),
            _ => (self.grow(file)?, 0),
        };
        // SAFETY: used + size <= capacity, and only this appender writes to the block.
        let place = unsafe { block.payload().add(used as usize).cast::<T>() };
        // SAFETY: as above; payloads are aligned to 128 bytes and record sizes keep the alignment.
        unsafe { place.write(record) };
        block.used().store(used + size, Ordering::Release);
        Some(place)
    }

    fn grow(&mut self, file: &ProfileFile) -> Option<Block> {
        let block = file.allocate(self.next_payload)?;
        self.next_payload = (self.next_payload * 2).min(1 << 20);
        block.publish(self.kind, size_of::<T>(), 0);
        self.block = Some(block);
        Some(block)
    }
}
