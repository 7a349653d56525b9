//! Which variables and blocks the events of a region are about.
//!
//! The compiler names the variable at each site, and of a pointer the pointer. An event is attributed to
//!
//! 1. the variable at the reading site, if the compiler knows which one it is;
//! 2. else the variable at the writing site: the event's element is the one that was written there, so that what main
//!    stored into its array stays that array's when a thread reads it through a parameter;
//! 3. else what the runtime found for a sample of the site's true communication: the call that allocated the memory, or
//!    the global variable that lies there. Events of the site that are left are split in these proportions;
//! 4. else "what the pointer leads to".

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use threadtalk_abi::module::{ObjectKind, site_flags};
use threadtalk_profile::{Event, Profile, Stride};

use crate::model::{Memory, Object};
use crate::sites::{self, SiteCount};

/// Number of an object in [`Objects`].
type ObjectId = u32;

/// What has no name.
const UNNAMED: &str = "the data";

/// Allocated memory of which no variable tells more.
const BLOCK: &str = "block";

/// Objects and their parts of some events.
type Parts = Vec<(ObjectId, u64)>;

/// Variables and allocations of a profile.
pub struct Objects {
    known: Vec<Identity>,
    ids: HashMap<Identity, ObjectId>,
    of_reader: HashMap<u32, Reader>,
    /// The variable of each writing site, where that is certain and a reader needs it.
    of_writer: HashMap<u32, Parts>,
}

/// A reading site.
struct Reader {
    /// The compiler knew the variable: whoever wrote it, it is this one.
    is_certain: bool,
    /// Parts, which add up to more than 0, of its events that the writing site does not name.
    parts: Parts,
    /// Whether there are such events.
    has_unnamed: bool,
    /// What the writing sites name.
    written: BTreeSet<ObjectId>,
}

/// What a reading site received.
struct Received {
    at: Identity,
    /// True communication.
    all: u64,
    /// Of it, what comes from sites that name a variable.
    named: u64,
    has_unnamed: bool,
    written: BTreeSet<ObjectId>,
}

/// What tells objects apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Identity {
    kind: Memory,
    name: Arc<str>,
    file: Arc<str>,
    line: u32,
}

impl Identity {
    /// Whether the two may share an element: they are one, or one is several members (`grid->{x,y}`, `grid->*`) and the
    /// other lies in the same object.
    fn meets(&self, other: &Identity) -> bool {
        let of_one = |members: &str, name: &str| {
            let object = members.find('{').map(|end| &members[..end]).or_else(|| members.strip_suffix('*'));
            object.is_some_and(|object| name.starts_with(object))
        };
        (self.kind, &self.file, self.line) == (other.kind, &other.file, other.line)
            && (self.name == other.name || of_one(&self.name, &other.name) || of_one(&other.name, &self.name))
    }
}

impl Objects {
    /// The objects of all sites that `events` mention.
    pub fn new(profile: &Profile) -> Self {
        let of_reader = HashMap::new();
        let mut objects = Self { known: Vec::new(), ids: HashMap::new(), of_reader, of_writer: HashMap::new() };
        let mut samples: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
        for sample in profile.object_events().filter(|s| s.raw > 0) {
            samples.entry(sample.reader_site).or_default().push((sample.allocation_site, sample.raw));
        }
        for (site, received) in objects.received(profile) {
            let samples = samples.get(&site).map_or(&[][..], Vec::as_slice);
            let is_certain = is_variable(&received.at);
            let parts = match is_certain {
                true => vec![(objects.enter(received.at), 1)],
                false => objects.parts(profile, &received, samples),
            };
            let Received { has_unnamed, written, .. } = received;
            objects.of_reader.insert(site, Reader { is_certain, parts, has_unnamed, written });
        }
        objects
    }

    /// What each reading site received, and from whom, where its own variable is not known.
    fn received(&mut self, profile: &Profile) -> BTreeMap<u32, Received> {
        let mut readers: BTreeMap<u32, Received> = BTreeMap::new();
        let mut writers: HashMap<u32, Option<ObjectId>> = HashMap::new();
        for sum in sites::sums(profile.events()) {
            let reader = readers.entry(sum.reader).or_insert_with(|| {
                let at = of_access(profile, sum.reader);
                Received { at, all: 0, named: 0, has_unnamed: false, written: BTreeSet::new() }
            });
            if is_variable(&reader.at) {
                continue;
            }
            let name = |this: &mut Self| of_write(profile, sum.writer).map(|variable| this.enter(variable));
            let named = *writers.entry(sum.writer).or_insert_with(|| name(self));
            reader.all = reader.all.saturating_add(sum.raw);
            match named {
                Some(object) => {
                    reader.named = reader.named.saturating_add(sum.raw);
                    reader.written.insert(object);
                }
                None => reader.has_unnamed = true,
            }
        }
        self.of_writer = writers.into_iter().filter_map(|(site, object)| Some((site, vec![(object?, 1)]))).collect();
        readers
    }

