//! Rows that text, page and CSV share: regions by metric, worst first.

use super::View;
use std::collections::{BTreeMap, BTreeSet};
use threadtalk_crd::imbalance::profile::METRICS;
use threadtalk_crd::imbalance::profile::model::{Figures, Imbalance, Region};

/// A region in a table.
pub struct Row<'a> {
    /// The region.
    pub region: &'a Region,
    /// The metric that the table is about.
    pub metric: &'static str,
    /// The region itself.
    pub figures: &'a Figures,
    /// With the regions inside it.
    pub inclusive: &'a Figures,
    /// Its part of the metric's sum over all regions, 0 to 1.
    pub share: f64,
}

/// What regions are compared by if the user does not say: CPU time if it was taken, else work, else what there is.
pub fn metric(imbalance: &Imbalance) -> &'static str {
    let known = |metric: &&&str| imbalance.regions.iter().any(|r| r.exclusive.contains_key(**metric));
    let preferred = ["cpu", "work"];
    preferred.iter().chain(&METRICS).find(known).copied().unwrap_or("cpu")
}

/// Metrics that some region has.
pub fn metrics(imbalance: &Imbalance) -> Vec<&'static str> {
    METRICS.into_iter().filter(|m| imbalance.regions.iter().any(|r| r.exclusive.contains_key(m))).collect()
}

/// Groups of regions, as CrayPat's groups of functions.
pub fn group(region: &Region) -> &'static str {
    match region.kind {
        "function" => "functions",
        "loop" => "loops",
        "user" => "named by the program",
        "program" => "outside of functions",
        _ => "OpenMP",
    }
}

/// Regions with this metric, those with the most imbalance time first.
pub fn rows<'a>(view: View<'a>, metric: &'static str) -> Vec<Row<'a>> {
    let total = |f: &Figures| f.spread.avg * f.threads as f64;
    let all: f64 = view.imbalance.regions.iter().filter_map(|r| r.exclusive.get(metric)).map(total).sum();
    let row = |region: &'a Region| {
        let figures = region.exclusive.get(metric)?;
        let share = if all > 0.0 { total(figures) / all } else { 0.0 };
        Some(Row { region, metric, figures, inclusive: region.inclusive.get(metric)?, share })
    };
    let mut rows: Vec<Row> = view.imbalance.regions.iter().filter_map(row).collect();
    let lost = |row: &Row| row.figures.spread.imbalance.imbalance_time;
    rows.sort_by(|a, b| lost(b).total_cmp(&lost(a)).then(b.share.total_cmp(&a.share)));
    rows
}

/// The first `top` of [`rows`].
pub fn worst<'a>(view: View<'a>, metric: &'static str, top: usize) -> Vec<Row<'a>> {
    rows(view, metric).into_iter().take(top).collect()
}

/// The threads that any of these rows has, ascending.
pub fn threads(rows: &[Row]) -> Vec<u32> {
    let all: BTreeSet<u32> = rows.iter().flat_map(|row| row.region.team.iter().copied()).collect();
    all.into_iter().collect()
}

/// A row's values, of each of `threads`: bars are of the same thread in all rows of a table.
pub fn values(row: &Row, threads: &[u32]) -> Vec<f64> {
    let values: BTreeMap<u32, f64> = row.region.team.iter().copied().zip(row.figures.values.iter().copied()).collect();
    threads.iter().map(|thread| values.get(thread).copied().unwrap_or(0.0)).collect()
}

/// A percentage of CrayPat's.
pub fn percent(figures: &Figures) -> String {
    format!("{:.1} %", figures.spread.imbalance.imbalance_percent)
}
