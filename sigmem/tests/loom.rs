//! The protocol under the model checker: `RUSTFLAGS="--cfg loom" cargo test -p threadtalk-sigmem --test loom
//! --release`.
//!
//! Cells are model atomics, so they have no addresses in the way the directory's arithmetic needs: its entries
//! are checked as numbers and the cells apart from them.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use loom::thread;
use threadtalk_abi::CHUNK_BYTES;
use threadtalk_abi::cell::{NONE, TRACKED};
use threadtalk_sigmem::claims::TOUCHED;
use threadtalk_sigmem::states::SetMemory;
use threadtalk_sigmem::{
    ChunkStock, Claims, Directory, FreshId, Pool, Read, Segment, Signature, State, StateMemory, StateStock, States,
    Transition, View, Writable, track, untrack, write,
};

const SITE_BITS: u32 = 8;
/// Number that the tests use as the address of the pool; nothing is ever there.
const POOL: u64 = 1 << 40;

/// Every interleaving with at most so many switches where a thread could have gone on.
fn model(preemptions: usize, test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(test);
}

fn atomics64(n: usize) -> Vec<AtomicU64> {
    (0..n).map(|_| AtomicU64::new(0)).collect()
}

struct Tables {
    states: States,
    cell: AtomicU32,
    _memory: [Vec<AtomicU64>; 4],
}

/// Room for few states: model atomics are dear.
fn tables(capacity: u32) -> Arc<Tables> {
    let memory = [atomics64(capacity as usize), atomics64(8), atomics64(140), atomics64(4)];
    let [entries, slots, words, set_slots] = &memory;
    let sets =
        SetMemory { words: words.as_ptr(), capacity: words.len() as u64, slots: set_slots.as_ptr(), slots_log2: 2 };
    let (entries, slots) = (entries.as_ptr(), slots.as_ptr());
    // SAFETY: of these lengths; the buffers of the vectors stay where they are when the vectors move.
    let states = unsafe { States::new(StateMemory { entries, capacity, slots, slots_log2: 3, sets }) };
    Arc::new(Tables { states, cell: AtomicU32::new(NONE), _memory: memory })
}

/// A view with the memory of its transition cache.
struct Reader {
    view: View,
    _transitions: Box<[Transition; 2]>,
}

fn reader(thread: u32) -> Reader {
    let mut transitions = Box::new([Transition::EMPTY; 2]);
    // SAFETY: two slots, boxed, alive as long as the view.
    let view = unsafe { View::new(thread, SITE_BITS, transitions.as_mut_ptr(), 1) };
    Reader { view, _transitions: transitions }
}

fn fresh(thread: u32) -> FreshId {
    FreshId::new(thread, true, 1, SITE_BITS)
}

/// Two threads give the same state a name, a third one another state: one name each, and it means the same to all.
#[test]
fn equal_states_get_one_name() {
    model(3, || {
        let tables = tables(6);
        let intern = |thread: u32| {
            let tables = Arc::clone(&tables);
            move || {
                let readers = tables.states.sets.one(thread);
                let state = State { writer: fresh(0), readers };
                let name = tables.states.intern(state, &mut StateStock::default()).expect("room");
                assert_eq!(tables.states.decode(name), Some(state));
                name
            }
        };
        let same = thread::spawn(intern(1));
        let other = thread::spawn(intern(2));
        let mine = intern(1)();
        assert_eq!(same.join().expect("no panic"), mine);
        assert_ne!(other.join().expect("no panic"), mine);
    });
}

