//! What the analysis of imbalance gives. Serialised by `serde_json` it has the shape `threadtalk.imbalance/1`.

use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::Arc;
use threadtalk_profile::layout::CounterEvent;

use super::super::craypat::{self, Spread};
use super::super::lime;
use super::super::pbv::{Category, Class, Mix, Point};
use super::super::similarity::ccr::CriticalRegion;
use super::super::similarity::{DecisionTable, Reducts};
use super::observed::{Counting, HandedOut};

/// Value of [`Imbalance::schema`].
pub const SCHEMA: &str = "threadtalk.imbalance/1";

/// What is explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependent {
    /// Executed instructions, and what the misses of a modelled cache cost.
    Work,
    /// CPU time.
    Time,
    /// What the processor or the kernel counted.
    Counter(CounterEvent),
}

impl Serialize for Dependent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Dependent::Work => "work",
            Dependent::Time => "time",
            Dependent::Counter(event) => event.name(),
        })
    }
}

/// The whole result. Threads are logical ids.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Imbalance {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What the sections' imbalance is of.
    pub dependent: Dependent,
    /// What a miss counts as work, in instructions: first level, last level; none if no cache was modelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub miss_cost: Option<[f64; 2]>,
    /// Control flow was counted: without it sections have no causes and blocks are not listed.
    pub control_flow: bool,
    /// Parallel sections, those with the most imbalance time first.
    pub sections: Vec<Section>,
    /// Regions in which something was measured, by number.
    pub regions: Vec<Region>,
    /// Call trees of all threads as one.
    pub calls: Vec<CallNode>,
    /// Kinds of threads over the whole program; none for fewer than two threads in sections, and without times.
    pub similarity: Option<Similarity>,
    /// Parallel block vectors; none without control flow.
    pub parallelism: Option<Parallelism>,
    /// Where threads waited, longest first.
    pub waits: Vec<Wait>,
    /// What the processor and the kernel counted over the whole run, of each thread: by the name of the event.
    #[serde(skip_serializing_if = "Metrics::is_empty")]
    pub counters: Metrics,
    /// The share of the time in which they were counted, if there were too few counters for all of it: counts are
    /// scaled up to all of the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_share: Option<f64>,
}

/// A parallel section: all its instances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Section {
    /// File of the place where it begins.
    pub file: Option<Arc<str>>,
    /// Line of that place.
    pub line: Option<u32>,
    /// Function of that place; empty if unknown.
    pub function: Arc<str>,
    /// File of the place where it ends.
    pub end_file: Option<Arc<str>>,
    /// Line of that place.
    pub end_line: Option<u32>,
    /// What ends it.
    pub kind: &'static str,
    /// What its threads run, where others that were made at the same place run something else; else empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Arc<str>>,
    /// It holds others: threads waited for each other inside, too, so that parts of what it could save are theirs, and
    /// what one phase has too much another may have too little.
    pub encloses: bool,
    /// Those others, by their places in [`Imbalance::sections`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<usize>,
    /// Times that it was executed.
    pub instances: u64,
    /// Of these, recorded in full; the others are represented by them.
    pub recorded: u64,
    /// Threads of an instance, the most of any.
    pub threads: usize,
    /// Who they are; none if instances had different ones: then vectors are by rank in the instance.
    pub team: Option<Vec<u32>>,
    /// Equation 1 of DeRose et al. from the sums of maxima and means over the instances.
    pub imbalance_percent: f64,
    /// Seconds that perfect balance could save: maximum less mean, summed over the instances. Work is turned into time
    /// by the section's own CPU time for each unit of work.
    pub imbalance_time: f64,
    /// What [`Section::compared`] says, of each thread, over all instances.
    pub values: Vec<f64>,
    /// CPU seconds of each thread.
    pub cpu: Vec<f64>,
    /// Seconds that each thread waited at the end.
    pub waited: Vec<f64>,
    /// Threads that behave alike in it; indices into the vectors.
    pub kinds: Vec<Vec<usize>>,
    /// Whether work in it was handed out to threads as they asked for it. That work is in the vectors as if each thread
    /// had had a processor of its own, as which thread got it says nothing about the program.
    pub handed_out: HandedOut,
    /// Most of its time was taken by code that was not instrumented, of which executed instructions say nothing: CPU
    /// time is compared, in nanoseconds, although [`Imbalance::dependent`] is work.
    pub uninstrumented: bool,
    /// The threads came to the end together, although they did not do the same: nobody waited for who had more. So it
    /// is where each takes the next piece of work when it has finished one, or where who has more is faster.
    pub arrived_together: bool,
    /// The counter from which threads took its work.
    pub taken: Option<Taken>,
    /// Why no causes were sought.
    pub reason: Option<lime::Reason>,
    /// Predictors that a cause was chosen among: the most of any instance.
    pub predictors: usize,
    /// Instances of small teams were analysed together.
    pub pooled: bool,
    /// Causes by falling score.
    pub causes: Vec<Cause>,
    /// Regions that the section's work is in, most first.
    pub regions: Vec<Share>,
}

