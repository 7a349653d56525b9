//! Nests that are counted as a whole, against their accesses one by one.

use super::driver::Driver;
use fastrand::Rng;
use threadtalk_abi::loops::{FIXED, NestAccess, Step as Moves, WRITE};
use threadtalk_runtime::hooks::nests::tiles;
use threadtalk_runtime::thread::Thread;
use threadtalk_sigmem::oracle::{Op, Oracle, Step};

/// Bytes of an element, and elements of a matrix's row.
const ELEMENT: u64 = 8;
const ROW: u64 = 40;
/// Where the matrices begin: two that all threads write and read, and one of each thread.
const OPERANDS: [u64; 2] = [0, 16 << 10];
const RESULTS: u64 = 32 << 10;
const RESULT: u64 = 16 << 10;

/// How many nests were settled as a whole, of these with first reads, with elements that are read again and again and
/// were not known before, all of them in each iteration of the outermost loop or others in each one, and how many were
/// refused.
#[derive(Debug, Default)]
pub struct Outcome {
    pub settled: u32,
    pub with_first_reads: u32,
    pub by_rounds: u32,
    pub within_rounds: u32,
    pub refused: u32,
}

/// A product of blocks, `to[i][j] += left[i][k] * right[k][j]`, by one thread, in one of two orders of its loops.
struct Product {
    to: u64,
    left: u64,
    right: u64,
    /// Iterations of i, k and j.
    sizes: [u64; 3],
    /// Elements that one iteration of j takes.
    width: u64,
    /// The loop of k is the outermost one.
    turned: bool,
}

impl Product {
    fn random(rng: &mut Rng, thread: u32) -> Self {
        let width = [1, 2, 4][rng.usize(0..3)];
        let sizes = [rng.u64(1..9), rng.u64(1..9), rng.u64(1..16 / width)];
        let at = |rng: &mut Rng, matrix: u64| matrix + ELEMENT * (rng.u64(0..4) * 4 * ROW + rng.u64(0..4) * 4);
        let [left, right] = OPERANDS.map(|matrix| at(rng, matrix));
        Product { to: at(rng, RESULTS + RESULT * u64::from(thread)), left, right, sizes, width, turned: rng.bool() }
    }

    /// How it is described; addresses are relative to the driver's memory.
    fn described(&self, site: u32, write_site: u32) -> Vec<NestAccess> {
        let [i, k, j] = self.sizes;
        let (row, one, wide) = ((ELEMENT * ROW) as i64, ELEMENT as i64, (ELEMENT * self.width) as i64);
        let none = Moves { stride: 0, count: 1 };
        let of = |stride, count| Moves { stride, count };
        let ordered = |i, k| if self.turned { [i, k] } else { [k, i] };
        let access = |address, elements: u64, flags, steps| {
            let site = if flags & WRITE != 0 { write_site } else { site };
            NestAccess { address, bytes: (ELEMENT * elements) as u32, flags, site, window: 1, steps }
        };
        let [middle, outer] = ordered(of(row, i), of(one, k));
        let left = access(self.left, 1, 0, [middle, outer, none]);
        let [middle, outer] = ordered(of(0, i), of(row, k));
        let right = access(self.right, self.width, 0, [of(wide, j), middle, outer]);
        let [middle, outer] = ordered(of(row, i), of(0, k));
        let to = |flags| access(self.to, self.width, flags, [of(wide, j), middle, outer]);
        let mut all = vec![left, right, to(0), to(WRITE)];
        for (window, access) in (1..).zip(&mut all) {
            access.window = window;
        }
        all
    }

    /// Its accesses.
    fn each(&self, mut access: impl FnMut(Op)) {
        let [rows, depth, columns] = self.sizes;
        let (outer, inner) = if self.turned { (depth, rows) } else { (rows, depth) };
        for (a, b) in (0..outer).flat_map(|a| (0..inner).map(move |b| (a, b))) {
            let (i, k) = if self.turned { (b, a) } else { (a, b) };
            access(Op::Read { at: self.left + ELEMENT * (i * ROW + k), bytes: ELEMENT });
            for j in 0..columns {
                let bytes = ELEMENT * self.width;
                let at = |matrix: u64, row: u64| matrix + ELEMENT * (row * ROW + j * self.width);
                access(Op::Read { at: at(self.right, k), bytes });
                access(Op::Read { at: at(self.to, i), bytes });
                access(Op::Write { at: at(self.to, i), bytes });
            }
        }
    }
}

