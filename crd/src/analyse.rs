//! From a profile to the report.

use std::collections::BTreeMap;
use std::sync::Arc;
use threadtalk_profile::{Event, Profile};

use crate::accuracy;
use crate::callers::Callers;
use crate::distance::Traces;
use crate::false_sharing;
use crate::families::{self, Family, Part};
use crate::imbalance::profile::{model::Section, sections};
use crate::lines::{self, PairCount, Positions};
use crate::matrices::cells::{Cell, Matrices};
use crate::matrices::{Sums, balance, homogeneity};
use crate::model::{Counts, Entry, Line, Measures, Object, Position, Ratios, Region, Report, SCHEMA};
use crate::objects::Objects;
use crate::options::Options;
use crate::phases;
use crate::program;
use crate::recorded::Recorded;
use crate::regions::{self, Node, PROGRAM, RegionId, Tree};
use crate::serial::SerialData;
use crate::sites::SiteCount;
use crate::suggest;
use crate::threads::Threads;

/// Analyses a profile.
pub fn analyse(profile: &Profile, options: &Options) -> Report {
    let tree = regions::merge(profile);
    let threads = Threads::new(profile);
    let callers = Callers::of(profile);
    let positions = Positions::new(profile, &callers);
    let mut recorded = Recorded::collect(profile, &tree, &threads, options);
    let called_at = callers.by_region(&tree);
    let mut analysis = Analysis { profile, options, threads: &threads, called_at, ratios: Vec::new() };
    let pairs: Vec<Vec<PairCount>> = recorded.sites.iter().map(|sums| positions.count(sums)).collect();
    let mut regions = Vec::with_capacity(tree.nodes.len());
    let everything = families::each(&mut recorded, &tree, &threads, |id, family| {
        let lines = || positions.describe(pairs[id].clone());
        regions.push(analysis.region(&tree.nodes[id], id, family, lines));
    });
    // They came innermost first.
    regions.reverse();
    let Recorded { events: own_events, sites, .. } = &recorded;
    let advice = Advice { profile, options, tree: &tree, positions: &positions, events: own_events, sites };
    let sections = sections(profile);
    let objects = advice.add(&mut regions, sections.as_deref().unwrap_or_default());
    let is_listed = |r: &Region| options.region.as_ref().is_none_or(|filter| filter.matches(r));
    let sum = |of: fn(&Cell) -> u64| everything.cells.all.iter().map(of).fold(0, u64::saturating_add);
    let events = accuracy::Events { communications: sum(|c| c.raw), reuse: sum(|c| c.rar) };
    let visits = &recorded.visits[PROGRAM as usize];
    let all = Family { visits, own: &everything, total: None };
    let program_total = analysis.region(&tree.nodes[0], 0, &all, || {
        let source = tree.nodes.iter().zip(&pairs).filter(|(node, _)| !node.is_user());
        positions.describe(lines::fold(source.flat_map(|(_, lines)| lines).copied().collect()))
    });
    let mut program_total = program_total;
    program_total.objects = objects;
    let false_rate = accuracy::false_rate(&profile.header().accuracy, &events);
    regions.iter_mut().chain([&mut program_total]).for_each(|region| accuracy::doubt_distances(region, false_rate));
    Report {
        schema: SCHEMA,
        program: program::program(profile),
        ended: program::ended(profile),
        options: program::recording(profile, options),
        accuracy: accuracy::summary(profile.header(), false_rate),
        threads: threads.describe(profile, &positions),
        caches: options.caches.clone(),
        regions: regions.into_iter().filter(is_listed).collect(),
        program_total,
        phases: phases::analyse(profile),
        sections,
    }
}

/// Adds what regions are about and what to change in them.
struct Advice<'a> {
    profile: &'a Profile,
    options: &'a Options,
    tree: &'a Tree,
    positions: &'a Positions,
    events: &'a [Vec<Event>],
    sites: &'a [Vec<SiteCount>],
}

impl Advice<'_> {
    /// Returns the objects of the whole program.
    fn add(&self, regions: &mut [Region], sections: &[Section]) -> Vec<Object> {
        let objects = Objects::new(self.profile, self.positions);
        let written = false_sharing::written(self.profile.written_sites());
        let serial = SerialData::of(self.profile);
        let mut shared = false_sharing::by_region(self.profile, self.tree, self.positions, &written);
        for (region, sums) in regions.iter_mut().zip(self.sites) {
            region.objects = objects.describe(sums);
            region.false_sharing = shared.remove(&region.id).unwrap_or_default();
        }
        let suggestions = suggest::suggest(&suggest::Facts {
            profile: self.profile,
            options: self.options,
            tree: self.tree,
            objects: &objects,
            positions: self.positions,
            sections,
            written: &written,
            serial: &serial,
            events: self.events,
            regions,
            waiting: &suggest::waiting(self.profile),
            spinning: suggest::spinning(self.profile, self.tree).as_ref(),
        });
        for (region, found) in regions.iter_mut().zip(suggestions) {
            region.suggestions = found;
        }
        let source = self.tree.nodes.iter().zip(self.sites).filter(|(node, _)| !node.is_user());
        objects.describe(source.flat_map(|(_, sums)| sums))
    }
}

