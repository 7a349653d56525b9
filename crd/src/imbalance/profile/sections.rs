//! Parallel sections: instances grouped by where they begin and end, how unbalanced they are, and LIME's causes.

use std::collections::{BTreeMap, BTreeSet};

use super::super::lime::{self, HardwareEvent, Reason};
use super::super::similarity::kinds::{TAU, kinds, members};
use super::super::vector::centred;
use super::arrivals::Waiting;
use super::counters;
use super::graph::{CallFlow, NodeOf};
use super::groups::{self, Told};
use super::inside::inside;
use super::instances::{Group, Instance, Key, groups, instances, key};
use super::leads::leads;
use super::model::{Alike, Cause, Dependent, Section, Share, known};
use super::observed::{EventKind, HandedOut, Observed, Part, SiteEvent, Sparse, Spot};
use super::places::{Branches, Places};
use super::read::SPIN;
use super::taken::taken;
use super::uninstrumented::is_uninstrumented;
use super::{MISS_COST, Options};
use threadtalk_profile::layout::CounterEvent;

/// Work that is handed out ends as unevenly as its last pieces are large: below this percentage there is nothing to
/// explain.
const GRAIN_PERCENT: f64 = 10.0;

/// What all instances of a program share.
pub struct Sections<'a> {
    observed: &'a Observed,
    options: &'a Options,
    dependent: Dependent,
    graph: CallFlow,
    branches: Branches<'a>,
    instances: Vec<Instance<'a>>,
    /// Parts by thread, in the order of their beginnings.
    by_thread: BTreeMap<u32, Vec<&'a Part>>,
    /// How long each thread waited in loops, in nanoseconds.
    spins: BTreeMap<u32, f64>,
}

