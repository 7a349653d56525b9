//! Cells, the names of states, and readers.

use crate::{SITE_BITS, atomics64, fresh, model};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use loom::thread;
use threadtalk_abi::cell::{NONE, TRACKED};
use threadtalk_sigmem::mixed::Mixed;
use threadtalk_sigmem::states::{ENDED_WORDS, ReaderSet, SetMemory, VALUES};
use threadtalk_sigmem::{
    Band, FreshId, Member, MemberRead, Read, State, StateMemory, StateStock, States, Transition, View, Waiters, track,
    untrack, write,
};

pub struct Tables {
    pub states: States,
    cell: AtomicU32,
    _memory: [Vec<AtomicU64>; 6],
}

/// Room for few states: model atomics are dear.
pub fn tables(capacity: u32) -> Arc<Tables> {
    let of_states = [atomics64(capacity as usize), atomics64(8), atomics64(VALUES as usize), atomics64(ENDED_WORDS)];
    let [entries, slots, values, ended] = of_states;
    let memory = [entries, slots, values, ended, atomics64(140), atomics64(4)];
    let [entries, slots, values, ended, words, set_slots] = &memory;
    let sets =
        SetMemory { words: words.as_ptr(), capacity: words.len() as u64, slots: set_slots.as_ptr(), slots_log2: 2 };
    let (entries, slots, values, ended) = (entries.as_ptr(), slots.as_ptr(), values.as_ptr(), ended.as_ptr());
    let site_bits = SITE_BITS;
    let all = StateMemory { site_bits, entries, capacity, slots, slots_log2: 3, values, ended, sets };
    // SAFETY: of these lengths; the buffers of the vectors stay where they are when the vectors move.
    let states = unsafe { States::new(all) };
    Arc::new(Tables { states, cell: AtomicU32::new(NONE), _memory: memory })
}

/// A view with the memory of its transition cache.
pub struct Reader {
    pub view: View,
    _transitions: Box<[Transition; 2]>,
}

pub fn reader(thread: u32) -> Reader {
    let mut transitions = Box::new([Transition::EMPTY; 2]);
    // SAFETY: two slots, boxed, alive as long as the view.
    let view = unsafe { View::new(thread, SITE_BITS, transitions.as_mut_ptr(), 1) };
    Reader { view, _transitions: transitions }
}

/// A thread's first read of the value is communication; the second is reuse, of a state that tells that it has read.
fn read_twice(tables: &Tables, thread: u32) {
    let mut reader = reader(thread);
    let first = reader.view.read(&tables.states, &tables.cell);
    assert!(matches!(first, Read::Communication { writer, .. } if writer == fresh(0)), "{first:?}");
    let second = reader.view.read(&tables.states, &tables.cell);
    let Read::Reuse { writer, state, tracked: false } = second else { panic!("{second:?}") };
    assert_eq!(writer, fresh(0));
    let State { readers, .. } = tables.states.decode(state).expect("a state");
    assert!(tables.states.sets.members(readers).any(|member| member == thread));
}

