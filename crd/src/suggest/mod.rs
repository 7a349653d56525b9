//! What to change: rules that turn the figures of a region into advice.
//!
//! The categories are those of ICPP'18, table 1: *data affinity* or *thread affinity*, by changing the *code* or by
//! settings of the *run*. A rule per file; each names its thresholds, and the numbers that made it fire stand in the
//! suggestion.
//!
//! | rule | what it looks for |
//! |---|---|
//! | `loop-reordering` | reads that go across rows in the inner loop and along them in the outer one |
//! | `array-blocking` | reuse at distances that a cache cannot hold |
//! | `loop-fusion` | a loop that uses again what another loop received just before, also in a function that both call |
//! | `data-affinity-scheduling` | elements that one thread writes and one other reads, with equal strides: loops divided differently |
//! | `thread-mapping` | threads that talk to few others or all to one (or reuse very unevenly), so that placement pays |
//! | `false-sharing` | cache lines that threads share without sharing an element |
//! | `serial-initialisation` | data that one thread wrote before there were others |
//! | `load-imbalance` | a parallel section whose threads wait for the slowest, and the line that makes it slow (control flow counted) |
//! | `synchronisation` | atomic reads that are a large part of the communication |

mod array_blocking;
mod data_affinity;
mod false_sharing;
mod imbalance;
mod loop_fusion;
mod loop_reordering;
mod serial_initialisation;
mod synchronisation;
mod thread_mapping;
mod threshold;

use std::collections::{BTreeMap, BTreeSet};
use threadtalk_abi::module::RegionKind;
use threadtalk_abi::module::site_flags::{LINKED, WAITS};
use threadtalk_profile::layout::BlockedKind;
use threadtalk_profile::{Event, Module, Profile, Stride, WrittenSite};

use crate::imbalance::profile::model::Section;
use crate::lines::Positions;
use crate::model::{Counts, Lowers, Position, Promise, Region, Suggestion};
use crate::objects::{self, Objects};
use crate::options::Options;
use crate::regions::{self, PROGRAM, RegionId, Tree};
use crate::serial::SerialData;

pub use threshold::{Threshold, ThresholdError, Thresholds};

/// A rule.
struct Rule {
    name: &'static str,
    thresholds: &'static [Threshold],
    find: fn(&Case<'_>) -> Option<Suggestion>,
}

/// All rules, in the order in which a region's suggestions stand.
const RULES: &[Rule] = &[
    false_sharing::RULE,
    loop_reordering::RULE,
    array_blocking::RULE,
    loop_fusion::RULE,
    data_affinity::RULE,
    serial_initialisation::RULE,
    synchronisation::RULE,
    imbalance::RULE,
    thread_mapping::RULE,
];

/// What holds for all rules that count events.
const GENERAL: &[Threshold] = &[
    Threshold { name: "events", default: 1000.0, meaning: "events that a region must have" },
    Threshold { name: "share", default: 0.02, meaning: "part of the program's events that a region must have" },
];
const GENERAL_NAME: &str = "region";

/// Every threshold as (rule, threshold).
pub fn thresholds() -> impl Iterator<Item = (&'static str, &'static Threshold)> {
    let rules = RULES.iter().flat_map(|rule| rule.thresholds.iter().map(|t| (rule.name, t)));
    GENERAL.iter().map(|t| (GENERAL_NAME, t)).chain(rules)
}

/// What the rules read besides the regions.
pub struct Facts<'a> {
    /// The profile.
    pub profile: &'a Profile,
    /// The caller's choices.
    pub options: &'a Options,
    /// Regions of sites.
    pub tree: &'a Tree,
    /// Who accesses what.
    pub objects: &'a Objects,
    /// Where sites are.
    pub positions: &'a Positions,
    /// Parallel sections with their causes; none where control flow was not counted.
    pub sections: &'a [Section],
    /// What the writes of each site left, those while more than one thread existed.
    pub written: &'a BTreeMap<u32, WrittenSite>,
    /// What was written serially.
    pub serial: &'a SerialData,
    /// Events of each region itself.
    pub events: &'a [Vec<Event>],
    /// All regions, by number.
    pub regions: &'a [Region],
    /// Sites that look at a volatile variable until it changes.
    pub waiting: &'a BTreeSet<u32>,
    /// Regions in which a thread was seen to look at something until it changed; none where control flow was not
    /// counted, which tells.
    pub spinning: Option<&'a BTreeSet<RegionId>>,
}

/// Sites at which threads wait for a volatile variable to change.
pub fn waiting(profile: &Profile) -> BTreeSet<u32> {
    let numbered = |module: &'_ Module| {
        let waits = module.sites.iter().enumerate().filter(|(_, site)| site.flags & WAITS != 0);
        waits.map(|(at, _)| module.bases.site_base + at as u32).collect::<Vec<_>>()
    };
    profile.modules().iter().flat_map(numbered).collect()
}