/// Runs random products of all threads, between which the operands are written anew now and then.
pub fn run(driver: &mut Driver, oracle: &mut Oracle, rng: &mut Rng, rounds: usize) -> Outcome {
    let mut outcome = Outcome::default();
    for thread in 0..driver.threads() {
        driver.both(oracle, Step { thread, op: Op::Enter(1) });
    }
    for _ in 0..rounds {
        for _ in 0..rng.usize(0..3) {
            let at = OPERANDS[rng.usize(0..2)] + ELEMENT * ROW * rng.u64(0..20);
            let op = Op::Set { at, bytes: ELEMENT * ROW * rng.u64(1..6) };
            driver.both(oracle, Step { thread: rng.u32(0..driver.threads()), op });
        }
        let thread = rng.u32(0..driver.threads());
        // What another thread may have changed is not known any more.
        driver.on(thread, |t, _| t.forget_windows());
        for _ in 0..rng.usize(1..6) {
            nest(driver, oracle, rng, thread, &mut outcome);
        }
    }
    outcome
}

fn nest(driver: &mut Driver, oracle: &mut Oracle, rng: &mut Rng, thread: u32, outcome: &mut Outcome) {
    let product = Product::random(rng, thread);
    let (site, write_site) = driver.sites(1);
    let mut accesses = product.described(site, write_site);
    // A pointer in the result's first row, or behind all of them.
    let fixed = rng.u32(0..4) == 0;
    if fixed || rng.bool() {
        let address = if fixed { product.to + ELEMENT } else { RESULTS - ELEMENT };
        let steps = [Moves { stride: 0, count: 1 }; 3];
        accesses.push(NestAccess { address, bytes: 8, flags: FIXED, site: 0, window: 0, steps });
    }
    let before = oracle.record().events.len();
    let known = known(driver, &product, thread, site);
    product.each(|op| {
        oracle.step(&Step { thread, op });
    });
    let new: Vec<_> = oracle.record().events[before..].iter().map(|event| event.reuse).collect();
    let settled = driver.nest(thread, accesses);
    assert!(!(settled && fixed), "the nest writes what its addresses were computed from");
    if settled {
        outcome.settled += 1;
        outcome.with_first_reads += u32::from(new.iter().any(|reuse| !reuse));
        let again = !known && product.sizes[0] > 1;
        outcome.by_rounds += u32::from(again && !product.turned);
        outcome.within_rounds += u32::from(again && product.turned);
    } else {
        outcome.refused += 1;
        product.each(|op| driver.step(&Step { thread, op }));
    }
}

/// Whether the thread knows what a read of the block on the right means, all of it.
fn known(driver: &mut Driver, product: &Product, thread: u32, site: u32) -> bool {
    let [_, depth, columns] = product.sizes;
    let rows = (0..depth).map(|k| product.right + ELEMENT * k * ROW);
    let granules: Vec<u64> = rows.flat_map(|row| (row..row + ELEMENT * columns * product.width).step_by(4)).collect();
    driver.on(thread, |t: &mut Thread, state| {
        granules.iter().all(|&at| {
            let state = state(at);
            state == 0 || state.wrapping_sub(t.header.own_base) < t.header.own_span || t.known(state, site).is_some()
        })
    })
}

impl Driver {
    /// Offers a nest as a whole. `false`: nothing was counted.
    fn nest(&mut self, thread: u32, mut accesses: Vec<NestAccess>) -> bool {
        accesses.iter_mut().for_each(|access| access.address += self.base());
        let p = self.process();
        self.on(thread, |t, _| {
            t.windows.skip_nests = 0;
            tiles::settle(t, p, &accesses)
        })
    }
}
