//! Who has read the open values of a line: the names of their states do not tell.

use crate::process::Process;
use core::sync::atomic::AtomicU32;
use threadtalk_sigmem::open::is_open;

/// Threads of one line; of more, the others are not known.
const MOST: usize = 256;

/// For threads that have read some of a line's open values, a bit for each element.
pub struct OpenReaders {
    of: [(u32, u32); MOST],
    used: usize,
}

impl OpenReaders {
    /// Nobody has, or there are none.
    pub const NONE: Self = Self { of: [(0, 0); MOST], used: 0 };

    /// Those of a line with open values. Threads that have ended are among them as long as no other one has taken over
    /// their memory.
    pub fn of(process: &Process, line: &[AtomicU32]) -> Self {
        let mut readers = Self::NONE;
        let Some(first) = line.first() else { return readers };
        for block in process.pool.all() {
            // SAFETY: blocks are never unmapped, and what is copied here never changes.
            let known = unsafe { (&raw const (*block).view.known).read() };
            let bits = known.of_line(first);
            if let Some(place) = readers.of.get_mut(readers.used).filter(|_| bits != 0) {
                // SAFETY: as above. A number, no more.
                *place = (unsafe { (*block).view.thread() }, bits);
                readers.used += 1;
            }
        }
        readers
    }

    fn all(&self, at: usize) -> impl Iterator<Item = u32> + '_ {
        self.of.iter().take(self.used).filter(move |(_, bits)| bits >> at & 1 == 1).map(|(thread, _)| *thread)
    }

    /// The readers of the element at this place whose state is `state`.
    pub fn at(&self, state: u32, at: usize) -> impl Iterator<Item = u32> + '_ {
        self.all(at).filter(move |_| is_open(state))
    }
}
