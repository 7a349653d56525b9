//! What a run left behind, in terms of the source: control flow graphs with their counts, instances of parallel
//! sections, times. The analysis knows nothing of how the profile stores it.

use std::sync::Arc;
use threadtalk_abi::module::RegionKind;
use threadtalk_profile::layout::CounterEvent;

use super::super::pbv::Contents;
use crate::model::Position;

/// Counts that are not zero, by ascending index.
pub type Sparse = Vec<(u32, u64)>;

/// Everything that the analysis of imbalance looks at. Threads are given by their logical ids.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Logical ids of all threads, ascending.
    pub threads: Vec<u32>,
    /// Regions, the program first, parents before children.
    pub regions: Vec<RegionOf>,
    /// Functions with control flow counters.
    pub functions: Vec<Function>,
    /// Basic blocks of all functions.
    pub blocks: Vec<Block>,
    /// Edges of all control flow graphs.
    pub edges: Vec<FlowEdge>,
    /// Calls in the blocks.
    pub calls: Vec<Call>,
    /// Executions of blocks by each of `threads`.
    pub by_thread: Vec<Sparse>,
    /// Executions of blocks while this many threads existed, by all threads together; ascending.
    pub by_level: Vec<(u32, Sparse)>,
    /// How `by_level` counted threads.
    pub counting: Counting,
    /// Executions of sections, one for each thread and instance.
    pub parts: Vec<Part>,
    /// Pieces of work that threads asked for, inside parts of theirs, whose counts include them.
    pub pieces: Vec<Part>,
    /// Where accesses are that a cache model or a counter counted.
    pub sites: Vec<SiteOf>,
    /// Such counts over the whole run: thread, site, count.
    pub events: Vec<(u32, SiteEvent)>,
    /// What the processor and the kernel counted for threads over the whole run: thread, event, count.
    pub counters: Vec<(u32, CounterEvent, u64)>,
    /// Call trees with times.
    pub nodes: Vec<Node>,
    /// How often threads entered regions: thread, region, count.
    pub visits: Vec<(u32, u32, u64)>,
    /// First reads of what others wrote, in the regions themselves: thread, region, count.
    pub communication: Vec<(u32, u32, u64)>,
    /// Counters that several threads added to and by which a loop of theirs ends: they take work from them.
    pub counters_of_work: Vec<SiteOf>,
    /// Calls in which threads waited.
    pub waits: Vec<Wait>,
    /// Time at each number of threads.
    pub levels: Vec<LevelTime>,
}

/// A region of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionOf {
    /// What it is.
    pub kind: RegionKind,
    /// Name for people.
    pub name: String,
    /// First line.
    pub at: Position,
    /// Enclosing region; none for the program.
    pub parent: Option<u32>,
}

/// A function with counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Name for people.
    pub name: String,
    /// Block at which it begins.
    pub entry: u32,
}

/// A basic block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Function.
    pub function: u32,
    /// Innermost region.
    pub region: u32,
    /// File; none if unknown.
    pub file: Option<Arc<str>>,
    /// First line; 0 = unknown.
    pub line: u32,
    /// Last line; 0 = unknown.
    pub end_line: u32,
    /// What one execution executes.
    pub contents: Contents,
}

impl Block {
    /// Whether it has a store and holds this line of this file.
    pub fn stores_at(&self, file: &Option<Arc<str>>, line: u32) -> bool {
        let lines = self.line..=self.end_line.max(self.line);
        self.contents.stores > 0 && self.file == *file && lines.contains(&line)
    }
}

/// An edge of a control flow graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowEdge {
    /// Block; none: the edge enters the function.
    pub from: Option<u32>,
    /// Block; none: the edge leaves the function.
    pub to: Option<u32>,
    /// Line of the branch; 0 = unknown.
    pub line: u32,
    /// Closes a loop.
    pub back: bool,
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Calling block.
    pub block: u32,
    /// Line; 0 = unknown.
    pub line: u32,
    /// What is called.
    pub callee: Callee,
}

/// What a call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// This function.
    Function(u32),
    /// This function, in threads that it creates.
    Fork(u32),
    /// What a pointer names.
    Unknown,
}

/// What the thread count of a block counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Counting {
    /// Threads that were created and have not ended.
    #[default]
    Nominal,
    /// Those of them that are not blocked.
    Effective,
}

