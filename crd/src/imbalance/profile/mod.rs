//! A profile's imbalance: counts and times of a run ([`observed`]) joined to sections with their causes (`sections`),
//! regions and calls with CrayPat's metrics (`regions`), kinds of threads (`similar`) and parallel block vectors
//! (`parallelism`).

mod arrivals;
mod communication;
mod counters;
mod graph;
mod groups;
mod handed_out;
mod inside;
mod instances;
mod joined;
mod leads;
pub mod model;
pub mod observed;
mod parallelism;
mod places;
mod read;
mod regions;
mod roles;
mod sections;
mod similar;
mod taken;
mod teams;
mod uninstrumented;

use std::collections::{BTreeMap, BTreeSet};
use threadtalk_profile::Profile;

pub use graph::{CallFlow, Counted, NodeOf};
pub use parallelism::{Folded, fold};
pub use regions::METRICS;
pub use similar::MOST_THREADS;

use super::lime;
use model::{Dependent, Imbalance, SCHEMA, Section, Wait, known};
use observed::{Observed, Spot};
use sections::Sections;

/// What a miss of the first and of the last level of a modelled cache costs beside the instruction that has it, in
/// instructions: the latencies of a second level and of memory in cycles, rounded to powers of ten.
pub const MISS_COST: [f64; 2] = [10.0, 100.0];

/// How to analyse.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// What to explain; none = work if control flow was counted, else time.
    pub dependent: Option<Dependent>,
    /// LIME's choices.
    pub lime: lime::Options,
}

/// Analyses what was observed.
pub fn analyse(observed: &Observed, options: &Options) -> Imbalance {
    let control_flow = observed.has_control();
    let dependent = match options.dependent {
        Some(Dependent::Work) | None if control_flow => Dependent::Work,
        Some(Dependent::Counter(event)) if observed.has_counter(event) => Dependent::Counter(event),
        _ => Dependent::Time,
    };
    let parts = handed_out::parts(observed, dependent);
    let sections = Sections::new(observed, &parts, options, dependent);
    let team: BTreeSet<u32> = sections.team();
    let merged = regions::merged(observed);
    Imbalance {
        schema: SCHEMA,
        dependent,
        miss_cost: (dependent == Dependent::Work && observed.has_misses()).then_some(MISS_COST),
        control_flow,
        sections: sections.analyse(),
        regions: regions::regions(observed, &team),
        calls: regions::calls(&merged, &team),
        similarity: similar::similarity(observed, &merged, &team),
        parallelism: parallelism::parallelism(observed),
        waits: waits(observed),
        counters: counters::figures(observed),
        counted_share: counters::share(observed),
    }
}

/// Only the parallel sections of a profile, those with the most imbalance time first; none if control flow was not
/// counted.
pub fn sections(profile: &Profile) -> Option<Vec<Section>> {
    if profile.modules().iter().all(|module| module.functions.is_empty()) {
        return None;
    }
    let (observed, options) = (Observed::of(profile), Options::default());
    if !observed.has_control() {
        return None;
    }
    let parts = handed_out::parts(&observed, Dependent::Work);
    Some(Sections::new(&observed, &parts, &options, Dependent::Work).analyse())
}

fn waits(observed: &Observed) -> Vec<Wait> {
    let mut sums: BTreeMap<(&'static str, &Spot), (u64, u64, BTreeSet<u32>)> = BTreeMap::new();
    for wait in &observed.waits {
        let sum = sums.entry((wait.kind, &wait.at)).or_default();
        sum.0 += wait.count;
        sum.1 += wait.wall_ns;
        sum.2.insert(wait.thread);
    }
    let wait = |((kind, at), (count, ns, threads)): ((&'static str, &Spot), (u64, u64, BTreeSet<u32>))| Wait {
        kind,
        file: at.file.clone(),
        line: known(at.line),
        function: at.function.clone(),
        count,
        seconds: ns as f64 * 1e-9,
        threads: threads.into_iter().collect(),
    };
    let mut waits: Vec<Wait> = sums.into_iter().map(wait).collect();
    waits.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    waits
}
