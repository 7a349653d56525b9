//! What accesses go to and how far they move from one iteration to the next: for the report's objects and suggestions.

use super::{Access, Action};
use crate::library::Allocator;
use crate::llvm;
use crate::llvm::analysis::Analysis;
use crate::llvm::debug;
use crate::llvm::loops::Loops;
use crate::llvm::objects::{self, Files, Object};
use crate::tables::SiteAccess;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue, PointerValue};
use std::collections::HashMap;
use threadtalk_abi::module::{NO_STRIDE, ObjectKind, VARIABLE_STRIDE};

/// Describes the accesses of a function, in their order; and says of those through pointers to bytes or halves how many
/// bytes one of these has, of others 0. `analysis`: needed if it has loops.
pub fn all<'ctx>(
    module: &Module<'ctx>,
    analysis: Option<&mut Analysis>,
    loops: &Loops<'ctx>,
    actions: &[(InstructionValue<'ctx>, &Action<'ctx>)],
) -> (Vec<SiteAccess>, Vec<u32>) {
    let mut files = Files::default();
    let named = actions.iter().map(|(inst, action)| named(*inst, action, &mut files));
    let (mut found, widths): (Vec<SiteAccess>, Vec<u32>) = named.unzip();
    let Some(analysis) = analysis else { return (found, widths) };
    let mut groups: HashMap<Group, Vec<(usize, PointerValue<'ctx>)>> = HashMap::new();
    for (at, (inst, action)) in actions.iter().enumerate() {
        let (Some(pointer), Some(block)) = (pointer(*inst, action), inst.get_parent()) else { continue };
        let Some(innermost) = loops.innermost(block) else { continue };
        let (stride, outer) = analysis.strides(pointer, block);
        found[at].stride = stride;
        found[at].outer_stride = outer;
        if is_constant(stride) {
            let line = debug::of(*inst).map_or(0, |l| l.line);
            let reads = inst.get_opcode() == InstructionOpcode::Load;
            groups.entry((innermost, line, reads, stride)).or_default().push((at, pointer));
        }
    }
    for ((.., stride), members) in groups {
        let pointers: Vec<_> = members.iter().map(|(_, pointer)| (*pointer, 0)).collect();
        let distances = analysis.distances(&pointers);
        let mut by_leader: HashMap<usize, Vec<(usize, i64)>> = HashMap::new();
        for ((leader, distance), (at, _)) in distances.into_iter().zip(&members) {
            by_leader.entry(leader).or_default().push((*at, distance));
        }
        for pieces in by_leader.into_values() {
            let elements = pieces.iter().flat_map(|(at, distance)| elements(module, actions[*at].0, *distance));
            let Some(step) = unrolled(stride, elements.collect()) else { continue };
            pieces.iter().for_each(|(at, _)| found[*at].stride = step);
        }
    }
    (found, widths)
}

/// Innermost loop, line, whether it reads, stride: accesses that may be one of the source, unrolled.
type Group = (usize, u32, bool, i32);

/// The stride in the source of accesses at these distances from each other that all move by `stride`: if they fill it
/// without gaps, the loop was unrolled or made of vectors (or they are the members of one structure), and their spacing
/// is what the source does.
fn unrolled(stride: i32, mut distances: Vec<i64>) -> Option<i32> {
    distances.sort_unstable();
    distances.dedup();
    let gap = distances.get(1)? - distances[0];
    let even = distances.windows(2).all(|d| d[1] - d[0] == gap);
    let step = i64::from(stride).abs();
    let fills = even && gap <= step && step % gap == 0 && gap * distances.len() as i64 >= step;
    fills.then_some((gap * i64::from(stride.signum())) as i32)
}

fn is_constant(stride: i32) -> bool {
    stride != NO_STRIDE && stride != VARIABLE_STRIDE && stride != 0
}

/// Distances of an access's elements: of a vector those of its lanes.
fn elements(module: &Module<'_>, inst: InstructionValue<'_>, distance: i64) -> impl Iterator<Item = i64> {
    let value = match inst.get_opcode() {
        InstructionOpcode::Load => Some(inst.as_value_ref()),
        InstructionOpcode::Store => Some(llvm::operand(inst.as_value_ref(), 0)),
        _ => None,
    };
    let (bytes, lanes) = value.and_then(|value| llvm::lanes(module, llvm::type_of(value))).unwrap_or((0, 1));
    (0..i64::from(lanes)).map(move |lane| distance + lane * bytes as i64)
}

fn named<'ctx>(inst: InstructionValue<'ctx>, action: &Action<'ctx>, files: &mut Files) -> (SiteAccess, u32) {
    let ((object, frames), width) = match action {
        Action::Allocation(Allocator::Indirect(_)) => match objects::receiver_behind(inst, files) {
            Some((object, frames)) => ((Some(object), Some(frames)), None),
            None => ((indirect_receiver(inst, files), None), None),
        },
        Action::Allocation(Allocator::Fills) => ((indirect_receiver(inst, files), None), None),
        Action::Allocation(_) => (objects::receiver(inst, files).unzip(), None),
        _ => {
            let (object, width) = pointer(inst, action).and_then(|p| objects::behind(p.as_value_ref(), files)).unzip();
            ((object, None), width)
        }
    };
    (SiteAccess { object, frames: frames.unwrap_or(0), ..SiteAccess::default() }, width.unwrap_or(0))
}

