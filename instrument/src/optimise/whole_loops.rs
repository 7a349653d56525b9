//! Finds innermost loops that the runtime can count as a whole, and gives each a copy without hooks.
//!
//! Such a loop has a known number of iterations and one way out, runs every one of its accesses in each iteration, at
//! addresses that move by a fixed stride, and contains nothing that synchronises or touches other memory. Whether the
//! copy runs is decided each time the loop is entered: see [`threadtalk_abi::loops`]. Where addresses or iterations
//! depend on memory that the loop might write, that is asked first. Where the way out is between two accesses, as
//! unrolling leaves it if the number of iterations is odd, whole iterations are counted, and behind the copy those of
//! the last one's accesses that it still came to have their sequences.
//!
//! Accesses at other addresses (*strays*: `count[key[i]]`) have their sequences in both copies, and so have affine ones
//! unless they never touch a granule that a stray does: each element's accesses keep their order. Types or objects say
//! so of whole granules (disjoint bytes may share one); and where all that a stray can reach is known before the loop,
//! as of a table that bytes are looked up in, that is asked there.

use super::nests::Nests;
use super::remainders;
use super::searches::{self, Search};
use super::segment::plain;
use super::unrolled;
use super::windows::{self, Group, LONGEST_ROW_STRIDE};
use crate::access::{Access, Action, Direction, Event, Plan, When};
use crate::llvm::analysis::Analysis;
use crate::llvm::ffi::{self, RawAffine, RawLoopAccess, RawLoopCopy};
use crate::llvm::loops::Loops;
use crate::llvm::{self};
use crate::pure::PureFunctions;
use crate::tables::SiteId;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::values::{AsValueRef, InstructionValue, IntValue, PointerValue};
use std::collections::HashMap;
use std::ptr;
use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::{self, MOST_ACCESSES, Order};
use threadtalk_abi::window::NUMBERS;

/// Bytes of what is read or written at the same place in each iteration.
const LONGEST_FIXED: u64 = 64;
/// Groups of all loops of a function that can be told apart.
const MOST_GROUPS: usize = NUMBERS as usize;

/// What one iteration accesses without a gap at one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strand {
    /// Read or write.
    pub direction: Direction,
    /// Where in the source.
    pub site: SiteId,
    /// The first access that moves in step with it.
    pub leader: usize,
    /// Distance from the address.
    pub first: i64,
    /// Bytes.
    pub bytes: u64,
    /// It consists of whole granules. Pieces of one granule are an event each, so that they cannot be joined.
    pub whole: bool,
    /// Its address is a multiple of its size.
    pub aligned: bool,
    /// Bytes of each access that was joined to it, unless all are whole granules.
    pub piece: u64,
    /// When in an iteration.
    pub order: Order,
    /// A read before all writes that may share a granule with it, of those that move in step.
    pub reads_first: bool,
}

/// An access of a loop, as it is known before the loop.
pub struct OfferedAccess<'ctx> {
    /// What it is.
    pub strand: Strand,
    /// Address in the first iteration, but for `strand.first`.
    pub address: PointerValue<'ctx>,
    /// Bytes between iterations.
    pub stride: IntValue<'ctx>,
}

/// A loop with its plain copy.
pub struct Offer<'ctx> {
    /// `br false, plain copy, loop`: the decision, yet to be made.
    pub branch: InstructionValue<'ctx>,
    /// How often the loop's body runs as a whole.
    pub iterations: IntValue<'ctx>,
    /// The loop writes nothing that the rest of this depends on, if that has to be asked. The plain copy reads it once
    /// only, so that it must not run otherwise.
    pub feasible: Option<IntValue<'ctx>>,
    /// Its accesses, those that move in step side by side.
    pub accesses: Vec<OfferedAccess<'ctx>>,
    /// It has others.
    pub strays: bool,
    /// It runs where the arrays of a vectorised loop overlap.
    pub overlapping: bool,
    /// The same in groups, if all of them can be found in windows.
    pub groups: Option<Vec<Group<'ctx>>>,
    /// Number of the first group in the function.
    pub number: usize,
    /// The call that asks, once it is there.
    pub question: Option<InstructionValue<'ctx>>,
}

