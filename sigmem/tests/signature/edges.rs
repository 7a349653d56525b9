//! The ends of things: of the address space, of memory, of a thread, and of what a reader set is usually asked to hold.

use crate::memory::{EXACT, Memory, Size, Zeroed};
use std::cell::Cell;
use std::collections::BTreeSet;
use threadtalk_abi::{CHUNK_BYTES, GRANULE};
use threadtalk_sigmem::mixed::{MOST_MIXED, MOST_STATES, Mixed};
use threadtalk_sigmem::primitive::{AtomicU32, Ordering};
use threadtalk_sigmem::{
    ChunkStock, Directory, FreshId, Pool, Read, Run, Segment, Signature, StateStock, Transition, View, write,
};

const SITE_BITS: u32 = 12;

fn fresh(thread: u32) -> FreshId {
    FreshId::new(thread, true, 1, SITE_BITS)
}

/// How many cells a range has, and in how many runs.
fn count(signature: &Signature, address: u64, bytes: u64) -> (u64, usize) {
    let runs: Vec<u64> = signature
        .directory
        .runs(address, bytes)
        .map(|run| match run {
            Run::Mapped { cells, .. } => cells.len() as u64,
            Run::Unmapped { granules, .. } => granules,
        })
        .collect();
    (runs.iter().sum(), runs.len())
}

#[test]
fn ranges_end_with_the_address_space() {
    let Memory { signature, .. } = &Memory::new(EXACT);
    let end = 1 << EXACT.address_bits;
    let mut stock = ChunkStock::default();
    assert!(signature.cell(end - 1, &mut stock).is_some());
    assert!(signature.cell(end, &mut stock).is_none());
    assert!(signature.cell(u64::MAX, &mut stock).is_none());
    assert!(signature.directory.translate(u64::MAX).is_none());
    assert!(!signature.is_aliased(u64::MAX));
    assert_eq!(count(signature, end - 6, 100), (2, 1));
    assert_eq!(count(signature, end - CHUNK_BYTES - 1, u64::MAX), (CHUNK_BYTES / GRANULE + 1, 2));
    assert_eq!(count(signature, end, 1), (0, 0));
    assert_eq!(count(signature, u64::MAX, u64::MAX), (0, 0));
    signature.clear(end - 6, u64::MAX);
}

#[test]
fn an_access_touches_every_granule_that_it_overlaps() {
    let Memory { signature, .. } = &Memory::new(EXACT);
    assert_eq!(count(signature, 100, 0), (0, 0));
    assert_eq!(count(signature, 100, 1), (1, 1));
    assert_eq!(count(signature, 103, 2), (2, 1));
    assert_eq!(count(signature, 101, 8), (3, 1));
    assert_eq!(count(signature, CHUNK_BYTES - 1, 2), (2, 2));
    assert_eq!(count(signature, 0, 3 * CHUNK_BYTES), (3 * CHUNK_BYTES / GRANULE, 3));
}

/// A range in one chunk is the run that going through it gives, and no other range is one.
#[test]
fn one_run_is_the_only_one() {
    let Memory { signature, .. } = &Memory::new(EXACT);
    let mut stock = ChunkStock::default();
    assert!(signature.cell(CHUNK_BYTES, &mut stock).is_some());
    let described = |run: Run<'_>| match run {
        Run::Mapped { address, cells } => (address, cells.len() as u64, Some(cells.as_ptr())),
        Run::Unmapped { address, granules } => (address, granules, None),
    };
    let borders = [0, CHUNK_BYTES, 2 * CHUNK_BYTES].map(|border| border + CHUNK_BYTES);
    for address in borders.into_iter().flat_map(|border| border - 9..border + 9) {
        for bytes in (0..20).chain(CHUNK_BYTES - 12..CHUNK_BYTES + 12) {
            let runs: Vec<_> = signature.directory.runs(address, bytes).map(described).collect();
            let one = signature.directory.one_run(address, bytes).map(described);
            assert_eq!(one, (runs.len() == 1).then(|| runs[0]), "{address} {bytes}");
        }
    }
    assert!(signature.directory.one_run(8, u64::MAX).is_none());
    assert_eq!(signature.directory.one_run(u64::MAX - 7, 8).map(described), Some((u64::MAX - 7, 2, None)));
}

