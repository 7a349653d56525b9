//! From a profile to what was observed: numbers become places, counters become counts of all edges.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use threadtalk_abi::control::{call_flags, edge_flags};
use threadtalk_abi::module::{RegionKind, site_flags};
use threadtalk_profile::layout::{BlockedKind, CODE_SITE, CountKind, CounterEvent, InstanceKind, LevelKind};
use threadtalk_profile::{Count, Event, Module, Profile, Site};

use super::super::flow::Flow;
use super::super::pbv::{Category, Contents};
use super::communication;
use super::joined::{self, Recorded};
use super::observed::*;
use crate::callers::Callers;
use crate::model::Position;
use crate::regions::{self, Tree, demangle};

/// Key of a profile's notes under which the runtime says how it counted threads.
const PARALLELISM: &str = "option.parallelism";

impl Observed {
    /// What a profile tells of imbalance.
    pub fn of(profile: &Profile) -> Observed {
        let tree = regions::merge(profile);
        let mut graph = Graph::new(profile, &tree);
        let mut sites = Sites::new(profile, &tree);
        let mut rows = Rows::default();
        for count in profile.counts() {
            rows.add(count, &mut sites);
        }
        let mut observed = Observed {
            threads: threads(profile),
            regions: tree.nodes.iter().map(region).collect(),
            functions: std::mem::take(&mut graph.functions),
            blocks: std::mem::take(&mut graph.blocks),
            edges: std::mem::take(&mut graph.edges),
            calls: std::mem::take(&mut graph.calls),
            counting: counting(profile),
            events: rows.events,
            counters: rows.counters.iter().map(|(&(thread, event), &count)| (thread, event, count)).collect(),
            nodes: nodes(profile, &tree),
            visits: profile.visits().map(|v| (v.thread, tree.node(v.region), v.count)).collect(),
            communication: communication::sums(profile, &tree),
            counters_of_work: counters_of_work(profile, &sites),
            levels: levels(profile),
            ..Observed::default()
        };
        let complete = |counters: &BTreeMap<u32, u64>| graph.complete(counters, &observed.edges);
        let executions = |counters: &BTreeMap<u32, u64>| observed.executions(&complete(counters));
        let none = BTreeMap::new();
        let by_thread = observed.threads.iter().map(|t| executions(rows.by_thread.get(t).unwrap_or(&none))).collect();
        let by_level =
            rows.by_level.iter().map(|(&level, counters)| (u32::from(level), executions(counters))).collect();
        let (pieces, recorded): (Vec<Recorded>, Vec<Recorded>) = profile
            .instances()
            .map(|i| {
                let number = (i.number, i.thread);
                let part = Part {
                    thread: i.thread,
                    kind: instance_kind(i.kind),
                    begin: sites.spot(i.begin_site),
                    end: sites.spot(i.end_site),
                    instance: (i.key, i.ordinal),
                    cpu_ns: i.cpu_ns,
                    begin_ns: i.begin_ns,
                    wall_ns: i.arrive_ns - i.begin_ns,
                    waited_ns: i.release_ns - i.arrive_ns,
                    weight: i.weight as f64,
                    creator: i.is_primary(),
                    last: false,
                    counted: i.is_counted(),
                    handed_out: if i.is_untold() { HandedOut::Partly } else { HandedOut::Nothing },
                    edges: rows.by_part.get(&number).map(&complete).unwrap_or_default(),
                    events: rows.part_events.remove(&number).unwrap_or_default(),
                    counters: rows.part_counters.remove(&number).unwrap_or_default().into_iter().collect(),
                };
                Recorded { part, last: i.is_last(), resumed: i.is_resumed() }
            })
            .partition(|recorded| recorded.part.kind == PIECE);
        let waits = profile
            .blocked()
            .map(|b| Wait {
                thread: b.thread,
                at: sites.spot(b.site),
                kind: blocked_kind(b.kind),
                count: b.count,
                wall_ns: b.wall_ns,
            })
            .collect();
        (observed.by_thread, observed.by_level, observed.waits) = (by_thread, by_level, waits);
        let creators = profile.threads().iter().filter_map(|t| Some((t.id, t.creator?))).collect();
        observed.parts = joined::parts(recorded, &creators);
        observed.pieces = pieces.into_iter().map(|recorded| recorded.part).collect();
        observed.sites = sites.of_events;
        observed
    }
}

fn region(node: &regions::Node) -> RegionOf {
    let at = Position::new(&node.file, node.line);
    let name = demangle(&node.name).unwrap_or_else(|| node.name.to_string());
    RegionOf { kind: node.kind, name, at, parent: node.parent }
}

