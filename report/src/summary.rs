//! What a region's matrices say in numbers, for people.

use crate::number;
use threadtalk_crd::model::Counts;

/// Instead of a value that is not there.
pub const NONE: &str = "-";

/// Sums and measures of a region's own events, written out. What is a multiple of first reads is [`NONE`] in a region
/// without one: it reuses what came elsewhere, and its CRR entries are numbers of events.
pub struct Summary {
    /// True communication.
    pub raw: String,
    /// Reuse.
    pub rar: String,
    /// Reuse for each true communication.
    pub crr: String,
    /// Share of true communication whose read is atomic.
    pub sync: String,
    /// Homogeneity.
    pub homogeneity: String,
    /// Balance, with its unit.
    pub balance: String,
}

impl Summary {
    /// Those of a region.
    pub fn of(counts: &Counts) -> Self {
        let (raw, rar) = (counts.raw.sum(), counts.rar.sum());
        let by_raw = |text: &dyn Fn(f64) -> String| if raw > 0 { text(raw as f64) } else { NONE.to_owned() };
        Self {
            raw: number::count(raw),
            rar: number::count(rar),
            crr: by_raw(&|raw| number::quantity(rar as f64 / raw)),
            sync: by_raw(&|raw| number::percent(counts.sync_raw.sum() as f64 / raw)),
            homogeneity: by_raw(&|_| number::quantity(counts.own.homogeneity)),
            balance: number::excess(counts.own.balance),
        }
    }
}
