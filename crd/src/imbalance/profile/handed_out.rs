//! Work that OpenMP hands out to threads as they ask for it, dealt again.
//!
//! On a machine with fewer processors than the team has threads, those that run first take the chunks of a dynamic
//! loop, or the tasks, and the others get none. That is no imbalance of the program. What is: work that comes in pieces
//! too large to be shared out evenly. So the pieces are dealt in the order in which they were begun, each to the thread
//! that has least so far, which is the one that would ask next if each had a processor of its own (list scheduling;
//! Graham 1966). A thread begins with what was its own in any case.

use std::collections::{BTreeMap, HashMap};

use threadtalk_profile::layout::CounterEvent;

use super::model::Dependent;
use super::observed::{EventKind, HandedOut, Observed, Part, SiteEvent, Sparse};
use super::sections::work;

/// Records of several pieces are divided into as many equal ones, but into none of less than this share of what a
/// thread has in the mean: a tenth of the least imbalance that is looked into.
const FINE: f64 = 0.001;

/// What a thread has, or a piece gives.
#[derive(Clone, Default)]
struct Load {
    edges: BTreeMap<u32, u64>,
    events: BTreeMap<(u32, EventKind), u64>,
    counters: BTreeMap<CounterEvent, u64>,
    cpu_ns: u64,
}

impl Load {
    fn of(part: &Part) -> Load {
        let events = part.events.iter().map(|e| ((e.site, e.kind), e.count));
        Load {
            edges: part.edges.iter().copied().collect(),
            events: events.collect(),
            counters: part.counters.iter().copied().collect(),
            cpu_ns: part.cpu_ns,
        }
    }

    fn add(&mut self, other: &Load) {
        other.edges.iter().for_each(|(k, v)| *self.edges.entry(*k).or_default() += v);
        other.events.iter().for_each(|(k, v)| *self.events.entry(*k).or_default() += v);
        other.counters.iter().for_each(|(k, v)| *self.counters.entry(*k).or_default() += v);
        self.cpu_ns += other.cpu_ns;
    }

    fn take_away(&mut self, other: &Load) {
        fn less<K: Ord>(from: &mut BTreeMap<K, u64>, other: &BTreeMap<K, u64>) {
            from.iter_mut().for_each(|(k, v)| *v = v.saturating_sub(other.get(k).copied().unwrap_or(0)));
        }
        less(&mut self.edges, &other.edges);
        less(&mut self.events, &other.events);
        less(&mut self.counters, &other.counters);
        self.cpu_ns = self.cpu_ns.saturating_sub(other.cpu_ns);
    }

    /// One of `shares` equal parts; together they are the whole.
    fn share(&self, index: u64, shares: u64) -> Load {
        let cut = |whole: u64| {
            let upto = |i: u64| (u128::from(whole) * u128::from(i) / u128::from(shares)) as u64;
            upto(index + 1) - upto(index)
        };
        Load {
            edges: self.edges.iter().map(|(k, v)| (*k, cut(*v))).collect(),
            events: self.events.iter().map(|(k, v)| (*k, cut(*v))).collect(),
            counters: self.counters.iter().map(|(k, v)| (*k, cut(*v))).collect(),
            cpu_ns: cut(self.cpu_ns),
        }
    }

    fn size(&self, observed: &Observed, by: Dependent) -> f64 {
        match by {
            Dependent::Time => self.cpu_ns as f64,
            Dependent::Work => work(observed, &observed.executions(&self.edges()), &self.events()),
            Dependent::Counter(event) => self.counters.get(&event).map_or(0.0, |&count| count as f64),
        }
    }

    fn edges(&self) -> Sparse {
        self.edges.iter().map(|(k, v)| (*k, *v)).filter(|(_, v)| *v > 0).collect()
    }

    fn events(&self) -> Vec<SiteEvent> {
        let events = self.events.iter().map(|(&(site, kind), &count)| SiteEvent { kind, site, count });
        events.filter(|e| e.count > 0).collect()
    }
}

