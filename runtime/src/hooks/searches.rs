//! Loops that ran without hooks and are counted when they have ended, since nobody knew before how long they would run.
//!
//! See [`threadtalk_abi::hooks::SEARCHED`]. Nobody else has changed what they read: nothing in them synchronises. So
//! what the hooks would have counted can be counted now, as that of a loop that is about to run ([`super::loops`]), or
//! access by access where that refuses: always in the loop's order.

use super::access::{read, write};
use super::loops::{Kind, row};
use super::{nests, range};
use crate::process::Process;
use crate::thread::Thread;
use threadtalk_abi::loops::{Access, MOST_SEARCHED, WRITE};

/// Iterations that are counted together or one by one, where not all can be counted together: one sample of the reuse
/// distance makes those around it take the slow way.
const AT_ONCE: u64 = 256;

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

    /// Counts all of it, or nothing, if the loop has read rows in one state each: what most do.
    pub fn at_once(&self, t: &mut Thread, p: &Process) -> bool {
        self.executed == 0 && (self.whole == 0 || row::settle(t, p, self.accesses, self.whole))
    }

    /// Counts all of it.
    #[inline(never)]
    pub fn count(&self, t: &mut Thread, p: &Process) {
        if self.whole > 0 && !settle(t, p, self.accesses, self.whole) {
            self.in_parts(t, p);
        }
        self.one(t, p, self.whole, self.executed);
    }

    fn in_parts(&self, t: &mut Thread, p: &Process) {
        let mut room = [NOWHERE; MOST_SEARCHED];
        let mut first = 0;
        while first < self.whole {
            let iterations = AT_ONCE.min(self.whole - first);
            for (place, access) in room.iter_mut().zip(self.accesses) {
                *place = Access { address: address(access, first), ..*access };
            }
            let part = room.get(..self.accesses.len()).unwrap_or(&[]);
            if iterations == self.whole || !settle(t, p, part, iterations) {
                (first..first + iterations).for_each(|iteration| self.one(t, p, iteration, u32::MAX));
            }
            first += iterations;
        }
    }

    /// The first accesses of an iteration, one after the other.
    fn one(&self, t: &mut Thread, p: &Process, iteration: u64, executed: u32) {
        for place in 0..executed.min(self.accesses.len() as u32) {
            if let Some(access) = self.accesses.iter().find(|access| u32::from(access.place()) == place) {
                each(t, p, access, address(access, iteration));
            }
        }
    }
}

/// Counts so many iterations, or nothing.
fn settle(t: &mut Thread, p: &Process, accesses: &[Access], iterations: u64) -> bool {
    let kind = Kind { in_nest: false, strays: false };
    row::settle(t, p, accesses, iterations) || nests::settle_without(t, p, accesses, kind, iterations)
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
        (true, 8) => write::<8>(t, p, address, site),
        (true, 4) => write::<4>(t, p, address, site),
        (true, _) => range::write(t, p, address, bytes.into(), site),
    }
}

fn address(access: &Access, iteration: u64) -> u64 {
    access.address.wrapping_add_signed(access.stride.wrapping_mul(iteration as i64))
}

/// No access.
const NOWHERE: Access = Access { address: 0, stride: 0, bytes: 0, flags: 0, site: 0, window: 0 };