/// Regions in which threads were seen to wait: the look lies in a loop that does nothing else, of the region or of a
/// caller that it was inlined into. None where control flow was not counted.
pub fn spinning(profile: &Profile, tree: &Tree) -> Option<BTreeSet<RegionId>> {
    if profile.modules().iter().all(|module| module.functions.is_empty()) {
        return None;
    }
    let spins = profile.blocked().filter(|blocked| blocked.kind == BlockedKind::Spin);
    Some(spins.filter_map(|blocked| tree.of_site(profile, blocked.site)).collect())
}

/// Suggestions for each region.
pub fn suggest(facts: &Facts<'_>) -> Vec<Vec<Suggestion>> {
    let all = facts.events.iter().zip(facts.regions).filter(|(_, r)| r.kind != RegionKind::User);
    let program_events = all.map(|(events, _)| sum(events)).sum::<u64>().max(1);
    let inlined = inlined(facts);
    let cases = facts.regions.iter().zip(facts.events).map(|(region, events)| Case {
        facts,
        region,
        events,
        inlined: &inlined,
        total: sum(events),
        program_events,
    });
    let found = cases.map(|case| RULES.iter().filter_map(|rule| (rule.find)(&case)).collect()).collect();
    place_once(found, facts)
}

/// Threads are placed once for the whole run: of what regions say about it, that of the one with the most events.
fn place_once(mut found: Vec<Vec<Suggestion>>, facts: &Facts<'_>) -> Vec<Vec<Suggestion>> {
    let places = |s: &Suggestion| s.rule == thread_mapping::RULE.name;
    let of = |(at, all): (usize, &Vec<Suggestion>)| all.iter().any(places).then(|| (sum(&facts.events[at]), at));
    let most = found.iter().enumerate().filter_map(of).max_by_key(|(events, at)| (*events, std::cmp::Reverse(*at)));
    for (at, all) in found.iter_mut().enumerate() {
        all.retain(|s| !places(s) || most.is_some_and(|(_, of_most)| of_most == at));
    }
    found
}

/// Events of code that was inlined into each region, which is a loop of a caller.
fn inlined(facts: &Facts<'_>) -> Vec<Vec<Event>> {
    let mut all = vec![Vec::new(); facts.regions.len()];
    for (events, region) in facts.events.iter().zip(facts.regions) {
        for event in events.iter().filter(|_| region.kind != RegionKind::User) {
            if let Some(caller) = facts.profile.caller_loop(event.reader_site) {
                all[facts.tree.node(caller) as usize].push(*event);
            }
        }
    }
    all
}

fn sum<'e>(events: impl IntoIterator<Item = &'e Event>) -> u64 {
    events.into_iter().fold(0, |n, e| n.saturating_add(e.raw).saturating_add(e.rar))
}

/// A region that rules look at.
struct Case<'a> {
    facts: &'a Facts<'a>,
    region: &'a Region,
    /// Its own events.
    events: &'a [Event],
    /// For each region the events of what was inlined into it.
    inlined: &'a [Vec<Event>],
    /// Their number.
    total: u64,
    program_events: u64,
}

impl<'a> Case<'a> {
    fn threshold(&self, rule: &'static Rule, name: &str) -> f64 {
        self.facts.options.thresholds.get(rule.name, name)
    }

    /// Whether the region is worth a reader's time at all.
    fn is_significant(&self) -> bool {
        self.is_enough(self.total)
    }

    /// Whether so many events are.
    fn is_enough(&self, events: u64) -> bool {
        let thresholds = &self.facts.options.thresholds;
        events as f64 >= thresholds.get(GENERAL_NAME, "events")
            && events as f64 >= thresholds.get(GENERAL_NAME, "share") * self.program_events as f64
    }