    /// Parts of the events that no site names: those of the samples, less what the named ones have among the samples
    /// that found no allocation.
    fn parts(&mut self, profile: &Profile, received: &Received, samples: &[(u32, u64)]) -> Parts {
        let through = &received.at;
        let mut weights: BTreeMap<ObjectId, u64> = BTreeMap::new();
        let (mut all, mut nowhere) = (0u64, 0u64);
        for (site, weight) in samples {
            all = all.saturating_add(*weight);
            if *site == 0 {
                nowhere = nowhere.saturating_add(*weight);
                continue;
            }
            let part = weights.entry(self.enter(of_sample(profile, *site, through))).or_default();
            *part = part.saturating_add(*weight);
        }
        let named = u128::from(all) * u128::from(received.named) / u128::from(received.all.max(1));
        let nowhere = u128::from(nowhere).saturating_sub(named) as u64;
        if nowhere > 0 {
            let part = weights.entry(self.enter(through.clone())).or_default();
            *part = part.saturating_add(nowhere);
        }
        if weights.is_empty() {
            return vec![(self.enter(through.clone()), 1)];
        }
        weights.into_iter().collect()
    }

    fn enter(&mut self, identity: Identity) -> ObjectId {
        let known = &mut self.known;
        *self.ids.entry(identity).or_insert_with_key(|identity| {
            known.push(identity.clone());
            known.len() as ObjectId - 1
        })
    }

    /// The objects of an event of these sites and their parts of it.
    fn parts_of(&self, reader_site: u32, writer_site: u32) -> &[(ObjectId, u64)] {
        let Some(reader) = self.of_reader.get(&reader_site) else { return &[] };
        let named = if reader.is_certain { None } else { self.of_writer.get(&writer_site) };
        named.unwrap_or(&reader.parts)
    }

    /// Whether two reading sites may be about the same memory: false only where the objects of both are known, and
    /// differ. A pointer whose allocation was not sampled may lead anywhere.
    pub fn may_be_same(&self, a: u32, b: u32) -> bool {
        let known = |site: u32| {
            let reader = self.of_reader.get(&site)?;
            let unnamed = if reader.is_certain || reader.has_unnamed { &reader.parts[..] } else { &[] };
            let mut all = reader.written.clone();
            all.extend(unnamed.iter().map(|(id, _)| *id));
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
        let parts = self.parts_of(event.reader_site, event.writer_site);
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
            let parts = self.parts_of(event.reader, event.writer);
            for ((object, raw), (_, rar)) in share(parts, event.raw).zip(share(parts, event.rar)) {
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

fn is_variable(identity: &Identity) -> bool {
    matches!(identity.kind, Memory::Global | Memory::Stack) && !identity.name.is_empty()
}

/// The variable that is written at a site. None for calls of the C library and copies: what the compiler names there
/// may be what they read.
fn of_write(profile: &Profile, site: u32) -> Option<Identity> {
    let names_target = profile.site(site)?.flags & site_flags::LIBRARY == 0;
    Some(of_access(profile, site)).filter(|variable| names_target && is_variable(variable))
}

/// What lies where a sample was taken: a global variable, or the blocks of a call, named by the variable that received
/// them, else by the pointer through which they are read, else by nothing: where they were allocated says more than
/// `this` or a variable of the library that did it.
fn of_sample(profile: &Profile, site: u32, through: &Identity) -> Identity {
    let named = of_access(profile, site);
    if is_variable(&named) {
        return named;
    }
    let name = [named.name, Arc::clone(&through.name)].into_iter().find(|name| is_telling(name));
    let (file, line) = profile.site(site).map_or(("".into(), 0), |s| (Arc::clone(&s.file), s.line));
    Identity { kind: Memory::Heap, name: name.unwrap_or_else(|| BLOCK.into()), file, line }
}

/// Whether a name says to a user what it is. `this` does not without a member, nor what the language keeps for its
/// libraries (`__tmp`).
pub fn is_telling(name: &str) -> bool {
    !name.is_empty() && name != "this" && !name.starts_with("__")
}

/// The name of what is written or read at a site; empty = unknown.
pub fn name_at(profile: &Profile, site: u32) -> Arc<str> {
    profile.access(site).map_or_else(|| "".into(), |a| Arc::clone(&a.object))
}

/// Strides of a site: in the innermost loop and in the loop around it.
pub fn strides(profile: &Profile, site: u32) -> (Stride, Stride) {
    profile.access(site).map_or((Stride::None, Stride::None), |a| (a.stride, a.outer_stride))
}
