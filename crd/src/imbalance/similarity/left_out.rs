//! Which threads are alike if some regions are left out of their vectors.
//!
//! Squares of distances are sums over regions, and a sum without one of them shares most of its parts with the others.
//! Nothing is subtracted: what is left may be a small part of the whole. 68 threads have 5488 pairs and triples of 32
//! regions, whose clusterings took 20 s one by one.
//!
//! With two points to a dense place ([`MIN_POINTS`](super::kinds::MIN_POINTS)) clusters by OPTICS at a radius are those
//! that the pairs within that radius connect: each point that has another one within it is dense, and brings all
//! within it near. So these pairs are all that is looked at here.

use super::kinds::{median, members};

/// Squares of the differences between threads and of their vectors' lengths, summed over some regions.
#[derive(Clone, Debug)]
pub struct Squares {
    /// By thread.
    lengths: Vec<f64>,
    /// By pair of threads, (0, 1), (0, 2), ..., (1, 2), ...
    differences: Vec<f64>,
}

impl Squares {
    /// Over no regions.
    fn of_none(threads: usize) -> Self {
        Self { lengths: vec![0.0; threads], differences: vec![0.0; threads * threads.saturating_sub(1) / 2] }
    }

    /// With one more region. `times`: by thread, then by region.
    fn with(mut self, times: &[Vec<f64>], region: usize) -> Self {
        let times: Vec<f64> = times.iter().map(|thread| thread[region]).collect();
        for (sum, time) in self.lengths.iter_mut().zip(&times) {
            *sum += time * time;
        }
        let mut sums = self.differences.iter_mut();
        for (i, one) in times.iter().enumerate() {
            for (other, sum) in times[i + 1..].iter().zip(&mut sums) {
                *sum += (one - other) * (one - other);
            }
        }
        self
    }

    /// Over the regions of both.
    fn plus(mut self, other: &Self) -> Self {
        let add = |(sum, part): (&mut f64, &f64)| *sum += part;
        self.lengths.iter_mut().zip(&other.lengths).for_each(add);
        self.differences.iter_mut().zip(&other.differences).for_each(add);
        self
    }
}

/// Kinds of threads that others are compared with.
pub struct Kinds<'a> {
    labels: &'a [usize],
    number: usize,
    tau: f64,
}

impl<'a> Kinds<'a> {
    /// `labels`: of [`super::kinds::kinds`] with this `tau`.
    pub fn new(labels: &'a [usize], tau: f64) -> Self {
        Self { labels, number: members(labels).len(), tau }
    }

    /// Whether threads with these distances are of the same kinds.
    pub fn are_those_of(&self, squares: &Squares) -> bool {
        let radius = self.tau * median(squares.lengths.iter().map(|square| square.sqrt()).collect());
        let mut nearest: Vec<usize> = (0..self.labels.len()).collect();
        let mut clusters = self.labels.len();
        let mut differences = squares.differences.iter();
        for i in 0..self.labels.len() {
            for (j, square) in (i + 1..self.labels.len()).zip(&mut differences) {
                if *square > radius * radius {
                    continue;
                }
                if self.labels[i] != self.labels[j] {
                    return false;
                }
                let (one, other) = (root(&mut nearest, i), root(&mut nearest, j));
                clusters -= usize::from(one != other);
                nearest[one.max(other)] = one.min(other);
            }
        }
        clusters == self.number
    }
}

/// The lowest point of a cluster; those on the way point there afterwards.
fn root(nearest: &mut [usize], point: usize) -> usize {
    let mut root = point;
    while nearest[root] != root {
        nearest[root] = nearest[nearest[root]];
        root = nearest[root];
    }
    root
}

/// Calls for each of these regions with the sums over all others of them, in their order. `times`: by thread, then by
/// region.
pub fn each_left_out(times: &[Vec<f64>], regions: &[usize], mut visit: impl FnMut(usize, &Squares)) {
    halve(times, regions, Squares::of_none(times.len()), &mut visit);
}

/// `rest`: of the regions that are in no half any more. n log n sums for n regions.
fn halve(times: &[Vec<f64>], regions: &[usize], rest: Squares, visit: &mut impl FnMut(usize, &Squares)) {
    match regions {
        [] => {}
        [one] => visit(*one, &rest),
        _ => {
            let (left, right) = regions.split_at(regions.len() / 2);
            let with = |half: &[usize]| half.iter().fold(rest.clone(), |sum, &region| sum.with(times, region));
            let (with_left, with_right) = (with(left), with(right));
            drop(rest);
            halve(times, left, with_right, visit);
            halve(times, right, with_left, visit);
        }
    }
}