    fn counts(&self) -> Option<&'a Counts> {
        self.region.counts.as_deref()
    }

    fn is_loop(&self) -> bool {
        is_loop(self.region)
    }

    /// Whether a caller's loop executes it again and again.
    fn is_in_callers_loop(&self) -> bool {
        self.events.iter().any(|e| self.facts.profile.caller_loop(e.reader_site).is_some())
    }

    /// Whether another loop runs inside the region's iterations, its own or that of an inlined function.
    fn holds_a_loop(&self) -> bool {
        let is_plain = |r: &Region| r.kind == RegionKind::Loop;
        let own = self.facts.regions.iter().any(|r| r.parent == Some(self.region.id) && is_plain(r));
        let other = |e: &Event| self.facts.tree.of_site(self.facts.profile, e.reader_site);
        let mut called = self.inlined[self.region.id as usize].iter().filter_map(other);
        own || called.any(|id| is_plain(&self.facts.regions[id as usize]))
    }

    /// Whether the line of a site is executed by a region, directly or through what was inlined into it.
    fn executes(&self, region: RegionId, site: u32) -> bool {
        let own = self.facts.tree.of_site(self.facts.profile, site);
        let caller = self.facts.profile.caller_loop(site).map(|l| self.facts.tree.node(l));
        let up = |id: RegionId| self.facts.regions.get(id as usize)?.parent;
        [own, caller]
            .into_iter()
            .flatten()
            .any(|from| std::iter::successors(Some(from), |id| up(*id)).any(|r| r == region))
    }

    /// The function around a region.
    fn function(&self, region: RegionId) -> RegionId {
        let parent = |id: &RegionId| self.facts.regions.get(*id as usize)?.parent.filter(|p| *p != PROGRAM);
        std::iter::successors(Some(region), parent).last().unwrap_or(region)
    }

    /// Whether threads were seen to wait in the region, or in a loop around it. None where that cannot be seen.
    fn is_spinning(&self) -> Option<bool> {
        let spinning = self.facts.spinning?;
        let around = |r: &&'a Region| self.parent(r).filter(|outer| is_loop(outer));
        Some(std::iter::successors(Some(self.region), around).any(|r| spinning.contains(&r.id)))
    }

    /// What the suggestion lowers in the function around this region.
    fn promise(&self, lowers: Lowers) -> Promise {
        Promise::of(self.facts.regions, lowers, self.function(self.region.id))
    }

    /// The loop around the region, if it is one in a nest. An OpenMP construct and the loop that it divides are one.
    fn outer_loop(&self) -> Option<&'a Region> {
        let is_divided = |r: &&Region| r.kind != RegionKind::Loop && r.line == self.region.line;
        let outer = self.parent(self.region)?;
        let outer = if is_divided(&outer) { self.parent(outer)? } else { outer };
        is_loop(outer).then_some(outer)
    }

    /// The outermost loop of the nest that the region is in; of one that threads divide among themselves, that one.
    fn outermost_loop(&self) -> &'a Region {
        let around = |r: &&'a Region| {
            (r.kind == RegionKind::Loop).then(|| self.parent(r)).flatten().filter(|outer| is_loop(outer))
        };
        std::iter::successors(Some(self.region), around).last().unwrap_or(self.region)
    }

    fn parent(&self, region: &Region) -> Option<&'a Region> {
        self.facts.regions.get(region.parent? as usize)
    }

    /// Whether a site reads of items that links lead to.
    fn is_linked(&self, site: u32) -> bool {
        self.facts.profile.site(site).is_some_and(|site| site.flags & LINKED != 0)
    }

    fn strides(&self, site: u32) -> (Stride, Stride) {
        objects::strides(self.facts.profile, site)
    }

    /// First and further reads of an event's elements. Where a loop goes on by less than an element, byte by byte, the
    /// reads of one element that follow each other are one: four reads of a text that is read once are no reuse.
    fn uses(&self, event: &Event) -> (f64, f64) {
        let (raw, all) = (event.raw as f64, event.raw as f64 + event.rar as f64);
        let granule = f64::from(self.facts.profile.header().granule.max(1));
        let step = match self.strides(event.reader_site).0 {
            Stride::Bytes(bytes) if bytes != 0 => f64::from(bytes.unsigned_abs()),
            _ => granule,
        };
        (raw, (all * (step / granule).min(1.0) - raw).max(0.0))
    }

    /// The same of all events of the region.
    fn all_uses(&self) -> (f64, f64) {
        let uses = self.events.iter().map(|event| self.uses(event));
        uses.fold((0.0, 0.0), |(raw, rar), (first, again)| (raw + first, rar + again))
    }

    /// The object of an event, in words.
    fn object(&self, event: &Event) -> String {
        self.facts.objects.name(event)
    }

    fn position(&self, site: u32) -> Position {
        self.facts.positions.at(site)
    }

    /// Those of the events that `wanted` picks: their sum, and the reading site with the most of them.
    fn heaviest(&self, wanted: impl Fn(&Event) -> bool) -> Option<(u64, Event)> {
        let mut by_site: BTreeMap<(u32, u32), (u64, Event)> = BTreeMap::new();
        let mut all = 0u64;
        for event in self.events.iter().filter(|e| wanted(e)) {
            let count = event.raw.saturating_add(event.rar);
            all = all.saturating_add(count);
            let entry = by_site.entry((event.reader_site, event.writer_site)).or_insert((0, *event));
            entry.0 = entry.0.saturating_add(count);
        }
        by_site.into_values().max_by_key(|(count, _)| *count).map(|(_, event)| (all, event))
    }
}

fn is_loop(region: &Region) -> bool {
    regions::is_loop(region.kind)
}

/// `file:line`, as short as it is unambiguous for somebody who has the source open.
fn place(position: &Position) -> String {
    let file = position.file.as_deref().map_or("?", |f| f.rsplit('/').next().unwrap_or(f));
    match position.line {
        Some(line) => format!("{file}:{line}"),
        None => file.to_owned(),
    }
}

/// `file:first-last`, or `file:line` where the region is on one.
fn span(region: &Region) -> String {
    let from = place(&start(region));
    match (region.line, region.end_line) {
        (Some(first), Some(last)) if last > first => format!("{from}-{last}"),
        _ => from,
    }
}

/// The first line of a region.
fn start(region: &Region) -> Position {
    Position { file: region.file.clone(), line: region.line }
}

fn evidence<const N: usize>(figures: [(&str, f64); N]) -> BTreeMap<String, f64> {
    figures.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
