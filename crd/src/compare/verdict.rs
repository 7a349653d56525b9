//! Better, worse, or the same. The metrics' directions are those of ICPP'18, section 3.5; see [`Metric::is_judged`].

use serde::Serialize;

use super::{Figures, Judged, Metric};

/// Distances of fewer events, and homogeneity and balance of fewer communications, are not judged: one more moves them
/// by more than any noise.
pub const MIN_EVENTS: f64 = 16.0;

/// What a change means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Less of what costs.
    Better,
    /// More of it.
    Worse,
}

/// All changes of a region together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Something became better, nothing worse.
    Better,
    /// Nothing judged changed by more than noise.
    Same,
    /// Something became worse, nothing better.
    Worse,
    /// Both.
    Mixed,
}

impl Verdict {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Same => "same",
            Self::Worse => "worse",
            Self::Mixed => "mixed",
        }
    }
}

/// A change that is more than noise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// What changed.
    pub metric: Metric,
    /// What that means.
    pub effect: Effect,
}

/// Differences, relations and what they mean. `noise`: relative change that means nothing. `comparable`: both have as
/// many threads; if not, homogeneity and balance, whose largest value grows with them, are not judged.
pub fn judge(base: &Figures, new: &Figures, noise: f64, comparable: bool) -> Judged {
    let enough = |metrics: &[Metric]| {
        let events = |side: &Figures| metrics.iter().filter_map(|m| side.get(*m)).sum::<f64>();
        events(base) >= MIN_EVENTS && events(new) >= MIN_EVENTS
    };
    let (enough_events, enough_raw) = (enough(&[Metric::Raw, Metric::Rar]), enough(&[Metric::Raw]));
    // All ratios larger by one factor make homogeneity larger by its square, and the pairs no less alike.
    let uneven = |way: f64| {
        let scaled = Metric::ScaledHomogeneity;
        let (Some(before), Some(after)) = (base.get(scaled), new.get(scaled)) else { return false };
        is_more_than_noise(scaled, before, after, noise) && (after - before) * way > 0.0
    };
    let reason = |metric: Metric| {
        let (before, after) = (base.get(metric)?, new.get(metric)?);
        let counts = match metric {
            Metric::Raw => true,
            Metric::Balance => enough_raw && comparable,
            Metric::Homogeneity => enough_raw && comparable && uneven(after - before),
            _ => enough_events,
        };
        let differs = counts && is_more_than_noise(metric, before, after, noise);
        let effect = if after < before { Effect::Better } else { Effect::Worse };
        differs.then_some(Reason { metric, effect })
    };
    let reasons: Vec<Reason> = base.metrics().filter(|metric| metric.is_judged()).filter_map(reason).collect();
    let has = |effect| reasons.iter().any(|reason| reason.effect == effect);
    let verdict = match (has(Effect::Better), has(Effect::Worse)) {
        (true, false) => Verdict::Better,
        (false, true) => Verdict::Worse,
        (true, true) => Verdict::Mixed,
        (false, false) => Verdict::Same,
    };
    Judged {
        delta: base.with(new, |before, after| Some(after - before)),
        change: base.with(new, |before, after| relative(before, after).filter(|change| change.is_finite())),
        verdict,
        reasons,
    }
}

/// New / base - 1. Infinite where there was nothing before; none only for what is no number.
pub fn relative(base: f64, new: f64) -> Option<f64> {
    match (new - base, base) {
        (0.0, _) => Some(0.0),
        (difference, 0.0) => Some(difference * f64::INFINITY),
        (difference, base) => Some(difference / base.abs()).filter(|change| !change.is_nan()),
    }
}

/// Whether a difference is above the metric's floor and its relation to the base above `noise`.
pub fn is_more_than_noise(metric: Metric, base: f64, new: f64, noise: f64) -> bool {
    (new - base).abs() >= metric.floor() && relative(base, new).is_some_and(|change| change.abs() > noise)
}
