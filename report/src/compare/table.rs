//! The rows that text and page share.

use super::{View, words};
use crate::imbalance::words::{run_by, section_at, sparkline};
use crate::label;
use threadtalk_crd::compare::{Figures, Judged, Metric, Promised, RegionChange, SectionChange, SectionSide, Side};

/// Headings of [`figures`] behind the name.
pub const FIGURE_HEADINGS: [&str; 4] = ["base", "new", "change", "verdict"];

/// A metric of a region or of the program: name, base, new, change, and what that is worth.
pub fn figures(view: View, base: &Figures, new: &Figures, judged: &Judged) -> Vec<[String; 5]> {
    let granule = view.granule();
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
        let effect = words::effect(judged, metric, (before, after), view.comparison.noise);
        Some([words::name(metric), show(0, before), show(1, after), relation, effect.to_string()])
    };
    shown.filter_map(of).collect()
}

/// Headings of [`promise`].
pub const PROMISE_HEADINGS: [&str; 6] = ["suggestion", "promises less of", "base", "new", "kept", "in (base)"];

/// What a suggestion for base promises, and what became of it.
pub fn promise(view: View, promise: &Promised) -> [String; 6] {
    let kept = match (promise.kept, promise.still_made) {
        (true, false) => "yes",
        (true, true) => "yes, more is suggested",
        (false, true) => "no, still suggested",
        (false, false) => "no",
    };
    [
        promise.rule.clone(),
        words::figure(promise.lowers),
        words::promised(promise.lowers, promise.base),
        words::promised(promise.lowers, promise.new),
        kept.to_string(),
        promised_in(view, promise),
    ]
}

/// The region of base that has the promised figure.
fn promised_in(view: View, promise: &Promised) -> String {
    let at = view.base.regions.binary_search_by_key(&promise.region, |region| region.id);
    at.map_or_else(|_| promise.name.clone(), |at| label::located(&view.base.regions[at]))
}

/// Suggestions that were followed, as `false-sharing in classify fs.c:20-33`: no verdict on figures of communication
/// tells of all that they change.
pub fn followed(view: View) -> Vec<String> {
    let followed = view.comparison.promises.iter().filter(|promise| promise.kept && !promise.still_made);
    followed.map(|promise| format!("{} in {}", promise.rule, promised_in(view, promise))).collect()
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
        run_by(section_at(change.kind, begin, end, &change.function), &change.runs)
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