/// Copies the loops of a function for which that is possible: those that are known before they run, and searches.
pub fn find<'ctx>(
    plan: &mut Plan<'ctx>,
    analysis: &mut Analysis,
    pure: &PureFunctions<'ctx>,
) -> (Vec<Offer<'ctx>>, Vec<Search<'ctx>>) {
    let loops = Loops::find(plan.function);
    let mut of_loop: HashMap<usize, Vec<&Event<'ctx>>> = HashMap::new();
    for event in &plan.events {
        if let Some(innermost) = event.inst.get_parent().and_then(|block| loops.innermost(block)) {
            of_loop.entry(innermost).or_default().push(event);
        }
    }
    let remainders = remainders::find(&plan.events, &loops);
    let nests = Nests::find(plan.function, &loops, pure);
    // A question costs more than what a nest of a few iterations does by itself.
    let is_brief =
        |number| nests.around(&loops, Some(number), |_| true).is_some_and(|nest| plan.brief.holds(&loops, nest));
    let offered = |(number, events): &(usize, Vec<_>)| {
        let inlined = plan.inlined.allows(Some(loops.all[*number].header));
        inlined && !remainders.short.contains(number) && !is_brief(*number) && may_be_offered(events)
    };
    let mut candidates: Vec<_> = of_loop.into_iter().filter(offered).collect();
    candidates.sort_by_key(|(number, _)| *number);
    let (mut offers, mut searches, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    for (number, events) in candidates {
        let header = loops.all[number].header;
        match copy(analysis, header, &events, &mut kept) {
            Some(offer) => offers.push(Offer { overlapping: remainders.whole.contains(&number), ..offer }),
            None => searches.extend(searches::copy(analysis, header, &events)),
        }
    }
    plan.events.extend(kept);
    let mut number = 0;
    for offer in &mut offers {
        offer.number = number;
        number += offer.groups.as_ref().map_or(0, Vec::len);
        if number > MOST_GROUPS {
            offer.groups = None;
        }
    }
    // Entries of these loops are counted before the decision, not on one of the ways.
    for entrance in &mut plan.entrances {
        let block = entrance.before.get_parent();
        if let Some(offer) = offers.iter().find(|o| llvm::successors_of(o.branch).get(1).copied() == block) {
            entrance.before = offer.branch;
        }
    }
    (offers, searches)
}

fn may_be_offered(events: &[&Event<'_>]) -> bool {
    events.len() <= MOST_ACCESSES && events.iter().all(|e| plain(e).is_some() && !llvm::is_atomic(e.inst))
}

/// What an event of a loop is: which way, what and where.
pub(super) type Plain<'ctx> = (Direction, Access<'ctx>, SiteId);

/// All events of a loop, which are [plain](may_be_offered).
pub(super) fn plain_ones<'ctx>(events: &[&Event<'ctx>]) -> Vec<Plain<'ctx>> {
    events.iter().filter_map(|e| plain(e).map(|(direction, access)| (direction, *access, e.site))).collect()
}

/// The same for the shim.
pub(super) fn raw<'ctx>(events: &[&Event<'ctx>], accesses: &[Plain<'ctx>]) -> Vec<RawLoopAccess> {
    let raw = |(event, (direction, access, _)): (&&Event<'ctx>, &Plain<'ctx>)| RawLoopAccess {
        at: event.inst.as_value_ref(),
        writes: *direction == Direction::Write,
        slack: if is_whole(access) { 0 } else { GRANULE as u8 - 1 },
    };
    events.iter().zip(accesses).map(raw).collect()
}

fn is_whole(access: &Access<'_>) -> bool {
    access.bytes.is_multiple_of(GRANULE) && access.align >= GRANULE
}

/// Accesses in the order of an iteration, with what the shim says of them.
pub(super) fn strands<'a, 'ctx: 'a>(affine: impl Iterator<Item = (&'a Plain<'ctx>, &'a RawAffine)>) -> Vec<Strand> {
    let strands = affine.enumerate().map(|(place, ((direction, access, site), affine))| Strand {
        direction: *direction,
        site: *site,
        leader: affine.leader,
        first: affine.offset,
        bytes: access.bytes,
        whole: is_whole(access),
        aligned: access.align >= access.bytes,
        piece: access.bytes,
        order: Order { first: place as u8, last: place as u8, group: affine.leader as u8 },
        reads_first: false,
    });
    let mut strands: Vec<_> = strands.collect();
    mark_first_reads(&mut strands);
    strands
}

/// Where strands are.
///
/// # Safety
/// The shim gave each leader a pointer and an i64.
pub(super) unsafe fn described<'ctx>(strands: Vec<Strand>, affine: &[RawAffine]) -> Vec<OfferedAccess<'ctx>> {
    let described = strands.into_iter().map(|strand| {
        let leader = &affine[strand.leader];
        // SAFETY: the caller's promise.
        let (address, stride) = unsafe { (PointerValue::new(leader.address), IntValue::new(leader.stride)) };
        OfferedAccess { strand, address, stride }
    });
    described.collect()
}

