//! Mean vectors of clusters, and their products: exactly where it matters, and fast where it does not.

use std::ops::Range;

/// A rough element is a multiple of this. A product is at most `ROUGH`^2 in these steps, which an `i32` holds.
const ROUGH: f64 = (1u32 << 14) as f64;

/// Rough vectors are filled with zeros to a multiple of this: the compiler multiplies eight elements at once.
const LANES: usize = 8;

/// Vectors of at most length 1.
pub(super) struct Means {
    threads: usize,
    exact: Vec<f64>,
    /// The same in a quarter of the bytes: most products only show that two vectors are far apart.
    rough: Vec<i16>,
    padded: usize,
    /// How far a rough product may be off: each element by half a step, so the vector by `sqrt(threads)` halves, in
    /// either factor; and a little for the length of the rough vector, which may be above 1.
    slack: f64,
}

impl Means {
    pub(super) fn new(vectors: &[Vec<f64>]) -> Means {
        let threads = vectors.first().map_or(0, Vec::len);
        let padded = threads.next_multiple_of(LANES);
        let error = (threads as f64).sqrt() / 2.0 / ROUGH;
        let mut rough = vec![0; padded * vectors.len()];
        for (row, vector) in rough.chunks_exact_mut(padded.max(1)).zip(vectors) {
            row.iter_mut().zip(vector).for_each(|(r, &x)| *r = step(x));
        }
        Means { threads, exact: vectors.concat(), rough, padded, slack: error * (2.0 + error) + 1e-9 }
    }

    /// Products of a rough vector with those of a run of others, in steps.
    pub(super) fn rough_row(&self, a: usize, others: Range<usize>, products: &mut [i32]) {
        let x = &self.rough[a * self.padded..][..self.padded];
        products_with(x, &self.rough[others.start * self.padded..others.end * self.padded], products);
    }

    /// A rough product below this is of vectors whose exact one is certainly below `enough`.
    pub(super) fn limit(&self, enough: f64) -> i32 {
        ((enough - self.slack) * (ROUGH * ROUGH)).floor() as i32
    }

    /// Rough product of two vectors, in steps.
    pub(super) fn rough(&self, a: usize, b: usize) -> i32 {
        let row = |of: usize| &self.rough[of * self.padded..][..self.padded];
        product(row(a), row(b))
    }

    /// Mean r of the members of two clusters.
    pub(super) fn exact(&self, a: usize, b: usize) -> f64 {
        let row = |of: usize| &self.exact[of * self.threads..][..self.threads];
        in_fours(row(a), row(b))
    }

    /// Replaces the mean `a` by that of `a` and `b`, which stand for so many vectors.
    pub(super) fn merge(&mut self, a: usize, b: usize, weights: (usize, usize)) {
        let (wa, wb) = (weights.0 as f64, weights.1 as f64);
        for t in 0..self.threads {
            let (x, y) = (self.exact[a * self.threads + t], self.exact[b * self.threads + t]);
            let mean = (wa * x + wb * y) / (wa + wb);
            self.exact[a * self.threads + t] = mean;
            self.rough[a * self.padded + t] = step(mean);
        }
    }
}

/// Products of `x` with each of `others`. A function of its own, and the next, too: where they are inlined into loops
/// with more in them the compiler no longer finds the instruction that multiplies and adds pairs, which takes half of
/// the time.
#[inline(never)]
fn products_with(x: &[i16], others: &[i16], products: &mut [i32]) {
    for (y, result) in others.chunks_exact(x.len().max(1)).zip(products) {
        *result = x.iter().zip(y).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum();
    }
}

#[inline(never)]
fn product(x: &[i16], y: &[i16]) -> i32 {
    x.iter().zip(y).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum()
}

/// Product in four sums, which the compiler keeps in vector registers; always in the same order.
fn in_fours(a: &[f64], b: &[f64]) -> f64 {
    let ((a4, a_rest), (b4, b_rest)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (x, y) in a4.iter().zip(b4) {
        for i in 0..4 {
            sums[i] += x[i] * y[i];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

fn step(element: f64) -> i16 {
    (element * ROUGH).round() as i16
}