impl<'a> Sections<'a> {
    /// `parts`: those of `observed`, with the work that was handed out as if each thread had a processor.
    pub fn new(observed: &'a Observed, parts: &'a [Part], options: &'a Options, dependent: Dependent) -> Sections<'a> {
        let mut by_thread: BTreeMap<u32, Vec<&Part>> = BTreeMap::new();
        observed.parts.iter().for_each(|p| by_thread.entry(p.thread).or_default().push(p));
        by_thread.values_mut().for_each(|parts| parts.sort_by_key(|p| p.begin_ns));
        let mut spins = BTreeMap::new();
        for wait in observed.waits.iter().filter(|wait| wait.kind == SPIN) {
            *spins.entry(wait.thread).or_default() += wait.wall_ns as f64;
        }
        let (graph, instances) = (CallFlow::new(observed), instances(observed, parts));
        let branches = Branches::new(observed);
        Sections { observed, options, dependent, graph, branches, instances, by_thread, spins }
    }

    /// All sections, those with the most imbalance time first.
    pub fn analyse(&self) -> Vec<Section> {
        let groups = groups(&self.instances);
        let of_instance =
            groups.iter().enumerate().flat_map(|(group, of)| of.instances.iter().map(move |i| (i, group)));
        let mut groups_of: BTreeMap<Key, BTreeSet<usize>> = BTreeMap::new();
        of_instance.for_each(|(i, group)| _ = groups_of.entry(key(i.parts[0])).or_default().insert(group));
        let mut sections: Vec<(usize, Section)> = groups.iter().map(|group| self.section(group)).enumerate().collect();
        sections.sort_by(|(_, a), (_, b)| b.imbalance_time.total_cmp(&a.imbalance_time));
        let places: BTreeMap<usize, usize> = (0..).zip(&sections).map(|(place, (group, _))| (*group, place)).collect();
        let with_inside = |(group, section): (usize, Section)| {
            let inside = inside(&self.by_thread, &groups[group].instances);
            let inner: BTreeSet<usize> =
                inside.iter().filter_map(|key| groups_of.get(key)).flatten().copied().collect();
            let holds: BTreeSet<usize> = inner.iter().filter(|&&of| of != group).map(|of| places[of]).collect();
            Section { encloses: !inside.is_empty(), holds: holds.into_iter().collect(), ..section }
        };
        sections.into_iter().map(with_inside).collect()
    }

    /// Threads that ran beside others in a section.
    pub fn team(&self) -> BTreeSet<u32> {
        let teams = self.instances.iter().filter(|i| i.parts.len() > 1);
        teams.flat_map(|i| i.parts.iter().map(|p| p.thread)).collect()
    }

    fn dependent(&self, instance: &Instance, by: Dependent) -> Vec<f64> {
        let of = |(part, executions): (&&Part, &Sparse)| match by {
            Dependent::Time => part.cpu_ns as f64,
            Dependent::Work => work(self.observed, executions, &part.events),
            Dependent::Counter(event) => part.counter(event).map_or(0.0, |count| count as f64),
        };
        instance.parts.iter().zip(&instance.executions).map(of).collect()
    }

    /// By what was asked for; where nothing was, by time if work says little of it.
    fn section(&self, group: &Group) -> Section {
        let section = self.section_by(group, self.dependent);
        let cpu_ns: Vec<f64> = section.cpu.iter().map(|seconds| seconds * 1e9).collect();
        let is_work = self.dependent == Dependent::Work && self.options.dependent.is_none();
        if is_work && is_uninstrumented(&section.values, &cpu_ns) {
            return Section { uninstrumented: true, ..self.section_by(group, Dependent::Time) };
        }
        section
    }

    fn section_by(&self, group: &Group, by: Dependent) -> Section {
        let (kind, begin, end) = &group.identity;
        let (instances, represented) = self.comparable(&group.instances, by);
        let instances = &instances[..];
        let threads = instances.iter().map(|i| i.parts.len()).max().unwrap_or(0);
        let mut sums = Sums::new(threads, represented);
        let dependents: Vec<Vec<f64>> = instances.iter().map(|i| self.dependent(i, by)).collect();
        let mut waiting = Waiting::default();
        for (instance, dependent) in instances.iter().zip(&dependents) {
            sums.add(instance, dependent);
            waiting.add(Waiting::of(instance, dependent), instance.parts[0].weight);
        }
        // A barrier-to-barrier instance is one value a thread whatever its team, so the largest team counts.
        let lost = super::super::craypat::imbalance_of(sums.mean, sums.max, threads);
        // Work has no unit of time: the section's own CPU time for each unit of it gives one.
        let (cpu, all): (f64, f64) = (sums.cpu.iter().sum(), sums.values.iter().sum());
        let seconds = match by {
            Dependent::Time => 1e-9,
            _ if all > 0.0 => cpu / all,
            _ => 0.0,
        };
        // Who waited in a loop came to the end when the others did, and waited all the same.
        let team: Vec<u32> = instances[0].parts.iter().map(|p| p.thread).collect();
        waiting.has_waited(team.iter().filter_map(|thread| self.spins.get(thread)).sum());
        let handed_out = instances.iter().flat_map(|i| &i.parts).map(|p| p.handed_out).max().unwrap_or_default();
        // Short instances may be uneven in a section that is not: what follows a reduction, beside its loop.
        let least = match handed_out {
            HandedOut::Nothing => 100.0 * self.options.lime.min_imbalance,
            _ => GRAIN_PERCENT,
        };
        let found = if all > 0.0 && lost.imbalance_percent < least {
            Found { reason: Some(Reason::Balanced), ..Found::default() }
        } else {
            self.causes(instances, &dependents, by)
        };
        let same = instances.iter().all(|i| i.parts.iter().map(|p| p.thread).eq(team.iter().copied()));
        let (by_region, vectors) = self.by_region(instances, threads);
        let alone = |values: &[f64]| values.iter().map(|&v| vec![v]).collect();
        let vectors = if by_region.is_empty() || by != self.dependent { alone(&sums.values) } else { vectors };
        let place = if begin.line == 0 { end } else { begin };
        Section {
            file: place.file.clone(),
            line: known(place.line),
            function: place.function.clone(),
            end_file: end.file.clone(),
            end_line: known(end.line),
            kind,
            runs: group
                .runs
                .iter()
                .map(|&region| self.observed.regions[region as usize].name.as_str().into())
                .collect(),
            encloses: false,
            holds: Vec::new(),
            instances: sums.weight.round() as u64,
            recorded: instances.len() as u64,
            threads,
            team: same.then_some(team),
            imbalance_percent: lost.imbalance_percent,
            imbalance_time: lost.imbalance_time * seconds,
            values: sums.values,
            cpu: sums.cpu,
            waited: sums.waited,
            kinds: members(&kinds(&vectors, TAU)),
            handed_out,
            uninstrumented: false,
            // What was dealt again is not what the threads came with.
            arrived_together: handed_out == HandedOut::Nothing && waiting.is_together(),
            taken: taken(self.observed, instances),
            reason: found.reason,
            predictors: found.predictors,
            pooled: found.pooled,
            causes: found.causes,
            regions: by_region,
        }
    }

    /// The instances that can be compared, and how many each stands for besides its own weight: of a section some of
    /// whose instances have counts those, if work is compared.
    fn comparable<'i>(&self, instances: &[&'i Instance<'a>], by: Dependent) -> (Vec<&'i Instance<'a>>, f64) {
        let counted = |i: &&&Instance| match by {
            Dependent::Counter(event) => i.parts.iter().all(|p| p.counter(event).is_some()),
            _ => i.parts.iter().all(|p| p.counted),
        };
        let kept: Vec<&Instance> = instances.iter().filter(counted).copied().collect();
        if by == Dependent::Time || kept.is_empty() {
            return (instances.to_vec(), 1.0);
        }
        let weight = |of: &[&Instance]| of.iter().map(|i| i.parts[0].weight).sum::<f64>();
        let factor = weight(instances) / weight(&kept);
        (kept, factor)
    }