/// Two threads build the same set of two at once: one name, and both find the members under it.
#[test]
fn equal_sets_get_one_name() {
    model(3, || {
        let tables = tables(6);
        let build = |first: u32, second: u32| {
            let tables = Arc::clone(&tables);
            move || {
                let mut stock = StateStock::default();
                let name = tables.states.with_reader(fresh(0).0, first, &mut stock).expect("room");
                let name = tables.states.with_reader(name, second, &mut stock).expect("room");
                let readers = tables.states.decode(name).expect("a state").readers;
                // 130: the set spans three words.
                assert_eq!(tables.states.sets.members(readers).collect::<Vec<_>>(), [1, 130]);
                name
            }
        };
        let other = thread::spawn(build(130, 1));
        let mine = build(1, 130)();
        assert_eq!(other.join().expect("no panic"), mine);
    });
}

/// Two readers of one value: each communicates once, then reuses, and the name that a reader finds in the cell
/// is one that it can decode, readers and all.
#[test]
fn readers_of_one_cell_lose_nothing() {
    model(3, || {
        let tables = tables(6);
        write(&tables.cell, fresh(0));
        let read = |thread: u32| {
            let tables = Arc::clone(&tables);
            move || {
                let mut reader = reader(thread);
                let first = reader.view.read(&tables.states, &tables.cell);
                assert!(matches!(first, Read::Communication { writer, .. } if writer == fresh(0)), "{first:?}");
                let second = reader.view.read(&tables.states, &tables.cell);
                let Read::Reuse { writer, state, tracked: false } = second else { panic!("{second:?}") };
                assert_eq!(writer, fresh(0));
                let State { readers, .. } = tables.states.decode(state).expect("a state");
                assert!(tables.states.sets.members(readers).any(|member| member == thread));
            }
        };
        let other = thread::spawn(read(1));
        read(70)();
        other.join().expect("no panic");
        let State { writer, readers } = tables.states.decode(tables.cell.load(Ordering::Relaxed)).expect("a state");
        assert_eq!(writer, fresh(0));
        assert_eq!(tables.states.sets.members(readers).collect::<Vec<_>>(), [1, 70]);
    });
}

/// Of two threads, the reader stores without an exchange; the writer, which reads its own value meanwhile, can decode
/// what it finds.
#[test]
fn a_pair_needs_no_exchange() {
    model(3, || {
        let tables = tables(6);
        tables.states.set_pair(true);
        write(&tables.cell, fresh(0));
        let theirs = Arc::clone(&tables);
        let other = thread::spawn(move || {
            let mut reader = reader(1);
            let cells = core::slice::from_ref(&theirs.cell);
            let alike = reader.view.read_alike(&theirs.states, cells).expect("a communication");
            assert_eq!((alike.writer, alike.read), (fresh(0), 1));
            let second = reader.view.read(&theirs.states, &theirs.cell);
            assert!(matches!(second, Read::Reuse { writer, .. } if writer == fresh(0)), "{second:?}");
        });
        let mut writer = reader(0);
        let own = writer.view.read(&tables.states, &tables.cell);
        assert!(matches!(own, Read::Own { .. }), "{own:?}");
        other.join().expect("no panic");
        let State { readers, .. } = tables.states.decode(tables.cell.load(Ordering::Relaxed)).expect("a state");
        assert_eq!(tables.states.sets.members(readers).collect::<Vec<_>>(), [1]);
    });
}

/// A reader that knows from one element what its first read of another in the same state does exchanges without asking;
/// where the other reader came first, it finds another state, and asks.
#[test]
fn a_first_read_like_an_earlier_one_counts_once_for_each_reader() {
    model(2, || {
        let tables = tables(6);
        let cells: Arc<Vec<AtomicU32>> = Arc::new((0..2).map(|_| AtomicU32::new(NONE)).collect());
        cells.iter().for_each(|cell| write(cell, fresh(0)));
        let read = |thread: u32| {
            let (tables, cells) = (Arc::clone(&tables), Arc::clone(&cells));
            move || {
                let mut reader = reader(thread);
                let alike = reader.view.read_alike(&tables.states, &cells[..1]);
                let again = alike.map_or(0, |a| reader.view.read_again(&tables.states, &cells[1..], (a.from, a.state)));
                for cell in &cells[usize::from(alike.is_some()) + again..] {
                    let found = reader.view.read(&tables.states, cell);
                    assert!(matches!(found, Read::Communication { writer, .. } if writer == fresh(0)), "{found:?}");
                }
                for cell in cells.iter() {
                    let found = reader.view.read(&tables.states, cell);
                    assert!(matches!(found, Read::Reuse { writer, .. } if writer == fresh(0)), "{found:?}");
                }
            }
        };
        let other = thread::spawn(read(1));
        read(70)();
        other.join().expect("no panic");
        for cell in cells.iter() {
            let State { readers, .. } = tables.states.decode(cell.load(Ordering::Relaxed)).expect("a state");
            assert_eq!(tables.states.sets.members(readers).collect::<Vec<_>>(), [1, 70]);
        }
    });
}

