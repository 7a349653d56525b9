//! Changes in words.

use crate::number;
use threadtalk_crd::compare::{Effect, Figures, Judged, Metric, is_more_than_noise};
use threadtalk_crd::model::Lowers;

/// Relations from here on read better as factors, and those beyond the second need no figure.
const FACTORS: std::ops::RangeInclusive<f64> = 10.0..=1000.0;
/// Relations below this need no figure.
const LEAST: f64 = 9.9e-5;
/// What two ways to add up the same numbers may differ by.
const EQUAL: f64 = 1e-9;

/// What a metric is called.
pub fn name(metric: Metric) -> String {
    let miss = |how: &str, level: Option<u8>| match level {
        Some(level) => format!("{how} L{level} misses"),
        None => format!("{how} misses, nearest cache"),
    };
    let name = match metric {
        Metric::Raw => "communication (RaW)",
        Metric::Rar => "reuse (RaR)",
        Metric::Sync => "synchronisation",
        Metric::Crr => "RaR / RaW",
        Metric::CrdMedian => "median reuse distance",
        Metric::CrdP90 => "p90 reuse distance",
        Metric::Homogeneity => "homogeneity",
        Metric::ScaledHomogeneity => "homogeneity, scaled",
        Metric::Balance => "balance",
        Metric::DefiniteMiss(level) => return miss("certain", level),
        Metric::ProbableMiss(level) => return miss("possible", level),
        Metric::Visits => "visits",
        Metric::Imbalance => "imbalance of parallel sections",
        Metric::Duration => "run time, profiled",
        Metric::Cpu => "CPU time, profiled",
    };
    name.to_string()
}

/// A value with its unit. `granule`: bytes of an element.
pub fn value(granule: f64, metric: Metric, value: f64) -> String {
    match metric {
        Metric::Raw | Metric::Rar | Metric::Sync | Metric::Visits => number::count(value.round() as u64),
        Metric::CrdMedian | Metric::CrdP90 => number::bytes(value * granule),
        Metric::DefiniteMiss(_) | Metric::ProbableMiss(_) => number::percent(value),
        Metric::Balance | Metric::Imbalance => number::excess(value),
        Metric::Crr | Metric::Homogeneity | Metric::ScaledHomogeneity => number::quantity(value),
        Metric::Duration | Metric::Cpu => number::seconds(value),
    }
}

/// `-45 %`, `x 14`, `> x 1000`, `+12 points`, `=`, `new`.
pub fn relation(metric: Metric, base: f64, new: f64) -> String {
    let signed = |value: f64| format!("{}{}", if value < 0.0 { "-" } else { "+" }, number::quantity(value.abs()));
    let points = |points: f64| match rounded(points) {
        none if none.abs() < 0.01 => "=".to_string(),
        points => format!("{} points", signed(points)),
    };
    match metric {
        _ if base == new => "=".to_string(),
        // Of what is a percentage itself, percents would be misread.
        Metric::DefiniteMiss(_) | Metric::ProbableMiss(_) => points((new - base) * 100.0),
        Metric::Balance | Metric::Imbalance => points(new - base),
        _ if base == 0.0 => "new".to_string(),
        _ if (new / base - 1.0).abs() < EQUAL => "=".to_string(),
        _ if new / base > *FACTORS.end() => format!("> x {}", FACTORS.end()),
        _ if new / base >= *FACTORS.start() => format!("x {}", number::quantity(new / base)),
        _ if (new / base - 1.0).abs() < LEAST => "<0.01 %".to_string(),
        _ => format!("{} %", signed(rounded((new / base - 1.0) * 100.0))),
    }
}

/// `better`, `worse`, or that a change beyond `noise` may be one of what was sampled; nothing for all others.
pub fn effect(judged: &Judged, metric: Metric, (base, new): (Option<f64>, Option<f64>), noise: f64) -> &'static str {
    let reason = judged.reasons.iter().find(|reason| reason.metric == metric);
    let is_more = |(base, new)| metric.is_judged() && is_more_than_noise(metric, base, new, noise);
    match reason.map(|reason| reason.effect) {
        Some(Effect::Better) => "better",
        Some(Effect::Worse) => "worse",
        None if judged.by_chance.contains(&metric) && base.zip(new).is_some_and(is_more) => "may be chance",
        None => "",
    }
}

