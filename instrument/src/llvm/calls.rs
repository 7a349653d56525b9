//! What IR says of calls and of the functions that they name.

use super::ffi;
use inkwell::attributes::Attribute;
use inkwell::llvm_sys::LLVMTailCallKind;
use inkwell::llvm_sys::core::*;
use inkwell::values::{AsValueRef, FunctionValue, InstructionOpcode, InstructionValue};

/// The function that a call or invoke names directly.
pub fn callee<'ctx>(call: InstructionValue<'ctx>) -> Option<FunctionValue<'ctx>> {
    // SAFETY: callers pass calls and invokes only.
    unsafe {
        let called = LLVMGetCalledValue(call.as_value_ref());
        if LLVMIsAFunction(called).is_null() { None } else { FunctionValue::new(called) }
    }
}

/// Whether others than the calls that name a function may run it, as another thread does, or a call through a pointer.
pub fn is_address_taken(function: FunctionValue<'_>) -> bool {
    let is_function = |value| value == function.as_value_ref();
    // SAFETY: a live call, and its arguments.
    let calls_it = |call: InstructionValue<'_>| unsafe {
        let argument = |n| LLVMGetOperand(call.as_value_ref(), n);
        is_function(LLVMGetCalledValue(call.as_value_ref()))
            && !(0..argument_count(call)).any(|n| is_function(argument(n)))
    };
    let is_plain = |user| super::as_instruction(user).is_some_and(|inst| is_call(inst) && calls_it(inst));
    !super::users(function.as_value_ref()).into_iter().all(is_plain)
}

/// Whether a call hands its frame on to what it calls (`musttail`): only the return of its result may follow it.
pub fn is_last(call: InstructionValue<'_>) -> bool {
    // SAFETY: a live instruction; a call is looked at as one.
    call.get_opcode() == InstructionOpcode::Call
        && unsafe { LLVMGetTailCallKind(call.as_value_ref()) } == LLVMTailCallKind::LLVMTailCallKindMustTail
}

/// Number of arguments of a call or invoke.
pub fn argument_count(call: InstructionValue<'_>) -> u32 {
    // SAFETY: callers pass calls and invokes only.
    unsafe { LLVMGetNumArgOperands(call.as_value_ref()) }
}

/// Whether the instruction is a call of any kind.
pub fn is_call(inst: InstructionValue<'_>) -> bool {
    use InstructionOpcode::{Call, CallBr, Invoke};
    matches!(inst.get_opcode(), Call | Invoke | CallBr)
}

/// Whether another definition may run in place of this one, other than a copy of the same source.
pub fn is_interposable(function: FunctionValue<'_>) -> bool {
    // SAFETY: a live function.
    unsafe { ffi::threadtalk_shim_interposable(function.as_value_ref()) }
}

/// Whether LLVM knows that a function writes no memory.
pub fn only_reads(function: FunctionValue<'_>) -> bool {
    // SAFETY: a live function.
    unsafe { ffi::threadtalk_shim_only_reads(function.as_value_ref()) }
}

/// Whether the call is inline assembly.
pub fn is_inline_asm(call: InstructionValue<'_>) -> bool {
    // SAFETY: callers pass calls only.
    unsafe { !LLVMIsAInlineAsm(LLVMGetCalledValue(call.as_value_ref())).is_null() }
}

/// What a call says of the alignment of its pointer argument `number`; 1 if nothing.
pub fn argument_alignment(call: InstructionValue<'_>, number: u32) -> u64 {
    let kind = Attribute::get_named_enum_kind_id("align");
    // SAFETY: a live call with so many arguments; their attributes are numbered from 1.
    unsafe {
        let align = LLVMGetCallSiteEnumAttribute(call.as_value_ref(), number + 1, kind);
        if align.is_null() { 1 } else { LLVMGetEnumAttributeValue(align).max(1) }
    }
}