/// Two readers of neighbours at once, one as far as they are alike and one by one: each communicates once for each
/// element, and what the first left is what the second adds itself to.
#[test]
fn neighbours_read_at_once_count_once_for_each_reader() {
    model(2, || {
        let tables = tables(6);
        let cells: Arc<Vec<AtomicU32>> = Arc::new((0..2).map(|_| AtomicU32::new(NONE)).collect());
        cells.iter().for_each(|cell| write(cell, fresh(0)));
        let other = thread::spawn({
            let (tables, cells) = (Arc::clone(&tables), Arc::clone(&cells));
            move || {
                let mut reader = reader(70);
                for cell in cells.iter() {
                    let found = reader.view.read(&tables.states, cell);
                    assert!(matches!(found, Read::Communication { writer, .. } if writer == fresh(0)), "{found:?}");
                }
            }
        });
        let mut reader = reader(1);
        let mut done = 0;
        while let Some(rest @ [first, ..]) = cells.get(done..) {
            match reader.view.read_alike(&tables.states, rest) {
                Some(alike) => {
                    assert_eq!(alike.writer, fresh(0));
                    let State { readers, .. } = tables.states.decode(alike.state).expect("a state");
                    assert!(tables.states.sets.contains(readers, 1));
                    done += alike.read;
                }
                None => {
                    let found = reader.view.read(&tables.states, first);
                    assert!(matches!(found, Read::Communication { .. }), "{found:?}");
                    done += 1;
                }
            }
        }
        assert_eq!(reader.view.read_alike(&tables.states, &cells), None, "both were read");
        other.join().expect("no panic");
        for cell in cells.iter() {
            let State { writer, readers } = tables.states.decode(cell.load(Ordering::Relaxed)).expect("a state");
            assert_eq!(writer, fresh(0));
            assert_eq!(tables.states.sets.members(readers).collect::<Vec<_>>(), [1, 70]);
        }
    });
}

/// The mark of a waiting reuse distance survives another reader and does not hide it.
#[test]
fn marks_and_readers_do_not_disturb_each_other() {
    model(3, || {
        let tables = tables(6);
        write(&tables.cell, fresh(0));
        let mut first = reader(1);
        let Read::Communication { state, .. } = first.view.read(&tables.states, &tables.cell) else { panic!("new") };
        let other = thread::spawn({
            let tables = Arc::clone(&tables);
            move || reader(2).view.read(&tables.states, &tables.cell)
        });
        let marked = track(&tables.cell, state);
        let other = other.join().expect("no panic");
        let Read::Communication { tracked, state: now, .. } = other else { panic!("{other:?}") };
        assert!(marked || !tracked, "no mark without its maker");
        let found = first.view.read(&tables.states, &tables.cell);
        assert!(matches!(found, Read::Reuse { tracked, .. } if tracked == marked), "{found:?}");
        assert_eq!(untrack(&tables.cell, now), marked);
        assert_eq!(tables.cell.load(Ordering::Relaxed) & TRACKED, 0);
    });
}