fn threads(profile: &Profile) -> Vec<u32> {
    let mut ids: BTreeSet<u32> = profile.threads().iter().map(|t| t.id).collect();
    ids.extend(profile.counts().map(|c| c.thread));
    ids.extend(profile.nodes().map(|n| n.thread));
    ids.extend(profile.instances().map(|i| i.thread));
    ids.into_iter().collect()
}

fn nodes(profile: &Profile, tree: &Tree) -> Vec<Node> {
    profile
        .nodes()
        .map(|n| Node {
            thread: n.thread,
            id: n.id,
            parent: n.parent.unwrap_or(0),
            region: tree.node(n.region),
            visits: n.visits,
            wall_ns: n.wall_ns,
            cpu_ns: n.cpu_ns,
        })
        .collect()
}

/// Counters of which a thread has read what another one left. Before its first iteration a loop may read its counter in
/// a place of its own, by which no loop ends: there the line tells.
fn counters_of_work(profile: &Profile, sites: &Sites) -> Vec<SiteOf> {
    let takes = |of: &Site| of.flags & site_flags::TAKES != 0;
    // A profile may have a million events.
    if !profile.modules().iter().any(|module| module.sites.iter().any(takes)) {
        return Vec::new();
    }
    let counter = |e: Event| {
        let writer = profile.site(e.writer_site).filter(|site| takes(site))?;
        let reader = profile.site(e.reader_site)?;
        let is_beside = || (reader.line, &reader.file) == (writer.line, &writer.file);
        if takes(reader) { Some(e.reader_site) } else { is_beside().then_some(e.writer_site) }
    };
    let ids: BTreeSet<u32> = profile.events().filter(|e| e.raw > 0 && !e.is_serial()).filter_map(counter).collect();
    let mut found: Vec<SiteOf> =
        ids.into_iter().map(|site| SiteOf { at: sites.spot(site), region: sites.region(site) }).collect();
    found.dedup();
    found
}

fn counting(profile: &Profile) -> Counting {
    match profile.meta().iter().find(|(key, _)| key.as_str() == PARALLELISM) {
        Some((_, value)) if value.as_str() == "effective" => Counting::Effective,
        _ => Counting::Nominal,
    }
}

fn levels(profile: &Profile) -> Vec<LevelTime> {
    let counting = |kind| if kind == LevelKind::Nominal { Counting::Nominal } else { Counting::Effective };
    profile.levels().map(|l| LevelTime { counting: counting(l.kind), threads: l.level, ns: l.ns }).collect()
}

/// Words of the interface.
fn instance_kind(kind: InstanceKind) -> &'static str {
    match kind {
        InstanceKind::Barrier => "barrier",
        InstanceKind::Join => "join",
        InstanceKind::OmpParallel => "omp_parallel",
        InstanceKind::OmpBarrier => "omp_barrier",
        InstanceKind::OmpFor => "omp_for",
        InstanceKind::OmpSections => "omp_sections",
        InstanceKind::OmpSingle => "omp_single",
        InstanceKind::Condition => "condition",
        InstanceKind::OmpPiece => PIECE,
    }
}

/// A wait in a loop of the program.
pub const SPIN: &str = "spin";

fn blocked_kind(kind: BlockedKind) -> &'static str {
    match kind {
        BlockedKind::Join => "join",
        BlockedKind::Mutex => "mutex",
        BlockedKind::RwLock => "rwlock",
        BlockedKind::Condition => "condition",
        BlockedKind::Barrier => "barrier",
        BlockedKind::Semaphore => "semaphore",
        BlockedKind::Sleep => "sleep",
        BlockedKind::Poll => "poll",
        BlockedKind::Read => "read",
        BlockedKind::Wait => "wait",
        BlockedKind::Futex => "futex",
        BlockedKind::OmpBarrier => "omp_barrier",
        BlockedKind::OmpTaskWait => "omp_taskwait",
        BlockedKind::OmpMutex => "omp_mutex",
        BlockedKind::OmpIdle => "omp_idle",
        BlockedKind::Spin => SPIN,
    }
}

/// Order of the numbers in a block's table ([`threadtalk_abi::control::CATEGORIES`]).
const CATEGORIES: [Category; threadtalk_abi::control::CATEGORIES] = [
    Category::Memory,
    Category::Address,
    Category::Integer,
    Category::FloatingPoint,
    Category::Comparison,
    Category::Conditional,
    Category::Unconditional,
    Category::Synchronisation,
];

