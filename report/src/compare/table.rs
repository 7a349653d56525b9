//! The rows that text and page share.

use super::{View, words};
use crate::label;
use threadtalk_crd::compare::{Figures, Metric, RegionChange, Side};

/// A metric of a region or of the program: name, base, new, change.
pub fn figures(granule: [f64; 2], base: &Figures, new: &Figures) -> Vec<[String; 4]> {
    let shown = base.metrics().filter(|metric| {
        // The nearest level's shares come with its number.
        !matches!(metric, Metric::DefiniteMiss(None) | Metric::ProbableMiss(None))
    });
    let of = |metric: Metric| {
        let (before, after) = (base.get(metric), new.get(metric));
        // What neither has needs no row.
        if before.unwrap_or(0.0) == 0.0 && after.unwrap_or(0.0) == 0.0 && metric != Metric::Raw {
            return None;
        }
        let show = |side: usize, value: Option<f64>| {
            value.map_or("-".to_string(), |value| words::value(granule[side], metric, value))
        };
        let relation = before.zip(after).map_or(String::new(), |(b, n)| words::relation(metric, b, n));
        Some([words::name(metric), show(0, before), show(1, after), relation])
    };
    shown.filter_map(of).collect()
}

/// Headings of [`row`].
pub const HEADINGS: [&str; 11] = ["RaW", "new", "change", "RaR", "H", "B", "CRD p50", "new", "miss", "region", "where"];

/// A region on one line.
pub fn row(view: View, change: &RegionChange) -> [String; 11] {
    let granule = view.granule();
    let (base, new) = (&change.base.figures, &change.new.figures);
    let value = |side: usize, metric| {
        let figures = [base, new][side];
        figures.get(metric).map_or("-".to_string(), |value| words::value(granule[side], metric, value))
    };
    let relation = |metric| match (base.get(metric), new.get(metric)) {
        (Some(before), Some(after)) => words::relation(metric, before, after).replace(" points", " pt"),
        _ => "-".to_string(),
    };
    let region = view.new_region(change);
    [
        value(0, Metric::Raw),
        value(1, Metric::Raw),
        relation(Metric::Raw),
        relation(Metric::Rar),
        relation(Metric::Homogeneity),
        relation(Metric::Balance),
        value(0, Metric::CrdMedian),
        value(1, Metric::CrdMedian),
        relation(Metric::DefiniteMiss(None)),
        label::name(region),
        label::place(region),
    ]
}

/// A region of one side: name, place, and what it communicated.
pub fn unmatched(side: &Side) -> (String, String, Option<String>) {
    let name = match side.kind {
        "function" | "user" => side.name.clone(),
        kind => format!("{} in {}", kind.replace('_', " "), side.name),
    };
    let place = match (&side.file, side.line) {
        (Some(file), Some(line)) => format!("{}:{line}", label::base(file)),
        (Some(file), None) => label::base(file).to_string(),
        _ => String::new(),
    };
    let count = |metric| side.figures.get(metric).unwrap_or(0.0);
    let (raw, rar) = (count(Metric::Raw), count(Metric::Rar));
    let value = |metric, count| words::value(1.0, metric, count);
    let events = format!("RaW {}, RaR {}", value(Metric::Raw, raw), value(Metric::Rar, rar));
    (name, place, (raw + rar > 0.0).then_some(events))
}