#[test]
fn clearing_makes_no_cells() {
    let Memory { signature, .. } = &Memory::new(EXACT);
    signature.clear(0, 1 << EXACT.address_bits);
    assert_eq!(signature.pool.chunks(), 0);
    let mut stock = ChunkStock::default();
    let cell = signature.cell(5 * CHUNK_BYTES + 8, &mut stock).expect("memory");
    write(cell, fresh(3));
    signature.clear(5 * CHUNK_BYTES + 12, 4);
    assert_eq!(cell.load(Ordering::Relaxed), fresh(3).0, "the neighbour died");
    signature.clear(5 * CHUNK_BYTES + 7, 2);
    assert_eq!(cell.load(Ordering::Relaxed), 0);
    assert_eq!(signature.pool.chunks(), 1);
}

thread_local! {
    static LEFT: Cell<Option<Segment>> = const { Cell::new(None) };
}

fn one_segment(_: Option<Segment>) -> Option<Segment> {
    LEFT.take()
}

#[test]
fn exact_mode_without_memory_has_no_cells() {
    let mut entries = Zeroed::new(Directory::words(EXACT.address_bits));
    let mut cells = Zeroed::new(CHUNK_BYTES as usize / 8);
    LEFT.set(Some(Segment { base: cells.address() as u64, chunks: 1 }));
    // SAFETY: zeroed, of these lengths, alive to the end of the test.
    let signature =
        unsafe { Signature::new(Directory::new(entries.words(), EXACT.address_bits), Pool::growing(one_segment)) };
    let mut stock = ChunkStock::default();
    assert!(signature.cell(0, &mut stock).is_some());
    assert!(signature.cell(CHUNK_BYTES, &mut stock).is_none());
    let runs: Vec<bool> =
        signature.cells(0, 2 * CHUNK_BYTES, &mut stock).map(|run| matches!(run, Run::Mapped { .. })).collect();
    assert_eq!(runs, [true, false]);
    assert_eq!((signature.pool.chunks(), signature.pool.bytes_in_use()), (1, CHUNK_BYTES));
    // An empty segment is no memory.
    LEFT.set(Some(Segment { base: 4, chunks: 0 }));
    assert!(signature.cell(CHUNK_BYTES, &mut stock).is_none());
}

#[test]
fn the_directory_knows_where_cells_were_made() {
    const MIB: u64 = 1 << 20;
    let memory = Memory::new(Size { address_bits: 33, ..EXACT });
    let (directory, mut stock) = (&memory.signature.directory, ChunkStock::default());
    assert_eq!(directory.used().count(), 0);
    for address in [5000 * MIB, 40 * MIB, 8191 * MIB, 63 * MIB, 5000 * MIB + CHUNK_BYTES] {
        memory.signature.map(address, &mut stock).expect("memory");
    }
    let expected = [32, 4992, 8160].map(|at| (at * MIB, 32 * MIB));
    assert_eq!(directory.used().collect::<Vec<_>>(), expected);
    // All of a small address space is one range.
    let small = Memory::new(EXACT);
    small.signature.map(0, &mut stock).expect("memory");
    assert_eq!(small.signature.directory.used().collect::<Vec<_>>(), [(0, 1 << EXACT.address_bits)]);
}

/// The entry for memory whose cells would be itself is 0, which means something else.
#[test]
fn the_pool_itself_has_no_cells() {
    let mut entries = Zeroed::new(Directory::words(EXACT.address_bits));
    LEFT.set(Some(Segment { base: 3 * CHUNK_BYTES, chunks: 1 }));
    // SAFETY: the segment's address is a mere number: no cell is touched.
    let signature =
        unsafe { Signature::new(Directory::new(entries.words(), EXACT.address_bits), Pool::growing(one_segment)) };
    let mut stock = ChunkStock::default();
    assert_eq!(signature.map(3 * CHUNK_BYTES + 5, &mut stock), None);
    assert_eq!(signature.map(2 * CHUNK_BYTES, &mut stock), Some(CHUNK_BYTES));
}