    /// Shares of the regions in the work, most first, and the work of each thread in each region.
    fn by_region(&self, instances: &[&Instance], threads: usize) -> (Vec<Share>, Vec<Vec<f64>>) {
        let mut work: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for instance in instances {
            let weight = instance.parts[0].weight;
            for (thread, executions) in instance.executions.iter().enumerate() {
                for &(block, count) in executions {
                    let region = self.observed.blocks[block as usize].region;
                    work.entry(region).or_insert_with(|| vec![0.0; threads])[thread] +=
                        weight * count as f64 * self.observed.instructions(block) as f64;
                }
            }
        }
        let all: f64 = work.values().flatten().sum();
        let mut shares: Vec<Share> = work
            .iter()
            .map(|(&region, by_thread)| Share { region, share: by_thread.iter().sum::<f64>() / all })
            .filter(|share| share.share > 0.0)
            .collect();
        shares.sort_by(|a, b| b.share.total_cmp(&a.share));
        let vectors = (0..threads).map(|t| work.values().map(|by_thread| by_thread[t]).collect()).collect();
        (shares, vectors)
    }

    fn causes(&self, instances: &[&Instance], dependents: &[Vec<f64>], by: Dependent) -> Found {
        let nothing = |p: &&Part| p.edges.is_empty() && p.events.is_empty() && self.counted(&[p], by).is_empty();
        if instances.iter().all(|i| i.parts.iter().all(nothing)) {
            return Found::default();
        }
        let mut places = Places::default();
        let threads = instances.iter().map(|i| i.parts.len()).max().unwrap_or(0);
        let (analyses, pooled) = if threads < lime::MIN_THREADS {
            (vec![self.pooled(instances, dependents, by)], true)
        } else {
            let one = |(i, d): (&&Instance, &Vec<f64>)| {
                let (section, events) = self.lime(&[*i], std::slice::from_ref(d), by).remove(0);
                let analysis = lime::analyse(&section, &self.options.lime);
                let leads = leads(self.observed, &self.graph, &analysis, std::slice::from_ref(&section));
                Analysed { analysis, events, leads }
            };
            (instances.iter().zip(dependents).map(one).collect(), false)
        };
        let located: Vec<Vec<lime::Cause>> = analyses
            .iter()
            .map(|analysed| {
                let locate = |c: &lime::Cause| {
                    let (spot, event) = self.spot(c, &analysed.events, instances[0].parts[0]);
                    lime::Cause { location: places.number(c.kind, spot, event), ..c.clone() }
                };
                analysed.analysis.causes.iter().map(locate).collect()
            })
            .collect();
        // Pooled, the weights and the counts of the single instances are gone: they are one.
        let unit = [0.0, 1.0];
        let times: Vec<Vec<f64>> = match pooled {
            true => vec![unit.to_vec()],
            false => {
                let weigh = |(i, d): (&&Instance, &Vec<f64>)| d.iter().map(|x| x * i.parts[0].weight).collect();
                instances.iter().zip(dependents).map(weigh).collect()
            }
        };
        let combined: Vec<lime::Instance> =
            located.iter().zip(&times).map(|(causes, times)| lime::Instance { times, causes }).collect();
        let combined: Vec<lime::Combined> = lime::combine(&combined).into_iter().filter(|c| c.score > 0.0).collect();
        let told: Vec<Vec<Told>> = located
            .iter()
            .zip(&analyses)
            .map(|(causes, analysed)| causes.iter().zip(&analysed.leads).map(|(c, &l)| Told::new(c, l)).collect())
            .collect();
        let causes = groups::groups(&combined, &told).into_iter().map(|group| {
            let c = &combined[group.lead];
            let (_, spot, event) = places.get(c.location);
            let alike = |&other: &usize| {
                let (_, spot, _) = places.get(combined[other].location);
                let (file, function) = (spot.file.clone(), spot.function.clone());
                Alike { file, line: known(spot.line), function, score: combined[other].score }
            };
            Cause {
                kind: match *event {
                    "" => "control-flow",
                    FIRST_LEVEL_MISS | LAST_LEVEL_MISS => "cache-miss",
                    _ => "counter",
                },
                event,
                file: spot.file.clone(),
                line: known(spot.line),
                function: spot.function.clone(),
                score: c.score,
                p: c.p,
                counts: c.counts.clone(),
                alike: group.others.iter().map(alike).collect(),
            }
        });
        let sought = analyses.iter().any(|a| a.analysis.reason.is_none());
        Found {
            causes: causes.collect(),
            reason: analyses.iter().find_map(|a| a.analysis.reason).filter(|_| !sought),
            predictors: analyses.iter().map(|a| a.analysis.clusters.len()).max().unwrap_or(0),
            pooled,
        }
    }

