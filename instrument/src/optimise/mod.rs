//! Work that can be left out without changing a count. All of it is off with `opt=0`, and all but what is dropped in
//! functions beyond `inline_limit`; tests compare both.
//!
//! * [`own_reads`]: reads of what the same block has just written are own reads: no event, no code.
//! * [`overwritten`]: of several writes of the same bytes in a block only the first and the last one are seen.
//! * [`members`]: members of an object that one line accesses are at one site.
//! * [`neighbours`]: accesses of neighbouring addresses at one line are one.
//! * [`shared_translation`]: accesses near each other are translated by one look into the directory.
//! * [`memos`]: reads of a loop nest compare with the state that they saw last.
//! * [`bundles`]: reads of members of a structure are settled together.
//! * [`repeats`]: of what a block reads several times only the first read looks at the cells if the value is own.
//! * [`lanes`]: active lanes of masked accesses, gathers and scatters are asked at once.
//! * [`appends`]: writes that go on behind earlier ones have their next lines fetched.
//! * [`inductions`]: variables of loops with sequences are hidden from the code generator's loop optimisation.
//! * [`whole_loops`]: loops whose accesses are known before they run get a copy without hooks.
//! * [`searches`]: loops that end by what they find go on in such a copy.
//! * [`windows`]: what such loops of a nest have found out is looked up before they ask again.
//! * [`tiles`]: nests of such loops are described as a whole.
//!
//! All rest on one thing: in a program without data races, no other thread can touch the address between two accesses
//! unless something between them synchronises. Anything that could (calls, fences, atomic accesses) ends a [`segment`],
//! which else goes on behind conditions whose ways meet again ([`joins`]). [`places`] says which accesses of a segment
//! are at the same bytes.

pub mod appends;
pub mod bundles;
pub mod inductions;
mod joins;
pub mod lanes;
pub mod members;
pub mod memos;
pub mod neighbours;
pub mod nests;
pub mod overwritten;
pub mod own_reads;
pub mod places;
pub mod remainders;
pub mod repeats;
pub mod searches;
pub mod segment;
pub mod shared_translation;
pub mod tiles;
mod unrolled;
pub mod whole_loops;
pub mod windows;

use crate::access::{Event, Plan};
use crate::llvm::analysis::Analysis;
use crate::llvm::loops::Loops;
use crate::pure::PureFunctions;
use crate::tables::Tables;
use appends::Append;
use inductions::Induction;
use inkwell::module::Module;
use lanes::Lanes;
use repeats::Repeats;
use searches::Search;
use shared_translation::Sharing;
use std::collections::{HashMap, HashSet};
use whole_loops::Offer;

/// What the optimisations found for a plan.
#[derive(Default)]
pub struct Optimised<'ctx> {
    /// Where each event's translation comes from; empty: from itself.
    pub sharing: Vec<Sharing>,
    /// Loops with a copy without hooks.
    pub loops: Vec<Offer<'ctx>>,
    /// Loops that end by what they find, with such a copy.
    pub searches: Vec<Search<'ctx>>,
    /// Active lanes that are asked at once, by event.
    pub lanes: HashMap<usize, Lanes<'ctx>>,
    /// Nests that can be counted as a whole.
    pub nests: Vec<tiles::Tiled<'ctx>>,
    /// What the reads of loop nests remember; found when the loops have their copies.
    pub memos: memos::Memos<'ctx>,
    /// Reads that come again; found then, too.
    pub repeats: Repeats,
    /// Reads that are settled together; found then, too.
    pub bundles: bundles::Bundles<'ctx>,
    /// Writes that append, by event; found then, too.
    pub appends: HashMap<usize, Append>,
    /// Variables of loops with sequences; found then, too.
    pub inductions: Vec<Induction<'ctx>>,
    /// What was left out.
    pub dropped: Dropped,
    /// Number of accesses that became part of others.
    pub joined: usize,
}

impl Optimised<'_> {
    /// Events of nests that are counted as a whole: what is asked about these runs without them.
    fn in_nests(&self) -> HashSet<usize> {
        self.nests.iter().flat_map(|nest| nest.events.iter().copied()).collect()
    }

    /// Whether there are loops that ask, and so may rely on what is known of memory.
    pub fn asks(&self) -> bool {
        !self.loops.is_empty()
    }
}

/// Accesses of which nothing can be seen.
#[derive(Clone, Copy, Default)]
pub struct Dropped {
    /// Number of reads.
    pub reads: usize,
    /// Number of writes.
    pub writes: usize,
}

/// Drops accesses of which nothing can be seen. Comes before it is decided how much code the others are worth.
pub fn drop_idle(module: &Module<'_>, events: &mut Vec<Event<'_>>) -> Dropped {
    let reads = own_reads::run(module, events);
    Dropped { reads, writes: overwritten::run(module, events) }
}

/// Runs all others. `analysis`: of the function as it is now, if there is one.
pub fn run<'ctx>(
    plan: &mut Plan<'ctx>,
    analysis: Option<Analysis>,
    pure: &PureFunctions<'ctx>,
    tables: &mut Tables,
) -> Optimised<'ctx> {
    let mut analysis = analysis.unwrap_or_else(|| Analysis::of(plan.function));
    members::run(plan, &mut analysis, tables);
    // Before neighbours are joined: it describes instructions.
    let (loops, searches) = whole_loops::find(plan, &mut analysis, pure);
    let joined = neighbours::run(plan, &mut analysis, tables);
    let sharing = shared_translation::run(plan, &mut analysis);
    let nests = tiles::find(plan, &loops, &sharing, &mut analysis, pure);
    Optimised { sharing, loops, searches, nests, joined, lanes: lanes::find(plan), ..Optimised::default() }
}

/// What can be found when the loops have their copies, and when it is known of all functions what loops they have.
pub fn run_late<'ctx>(
    module: &Module<'ctx>,
    plan: &Plan<'ctx>,
    found: &mut Optimised<'ctx>,
    pure: &PureFunctions<'ctx>,
    tables: &Tables,
) {
    let loops = Loops::find(plan.function);
    found.memos = memos::find(plan, (&found.loops, &found.nests), &loops, pure);
    found.inductions = inductions::find(plan, &loops);
    found.appends = appends::find(module, plan, &loops);
    found.repeats = repeats::find(module, plan, found);
    found.bundles = bundles::find(module, plan, found, tables);
}