/// The control flow graphs of all modules as one, and where their counters are.
#[derive(Default)]
struct Graph {
    functions: Vec<Function>,
    blocks: Vec<Block>,
    edges: Vec<FlowEdge>,
    calls: Vec<Call>,
    /// First edge of each function, and how its counts are completed.
    flows: Vec<(usize, usize, Flow)>,
    /// Global counter to function and edge within it.
    counters: HashMap<u32, (usize, usize)>,
}

impl Graph {
    fn new(profile: &Profile, tree: &Tree) -> Graph {
        let mut graph = Graph::default();
        let mut symbols: HashMap<Arc<str>, Vec<(usize, u32)>> = HashMap::new();
        for (number, module) in profile.modules().iter().enumerate() {
            for function in &module.functions {
                let symbol = &module.regions[function.region as usize].name;
                symbols.entry(Arc::clone(symbol)).or_default().push((number, graph.functions.len() as u32));
                graph.function(module, function, tree);
            }
        }
        let mut first = 0;
        for (number, module) in profile.modules().iter().enumerate() {
            for function in &module.functions {
                let of = |call: &threadtalk_profile::Call| {
                    Some(Call { block: first + call.block, line: call.line, callee: callee(&symbols, number, call)? })
                };
                graph.calls.extend(function.calls.iter().filter_map(of));
                first += function.blocks.len() as u32;
            }
        }
        graph
    }

    fn function(&mut self, module: &Module, function: &threadtalk_profile::Function, tree: &Tree) {
        let (number, first) = (self.functions.len(), self.blocks.len() as u32);
        let symbol = &module.regions[function.region as usize].name;
        let name = demangle(symbol).unwrap_or_else(|| symbol.to_string());
        self.functions.push(Function { name, entry: first });
        for block in &function.blocks {
            let instructions = CATEGORIES.into_iter().zip(block.opcodes).filter(|(_, n)| *n > 0);
            self.blocks.push(Block {
                function: number as u32,
                region: tree.node(module.bases.region_base + block.region),
                file: Some(Arc::clone(&block.file)).filter(|f| !f.is_empty()),
                line: block.line,
                end_line: block.end_line,
                contents: Contents {
                    instructions: instructions.map(|(category, n)| (category, u32::from(n))).collect(),
                    loads: u32::from(block.reads),
                    stores: u32::from(block.writes),
                },
            });
        }
        let ends: Vec<_> = function.edges.iter().map(|e| (e.from, e.to, e.counter.is_some())).collect();
        self.flows.push((self.edges.len(), ends.len(), Flow::new(function.blocks.len(), &ends)));
        for (index, edge) in function.edges.iter().enumerate() {
            let [from, to] = [edge.from, edge.to].map(|end| Some(first + end?));
            self.edges.push(FlowEdge { from, to, line: edge.line, back: edge.flags & edge_flags::BACK != 0 });
            if let Some(counter) = edge.counter {
                self.counters.insert(module.bases.counter_base + counter, (number, index));
            }
        }
    }

    /// Counts of all edges that were taken, from those of counters.
    fn complete(&self, counters: &BTreeMap<u32, u64>, edges: &[FlowEdge]) -> Sparse {
        let mut known: BTreeMap<usize, Vec<(usize, u64)>> = BTreeMap::new();
        for (counter, count) in counters {
            if let Some(&(function, edge)) = self.counters.get(counter) {
                known.entry(function).or_default().push((edge, *count));
            }
        }
        let mut all = Sparse::new();
        for (function, known) in known {
            let (first, length, flow) = &self.flows[function];
            debug_assert!(first + length <= edges.len());
            let mut counts = vec![0; *length];
            known.into_iter().for_each(|(edge, count)| counts[edge] = count);
            flow.complete(&mut counts);
            all.extend((*first as u32..).zip(counts).filter(|(_, count)| *count > 0));
        }
        all
    }
}

/// What a call calls, if it is in the profile or not known: a function of the same module before one of another, as
/// names of internal functions come more than once.
fn callee(
    symbols: &HashMap<Arc<str>, Vec<(usize, u32)>>,
    module: usize,
    call: &threadtalk_profile::Call,
) -> Option<Callee> {
    if call.flags & call_flags::INDIRECT != 0 {
        return Some(Callee::Unknown);
    }
    let candidates = symbols.get(&call.callee)?;
    let (_, function) = candidates.iter().find(|(m, _)| *m == module).or(candidates.first())?;
    let fork = call.flags & call_flags::FORK != 0;
    Some(if fork { Callee::Fork(*function) } else { Callee::Function(*function) })
}

