//! What of a loop or a nest is read by itself, and in which order.

use super::unread::Columns;
use core::mem::MaybeUninit;
use core::{ptr, slice};
use threadtalk_abi::thread::EventCounter;

/// What of a loop is read by itself, without samples and with them. (Threads may have small stacks.)
const MOST_APART: usize = 64;
const MOST_TURNS: usize = 96;

/// When something is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// The iteration, or the time of a nest ([`super::order`]).
    pub at: u64,
    /// In an iteration accesses are in the order of its body: the number of the look.
    pub look: u32,
    /// Elements of one access are read from the lowest address on.
    pub address: u64,
}

/// What a loop reads by itself.
#[derive(Clone, Copy)]
pub enum What {
    /// An element that the thread waits for.
    Awaited,
    /// An element that is sampled.
    Sample,
    /// So many bytes that nothing is known of yet.
    Row(u32),
}

/// A read of its own.
#[derive(Clone, Copy)]
pub struct Turn {
    /// When it is, and what.
    pub moment: Moment,
    /// The reading line.
    pub site: u32,
    /// Why.
    pub what: What,
    /// Where the read of an element counts.
    pub counter: *mut EventCounter,
}

/// Turns, so many at most.
struct List<const MOST: usize> {
    turns: [MaybeUninit<Turn>; MOST],
    used: usize,
}

impl<const MOST: usize> List<MOST> {
    const fn new() -> Self {
        List { turns: [const { MaybeUninit::uninit() }; MOST], used: 0 }
    }

    /// One more, at the end. `None`: there is no room.
    fn push(&mut self, turn: Turn) -> Option<()> {
        self.turns.get_mut(self.used)?.write(turn);
        self.used += 1;
        Some(())
    }

    fn all(&self) -> &[Turn] {
        // SAFETY: the first `used` ones were written; the layouts are the same.
        unsafe { slice::from_raw_parts(self.turns.as_ptr().cast(), self.used) }
    }

    fn all_mut(&mut self) -> &mut [Turn] {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(self.turns.as_mut_ptr().cast(), self.used) }
    }
}

/// What of a loop must be read by itself: elements that the thread waits for, and such as are not known.
pub struct Apart {
    turns: List<MOST_APART>,
    /// Number of the look that finds them.
    pub look: u32,
    /// Columns of which something is not known.
    pub unread: Columns,
}

impl Apart {
    /// Nothing.
    pub const fn new() -> Self {
        Apart { turns: List::new(), look: 0, unread: Columns::new() }
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.count() == 0 && self.unread.is_empty()
    }

    /// How many reads there are, but for columns.
    pub fn count(&self) -> usize {
        self.turns.used
    }

    /// One more element that the thread waits for: its address, and the iteration and the line that read it. `None`:
    /// there is no room.
    pub fn add_awaited(&mut self, address: u64, iteration: u64, site: u32) -> Option<()> {
        self.add(address, iteration, site, What::Awaited)
    }

    /// So many bytes more that are not known, each of which is read once.
    pub fn add_row(&mut self, address: u64, bytes: u32, iteration: u64, site: u32) -> Option<()> {
        self.add(address, iteration, site, What::Row(bytes))
    }

    fn add(&mut self, address: u64, at: u64, site: u32, what: What) -> Option<()> {
        let moment = Moment { at, look: self.look, address };
        self.turns.push(Turn { moment, site, what, counter: ptr::null_mut() })
    }

    /// In the order in which they were found.
    pub fn all(&self) -> &[Turn] {
        self.turns.all()
    }
}

/// All of a loop.
pub struct Turns(List<MOST_TURNS>);

impl Turns {
    /// None.
    pub const fn new() -> Self {
        Turns(List::new())
    }

    /// One more, in its place: the library's sorts may panic. `None`: there is no room.
    pub fn add(&mut self, mut turn: Turn) -> Option<()> {
        for place in self.0.all_mut() {
            if turn.moment < place.moment {
                core::mem::swap(place, &mut turn);
            }
        }
        self.0.push(turn)
    }

    /// Whether there is one at a moment.
    pub fn have(&self, moment: Moment) -> bool {
        self.all().iter().any(|turn| turn.moment == moment)
    }

    /// As they are read.
    pub fn all(&self) -> &[Turn] {
        self.0.all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_taken_by_moment_and_no_more_than_there_is_room_for() {
        let turn = |(at, look, address)| Turn {
            moment: Moment { at, look, address },
            site: 1,
            what: What::Awaited,
            counter: ptr::null_mut(),
        };
        let mut turns = Turns::new();
        let added = [(7, 0, 4), (2, 1, 8), (5, 0, 4), (2, 0, 12), (2, 1, 4)];
        assert!(added.iter().all(|&moment| turns.add(turn(moment)).is_some()));
        let taken: Vec<_> = turns.all().iter().map(|t| (t.moment.at, t.moment.look, t.moment.address)).collect();
        assert!(
            turns.have(Moment { at: 5, look: 0, address: 4 }) && !turns.have(Moment { at: 5, look: 1, address: 4 })
        );
        assert_eq!(taken, [(2, 0, 12), (2, 1, 4), (2, 1, 8), (5, 0, 4), (7, 0, 4)]);
        assert_eq!((0..100).filter(|&at| turns.add(turn((at, 0, 0))).is_some()).count(), MOST_TURNS - added.len());
        let mut apart = Apart::new();
        assert_eq!((0..100).filter(|&address| apart.add_awaited(address, 1, 1).is_some()).count(), MOST_APART);
        apart.look = 3;
        assert!(apart.all().iter().all(|turn| turn.moment.look == 0), "found by the first look");
    }
}
