//! Sections inside others.

use std::collections::{BTreeMap, BTreeSet};

use super::instances::{Instance, Key, key};
use super::observed::Part;

/// Instances of other sections in which threads took part within these. `by_thread`: each thread's parts, in the order
/// of their beginnings.
pub fn inside(by_thread: &BTreeMap<u32, Vec<&Part>>, instances: &[&Instance]) -> BTreeSet<Key> {
    let is_inside = |outer: &Part, inner: &Part| {
        let end = |p: &Part| p.begin_ns + p.wall_ns;
        let shorter = inner.wall_ns < outer.wall_ns || inner.kind != outer.kind && outer.kind.starts_with("omp_p");
        inner.thread == outer.thread && inner.begin_ns >= outer.begin_ns && end(inner) <= end(outer) && shorter
    };
    let parts = instances.iter().flat_map(|i| i.parts.iter().copied());
    let inside = parts.flat_map(|outer| {
        let of = by_thread.get(&outer.thread).map_or(&[][..], Vec::as_slice);
        let from = &of[of.partition_point(|p| p.begin_ns < outer.begin_ns)..];
        let within = from.iter().take_while(|p| p.begin_ns <= outer.begin_ns + outer.wall_ns);
        within.filter(move |inner| is_inside(outer, inner)).map(|inner| key(inner))
    });
    inside.collect()
}
