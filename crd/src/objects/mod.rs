//! Which variables and blocks the events of a region are about.
//!
//! The compiler names the variable at each site, and of a pointer the pointer. An event is attributed to
//!
//! 1. the variable at the reading site, if the compiler knows which one it is;
//! 2. else the variable at the writing site: the event's element is the one that was written there, so that what main
//!    stored into its array stays that array's when a thread reads it through a parameter;
//! 3. else what the runtime found for samples of such events ([`samples`]): the call that allocated the memory, or the
//!    global variable that lies there. The events are split in these proportions;
//! 4. else "what the pointer leads to".

mod declarations;
mod identity;
mod samples;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use threadtalk_profile::{Event, Profile, Stride};

use crate::lines::Positions;
use crate::model::{Memory, Object};
use crate::sites::{self, SiteCount};
use identity::{Identity, Names, is_variable};
use samples::{Kind, Samples};

pub use identity::is_telling;

/// Number of an object in [`Objects`].
type ObjectId = u32;

/// What has no name.
const UNNAMED: &str = "the data";

/// Objects and their parts, which add up to more than 0, of some events.
type Parts = Vec<(ObjectId, u64)>;

/// Variables and allocations of a profile.
pub struct Objects {
    known: Vec<Identity>,
    ids: HashMap<Identity, ObjectId>,
    of_reader: HashMap<u32, Reader>,
    /// The variable of each writing site, where that is certain and a reader needs it.
    of_writer: HashMap<u32, Parts>,
    /// What samples say of events that neither site names: parts of true communication, and of reuse.
    of_pair: HashMap<(u32, u32), [Parts; 2]>,
}

/// A reading site.
struct Reader {
    /// The compiler knew the variable: whoever wrote it, it is this one.
    is_certain: bool,
    /// What the compiler names there, the only part.
    through: Parts,
    /// All that its events are about.
    objects: BTreeSet<ObjectId>,
}

impl Objects {
    /// The objects of all sites that `events` mention.
    pub fn new(profile: &Profile, positions: &Positions) -> Self {
        let mut objects = Self {
            known: Vec::new(),
            ids: HashMap::new(),
            of_reader: HashMap::new(),
            of_writer: HashMap::new(),
            of_pair: HashMap::new(),
        };
        let (names, samples) = (Names::of(profile, positions), Samples::new(profile));
        let mut writers: HashMap<u32, Option<ObjectId>> = HashMap::new();
        for sum in sites::sums(profile.events()) {
            objects.add(&names, &samples, &mut writers, (sum.reader, sum.writer));
        }
        objects.of_writer = writers.into_iter().filter_map(|(site, object)| Some((site, vec![(object?, 1)]))).collect();
        objects
    }

    /// Finds out what the events of these sites are about. `writers`: the variables of writing sites, those looked at
    /// so far.
    fn add(
        &mut self,
        names: &Names<'_>,
        samples: &Samples,
        writers: &mut HashMap<u32, Option<ObjectId>>,
        (reader, writer): (u32, u32),
    ) {
        let at = names.of_access(reader);
        let is_certain = is_variable(&at);
        let through = self.enter(at.clone());
        let mut about = Vec::new();
        if is_certain {
            about.push(through);
        } else if let Some(named) =
            *writers.entry(writer).or_insert_with(|| names.of_write(writer).map(|v| self.enter(v)))
        {
            about.push(named);
        } else {
            let parts = [Kind::Communication, Kind::Reuse].map(|kind| {
                let mut parts: BTreeMap<ObjectId, u64> = BTreeMap::new();
                for (site, weight) in samples.of(reader, writer, kind) {
                    let object = if site == 0 { through } else { self.enter(names.of_sample(site, &at)) };
                    let part = parts.entry(object).or_default();
                    *part = part.saturating_add(weight);
                }
                parts.into_iter().collect::<Parts>()
            });
            about.extend(parts.iter().flatten().map(|(object, _)| *object));
            if about.is_empty() {
                about.push(through);
            } else {
                self.of_pair.insert((reader, writer), parts);
            }
        }
        let new = || Reader { is_certain, through: vec![(through, 1)], objects: BTreeSet::new() };
        self.of_reader.entry(reader).or_insert_with(new).objects.extend(about);
    }