    /// The analysis of all instances together. Its causes have counts by thread, summed over the instances.
    fn pooled(&self, instances: &[&Instance], dependents: &[Vec<f64>], by: Dependent) -> Analysed {
        // Instances of one team size only: a missing thread is not one that did nothing.
        let threads = instances.iter().map(|i| i.parts.len()).max().unwrap_or(0);
        let (same, values): (Vec<&Instance>, Vec<Vec<f64>>) = instances
            .iter()
            .zip(dependents)
            .filter(|(i, _)| i.parts.len() == threads)
            .map(|(i, d)| (*i, d.clone()))
            .unzip();
        let made = self.lime(&same, &values, by);
        let events = made.first().map(|(_, nodes)| nodes.clone()).unwrap_or_default();
        let sections: Vec<lime::Section> = made.into_iter().map(|(section, _)| section).collect();
        let analysis = lime::analyse_pooled(&sections, &self.options.lime);
        let mut analysis = analysis.expect("all instances were given the events of all");
        for cause in &mut analysis.causes {
            cause.counts = unpooled(&sections, cause, threads);
        }
        let leads = leads(self.observed, &self.graph, &analysis, &sections);
        Analysed { analysis, events, leads }
    }

    /// LIME's input for these instances, with the same events in each, and what its hardware events are.
    fn lime(
        &self,
        instances: &[&Instance],
        dependents: &[Vec<f64>],
        by: Dependent,
    ) -> Vec<(lime::Section, Vec<HardwareOf>)> {
        let taken: Vec<&Sparse> = instances.iter().flat_map(|i| i.parts.iter().map(|p| &p.edges)).collect();
        let edges = self.graph.counted(self.observed, &taken);
        let hardware = hardware(instances);
        let parts: Vec<&Part> = instances.iter().flat_map(|i| i.parts.iter().copied()).collect();
        let counted = self.counted(&parts, by);
        let modelled = hardware.keys().map(|&(site, kind)| HardwareOf::Site(site, kind));
        let events: Vec<HardwareOf> =
            modelled.chain(counted.iter().map(|(event, _)| HardwareOf::Section(*event))).collect();
        let mut first = 0;
        let mut made = Vec::new();
        for (instance, dependent) in instances.iter().zip(dependents) {
            let range = first..first + instance.parts.len();
            first = range.end;
            let edges = edges
                .iter()
                .map(|e| lime::Edge { from: e.from, to: e.to, back: e.back, counts: e.counts[range.clone()].to_vec() })
                .collect();
            let counts = |site: u32, kind: EventKind| Some(hardware.get(&(site, kind))?[range.clone()].to_vec());
            let event = |(id, &(site, kind)): (u32, &(u32, EventKind))| {
                let above = [EventKind::Access, EventKind::FirstLevelMiss].into_iter().filter(|above| *above < kind);
                let superiors = above.filter_map(|above| counts(site, above)).collect();
                HardwareEvent { id, counts: counts(site, kind).unwrap_or_default(), superiors }
            };
            // Accesses follow from the control flow; they explain misses and are no events of their own.
            let misses = (0u32..).zip(hardware.keys()).filter(|(_, (_, kind))| *kind != EventKind::Access);
            let of_sections = (hardware.len() as u32..).zip(&counted).map(|(id, (_, counts))| HardwareEvent {
                id,
                counts: counts[range.clone()].to_vec(),
                superiors: Vec::new(),
            });
            let hardware = misses.map(event).chain(of_sections).collect();
            made.push((lime::Section { dependent: dependent.clone(), edges, hardware }, events.clone()));
        }
        made
    }

