//! What is compared.

use serde::{Serialize, Serializer};

use crate::model::{Cutoff, Region};

/// A figure of a region or of the program. Its name is the key in JSON and in conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// `raw`: true communication, own events.
    Raw,
    /// `rar`: reuse, own events.
    Rar,
    /// `sync`: the part of `raw` whose read is atomic.
    Sync,
    /// `crr`: `rar` / `raw`; none without communication.
    Crr,
    /// `crd_median`: median reuse distance in elements.
    CrdMedian,
    /// `crd_p90`: quantile 0.9 of it.
    CrdP90,
    /// `homogeneity` (ICPP'18, equation 1): 0 = all pairs alike.
    Homogeneity,
    /// `homogeneity_scaled`: the same of the matrix scaled to a largest entry of 100. Twice the reuse for each
    /// communication everywhere makes homogeneity four times as large and leaves this.
    ScaledHomogeneity,
    /// `balance` in percent (ICPP'18, equation 2): 0 = even.
    Balance,
    /// `definite_miss_l2`: share of the distances beyond that cache. `definite_miss`, without a level, is the share of
    /// the nearest cache, the largest of all.
    DefiniteMiss(Option<u8>),
    /// `probable_miss_l2`, `probable_miss`: share between the cutoffs of that cache.
    ProbableMiss(Option<u8>),
    /// `visits`: times that threads entered the region.
    Visits,
    /// `imbalance` in percent (DeRose et al., equation 1): how uneven the instructions are that threads execute between
    /// meetings, in the mean of the program's parallel sections. 0 = even.
    Imbalance,
    /// `duration_s`: seconds of the whole run, profiling included.
    Duration,
    /// `cpu_s`: CPU time of the whole run in seconds, profiling included.
    Cpu,
}

impl Metric {
    /// Those of a region, with these cache levels.
    pub fn of_regions(levels: &[u8]) -> Vec<Self> {
        use Metric::*;
        let mut all = vec![Raw, Rar, Sync, Crr, CrdMedian, CrdP90, Homogeneity, ScaledHomogeneity, Balance];
        if !levels.is_empty() {
            all.extend([DefiniteMiss(None), ProbableMiss(None)]);
        }
        all.extend(levels.iter().map(|level| DefiniteMiss(Some(*level))));
        all.extend(levels.iter().map(|level| ProbableMiss(Some(*level))));
        all.push(Visits);
        all
    }

    /// Those of a program: of a region, its imbalance, and the time it took. Its visits say nothing.
    pub fn of_programs(levels: &[u8]) -> Vec<Self> {
        let mut all = Self::of_regions(levels);
        all.retain(|metric| *metric != Self::Visits);
        all.extend([Self::Imbalance, Self::Duration, Self::Cpu]);
        all
    }

    /// Its name.
    pub fn name(self) -> String {
        let by_level = |name: &str, level: Option<u8>| level.map_or(name.to_string(), |l| format!("{name}_l{l}"));
        let name = match self {
            Self::Raw => "raw",
            Self::Rar => "rar",
            Self::Sync => "sync",
            Self::Crr => "crr",
            Self::CrdMedian => "crd_median",
            Self::CrdP90 => "crd_p90",
            Self::Homogeneity => "homogeneity",
            Self::ScaledHomogeneity => "homogeneity_scaled",
            Self::Balance => "balance",
            Self::DefiniteMiss(level) => return by_level("definite_miss", level),
            Self::ProbableMiss(level) => return by_level("probable_miss", level),
            Self::Visits => "visits",
            Self::Imbalance => "imbalance",
            Self::Duration => "duration_s",
            Self::Cpu => "cpu_s",
        };
        name.to_string()
    }

    /// The metric of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        // No machine has more levels of cache than that.
        Self::of_programs(&(1..=9).collect::<Vec<u8>>())
            .into_iter()
            .chain([Self::Visits])
            .find(|metric| metric.name() == name)
    }

    /// Differences below this are noise whatever their relation to the value: 3 events after 1 are three times as many
    /// and mean nothing. Counts: 16 events; distances: 16 elements, which are a cache line; shares: 1 % of all; balance
    /// and imbalance: a percent.
    pub fn floor(self) -> f64 {
        match self {
            Self::Raw | Self::Rar | Self::Sync | Self::CrdMedian | Self::CrdP90 => 16.0,
            Self::Balance | Self::ScaledHomogeneity | Self::Imbalance => 1.0,
            Self::DefiniteMiss(_) | Self::ProbableMiss(_) | Self::Homogeneity | Self::Crr => 0.01,
            Self::Visits => 1.0,
            Self::Duration | Self::Cpu => 0.005,
        }
    }

    /// The value in a region; none if it was not measured or is not defined there.
    pub fn of(self, region: &Region) -> Option<f64> {
        if self == Self::Visits {
            return Some(region.visits as f64);
        }
        let Some(counts) = region.counts.as_deref() else {
            return matches!(self, Self::Raw | Self::Rar | Self::Sync).then_some(0.0);
        };
        let (raw, rar) = (counts.raw.sum() as f64, counts.rar.sum() as f64);
        let crd = counts.own.crd.as_ref().filter(|crd| crd.distinct.count > 0.0);
        let cutoff = |level: Option<u8>, share: fn(&Cutoff) -> f64| {
            let found = crd?.cutoffs.iter().find(|cutoff| level.is_none_or(|level| cutoff.level == level));
            found.map(share)
        };
        match self {
            Self::Raw => Some(raw),
            Self::Rar => Some(rar),
            Self::Sync => Some(counts.sync_raw.sum() as f64),
            Self::Crr => (raw > 0.0).then(|| rar / raw),
            Self::CrdMedian => crd?.distinct.median,
            Self::CrdP90 => crd?.distinct.p90,
            // Without a first read, entries are numbers of events, which runs of other lengths do not share.
            Self::Homogeneity => (raw > 0.0).then_some(counts.own.homogeneity),
            Self::ScaledHomogeneity => (raw + rar > 0.0).then_some(counts.own.homogeneity_variants.scaled),
            Self::Balance => (raw + rar > 0.0).then_some(counts.own.balance),
            Self::DefiniteMiss(level) => cutoff(level, |cutoff| cutoff.definite_miss),
            Self::ProbableMiss(level) => cutoff(level, |cutoff| cutoff.probable_miss),
            Self::Visits | Self::Imbalance | Self::Duration | Self::Cpu => None,
        }
    }

    /// True if less of it is better and more is worse (ICPP'18, section 3.5): communication costs, long distances miss
    /// caches, uneven reuse or work makes some threads wait. Reuse as such is neither. Times are those of the profiled
    /// run, most of which is profiling.
    pub fn is_judged(self) -> bool {
        use Metric::*;
        matches!(self, Raw | CrdMedian | CrdP90 | Homogeneity | Balance | Imbalance | DefiniteMiss(Some(_)))
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_metric() {
        for metric in Metric::of_regions(&[1, 3]).into_iter().chain(Metric::of_programs(&[2])) {
            assert_eq!(Metric::of_name(&metric.name()), Some(metric));
        }
        assert_eq!(Metric::of_name("definite_miss_l3"), Some(Metric::DefiniteMiss(Some(3))));
        assert_eq!(Metric::of_name("RAW"), None);
    }
}
