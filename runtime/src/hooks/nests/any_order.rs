//! First reads of a nest in which no distance begins or ends.
//!
//! What such a nest counts does not depend on the order of its reads: each element that is new to the thread is one
//! true communication, and reuse as often as it is read again. So new rows are read once, one after the other, and the
//! rest is counted with all else. With 16 threads one block in eleven of a factorisation is new; settled iteration by
//! iteration ([`super::tiles`]) each took 40 microseconds, ten times its own time.

use super::group::Kind;
use super::rows::alike;
use crate::events::EventKey;
use crate::hooks::range;
use crate::process::Process;
use crate::thread::Thread;
use crate::thread::firsts::Key;
use core::mem::MaybeUninit;
use core::slice;
use threadtalk_abi::GRANULE;
use threadtalk_abi::thread::EventCounter;
use threadtalk_profile::layout::{CrdMode, EventRecord};
use threadtalk_sigmem::open::is_open;

/// New rows of a nest: those of two blocks of 32 x 32 elements, twice. (Threads may have small stacks.)
const MOST: usize = 128;

/// A row, or a part of one.
#[derive(Clone, Copy)]
struct New {
    from: u64,
    end: u64,
    site: u32,
}

/// What a nest reads first, whenever that is.
pub struct AnyOrder {
    rows: [MaybeUninit<New>; MOST],
    used: usize,
    granules: u64,
}

impl AnyOrder {
    /// Nothing.
    pub const fn new() -> Self {
        AnyOrder { rows: [const { MaybeUninit::uninit() }; MOST], used: 0, granules: 0 }
    }

    fn rows(&self) -> &[New] {
        // SAFETY: the first `used` rows were written; the layouts are the same.
        unsafe { slice::from_raw_parts(self.rows.as_ptr().cast(), self.used) }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// How much there is.
    pub fn granules(&self) -> u64 {
        self.granules
    }

    /// Whether two lines may read the same elements first: which one does is a matter of order.
    pub fn have_lines_in_common(&self) -> bool {
        let meet = |one: &New, other: &New| one.from < other.end && other.from < one.end;
        let clash = |one: &New, other: &New| one.site != other.site && meet(one, other);
        self.rows().iter().any(|one| self.rows().iter().any(|other| clash(one, other)))
    }

    /// From `from` on, where a cell is in `state`, at most to `end`: so far elements are as new as that one, and reads
    /// of them at `site` count in that counter afterwards. `None`: they are not new, or nothing has counted there
    /// before, or the thread waits for one of them, or samples one of the first reads, or there are too many rows.
    pub fn add(
        &mut self,
        t: &mut Thread,
        p: &Process,
        (from, end): (u64, u64),
        state: u32,
        site: u32,
    ) -> Option<(u64, *mut EventCounter)> {
        let record = record(t, p, state & Kind::mask(state), site)?;
        let kind = Kind::of(state, record.cast());
        let to = alike(p, (from, end), kind);
        let granules = (to - from) / GRANULE;
        let all = self.granules + granules;
        // SAFETY: the record is this thread's.
        let has_room = p.plan.mode == CrdMode::Off || unsafe { t.traces.have_room(record, all) };
        if !has_room || kind.unwatched(t, from / GRANULE, granules as usize) < granules as usize {
            return None;
        }
        // What other threads have read of a row, and are reading, differs from element to element.
        let last = self.used.checked_sub(1).and_then(|last| self.rows.get_mut(last));
        // SAFETY: the first `used` rows were written.
        let last = last.map(|row| unsafe { row.assume_init_mut() });
        match last.filter(|row| row.site == site && row.end == from) {
            Some(row) => row.end = to,
            None => {
                self.rows.get_mut(self.used)?.write(New { from, end: to, site });
                self.used += 1;
            }
        }
        self.granules = all;
        Some((to, kind.counter))
    }

    /// Reads all of it.
    pub fn read(&self, t: &mut Thread, p: &Process) {
        for New { from, end, site } in self.rows() {
            range::read(t, p, *from, end - from, *site);
        }
    }
}

/// Where first reads of elements in a state count, and reuse of them afterwards. `None`: they are none, or such reads
/// are the first ones at all.
fn record(t: &Thread, p: &Process, state: u32, site: u32) -> Option<*mut EventRecord> {
    // Which reads of these are first ones is not in their cells.
    if is_open(state) {
        return None;
    }
    match t.firsts.get(Key::new(state, site, t.context)) {
        Some(known) if known.to == state => None,
        Some(known) => Some(known.record),
        // With 16 threads there are more sets of readers than such a read has met.
        None => {
            let written = t.view.first_from(&p.states, state)?.0;
            t.table.get(EventKey { written, site, context: t.context })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_of_two_lines_reads_first_is_a_matter_of_order_where_their_rows_meet() {
        let of = |all: &[(u64, u64, u32)]| {
            let mut rows = AnyOrder::new();
            for (place, &(from, end, site)) in rows.rows.iter_mut().zip(all) {
                place.write(New { from, end, site });
            }
            rows.used = all.len();
            rows
        };
        let (one, same) = ((4096, 4224, 1), (4160, 4288, 1));
        assert!(!of(&[one, same]).have_lines_in_common(), "one line's");
        assert!(!of(&[one, same, (4288, 4352, 2)]).have_lines_in_common(), "behind them");
        assert!(of(&[one, same, (4284, 4352, 2)]).have_lines_in_common());
    }
}
