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
use core::ops::Range;
use core::ptr;
use core::slice;
use core::sync::atomic::Ordering;
use threadtalk_abi::cell::NONE;
use threadtalk_abi::loops::{Access, MOST_SEARCHED, WRITE};
use threadtalk_abi::{CHUNK_BYTES, GRANULE};

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
                *place = Access { address: address(access, first), ..*access };
            }
            let part = room.get(..self.accesses.len()).unwrap_or(&[]);
            if !row::settle(t, p, part, iterations) && !known(t, p, part, iterations) {
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
                each(t, p, access, address(access, iteration));
            }
        }
    }
}

/// Counts so many iterations, or nothing, if all that they read is own, or reuse that the thread knows: in whatever
/// states, and however far apart.
fn known(t: &mut Thread, p: &Process, accesses: &[Access], iterations: u64) -> bool {
    let mut reuse = [(ptr::null_mut(), 0); MOST_SEARCHED];
    let mut used = 0;
    for access in accesses {
        let Some(granules) = granules(access) else { return false };
        let (mut state, mut counter, mut count) = (NONE, t.idle_counter(), 0);
        for iteration in 0..iterations {
            let address = address(access, iteration);
            // Memory without cells has no writer.
            let Some(first) = p.signature.directory.translate(address) else { continue };
            if address % CHUNK_BYTES + u64::from(access.bytes) > CHUNK_BYTES {
                return false;
            }
            // SAFETY: the access lies in one chunk, whose cells follow each other and live for ever.
            for cell in unsafe { slice::from_raw_parts(first, granules) } {
                let found = cell.load(Ordering::Relaxed);
                if found.wrapping_sub(t.header.own_base) < t.header.own_span || found == NONE {
                    continue;
                }
                if found != state {
                    if count > 0 && !add(&mut reuse, &mut used, (counter, count)) {
                        return false;
                    }
                    let Some(known) = t.known(found, access.site) else { return false };
                    (state, counter, count) = (found, known, 0);
                }
                count += 1;
            }
        }
        if count > 0 && !add(&mut reuse, &mut used, (counter, count)) {
            return false;
        }
    }
    reuse.get(..used).is_some_and(|reuse| row::count(t, reuse))
}

/// How many granules a read touches, all of it or one of several parts, wherever the loop does it; `None`: it writes,
/// or that is not always the same.
fn granules(access: &Access) -> Option<usize> {
    let part = u64::from(access.bytes).min(GRANULE);
    let is_even =
        [access.address, access.stride as u64, u64::from(access.bytes)].iter().all(|n| n.is_multiple_of(part));
    let fits = is_even && part.is_power_of_two() && access.flags & WRITE == 0;
    fits.then_some(access.bytes.div_ceil(GRANULE as u32) as usize)
}

/// Adds to the counts of a few counters; false: there are too many.
fn add(reuse: &mut [row::Reuse; MOST_SEARCHED], used: &mut usize, (counter, count): row::Reuse) -> bool {
    if let Some(entry) = reuse.iter_mut().take(*used).find(|entry| entry.0 == counter) {
        entry.1 += count;
        return true;
    }
    let Some(free) = reuse.get_mut(*used) else { return false };
    *free = (counter, count);
    *used += 1;
    true
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

fn address(access: &Access, iteration: u64) -> u64 {
    access.address.wrapping_add_signed(access.stride.wrapping_mul(iteration as i64))
}

/// No access.
const NOWHERE: Access = Access { address: 0, stride: 0, bytes: 0, flags: 0, site: 0, window: 0 };
