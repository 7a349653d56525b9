//! Communication reuse distances of a region.

use serde::Serialize;

/// Which distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// Distinct elements used between two consecutive usages of an element (ICPP'18, section 3.3); 0 = at once.
    Distinct,
    /// Difference of the positions of the two usages in the pair's sequence (ICPP'18, Algorithm 2); 1 = at once.
    Index,
}

/// How the distinct distances came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Every usage was followed.
    Exact,
    /// All from sampled index distances by the StatStack transform.
    Statstack,
    /// The beginning of each trace exactly, the rest from sampled index distances.
    ExactThenStatstack,
}

/// A bucket of a histogram: distances `lo <= d < hi`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bucket {
    /// Smallest distance.
    pub lo: u64,
    /// Smallest distance of the next bucket.
    pub hi: u64,
    /// Distances in it. A whole number where all is counted; estimates need not be.
    pub count: f64,
}

/// A histogram of distances and its quantiles, in elements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distances {
    /// Which distance.
    pub kind: Reading,
    /// Number of distances.
    pub count: f64,
    /// Quantile 0.5 in elements; none if there is no distance.
    pub median: Option<f64>,
    /// Quantile 0.9 in elements.
    pub p90: Option<f64>,
    /// Quantile 0.99 in elements.
    pub p99: Option<f64>,
    /// Median x bytes of an element.
    pub median_bytes: Option<f64>,
    /// Quantile 0.9 x bytes of an element.
    pub p90_bytes: Option<f64>,
    /// Quantile 0.99 x bytes of an element.
    pub p99_bytes: Option<f64>,
    /// Buckets that are not empty, ascending.
    pub buckets: Vec<Bucket>,
}

/// What a cache level makes of the distances (ICPP'18, section 3.3). The three shares add up to 1,
/// or are all 0 if there is no distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cutoff {
    /// Cache level.
    pub level: u8,
    /// The cache less the bytes that the threads sharing it have for themselves in the region.
    pub min_bytes: u64,
    /// The whole cache.
    pub max_bytes: u64,
    /// Share of distances below `min_bytes`: no capacity miss.
    pub no_miss: f64,
    /// Share between the two: a capacity miss is possible.
    pub probable_miss: f64,
    /// Share above `max_bytes`: a capacity miss for certain.
    pub definite_miss: f64,
}

/// The reuse distances of all pairs of threads of a region together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crd {
    /// Distinct distances.
    #[serde(flatten)]
    pub distinct: Distances,
    /// Index distances.
    pub index: Distances,
    /// How the distinct ones came about.
    pub method: Method,
    /// Share of the usages that were followed: 1 = all.
    pub rate: f64,
    /// How far the ranks of quantiles may be off because distances were sampled, 0 to 1: with 95 % confidence the
    /// median printed here is a quantile from `0.5 - rank_error` to `0.5 + rank_error` of all distances (Dvoretzky,
    /// Kiefer and Wolfowitz 1956, with Massart's constant), what their transform to distinct ones may move past a
    /// quantile by chance, the share of the intervals that were given up and that no other stands for, and the share of
    /// events that may be false ([`super::Accuracy::estimated_false_rate`]). 0 where every usage was followed, and none
    /// is doubtful.
    pub rank_error: f64,
    /// Sampled intervals given up before the element was used again: they count as longer than all others.
    pub abandoned: u64,
    /// One for each cache level.
    pub cutoffs: Vec<Cutoff>,
}