impl Section {
    /// Whether threads took work when they had finished some: who did more says nothing about the program then.
    pub fn is_taken(&self) -> bool {
        self.arrived_together || self.taken.is_some()
    }

    /// What of the threads is compared in it, where `all` is what the analysis compares.
    pub fn compared(&self, all: Dependent) -> Dependent {
        if self.uninstrumented { Dependent::Time } else { all }
    }

    /// Whether several threads divide it among themselves without meeting inside.
    pub fn is_divided(&self) -> bool {
        !self.encloses && self.threads > 1
    }

    /// Percent and seconds of imbalance that the program could do something about.
    pub fn avoidable(&self) -> (f64, f64) {
        if self.is_taken() { (0.0, 0.0) } else { (self.imbalance_percent, self.imbalance_time) }
    }
}

/// Sections that several threads divide among themselves without meeting inside, in the order of `sections`: together
/// they hold each part of the run at most once.
pub fn divided(sections: &[Section]) -> impl Iterator<Item = &Section> {
    sections.iter().filter(|section| section.is_divided())
}

/// Of these, the one with most to save, work that threads took left out.
pub fn most_to_save(sections: &[Section]) -> Option<&Section> {
    divided(sections).find(|section| !section.is_taken())
}

/// Work that threads took piece by piece from a counter of the program's, so many pieces that who took how many is up
/// to the scheduler.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Taken {
    /// File of the line that adds to the counter.
    pub file: Option<Arc<str>>,
    /// Its line.
    pub line: Option<u32>,
    /// Pieces, of all threads and instances.
    pub pieces: u64,
}

/// A region's part of a section.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Region.
    pub region: u32,
    /// Its share of the section's executed instructions, without regions inside, 0 to 1.
    pub share: f64,
}

/// What makes some threads of a section slower.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cause {
    /// `control-flow`, `cache-miss`, or `counter`: what was counted for the section as a whole.
    pub kind: &'static str,
    /// The hardware event in words; empty for control flow.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub event: &'static str,
    /// File.
    pub file: Option<Arc<str>>,
    /// Line.
    pub line: Option<u32>,
    /// Function.
    pub function: Arc<str>,
    /// About the share of the imbalance that it explains (Oh et al., equation 2).
    pub score: f64,
    /// Probability that it came in by chance: the least of the instances.
    pub p: f64,
    /// How often each thread went that way, or had the event, summed over the recorded instances.
    pub counts: Vec<f64>,
    /// Other branches that the same threads take as often, so that counts cannot tell which of them it is: this one
    /// leads most of what takes the time. By falling score.
    pub alike: Vec<Alike>,
}

/// A branch that cannot be told apart from a cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alike {
    /// File.
    pub file: Option<Arc<str>>,
    /// Line.
    pub line: Option<u32>,
    /// Function.
    pub function: Arc<str>,
    /// Its own score.
    pub score: f64,
}

impl Cause {
    /// Whether the paper would report it.
    pub fn important(&self) -> bool {
        self.score > lime::IMPORTANT
    }
}

/// A metric over the threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Threads counted.
    pub threads: usize,
    /// Spread, its threads as logical ids.
    #[serde(flatten)]
    pub spread: Spread,
    /// Value of each of the region's threads.
    #[serde(skip)]
    pub values: Vec<f64>,
}

impl Figures {
    /// Of one value for each of `threads`; none for no thread.
    pub fn new(values: Vec<f64>, threads: &[u32]) -> Option<Figures> {
        let spread = craypat::spread(&values)?;
        let id = |index: usize| threads[index] as usize;
        let spread = Spread {
            min_thread: id(spread.min_thread),
            median_thread: id(spread.median_thread),
            max_thread: id(spread.max_thread),
            ..spread
        };
        Some(Figures { threads: values.len(), spread, values })
    }
}

/// Metrics by name.
pub type Metrics = BTreeMap<&'static str, Figures>;

