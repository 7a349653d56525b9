//! What following a suggestion lowers, so that the next profile can be held against it.

use serde::{Serialize, Serializer};

use super::{Region, Report};

/// A figure that is lower once a suggestion has been followed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Promise {
    /// Which figure.
    pub lowers: Lowers,
    /// Number of the region that has it, those inside it included.
    pub region: u32,
    /// Its value in this report; none if it is measured elsewhere.
    pub now: Option<f64>,
}

/// Figures that suggestions lower. Their names are those in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lowers {
    /// `raw`: true communication.
    Raw,
    /// `rar`: reuse.
    Rar,
    /// `serial_raw`: true communication of what was written while one thread ran alone.
    SerialRaw,
    /// `sync`: events whose read is atomic, of both kinds.
    Sync,
    /// `crd_median_bytes`: median reuse distance.
    CrdMedian,
    /// `misses_l1`: reuses that miss this cache, certainly or probably.
    Misses(u8),
    /// `shared_lines`: cache lines that threads share without sharing an element.
    SharedLines,
    /// `placement_cost`: what `threadtalk map` computes for a machine; a profile does not hold it.
    PlacementCost,
    /// `imbalance_percent`: of a parallel section, which `threadtalk imbalance` prints.
    ImbalancePercent,
}

impl Lowers {
    /// Its name.
    pub fn name(self) -> String {
        match self {
            Self::Raw => "raw".to_owned(),
            Self::Rar => "rar".to_owned(),
            Self::SerialRaw => "serial_raw".to_owned(),
            Self::Sync => "sync".to_owned(),
            Self::CrdMedian => "crd_median_bytes".to_owned(),
            Self::Misses(level) => format!("misses_l{level}"),
            Self::SharedLines => "shared_lines".to_owned(),
            Self::PlacementCost => "placement_cost".to_owned(),
            Self::ImbalancePercent => "imbalance_percent".to_owned(),
        }
    }

    /// The value in a region of `regions` and those inside it; none where it was not measured.
    pub fn of(self, regions: &[Region], id: u32) -> Option<f64> {
        let region = regions.get(id as usize)?;
        if self == Self::SharedLines {
            let lines = |r: &Region| r.false_sharing.iter().fold(0u64, |n, f| n.saturating_add(f.lines));
            return Some(inside(regions, id).map(lines).fold(0u64, u64::saturating_add) as f64);
        }
        if matches!(self, Self::PlacementCost | Self::ImbalancePercent) {
            return None;
        }
        // A region without events has none of what is counted, and no distance.
        let Some(counts) = region.counts.as_deref() else {
            return (self != Self::CrdMedian).then_some(0.0);
        };
        let sync = |r: &Region| r.counts.as_ref().map_or(0, |c| c.sync_raw.sum().saturating_add(c.sync_rar.sum()));
        let crd = || counts.total().crd.as_ref();
        match self {
            Self::Raw => Some(counts.total_raw.sum() as f64),
            Self::Rar => Some(counts.total_rar.sum() as f64),
            Self::SerialRaw => Some(counts.total_serial_raw.sum() as f64),
            Self::Sync => Some(inside(regions, id).map(sync).fold(0u64, u64::saturating_add) as f64),
            Self::CrdMedian => crd()?.distinct.median_bytes,
            Self::Misses(level) => {
                let cutoff = crd()?.cutoffs.iter().find(|c| c.level == level)?;
                Some((cutoff.definite_miss + cutoff.probable_miss) * counts.total_rar.sum() as f64)
            }
            Self::SharedLines | Self::PlacementCost | Self::ImbalancePercent => None,
        }
    }
}

impl Serialize for Lowers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

/// A region and all inside it. A parent has a smaller number than its children.
fn inside(regions: &[Region], id: u32) -> impl Iterator<Item = &Region> {
    let mut within = vec![false; regions.len()];
    for (at, region) in regions.iter().enumerate() {
        let parent = region.parent.is_some_and(|p| within.get(p as usize).copied().unwrap_or(false));
        within[at] = at == id as usize || parent;
    }
    regions.iter().zip(within).filter_map(|(region, is_in)| is_in.then_some(region))
}

impl Promise {
    /// What `lowers` is in a region now.
    pub fn of(regions: &[Region], lowers: Lowers, region: u32) -> Self {
        Self { lowers, region, now: lowers.of(regions, region) }
    }

    /// The same figure in another report, where the region has another number.
    pub fn then(&self, new: &Report, region: u32) -> Option<f64> {
        self.lowers.of(&new.regions, region)
    }
}