/// What a suggestion promises to lower.
pub fn figure(lowers: Lowers) -> String {
    match lowers {
        Lowers::Raw => name(Metric::Raw),
        Lowers::Rar => name(Metric::Rar),
        Lowers::SerialRaw => "RaW of what was written serially".to_string(),
        Lowers::Sync => name(Metric::Sync),
        Lowers::CrdMedian => name(Metric::CrdMedian),
        Lowers::Misses(level) => format!("reuses that may miss L{level}"),
        Lowers::SharedLines => "falsely shared cache lines".to_string(),
        Lowers::PlacementCost => "cost of the placement".to_string(),
        Lowers::ImbalancePercent => "imbalance".to_string(),
    }
}

/// Its value.
pub fn promised(lowers: Lowers, value: f64) -> String {
    match lowers {
        Lowers::CrdMedian => number::bytes(value),
        Lowers::ImbalancePercent => number::excess(value),
        _ => number::count(value.round() as u64),
    }
}

/// To a tenth; below, to what shows as more than 0.
fn rounded(value: f64) -> f64 {
    if value.abs() < 0.1 { value } else { (value * 10.0).round() / 10.0 }
}

/// `communication (RaW) 1.2k -> 660, -45 %`. `granule`: bytes of an element in base and new.
pub fn change(granule: [f64; 2], metric: Metric, base: f64, new: f64) -> String {
    let (before, after) = (value(granule[0], metric, base), value(granule[1], metric, new));
    format!("{} {before} \u{2192} {after}, {}", name(metric), relation(metric, base, new))
}

/// What a verdict rests on: `communication (RaW) 1.2k -> 660, -45 %; ...`, or that nothing changed.
pub fn reasons(granule: [f64; 2], judged: &Judged, base: &Figures, new: &Figures, noise: f64) -> String {
    if judged.reasons.is_empty() {
        return format!("nothing that is judged changed by more than {}", number::percent(noise));
    }
    let of = |metric: Metric| Some(change(granule, metric, base.get(metric)?, new.get(metric)?));
    judged.reasons.iter().filter_map(|reason| of(reason.metric)).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_read_as_what_they_are() {
        let raw = |base, new| relation(Metric::Raw, base, new);
        assert_eq!([raw(100.0, 55.0), raw(100.0, 123.4), raw(3.0, 3.0)], ["-45 %", "+23.4 %", "="]);
        assert_eq!([raw(0.0, 5.0), raw(100.0, 1400.0), raw(5.0, 0.0)], ["new", "x 14", "-100 %"]);
        assert_eq!([raw(1e6, 1e6 + 100.0), raw(1e6, 1e6 - 2.0)], ["+0.01 %", "<0.01 %"]);
        assert_eq!([raw(1.0, 1e3), raw(1.0, 7e11)], ["x 1k", "> x 1000"]);
        assert_eq!(relation(Metric::Homogeneity, 0.1 + 0.2, 0.3), "=");
        assert_eq!(relation(Metric::DefiniteMiss(Some(1)), 0.05, 0.3), "+25 points");
        assert_eq!(relation(Metric::Balance, 12.5, 12.501), "=");
        assert_eq!(relation(Metric::Balance, 12.5, 4.25), "-8.3 points");
    }

    #[test]
    fn what_is_promised_has_its_unit() {
        let of = |lowers, value| format!("{} {}", figure(lowers), promised(lowers, value));
        assert_eq!(of(Lowers::ImbalancePercent, 57.14), "imbalance 57.1 %");
        assert_eq!(of(Lowers::CrdMedian, 2048.0), "median reuse distance 2 KiB");
        assert_eq!(of(Lowers::Misses(1), 16_100_000.0), "reuses that may miss L1 16.1M");
    }

    #[test]
    fn distances_are_told_in_bytes() {
        let words = change([4.0, 8.0], Metric::CrdMedian, 16.0, 16.0);
        assert_eq!(words, "median reuse distance 64 B \u{2192} 128 B, =");
    }
}
