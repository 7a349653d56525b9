//! Class of a block (Harmony, section 5.1) and its average degree of parallelism (section 5.3).

use serde::Serialize;

/// At which counts of threads a block ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Not at all.
    Never,
    /// With one thread only.
    Serial,
    /// With more than one only.
    Parallel,
    /// With one and with more.
    Mixed,
}

/// Class of a block with this vector.
pub fn class(counts: &[u64]) -> Class {
    let serial = counts.first().is_some_and(|&c| c > 0);
    let parallel = counts.iter().skip(1).any(|&c| c > 0);
    match (serial, parallel) {
        (false, false) => Class::Never,
        (true, false) => Class::Serial,
        (false, true) => Class::Parallel,
        (true, true) => Class::Mixed,
    }
}

/// Mean count of threads over the executions; none if there was none.
pub fn average_degree(counts: &[u64]) -> Option<f64> {
    let total: u64 = counts.iter().sum();
    let weighted: f64 = counts.iter().enumerate().map(|(i, &c)| (i + 1) as f64 * c as f64).sum();
    (total > 0).then(|| weighted / total as f64)
}

/// A block's vector with what follows from it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Classified {
    /// Class.
    pub class: Class,
    /// Executions at each count of threads, from 1.
    pub counts: Vec<u64>,
    /// Mean count of threads; none if it never ran.
    pub average_degree: Option<f64>,
}

impl Classified {
    /// What follows from `counts`.
    pub fn new(counts: Vec<u64>) -> Classified {
        Classified { class: class(&counts), average_degree: average_degree(&counts), counts }
    }
}
