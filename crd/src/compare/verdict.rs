//! Better, worse, or the same. The metrics' directions are those of ICPP'18, section 3.5; see [`Metric::is_judged`].

use serde::Serialize;

use super::certainty::{Sampled, may_be_equal};
use super::{Figures, Judged, Metric};

/// Distances of fewer events, and homogeneity and balance of fewer communications for each thread, are not judged: one
/// more moves them by more than any noise.
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

/// A region, or a whole program, as it is judged.
#[derive(Clone, Copy)]
pub struct Candidate<'a> {
    /// Its values.
    pub figures: &'a Figures,
    /// Its threads.
    pub threads: usize,
    /// Its distances, if there are any.
    pub sampled: Option<Sampled<'a>>,
}

impl Candidate<'_> {
    fn sum(&self, metrics: &[Metric]) -> f64 {
        metrics.iter().filter_map(|metric| self.figures.get(*metric)).sum()
    }
}

/// Differences, relations and what they mean. `noise`: relative change that means nothing. Where the two have not as
/// many threads, homogeneity and balance, whose largest value grows with them, are not judged.
pub fn judge(before: Candidate, after: Candidate, noise: f64) -> Judged {
    let (base, new) = (before.figures, after.figures);
    let both = |is_enough: &dyn Fn(&Candidate) -> bool| is_enough(&before) && is_enough(&after);
    let enough_events = both(&|side| side.sum(&[Metric::Raw, Metric::Rar]) >= MIN_EVENTS);
    let comparable = before.threads == after.threads
        && both(&|side| side.sum(&[Metric::Raw]) >= MIN_EVENTS * side.threads.max(1) as f64);
    let may_be_equal = |metric: &Metric| may_be_equal(*metric, before.sampled, after.sampled, noise);
    let differ = base.metrics().filter(|metric| base.get(*metric) != new.get(*metric));
    let by_chance: Vec<Metric> = differ.filter(may_be_equal).collect();
    // All ratios larger by one factor make homogeneity larger by its square, and the pairs no less alike.
    let uneven = |way: f64| {
        let scaled = Metric::ScaledHomogeneity;
        let (Some(before), Some(after)) = (base.get(scaled), new.get(scaled)) else { return false };
        is_more_than_noise(scaled, before, after, noise) && (after - before) * way > 0.0
    };
    let reason = |metric: Metric| {
        let (before, after) = (base.get(metric)?, new.get(metric)?);
        let counts = match metric {
            // Threads divide work also where they tell each other nothing.
            Metric::Raw | Metric::Imbalance => true,
            Metric::Balance => comparable,
            Metric::Homogeneity => comparable && uneven(after - before),
            _ => enough_events && !by_chance.contains(&metric),
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
        by_chance,
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