    /// What the processor and the kernel counted that may explain the time of these parts.
    fn counted(&self, parts: &[&Part], by: Dependent) -> Vec<(CounterEvent, Vec<f64>)> {
        if by == Dependent::Time { counters::explaining(parts) } else { Vec::new() }
    }

    /// Where a cause is, and what the hardware event is called. What was counted for a section as a whole is where the
    /// section begins: `part` is one of it.
    fn spot(&self, cause: &lime::Cause, events: &[HardwareOf], part: &Part) -> (Spot, &'static str) {
        if cause.kind == lime::Kind::Hardware {
            return match events[cause.location as usize] {
                HardwareOf::Site(site, kind) => {
                    let name = if kind == EventKind::LastLevelMiss { LAST_LEVEL_MISS } else { FIRST_LEVEL_MISS };
                    (self.observed.sites[site as usize].at.clone(), name)
                }
                HardwareOf::Section(event) => {
                    let place = if part.begin.line == 0 { &part.end } else { &part.begin };
                    (place.clone(), event.name())
                }
            };
        }
        let spot = match self.graph.node(cause.location) {
            NodeOf::Block(block) | NodeOf::Latch(block) => self.branches.of(block),
            NodeOf::Callers(function) => self.branches.callers_of(function),
        };
        (spot, "")
    }
}

/// An analysis with what its hardware events are, and how much each of its causes leads.
struct Analysed {
    analysis: lime::Analysis,
    events: Vec<HardwareOf>,
    leads: Vec<f64>,
}

/// What a hardware event is of.
#[derive(Clone, Copy)]
enum HardwareOf {
    /// A modelled miss at a site.
    Site(u32, EventKind),
    /// What was counted in the section.
    Section(CounterEvent),
}

