//! Which variables and blocks the events of a region are about.
//!
//! The compiler names the variable at each reading site. Where that is a pointer, the runtime has looked up for a
//! sample of the site's true communication which call had allocated the memory; all events of the site are split in
//! these proportions.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use threadtalk_abi::module::ObjectKind;
use threadtalk_profile::{Event, Profile, Stride};

use crate::model::{Memory, Object};

/// Number of an object in [`Objects`].
pub type ObjectId = u32;

/// Variables and allocations of a profile.
pub struct Objects {
    known: Vec<Identity>,
    ids: HashMap<Identity, ObjectId>,
    /// Parts of each reading site's events, which add up to more than 0.
    of_site: HashMap<u32, Vec<(ObjectId, u64)>>,
}

/// What tells objects apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Identity {
    kind: Memory,
    name: Arc<str>,
    file: Arc<str>,
    line: u32,
}

impl Objects {
    /// The objects of all sites that `events` mention.
    pub fn new(profile: &Profile) -> Self {
        let mut objects = Self { known: Vec::new(), ids: HashMap::new(), of_site: HashMap::new() };
        let mut samples: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
        for sample in profile.object_events().filter(|s| s.raw > 0) {
            samples.entry(sample.reader_site).or_default().push((sample.allocation_site, sample.raw));
        }
        let mut latest = None;
        for event in profile.events() {
            let is_next = latest.replace(event.reader_site) != Some(event.reader_site);
            if is_next && !objects.of_site.contains_key(&event.reader_site) {
                let samples = samples.get(&event.reader_site).map_or(&[][..], Vec::as_slice);
                let parts = objects.parts(profile, event.reader_site, samples);
                objects.of_site.insert(event.reader_site, parts);
            }
        }
        objects
    }

    fn parts(&mut self, profile: &Profile, site: u32, samples: &[(u32, u64)]) -> Vec<(ObjectId, u64)> {
        let named = of_access(profile, site);
        if samples.is_empty() || matches!(named.kind, Memory::Global | Memory::Stack) {
            return vec![(self.enter(named), 1)];
        }
        let parts = samples.iter().map(|(allocation, weight)| {
            let identity = if *allocation == 0 { named.clone() } else { of_allocation(profile, *allocation, &named) };
            (self.enter(identity), *weight)
        });
        let mut parts: Vec<_> = parts.collect();
        parts.sort_unstable();
        parts.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        parts
    }

    fn enter(&mut self, identity: Identity) -> ObjectId {
        let known = &mut self.known;
        *self.ids.entry(identity).or_insert_with_key(|identity| {
            known.push(identity.clone());
            known.len() as ObjectId - 1
        })
    }