/// A value that is overwritten while it is read (a race in the program): the reader gets the old or the new
/// writer. That the exchange cannot bring the old one back is left to the test with real threads: the model
/// (loom 0.7) orders the stores of one location only partly, and so lets a store fall between the halves of an
/// exchange.
#[test]
fn a_race_with_a_writer_yields_one_of_both_values() {
    model(3, || {
        let tables = tables(6);
        write(&tables.cell, fresh(0));
        let writer = thread::spawn({
            let tables = Arc::clone(&tables);
            move || write(&tables.cell, fresh(3))
        });
        let mut reader = reader(1);
        for _ in 0..2 {
            let found = reader.view.read(&tables.states, &tables.cell);
            let (Read::Communication { writer, .. } | Read::Reuse { writer, .. }) = found else { panic!("{found:?}") };
            assert!(writer == fresh(0) || writer == fresh(3));
        }
        writer.join().expect("no panic");
    });
}

/// The last room in the table: whoever does not get it is told, and the cell stays as it was for it.
#[test]
fn the_last_state_goes_to_one_or_none() {
    model(3, || {
        let tables = tables(1);
        write(&tables.cell, fresh(0));
        let read = |thread: u32| {
            let tables = Arc::clone(&tables);
            move || matches!(reader(thread).view.read(&tables.states, &tables.cell), Read::Communication { .. })
        };
        let other = thread::spawn(read(1));
        let mine = read(2)();
        let other = other.join().expect("no panic");
        assert!(mine != other, "exactly one of them found room");
        assert_eq!(tables.states.len(), 1);
    });
}

struct Map {
    signature: Signature,
    entries: Vec<AtomicU64>,
    _occupants: Vec<AtomicU32>,
}

fn map(chunks: u64) -> Arc<Map> {
    let entries = atomics64(4);
    let occupants: Vec<_> = (0..chunks).map(|_| AtomicU32::new(0)).collect();
    let region = Segment { base: POOL, chunks };
    // SAFETY: of these lengths; no cell is ever touched.
    let (directory, pool) = unsafe { (Directory::new(entries.as_ptr(), 18), Pool::fixed(region, occupants.as_ptr())) };
    Arc::new(Map { signature: Signature::new(directory, pool), entries, _occupants: occupants })
}

impl Map {
    /// Number of the pool's chunk that holds the cells of a chunk of memory.
    fn cells_of(&self, chunk: u64) -> u64 {
        let offset = self.entries[chunk as usize].load(Ordering::Relaxed);
        (offset.wrapping_add(chunk * CHUNK_BYTES) - POOL) / CHUNK_BYTES
    }
}

/// Two threads map one chunk, and then each another one: one translation, and the loser's chunk serves its next need.
#[test]
fn a_lost_race_for_a_chunk_leaks_nothing() {
    model(3, || {
        let shared = map(3);
        let run = |own: u64| {
            let shared = Arc::clone(&shared);
            move || {
                let mut stock = ChunkStock::default();
                let first = shared.signature.map(0, &mut stock).expect("cells");
                shared.signature.map(own * CHUNK_BYTES, &mut stock).expect("cells");
                first
            }
        };
        let other = thread::spawn(run(1));
        let mine = run(2)();
        assert_eq!(other.join().expect("no panic"), mine);
        let mut cells = [0, 1, 2].map(|chunk| shared.cells_of(chunk));
        cells.sort_unstable();
        assert_eq!(cells, [0, 1, 2], "three chunks of cells serve three chunks of memory");
        assert_eq!((shared.signature.pool.chunks(), shared.signature.pool.chunks_aliased()), (3, 0));
    });
}

