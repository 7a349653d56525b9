//! Loops that ran without hooks and are counted when they have ended, since nobody knew before how long they would run.
//!
//! See [`threadtalk_abi::hooks::SEARCHED`]. Nobody else has changed what they read: nothing in them synchronises. So
//! what the hooks would have counted can be counted now, as that of a loop that is about to run ([`super::loops`]), or
//! access by access where that refuses: always in the loop's order.

use super::access::{read, write};
use super::loops::{Kind, row, scattered};
use super::{nests, range};
use crate::process::Process;
use crate::thread::Thread;
use core::ops::Range;
use threadtalk_abi::loops::{Access, MOST_SEARCHED, WRITE};

/// Iterations that are counted together or one by one, where not all can be counted together: one sample of the reuse
/// distance makes those around it take the slow way.
const AT_ONCE: u64 = 64;

/// A loop that has been left.
pub struct Search<'a> {
    accesses: &'a [Access],
    /// Iterations that have done all of them.
    whole: u64,
    /// How many the last one has done, if that is another.
    executed: u32,
}

impl<'a> Search<'a> {
    /// After so many iterations, and the first `executed` accesses of another one.
    pub fn new(accesses: &'a [Access], iterations: u64, executed: u32) -> Self {
        let is_whole = executed as usize >= accesses.len();
        Search { accesses, whole: iterations + u64::from(is_whole), executed: if is_whole { 0 } else { executed } }
    }

    /// Counts the whole iterations, or nothing, if they have read rows in one state each: what most do.
    pub fn at_once(&self, t: &mut Thread, p: &Process) -> bool {
        self.whole == 0 || row::settle(t, p, self.accesses, self.whole)
    }

    /// Whether another iteration has begun.
    pub fn has_more(&self) -> bool {
        self.executed > 0
    }

    /// Counts all of it, but for whole iterations that are counted already.
    #[inline(never)]
    pub fn count(&self, t: &mut Thread, p: &Process, is_counted: bool) {
        if !is_counted {
            self.count_whole(t, p);
        }
        self.one_by_one(t, p, self.whole..self.whole + 1, self.executed);
    }

    fn count_whole(&self, t: &mut Thread, p: &Process) {
        let kind = Kind { in_nest: false, strays: false };
        if p.is_paused() {
            // Writes are remembered.
            self.one_by_one(t, p, 0..self.whole, u32::MAX);
        } else if self.whole > 0 && !nests::settle_without(t, p, self.accesses, kind, self.whole) {
            self.in_parts(t, p);
        }
    }

    fn in_parts(&self, t: &mut Thread, p: &Process) {
        let mut room = [NOWHERE; MOST_SEARCHED];
        let mut first = 0;
        while first < self.whole {
            let iterations = AT_ONCE.min(self.whole - first);
            for (place, access) in room.iter_mut().zip(self.accesses) {
                *place = Access { address: access.address_in(first), ..*access };
            }
            let part = room.get(..self.accesses.len()).unwrap_or(&[]);
            if !row::settle(t, p, part, iterations) && !scattered::count(t, p, part, iterations) {
                self.one_by_one(t, p, first..first + iterations, u32::MAX);
            }
            first += iterations;
        }
    }

    /// The first accesses of these iterations, one after the other.
    fn one_by_one(&self, t: &mut Thread, p: &Process, iterations: Range<u64>, executed: u32) {
        let mut ordered = [&NOWHERE; MOST_SEARCHED];
        for access in self.accesses {
            if let Some(place) = ordered.get_mut(usize::from(access.place())) {
                *place = access;
            }
        }
        let executed = self.accesses.len().min(executed as usize);
        for iteration in iterations {
            for access in ordered.iter().take(executed) {
                each(t, p, access, access.address_in(iteration));
            }
        }
    }
}

/// What the hook of an access does.
fn each(t: &mut Thread, p: &Process, access: &Access, address: u64) {
    let Access { site, bytes, .. } = *access;
    match (access.flags & WRITE != 0, bytes) {
        (false, 1) => read::<1>(t, p, address, site),
        (false, 2) => read::<2>(t, p, address, site),
        (false, 4) => read::<4>(t, p, address, site),
        (false, 8) => read::<8>(t, p, address, site),
        (false, _) => range::read(t, p, address, bytes.into(), site),
        (true, 4) => write::<4>(t, p, address, site),
        (true, 8) => write::<8>(t, p, address, site),
        (true, _) => range::write(t, p, address, bytes.into(), site),
    }
}

/// No access.
const NOWHERE: Access = Access { address: 0, stride: 0, bytes: 0, flags: 0, site: 0, window: 0 };
