//! Memory for the parts of a signature, as the runtime would hand it in.

use crate::driver::SITE_BITS;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, AtomicU64};
use threadtalk_abi::CHUNK_BYTES;
use threadtalk_sigmem::open::{Known, LINE, Lines};
use threadtalk_sigmem::states::{ENDED_WORDS, SetMemory, VALUES};
use threadtalk_sigmem::{Directory, Pool, Segment, Signature, StateMemory, States};

/// Zeroed words that other code holds pointers to.
pub struct Zeroed(Vec<u64>);

impl Zeroed {
    pub fn new(words: usize) -> Self {
        Self(vec![0; words])
    }

    pub fn address(&mut self) -> usize {
        self.0.as_mut_ptr().expose_provenance()
    }

    pub fn words(&mut self) -> *const AtomicU64 {
        self.0.as_mut_ptr().cast()
    }
}

/// A signature, its states and the memory below them. The memory is dropped last.
pub struct Memory {
    pub signature: Signature,
    pub states: States,
    /// All cells of a fixed pool.
    pub lines: Lines,
    _memory: Vec<Zeroed>,
}

/// How much of everything.
#[derive(Clone, Copy)]
pub struct Size {
    /// The address space is `1 << address_bits` bytes.
    pub address_bits: u32,
    /// Chunks of the fixed pool; `None` = exact mode.
    pub chunks: Option<u64>,
    pub states: u32,
    pub set_words: u64,
}

pub const EXACT: Size = Size { address_bits: 24, chunks: None, states: 1 << 14, set_words: 1 << 14 };

thread_local! {
    /// What the thread's latest fixed pool has said of its blocks.
    static FORESEEN: RefCell<Vec<(Segment, bool)>> = const { RefCell::new(Vec::new()) };
}

fn foresee(block: Segment, dense: bool) {
    FORESEEN.with_borrow_mut(|all| all.push((block, dense)));
}

impl Memory {
    /// What its fixed pool has said of its blocks, by the number of their first chunk: how many chunks they have, and
    /// whether they are likely to be dense. It must be the thread's latest one.
    pub fn foreseen(&self) -> Vec<(u64, u64, bool)> {
        let base = self.signature.pool.region().map_or(0, |region| region.base);
        let of = |(block, dense): &(Segment, bool)| ((block.base - base) / CHUNK_BYTES, block.chunks, *dense);
        FORESEEN.with_borrow(|all| all.iter().map(of).collect())
    }

    pub fn new(size: Size) -> Self {
        let mut memory = Vec::new();
        let mut zeroed = |words: usize| {
            memory.push(Zeroed::new(words));
            memory.last_mut().expect("just pushed").words()
        };
        let entries = zeroed(Directory::words(size.address_bits));
        // SAFETY: zeroed, of that length, kept in `_memory`.
        let directory = unsafe { Directory::new(entries, size.address_bits) };
        let mut lines = Lines::NONE;
        let pool = match size.chunks {
            None => {
                SEGMENTS.with_borrow_mut(Vec::clear);
                // SAFETY: segments live until the thread makes its next signature or ends.
                unsafe { Pool::growing(grow) }
            }
            Some(chunks) => {
                FORESEEN.with_borrow_mut(Vec::clear);
                let base = zeroed((chunks * CHUNK_BYTES / 8) as usize).expose_provenance() as u64;
                let occupants = zeroed((chunks as usize).div_ceil(2)).cast::<AtomicU32>();
                let all = (chunks * CHUNK_BYTES / 4) as usize / LINE;
                let numbers = zeroed((all + 1).div_ceil(2)).cast::<AtomicU32>();
                // SAFETY: as many, zeroed, kept in `_memory`.
                lines = unsafe { Lines::new(std::ptr::with_exposed_provenance(base as usize), all, numbers) };
                // SAFETY: zeroed, of these lengths, kept in `_memory`.
                unsafe { Pool::fixed(Segment { base, chunks }, occupants, foresee) }
            }
        };
        let slots_log2 = size.states.next_power_of_two().ilog2() + 1;
        let state_memory = StateMemory {
            site_bits: SITE_BITS,
            entries: zeroed(size.states as usize),
            capacity: size.states,
            slots: zeroed(1 << slots_log2),
            slots_log2,
            values: zeroed(VALUES as usize),
            ended: zeroed(ENDED_WORDS),
            sets: SetMemory {
                words: zeroed(size.set_words as usize),
                capacity: size.set_words,
                slots: zeroed(1 << slots_log2),
                slots_log2,
            },
        };
        // SAFETY: zeroed, of these lengths, kept in `_memory`.
        let states = unsafe { States::new(state_memory) };
        Self { signature: Signature::new(directory, pool), states, lines, _memory: memory }
    }
}

/// What a thread knows of open values.
pub struct KnownMemory(Zeroed, Lines);

impl KnownMemory {
    pub fn new(lines: Lines) -> Self {
        Self(Zeroed::new(lines.len()), lines)
    }

    /// For one view, no longer than this lives.
    pub fn known(&mut self) -> Known {
        // SAFETY: a word for each line, zeroed.
        unsafe { Known::new(self.1, self.0.words()) }
    }
}

thread_local! {
    static SEGMENTS: RefCell<Vec<Zeroed>> = const { RefCell::new(Vec::new()) };
}

/// Three chunks, so that segments end between neighbours.
fn grow(_: Option<Segment>) -> Option<Segment> {
    let chunks = 3;
    let mut segment = Zeroed::new((chunks * CHUNK_BYTES / 8) as usize);
    let base = segment.address() as u64;
    SEGMENTS.with_borrow_mut(|segments| segments.push(segment));
    Some(Segment { base, chunks })
}