/// Makes the plain copy of a loop, if it can be described. `kept` gets the events that stay in it, and those behind it.
fn copy<'ctx>(
    analysis: &mut Analysis,
    header: BasicBlock<'ctx>,
    events: &[&Event<'ctx>],
    kept: &mut Vec<Event<'ctx>>,
) -> Option<Offer<'ctx>> {
    let accesses = plain_ones(events);
    let raw = raw(events, &accesses);
    let none = ptr::null_mut();
    let mut affine = vec![RawAffine::NONE; accesses.len()];
    let mut copy = RawLoopCopy { iterations: none, branch: none, feasible: none };
    // SAFETY: a live header of the function that was opened; the arrays have the length that is passed.
    let copied = unsafe {
        let (all, count, affine) = (raw.as_ptr(), raw.len(), affine.as_mut_ptr());
        ffi::threadtalk_shim_copy_loop(analysis.raw(), header.as_mut_ptr(), all, count, affine, &mut copy)
    };
    if !copied {
        return None;
    }
    let elsewhere = |place: fn(&RawAffine) -> (LLVMValueRef, LLVMValueRef)| {
        let all = events.iter().zip(&accesses).zip(&affine).map(move |(event, affine)| (event, place(affine)));
        let given = all.filter(|(_, (inst, _))| !inst.is_null());
        given.map(|((event, (direction, access, _)), (inst, pointer))| {
            // SAFETY: an instruction and a pointer, by the shim.
            let (inst, pointer) = unsafe { (InstructionValue::new(inst), PointerValue::new(pointer)) };
            let action = Action::Plain(*direction, Access { pointer, ..*access });
            Event { inst, when: When::Before, action, ..(*event).clone() }
        })
    };
    let before = kept.len();
    kept.extend(elsewhere(|affine| (affine.stray, affine.address)));
    let strays = kept.len() > before;
    kept.extend(elsewhere(|affine| (affine.last, affine.last_address)));
    let affine_ones = accesses.iter().zip(&affine).filter(|(_, affine)| affine.stray.is_null());
    let strands = strands(affine_ones);
    let stride = |leader: usize| llvm::constant(affine[leader].stride).map(|stride| stride as i64);
    // What stays where it is has the iteration to itself.
    let longest = |leader: usize| match stride(leader) {
        Some(0) => LONGEST_FIXED,
        stride => stride.map_or(0, i64::unsigned_abs),
    };
    let rolled = if strays { None } else { unrolled::rolled(&strands, stride) };
    let (strands, times) = rolled.unwrap_or((strands, 1));
    let strands = joined(strands, |leader| longest(leader) / times);
    // SAFETY: the shim filled them in.
    let mut accesses = unsafe { described(strands, &affine) };
    // SAFETY: on success the shim has filled in a branch and an i64.
    let (branch, mut iterations) = unsafe { (InstructionValue::new(copy.branch), IntValue::new(copy.iterations)) };
    if times > 1 {
        let builder = header.get_context().create_builder();
        builder.position_before(&branch);
        let number = |n: i64| iterations.get_type().const_int(n as u64, true);
        for access in &mut accesses {
            access.stride = number(stride(access.strand.leader).unwrap_or(0) / times as i64);
        }
        iterations = builder.build_int_mul(iterations, number(times as i64), "").ok()?;
    }
    // SAFETY: a bit, if it is there.
    let feasible = (!copy.feasible.is_null()).then(|| unsafe { IntValue::new(copy.feasible) });
    let groups = if strays { None } else { windows::groups(&accesses) };
    let (overlapping, number, question) = (false, 0, None);
    Some(Offer { branch, iterations, feasible, accesses, strays, overlapping, groups, number, question })
}

/// Finds the reads that come before the writes of what they read, as far as one iteration goes.
pub(super) fn mark_first_reads(strands: &mut [Strand]) {
    let writes: Vec<_> = strands.iter().filter(|s| s.direction == Direction::Write).cloned().collect();
    for read in strands.iter_mut().filter(|s| s.direction == Direction::Read) {
        let meets = |write: &&Strand| {
            let near = if read.whole && write.whole { 0 } else { GRANULE as i64 - 1 };
            write.leader == read.leader
                && write.first < read.first + read.bytes as i64 + near
                && read.first < write.first + write.bytes as i64 + near
        };
        read.reads_first = writes.iter().filter(meets).all(|write| read.order.last < write.order.first);
    }
}

