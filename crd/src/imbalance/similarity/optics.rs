//! OPTICS (Ankerst, Breunig, Kriegel, Sander, "OPTICS: Ordering Points To Identify the Clustering Structure", SIGMOD
//! 1999): the ordering of its Figure 5 and the extraction of clusters of its Figure 19. O(n^2); of equal reachabilities
//! the lowest point comes first, so the order depends on the points alone.

/// The points in the order in which they were reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Ordering {
    /// Points, each once.
    pub order: Vec<usize>,
    /// Reachability distance of each point (by point, not by order); none where a new search began.
    pub reachability: Vec<Option<f64>>,
    /// Distance within which each point has `min_points` points, itself among them; none if that is beyond the radius.
    pub core: Vec<Option<f64>>,
}

/// Euclidean distance (Liu et al., equation 1).
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}

/// Orders `points` by density within the radius `eps`.
pub fn optics(points: &[Vec<f64>], eps: f64, min_points: usize) -> Ordering {
    let n = points.len();
    let distances: Vec<Vec<f64>> = points.iter().map(|a| points.iter().map(|b| distance(a, b)).collect()).collect();
    let core = distances.iter().map(|row| core_distance(row, eps, min_points)).collect();
    let mut result = Ordering { order: Vec::with_capacity(n), reachability: vec![None; n], core };
    let mut done = vec![false; n];
    for start in 0..n {
        let mut next = Some(start).filter(|&s| !done[s]);
        while let Some(point) = next {
            done[point] = true;
            result.order.push(point);
            if let Some(core) = result.core[point] {
                reach(&mut result.reachability, &distances[point], core, eps, &done);
            }
            next = nearest(&result.reachability, &done);
        }
    }
    result
}

fn core_distance(row: &[f64], eps: f64, min_points: usize) -> Option<f64> {
    let (mut near, last) = (row.to_vec(), min_points.saturating_sub(1));
    let nth = (last < near.len()).then(|| *near.select_nth_unstable_by(last, f64::total_cmp).1);
    nth.filter(|&d| d <= eps)
}

/// A core point brings its neighbours nearer.
fn reach(reachability: &mut [Option<f64>], row: &[f64], core: f64, eps: f64, done: &[bool]) {
    for (q, reached) in reachability.iter_mut().enumerate() {
        if !done[q] && row[q] <= eps {
            let by_this = core.max(row[q]);
            *reached = Some(reached.map_or(by_this, |r| r.min(by_this)));
        }
    }
}

fn nearest(reachability: &[Option<f64>], done: &[bool]) -> Option<usize> {
    let seeds = (0..done.len()).filter(|&q| !done[q]).filter_map(|q| Some((reachability[q]?, q)));
    seeds.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, q)| q)
}

/// Clusters at the radius `eps`: the label of each point, numbered by their lowest points. A point that nothing reaches
/// begins a cluster, if only of itself: there is no noise here, every thread is of some kind.
pub fn extract(ordering: &Ordering, eps: f64) -> Vec<usize> {
    let mut labels = vec![0; ordering.order.len()];
    let mut clusters = 0;
    for &point in &ordering.order {
        if ordering.reachability[point].is_none_or(|r| r > eps) {
            clusters += 1;
        }
        labels[point] = clusters - 1;
    }
    let mut number = vec![None; clusters];
    let mut used = 0;
    for label in &mut labels {
        let fresh = number[*label].unwrap_or_else(|| {
            used += 1;
            used - 1
        });
        number[*label] = Some(fresh);
        *label = fresh;
    }
    labels
}
