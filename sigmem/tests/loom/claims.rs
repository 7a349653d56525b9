//! What a thread knows of a chunk that it has claimed.

use crate::{atomics64, fresh, model};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;
use threadtalk_sigmem::Claims;
use threadtalk_sigmem::claims::TOUCHED;

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