/// Two threads give the same state a name, a third one another state: one name each, and it means the same to all.
#[test]
fn equal_states_get_one_name() {
    model(3, || {
        let tables = tables(6);
        let intern = |thread: u32| {
            let tables = Arc::clone(&tables);
            move || {
                let name = tables.states.with_reader(fresh(0).0, thread, &mut StateStock::default()).expect("room");
                let readers = ReaderSet::Near(Band::one(thread));
                assert_eq!(tables.states.decode(name), Some(State { writer: fresh(0), readers }));
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

/// Two threads build the same set of two that are close: the name is composed, and both find the value behind it.
#[test]
fn equal_composed_states_get_one_name() {
    model(3, || {
        let tables = tables(6);
        let build = |writer: u32, first: u32, second: u32| {
            let tables = Arc::clone(&tables);
            move || {
                let mut stock = StateStock::default();
                let name = tables.states.with_reader(fresh(writer).0, first, &mut stock).expect("room");
                let name = tables.states.with_reader(name, second, &mut stock).expect("room");
                let State { writer: found, readers } = tables.states.decode(name).expect("a state");
                assert_eq!(found, fresh(writer));
                assert!(matches!(readers, ReaderSet::Near(band) if band.members().eq([3, 5])), "{readers:?}");
                name
            }
        };
        let same = thread::spawn(build(0, 5, 3));
        let other = thread::spawn(build(1, 3, 5));
        let mine = build(0, 3, 5)();
        assert_eq!(same.join().expect("no panic"), mine);
        assert_ne!(other.join().expect("no panic"), mine);
    });
}

/// A name that a reader composes and one that another one finds in the cell: both tell writer and readers.
#[test]
fn readers_that_are_close_find_composed_names_in_the_cell() {
    model(3, || {
        let tables = tables(6);
        write(&tables.cell, fresh(0));
        let theirs = Arc::clone(&tables);
        let other = thread::spawn(move || read_twice(&theirs, 4));
        read_twice(&tables, 3);
        other.join().expect("no panic");
        let State { readers, .. } = tables.states.decode(tables.cell.load(Ordering::Relaxed)).expect("a state");
        assert!(matches!(readers, ReaderSet::Near(band) if band.members().eq([3, 4])), "{readers:?}");
    });
}

/// Two readers of one value: each communicates once, then reuses, and the name that a reader finds in the cell
/// is one that it can decode, readers and all.
#[test]
fn readers_of_one_cell_lose_nothing() {
    model(3, || {
        let tables = tables(6);
        write(&tables.cell, fresh(0));
        let theirs = Arc::clone(&tables);
        let other = thread::spawn(move || read_twice(&theirs, 1));
        read_twice(&tables, 70);
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

/// Two neighbours that two lines wrote, one reader taking what it can at once, as structures or in whatever state they
/// are, and the other one cell by cell: each communicates once for each cell, whoever comes first, and both are among
/// the readers.
#[test]
fn cells_in_several_states_read_at_once_count_once_for_each_reader() {
    for are_structures in [true, false] {
        several_states(are_structures);
    }
}

fn several_states(are_structures: bool) {
    model(2, move || {
        let tables = tables(8);
        let cells: Arc<Vec<AtomicU32>> = Arc::new((0..2).map(|_| AtomicU32::new(NONE)).collect());
        let writers = [fresh(0), FreshId(fresh(0).0 + 1)];
        cells.iter().zip(writers).for_each(|(cell, writer)| write(cell, writer));
        let other = thread::spawn({
            let (tables, cells) = (Arc::clone(&tables), Arc::clone(&cells));
            move || {
                let mut reader = reader(70);
                for (cell, of) in cells.iter().zip(writers) {
                    let found = reader.view.read(&tables.states, cell);
                    assert!(matches!(found, Read::Communication { writer, .. } if writer == of), "{found:?}");
                }
            }
        });
        let mut reader = reader(1);
        let mut members = [Member::NONE; 2];
        let read = if are_structures {
            reader.view.read_structures(&tables.states, &cells, &mut members, |_| true)
        } else {
            let mut mixed = Mixed::new();
            let read = reader.view.read_mixed(&tables.states, &cells, &mut mixed);
            for (member, number) in members.iter_mut().zip(mixed.numbers()).take(read) {
                *member = mixed.members()[usize::from(*number)];
            }
            read
        };
        for (member, of) in members.iter().zip(writers).take(read) {
            assert_eq!((member.writer, member.read), (of, MemberRead::Communication));
        }
        for (cell, of) in cells.iter().zip(writers).skip(read) {
            let found = reader.view.read(&tables.states, cell);
            assert!(matches!(found, Read::Communication { writer, .. } if writer == of), "{found:?}");
        }
        other.join().expect("no panic");
        for (cell, of) in cells.iter().zip(writers) {
            let State { writer, readers } = tables.states.decode(cell.load(Ordering::Relaxed)).expect("a state");
            assert_eq!(writer, of);
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
        assert!(track(&tables.cell), "whatever the other one makes of {state:x}");
        let other = other.join().expect("no panic");
        assert!(matches!(other, Read::Communication { .. }), "{other:?}");
        let found = first.view.read(&tables.states, &tables.cell);
        assert!(matches!(found, Read::Reuse { tracked: true, .. }), "{found:?}");
        assert!(untrack(&tables.cell));
        assert_eq!(tables.cell.load(Ordering::Relaxed) & TRACKED, 0);
    });
}

/// As long as a thread waits for an element, this is marked, whoever else begins and ends to wait; and no mark is left
/// for which nobody waits.
#[test]
fn an_element_is_marked_as_long_as_somebody_waits() {
    model(3, || {
        let tables = tables(6);
        write(&tables.cell, fresh(0));
        assert!(matches!(reader(1).view.read(&tables.states, &tables.cell), Read::Communication { .. }));
        let waiters = Waiters::new(Box::leak(Box::new([AtomicU32::new(0)])));
        let wait = || {
            let tables = Arc::clone(&tables);
            move || {
                let cell = &tables.cell;
                for _ in 0..2 {
                    if waiters.enter(5) {
                        track(cell);
                        assert_ne!(cell.load(Ordering::Relaxed) & TRACKED, 0, "another one took the mark away");
                        if waiters.leave(5) {
                            waiters.take_away(5, Some(cell));
                        }
                    }
                }
            }
        };
        let other = thread::spawn(wait());
        wait()();
        other.join().expect("no panic");
        assert_eq!(tables.cell.load(Ordering::Relaxed) & TRACKED, 0);
        assert!(waiters.enter(5), "nobody waits");
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
        // Far from the other one: together they are in no composed name.
        let mine = read(70)();
        let other = other.join().expect("no panic");
        assert!(mine != other, "exactly one of them found room");
        assert_eq!(tables.states.len(), 1);
    });
}
