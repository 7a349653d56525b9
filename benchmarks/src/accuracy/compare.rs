use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::rank;
use crate::report::{Crd, Region, Report};
use crate::statistics::Summary;

/// Regions and entries with a smaller share of all events than this are left out of the worst cases: one false event
/// among three is 33 % and says nothing.
const WEIGHTY: f64 = 0.001;

/// How far one profile is from another of the same program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Events of the profile that is compared with.
    pub events: u64,
    /// Entries of the regions' matrices that are not zero in one of the two.
    pub entries: usize,
    /// Events that are too many in their entry, over all events of the compared profile: made up, or in the wrong
    /// place.
    pub made_up: f64,
    /// Events that are too few in their entry, over all events of the profile that is compared with.
    pub missing: f64,
    /// The largest relative difference of an entry with at least 0.1 % of all events.
    pub worst_entry: f64,
    /// The largest difference of H, over the larger of the two, in the regions with at least 0.1 % of all events and in
    /// the program.
    pub homogeneity: f64,
    /// The same for B.
    pub balance: f64,
    /// The same for quantiles 0.5, 0.9 and 0.99 of the reuse distance, off by one element or more.
    pub worst_quantile: f64,
    /// The median of the relative differences of these quantiles.
    pub median_quantile: f64,
    /// How far the same regions' distances are apart by rank ([`rank::distance`]): the largest.
    pub worst_rank: f64,
    /// The region that has it, by its number.
    pub worst_rank_region: u32,
    /// The median of the regions.
    pub median_rank: f64,
    /// The largest of the index distances, which are sampled and not estimated.
    pub worst_index_rank: f64,
    /// Regions that were compared by rank.
    pub ranks: u32,
    /// Those whose index distances are further apart than the report says for its samples.
    pub ranks_beyond: u32,
}

impl Difference {
    /// The larger of what is made up and what is missing.
    pub fn wrong(&self) -> f64 {
        self.made_up.max(self.missing)
    }
}

/// Compares `found` with `exact`.
pub fn difference(found: &Report, exact: &Report) -> Difference {
    let events = exact.events();
    let mut result = Difference { events, ..Difference::default() };
    let mut pairs: BTreeMap<_, (u64, u64)> = exact.entries().into_iter().map(|(at, n)| (at, (0, n))).collect();
    for (at, n) in found.entries() {
        pairs.entry(at).or_default().0 = n;
    }
    result.entries = pairs.len();
    let (mut made_up, mut missing) = (0, 0);
    for (found, exact) in pairs.into_values() {
        made_up += found.saturating_sub(exact);
        missing += exact.saturating_sub(found);
        if exact as f64 >= WEIGHTY * events as f64 && exact > 0 {
            result.worst_entry = result.worst_entry.max(found.abs_diff(exact) as f64 / exact as f64);
        }
    }
    result.made_up = made_up as f64 / found.events().max(1) as f64;
    result.missing = missing as f64 / events.max(1) as f64;

    let others: BTreeMap<u32, &Region> = found.regions.iter().map(|region| (region.id, region)).collect();
    let weighty = exact.regions.iter().filter(|region| region.events() as f64 >= WEIGHTY * events as f64);
    let pairs = weighty.filter_map(|region| Some((*others.get(&region.id)?, region)));
    let (mut quantiles, mut ranks) = (Vec::new(), Vec::new());
    for (found, exact) in pairs.chain([(&found.program_total, &exact.program_total)]) {
        result.homogeneity = result.homogeneity.max(apart(found.own.homogeneity, exact.own.homogeneity, 1e-3));
        result.balance = result.balance.max(apart(found.own.balance, exact.own.balance, 0.1));
        quantiles.extend(quantile_differences(found.own.crd.as_ref(), exact.own.crd.as_ref()));
        if let (Some(found), Some(crd)) = (&found.own.crd, &exact.own.crd) {
            let apart = rank::distance(&found.buckets, &crd.buckets);
            if apart > result.worst_rank {
                (result.worst_rank, result.worst_rank_region) = (apart, exact.id);
            }
            ranks.push(apart);
            result.ranks += 1;
            let sampled = rank::distance(&found.index.buckets, &crd.index.buckets);
            result.worst_index_rank = result.worst_index_rank.max(sampled);
            result.ranks_beyond += u32::from(sampled > found.rank_error);
        }
    }
    result.median_rank = Summary::Median.of(&ranks).unwrap_or(0.0);
    result.worst_quantile = quantiles.iter().copied().fold(0.0, f64::max);
    result.median_quantile = Summary::Median.of(&quantiles).unwrap_or(0.0);
    result
}

fn quantile_differences(found: Option<&Crd>, exact: Option<&Crd>) -> Vec<f64> {
    let Some(exact) = exact.filter(|crd| crd.count > 0.0) else { return Vec::new() };
    let of = |quantile: fn(&Crd) -> Option<f64>| relative(found.and_then(quantile), quantile(exact), 1.0);
    vec![of(|crd| crd.median), of(|crd| crd.p90), of(|crd| crd.p99)]
}

