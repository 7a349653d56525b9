//! Loops over columns of a matrix that are counted as a whole, against their accesses one by one.

use super::driver::Driver;
use fastrand::Rng;
use threadtalk_abi::CHUNK_BYTES;
use threadtalk_abi::loops::{Access, STRIDED};
use threadtalk_runtime::hooks::nests;
use threadtalk_sigmem::oracle::{Op, Oracle, Step};

/// Bytes of an element, elements of a matrix's row, no multiple of a line, and its rows.
const ELEMENT: u64 = 8;
const ROW: u64 = 25;
const ROWS: u64 = 48;
/// Where the matrices begin, which all threads write and read. In the second one's third row is the border of two
/// chunks.
const LEFT: u64 = 0;
const RIGHT: u64 = CHUNK_BYTES - ELEMENT * (2 * ROW + 13);

/// How many loops were settled as a whole, of these with first reads in columns, and how many were refused.
#[derive(Debug, Default)]
pub struct Outcome {
    pub settled: u32,
    pub with_first_reads: u32,
    pub refused: u32,
}

/// `sum += left[i][k] * right[k][j]` over k by one thread, unrolled so often; backwards or forwards.
struct Dot {
    left: u64,
    right: u64,
    iterations: u64,
    unrolled: u64,
    backwards: bool,
}

impl Dot {
    fn random(rng: &mut Rng) -> Self {
        let unrolled = [1, 2, 4][rng.usize(0..3)];
        Dot {
            left: LEFT + ELEMENT * ROW * rng.u64(0..4),
            right: RIGHT + ELEMENT * rng.u64(0..ROW),
            iterations: rng.u64(3..1 + ROWS / unrolled / 2),
            unrolled,
            backwards: rng.u32(0..4) == 0,
        }
    }

    /// How it is described; addresses are relative to the driver's memory.
    fn described(&self, site: u32) -> Vec<Access> {
        let sign = if self.backwards { -1 } else { 1 };
        let last = if self.backwards { (self.iterations - 1) * self.unrolled } else { 0 };
        let (row, wide) = ((ELEMENT * ROW) as i64, (ELEMENT * self.unrolled) as i64);
        let mut all = vec![Access {
            address: self.left + ELEMENT * last,
            stride: sign * wide,
            bytes: wide as u32,
            flags: if self.backwards { STRIDED } else { 0 },
            site,
            window: 1,
        }];
        all.extend((0..self.unrolled).map(|part| Access {
            address: self.right + ELEMENT * ROW * (last + part),
            stride: sign * row * self.unrolled as i64,
            bytes: ELEMENT as u32,
            flags: STRIDED,
            site,
            window: 2 + part as u32,
        }));
        all
    }

    /// Its accesses.
    fn each(&self, mut access: impl FnMut(Op)) {
        for i in 0..self.iterations {
            let k = self.unrolled * if self.backwards { self.iterations - 1 - i } else { i };
            access(Op::Read { at: self.left + ELEMENT * k, bytes: ELEMENT * self.unrolled });
            for part in 0..self.unrolled {
                access(Op::Read { at: self.right + ELEMENT * ROW * (k + part), bytes: ELEMENT });
            }
        }
    }
}

/// Runs random loops of all threads, between which the matrices are written anew now and then.
pub fn run(driver: &mut Driver, oracle: &mut Oracle, rng: &mut Rng, rounds: usize) -> Outcome {
    let mut outcome = Outcome::default();
    for thread in 0..driver.threads() {
        driver.both(oracle, Step { thread, op: Op::Enter(1) });
    }
    for _ in 0..rounds {
        for _ in 0..rng.usize(0..3) {
            // From the beginning of a row or from anywhere: then neighbours in a line differ.
            let within = if rng.bool() { rng.u64(0..ROW) } else { 0 };
            let at = [LEFT, RIGHT][rng.usize(0..2)] + ELEMENT * (ROW * rng.u64(0..ROWS / 2) + within);
            let op = Op::Set { at, bytes: ELEMENT * ROW * rng.u64(1..6) };
            driver.both(oracle, Step { thread: rng.u32(0..driver.threads()), op });
        }
        let thread = rng.u32(0..driver.threads());
        // What another thread may have changed is not known any more.
        driver.on(thread, |t, _| t.forget_windows());
        let mut dot = Dot::random(rng);
        for _ in 0..rng.usize(1..8) {
            one(driver, oracle, &dot, thread, &mut outcome);
            // Mostly another column of the same loop, as what a column's neighbours find is known as well.
            let (column, another) = (rng.u64(0..ROW), rng.u32(0..4) == 0);
            dot = if another { Dot::random(rng) } else { Dot { right: RIGHT + ELEMENT * column, ..dot } };
        }
    }
    outcome
}

fn one(driver: &mut Driver, oracle: &mut Oracle, dot: &Dot, thread: u32, outcome: &mut Outcome) {
    let mut accesses = dot.described(driver.sites(1).0);
    accesses.iter_mut().for_each(|access| access.address += driver.base());
    let before = oracle.record().events.len();
    dot.each(|op| {
        oracle.step(&Step { thread, op });
    });
    let new = oracle.record().events[before..].iter().any(|event| !event.reuse);
    let p = driver.process();
    let settled = driver.on(thread, |t, _| {
        t.windows.skip = 0;
        // They may not have been worth it.
        while !t.uses_windows() {
            t.reconsider_windows(|| u64::MAX);
        }
        nests::settle(t, p, &accesses, (dot.iterations, dot.iterations))
    });
    if settled {
        outcome.settled += 1;
        outcome.with_first_reads += u32::from(new);
    } else {
        outcome.refused += 1;
        dot.each(|op| driver.step(&Step { thread, op }));
    }
}
