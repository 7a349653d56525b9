//! The rows that text and page share.

use super::{View, words};
use crate::imbalance::words::{section_at, sparkline};
use crate::label;
use threadtalk_crd::compare::{Figures, Metric, RegionChange, SectionChange, SectionSide, Side};

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

/// Headings of [`section`].
pub const SECTION_HEADINGS: [&str; 8] =
    ["imbalance", "threads", "new", "threads", "change", "verdict", "section", "largest cause, before and after"];

/// A parallel section on one line.
pub fn section(change: &SectionChange) -> [String; 8] {
    let percent = |side: &Option<SectionSide>| {
        side.as_ref().map_or("-".to_string(), |side| format!("{:.1} %", side.imbalance_percent))
    };
    let bars = |side: &Option<SectionSide>| side.as_ref().map_or(String::new(), |side| sparkline(&side.values));
    let cause = |side: &Option<SectionSide>| {
        let cause = side.as_ref().and_then(|side| side.cause.as_ref());
        let place = cause.and_then(|cause| Some(format!("{}:{}", label::base(cause.file.as_deref()?), cause.line?)));
        place.unwrap_or_else(|| "none".to_string())
    };
    let both = change.base.as_ref().zip(change.new.as_ref());
    let relation = both.map_or(String::new(), |(base, new)| {
        words::relation(Metric::Imbalance, base.imbalance_percent, new.imbalance_percent).replace(" points", " pt")
    });
    let verdict = match (change.verdict, &change.base) {
        (Some(verdict), _) => verdict.word(),
        (None, Some(_)) => "only in base",
        (None, None) => "only in new",
    };
    let side = change.new.as_ref().or(change.base.as_ref());
    let name = side.map_or(String::new(), |side| {
        let (begin, end) = ((side.file.as_deref(), side.line), (side.end_file.as_deref(), side.end_line));
        section_at(change.kind, begin, end, &change.function)
    });
    let causes = [cause(&change.base), cause(&change.new)];
    let causes = if causes[0] == causes[1] { causes[0].clone() } else { causes.join(" \u{2192} ") };
    [
        percent(&change.base),
        bars(&change.base),
        percent(&change.new),
        bars(&change.new),
        relation,
        verdict.to_string(),
        name,
        causes,
    ]
}

/// A region of one side: name, place, and what it communicated.
pub fn unmatched(side: &Side) -> (String, String, Option<String>) {
    let name = label::called(side.kind, &side.name);
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
