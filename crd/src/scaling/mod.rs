//! Scalability: how communication, reuse and reuse distances of each region grow with the input or the threads, and
//! when the distances outgrow the caches (ICPP'18, section 4.2 and figure 9 compare two inputs; this fits laws and
//! extrapolates).
//!
//! | what | where |
//! |---|---|
//! | which region is which | those of [`crate::compare`] |
//! | laws of growth | [`fit`] |
//! | where distances cross a cutoff | [`crossing`] |

mod crossing;
mod fit;
mod model;

pub use crossing::{Bound, Crossing, Point, Seen, crossing};
pub use fit::{Law, Method, fit};
pub use model::{CutoffSeries, Growth, RegionScaling, SCHEMA, Scaling, ScalingError};

use crate::compare::pairs;
use crate::model::{Counts, Crd, Region, Report};

/// How the reports grow with `sizes`, which belong to them in their order. `axis` says what the sizes are.
pub fn scale(reports: &[Report], sizes: &[f64], axis: &str) -> Result<Scaling, ScalingError> {
    let order = checked(reports.len(), sizes)?;
    let reports: Vec<&Report> = order.iter().map(|at| &reports[*at]).collect();
    let sizes: Vec<f64> = order.iter().map(|at| sizes[*at]).collect();
    let last = reports[reports.len() - 1];
    // Regions of each report by those of the last one.
    let found: Vec<Vec<Option<&Region>>> = reports
        .iter()
        .map(|report| {
            let mut of_last = vec![None; last.regions.len()];
            for pair in pairs(&last.regions, &report.regions) {
                of_last[pair.base] = Some(&report.regions[pair.new]);
            }
            of_last
        })
        .collect();
    let granule = f64::from(last.options.granule.max(1));
    let communicates = |region: &Region| region.counts.as_ref().is_some_and(|c| !c.raw.is_zero() || !c.rar.is_zero());
    let mut regions: Vec<RegionScaling> = (0..last.regions.len())
        .filter(|at| communicates(&last.regions[*at]))
        .map(|at| {
            let series: Vec<Option<&Region>> = found.iter().map(|of_last| of_last[at]).collect();
            region_scaling(&last.regions[at], &series, &sizes, granule)
        })
        .collect();
    regions.sort_by(|a, b| urgency(a).partial_cmp(&urgency(b)).unwrap_or(std::cmp::Ordering::Equal));
    let totals: Vec<Option<&Region>> = reports.iter().map(|report| Some(&report.program_total)).collect();
    Ok(Scaling {
        schema: SCHEMA,
        axis: axis.to_owned(),
        program: last.program.name.clone(),
        caches: last.caches.clone(),
        total: region_scaling(&last.program_total, &totals, &sizes, granule),
        notes: notes(&reports, &sizes),
        sizes,
        regions,
    })
}

/// Order of the profiles by size.
fn checked(profiles: usize, sizes: &[f64]) -> Result<Vec<usize>, ScalingError> {
    if sizes.len() != profiles {
        return Err(ScalingError::Count { sizes: sizes.len(), profiles });
    }
    if profiles < 2 {
        return Err(ScalingError::Few);
    }
    if let Some(size) = sizes.iter().find(|size| !(size.is_finite() && **size >= 1.0)) {
        return Err(ScalingError::Size { size: *size });
    }
    let mut order: Vec<usize> = (0..profiles).collect();
    order.sort_by(|a, b| sizes[*a].total_cmp(&sizes[*b]));
    match order.windows(2).find(|pair| sizes[pair[0]] == sizes[pair[1]]) {
        Some(pair) => Err(ScalingError::Same { size: sizes[pair[0]] }),
        None => Ok(order),
    }
}