const FIRST_LEVEL_MISS: &str = "first-level miss";
const LAST_LEVEL_MISS: &str = "last-level miss";

#[derive(Default)]
struct Found {
    causes: Vec<Cause>,
    reason: Option<Reason>,
    predictors: usize,
    pooled: bool,
}

/// Sums over the instances of a section, each as often as it stands for others.
struct Sums {
    /// How many each stands for besides its weight.
    represented: f64,
    weight: f64,
    max: f64,
    mean: f64,
    values: Vec<f64>,
    cpu: Vec<f64>,
    waited: Vec<f64>,
}

impl Sums {
    fn new(threads: usize, represented: f64) -> Sums {
        let zero = vec![0.0; threads];
        Sums { represented, weight: 0.0, max: 0.0, mean: 0.0, values: zero.clone(), cpu: zero.clone(), waited: zero }
    }

    fn add(&mut self, instance: &Instance, dependent: &[f64]) {
        let weight = instance.parts[0].weight * self.represented;
        self.weight += weight;
        self.max += weight * dependent.iter().copied().fold(0.0, f64::max);
        self.mean += weight * dependent.iter().sum::<f64>() / dependent.len() as f64;
        for (rank, (part, value)) in instance.parts.iter().zip(dependent).enumerate() {
            self.values[rank] += weight * value;
            self.cpu[rank] += weight * part.cpu_ns as f64 * 1e-9;
            self.waited[rank] += weight * part.waited_ns as f64 * 1e-9;
        }
    }
}

/// Counts of a pooled cause as they were before each instance's mean was removed, by thread.
fn unpooled(sections: &[lime::Section], cause: &lime::Cause, threads: usize) -> Vec<f64> {
    let of = |section: &lime::Section, event: usize| -> Vec<f64> {
        let edges = section.edges.iter().map(|e| &e.counts);
        edges.chain(section.hardware.iter().map(|h| &h.counts)).nth(event).cloned().unwrap_or_default()
    };
    let is_it = |&event: &usize| {
        let pooled = sections.iter().flat_map(|s| centred(&of(s, event)));
        pooled.zip(&cause.counts).all(|(a, b)| a == *b)
    };
    let first = &sections[0];
    let candidates = first.edges.iter().map(|e| (lime::Kind::ControlFlow, e.from));
    let candidates = candidates.chain(first.hardware.iter().map(|h| (lime::Kind::Hardware, h.id))).enumerate();
    let here = candidates.filter(|(_, event)| *event == (cause.kind, cause.location)).map(|(index, _)| index);
    let mut sums = vec![0.0; threads];
    if let Some(event) = { here }.find(is_it) {
        for section in sections {
            sums.iter_mut().zip(of(section, event)).for_each(|(s, c)| *s += c);
        }
    }
    sums
}

/// Executed instructions, and what misses cost.
pub(super) fn work(observed: &Observed, executions: &[(u32, u64)], events: &[SiteEvent]) -> f64 {
    let of = |e: &SiteEvent| match e.kind {
        EventKind::Access => 0.0,
        EventKind::FirstLevelMiss => e.count as f64 * MISS_COST[0],
        EventKind::LastLevelMiss => e.count as f64 * MISS_COST[1],
    };
    observed.work(executions) + events.iter().map(of).sum::<f64>()
}

/// Counts at each site by kind, of the threads of all instances one after the other.
fn hardware(instances: &[&Instance]) -> BTreeMap<(u32, EventKind), Vec<f64>> {
    let parts: Vec<&Part> = instances.iter().flat_map(|i| i.parts.iter().copied()).collect();
    let mut counts: BTreeMap<(u32, EventKind), Vec<f64>> = BTreeMap::new();
    for (index, part) in parts.iter().enumerate() {
        for event in &part.events {
            let of = counts.entry((event.site, event.kind)).or_insert_with(|| vec![0.0; parts.len()]);
            of[index] += event.count as f64;
        }
    }
    counts
}
