//! Bundles of reads learn what states their cells are in: see [`threadtalk_abi::bundle`].

use crate::process::Process;
use crate::thread::Thread;
use crate::thread::patterns::Known;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::bundle::{Bundle, LEARN_IN, Piece};
use threadtalk_abi::cell::NONE;
use threadtalk_abi::thread::EventCounter;
use threadtalk_abi::{CHUNK_SHIFT, GRANULE};

/// A pattern is counted so many times at most before its counters are told: as long as another thread's pause may go
/// unnoticed, some 50 microseconds.
const MOST_GRANTED: u64 = 4096;

/// And so many times at least: else the next sample is so near that each read had better look for itself.
const LEAST_GRANTED: u64 = 16;

/// Of what a counter may still count before a sample is due, a pattern gets one in so many for each cell: others count
/// there as well.
const SHARE: u64 = 8;

/// Gives the bundle a pattern of the states that its cells are in now, if the thread knows what all of them mean.
pub fn learn(t: &mut Thread, p: &Process, address: u64, bundle: &Bundle) {
    t.header.learn_in = LEARN_IN;
    let Some(cells) = Cells::of(p, address, bundle).filter(|_| !p.is_paused()) else { return };
    let place = cells.at(address).wrapping_add(bundle.salt);
    t.patterns.clear(place);
    // SAFETY: the bases of a registered module.
    let base = unsafe { (*bundle.bases).site_base };
    let mut known = Known::new(MOST_GRANTED);
    for piece in cells.pieces {
        let site = base.wrapping_add(piece.site);
        let second = if piece.granules == 2 { cells.at(begin(address, piece) + GRANULE) } else { 0 };
        for (half, state) in [cells.at(begin(address, piece)), second].into_iter().enumerate() {
            if half < piece.granules as usize {
                let Some(counter) = meaning(t, state, site) else { return };
                known.granted = known.granted.min(room(t, counter) / SHARE);
                known.add(counter, u64::from(state) << (32 * half));
            }
        }
        known.end_piece();
    }
    if known.granted >= LEAST_GRANTED {
        t.patterns.set(place, bundle, &known);
    }
}

/// A bundle's cells, all in one chunk.
struct Cells<'b> {
    pieces: &'b [Piece],
    offset: u64,
}

impl<'b> Cells<'b> {
    fn of(p: &Process, address: u64, bundle: &'b Bundle) -> Option<Self> {
        let (pieces, offset) = (bundle.pieces.get(..bundle.count as usize)?, p.signature.directory.offset(address)?);
        let inside = |address: u64, other: u64| address >> CHUNK_SHIFT == other >> CHUNK_SHIFT;
        let is_inside = |piece: &Piece| {
            let last = begin(address, piece) + GRANULE * u64::from(piece.granules) - 1;
            inside(begin(address, piece), address) && inside(last, address)
        };
        pieces.iter().all(is_inside).then_some(Self { pieces, offset })
    }

    /// Relaxed: what the states stand for is known since the thread made such reads before.
    fn at(&self, address: u64) -> u32 {
        let cell = core::ptr::with_exposed_provenance::<AtomicU32>(address.wrapping_add(self.offset) as usize);
        // SAFETY: bundles read whole granules, and all of these lie in a chunk with cells.
        unsafe { (*cell).load(Ordering::Relaxed) }
    }
}

fn begin(address: u64, piece: &Piece) -> u64 {
    address.wrapping_add_signed(piece.first.into())
}

/// Where a read of a cell in this state counts, if it is reuse or no event.
fn meaning(t: &Thread, state: u32, site: u32) -> Option<*mut EventCounter> {
    match t.header.is_own(state) {
        true => Some(t.idle_counter()),
        false => t.known(state, site).filter(|_| state != NONE),
    }
}

/// How many more a counter may count before a sample is due.
fn room(t: &Thread, counter: *mut EventCounter) -> u64 {
    if counter == t.idle_counter() {
        return u64::MAX;
    }
    // SAFETY: a counter of this thread's event cache.
    unsafe { (*counter).next.saturating_sub((*counter).rar.saturating_add(1)) }
}
