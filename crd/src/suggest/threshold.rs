//! From which figure on a rule speaks.

use std::collections::BTreeMap;

/// A number that a rule compares with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Name within its rule.
    pub name: &'static str,
    /// Unless the user says otherwise.
    pub default: f64,
    /// What is compared with it, and its unit.
    pub meaning: &'static str,
}

/// The user's choices; all others have their defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thresholds {
    chosen: BTreeMap<(&'static str, &'static str), f64>,
}

/// A setting that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// Not of the form `RULE.NAME=VALUE`.
    #[error("it is not of the form RULE.NAME=VALUE")]
    Form,
    /// No such rule, or the rule has no such threshold.
    #[error("there is no threshold {0}; there are {1}")]
    Unknown(String, String),
    /// Not a number, or below 0.
    #[error("{0} is no number from 0 on")]
    Value(String),
}

impl Thresholds {
    /// Sets one, written as `RULE.NAME=VALUE`.
    pub fn set(&mut self, setting: &str) -> Result<(), ThresholdError> {
        let (key, value) = setting.split_once('=').ok_or(ThresholdError::Form)?;
        let (rule, name) = key.split_once('.').ok_or(ThresholdError::Form)?;
        let known = super::thresholds().find(|(r, t)| *r == rule && t.name == name);
        let Some((rule, threshold)) = known else {
            let all: Vec<String> = super::thresholds().map(|(r, t)| format!("{r}.{}", t.name)).collect();
            return Err(ThresholdError::Unknown(key.to_owned(), all.join(", ")));
        };
        let number = value.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
        self.chosen.insert((rule, threshold.name), number.ok_or_else(|| ThresholdError::Value(value.to_owned()))?);
        Ok(())
    }

    /// The value of a threshold.
    pub(super) fn get(&self, rule: &'static str, name: &str) -> f64 {
        let known = super::thresholds().find(|(r, t)| *r == rule && t.name == name);
        // A rule asks for its own thresholds; a test below reads all of them.
        let Some((rule, threshold)) = known else { return f64::INFINITY };
        self.chosen.get(&(rule, threshold.name)).copied().unwrap_or(threshold.default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_replaces_a_default() {
        let mut thresholds = Thresholds::default();
        assert_eq!(thresholds.get("region", "events"), 1000.0);
        thresholds.set("region.events=5").unwrap();
        assert_eq!(thresholds.get("region", "events"), 5.0);
        assert_eq!(thresholds.get("region", "share"), 0.02);
    }

    #[test]
    fn names_are_unique_and_each_says_what_it_means() {
        let names: Vec<_> = super::super::thresholds().map(|(rule, t)| (rule, t.name)).collect();
        let unique: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
        assert!(super::super::thresholds().all(|(_, t)| !t.meaning.is_empty() && t.default >= 0.0));
    }

    #[test]
    fn the_guide_lists_each_with_its_default() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guide/suggestions.md");
        let guide = std::fs::read_to_string(guide).unwrap();
        let rows: Vec<&str> = guide.lines().filter(|line| line.contains('.') && line.starts_with("| `")).collect();
        for (rule, t) in super::super::thresholds() {
            let row = format!("| `{rule}.{}` | {} | {} |", t.name, t.default, t.meaning);
            assert!(rows.contains(&row.as_str()), "docs/guide/suggestions.md lacks {row}");
        }
        assert_eq!(rows.len(), super::super::thresholds().count());
    }

    #[test]
    fn mistakes_say_what_is_wrong() {
        let message = |setting: &str| Thresholds::default().set(setting).unwrap_err().to_string();
        assert_eq!(message("region.events"), "it is not of the form RULE.NAME=VALUE");
        assert_eq!(message("events=5"), "it is not of the form RULE.NAME=VALUE");
        assert!(
            message("region.colour=5").starts_with("there is no threshold region.colour; there are region.events, ")
        );
        assert_eq!(message("region.events=many"), "many is no number from 0 on");
        assert_eq!(message("region.events=-1"), "-1 is no number from 0 on");
    }
}
