//! Random traces: several threads that share some places, blocks that come, move and go, nested regions.

use fastrand::Rng;
use threadtalk_abi::CHUNK_BYTES;
use threadtalk_sigmem::oracle::{Op, Region, Step};

/// What a generator draws from.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub threads: u32,
    /// Logical ids are `first_thread, first_thread + spacing, ...`: reader sets of one word and of many.
    pub first_thread: u32,
    pub spacing: u32,
    /// Chunks that the places lie in.
    pub chunks: u64,
    /// How many places; few places are shared by many.
    pub places: usize,
}

impl Shape {
    pub fn random(rng: &mut Rng) -> Self {
        Self {
            threads: rng.u32(1..=9),
            first_thread: if rng.bool() { 0 } else { rng.u32(0..500) },
            spacing: if rng.bool() { 1 } else { rng.u32(1..120) },
            chunks: rng.u64(1..=12),
            places: rng.usize(1..=24),
        }
    }
}

/// Yields steps without end.
pub struct Generator {
    rng: Rng,
    shape: Shape,
    places: Vec<u64>,
    blocks: Vec<(u64, u64)>,
    regions: Vec<Vec<Region>>,
}

impl Generator {
    pub fn new(shape: Shape, mut rng: Rng) -> Self {
        // Every third place is just before a chunk's end, so that accesses straddle it.
        let place = |i: usize, rng: &mut Rng| {
            let chunk = CHUNK_BYTES * (1 + rng.u64(0..shape.chunks));
            if i.is_multiple_of(3) { chunk - rng.u64(1..24) } else { chunk + rng.u64(0..CHUNK_BYTES / 2) }
        };
        let places = (0..shape.places).map(|i| place(i, &mut rng)).collect();
        Self { rng, shape, places, blocks: Vec::new(), regions: vec![Vec::new(); shape.threads as usize] }
    }

    fn place(&mut self) -> u64 {
        self.rng.choice(&self.places).copied().unwrap_or(0) + self.rng.u64(0..6)
    }

    fn bytes(&mut self) -> u64 {
        match self.rng.u32(0..400) {
            0 => self.rng.u64(1..3 * CHUNK_BYTES),
            1..20 => self.rng.u64(1..200),
            _ => [1, 2, 4, 8, 8, 16, 32][self.rng.usize(0..7)],
        }
    }

    /// A place for a block that overlaps no other block: above all places, one step of 512 bytes for each.
    fn block(&mut self) -> (u64, u64) {
        let slots = 128;
        let base = CHUNK_BYTES * (self.shape.chunks + 4);
        loop {
            let at = base + 512 * self.rng.u64(0..slots);
            if self.blocks.iter().all(|block| block.0 != at) {
                return (at, self.rng.u64(1..=512));
            }
        }
    }

    fn in_block(&mut self) -> Option<(u64, u64)> {
        let (at, length) = self.rng.choice(&self.blocks).copied()?;
        let offset = self.rng.u64(0..length);
        Some((at + offset, self.rng.u64(1..=length - offset)))
    }
}

impl Iterator for Generator {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let who = self.rng.u32(0..self.shape.threads);
        let (at, bytes) = match (self.rng.bool(), self.in_block()) {
            (true, Some(inside)) => inside,
            _ => (self.place(), self.bytes()),
        };
        let stack = &mut self.regions[who as usize];
        let op = match self.rng.u32(0..100) {
            0..45 => Op::Read { at, bytes },
            45..65 => Op::Write { at, bytes },
            65..69 => Op::AtomicRead { at, bytes: 4 },
            69..72 => Op::AtomicWrite { at, bytes: 4 },
            72..76 => Op::ReadModifyWrite { at, bytes: 8 },
            76..78 => Op::FailedExchange { at, bytes: 4 },
            78..82 => Op::Copy { to: self.place(), from: at, bytes: bytes.min(64) },
            82..84 => Op::Set { at, bytes },
            84..86 => Op::StackPop { at, bytes: bytes.min(64) },
            86..90 => {
                let (at, bytes) = self.block();
                self.blocks.push((at, bytes));
                self.blocks.truncate(64);
                Op::Allocate { at, bytes }
            }
            90..92 if !self.blocks.is_empty() => {
                let (at, bytes) = self.blocks.swap_remove(self.rng.usize(0..self.blocks.len()));
                Op::Free { at, bytes }
            }
            92..95 if !self.blocks.is_empty() => {
                let (new, new_bytes) = self.block();
                let which = self.rng.usize(0..self.blocks.len());
                let (old, old_bytes) = self.blocks[which];
                let new = if self.rng.bool() { old } else { new };
                self.blocks[which] = (new, new_bytes);
                Op::Reallocate { old, old_bytes, new, new_bytes }
            }
            95..98 => {
                let region = self.rng.u32(1..5);
                stack.push(region);
                Op::Enter(region)
            }
            _ => match stack.pop() {
                Some(region) => Op::Exit(region),
                None => Op::Read { at, bytes },
            },
        };
        Some(Step { thread: self.shape.first_thread + who * self.shape.spacing, op })
    }
}