/// All parts, those of instances with pieces as if each thread had a processor.
pub fn parts(observed: &Observed, by: Dependent) -> Vec<Part> {
    let mut all = observed.parts.clone();
    let mut by_thread: HashMap<u32, Vec<&Part>> = HashMap::new();
    observed.pieces.iter().for_each(|p| by_thread.entry(p.thread).or_default().push(p));
    by_thread.values_mut().for_each(|pieces| pieces.sort_by_key(|p| p.begin_ns));
    let mut instances: BTreeMap<(&str, (u64, u64)), Vec<usize>> = BTreeMap::new();
    for (index, part) in observed.parts.iter().enumerate() {
        instances.entry((part.kind, part.instance)).or_default().push(index);
    }
    for of in instances.values().filter(|of| of.len() > 1) {
        let pieces: Vec<Vec<&Part>> = of.iter().map(|&i| inside(&all[i], &by_thread)).collect();
        if pieces.iter().any(|p| !p.is_empty()) {
            deal(observed, by, &mut all, of, &pieces);
        }
    }
    all
}

/// Of a chunk of a guided loop; else 0.
fn iterations(piece: &Part) -> u64 {
    piece.instance.1
}

/// Pieces of the part's region that its thread executed within it.
fn inside<'a>(part: &Part, by_thread: &HashMap<u32, Vec<&'a Part>>) -> Vec<&'a Part> {
    let of = by_thread.get(&part.thread).map_or(&[][..], Vec::as_slice);
    let from = &of[of.partition_point(|p| p.begin_ns < part.begin_ns)..];
    let end = part.begin_ns + part.wall_ns;
    let of_region = |p: &&Part| p.instance.0 == part.instance.0 && p.begin_ns + p.wall_ns <= end;
    from.iter().take_while(|p| p.begin_ns <= end).copied().filter(of_region).collect()
}

fn deal(observed: &Observed, by: Dependent, all: &mut [Part], of: &[usize], pieces: &[Vec<&Part>]) {
    let mut loads: Vec<Load> = of.iter().map(|&i| Load::of(&all[i])).collect();
    for (load, pieces) in loads.iter_mut().zip(pieces) {
        pieces.iter().for_each(|piece| load.take_away(&Load::of(piece)));
    }
    let partly = of.iter().any(|&i| all[i].handed_out == HandedOut::Partly);
    if partly {
        // Where pieces are missing there were thousands: whatever they were, they can be shared out evenly.
        let mut sum = Load::default();
        loads.iter().for_each(|load| sum.add(load));
        let threads = of.len() as u64;
        sum.edges.values_mut().for_each(|count| *count -= *count % threads);
        sum.events.values_mut().for_each(|count| *count -= *count % threads);
        sum.counters.values_mut().for_each(|count| *count -= *count % threads);
        loads.fill(sum.share(0, threads));
    }
    let mut sizes: Vec<f64> = loads.iter().map(|load| load.size(observed, by)).collect();
    let mut order: Vec<&Part> = pieces.iter().flatten().copied().collect();
    order.sort_by_key(|piece| (piece.begin_ns, piece.thread));
    // A thread may lose its processor between being given a chunk and the clock: of a guided loop, whose first chunks
    // are large, the sizes tell the order.
    for guided in order.chunk_by_mut(|a, b| iterations(a) > 0 && iterations(b) > 0) {
        guided.sort_by_key(|piece| std::cmp::Reverse(iterations(piece)));
    }
    let order: Vec<(Load, u64)> = order.into_iter().map(|p| (Load::of(p), p.weight as u64)).collect();
    let all_of_it = sizes.iter().copied().chain(order.iter().map(|(load, _)| load.size(observed, by))).sum::<f64>();
    let fine = FINE * all_of_it / of.len() as f64;
    for (whole, pieces) in order {
        let shares =
            if fine > 0.0 { ((whole.size(observed, by) / fine).ceil() as u64).clamp(1, pieces.max(1)) } else { 1 };
        for index in 0..shares {
            let share = whole.share(index, shares);
            let least = (0..sizes.len()).reduce(|a, b| if sizes[b] < sizes[a] { b } else { a }).unwrap_or(0);
            sizes[least] += share.size(observed, by);
            loads[least].add(&share);
        }
    }
    for (&index, load) in of.iter().zip(loads) {
        let part = &mut all[index];
        (part.edges, part.events, part.cpu_ns) = (load.edges(), load.events(), load.cpu_ns);
        part.counters = load.counters.into_iter().collect();
        part.handed_out = if partly { HandedOut::Partly } else { HandedOut::Wholly };
    }
}