/// Makes the parts of the report.
struct Analysis<'a> {
    profile: &'a Profile,
    options: &'a Options,
    threads: &'a Threads,
    called_at: BTreeMap<RegionId, Vec<Position>>,
    /// Memory for the ratios of one matrix.
    ratios: Vec<Entry<f64>>,
}

impl Analysis<'_> {
    fn region(&mut self, node: &Node, id: usize, family: &Family<'_>, lines: impl FnOnce() -> Vec<Line>) -> Region {
        let all = family.all();
        let threads = &all.participants;
        let visits = family.visits.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
        let visits_of =
            |thread: &u32| family.visits.binary_search_by_key(thread, |(t, _)| *t).map_or(0, |at| family.visits[at].1);
        let demangled = regions::demangle(&node.name);
        let known = |line: u32| (line > 0).then_some(line);
        Region {
            id: id as u32,
            kind: node.kind,
            symbol: demangled.as_ref().map(|_| node.name.to_string()),
            name: demangled.unwrap_or_else(|| node.name.to_string()),
            file: Some(Arc::clone(&node.file)).filter(|f| !f.is_empty()),
            line: known(node.line),
            end_line: known(node.end_line),
            called_at: self.called_at.remove(&(id as u32)).unwrap_or_default(),
            parent: node.parent,
            visits,
            visits_by_thread: threads.iter().map(visits_of).collect(),
            threads: threads.iter().map(|t| self.threads.id(*t)).collect(),
            counts: (!all.cells.all.is_empty()).then(|| Box::new(self.counts(family, lines()))),
            objects: Vec::new(),
            false_sharing: Vec::new(),
            suggestions: Vec::new(),
        }
    }

    fn counts(&mut self, family: &Family<'_>, lines: Vec<Line>) -> Counts {
        let &Family { own, total, .. } = family;
        let threads = &family.all().participants;
        let one = Matrices::of(&own.cells, threads);
        let with_inside = total.map_or_else(|| one.clone(), |t| Matrices::of(&t.cells, threads));
        let own = self.measures(own, threads, Ratios::new(one.raw.clone(), one.rar.clone()));
        let ratios = || Ratios::new(with_inside.raw.clone(), with_inside.rar.clone());
        let total = total.map(|t| self.measures(t, threads, ratios()));
        Counts {
            raw: one.raw,
            rar: one.rar,
            total_raw: with_inside.raw,
            total_rar: with_inside.rar,
            sync_raw: one.sync_raw,
            sync_rar: one.sync_rar,
            serial_raw: one.serial_raw,
            serial_rar: one.serial_rar,
            total_serial_raw: with_inside.serial_raw,
            total_serial_rar: with_inside.serial_rar,
            own,
            total,
            lines,
        }
    }

    /// `threads` are those of `crr`, the ratios of what `data` has.
    fn measures(&mut self, data: &Part, threads: &[u32], crr: Ratios) -> Measures {
        let counted = data.participants.len();
        self.ratios.clear();
        self.ratios.extend(data.cells.ratios(threads));
        let sums = Sums::of(&self.ratios, crr.size());
        let (homogeneity, homogeneity_variants) = homogeneity::homogeneity(&self.ratios, &sums, counted);
        let (balance, balance_by_reader) = balance::balance(&sums, counted);
        let pair = |(writer, reader)| [self.threads.id(writer), self.threads.id(reader)];
        let usages = data.cells.all.iter().fold(0u64, |n, c| n.saturating_add(c.raw).saturating_add(c.rar));
        let granule = self.profile.header().granule;
        let describe = |traces: &Traces| traces.describe(usages, granule, &self.options.caches, &data.private);
        Measures {
            carried_in: data.cells.carried_in().map(pair).collect(),
            crr,
            homogeneity,
            homogeneity_variants,
            balance,
            balance_by_reader,
            threads_counted: counted,
            private_bytes: data.private.iter().fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes)),
            crd: data.traces.as_ref().map(describe),
        }
    }
}
