//! LLVM's intrinsics that access memory.

use super::{Access, Action, Direction};
use crate::llvm;
use crate::skip::Skipper;
use inkwell::context::ContextRef;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, InstructionValue, IntValue, PointerValue};

/// Copies and fills up to this size, if a power of two, are inlined as accesses.
const INLINE_BYTES: u64 = 64;

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
        return if kept { vec![range(module, Direction::Write, pointer, llvm::int_operand(inst, 2))] } else { vec![] };
    }
    vector(module, context, inst, rest, skipper).into_iter().collect()
}

fn copy<'ctx>(module: &Module<'ctx>, inst: InstructionValue<'ctx>, skipper: &mut Skipper) -> Vec<Action<'ctx>> {
    let (to, from, bytes) =
        (llvm::pointer_operand(inst, 0), llvm::pointer_operand(inst, 1), llvm::int_operand(inst, 2));
    let mut kept = |p: PointerValue<'ctx>| llvm::is_plain_pointer(p.as_value_ref()) && !skipper.is_private(p);
    match (kept(to), kept(from)) {
        (false, false) => vec![],
        (true, false) => vec![range(module, Direction::Write, to, bytes)],
        (false, true) => vec![range(module, Direction::Read, from, bytes)],
        (true, true) if inlined(bytes).is_some() => {
            vec![range(module, Direction::Read, from, bytes), range(module, Direction::Write, to, bytes)]
        }
        (true, true) => vec![Action::Copy(to, from, bytes)],
    }
}

fn inlined(bytes: IntValue<'_>) -> Option<u64> {
    llvm::constant(bytes.as_value_ref()).filter(|b| b.is_power_of_two() && *b <= INLINE_BYTES)
}

fn range<'ctx>(
    module: &Module<'ctx>,
    direction: Direction,
    pointer: PointerValue<'ctx>,
    bytes: IntValue<'ctx>,
) -> Action<'ctx> {
    match inlined(bytes) {
        Some(bytes) => {
            let align = llvm::known_alignment(module, pointer);
            Action::Plain(direction, Access { pointer, bytes, align })
        }
        None => Action::Range(direction, pointer, bytes),
    }
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
        return Some(if bytes.is_power_of_two() && bytes <= INLINE_BYTES {
            Action::Plain(direction, Access { pointer, bytes, align })
        } else {
            Action::Range(direction, pointer, context.i64_type().const_int(bytes, false))
        });
    }
    Some(match family {
        "masked.load" | "masked.store" => Action::Masked(direction, pointer, lane, mask),
        _ => Action::Packed(direction, pointer, lane, mask),
    })
}
