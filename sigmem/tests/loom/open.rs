//! Open values: one who opens a line, and readers who keep bits of their own.

use crate::cells::{Tables, reader, tables};
use crate::{atomics64, fresh, model};
use loom::sync::Arc;
use loom::sync::atomic::AtomicU32;
use loom::thread;
use threadtalk_abi::cell::NONE;
use threadtalk_sigmem::open::{Known, LINE, Lines};
use threadtalk_sigmem::{Read, View, write};

/// A line of cells whose values may be opened.
struct Line {
    tables: Arc<Tables>,
    cells: Vec<AtomicU32>,
    numbers: Vec<AtomicU32>,
}

impl Line {
    fn new() -> Arc<Self> {
        let [cells, numbers] = [LINE, 2].map(|n| (0..n).map(|_| AtomicU32::new(NONE)).collect());
        Arc::new(Self { tables: tables(6), cells, numbers })
    }

    fn write(&self) {
        self.cells.iter().for_each(|cell| write(cell, fresh(0)));
    }

    /// What `with` makes of a thread's view, which lives no longer.
    fn view<T>(&self, thread: u32, with: impl FnOnce(&mut View) -> T) -> T {
        let mut reader = reader(thread);
        let known = atomics64(1);
        // SAFETY: one line, whose cells and numbers outlive the view, and a word for it.
        reader.view.known =
            unsafe { Known::new(Lines::new(self.cells.as_ptr(), 1, self.numbers.as_ptr()), known.as_ptr()) };
        with(&mut reader.view)
    }

    /// Each element is communication once, and reuse from then on.
    fn read(&self, view: &mut View) {
        for again in [false, true] {
            for cell in &self.cells {
                let found = view.read(&self.tables.states, cell);
                match found {
                    Read::Communication { writer, .. } if !again => assert_eq!(writer, fresh(0)),
                    Read::Reuse { writer, .. } if again => assert_eq!(writer, fresh(0)),
                    _ => panic!("{found:?}, again: {again}"),
                }
            }
        }
    }
}

/// Of two readers each tries to open the line before it reads: each communicates once for each element.
#[test]
fn readers_of_a_line_that_both_would_open_count_once() {
    model(2, || {
        let line = Line::new();
        line.write();
        let read = |thread: u32| {
            let line = Arc::clone(&line);
            move || {
                line.view(thread, |view| {
                    view.open(&line.tables.states, &line.cells[0]);
                    line.read(view);
                });
            }
        };
        let other = thread::spawn(read(1));
        read(2)();
        other.join().expect("no panic");
    });
}

/// What a thread has read of an earlier value is not taken for the present one, while another one opens the line anew.
#[test]
fn bits_of_an_earlier_opening_mean_nothing() {
    model(2, || {
        let line = Line::new();
        line.write();
        line.view(1, |view| {
            assert!(view.open(&line.tables.states, &line.cells[0]));
            line.read(view);
            line.write();
            let other = thread::spawn({
                let line = Arc::clone(&line);
                move || {
                    line.view(2, |view| {
                        view.open(&line.tables.states, &line.cells[1]);
                        line.read(view);
                    });
                }
            });
            line.read(view);
            other.join().expect("no panic");
        });
    });
}

/// A reader that exchanges cells as ever meets one who opens them.
#[test]
fn who_lists_itself_before_a_line_is_opened_stays_listed() {
    model(2, || {
        let line = Line::new();
        line.write();
        let other = thread::spawn({
            let line = Arc::clone(&line);
            move || line.view(1, |view| line.read(view))
        });
        line.view(2, |view| {
            view.open(&line.tables.states, &line.cells[0]);
            line.read(view);
        });
        other.join().expect("no panic");
    });
}
