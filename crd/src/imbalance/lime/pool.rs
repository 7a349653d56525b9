//! Several instances of a section as one, for teams that are too small to tell anything from one instance.
//!
//! Each instance's own means are removed, so that what is compared is threads within an instance, not long instances
//! with short ones.

use thiserror::Error;

use super::super::vector::centred;
use super::section::{Edge, HardwareEvent, Section};

/// The instances have not the same events in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "instance {instance} of the section has other events than the first: give every instance all events of the section"
)]
pub struct Unpoolable {
    /// Index of the first instance that differs.
    pub instance: usize,
}

/// One section with the threads of all instances.
pub(super) fn pool(instances: &[Section]) -> Result<Section, Unpoolable> {
    let Some(first) = instances.first() else { return Ok(Section::default()) };
    for (instance, section) in instances.iter().enumerate() {
        if events(section).ne(events(first)) {
            return Err(Unpoolable { instance });
        }
    }
    let joined =
        |of: &dyn Fn(&Section) -> &[f64]| -> Vec<f64> { instances.iter().flat_map(|s| centred(of(s))).collect() };
    let edge = |(i, e): (usize, &Edge)| Edge { counts: joined(&|s| &s.edges[i].counts), ..*e };
    let event = |(i, h): (usize, &HardwareEvent)| HardwareEvent {
        id: h.id,
        counts: joined(&|s| &s.hardware[i].counts),
        superiors: (0..h.superiors.len()).map(|k| joined(&|s| &s.hardware[i].superiors[k])).collect(),
    };
    Ok(Section {
        dependent: joined(&|s| &s.dependent),
        edges: first.edges.iter().enumerate().map(edge).collect(),
        hardware: first.hardware.iter().enumerate().map(event).collect(),
    })
}

fn events(section: &Section) -> impl Iterator<Item = (u32, u32, usize)> + '_ {
    let edges = section.edges.iter().map(|e| (e.from, e.to, usize::from(e.back)));
    edges.chain(section.hardware.iter().map(|h| (h.id, u32::MAX, h.superiors.len())))
}
