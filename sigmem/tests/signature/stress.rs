//! Real threads. Small enough to run under valgrind as well.

use fastrand::Rng;
use std::collections::HashSet;
use std::sync::{Barrier, Mutex};
use std::thread;
use threadtalk_abi::cell::{NONE, SHARED, TRACKED};
use threadtalk_abi::{CHUNK_BYTES, CHUNK_SHIFT, GRANULE};
use threadtalk_sigmem::primitive::Ordering;
use threadtalk_sigmem::{
    ChunkStock, Directory, FreshId, Pool, Read, Run, Segment, Signature, State, Transition, View, track, untrack, write,
};

use crate::memory::{EXACT, Memory, Size, Zeroed};

const SITE_BITS: u32 = 12;
const THREADS: u32 = 6;
const LOG2: u32 = 6;

/// From one thread's number to the next: sets of readers in the tables, and in composed names.
const FAR: u32 = 40;
const NEAR: u32 = 1;

/// Runs `body(view, chunk stock)` on each of the threads.
fn on_threads<T: Send>(spacing: u32, body: impl Fn(&mut View, &mut ChunkStock) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let run = |id: u32| {
            let body = &body;
            scope.spawn(move || {
                let mut transitions = vec![Transition::EMPTY; 1 << LOG2];
                // SAFETY: that many slots, alive while the view is.
                let mut view = unsafe { View::new(id * spacing, SITE_BITS, transitions.as_mut_ptr(), LOG2) };
                body(&mut view, &mut ChunkStock::default())
            })
        };
        let handles: Vec<_> = (0..THREADS).map(run).collect();
        handles.into_iter().map(|handle| handle.join().expect("no thread panics")).collect()
    })
}

/// No two names for one state, and no two for one set.
fn check_names(memory: &Memory) {
    let (mut states, mut sets) = (HashSet::new(), HashSet::new());
    let mut names = HashSet::new();
    for index in 0..memory.states.len() as u32 {
        // An index that was taken and then lost a race stays in its thread's stock with the contents of the
        // state that it lost to.
        let Some(State { writer, readers }) = memory.states.decode(SHARED | index) else { continue };
        let members: Vec<u32> = memory.states.sets.members(readers).collect();
        assert!(members.is_sorted() && !members.is_empty());
        assert_eq!(memory.states.sets.size(readers) as usize, members.len());
        states.insert((writer, members.clone()));
        if names.insert(readers) {
            assert!(sets.insert(members), "two names for one set");
        }
    }
    // Losers are kept for the next state: at most one for each thread.
    assert!(memory.states.len() - states.len() as u64 <= u64::from(THREADS), "states with two names");
}

/// Race-free program: phases of writing and of reading, with barriers between. Each count is known.
#[test]
fn phases_with_barriers_are_counted_exactly() {
    phases(FAR);
    phases(NEAR);
}

fn phases(spacing: u32) {
    const ELEMENTS: u64 = 600;
    const ROUNDS: u64 = 12;
    let memory = Memory::new(Size { chunks: Some(2), ..EXACT });
    let base = 3 * CHUNK_BYTES - ELEMENTS * GRANULE / 2;
    let barrier = Barrier::new(THREADS as usize);
    let counts = on_threads(spacing, |view, chunks| {
        let me = view.thread() / spacing;
        let mut rng = Rng::with_seed(u64::from(me));
        let (mut communication, mut reuse, mut own) = (0, 0, 0);
        for round in 0..ROUNDS {
            for element in (u64::from(me)..ELEMENTS).step_by(THREADS as usize) {
                let cell = memory.signature.cell(base + element * GRANULE, chunks).expect("memory");
                let fresh = FreshId::new(view.thread(), true, (round % 3 + 1) as u32, SITE_BITS);
                write(cell, fresh);
            }
            barrier.wait();
            for pass in 0..2 {
                // Another order in each thread: many sets of readers, and exchanges that fail.
                let start = rng.u64(0..ELEMENTS);
                for i in 0..ELEMENTS {
                    let address = base + (start + i) % ELEMENTS * GRANULE;
                    let cell = memory.signature.cell(address, chunks).expect("memory");
                    let writer_is = |writer: FreshId| {
                        let expected = (start + i) % ELEMENTS % u64::from(THREADS) * u64::from(spacing);
                        assert_eq!(u64::from(writer.thread(SITE_BITS)), expected);
                        assert_eq!(u64::from(writer.site(SITE_BITS)), round % 3 + 1);
                    };
                    match view.read(&memory.states, cell) {
                        Read::Own { .. } => own += 1,
                        Read::Communication { writer, .. } => {
                            writer_is(writer);
                            assert_eq!(pass, 0);
                            communication += 1;
                            track(cell);
                        }
                        Read::Reuse { writer, .. } => {
                            writer_is(writer);
                            assert_eq!(pass, 1);
                            reuse += 1;
                            untrack(cell);
                        }
                        other => panic!("{other:?}"),
                    }
                }
            }
            barrier.wait();
        }
        (communication, reuse, own)
    });
    let foreign = ROUNDS * (ELEMENTS - ELEMENTS / u64::from(THREADS));
    assert!(counts.iter().all(|count| *count == (foreign, foreign, 2 * (ROUNDS * ELEMENTS - foreign))), "{counts:?}");
    check_names(&memory);
    assert_eq!(memory.signature.pool.chunks(), 2);
    assert_eq!(memory.signature.pool.chunks_aliased(), 0);
}

/// Racy program, pool far too small, tables that fill up: counts mean nothing, but every name that is found
/// makes sense.
#[test]
fn races_break_nothing() {
    races(FAR);
    races(NEAR);
}

