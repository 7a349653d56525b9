//! LLVM's intrinsics that access memory.

use super::{Access, Action, Direction, Event, Worth};
use crate::llvm;
use crate::skip::Skipper;
use inkwell::context::ContextRef;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, InstructionValue, PointerValue};

/// The actions of a call of the intrinsic `name`; empty if it touches no shared memory.
pub fn of<'ctx>(
    module: &Module<'ctx>,
    context: ContextRef<'ctx>,
    inst: InstructionValue<'ctx>,
    name: &str,
    skipper: &mut Skipper,
) -> Vec<Action<'ctx>> {
    let rest = name.strip_prefix("llvm.").unwrap_or(name);
    let starts = |prefix: &str| rest.starts_with(prefix);
    if starts("memcpy.") || starts("memmove.") {
        return copy(module, inst, skipper);
    }
    if starts("memset.") {
        let pointer = llvm::pointer_operand(inst, 0);
        let kept = llvm::is_plain_pointer(pointer.as_value_ref()) && !skipper.is_private(pointer);
        return if kept { vec![range(module, Direction::Write, inst, 0)] } else { vec![] };
    }
    vector(module, context, inst, rest, skipper).into_iter().collect()
}

fn copy<'ctx>(module: &Module<'ctx>, inst: InstructionValue<'ctx>, skipper: &mut Skipper) -> Vec<Action<'ctx>> {
    let (to, from, bytes) =
        (llvm::pointer_operand(inst, 0), llvm::pointer_operand(inst, 1), llvm::int_operand(inst, 2));
    let mut kept = |p: PointerValue<'ctx>| llvm::is_plain_pointer(p.as_value_ref()) && !skipper.is_private(p);
    match (kept(to), kept(from)) {
        (false, false) => vec![],
        (true, false) => vec![range(module, Direction::Write, inst, 0)],
        (false, true) => vec![range(module, Direction::Read, inst, 1)],
        (true, true) => {
            let both = [range(module, Direction::Read, inst, 1), range(module, Direction::Write, inst, 0)];
            match both.iter().all(|action| matches!(action, Action::Plain(..))) {
                true => both.to_vec(),
                false => vec![Action::Copy(to, from, bytes)],
            }
        }
    }
}

/// What a copy or fill does at its pointer argument `number`: one access, if it is small enough.
fn range<'ctx>(module: &Module<'ctx>, direction: Direction, inst: InstructionValue<'ctx>, number: u32) -> Action<'ctx> {
    let (pointer, bytes) = (llvm::pointer_operand(inst, number), llvm::int_operand(inst, 2));
    let access = |bytes| {
        let align = llvm::known_alignment(module, pointer).max(llvm::argument_alignment(inst, number));
        Some(Access { pointer, bytes, align }).filter(Access::is_inlined)
    };
    match llvm::constant(bytes.as_value_ref()).and_then(access) {
        Some(access) => Action::Plain(direction, access),
        None => Action::Range(direction, pointer, bytes),
    }
}

/// Makes one action of what a copy reads and writes where that is worth no more than calls: of sizes that have no
/// function of their own.
pub fn rejoin<'ctx>(context: ContextRef<'ctx>, events: &mut Vec<Event<'ctx>>) {
    events.dedup_by(|writes, reads| {
        let (Action::Plain(Direction::Read, from), Action::Plain(Direction::Write, to)) =
            (&reads.action, &writes.action)
        else {
            return false;
        };
        let joins = (reads.inst, reads.worth) == (writes.inst, Worth::Call) && !from.bytes.is_power_of_two();
        if joins {
            let bytes = context.i64_type().const_int(from.bytes, false);
            reads.action = Action::Copy(to.pointer, from.pointer, bytes);
        }
        joins
    });
}

fn vector<'ctx>(
    module: &Module<'ctx>,
    context: ContextRef<'ctx>,
    inst: InstructionValue<'ctx>,
    rest: &str,
    skipper: &mut Skipper,
) -> Option<Action<'ctx>> {
    use Direction::{Read, Write};
    let family = rest.split(".v").next().unwrap_or(rest);
    // Numbers of the operands: pointer, value (None = the result), mask, alignment.
    let (direction, pointer, value, mask, align) = match family {
        "masked.load" => (Read, 0, None, 2, Some(1)),
        "masked.store" => (Write, 1, Some(0), 3, Some(2)),
        "masked.gather" => (Read, 0, None, 2, Some(1)),
        "masked.scatter" => (Write, 1, Some(0), 3, Some(2)),
        "masked.expandload" => (Read, 0, None, 1, None),
        "masked.compressstore" => (Write, 1, Some(0), 2, None),
        _ => return None,
    };
    let raw = inst.as_value_ref();
    let ty = llvm::type_of(value.map_or(raw, |v| llvm::operand(raw, v)));
    let (lane, _) = llvm::lanes(module, ty).filter(|(bytes, count)| *bytes > 0 && *count <= 64)?;
    let mask = llvm::vector_operand(inst, mask);
    let align = align.and_then(|a| llvm::constant(llvm::operand(raw, a))).unwrap_or(1).max(1);
    if matches!(family, "masked.gather" | "masked.scatter") {
        return Some(Action::Scattered(direction, llvm::vector_operand(inst, pointer), lane, align, mask));
    }
    let pointer = llvm::pointer_operand(inst, pointer);
    if !llvm::is_plain_pointer(pointer.as_value_ref()) || skipper.is_private(pointer) {
        return None;
    }
    if llvm::is_all_ones(mask) {
        let bytes = lane * u64::from(mask.get_type().get_size());
        let access = Access { pointer, bytes, align };
        return Some(match access.is_inlined() {
            true => Action::Plain(direction, access),
            false => Action::Range(direction, pointer, context.i64_type().const_int(bytes, false)),
        });
    }
    Some(match family {
        "masked.load" | "masked.store" => Action::Masked(direction, Access { pointer, bytes: lane, align }, mask),
        _ => Action::Packed(direction, pointer, lane, mask),
    })
}
