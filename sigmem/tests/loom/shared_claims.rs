//! Claims that several threads hold while nobody writes.

use crate::{atomics64, model};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use loom::thread;
use threadtalk_sigmem::claims::TOUCHED;
use threadtalk_sigmem::{Claims, Writable};

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