/// One thread's part in one instance of a parallel section.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// Logical thread.
    pub thread: u32,
    /// What ends the section, in the words of the interface: `barrier`, `join`, `omp_parallel`, ...
    pub kind: &'static str,
    /// Where it begins.
    pub begin: Spot,
    /// Where it ends.
    pub end: Spot,
    /// Equal for all parts of an instance, together with `kind`: which one of the instances it is.
    pub instance: (u64, u64),
    /// CPU time from the beginning to the arrival at the end, in nanoseconds.
    pub cpu_ns: u64,
    /// When it begins, in nanoseconds after the start of the run.
    pub begin_ns: u64,
    /// Time from the beginning to the arrival, in nanoseconds.
    pub wall_ns: u64,
    /// Time from the arrival until the last one had arrived, in nanoseconds.
    pub waited_ns: u64,
    /// Instances that this one stands for; of a piece: how many pieces of the thread it is.
    pub weight: f64,
    /// The thread created the others and joins them.
    pub creator: bool,
    /// It begins at the last barrier of its threads, which end or are joined without meeting at another.
    pub last: bool,
    /// Its counts were recorded.
    pub counted: bool,
    /// Whether it has pieces of work that threads asked for.
    pub handed_out: HandedOut,
    /// Times that the thread took each edge.
    pub edges: Sparse,
    /// Accesses and misses.
    pub events: Vec<SiteEvent>,
    /// What the processor and the kernel counted, once each.
    pub counters: Vec<(CounterEvent, u64)>,
}

impl Part {
    /// What the processor or the kernel counted of this; none if it did not count.
    pub fn counter(&self, event: CounterEvent) -> Option<u64> {
        self.counters.iter().find(|(of, _)| *of == event).map(|(_, count)| *count)
    }
}

/// Work of a part that its thread had because it asked for it when it did: chunks of dynamic and guided loops, tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HandedOut {
    /// None.
    #[default]
    Nothing,
    /// Each piece is known.
    Wholly,
    /// There were more pieces than are recorded.
    Partly,
}

/// [`Part::kind`] of a piece of work.
pub const PIECE: &str = "omp_piece";

/// A place in the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot {
    /// File; none if unknown.
    pub file: Option<Arc<str>>,
    /// Line; 0 = unknown.
    pub line: u32,
    /// Function, for people; empty if unknown.
    pub function: Arc<str>,
}

/// An access in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteOf {
    /// Where it is.
    pub at: Spot,
    /// Innermost region.
    pub region: u32,
}

/// A count at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteEvent {
    /// What was counted.
    pub kind: EventKind,
    /// Index in [`Observed::sites`].
    pub site: u32,
    /// How often.
    pub count: u64,
}

/// What is counted at sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// Accesses.
    Access,
    /// Those that missed the first level of cache.
    FirstLevelMiss,
    /// Those that missed the last level.
    LastLevelMiss,
}

/// A node of a thread's call tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Logical thread.
    pub thread: u32,
    /// Number within the thread, not 0.
    pub id: u32,
    /// Number of the enclosing node; 0 = none.
    pub parent: u32,
    /// Region.
    pub region: u32,
    /// Entries.
    pub visits: u64,
    /// Time with all that is called, in nanoseconds.
    pub wall_ns: u64,
    /// CPU time with all that is called, in nanoseconds.
    pub cpu_ns: u64,
}

/// A thread's waiting in one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Logical thread.
    pub thread: u32,
    /// The call.
    pub at: Spot,
    /// What it waited for, in the words of the interface.
    pub kind: &'static str,
    /// How often it had to wait.
    pub count: u64,
    /// How long in all, in nanoseconds.
    pub wall_ns: u64,
}

/// How long the program had so many threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelTime {
    /// What was counted.
    pub counting: Counting,
    /// Threads.
    pub threads: u32,
    /// Nanoseconds.
    pub ns: u64,
}

impl Observed {
    /// Whether the program was compiled with control flow counters.
    pub fn has_control(&self) -> bool {
        self.by_thread.iter().any(|blocks| !blocks.is_empty()) || self.parts.iter().any(|p| !p.edges.is_empty())
    }

    /// Whether the processor or the kernel counted this event in parallel sections.
    pub fn has_counter(&self, event: CounterEvent) -> bool {
        self.parts.iter().any(|part| part.counter(event).is_some())
    }

    /// Whether misses were counted.
    pub fn has_misses(&self) -> bool {
        let is_miss = |e: &SiteEvent| e.kind != EventKind::Access;
        self.events.iter().any(|(_, e)| is_miss(e)) || self.parts.iter().any(|p| p.events.iter().any(is_miss))
    }

    /// Executions of each block that ran, from counts of edges: those that lead into it.
    pub fn executions(&self, edges: &[(u32, u64)]) -> Sparse {
        let mut blocks: Sparse =
            edges.iter().filter_map(|&(edge, count)| Some((self.edges[edge as usize].to?, count))).collect();
        blocks.sort_unstable_by_key(|&(block, _)| block);
        blocks.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        blocks
    }

    /// Instructions of one execution of a block.
    pub fn instructions(&self, block: u32) -> u64 {
        self.blocks[block as usize].contents.instructions.values().map(|&n| u64::from(n)).sum()
    }

    /// Instructions that these executions of blocks executed.
    pub fn work(&self, executions: &[(u32, u64)]) -> f64 {
        executions.iter().map(|&(block, count)| count as f64 * self.instructions(block) as f64).sum()
    }
}