fn region_scaling(last: &Region, series: &[Option<&Region>], sizes: &[f64], granule: f64) -> RegionScaling {
    let crds: Vec<Option<&Crd>> = series.iter().map(|region| crd((*region)?)).collect();
    let growth = |values: Vec<Option<f64>>| {
        let points = sizes.iter().zip(&values).filter_map(|(n, value)| Some((*n, (*value)?)));
        Growth { law: fit(&points.collect::<Vec<_>>()), values }
    };
    // A region without counts had no event; one that is not there was not measured.
    let events = |count: fn(&Counts) -> u64| {
        let count = |region: &&Region| region.counts.as_deref().map_or(0, count) as f64;
        growth(series.iter().map(|region| region.as_ref().map(count)).collect())
    };
    let bytes =
        |quantile: fn(&Crd) -> Option<f64>| growth(crds.iter().map(|crd| Some(quantile((*crd)?)? * granule)).collect());
    let (crd_median, crd_p90) = (bytes(|crd| crd.distinct.median), bytes(|crd| crd.distinct.p90));
    let cutoffs = cutoffs(&crds);
    RegionScaling {
        id: last.id,
        kind: last.kind.name(),
        name: last.name.clone(),
        file: last.file.clone(),
        line: last.line,
        raw: events(|counts| counts.raw.sum()),
        rar: events(|counts| counts.rar.sum()),
        crossings: crossings(&crd_median, &cutoffs, sizes),
        p90_crossings: crossings(&crd_p90, &cutoffs, sizes),
        crd_median,
        crd_p90,
        cutoffs,
    }
}

/// Distances of the region's own events; of the program's total those of all.
fn crd(region: &Region) -> Option<&Crd> {
    region.counts.as_deref()?.own.crd.as_ref().filter(|crd| crd.distinct.count > 0.0)
}

fn cutoffs(crds: &[Option<&Crd>]) -> Vec<CutoffSeries> {
    let levels = crds.iter().rev().flatten().next().map_or(&[][..], |crd| &crd.cutoffs);
    let at = |crd: &Crd, level: u8| crd.cutoffs.iter().find(|cutoff| cutoff.level == level).map(|c| c.min_bytes);
    let series = levels.iter().map(|cutoff| CutoffSeries {
        level: cutoff.level,
        max_bytes: cutoff.max_bytes,
        min_bytes: crds.iter().map(|crd| at((*crd)?, cutoff.level)).collect(),
    });
    series.collect()
}

fn crossings(distances: &Growth, cutoffs: &[CutoffSeries], sizes: &[f64]) -> Vec<Crossing> {
    let mut found = Vec::new();
    for series in cutoffs {
        for bound in [Bound::Min, Bound::Max] {
            let points = sizes.iter().zip(&distances.values).zip(&series.min_bytes);
            let points = points.filter_map(|((n, distance), min)| {
                let cutoff = if bound == Bound::Max { series.max_bytes } else { (*min)? };
                Some(Point { n: *n, distance: (*distance)?, cutoff: cutoff as f64 })
            });
            let points: Vec<Point> = points.collect();
            if !points.is_empty() {
                let (seen, at) = crossing(&points, series.max_bytes as f64);
                found.push(Crossing { level: series.level, cutoff: bound, seen, at });
            }
        }
    }
    found
}

/// Smaller is worse: where the median outgrows each cache for certain, from the outermost inwards, then less
/// communication.
fn urgency(region: &RegionScaling) -> Vec<f64> {
    let certain = region.crossings.iter().rev().filter(|crossing| crossing.cutoff == Bound::Max);
    let mut key: Vec<f64> = certain
        .map(|crossing| match crossing.seen {
            Seen::Always => 0.0,
            _ => crossing.at.unwrap_or(f64::INFINITY),
        })
        .collect();
    // A region without distances crosses nothing.
    key.resize(16, f64::INFINITY);
    key.push(-region.raw.values.last().copied().flatten().unwrap_or(0.0));
    key.push(f64::from(region.id));
    key
}

fn notes(reports: &[&Report], sizes: &[f64]) -> Vec<String> {
    let mut notes = Vec::new();
    if sizes.len() == 2 {
        notes.push("two profiles give an exponent and no measure of how well it fits: add a third size".to_string());
    } else if sizes.len() < 5 {
        notes.push(format!("{} sizes tell few laws apart: five or more are better", sizes.len()));
    }
    let name = &reports[reports.len() - 1].program.name;
    if let Some(other) = reports.iter().find(|report| report.program.name != *name) {
        notes.push(format!("different programs: {} and {name}", other.program.name));
    }
    if reports.iter().any(|report| report.options.crd == "off") {
        notes.push("a profile has no reuse distances: record it with --crd auto".to_string());
    }
    notes
}