/// A pool of one chunk: whoever sees a second chunk's entry also sees that the cells are shared, and the
/// account adds up however the races end.
#[test]
fn sharing_is_noted_before_it_shows() {
    model(3, || {
        let shared = map(1);
        let mapper = |chunk: u64| {
            let shared = Arc::clone(&shared);
            move || {
                let mut stock = ChunkStock::default();
                shared.signature.map(chunk * CHUNK_BYTES, &mut stock).expect("cells");
            }
        };
        let threads = [thread::spawn(mapper(0)), thread::spawn(mapper(1))];
        // 1 twice: a race for one entry as well.
        mapper(1)();
        let both =
            shared.signature.directory.offset(0).is_some() && shared.signature.directory.offset(CHUNK_BYTES).is_some();
        if both {
            assert!(shared.signature.is_aliased(0) && shared.signature.is_aliased(CHUNK_BYTES));
        }
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        assert_eq!((shared.signature.pool.chunks(), shared.signature.pool.chunks_aliased()), (2, 2));
        assert_eq!([shared.cells_of(0), shared.cells_of(1)], [0, 0]);
    });
}

/// A holder knows an element as its own; another thread writes a neighbour whenever it likes, and the element when the
/// program hands it over. When it comes back, the holder no longer relies on what it knew.
#[test]
fn a_claim_does_not_outlive_a_write_that_was_handed_back() {
    model(4, || {
        const CHUNK: u64 = 0;
        const UNUSED: u32 = 0;
        const LENT: u32 = 1;
        const RETURNED: u32 = 2;
        const OFFSET: u64 = 4096;
        let (words, touched) = (vec![AtomicU32::new(0)], atomics64(TOUCHED));
        let entries = [atomics64(1), atomics64(1)];
        // SAFETY: of one chunk each, alive as long as the model's round.
        let claims = unsafe { Claims::new(words.as_ptr(), touched.as_ptr()) };
        // SAFETY: as above.
        let [holder, writer] = [0, 1].map(|i: usize| unsafe { claims.join(entries[i].as_ptr()) }.expect("room"));
        let shared = Arc::new((claims, AtomicU32::new(fresh(0).0), AtomicU32::new(UNUSED), words, touched, entries));
        let other = thread::spawn({
            let shared = Arc::clone(&shared);
            // What the inlined code does: one look at the directory, then the store.
            let write = move |claims: &Claims, store: &dyn Fn()| {
                if !claims.is_entered(&writer, CHUNK) {
                    claims.enter(&writer, CHUNK, OFFSET);
                }
                store();
            };
            move || {
                let (claims, element, state, ..) = &*shared;
                write(claims, &|| ());
                if state.load(Ordering::Acquire) == LENT {
                    write(claims, &|| element.store(fresh(1).0, Ordering::Relaxed));
                    state.store(RETURNED, Ordering::Release);
                }
            }
        });
        let (claims, element, state, ..) = &*shared;
        let claimed = claims.claim(&holder, CHUNK);
        let known = claimed && element.load(Ordering::Relaxed) == fresh(0).0;
        state.store(LENT, Ordering::Release);
        other.join().expect("no panic");
        if state.load(Ordering::Acquire) == RETURNED && known {
            assert!(!claims.holds(&holder, CHUNK), "the element is {:#x}", element.load(Ordering::Relaxed));
        }
    });
}

/// A chunk with a shared claim, or about to have one.
struct Chunk {
    claims: Claims,
    threads: [Writable; 2],
    lent: AtomicU32,
    _memory: (Vec<AtomicU32>, Vec<AtomicU64>, [Vec<AtomicU64>; 2]),
}

impl Chunk {
    const AT: u64 = 0;
    const OFFSET: u64 = 4096;

    fn new() -> Arc<Self> {
        let (words, touched) = (vec![AtomicU32::new(0)], atomics64(TOUCHED));
        let entries = [atomics64(1), atomics64(1)];
        // SAFETY: of one chunk each, alive as long as the model's round.
        let claims = unsafe { Claims::new(words.as_ptr(), touched.as_ptr()) };
        // SAFETY: as above.
        let threads = [0, 1].map(|i: usize| unsafe { claims.join(entries[i].as_ptr()) }.expect("room"));
        Arc::new(Chunk { claims, threads, lent: AtomicU32::new(0), _memory: (words, touched, entries) })
    }