    /// The objects of an event and their parts of `count`, which add up to it.
    pub fn split(&self, event: &Event, count: u64) -> impl Iterator<Item = (ObjectId, u64)> + '_ {
        share(self.parts_of(event.reader_site), count)
    }

    fn parts_of(&self, site: u32) -> &[(ObjectId, u64)] {
        self.of_site.get(&site).map_or(&[][..], Vec::as_slice)
    }

    /// Whether two reading sites may be about the same memory: false only where the objects of both are known, and
    /// differ. A pointer whose allocation was not sampled may lead anywhere.
    pub fn may_be_same(&self, a: u32, b: u32) -> bool {
        let known = |site: u32| {
            let parts = self.parts_of(site).iter().map(|(id, _)| *id);
            let is_memory = |id: &ObjectId| !matches!(self.known[*id as usize].kind, Memory::Pointer | Memory::Unknown);
            let parts: Vec<ObjectId> = parts.collect();
            parts.iter().all(is_memory).then_some(parts).filter(|parts| !parts.is_empty())
        };
        match (known(a), known(b)) {
            (Some(a), Some(b)) => a.iter().any(|id| b.contains(id)),
            _ => true,
        }
    }

    /// The name of an object; empty = unknown.
    pub fn name(&self, id: ObjectId) -> &Arc<str> {
        &self.known[id as usize].name
    }

    /// The objects of some events, those with the most communication first.
    pub fn describe<'e>(&self, events: impl IntoIterator<Item = &'e Event>) -> Vec<Object> {
        let mut sums: BTreeMap<ObjectId, (u64, u64)> = BTreeMap::new();
        // Events of a line follow each other: of a million, a thousand are not about what the one before was.
        let mut latest: (u32, &[(ObjectId, u64)]) = (0, self.parts_of(0));
        for event in events {
            if event.reader_site != latest.0 {
                latest = (event.reader_site, self.parts_of(event.reader_site));
            }
            for ((object, raw), (_, rar)) in share(latest.1, event.raw).zip(share(latest.1, event.rar)) {
                let sum = sums.entry(object).or_default();
                *sum = (sum.0.saturating_add(raw), sum.1.saturating_add(rar));
            }
        }
        let all = sums.values().fold(0u64, |n, (raw, rar)| n.saturating_add(*raw).saturating_add(*rar));
        let mut objects: Vec<Object> = sums
            .into_iter()
            .filter(|(_, (raw, rar))| *raw > 0 || *rar > 0)
            .map(|(id, (raw, rar))| {
                let Identity { kind, name, file, line } = self.known[id as usize].clone();
                Object {
                    name,
                    kind,
                    file: Some(file).filter(|f| !f.is_empty()),
                    line: Some(line).filter(|l| *l > 0),
                    raw,
                    rar,
                    share: raw.saturating_add(rar) as f64 / all.max(1) as f64,
                }
            })
            .collect();
        objects.sort_by(|a, b| {
            let order =
                |o: &Object| (std::cmp::Reverse(o.raw.saturating_add(o.rar)), o.kind, Arc::clone(&o.name), o.line);
            order(a).cmp(&order(b))
        });
        objects
    }
}

/// Parts of `count`, which add up to it.
fn share(parts: &[(ObjectId, u64)], count: u64) -> impl Iterator<Item = (ObjectId, u64)> + '_ {
    let total: u128 = parts.iter().map(|(_, w)| u128::from(*w)).sum();
    let mut passed = 0u128;
    parts.iter().map(move |(object, weight)| {
        if parts.len() == 1 {
            return (*object, count);
        }
        // Differences of rounded sums: nothing is lost, and no part is off by more than 1.
        let before = u128::from(count) * passed / total;
        passed += u128::from(*weight);
        (*object, (u128::from(count) * passed / total - before) as u64)
    })
}

/// The variable at a site, as the compiler names it.
fn of_access(profile: &Profile, site: u32) -> Identity {
    let Some(access) = profile.access(site) else {
        return Identity { kind: Memory::Unknown, name: "".into(), file: "".into(), line: 0 };
    };
    let kind = match access.kind {
        ObjectKind::Global => Memory::Global,
        ObjectKind::Stack => Memory::Stack,
        ObjectKind::Pointer => Memory::Pointer,
        ObjectKind::Unknown => Memory::Unknown,
    };
    Identity { kind, name: Arc::clone(&access.object), file: Arc::clone(&access.file), line: access.line }
}

/// The blocks of a call, named by the variable that received them, else by the pointer through which they are read.
fn of_allocation(profile: &Profile, site: u32, through: &Identity) -> Identity {
    let name = profile.access(site).map(|a| &a.object).filter(|n| !n.is_empty()).unwrap_or(&through.name);
    let (file, line) = profile.site(site).map_or(("".into(), 0), |s| (Arc::clone(&s.file), s.line));
    Identity { kind: Memory::Heap, name: Arc::clone(name), file, line }
}

/// The name of what is written or read at a site; empty = unknown.
pub fn name_at(profile: &Profile, site: u32) -> Arc<str> {
    profile.access(site).map_or_else(|| "".into(), |a| Arc::clone(&a.object))
}

/// Strides of a site: in the innermost loop and in the loop around it.
pub fn strides(profile: &Profile, site: u32) -> (Stride, Stride) {
    profile.access(site).map_or((Stride::None, Stride::None), |a| (a.stride, a.outer_stride))
}
