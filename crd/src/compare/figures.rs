//! Values by metric.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Metric;

/// Values by metric, in the metrics' order. Serialises as an object with a key for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    values: Vec<(Metric, Option<f64>)>,
}

impl Figures {
    /// One value for each metric.
    pub fn new(metrics: &[Metric], value: impl Fn(Metric) -> Option<f64>) -> Self {
        Self { values: metrics.iter().map(|metric| (*metric, value(*metric))).collect() }
    }

    /// The value; none if it was not measured.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.values.iter().find(|(m, _)| *m == metric).and_then(|(_, value)| *value)
    }

    /// The metrics in it, with or without a value.
    pub fn metrics(&self) -> impl Iterator<Item = Metric> + '_ {
        self.values.iter().map(|(metric, _)| *metric)
    }

    /// From two values to one for each metric that both measured.
    pub fn with(&self, other: &Self, combine: impl Fn(f64, f64) -> Option<f64>) -> Self {
        let value = |metric, value: &Option<f64>| combine((*value)?, other.get(metric)?);
        Self { values: self.values.iter().map(|(metric, own)| (*metric, value(*metric, own))).collect() }
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.values.len()))?;
        for (metric, value) in &self.values {
            // What is counted is written without a point, as in the report.
            match value {
                Some(whole) if whole.fract() == 0.0 && whole.abs() < 9e15 => {
                    map.serialize_entry(&metric.name(), &(*whole as i64))?;
                }
                other => map.serialize_entry(&metric.name(), other)?,
            }
        }
        map.end()
    }
}
