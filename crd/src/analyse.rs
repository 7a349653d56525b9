//! From a profile to the report.

use std::sync::Arc;
use threadtalk_profile::{Event, Profile};

use crate::accuracy;
use crate::distance::Traces;
use crate::false_sharing;
use crate::imbalance::profile::sections;
use crate::lines::{self, PairCount, Positions};
use crate::matrices::cells::{self, Cell, Matrices, Scratch};
use crate::matrices::{balance, crr, homogeneity};
use crate::model::{Counts, Line, Measures, Object, Region, Report, SCHEMA};
use crate::objects::Objects;
use crate::options::Options;
use crate::participants::{self, ByThread};
use crate::phases;
use crate::program;
use crate::regions::{self, Node, PROGRAM, Tree};
use crate::suggest;
use crate::threads::Threads;

/// Analyses a profile.
pub fn analyse(profile: &Profile, options: &Options) -> Report {
    let tree = regions::merge(profile);
    let threads = Threads::new(profile);
    let positions = Positions::new(profile);
    let recorded = Recorded::collect(profile, &tree, &threads, &positions, options);
    let sums = Sums::of(&recorded, &tree, threads.len());

    let analysis = Analysis { profile, options, threads: &threads };
    let describe = |id: usize| {
        let (own, total) = (recorded.data(id), sums.data(id));
        let total = sums.has_inside(id).then_some(&total);
        analysis.region(&tree.nodes[id], id, &own, total, || positions.describe(recorded.lines[id].clone()))
    };
    let mut regions: Vec<Region> = (0..tree.nodes.len()).map(describe).collect();
    let advice = Advice { profile, options, tree: &tree, positions: &positions, events: &recorded.events };
    let objects = advice.add(&mut regions);
    let is_listed = |r: &Region| options.region.as_ref().is_none_or(|filter| filter.matches(r));
    let everything = sums.data(PROGRAM as usize);
    let program_total = analysis.region(&tree.nodes[0], 0, &everything, None, || {
        let source = tree.nodes.iter().zip(&recorded.lines).filter(|(node, _)| !node.is_user());
        positions.describe(lines::fold(source.flat_map(|(_, lines)| lines).copied().collect()))
    });
    let mut program_total = program_total;
    program_total.objects = objects;
    let events = everything.cells.iter().fold(0u64, |n, c| n.saturating_add(c.raw).saturating_add(c.rar));
    Report {
        schema: SCHEMA,
        program: program::program(profile),
        ended: program::ended(profile),
        options: program::recording(profile, options),
        accuracy: accuracy::summary(&profile.header().accuracy, events),
        threads: threads.describe(profile),
        caches: options.caches.clone(),
        regions: regions.into_iter().filter(is_listed).collect(),
        program_total,
        phases: phases::analyse(profile),
    }
}

/// What was recorded for each region itself.
struct Recorded {
    events: Vec<Vec<Event>>,
    cells: Vec<Vec<Cell>>,
    lines: Vec<Vec<PairCount>>,
    visits: Vec<ByThread>,
    private: Vec<ByThread>,
    traces: Vec<Option<Traces>>,
    participants: Vec<Vec<u32>>,
}

/// One region's part of [`Recorded`] or [`Sums`].
struct Data<'a> {
    cells: &'a [Cell],
    visits: &'a ByThread,
    private: &'a ByThread,
    traces: Option<&'a Traces>,
    participants: &'a [u32],
}

impl Recorded {
    fn collect(profile: &Profile, tree: &Tree, threads: &Threads, positions: &Positions, options: &Options) -> Self {
        let events = events(profile, tree, options);
        let visits = participants::visits(profile, tree, threads);
        let private = participants::private_bytes(profile, tree, threads);
        let mut traces = vec![None; tree.nodes.len()];
        for trace in profile.traces() {
            traces[tree.node(trace.region) as usize].get_or_insert_with(Traces::default).add_trace(&trace);
        }
        let cells: Vec<_> = events.iter().map(|e| cells::own(e, |id| threads.index(id))).collect();
        let participants = (0..tree.nodes.len())
            .map(|id| participants::own(&cells[id], &visits[id], &private[id], tree.nodes[id].has_accesses))
            .collect();
        let lines = events.iter().map(|e| positions.count(e)).collect();
        Self { events, cells, lines, visits, private, traces, participants }
    }

