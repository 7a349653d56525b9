//! Slow and obvious versions, and random data on which both must agree.

use super::random::Random;
use kodama::{Method, linkage};
use threadtalk_crd::imbalance::lime::{Level, clusters, forward, predictor};

fn centred(v: &[f64]) -> Vec<f64> {
    let mean = v.iter().sum::<f64>() / v.len() as f64;
    v.iter().map(|x| x - mean).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (centred(a), centred(b));
    dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt()
}

/// Always merges the nearest pair, in steps of 2^-32; of equals the one with the lowest events.
fn greedy(events: &[Vec<f64>], threshold: f64) -> Vec<Vec<usize>> {
    let r: Vec<Vec<f64>> = events.iter().map(|a| events.iter().map(|b| pearson(a, b)).collect()).collect();
    let step = |x: f64| (x * 4294967296.0).round();
    let mut found: Vec<Vec<usize>> = (0..events.len()).map(|i| vec![i]).collect();
    loop {
        let mut best = (f64::NEG_INFINITY, 0, 0);
        for i in 0..found.len() {
            for j in i + 1..found.len() {
                let sum: f64 =
                    found[i].iter().flat_map(|&a| found[j].iter().map(|&b| r[a][b]).collect::<Vec<_>>()).sum();
                let mean = step(sum / (found[i].len() * found[j].len()) as f64);
                if mean > best.0 {
                    best = (mean, i, j);
                }
            }
        }
        if best.0 < step(threshold) {
            found.iter_mut().for_each(|c| c.sort_unstable());
            return found;
        }
        let taken = found.remove(best.2);
        found[best.1].extend(taken);
    }
}

/// Small integers, so that ties and multiples are frequent.
fn tied(random: &mut Random, events: usize, threads: usize) -> Vec<Vec<f64>> {
    let vectors = (0..events * 3).map(|_| (0..threads).map(|_| random.below(3) as f64).collect::<Vec<_>>());
    vectors.filter(|v| v.iter().any(|x| x != &v[0])).take(events).collect()
}

/// Noise around a few centres.
fn clouds(random: &mut Random, events: usize, threads: usize, noise: f64) -> Vec<Vec<f64>> {
    let centres: Vec<Vec<f64>> = (0..5).map(|_| random.normals(threads)).collect();
    (0..events)
        .map(|_| {
            let centre = &centres[random.below(5)];
            centre.iter().map(|c| c + noise * random.normal()).collect()
        })
        .collect()
}

#[test]
fn chains_give_what_merging_the_nearest_gives() {
    let mut merged = 0;
    for seed in 0..150 {
        let mut random = Random(seed);
        let (events, threads) = (2 + random.below(80), 4 + random.below(30));
        let noise = 0.1 + 0.3 * random.unit();
        for data in [tied(&mut random, events, 4 + threads % 4), clouds(&mut random, events, threads, noise)] {
            let threshold = [0.5, 0.8, 0.9][random.below(3)];
            let wanted = greedy(&data, threshold);
            merged += data.len() - wanted.len();
            assert_eq!(clusters(&data, threshold), wanted, "seed {seed}: {data:?}");
        }
    }
    assert!(merged > 1000, "the data must cluster: {merged}");
}

#[test]
fn clusters_are_those_of_kodama() {
    for seed in 0..20 {
        let mut random = Random(seed);
        let noise = 0.05 + 0.05 * random.below(6) as f64;
        let data = clouds(&mut random, 250, 16, noise);
        let pairs = (0..data.len()).flat_map(|i| (i + 1..data.len()).map(move |j| (i, j)));
        let mut distances: Vec<f64> = pairs.map(|(i, j)| 1.0 - pearson(&data[i], &data[j])).collect();
        let tree = linkage(&mut distances, data.len(), Method::Average);
        let mut groups: Vec<Vec<usize>> = (0..data.len()).map(|i| vec![i]).collect();
        for step in tree.steps().iter() {
            let whole =
                step.dissimilarity <= 0.1 && !groups[step.cluster1].is_empty() && !groups[step.cluster2].is_empty();
            let joined = if whole {
                let (a, b) = (std::mem::take(&mut groups[step.cluster1]), std::mem::take(&mut groups[step.cluster2]));
                [a, b].concat()
            } else {
                Vec::new()
            };
            groups.push(joined);
        }
        groups.retain(|g| !g.is_empty());
        groups.iter_mut().for_each(|g| g.sort_unstable());
        groups.sort_unstable();
        assert_eq!(clusters(&data, 0.9), groups, "seed {seed}");
    }
}

