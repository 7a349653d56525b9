//! Finds writes that append, each to one of many places: `sorted[next[key]++] = value`.
//!
//! Where such a write goes nobody knows before, but where the one after it goes that appends to the same place:
//! behind it. There are more places than the processor follows streams of, so each line of them is waited for, and the
//! cells' lines as well; and the sequences take room in the window of instructions in which it would have waited for
//! several of them at once. So the next line of both is fetched while this one is filled: radix sort takes a quarter
//! less time. Fetching changes neither memory nor counts, and what is not mapped is not fetched.

use crate::access::{Access, Action, Direction, Event, Plan, Worth};
use crate::llvm;
use crate::llvm::loops::Loops;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, InstructionOpcode, InstructionValue};
use std::collections::{HashMap, HashSet};

/// Bytes of a cache line.
const LINE: u64 = 64;

/// What is asked of elements that are longer than what is written, or lie further apart: whether they begin in so many
/// bytes of a line, those from which elements go on.
const FEW: u64 = 16;

/// Computations between the number of an element and its address that are looked through.
const MOST_STEPS: usize = 8;

/// A write that appends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Append {
    /// Whether elements go upwards.
    pub up: bool,
    /// Bytes of an element; of longer ones some that lie together. A power of two, no more than a line.
    pub element: u64,
}

impl Append {
    /// Bytes from an element to where the next line is fetched.
    pub fn ahead(self) -> i64 {
        if self.up { LINE as i64 } else { -(LINE as i64) }
    }

    /// The bits of an address by which the first element of a line is known: they are 0 in it, or, where elements go
    /// downwards, in the address behind it.
    pub fn mask(self) -> u64 {
        LINE - self.element
    }
}

/// Writes that append, by event. One for each variable that is stepped: the members of an element lie together.
pub fn find<'ctx>(module: &Module<'ctx>, plan: &Plan<'ctx>, loops: &Loops<'ctx>) -> HashMap<usize, Append> {
    let mut variables = HashSet::new();
    let mut found = HashMap::new();
    for (number, event) in plan.events.iter().enumerate() {
        if let Some(access) = inlined_store(event)
            && let Some((variable, append)) = append(module, (event.inst, access), loops)
            && variables.insert(variable)
        {
            found.insert(number, append);
        }
    }
    found
}

fn inlined_store<'e, 'ctx>(event: &'e Event<'ctx>) -> Option<&'e Access<'ctx>> {
    let Action::Plain(Direction::Write, access) = &event.action else { return None };
    let is_store = event.inst.get_opcode() == InstructionOpcode::Store;
    (is_store && event.worth > Worth::Call && access.is_inlined()).then_some(access)
}

/// The load of the variable that says where a store goes, if the function steps it then and it is one of several: an
/// element of an array, or a member of one.
fn append<'ctx>(
    module: &Module<'ctx>,
    (store, access): (InstructionValue<'ctx>, &Access<'ctx>),
    loops: &Loops<'ctx>,
) -> Option<(InstructionValue<'ctx>, Append)> {
    let (address, _) = llvm::base(module, llvm::pointer_operand(store, 1));
    let element = element(address);
    let (variable, _) = loaded(module, element.map_or(address, |(_, index)| index))?;
    let place = llvm::pointer_operand(variable, 0);
    let (several, _) = self::element(llvm::base(module, place).0)?;
    // One place for the whole loop is a stream, of which the processor sees itself where it goes on.
    let innermost = |inst: InstructionValue<'ctx>| inst.get_parent().map(|block| loops.innermost(block));
    if innermost(several) != innermost(store) {
        return None;
    }
    let steps = llvm::users(place.as_value_ref()).into_iter().filter_map(llvm::as_instruction).filter(|user| {
        let is_store = user.get_opcode() == InstructionOpcode::Store;
        is_store && llvm::operand(user.as_value_ref(), 1) == place.as_value_ref()
    });
    let mut steps = steps.filter_map(|step| loaded(module, llvm::operand(step.as_value_ref(), 0)));
    let (_, step) = steps.find(|&(of, step)| of == variable && step != 0)?;
    let bytes = match element {
        Some((element, _)) => step.unsigned_abs().saturating_mul(llvm::element_size(module, element)),
        None => step.unsigned_abs(),
    };
    let is_plain = bytes == access.bytes && bytes.is_power_of_two() && bytes <= LINE;
    Some((variable, Append { up: step > 0, element: if is_plain { bytes } else { FEW } }))
}

/// The instruction that computes an element's address, and the last of its indices that is no constant.
fn element<'ctx>(address: LLVMValueRef) -> Option<(InstructionValue<'ctx>, LLVMValueRef)> {
    let inst = llvm::as_instruction(address).filter(|i| i.get_opcode() == InstructionOpcode::GetElementPtr)?;
    let mut indices = (1..inst.get_num_operands()).rev().map(|number| llvm::operand(address, number));
    Some((inst, indices.find(|&index| llvm::constant(index).is_none())?))
}

/// The load that a number or pointer comes from by constant steps, and their sum.
fn loaded<'ctx>(module: &Module<'ctx>, value: LLVMValueRef) -> Option<(InstructionValue<'ctx>, i64)> {
    let (mut at, mut sum) = (value, 0i64);
    for _ in 0..MOST_STEPS {
        let inst = llvm::as_instruction(at)?;
        at = match inst.get_opcode() {
            InstructionOpcode::Load => return (!llvm::is_volatile(inst)).then_some((inst, sum)),
            InstructionOpcode::SExt | InstructionOpcode::ZExt | InstructionOpcode::Trunc => llvm::operand(at, 0),
            InstructionOpcode::Add => {
                sum = sum.wrapping_add(llvm::int_operand(inst, 1).get_sign_extended_constant()?);
                llvm::operand(at, 0)
            }
            InstructionOpcode::Shl | InstructionOpcode::Mul | InstructionOpcode::Or => {
                llvm::constant(llvm::operand(at, 1))?;
                llvm::operand(at, 0)
            }
            InstructionOpcode::GetElementPtr => {
                let (base, offset) = llvm::base(module, llvm::result(inst).into_pointer_value());
                if base == at {
                    return None;
                }
                sum = sum.wrapping_add(offset);
                base
            }
            _ => return None,
        };
    }
    None
}
