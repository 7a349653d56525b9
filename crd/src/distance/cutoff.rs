//! Cutoff distances (ICPP'18, section 3.3): what a cache level makes of the reuse distances.
//!
//! Between two usages of an element, `d` other elements of the same communication were used. If they alone are larger
//! than the cache (**max cutoff**), the element was displaced. If they and all that the threads have for themselves fit
//! (**min cutoff** = cache less private bytes), it was not. Between the two it may have been.
//!
//! A cache holds the private bytes of the threads that run beside it. Which threads these are is not known, so the min
//! cutoff takes the threads with the most, as many as processors share the level: no placement can be worse.

use super::mass::Mass;
use crate::machine::Cache;
use crate::model::Cutoff;
use crate::participants::ByThread;

/// The verdict of one level. `private`: private bytes of each thread.
pub fn cutoff(cache: Cache, distances: &Mass, granule: u32, private: &ByThread) -> Cutoff {
    let mut largest: Vec<u64> = private.iter().map(|(_, bytes)| *bytes).collect();
    largest.sort_unstable_by_key(|bytes| std::cmp::Reverse(*bytes));
    let beside = largest.iter().take(cache.shared_by as usize).fold(0u64, |sum, b| sum.saturating_add(*b));
    let min_bytes = cache.bytes.saturating_sub(beside);
    let granule = u64::from(granule.max(1));
    // Distances d with d * granule < min_bytes, and with d * granule > bytes.
    let below = share_below(distances, min_bytes.div_ceil(granule));
    let up_to = share_below(distances, cache.bytes / granule + 1);
    let any = if distances.count() > 0.0 { 1.0 } else { 0.0 };
    Cutoff {
        level: cache.level,
        min_bytes,
        max_bytes: cache.bytes,
        no_miss: below,
        probable_miss: (up_to - below).max(0.0),
        definite_miss: (any - up_to).max(0.0),
    }
}

/// Share of the distances below `limit` elements.
fn share_below(distances: &Mass, limit: u64) -> f64 {
    let below = distances.buckets().map(|b| {
        let inside = limit.clamp(b.lo, b.hi) - b.lo;
        b.count * inside as f64 / (b.hi - b.lo) as f64
    });
    let count = distances.count();
    if count > 0.0 { (below.sum::<f64>() / count).min(1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadtalk_profile::Histogram;

    const CACHE: Cache = Cache { level: 2, bytes: 40, shared_by: 2 };

    fn verdict(distances: &[u64], private: &[(u32, u64)]) -> Cutoff {
        let mut mass = Mass::default();
        mass.add_histogram(&Histogram::of(distances.iter().copied()));
        cutoff(CACHE, &mass, 4, &private.to_vec())
    }

    #[test]
    fn below_between_and_above() {
        // 10 elements fill the cache; of the private bytes the two largest count: 8 + 12.
        let v = verdict(&[0, 4, 5, 10, 11, 12, 13, 14], &[(0, 8), (1, 12), (2, 4)]);
        assert_eq!((v.min_bytes, v.max_bytes), (20, 40));
        assert_eq!((v.no_miss, v.probable_miss, v.definite_miss), (0.25, 0.25, 0.5));
    }

    #[test]
    fn private_bytes_beyond_the_cache_leave_nothing_certain() {
        let v = verdict(&[0, 1], &[(0, 100)]);
        assert_eq!((v.min_bytes, v.no_miss, v.probable_miss), (0, 0.0, 1.0));
    }

    #[test]
    fn no_distance_no_verdict() {
        let v = verdict(&[], &[]);
        assert_eq!((v.no_miss, v.probable_miss, v.definite_miss), (0.0, 0.0, 0.0));
    }
}