/// Joins accesses that follow each other without a gap: the pieces of an unrolled loop. Those of different lines
/// stay apart, their events are counted apart. What may begin inside of granules is joined to such as is of its size,
/// and in rows only: it can be put back as it was, and windows of other strides have one access each. None becomes
/// longer than its stride (0 = not known): neighbours that a stencil reads in one iteration overlap in the next.
pub(super) fn joined(mut strands: Vec<Strand>, stride: impl Fn(usize) -> u64) -> Vec<Strand> {
    let mut out: Vec<Strand> = Vec::new();
    let is_loose = |one: &Strand, other: &Strand| one.piece == other.piece && loops::pieces(one.piece).is_some();
    strands.sort_by_key(|s| (s.leader, s.direction == Direction::Write, s.site, s.first));
    for strand in strands {
        let fits = |s: &&mut Strand| {
            (s.leader, s.direction, s.site) == (strand.leader, strand.direction, strand.site)
                && s.whole == strand.whole
                && (s.whole || is_loose(s, &strand) && stride(strand.leader) <= LONGEST_ROW_STRIDE)
                && s.first + s.bytes as i64 == strand.first
                && s.bytes + strand.bytes <= stride(strand.leader)
        };
        match out.iter_mut().find(fits) {
            Some(before) => {
                before.bytes += strand.bytes;
                before.order.first = before.order.first.min(strand.order.first);
                before.order.last = before.order.last.max(strand.order.last);
                before.reads_first &= strand.reads_first;
            }
            None => out.push(strand),
        }
    }
    // What moves in step is looked at together where it lies side by side.
    out.sort_by_key(|s| (s.leader, s.direction == Direction::Write, s.first));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strand(direction: Direction, site: u32, leader: usize, first: i64, bytes: u64) -> Strand {
        let order = Order { group: leader as u8, ..Order::default() };
        Strand {
            direction,
            site: SiteId(site),
            leader,
            first,
            bytes,
            whole: bytes >= GRANULE,
            aligned: true,
            piece: bytes,
            order,
            reads_first: false,
        }
    }

    /// One after the other.
    fn body(strands: &[Strand]) -> Vec<Strand> {
        let placed = |(strand, place): (&Strand, u8)| Strand {
            order: Order { first: place, last: place, ..strand.order },
            ..strand.clone()
        };
        let mut body: Vec<_> = strands.iter().zip(0..).map(placed).collect();
        mark_first_reads(&mut body);
        body
    }

    #[test]
    fn an_unrolled_update_in_place_reads_first_and_what_reads_its_own_does_not() {
        use Direction::{Read, Write};
        // a[i] += x, twice
        let update = [(Read, 0), (Write, 0), (Read, 8), (Write, 8)].map(|(to, first)| strand(to, 1, 0, first, 8));
        let got = joined(body(&update), |_| 16);
        let found = |s: &Strand| (s.direction, s.bytes, s.order.first, s.order.last, s.reads_first);
        assert_eq!(got.iter().map(found).collect::<Vec<_>>(), [(Read, 16, 0, 2, true), (Write, 16, 1, 3, false)]);
        // a[i] = x; s += a[i]
        let own = body(&[strand(Write, 1, 0, 0, 8), strand(Read, 1, 0, 0, 8)]);
        assert!(!own[1].reads_first);
        // half of a granule each, and another array
        let beside = body(&[strand(Write, 1, 0, 0, 2), strand(Read, 1, 0, 2, 2), strand(Read, 2, 1, 0, 8)]);
        assert_eq!(beside.iter().map(|s| s.reads_first).collect::<Vec<_>>(), [false, false, true]);
    }

    #[test]
    fn pieces_of_an_unrolled_stencil_are_joined_in_three_strands() {
        use Direction::Read;
        // a[i-1], a[i], a[i+1], each in two vectors of 16 bytes
        let pieces = [-8, 8, 0, 16, 8, 24].map(|first| strand(Read, 1, 0, first, 16));
        let got = joined(pieces.to_vec(), |_| 32);
        assert_eq!(got, [-8, 0, 8].map(|first| Strand { piece: 16, ..strand(Read, 1, 0, first, 32) }));
    }

    #[test]
    fn pieces_of_a_granule_stay_apart() {
        let pieces = [strand(Direction::Read, 1, 0, 0, 2), strand(Direction::Read, 1, 0, 2, 2)];
        assert_eq!(joined(pieces.to_vec(), |_| 4).len(), 2);
    }

    #[test]
    fn lines_directions_and_arrays_stay_apart() {
        use Direction::{Read, Write};
        let pieces =
            [strand(Read, 1, 0, 0, 8), strand(Read, 2, 0, 8, 8), strand(Write, 1, 0, 8, 8), strand(Read, 1, 1, 8, 8)];
        assert_eq!(joined(pieces.to_vec(), |_| 64).len(), 4);
    }
}