    /// What the inlined code does: one look at the directory, then the store.
    fn write(&self) {
        if !self.claims.is_entered(&self.threads[1], Self::AT) {
            self.claims.enter(&self.threads[1], Self::AT, Self::OFFSET);
        }
    }

    /// A reader shares a claim, finds the element to be reuse, and hands it over.
    fn share_and_lend(&self) {
        assert!(self.claims.share(&self.threads[0], Self::AT).is_some());
        self.lent.store(1, Ordering::Release);
    }

    /// The element is written when it was handed over. Whether the claim has ended for who sees the write.
    fn write_if_lent(&self) {
        if self.lent.load(Ordering::Acquire) == 1 {
            self.write();
            assert_ne!(self.claims.shared(Self::AT), Some(0));
        }
    }
}

/// A writer writes a neighbour whenever it likes, and the element when the program hands it over.
#[test]
fn a_shared_claim_does_not_outlive_a_write_behind_it() {
    model(4, || {
        let chunk = Chunk::new();
        let reader = thread::spawn({
            let chunk = Arc::clone(&chunk);
            move || chunk.share_and_lend()
        });
        chunk.write();
        chunk.write_if_lent();
        reader.join().expect("no panic");
    });
}

/// Another reader may have made the claim, and not come far with it.
#[test]
fn who_joins_a_shared_claim_does_not_rely_on_its_maker() {
    model(4, || {
        let chunk = Chunk::new();
        chunk.write();
        let readers = [(); 2].map(|()| {
            let chunk = Arc::clone(&chunk);
            thread::spawn(move || chunk.share_and_lend())
        });
        chunk.write_if_lent();
        readers.into_iter().for_each(|reader| reader.join().expect("no panic"));
    });
}

/// A holder has filled two elements of one line with its id. Another thread reads the first after the program handed it
/// over, a third one the second whenever it likes; the holder, which has stored the second anew, gets the first one
/// back, and asks whether its cell is what it left there.
#[test]
fn who_stores_no_cell_again_is_told_of_every_read() {
    model(3, || {
        let (words, touched) = (vec![AtomicU32::new(0)], atomics64(TOUCHED));
        let entries = [atomics64(1), atomics64(1)];
        // SAFETY: of one chunk each, alive as long as the model's round.
        let claims = unsafe { Claims::new(words.as_ptr(), touched.as_ptr()) };
        // SAFETY: as above.
        let [holder, _] = [0, 1].map(|i: usize| unsafe { claims.join(entries[i].as_ptr()) }.expect("room"));
        assert!(claims.claim(&holder, 0));
        let cells = [AtomicU32::new(fresh(0).0), AtomicU32::new(fresh(0).0)];
        let shared = Arc::new((claims, cells, AtomicU32::new(0), words, touched, entries));
        let read = |element: usize, hand_over: bool| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let (claims, cells, state, ..) = &*shared;
                // What a first read does: the exchange, then the bit.
                cells[element].swap(fresh(1).0, Ordering::Release);
                claims.touch(4 * element as u64, 4 * element as u64 + 4);
                if hand_over {
                    state.store(1, Ordering::Release);
                }
            })
        };
        let readers = [read(0, true), read(1, false)];
        let (claims, cells, state, ..) = &*shared;
        let mut filled = [true, true];
        // The second is written by a loop; what was touched in its line is asked anew, and forgotten.
        let lines = claims.touched(0);
        if lines != 0 {
            filled = [false, false];
            claims.ask(0, lines);
        }
        if state.load(Ordering::Acquire) == 1 {
            let known = filled[0] && claims.touched(0) == 0;
            assert!(!known || cells[0].load(Ordering::Relaxed) == fresh(0).0, "a reader's name is taken for the id");
        }
        readers.into_iter().for_each(|reader| reader.join().expect("no panic"));
    });
}
