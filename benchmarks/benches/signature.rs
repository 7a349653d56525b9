//! Hot operations of the signature memory, on 1, 2, 4, ... threads at once.
//!
//! Each thread works on its own cells, so the cost of an operation must not grow with the number of threads: if it
//! does, a cache line is shared that should not be. CPU time of the thread and not wall time, so that more threads than
//! cores can run. A plain harness, because it is the comparison between thread counts that matters: `cargo bench -p
//! threadtalk-benchmarks`.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, AtomicU64};

use threadtalk_abi::CHUNK_BYTES;
use threadtalk_sigmem::states::{ENDED_WORDS, SetMemory, VALUES};
use threadtalk_sigmem::view::Transition;
use threadtalk_sigmem::{
    ChunkStock, Directory, FreshId, Pool, Run, Segment, Signature, StateMemory, States, View, write,
};

const ADDRESS_BITS: u32 = 32;
const SITE_BITS: u32 = 16;
const ROUNDS: u32 = 15;
/// Cells of one thread: as many as a tile that stays in its L1 cache has elements.
const CELLS: usize = 4096;

fn zeroed(words: usize) -> *mut AtomicU64 {
    Box::leak(vec![0_u64; words].into_boxed_slice()).as_mut_ptr().cast()
}

struct Shared {
    signature: Signature,
    states: States,
}

fn shared(chunks: u64) -> Shared {
    // SAFETY: zeroed, of the length that the type asks for, and never freed; the same holds for the other parts.
    let directory = unsafe { Directory::new(zeroed(Directory::words(ADDRESS_BITS)), ADDRESS_BITS) };
    let base = zeroed((chunks * CHUNK_BYTES / 8) as usize).expose_provenance() as u64;
    // SAFETY: as above.
    let pool = unsafe { Pool::fixed(Segment { base, chunks }, zeroed(chunks as usize).cast(), |_, _| {}) };
    let sets = SetMemory { words: zeroed(1 << 16), capacity: 1 << 16, slots: zeroed(1 << 17), slots_log2: 17 };
    let (entries, slots, values) = (zeroed(1 << 16), zeroed(1 << 17), zeroed(VALUES as usize));
    let ended = zeroed(ENDED_WORDS);
    let (site_bits, capacity) = (SITE_BITS, 1 << 16);
    let memory = StateMemory { site_bits, entries, capacity, slots, slots_log2: 17, values, ended, sets };
    // SAFETY: as above.
    Shared { signature: Signature::new(directory, pool), states: unsafe { States::new(memory) } }
}

/// What one thread works with.
struct Worker<'a> {
    shared: &'a Shared,
    thread: u32,
    view: View,
    stock: ChunkStock,
    cells: Vec<AtomicU32>,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared, thread: u32) -> Self {
        let transitions = Box::leak(vec![Transition::EMPTY; 256].into_boxed_slice());
        // SAFETY: 1 << 8 empty slots, leaked, known to nobody else.
        let view = unsafe { View::new(thread, SITE_BITS, transitions.as_mut_ptr(), 8) };
        let cells = (0..CELLS).map(|_| AtomicU32::new(0)).collect();
        Self { shared, thread, view, stock: ChunkStock::default(), cells }
    }

    fn id(&self, thread: u32, site: u32) -> FreshId {
        FreshId::new(thread, true, site, SITE_BITS)
    }

    fn written_by(&self, thread: u32) {
        for (i, cell) in self.cells.iter().enumerate() {
            write(cell, self.id(thread, 1 + i as u32 % 4));
        }
    }

    fn read_all(&mut self) {
        for cell in &self.cells {
            black_box(self.view.read(&self.shared.states, cell));
        }
    }

    /// An address range of this thread's own.
    fn address(&self) -> u64 {
        u64::from(self.thread) << 24
    }
}

/// An operation: what has to be set up before each round, the round, and how many operations a round is.
struct Operation {
    name: &'static str,
    before: fn(&mut Worker),
    round: fn(&mut Worker),
    /// Rounds in a row: more than one where a round leaves things as it found them.
    repeats: usize,
    count: usize,
}

const OPERATIONS: &[Operation] = &[
    Operation { name: "write", before: |_| {}, round: |w| w.written_by(w.thread), repeats: 20, count: CELLS },
    Operation {
        name: "read: own",
        before: |w| w.written_by(w.thread),
        round: |w| w.read_all(),
        repeats: 20,
        count: CELLS,
    },
    Operation {
        name: "read: communication",
        before: |w| w.written_by(w.thread + 1000),
        round: |w| w.read_all(),
        repeats: 1,
        count: CELLS,
    },
    Operation {
        name: "read: reuse",
        before: |w| {
            w.written_by(w.thread + 1000);
            w.read_all();
        },
        round: |w| w.read_all(),
        repeats: 20,
        count: CELLS,
    },
    Operation {
        name: "cell of an address",
        before: |_| {},
        round: |w| {
            for i in 0..CELLS as u64 {
                black_box(w.shared.signature.cell(w.address() + 16 * i, &mut w.stock));
            }
        },
        repeats: 20,
        count: CELLS,
    },
    Operation {
        name: "range, for each cell",
        before: |_| {},
        round: |w| {
            for run in w.shared.signature.cells(w.address(), 4 * CELLS as u64, &mut w.stock) {
                if let Run::Mapped { cells, .. } = run {
                    let id = FreshId::new(w.thread, true, 1, SITE_BITS);
                    cells.iter().for_each(|cell| write(cell, id));
                }
            }
        },
        repeats: 20,
        count: CELLS,
    },
    Operation {
        name: "clear, for each cell",
        before: |_| {},
        round: |w| w.shared.signature.clear(w.address(), 4 * CELLS as u64),
        repeats: 20,
        count: CELLS,
    },
];

fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live local.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(status, 0, "every Linux has this clock");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Nanoseconds of CPU time for one operation: the best round of each thread, the slowest thread.
fn measure(operation: &Operation, shared: &Shared, threads: u32) -> f64 {
    let barrier = Barrier::new(threads as usize);
    let run = |thread: u32| {
        let mut worker = Worker::new(shared, thread);
        let mut best = u64::MAX;
        for _ in 0..ROUNDS {
            (operation.before)(&mut worker);
            barrier.wait();
            let begin = thread_cpu_ns();
            for _ in 0..operation.repeats {
                (operation.round)(&mut worker);
            }
            best = best.min(thread_cpu_ns() - begin);
        }
        best
    };
    let slowest = std::thread::scope(|scope| {
        let team: Vec<_> = (1..=threads)
            .map(|thread| {
                scope.spawn({
                    let run = &run;
                    move || run(thread)
                })
            })
            .collect();
        team.into_iter().map(|member| member.join().expect("a worker panicked")).max().unwrap_or(0)
    });
    slowest as f64 / (operation.repeats * operation.count) as f64
}

fn main() {
    // Cargo passes --bench; `cargo test --benches` passes nothing: one quick pass then.
    let most = if std::env::args().any(|argument| argument == "--bench") { 16 } else { 1 };
    let counts: Vec<u32> = (0..).map(|i| 1 << i).take_while(|n| *n <= most).collect();
    let shared = shared(64);
    print!("{:<24}", "ns of CPU, threads:");
    counts.iter().for_each(|threads| print!("{threads:>8}"));
    println!();
    for operation in OPERATIONS {
        print!("{:<24}", operation.name);
        counts.iter().for_each(|&threads| print!("{:>8.2}", measure(operation, &shared, threads)));
        println!();
    }
}
