//! Cells for a chunk of memory: from the pool, or shared with another chunk where it is used up.

use crate::{atomics64, model};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use loom::thread;
use threadtalk_abi::{CHUNK_BYTES, CHUNK_SHIFT};
use threadtalk_sigmem::{ChunkStock, Directory, Pool, Segment, Signature};

/// Number that the tests use as the address of the pool; nothing is ever there.
const POOL: u64 = 1 << 40;

struct Map {
    signature: Signature,
    entries: Vec<AtomicU64>,
    _occupants: Vec<AtomicU32>,
}

fn map(chunks: u64) -> Arc<Map> {
    let entries = atomics64(Directory::words(CHUNK_SHIFT + 2));
    let occupants: Vec<_> = (0..chunks).map(|_| AtomicU32::new(0)).collect();
    let region = Segment { base: POOL, chunks };
    // SAFETY: of these lengths; no cell is ever touched.
    let (directory, pool) = unsafe {
        (Directory::new(entries.as_ptr(), CHUNK_SHIFT + 2), Pool::fixed(region, occupants.as_ptr(), |_, _| {}))
    };
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
    model(2, || {
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
