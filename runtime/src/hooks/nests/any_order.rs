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
use threadtalk_abi::cell::{SHARED, TRACKED};
use threadtalk_abi::loops::MOST_IN_NEST;
use threadtalk_abi::thread::EventCounter;
use threadtalk_profile::layout::{CrdMode, EventRecord};

/// New rows of a nest: those of two blocks of 32 x 32 elements, twice. (Threads may have small stacks.)
const MOST: usize = 128;

/// A row, or a part of one.
#[derive(Clone, Copy)]
struct New {
    address: u64,
    bytes: u32,
    look: u32,
}

/// What one of a nest's accesses reads first.
#[derive(Clone, Copy)]
struct Reach {
    from: u64,
    end: u64,
    site: u32,
}

impl Reach {
    const NONE: Self = Self { from: u64::MAX, end: 0, site: 0 };
}

/// What a nest reads first, whenever that is.
pub struct AnyOrder {
    rows: [MaybeUninit<New>; MOST],
    used: usize,
    granules: u64,
    /// Of each look at an access.
    reaches: [Reach; MOST_IN_NEST],
}

impl AnyOrder {
    /// Nothing.
    pub const fn new() -> Self {
        AnyOrder {
            rows: [const { MaybeUninit::uninit() }; MOST],
            used: 0,
            granules: 0,
            reaches: [Reach::NONE; MOST_IN_NEST],
        }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Whether two lines may read the same elements first: which one does is a matter of order.
    pub fn have_lines_in_common(&self) -> bool {
        let all = || self.reaches.iter().enumerate().filter(|(_, reach)| reach.end > 0);
        let clash = |one: &Reach, other: &Reach| one.site != other.site && one.from < other.end && other.from < one.end;
        all().any(|(number, one)| all().skip_while(|(other, _)| *other <= number).any(|(_, other)| clash(one, other)))
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
        (look, site): (u32, u32),
    ) -> Option<(u64, *mut EventCounter)> {
        let mask = if state & SHARED != 0 { !TRACKED } else { u32::MAX };
        let record = record(t, p, state & mask, site)?;
        let kind = Kind { value: state & mask, mask, counter: record.cast() };
        let to = alike(p, (from, end), kind);
        let granules = (to - from) / GRANULE;
        let all = self.granules + granules;
        // SAFETY: the record is this thread's.
        let has_room = p.plan.mode == CrdMode::Off || unsafe { t.traces.have_room(record, all) };
        if !has_room || kind.unwatched(t, from / GRANULE, granules as usize) < granules as usize {
            return None;
        }
        let reach = self.reaches.get_mut(look as usize)?;
        // What other threads have read of a row, and are reading, differs from element to element.
        let last = self.used.checked_sub(1).and_then(|last| self.rows.get_mut(last));
        // SAFETY: the first `used` rows were written.
        let last = last.map(|row| unsafe { row.assume_init_mut() });
        match last.filter(|row| row.look == look && row.address + u64::from(row.bytes) == from) {
            Some(row) => row.bytes += (to - from) as u32,
            None => {
                self.rows.get_mut(self.used)?.write(New { address: from, bytes: (to - from) as u32, look });
                self.used += 1;
            }
        }
        *reach = Reach { from: reach.from.min(from), end: reach.end.max(to), site };
        self.granules = all;
        Some((to, kind.counter))
    }

    /// Reads all of it.
    pub fn read(&self, t: &mut Thread, p: &Process) {
        // SAFETY: the first `used` rows were written; the layouts are the same.
        let rows = unsafe { slice::from_raw_parts(self.rows.as_ptr().cast::<New>(), self.used) };
        for New { address, bytes, look } in rows {
            if let Some(Reach { site, .. }) = self.reaches.get(*look as usize) {
                range::read(t, p, *address, u64::from(*bytes), *site);
            }
        }
    }
}

/// Where first reads of elements in a state count, and reuse of them afterwards. `None`: they are none, or such reads
/// are the first ones at all.
fn record(t: &Thread, p: &Process, state: u32, site: u32) -> Option<*mut EventRecord> {
    match t.firsts.get(Key { from: state, site, context: t.context }) {
        Some((to, _)) if to == state => None,
        Some((_, record)) => Some(record),
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
        let mut rows = AnyOrder::new();
        let reach = |from, end, site| Reach { from, end, site };
        rows.reaches[0] = reach(4096, 4224, 1);
        rows.reaches[2] = reach(4160, 4288, 1);
        assert!(!rows.have_lines_in_common(), "one line's");
        rows.reaches[3] = reach(4288, 4352, 2);
        assert!(!rows.have_lines_in_common(), "behind them");
        rows.reaches[3] = reach(4284, 4352, 2);
        assert!(rows.have_lines_in_common());
    }
}