/// A region of the source.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Region {
    /// Number, as in `threadtalk.report/1`.
    pub id: u32,
    /// What it is.
    pub kind: &'static str,
    /// Name.
    pub name: String,
    /// File.
    pub file: Option<Arc<str>>,
    /// First line.
    pub line: Option<u32>,
    /// Enclosing region.
    pub parent: Option<u32>,
    /// Threads that count: those of parallel sections, and those seen in the region; values of absent ones are 0.
    pub team: Vec<u32>,
    /// In the region itself: not in what it calls, nor in regions inside it.
    pub exclusive: Metrics,
    /// With the regions inside it in the source.
    pub inclusive: Metrics,
}

/// A node of the call tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallNode {
    /// Index of the caller in the list; none = a thread begins here.
    pub parent: Option<usize>,
    /// Region.
    pub region: u32,
    /// Threads that count.
    pub team: Vec<u32>,
    /// Time, CPU time and calls in the node itself.
    pub exclusive: Metrics,
    /// Time and CPU time with all that is called from it.
    pub inclusive: Metrics,
}

/// Kinds of threads (Liu et al.).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Similarity {
    /// What the threads' vectors hold: `cpu` or `work` of each region.
    pub by: &'static str,
    /// S; none if a thread's vector is zero and others' are not.
    pub severity: Option<f64>,
    /// Threads of each kind.
    pub kinds: Vec<Vec<u32>>,
    /// Critical regions, each before those inside it.
    pub ccr: Vec<CriticalRegion>,
    /// Sets of regions that are critical only together.
    pub groups: Vec<Vec<usize>>,
    /// Cores of critical regions.
    pub cccr: Vec<usize>,
    /// Their metrics as kinds, by thread.
    pub decision_table: DecisionTable,
    /// Metrics that were left out: only so many can be reduced.
    pub left_out: Vec<String>,
    /// Threads that were not compared, those that did least: only so many can be.
    pub not_compared: usize,
    /// Attributes that tell the kinds apart.
    #[serde(flatten)]
    pub reducts: Reducts,
}

/// Parallel block vectors (Kambadur et al.).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Parallelism {
    /// What was counted.
    pub counting: Counting,
    /// Blocks of all instrumented functions.
    pub blocks: Vec<BlockRow>,
    /// Share of each category in what each class executes.
    pub opcode_mix: BTreeMap<Class, BTreeMap<Category, f64>>,
    /// Blocks, executions, loads and stores of each class.
    pub classes: BTreeMap<Class, Mix>,
    /// Regions that nearly always run serially, or nearly always not.
    pub anomalous: Vec<AnomalousRegion>,
    /// Coverage of the executions by the hottest blocks: `serial` with one thread, `parallel` with more.
    pub hot_spots: BTreeMap<&'static str, Vec<Point>>,
    /// Mean number of threads over all executed instructions; none if nothing was executed.
    pub average_degree: Option<f64>,
    /// Seconds at each number of threads, by how they are counted.
    pub time: BTreeMap<&'static str, BTreeMap<u32, f64>>,
}

/// A block and its vector.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockRow {
    /// Function.
    pub function: String,
    /// File.
    pub file: Option<Arc<str>>,
    /// First line.
    pub line: Option<u32>,
    /// Last line.
    pub end_line: Option<u32>,
    /// Innermost region.
    pub region: u32,
    /// Class.
    pub class: Class,
    /// Executions at each number of threads, from 1.
    pub counts: Vec<u64>,
    /// Mean number of threads.
    pub average_degree: Option<f64>,
}

/// A region with rare executions of the other class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnomalousRegion {
    /// Region.
    pub region: u32,
    /// Name.
    pub name: String,
    /// File.
    pub file: Option<Arc<str>>,
    /// Line.
    pub line: Option<u32>,
    /// Executions of its blocks with one thread.
    pub serial: u64,
    /// With more.
    pub parallel: u64,
}

/// Waiting in one call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wait {
    /// For what.
    pub kind: &'static str,
    /// File of the call.
    pub file: Option<Arc<str>>,
    /// Its line.
    pub line: Option<u32>,
    /// Its function.
    pub function: Arc<str>,
    /// Times that threads waited.
    pub count: u64,
    /// Seconds, of all threads together.
    pub seconds: f64,
    /// Threads that waited there.
    pub threads: Vec<u32>,
}

/// A line for a number that may be unknown.
pub(super) fn known(line: u32) -> Option<u32> {
    (line > 0).then_some(line)
}