/// Calls for each set of `size` regions out of the first ones with the sums over all that are not in it, first and
/// others. Sets come in the order of their regions. `times`: by thread, then by region.
pub fn each_set_left_out(
    times: &[Vec<f64>],
    (first, others): (&[usize], &[usize]),
    size: usize,
    mut visit: impl FnMut(&[usize], &Squares),
) {
    let none = || Squares::of_none(times.len());
    let rest = others.iter().fold(none(), |sum, &region| sum.with(times, region));
    let each: Vec<Squares> = first.iter().map(|&region| none().with(times, region)).collect();
    // Over all from a region on.
    let mut behind = vec![none()];
    for squares in each.iter().rev() {
        behind.push(squares.clone().plus(&behind[behind.len() - 1]));
    }
    behind.reverse();
    Sets { first, each: &each, behind: &behind, set: Vec::new() }.from(0, rest, size, &mut visit);
}

/// The sets of [`each_set_left_out`].
struct Sets<'a> {
    first: &'a [usize],
    each: &'a [Squares],
    behind: &'a [Squares],
    set: Vec<usize>,
}

impl Sets<'_> {
    /// Adds `missing` regions from a place on. `rest`: over those before it that are in no set, and the others.
    fn from(&mut self, place: usize, mut rest: Squares, missing: usize, visit: &mut impl FnMut(&[usize], &Squares)) {
        if missing == 0 {
            return visit(&self.set, &rest.plus(&self.behind[place]));
        }
        for at in place..(self.first.len() + 1).saturating_sub(missing) {
            self.set.push(self.first[at]);
            self.from(at + 1, rest.clone(), missing - 1, visit);
            self.set.pop();
            rest = rest.plus(&self.each[at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::kinds::{MIN_POINTS, TAU, kinds};
    use super::*;

    /// Some threads of a few sorts, with regions that some sorts know and others do not.
    fn times(rng: &mut fastrand::Rng) -> Vec<Vec<f64>> {
        let (threads, regions, sorts) = (rng.usize(1..12), rng.usize(1..7), rng.usize(1..4));
        let sorts: Vec<Vec<f64>> =
            (0..sorts).map(|_| (0..regions).map(|_| f64::from(rng.u32(0..3) * 40)).collect()).collect();
        (0..threads)
            .map(|_| sorts[rng.usize(0..sorts.len())].iter().map(|t| t + f64::from(rng.u32(0..9))).collect())
            .collect()
    }

    fn kinds_without(times: &[Vec<f64>], set: &[usize]) -> Vec<usize> {
        let kept = |thread: &Vec<f64>| (0..thread.len()).filter(|k| !set.contains(k)).map(|k| thread[k]).collect();
        kinds(&times.iter().map(kept).collect::<Vec<Vec<f64>>>(), TAU)
    }

    #[test]
    fn kinds_are_those_that_clusterings_one_by_one_find() {
        assert_eq!(MIN_POINTS, 2);
        let (mut rng, mut outcomes) = (fastrand::Rng::with_seed(20261125), [0; 2]);
        for _ in 0..400 {
            let times = times(&mut rng);
            let regions: Vec<usize> = (0..times[0].len()).collect();
            let base = kinds(&times, TAU);
            let those = Kinds::new(&base, TAU);
            let mut seen = Vec::new();
            let mut check = |set: &[usize], rest: &Squares| {
                let same = kinds_without(&times, set) == base;
                assert_eq!(those.are_those_of(rest), same, "{times:?} without {set:?}");
                outcomes[usize::from(same)] += 1;
                seen.push(set.to_vec());
            };
            each_left_out(&times, &regions, |region, rest| check(&[region], rest));
            let (first, others) = regions.split_at(rng.usize(0..=regions.len()));
            (1..=3).for_each(|size| each_set_left_out(&times, (first, others), size, &mut check));
            let sets = |size: usize| {
                let all = 0..1u32 << first.len();
                let set = |bits: u32| first.iter().copied().filter(move |k| bits >> k & 1 != 0).collect::<Vec<_>>();
                let mut sets: Vec<_> = all.filter(|bits| bits.count_ones() as usize == size).map(set).collect();
                sets.sort();
                sets
            };
            let singles = regions.iter().map(|&k| vec![k]);
            assert_eq!(seen, singles.chain((1..=3).flat_map(sets)).collect::<Vec<_>>());
        }
        assert!(outcomes.iter().all(|&n| n > 500), "{outcomes:?}");
    }
}