    fn data(&self, id: usize) -> Data<'_> {
        Data {
            cells: &self.cells[id],
            visits: &self.visits[id],
            private: &self.private[id],
            traces: self.traces[id].as_ref(),
            participants: &self.participants[id],
        }
    }
}

/// The events of each region. Those in a user region are also that one's.
fn events(profile: &Profile, tree: &Tree, options: &Options) -> Vec<Vec<Event>> {
    let is_hidden = |e: &Event| e.raw == 0 && e.rar == 0 || options.hide_serial && e.is_serial();
    let shown = || profile.events().filter(|e| !is_hidden(e));
    let regions = |e: &Event| {
        let node = tree.node(e.region);
        [Some(node), tree.user_node(e.context).filter(|user| *user != node)].into_iter().flatten()
    };
    // Counted first: growing a thousand lists step by step would move every event several times.
    let mut counts = vec![0; tree.nodes.len()];
    shown().flat_map(|e| regions(&e)).for_each(|node| counts[node as usize] += 1);
    let mut events: Vec<Vec<Event>> = counts.into_iter().map(Vec::with_capacity).collect();
    for event in shown() {
        regions(&event).for_each(|node| events[node as usize].push(event));
    }
    events
}

/// Regions that hold others, together with those.
struct Sums<'a> {
    own: &'a Recorded,
    /// None for regions that hold no others.
    with_inside: Vec<Option<Sum>>,
}

struct Sum {
    cells: Vec<Cell>,
    private: ByThread,
    traces: Option<Traces>,
    participants: Vec<u32>,
}

impl<'a> Sums<'a> {
    fn of(own: &'a Recorded, tree: &Tree, threads: usize) -> Self {
        let children = tree.children();
        let mut sums = Self { own, with_inside: tree.nodes.iter().map(|_| None).collect() };
        let mut scratch = Scratch::new(threads);
        // Children have larger numbers than their parents, so theirs are complete.
        for id in (0..tree.nodes.len()).rev() {
            let inside = children[id].iter().map(|child| sums.data(*child as usize));
            let inside: Vec<Data<'_>> = inside.filter(|data| !data.participants.is_empty()).collect();
            if !inside.is_empty() {
                sums.with_inside[id] = Some(Sum::of(own.data(id), inside, &mut scratch));
            }
        }
        sums
    }

    /// A region with all inside it.
    fn data(&self, id: usize) -> Data<'_> {
        let own = self.own.data(id);
        match &self.with_inside[id] {
            None => own,
            Some(sum) => Data {
                cells: &sum.cells,
                private: &sum.private,
                traces: sum.traces.as_ref(),
                participants: &sum.participants,
                ..own
            },
        }
    }

    /// Whether it holds anything besides its own.
    fn has_inside(&self, id: usize) -> bool {
        self.with_inside[id].is_some()
    }
}

impl Sum {
    fn of(own: Data<'_>, inside: Vec<Data<'_>>, scratch: &mut Scratch) -> Self {
        let family: Vec<Data<'_>> = std::iter::once(own).chain(inside).collect();
        let lists: Vec<&[Cell]> = family.iter().map(|d| d.cells).filter(|cells| !cells.is_empty()).collect();
        let mut traces: Option<Traces> = None;
        for part in family.iter().filter_map(|d| d.traces) {
            traces.get_or_insert_default().add(part);
        }
        Self {
            cells: cells::sum(&lists, scratch),
            private: participants::fold(family.iter().flat_map(|d| d.private).copied().collect()),
            traces,
            participants: participants::sorted(family.iter().flat_map(|d| d.participants).copied().collect()),
        }
    }
}

