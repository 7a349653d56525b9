//! Conditions under which a comparison fails, for use in CI: `raw>+10%,crd_median>+20%`.

use super::verdict::{is_more_than_noise, relative};
use super::{Comparison, Figures, Judged, Metric};

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    metric: Metric,
    above: bool,
    limit: Limit,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    /// New / base - 1.
    Change(f64),
    /// New - base.
    Difference(f64),
    /// New.
    Value(f64),
}

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// Nothing between two commas.
    #[error("a condition is empty")]
    Empty,
    /// Neither `<` nor `>`.
    #[error("`{0}` has no < or >")]
    NoComparison(String),
    /// Not the name of a metric.
    #[error("`{0}` is no metric")]
    UnknownMetric(String),
    /// The limit is not a number.
    #[error("`{0}` is no number")]
    NoNumber(String),
    /// A percentage without a sign could be a change or a value.
    #[error("`{0}` has no sign: +{0} is a change, 0.1 a share")]
    NoSign(String),
}

/// A condition that holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure<'a> {
    /// The condition as it was written.
    pub condition: &'a str,
    /// What it is about.
    pub metric: Metric,
    /// Index in the comparison's regions; none for the program.
    pub region: Option<usize>,
    /// Value before.
    pub base: f64,
    /// Value after.
    pub new: f64,
}

/// What came of checking conditions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked<'a> {
    /// Those that hold, by condition; the program first.
    pub failures: Vec<Failure<'a>>,
    /// Conditions about something that was measured nowhere in both.
    pub unmeasured: Vec<&'a str>,
}

impl Condition {
    /// Reads a list: `METRIC>LIMIT` or `METRIC<LIMIT`, separated by commas. A limit with a sign and `%` is a relative
    /// change, with a sign alone a difference, without either the new value.
    pub fn parse(list: &str) -> Result<Vec<Self>, ConditionError> {
        list.split(',').map(str::trim).map(Self::parse_one).collect()
    }

    fn parse_one(text: &str) -> Result<Self, ConditionError> {
        if text.is_empty() {
            return Err(ConditionError::Empty);
        }
        let at = text.find(['<', '>']).ok_or_else(|| ConditionError::NoComparison(text.to_string()))?;
        let (name, limit) = (text[..at].trim(), text[at + 1..].trim());
        let metric = Metric::of_name(name).ok_or_else(|| ConditionError::UnknownMetric(name.to_string()))?;
        let (digits, percent) = limit.strip_suffix('%').map_or((limit, false), |digits| (digits.trim_end(), true));
        let number: Option<f64> = digits.parse().ok().filter(|number: &f64| number.is_finite());
        let number = number.ok_or_else(|| ConditionError::NoNumber(limit.to_string()))?;
        let limit = match (percent, digits.starts_with(['+', '-'])) {
            (true, true) => Limit::Change(number / 100.0),
            (true, false) => return Err(ConditionError::NoSign(limit.to_string())),
            (false, true) => Limit::Difference(number),
            (false, false) => Limit::Value(number),
        };
        Ok(Self { text: text.to_string(), metric, above: text.as_bytes()[at] == b'>', limit })
    }

    /// Whether it holds; none if one of the sides was not measured. A relative change below the metric's floor
    /// ([`Metric::floor`]) is none: one event after another is no regression by 100 %. Nor is a change that may be one
    /// of what was sampled alone.
    fn holds(&self, base: &Figures, new: &Figures, judged: &Judged) -> Option<(bool, f64, f64)> {
        let (before, after) = (base.get(self.metric)?, new.get(self.metric)?);
        let (value, limit) = match self.limit {
            Limit::Change(limit) | Limit::Difference(limit) if judged.by_chance.contains(&self.metric) => (0.0, limit),
            Limit::Change(limit) if is_more_than_noise(self.metric, before, after, 0.0) => {
                (relative(before, after)?, limit)
            }
            Limit::Change(limit) => (0.0, limit),
            Limit::Difference(limit) => (after - before, limit),
            Limit::Value(limit) => (after, limit),
        };
        Some((if self.above { value > limit } else { value < limit }, before, after))
    }
}

impl Comparison {
    /// Checks conditions for every region and, unless a filter chose some regions, for the program.
    pub fn check<'a>(&self, conditions: &'a [Condition], with_program: bool) -> Checked<'a> {
        let mut checked = Checked::default();
        let program = &self.program;
        let program = (None, &program.base.figures, &program.new.figures, &program.judged);
        let program = with_program.then_some(program);
        let regions = self.regions.iter().enumerate();
        let regions = regions.map(|(i, r)| (Some(i), &r.base.figures, &r.new.figures, &r.judged));
        let places: Vec<_> = program.into_iter().chain(regions).collect();
        for condition in conditions {
            let mut measured = false;
            for (region, base, new, judged) in &places {
                let Some((holds, base, new)) = condition.holds(base, new, judged) else { continue };
                measured = true;
                if holds {
                    let (metric, region) = (condition.metric, *region);
                    checked.failures.push(Failure { condition: &condition.text, metric, region, base, new });
                }
            }
            if !measured {
                checked.unmeasured.push(&condition.text);
            }
        }
        checked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_kinds_of_limit() {
        let list = Condition::parse("raw>+10%, balance<-5 ,definite_miss_l2>0.3").unwrap();
        let limits: Vec<_> = list.iter().map(|c| (c.metric, c.above, c.limit)).collect();
        assert_eq!(
            limits,
            [
                (Metric::Raw, true, Limit::Change(0.1)),
                (Metric::Balance, false, Limit::Difference(-5.0)),
                (Metric::DefiniteMiss(Some(2)), true, Limit::Value(0.3)),
            ]
        );
    }

    #[test]
    fn mistakes_name_what_is_wrong() {
        let words = |list| Condition::parse(list).unwrap_err().to_string();
        assert_eq!(words("raw>+10%,"), "a condition is empty");
        assert_eq!(words("raw=3"), "`raw=3` has no < or >");
        assert_eq!(words("rww>3"), "`rww` is no metric");
        assert_eq!(words("raw>+ten%"), "`+ten%` is no number");
        assert_eq!(words("raw>+inf%"), "`+inf%` is no number");
        assert_eq!(words("raw>10%"), "`10%` has no sign: +10% is a change, 0.1 a share");
    }
}