/// |found - exact| / max(exact, floor); a value that only one of the two has is off by all of it.
fn relative(found: Option<f64>, exact: Option<f64>, floor: f64) -> f64 {
    match (found, exact) {
        (None, None) => 0.0,
        (Some(found), Some(exact)) if found == exact => 0.0,
        (Some(found), Some(exact)) => (found - exact).abs() / exact.abs().max(floor),
        _ => 1.0,
    }
}

/// 0 to 1: |found - exact| / max(found, exact, floor). Both measures may be 0 but for rounding, so that below
/// the floor (H: 0.001,
/// B: 0.1 %) differences are of no interest.
fn apart(found: Option<f64>, exact: Option<f64>, floor: f64) -> f64 {
    let larger = found.unwrap_or(0.0).abs().max(exact.unwrap_or(0.0).abs()).max(floor);
    relative(found, exact, larger)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Accuracy, Bucket, Metrics};

    fn region(id: u32, raw: u64, rar: u64, median: f64) -> Region {
        let crd = Crd { count: 10.0, median: Some(median), p90: Some(100.0), p99: Some(200.0), ..Crd::default() };
        Region {
            id,
            threads: vec![0, 1],
            raw: vec![vec![0, raw], vec![0, 0]],
            rar: vec![vec![0, rar], vec![0, 0]],
            own: Metrics { homogeneity: Some(2.0), balance: Some(0.0), crd: Some(crd) },
            ..Region::default()
        }
    }

    fn report(regions: Vec<Region>) -> Report {
        let program_total = regions[0].clone();
        Report { accuracy: Accuracy { estimated_false_rate: 0.0 }, regions, program_total }
    }

    #[test]
    fn equal_profiles_do_not_differ() {
        let exact = report(vec![region(1, 1000, 9000, 4.0)]);
        let expected = Difference { events: 10000, entries: 2, ranks: 2, ..Difference::default() };
        assert_eq!(difference(&exact.clone(), &exact), expected);
    }

    #[test]
    fn events_that_are_missing_or_made_up_add_to_the_total() {
        let exact = report(vec![region(1, 1000, 9000, 4.0)]);
        let found = report(vec![region(1, 900, 9000, 4.0), region(2, 50, 0, 4.0)]);
        let d = difference(&found, &exact);
        assert!((d.made_up - 50.0 / 9950.0).abs() < 1e-12 && (d.missing - 0.01).abs() < 1e-12, "{d:?}");
        assert!((d.worst_entry - 0.1).abs() < 1e-12, "{d:?}");
    }

    #[test]
    fn rare_entries_are_no_worst_case() {
        let exact = report(vec![region(1, 5, 9995, 4.0)]);
        let found = report(vec![region(1, 10, 9995, 4.0)]);
        let d = difference(&found, &exact);
        assert_eq!(d.worst_entry, 0.0);
        assert!((d.made_up - 5.0 / 10005.0).abs() < 1e-12, "{d:?}");
    }

    #[test]
    fn quantiles_below_one_element_are_not_blown_up() {
        let exact = report(vec![region(1, 1000, 9000, 0.0)]);
        let found = report(vec![region(1, 1000, 9000, 0.5)]);
        let d = difference(&found, &exact);
        assert_eq!((d.worst_quantile, d.median_quantile), (0.5, 0.0));
    }

    #[test]
    fn distances_are_compared_by_rank_and_held_against_what_the_report_says() {
        let steps = |low: f64, rank_error: f64| {
            let mut report = report(vec![region(1, 1000, 9000, 4.0)]);
            let crd = report.regions[0].own.crd.as_mut().unwrap();
            crd.buckets = vec![Bucket { lo: 8, count: low }, Bucket { lo: 512, count: 100.0 - low }];
            crd.index.buckets = crd.buckets.clone();
            crd.rank_error = rank_error;
            report
        };
        let of = |rank_error| difference(&steps(40.0, rank_error), &steps(52.0, 0.0));
        let d = of(0.1);
        assert!((d.worst_rank - 0.12).abs() < 1e-12 && (d.median_rank - 0.06).abs() < 1e-12, "{d:?}");
        // The program as a whole has no histogram here, and does not differ.
        assert_eq!(d.worst_index_rank, d.worst_rank);
        assert_eq!((d.worst_rank_region, d.ranks, d.ranks_beyond, of(0.13).ranks_beyond), (1, 2, 1, 0));
    }

    #[test]
    fn measures_that_are_zero_but_for_rounding_are_equal() {
        let exact = report(vec![region(1, 1000, 9000, 4.0)]);
        let mut found = exact.clone();
        found.regions[0].own.balance = Some(1e-12);
        assert!(difference(&found, &exact).balance < 1e-10);
        found.regions[0].own.balance = Some(5.0);
        assert_eq!(difference(&found, &exact).balance, 1.0);
    }

    #[test]
    fn a_value_that_is_missing_is_wholly_off() {
        let exact = report(vec![region(1, 1000, 9000, 4.0)]);
        let mut found = exact.clone();
        found.regions[0].own.crd = None;
        let d = difference(&found, &exact);
        assert_eq!((d.worst_quantile, d.homogeneity), (1.0, 0.0));
    }
}