    fn enter(&mut self, identity: Identity) -> ObjectId {
        let known = &mut self.known;
        *self.ids.entry(identity).or_insert_with_key(|identity| {
            known.push(identity.clone());
            known.len() as ObjectId - 1
        })
    }

    /// The objects of an event of these sites and their parts of it: of true communication, and of reuse.
    fn parts_of(&self, reader_site: u32, writer_site: u32) -> [&[(ObjectId, u64)]; 2] {
        let Some(reader) = self.of_reader.get(&reader_site) else { return [&[]; 2] };
        if reader.is_certain {
            return [&reader.through; 2];
        }
        if let Some(named) = self.of_writer.get(&writer_site) {
            return [named; 2];
        }
        self.of_pair.get(&(reader_site, writer_site)).map_or([&reader.through; 2], |[raw, rar]| [raw, rar])
    }

    /// Whether two reading sites may be about the same memory: false only where the objects of both are known, and
    /// differ. A pointer whose allocation was not sampled may lead anywhere.
    pub fn may_be_same(&self, a: u32, b: u32) -> bool {
        let known = |site: u32| {
            let all = &self.of_reader.get(&site)?.objects;
            let is_memory = |id: &ObjectId| !matches!(self.known[*id as usize].kind, Memory::Pointer | Memory::Unknown);
            all.iter().all(is_memory).then_some(all)
        };
        match (known(a), known(b)) {
            (Some(a), Some(b)) => {
                a.iter().any(|a| b.iter().any(|b| self.known[*a as usize].meets(&self.known[*b as usize])))
            }
            _ => true,
        }
    }

    /// What most of an event is about, in words: `` `name` ``, or through which pointer it is accessed.
    pub fn name(&self, event: &Event) -> String {
        let [of_raw, of_rar] = self.parts_of(event.reader_site, event.writer_site);
        let parts = if event.raw >= event.rar { of_raw } else { of_rar };
        let most = parts.iter().max_by_key(|(id, weight)| (*weight, std::cmp::Reverse(*id)));
        match most.map(|(id, _)| &self.known[*id as usize]) {
            None => UNNAMED.to_owned(),
            Some(object) if object.name.is_empty() => UNNAMED.to_owned(),
            Some(object) if object.kind == Memory::Pointer => format!("what `{}` points to", object.name),
            Some(object) => format!("`{}`", object.name),
        }
    }

    /// The objects of some events, those with the most communication first.
    pub fn describe<'e>(&self, events: impl IntoIterator<Item = &'e SiteCount>) -> Vec<Object> {
        let mut sums: BTreeMap<ObjectId, (u64, u64)> = BTreeMap::new();
        for event in events {
            let [of_raw, of_rar] = self.parts_of(event.reader, event.writer);
            for (object, raw) in share(of_raw, event.raw) {
                let sum = sums.entry(object).or_default();
                sum.0 = sum.0.saturating_add(raw);
            }
            for (object, rar) in share(of_rar, event.rar) {
                let sum = sums.entry(object).or_default();
                sum.1 = sum.1.saturating_add(rar);
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

/// The name of what is written or read at a site; empty = unknown.
pub fn name_at(profile: &Profile, site: u32) -> Arc<str> {
    profile.access(site).map_or_else(|| "".into(), |a| Arc::clone(&a.object))
}

/// Strides of a site: in the innermost loop and in the loop around it.
pub fn strides(profile: &Profile, site: u32) -> (Stride, Stride) {
    profile.access(site).map_or((Stride::None, Stride::None), |a| (a.stride, a.outer_stride))
}