/// More threads than any set starts with, in an order that makes sets grow at both ends.
#[test]
fn a_thousand_readers_of_one_value_are_told_apart() {
    let size = Size { states: 4_096, set_words: 1 << 16, ..EXACT };
    let memory = Memory::new(size);
    let mut stock = ChunkStock::default();
    let cell = memory.signature.cell(64, &mut stock).expect("memory");
    write(cell, fresh(500));
    let mut transitions = [Transition::EMPTY; 4];
    // SAFETY: four slots that outlive the view.
    let mut view = unsafe { View::new(500, SITE_BITS, transitions.as_mut_ptr(), 2) };
    let readers: Vec<u32> = (0..1_000).map(|i| (i * 617) % 1_009).filter(|thread| *thread != 500).collect();
    for expected_reuse in [false, true] {
        for thread in &readers {
            view.pass_on(*thread);
            let reuse = match view.read(&memory.states, cell) {
                Read::Communication { writer, .. } if writer == fresh(500) => false,
                Read::Reuse { writer, .. } if writer == fresh(500) => true,
                other => panic!("thread {thread}: {other:?}"),
            };
            assert_eq!(reuse, expected_reuse, "thread {thread}");
        }
    }
    view.pass_on(500);
    assert!(matches!(view.read(&memory.states, cell), Read::Own { .. }));
    let state = memory.states.decode(cell.load(Ordering::Relaxed)).expect("a state");
    let mut sorted = readers.clone();
    sorted.sort_unstable();
    assert_eq!(memory.states.sets.members(state.readers).collect::<Vec<_>>(), sorted);
}

/// Teams that are made anew for each phase read in any order what the first thread wrote: each read is what it is, and
/// there are states for the sets of one team's readers, not for those of all together.
#[test]
fn readers_that_have_ended_make_no_states() {
    let run = |teams_end: bool| {
        let memory = Memory::new(Size { states: 1 << 16, set_words: 1 << 20, ..EXACT });
        let mut stock = ChunkStock::default();
        let cells: Vec<&AtomicU32> =
            (0..1_000).map(|i| memory.signature.cell(4 * i, &mut stock).expect("memory")).collect();
        cells.iter().for_each(|cell| write(cell, fresh(0)));
        let mut transitions = [Transition::EMPTY; 256];
        // SAFETY: 256 slots that outlive the view.
        let mut view = unsafe { View::new(0, SITE_BITS, transitions.as_mut_ptr(), 8) };
        let mut rng = fastrand::Rng::with_seed(11);
        let mut of_teams = Vec::new();
        for team in 0..6 {
            let mut have_read = BTreeSet::new();
            for _ in 0..16_000 {
                let (thread, cell) = (1 + 16 * team + rng.u32(0..16), rng.usize(0..cells.len()));
                view.pass_on(thread);
                let reuse = match view.read(&memory.states, cells[cell]) {
                    Read::Communication { writer, .. } if writer.thread(SITE_BITS) == 0 => false,
                    Read::Reuse { writer, .. } if writer.thread(SITE_BITS) == 0 => true,
                    other => panic!("thread {thread}: {other:?}"),
                };
                assert_eq!(reuse, !have_read.insert((thread, cell)), "thread {thread}, cell {cell}");
            }
            if teams_end {
                (0..16).for_each(|member| memory.states.thread_ended(1 + 16 * team + member));
            }
            of_teams.push(memory.states.len());
        }
        of_teams
    };
    let (ended, living) = (run(true), run(false));
    assert!(ended[0] < 800 && ended[0] == living[0], "sets of up to three: {ended:?} {living:?}");
    assert!(ended[5] < 6 * 1_500 && living[5] > 40_000, "{ended:?} {living:?}");
}

/// Sixteen threads that write at two hundred lines each and read at random: more values than have numbers, and more
/// sets of readers than the tables have room for. Each read is what it is, and its writer is known; its line until the
/// value has several readers and no number, or the tables are half used.
#[test]
fn values_without_a_number_are_those_of_their_thread() {
    const THREADS: u32 = 16;
    let memory = Memory::new(Size { states: 1 << 16, ..EXACT });
    let mut stock = ChunkStock::default();
    let cells: Vec<&AtomicU32> =
        (0..200 * THREADS).map(|i| memory.signature.cell(4 * u64::from(i), &mut stock).expect("memory")).collect();
    let value = |cell: usize| FreshId::new(1 + cell as u32 % THREADS, true, 1 + cell as u32 / THREADS, SITE_BITS);
    cells.iter().enumerate().for_each(|(at, cell)| write(cell, value(at)));
    let mut transitions = [Transition::EMPTY; 256];
    // SAFETY: 256 slots that outlive the view.
    let mut view = unsafe { View::new(0, SITE_BITS, transitions.as_mut_ptr(), 8) };
    let mut reads: Vec<(u32, usize)> =
        (1..=THREADS).flat_map(|t| (0..cells.len()).map(move |cell| (t, cell))).collect();
    let mut rng = fastrand::Rng::with_seed(5);
    let (mut known, mut unknown) = (0, 0);
    for is_first in [true, false] {
        rng.shuffle(&mut reads);
        for &(thread, cell) in &reads {
            view.pass_on(thread);
            let writer = match view.read(&memory.states, cells[cell]) {
                Read::Own { .. } => {
                    assert_eq!(value(cell).thread(SITE_BITS), thread);
                    continue;
                }
                Read::Communication { writer, .. } if is_first => writer,
                Read::Reuse { writer, .. } if !is_first => writer,
                other => panic!("thread {thread}, cell {cell}: {other:?}"),
            };
            assert!([value(cell), value(cell).without_site(SITE_BITS)].contains(&writer), "{cell}: {writer:?}");
            *if writer == value(cell) { &mut known } else { &mut unknown } += 1;
        }
    }
    assert!(memory.states.lineless_values() >= u64::from(THREADS));
    assert!(known > 40_000 && unknown > 10_000, "{known} {unknown}");
    assert!(memory.states.len() < 1 << 15 | 1 << 13, "{}", memory.states.len());
}