fn races(spacing: u32) {
    let size = Size { address_bits: 22, chunks: Some(5), states: 300, set_words: 400 };
    let memory = Memory::new(size);
    let known = |writer: FreshId| {
        let thread = writer.thread(SITE_BITS);
        assert!(thread.is_multiple_of(spacing) && thread / spacing < THREADS, "{writer:?}");
        assert!((1..=4).contains(&writer.site(SITE_BITS)), "{writer:?}");
    };
    let events = on_threads(spacing, |view, chunks| {
        let mut rng = Rng::with_seed(u64::from(view.thread()));
        let mut events = 0;
        for _ in 0..15_000 {
            let address = rng.u64(0..1 << size.address_bits) & !0xfc0;
            let Some(cell) = memory.signature.cell(address, chunks) else { panic!("hashed mode always has cells") };
            match rng.u32(0..32) {
                0..4 => write(cell, FreshId::new(view.thread(), true, rng.u32(1..5), SITE_BITS)),
                4 => memory.signature.clear(address, rng.u64(0..2_000)),
                5 => {
                    for run in memory.signature.cells(address, 100, chunks) {
                        assert!(matches!(run, Run::Mapped { .. }));
                    }
                }
                _ => match view.read(&memory.states, cell) {
                    Read::Cold | Read::Own { .. } => {}
                    Read::Communication { writer, state, .. } | Read::Reuse { writer, state, .. } => {
                        known(writer);
                        let State { writer: again, readers } = memory.states.decode(state).expect("a state");
                        assert_eq!(again, writer);
                        assert!(memory.states.sets.contains(readers, view.thread()));
                        events += 1;
                        if rng.bool() {
                            track(cell);
                        } else {
                            untrack(cell);
                        }
                    }
                    Read::Exhausted { writer, .. } => known(writer),
                },
            }
        }
        events
    });
    assert!(events.iter().sum::<u32>() > 1_000, "{events:?}");
    check_names(&memory);
    for run in memory.signature.directory.runs(0, 1 << size.address_bits) {
        let Run::Mapped { cells, .. } = run else { continue };
        for cell in cells {
            match cell.load(Ordering::Relaxed) {
                NONE => {}
                name if name & SHARED != 0 => assert!(memory.states.decode(name & !TRACKED).is_some()),
                name => known(FreshId(name)),
            }
        }
    }
    let chunks = 1 << (size.address_bits - CHUNK_SHIFT);
    assert_eq!(memory.signature.pool.chunks(), chunks);
    assert_eq!(memory.signature.pool.chunks_aliased(), chunks);
}

/// A program that races: one thread writes while others read the old value. Whatever they make of it, the new
/// value is the last one.
#[test]
fn an_overwritten_value_does_not_come_back() {
    let memory = Memory::new(Size { chunks: Some(1), ..EXACT });
    let (before, after) = (FreshId::new(7, true, 1, SITE_BITS), FreshId::new(9, true, 2, SITE_BITS));
    let barrier = Barrier::new(THREADS as usize);
    on_threads(NEAR, |view, chunks| {
        let cell = memory.signature.cell(0, chunks).expect("memory");
        for _ in 0..500 {
            if barrier.wait().is_leader() {
                write(cell, before);
            }
            // The leader of this one is as likely to be any other thread.
            if barrier.wait().is_leader() {
                write(cell, after);
            } else {
                view.read(&memory.states, cell);
                view.read(&memory.states, cell);
            }
            barrier.wait();
            let last = view.read(&memory.states, cell);
            let (Read::Communication { writer, .. } | Read::Reuse { writer, .. }) = last else { panic!("{last:?}") };
            assert_eq!(writer, after);
        }
    });
}

static SEGMENTS: Mutex<Vec<Zeroed>> = Mutex::new(Vec::new());

fn grow(_: Option<Segment>) -> Option<Segment> {
    let mut segment = Zeroed::new(2 * CHUNK_BYTES as usize / 8);
    let base = segment.address() as u64;
    SEGMENTS.lock().expect("no thread panics").push(segment);
    Some(Segment { base, chunks: 2 })
}

/// All threads ask for cells of the same chunks at the same moment: one wins, and what the others took is not lost.
#[test]
fn lost_races_for_chunks_leak_nothing() {
    let bits = 23;
    let mut entries = Zeroed::new(Directory::words(bits));
    // SAFETY: zeroed, of that length, and dropped last; segments live for ever.
    let signature = unsafe { Signature::new(Directory::new(entries.words(), bits), Pool::growing(grow)) };
    let barrier = Barrier::new(THREADS as usize);
    let seen = on_threads(FAR, |_, chunks| {
        let map = |chunk: u64| {
            barrier.wait();
            signature.map(chunk * CHUNK_BYTES, chunks).expect("memory")
        };
        (0..1 << (bits - CHUNK_SHIFT)).map(map).collect::<Vec<_>>()
    });
    assert!(seen.iter().all(|offsets| offsets == &seen[0]), "one translation for all");
    let cells: HashSet<u64> =
        (0..).zip(&seen[0]).map(|(chunk, offset)| (chunk * CHUNK_BYTES).wrapping_add(*offset)).collect();
    assert_eq!(cells.len(), 1 << (bits - CHUNK_SHIFT), "each chunk has cells of its own");
    // Two chunks in a segment: all are in use but what the threads still hold.
    let made = 2 * SEGMENTS.lock().expect("no thread panics").len();
    assert!(made <= cells.len() + 2 * THREADS as usize, "{made} chunks made, {} used", cells.len());
}