/// The pointer that a call stores the address of a new block in, or the container that leads to it: argument 0 is where
/// it lies.
fn indirect_receiver(call: InstructionValue<'_>, files: &mut Files) -> Option<Object> {
    let place = llvm::pointer_operand(call, 0);
    let (pointer, _) = objects::behind(place.as_value_ref(), files)?;
    Some(Object { kind: ObjectKind::Pointer as u32, ..pointer })
}

/// The address that names an action's object. Of a copy its source: what is written is not an event yet.
pub fn pointer<'ctx>(inst: InstructionValue<'ctx>, action: &Action<'ctx>) -> Option<PointerValue<'ctx>> {
    match action {
        Action::Plain(_, Access { pointer, .. }) | Action::Update(Access { pointer, .. }) => Some(*pointer),
        Action::CompareExchange(Access { pointer, .. }) => Some(*pointer),
        Action::Range(_, pointer, _) | Action::Copy(_, pointer, _) | Action::Moves(pointer) => Some(*pointer),
        Action::Masked(_, Access { pointer, .. }, _) | Action::Packed(_, pointer, ..) => Some(*pointer),
        Action::Library(effect) => {
            let argument = effect.other_pointer().or(effect.pointer())?;
            let is_pointer = llvm::is_plain_pointer(llvm::operand(inst.as_value_ref(), argument));
            is_pointer.then(|| llvm::pointer_operand(inst, argument))
        }
        Action::Scattered(..) | Action::Allocation(_) | Action::Creation | Action::Dies(..) | Action::DiesWhole(..) => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_an_unrolled_loop_have_the_stride_of_the_source() {
        assert_eq!(unrolled(64, vec![0, 8, 16, 24, 32, 40, 48, 56]), Some(8));
        assert_eq!(unrolled(-64, vec![-48, -32, -16, 0]), Some(-16));
        // Two vectors of two and a single element: five members that a loop in the source goes through.
        assert_eq!(unrolled(40, vec![0, 8, 16, 24, 32]), Some(8));
        // A stencil that was unrolled: the ends reach over.
        assert_eq!(unrolled(32, vec![-8, 0, 8, 16, 24, 32]), Some(8));
    }

    #[test]
    fn neighbours_that_do_not_fill_the_stride_stay_apart() {
        // Three columns of a row, down the rows.
        assert_eq!(unrolled(8192, vec![-8, 0, 8]), None);
        assert_eq!(unrolled(64, vec![0, 8, 32]), None);
        // A vector of two of three members.
        assert_eq!(unrolled(24, vec![0, 8]), None);
        assert_eq!(unrolled(8, vec![0]), None);
        assert_eq!(unrolled(8, vec![0, 16]), None);
    }
}