/// Adds what regions are about and what to change in them.
struct Advice<'a> {
    profile: &'a Profile,
    options: &'a Options,
    tree: &'a Tree,
    positions: &'a Positions,
    events: &'a [Vec<Event>],
}

impl Advice<'_> {
    /// Returns the objects of the whole program.
    fn add(&self, regions: &mut [Region]) -> Vec<Object> {
        let objects = Objects::new(self.profile);
        let written = false_sharing::written(self.profile);
        let mut shared = false_sharing::by_region(self.profile, self.tree, self.positions, &written);
        for (region, events) in regions.iter_mut().zip(self.events) {
            region.objects = objects.describe(events);
            region.false_sharing = shared.remove(&region.id).unwrap_or_default();
        }
        let sections = sections(self.profile);
        let suggestions = suggest::suggest(&suggest::Facts {
            profile: self.profile,
            options: self.options,
            tree: self.tree,
            objects: &objects,
            positions: self.positions,
            sections: &sections,
            written: &written,
            events: self.events,
            regions,
        });
        for (region, found) in regions.iter_mut().zip(suggestions) {
            region.suggestions = found;
        }
        let source = self.tree.nodes.iter().zip(self.events).filter(|(node, _)| !node.is_user());
        objects.describe(source.flat_map(|(_, events)| events))
    }
}

/// Makes the parts of the report.
struct Analysis<'a> {
    profile: &'a Profile,
    options: &'a Options,
    threads: &'a Threads,
}

impl Analysis<'_> {
    /// `total`: with the regions inside, if there are any.
    fn region(
        &self,
        node: &Node,
        id: usize,
        own: &Data<'_>,
        total: Option<&Data<'_>>,
        lines: impl FnOnce() -> Vec<Line>,
    ) -> Region {
        let all = total.unwrap_or(own);
        let threads = all.participants;
        let visits = own.visits.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count));
        let visits_of =
            |thread: &u32| own.visits.binary_search_by_key(thread, |(t, _)| *t).map_or(0, |at| own.visits[at].1);
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
            parent: node.parent,
            visits,
            visits_by_thread: threads.iter().map(visits_of).collect(),
            threads: threads.iter().map(|t| self.threads.id(*t)).collect(),
            counts: (!all.cells.is_empty()).then(|| Box::new(self.counts(own, total, lines()))),
            objects: Vec::new(),
            false_sharing: Vec::new(),
            suggestions: Vec::new(),
        }
    }

    fn counts(&self, own: &Data<'_>, total: Option<&Data<'_>>, lines: Vec<Line>) -> Counts {
        let all = total.unwrap_or(own);
        let one = Matrices::of(own.cells, all.participants);
        let with_inside = total.map_or_else(|| one.clone(), |t| Matrices::of(t.cells, all.participants));
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
            own: self.measures(own, all.participants),
            total: total.map(|t| self.measures(t, all.participants)),
            lines,
        }
    }

    /// `threads`: rows and columns.
    fn measures(&self, data: &Data<'_>, threads: &[u32]) -> Measures {
        let counted = data.participants.len();
        let crr = crr::matrix(data.cells, threads);
        let (homogeneity, homogeneity_variants) = homogeneity::homogeneity(&crr, counted);
        let (balance, balance_by_reader) = balance::balance(&crr, counted);
        let pair = |(writer, reader)| [self.threads.id(writer), self.threads.id(reader)];
        let usages = data.cells.iter().fold(0u64, |n, c| n.saturating_add(c.raw).saturating_add(c.rar));
        let granule = self.profile.header().granule;
        let describe = |traces: &Traces| traces.describe(usages, granule, &self.options.caches, data.private);
        Measures {
            carried_in: crr::carried_in(data.cells).map(pair).collect(),
            crr,
            homogeneity,
            homogeneity_variants,
            balance,
            balance_by_reader,
            threads_counted: counted,
            private_bytes: data.private.iter().fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes)),
            crd: data.traces.map(describe),
        }
    }
}