/// Solves the normal equations of `y` on a constant and `x` by elimination: coefficients, sum of squares of the rest.
fn least_squares(y: &[f64], x: &[&Vec<f64>]) -> (Vec<f64>, f64) {
    let ones = vec![1.0; y.len()];
    let columns: Vec<&Vec<f64>> = std::iter::once(&ones).chain(x.iter().copied()).collect();
    let k = columns.len();
    let mut a: Vec<Vec<f64>> =
        columns.iter().map(|c| columns.iter().map(|d| dot(c, d)).chain([dot(c, y)]).collect()).collect();
    for i in 0..k {
        let pivot = (i..k).max_by(|&p, &q| a[p][i].abs().total_cmp(&a[q][i].abs())).unwrap();
        a.swap(i, pivot);
        let row = a[i].clone();
        for (j, other) in a.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let factor = other[i] / row[i];
            assert!(factor.is_finite(), "row {j}");
            other.iter_mut().zip(&row).for_each(|(o, r)| *o -= factor * r);
        }
    }
    let b: Vec<f64> = (0..k).map(|i| a[i][k] / a[i][i]).collect();
    let rest = (0..y.len()).map(|t| y[t] - (0..k).map(|i| b[i] * columns[i][t]).sum::<f64>());
    let sum = rest.map(|r| r * r).sum();
    (b, sum)
}

#[test]
fn forward_selection_is_that_of_the_normal_equations() {
    let mut entered = 0;
    for seed in 0..60 {
        let mut random = Random(1000 + seed);
        let n = 8 + random.below(25);
        let x: Vec<Vec<f64>> = (0..10).map(|_| random.normals(n)).collect();
        let y: Vec<f64> = (0..n).map(|t| 3.0 * x[4][t] - 2.0 * x[7][t] + x[1][t] + 0.5 * random.normal()).collect();
        let selected = forward(&y, &x, Level::raw(0.01), 1);
        entered += selected.len();
        let mut so_far: Vec<&Vec<f64>> = Vec::new();
        let mut rss = least_squares(&y, &[]).1;
        for s in &selected {
            let freedom = (n - so_far.len() - 2) as f64;
            let f_with = |c: &Vec<f64>| {
                let after = least_squares(&y, &[&so_far[..], &[c]].concat()).1;
                (rss - after) / (after / freedom)
            };
            let others = (0..10).filter(|i| !so_far.iter().any(|v| std::ptr::eq(*v, &x[*i])));
            let best = others.max_by(|&i, &j| f_with(&x[i]).total_cmp(&f_with(&x[j]))).unwrap();
            assert_eq!(s.predictor, best, "seed {seed}");
            let f = f_with(&x[best]);
            assert!((s.f - f).abs() <= 1e-6 * f, "seed {seed}: {} {f}", s.f);
            so_far.push(&x[best]);
            rss = least_squares(&y, &so_far).1;
        }
        let (b, _) = least_squares(&y, &so_far);
        let length = |v: &[f64]| dot(&centred(v), &centred(v)).sqrt();
        for (s, slope) in selected.iter().zip(&b[1..]) {
            let beta = slope * length(&x[s.predictor]) / length(&y);
            assert!((s.beta - beta).abs() < 1e-8, "seed {seed}");
        }
    }
    assert!(entered > 150, "three predictors matter in each: {entered}");
}

#[test]
fn collinear_predictors_enter_once() {
    let mut random = Random(5);
    let x = random.normals(12);
    let twice: Vec<f64> = x.iter().map(|v| 2.0 * v + 7.0).collect();
    let y: Vec<f64> = x.iter().map(|v| v + 0.1 * random.normal()).collect();
    let selected = forward(&y, &[vec![1.0; 12], twice, x], Level::raw(0.05), 1);
    assert_eq!(selected.iter().map(|s| s.predictor).collect::<Vec<_>>(), [1]);
}

#[test]
fn a_predictor_is_the_mean_of_z_scores() {
    let p = predictor([&[1.0, 3.0][..], &[30.0, 10.0], &[0.0, 8.0]]);
    assert!((p[0] + 1.0 / 3.0).abs() < 1e-12 && (p[1] - 1.0 / 3.0).abs() < 1e-12);
}
