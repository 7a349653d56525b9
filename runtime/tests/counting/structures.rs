//! Loops over arrays of structures whose members were written at several lines, against their accesses one by one.

use super::driver::Driver;
use fastrand::Rng;
use threadtalk_abi::loops::{Access, WRITE};
use threadtalk_runtime::hooks::loops::{self, Kind};
use threadtalk_sigmem::oracle::{Op, Oracle, Step};

/// Bytes of a member.
const MEMBER: u64 = 8;
/// Structures of an array.
const LENGTH: u64 = 40;
/// Where the arrays begin, and the members of a structure of each.
const ARRAYS: [(u64, u64); 3] = [(0, 4), (16 << 10, 5), ((64 << 10) - 24, 11)];
/// More events than are listed one by one.
const MANY: usize = 64;

/// How many loops were settled as a whole, of these with many events, all of them reuse, and how many were refused.
#[derive(Debug, Default)]
pub struct Outcome {
    pub settled: u32,
    pub with_much_reuse: u32,
    /// Settled without an event.
    pub quiet: u32,
    pub refused: u32,
}

/// What the loops do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Variety {
    /// They read structures no longer than a line.
    Reads,
    /// They write as well, also longer ones, and arrays are written as a whole now and then.
    All,
}

/// Reads of some members of structures that follow each other, and writes, by one thread; backwards or forwards.
struct Walk {
    array: (u64, u64),
    first: u64,
    structures: u64,
    /// First member, and how many, of each access.
    reads: Vec<(u64, u64)>,
    /// The same of what is written after the reads.
    writes: Vec<(u64, u64)>,
    backwards: bool,
}

impl Walk {
    fn random(rng: &mut Rng, variety: Variety) -> Self {
        let arrays = if variety == Variety::Reads { ARRAYS.len() - 1 } else { ARRAYS.len() };
        let array = ARRAYS[rng.usize(0..arrays)];
        let first = rng.u64(0..LENGTH / 2);
        let mut members = |n: usize| -> Vec<(u64, u64)> {
            let any = |rng: &mut Rng| {
                let member = rng.u64(0..array.1);
                (member, rng.u64(1..=array.1 - member))
            };
            (0..n).map(|_| any(rng)).collect()
        };
        let (mut reads, writes) = (members(4), members(2));
        reads.truncate(rng.usize(1..5));
        // As the pass describes them.
        if rng.bool() {
            reads.sort_unstable();
        }
        let most = if variety == Variety::Reads { 0 } else { rng.usize(0..10).saturating_sub(7) };
        let writes = writes.into_iter().take(most).collect();
        let structures = rng.u64(2..=LENGTH - first);
        Walk { array, first, structures, reads, writes, backwards: rng.u32(0..4) == 0 }
    }

    fn address(&self, structure: u64, member: u64) -> u64 {
        self.array.0 + MEMBER * (structure * self.array.1 + member)
    }

    /// How it is described; addresses are relative to the driver's memory.
    fn described(&self, (read, written): (u32, u32)) -> Vec<Access> {
        let size = (MEMBER * self.array.1) as i64;
        let (start, stride) = match self.backwards {
            true => (self.first + self.structures - 1, -size),
            false => (self.first, size),
        };
        let access = |&(member, members): &(u64, u64), flags, site| {
            let (address, bytes) = (self.address(start, member), (MEMBER * members) as u32);
            Access { address, stride, bytes, flags, site, window: 0 }
        };
        let writes = self.writes.iter().map(|write| access(write, WRITE, written));
        self.reads.iter().map(|members| access(members, 0, read)).chain(writes).collect()
    }

    /// Its accesses.
    fn each(&self, mut access: impl FnMut(Op)) {
        for i in 0..self.structures {
            let structure = self.first + if self.backwards { self.structures - 1 - i } else { i };
            let place = |&(member, members): &(u64, u64)| (self.address(structure, member), MEMBER * members);
            for (at, bytes) in self.reads.iter().map(place) {
                access(Op::Read { at, bytes });
            }
            for (at, bytes) in self.writes.iter().map(place) {
                access(Op::Write { at, bytes });
            }
        }
    }
}

/// Runs random loops of all threads, between which members are written anew now and then, each in a region of its own.
pub fn run(driver: &mut Driver, oracle: &mut Oracle, rng: &mut Rng, rounds: usize) -> Outcome {
    let mut outcome = Outcome::default();
    for variety in [Variety::Reads, Variety::All] {
        run_some(driver, oracle, rng, (rounds, variety), &mut outcome);
    }
    outcome
}

fn run_some(
    driver: &mut Driver,
    oracle: &mut Oracle,
    rng: &mut Rng,
    (rounds, variety): (usize, Variety),
    outcome: &mut Outcome,
) {
    for thread in 0..driver.threads() {
        driver.both(oracle, Step { thread, op: Op::Enter(1) });
    }
    for _ in 0..rounds {
        if rng.u32(0..6) == 0 {
            fill(driver, oracle, rng, variety);
        }
        let thread = rng.u32(0..driver.threads());
        if variety == Variety::All && rng.u32(0..10) == 0 {
            let array = ARRAYS[rng.usize(0..ARRAYS.len())];
            let op = Op::Write { at: array.0, bytes: MEMBER * array.1 * LENGTH };
            driver.both(oracle, Step { thread, op });
        }
        for _ in 0..rng.usize(1..8) {
            one(driver, oracle, rng, (thread, variety), outcome);
        }
    }
}

/// A thread writes some members of some structures.
fn fill(driver: &mut Driver, oracle: &mut Oracle, rng: &mut Rng, variety: Variety) {
    let thread = rng.u32(0..driver.threads());
    let walk = Walk::random(rng, variety);
    for member in (0..walk.array.1).filter(|_| rng.u32(0..4) > 0) {
        let region = 1 + member as u32 % super::REGIONS;
        driver.both(oracle, Step { thread, op: Op::Enter(region) });
        for structure in walk.first..walk.first + walk.structures {
            let op = Op::Write { at: walk.address(structure, member), bytes: MEMBER };
            driver.both(oracle, Step { thread, op });
        }
        driver.both(oracle, Step { thread, op: Op::Enter(1) });
    }
}

fn one(
    driver: &mut Driver,
    oracle: &mut Oracle,
    rng: &mut Rng,
    (thread, variety): (u32, Variety),
    outcome: &mut Outcome,
) {
    let walk = Walk::random(rng, variety);
    let mut accesses = walk.described(driver.sites(1));
    accesses.iter_mut().for_each(|access| access.address += driver.base());
    let before = oracle.record().events.len();
    walk.each(|op| {
        oracle.step(&Step { thread, op });
    });
    let events = &oracle.record().events[before..];
    let no_events = events.is_empty();
    let much_reuse = events.len() > MANY && events.iter().all(|event| event.reuse);
    let p = driver.process();
    let kind = Kind { in_nest: false, strays: false };
    let settled = driver.on(thread, |t, _| loops::settle(t, p, &accesses, kind, walk.structures).is_some());
    if settled {
        outcome.settled += 1;
        outcome.quiet += u32::from(no_events);
        outcome.with_much_reuse += u32::from(much_reuse);
    } else {
        outcome.refused += 1;
        walk.each(|op| driver.step(&Step { thread, op }));
    }
}