/// Counter values of one thread, part or level.
type Counters = BTreeMap<u32, u64>;

/// Count records by what they belong to.
#[derive(Default)]
struct Rows {
    by_thread: BTreeMap<u32, Counters>,
    by_level: BTreeMap<u16, Counters>,
    by_part: BTreeMap<(u32, u32), Counters>,
    events: Vec<(u32, SiteEvent)>,
    part_events: BTreeMap<(u32, u32), Vec<SiteEvent>>,
    counters: BTreeMap<(u32, CounterEvent), u64>,
    part_counters: BTreeMap<(u32, u32), BTreeMap<CounterEvent, u64>>,
}

impl Rows {
    fn add(&mut self, count: Count, sites: &mut Sites) {
        let kind = match count.kind {
            CountKind::Edge => {
                let bump = |row: &mut Counters| {
                    let sum = row.entry(count.id).or_default();
                    *sum = sum.saturating_add(count.count);
                };
                if count.part != 0 {
                    return bump(self.by_part.entry((count.part, count.thread)).or_default());
                }
                bump(self.by_thread.entry(count.thread).or_default());
                return bump(self.by_level.entry(count.level).or_default());
            }
            CountKind::Counter => {
                let Some(event) = CounterEvent::from_number(count.id) else { return };
                let sum = match count.part {
                    0 => self.counters.entry((count.thread, event)).or_default(),
                    part => self.part_counters.entry((part, count.thread)).or_default().entry(event).or_default(),
                };
                *sum = sum.saturating_add(count.count);
                return;
            }
            CountKind::CacheAccess => EventKind::Access,
            CountKind::FirstLevelMiss => EventKind::FirstLevelMiss,
            CountKind::LastLevelMiss => EventKind::LastLevelMiss,
        };
        let event = SiteEvent { kind, site: sites.of_event(count.id), count: count.count };
        match count.part {
            0 => self.events.push((count.thread, event)),
            part => self.part_events.entry((part, count.thread)).or_default().push(event),
        }
    }
}

/// Places of sites.
struct Sites<'a> {
    profile: &'a Profile,
    tree: &'a Tree,
    callers: Callers,
    code: HashMap<u32, Spot>,
    of_events: Vec<SiteOf>,
    known: HashMap<(Spot, u32), u32>,
}

impl<'a> Sites<'a> {
    fn new(profile: &'a Profile, tree: &'a Tree) -> Sites<'a> {
        let code = profile.code().map(|c| {
            let file = c.file.rsplit('/').next().unwrap_or_default();
            let unnamed = c.function.is_empty();
            let function = if unnamed { format!("{file}+{:#x}", c.address) } else { c.function.clone() };
            let function = demangle(&function).unwrap_or(function).into();
            (
                c.site(),
                Spot { file: Some(c.file.as_str().into()).filter(|f: &Arc<str>| !f.is_empty()), line: 0, function },
            )
        });
        Sites {
            profile,
            tree,
            callers: Callers::of(profile),
            code: code.collect(),
            of_events: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// Number of the place of a site at which something was counted: several sites may be of one line.
    fn of_event(&mut self, site: u32) -> u32 {
        let (at, region) = (self.spot(site), self.region(site));
        *self.known.entry((at.clone(), region)).or_insert_with(|| {
            self.of_events.push(SiteOf { at, region });
            self.of_events.len() as u32 - 1
        })
    }

    fn spot(&self, site: u32) -> Spot {
        if site & CODE_SITE != 0 {
            return self.code.get(&site).cloned().unwrap_or_default();
        }
        let found = self.profile.module_of(site).and_then(|(module, place)| Some((module, module.sites.get(place)?)));
        let Some((module, of)) = found else { return Spot::default() };
        let mut region = &module.regions[of.region as usize];
        while region.kind != RegionKind::Function
            && let Some(parent) = region.parent
        {
            region = &module.regions[parent as usize];
        }
        let function = demangle(&region.name).map_or_else(|| Arc::clone(&region.name), Arc::from);
        let at = self.callers.only(module, of.region).cloned().unwrap_or_else(|| Position::new(&of.file, of.line));
        Spot { file: at.file, line: at.line.unwrap_or(0), function }
    }

    fn region(&self, site: u32) -> u32 {
        self.tree.of_site(self.profile, site).unwrap_or(regions::PROGRAM)
    }
}