/// A control block that serves another thread: what the first had read is new to the second.
#[test]
fn a_view_that_is_passed_on_forgets_what_its_thread_knew() {
    let memory = Memory::new(EXACT);
    let mut stock = ChunkStock::default();
    let cells = [0, 4].map(|address| memory.signature.cell(address, &mut stock).expect("memory"));
    cells.iter().for_each(|cell| write(cell, fresh(1)));
    let mut transitions = [Transition::EMPTY; 4];
    // SAFETY: four slots that outlive the view.
    let mut view = unsafe { View::new(2, SITE_BITS, transitions.as_mut_ptr(), 2) };
    let Read::Communication { state, .. } = view.read(&memory.states, cells[0]) else { panic!("new to 2") };
    view.pass_on(3);
    assert_eq!((view.thread(), view.own_base()), (3, fresh(3).0 & !0x1fff));
    let Read::Communication { state: other, .. } = view.read(&memory.states, cells[1]) else { panic!("new to 3") };
    assert_ne!(state, other);
    assert!(matches!(view.read(&memory.states, cells[0]), Read::Communication { .. }));
    write(cells[0], fresh(3));
    assert!(matches!(view.read(&memory.states, cells[0]), Read::Own { .. }));
}

#[test]
fn names_without_a_state_decode_to_none() {
    let memory = Memory::new(EXACT);
    for name in [0, 1, fresh(3).0, 0x8000_0000, 0x8000_0000 | EXACT.states, u32::MAX] {
        assert_eq!(memory.states.decode(name), None, "{name:#x}");
    }
    assert!(memory.states.is_empty());
    let name = memory.states.with_reader(fresh(3).0, 4, &mut StateStock::default()).expect("room");
    assert_eq!(memory.states.decode(name).map(|state| state.writer), Some(fresh(3)));
    assert_eq!(memory.states.len(), 1);
}

/// A row of many states is read as far as its states can be told apart, whatever its beginning; what is alike from
/// some place on is left to those who read such neighbours.
#[test]
fn a_row_in_many_states_ends_where_they_are_too_many_or_alike() {
    let Memory { signature, states, .. } = &Memory::new(EXACT);
    let mut transitions = [Transition::EMPTY; 256];
    // SAFETY: so many slots, which outlive the view.
    let mut view = unsafe { View::new(9, SITE_BITS, transitions.as_mut_ptr(), 8) };
    let mut stock = ChunkStock::default();
    let mut read = |first: usize, writers: &dyn Fn(usize) -> u32| {
        let run = signature.cells(GRANULE * first as u64, 4000, &mut stock).next();
        let Some(Run::Mapped { cells, .. }) = run else { panic!("no cells") };
        cells.iter().enumerate().for_each(|(at, cell)| write(cell, fresh(writers(at))));
        let mut mixed = Mixed::new();
        let read = view.read_mixed(states, cells, &mut mixed);
        for (at, cell) in cells.iter().enumerate() {
            let is_read = cell.load(Ordering::Relaxed) != fresh(writers(at)).0;
            assert_eq!(is_read, at < read && writers(at) != 9, "{at} of {read}");
            if is_read {
                assert_eq!(mixed.members()[usize::from(mixed.numbers()[at])].writer, fresh(writers(at)), "{at}");
            }
        }
        read
    };
    for first in 0..5 {
        assert_eq!(read(first, &|at| at as u32 / 2 % 2), MOST_MIXED, "two by turns");
        assert_eq!(read(first, &|at| at as u32 % 31), MOST_MIXED);
        assert_eq!(read(first, &|at| 100 + at as u32), MOST_STATES, "one to an element");
        let alike = read(first, &|at| if at < 10 { at as u32 } else { 3 });
        assert!((40..50).contains(&alike), "{alike} from {first}");
    }
}
