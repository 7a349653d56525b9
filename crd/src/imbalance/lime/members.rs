//! Chains of nearest neighbours over clusters that are kept as the means of their members.

/// Steps in which proximities are compared.
const PROXIMITY: f64 = (1u64 << 32) as f64;

/// Elements after which a product is given up if the rest cannot make it large enough.
const HEAD: usize = 16;

pub(super) struct Members {
    threads: usize,
    /// Means of the clusters, one after the other, and the length of each beyond [`HEAD`].
    means: Vec<f64>,
    tails: Vec<f64>,
    weights: Vec<usize>,
    merged: Vec<Vec<usize>>,
    /// Clusters that may still merge, ascending.
    active: Vec<usize>,
}

/// A pair's place in the order of merging: greater is first.
type Rank = (i64, std::cmp::Reverse<(usize, usize)>);

impl Members {
    /// Clusters of one vector each, which stands for as many events as its weight.
    pub(super) fn new(vectors: &[Vec<f64>], weights: &[usize]) -> Members {
        let mut members = Members {
            threads: vectors.first().map_or(0, Vec::len),
            means: vectors.concat(),
            tails: vec![0.0; vectors.len()],
            weights: weights.to_vec(),
            merged: (0..vectors.len()).map(|i| vec![i]).collect(),
            active: (0..vectors.len()).collect(),
        };
        (0..vectors.len()).for_each(|c| members.measure_tail(c));
        members
    }

    /// Merges while two clusters have at least this proximity.
    pub(super) fn merge_while(mut self, threshold: f64) -> Vec<Vec<usize>> {
        let threshold = steps(threshold);
        let mut chain: Vec<usize> = Vec::new();
        let mut finished: Vec<Vec<usize>> = Vec::new();
        while let Some(&lowest) = self.active.first() {
            let top = *chain.last().unwrap_or(&lowest);
            if chain.is_empty() {
                chain.push(top);
            }
            match self.nearest(top, threshold) {
                // Nothing is near it, and no merging of others brings anything nearer.
                None => {
                    chain.pop();
                    self.retire(top);
                    finished.push(std::mem::take(&mut self.merged[top]));
                }
                Some(near) if chain.len() >= 2 && chain[chain.len() - 2] == near => {
                    chain.truncate(chain.len() - 2);
                    self.merge(near.min(top), near.max(top));
                }
                // Rounding can lead back to an earlier link after a merge: go on from there.
                Some(near) => match chain.iter().position(|&c| c == near) {
                    Some(place) => chain.truncate(place + 1),
                    None => chain.push(near),
                },
            }
        }
        finished
    }

    fn nearest(&self, of: usize, threshold: i64) -> Option<usize> {
        let mut best: Option<(Rank, usize)> = None;
        // Half a step of slack on either side of what is compared in steps.
        let mut enough = (threshold as f64 - 1.0) / PROXIMITY;
        for &other in &self.active {
            if other == of {
                continue;
            }
            let Some(product) = self.product(of, other, enough) else { continue };
            let rank = (steps(product), std::cmp::Reverse((of.min(other), of.max(other))));
            if rank.0 >= threshold && best.is_none_or(|(b, _)| rank > b) {
                best = Some((rank, other));
                enough = enough.max((rank.0 as f64 - 1.0) / PROXIMITY);
            }
        }
        best.map(|(_, other)| other)
    }

    /// Mean r of the members of two clusters; none if it is certainly below `enough`.
    fn product(&self, a: usize, b: usize, enough: f64) -> Option<f64> {
        let (x, y) = (self.mean(a), self.mean(b));
        let head = HEAD.min(self.threads);
        let product = sum_of_products(&x[..head], &y[..head]);
        // By Cauchy and Schwarz the rest is at most the product of the rests' lengths.
        if product + self.tails[a] * self.tails[b] < enough {
            return None;
        }
        Some(product + sum_of_products(&x[head..], &y[head..]))
    }

    fn mean(&self, cluster: usize) -> &[f64] {
        &self.means[cluster * self.threads..][..self.threads]
    }

    /// Adds cluster `b` to `a`, the one with the lower first event.
    fn merge(&mut self, a: usize, b: usize) {
        let (wa, wb) = (self.weights[a] as f64, self.weights[b] as f64);
        for t in 0..self.threads {
            let (x, y) = (self.means[a * self.threads + t], self.means[b * self.threads + t]);
            self.means[a * self.threads + t] = (wa * x + wb * y) / (wa + wb);
        }
        self.weights[a] += self.weights[b];
        let taken = std::mem::take(&mut self.merged[b]);
        self.merged[a].extend(taken);
        self.measure_tail(a);
        self.retire(b);
    }

    fn measure_tail(&mut self, cluster: usize) {
        let tail = &self.mean(cluster)[HEAD.min(self.threads)..];
        self.tails[cluster] = sum_of_products(tail, tail).sqrt();
    }

    fn retire(&mut self, cluster: usize) {
        if let Ok(place) = self.active.binary_search(&cluster) {
            self.active.remove(place);
        }
    }
}

fn steps(proximity: f64) -> i64 {
    (proximity * PROXIMITY).round() as i64
}

/// In four sums, which the compiler keeps in vector registers; always in the same order.
fn sum_of_products(a: &[f64], b: &[f64]) -> f64 {
    let (a4, a_rest) = a.as_chunks::<4>();
    let (b4, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (x, y) in a4.iter().zip(b4) {
        for i in 0..4 {
            sums[i] += x[i] * y[i];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
