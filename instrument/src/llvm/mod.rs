//! Safe reading of IR where inkwell has no method for it.
//!
//! Every function takes inkwell's values, which are live by construction: nothing in this crate deletes an instruction
//! that it still holds. That is the precondition of each `unsafe` block here unless it says more.

pub mod analysis;
pub mod assembly;
mod calls;
mod control;
pub mod debug;
pub mod effects;
pub mod ffi;
pub mod hash;
pub mod loops;
pub mod objects;

pub use calls::*;
pub use control::*;

use inkwell::builder::Builder;
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp, LLVMTypeKind};
use inkwell::module::Module;
use inkwell::types::{AsTypeRef, VectorType};
use inkwell::values::{
    AsValueRef, BasicValueEnum, FunctionValue, GlobalValue, InstructionValue, IntValue, PointerValue, VectorValue,
};
use std::ffi::c_char;

/// Copies a string that LLVM owns.
///
/// # Safety
/// `data` is null or points to `length` readable bytes.
pub unsafe fn string(data: *const c_char, length: usize) -> String {
    if data.is_null() {
        return String::new();
    }
    // SAFETY: the caller vouches for the range.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) }).into_owned()
}

/// Operand number `index` of an instruction or constant, untyped.
pub fn operand(value: LLVMValueRef, index: u32) -> LLVMValueRef {
    // SAFETY: callers ask only for operands that the opcode or intrinsic has.
    unsafe { LLVMGetOperand(value, index) }
}

/// Operand number `index`, which must be a pointer.
pub fn pointer_operand<'ctx>(inst: InstructionValue<'ctx>, index: u32) -> PointerValue<'ctx> {
    // SAFETY: the opcode or intrinsic has a pointer there.
    unsafe { PointerValue::new(operand(inst.as_value_ref(), index)) }
}

/// Operand number `index`, which must be an integer.
pub fn int_operand<'ctx>(inst: InstructionValue<'ctx>, index: u32) -> IntValue<'ctx> {
    // SAFETY: the opcode or intrinsic has an integer there.
    unsafe { IntValue::new(operand(inst.as_value_ref(), index)) }
}

/// Operand number `index`, which must be a fixed vector.
pub fn vector_operand<'ctx>(inst: InstructionValue<'ctx>, index: u32) -> VectorValue<'ctx> {
    // SAFETY: the intrinsic has a vector there.
    unsafe { VectorValue::new(operand(inst.as_value_ref(), index)) }
}

/// Whether operand `index` is a pointer to memory of the default address space.
pub fn is_plain_pointer(value: LLVMValueRef) -> bool {
    // SAFETY: a live value.
    unsafe {
        let ty = LLVMTypeOf(value);
        LLVMGetTypeKind(ty) == LLVMTypeKind::LLVMPointerTypeKind && LLVMGetPointerAddressSpace(ty) == 0
    }
}

/// Whether a value is an integer.
pub fn is_integer(value: LLVMValueRef) -> bool {
    // SAFETY: a live value.
    unsafe { LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMTypeKind::LLVMIntegerTypeKind }
}

/// Whether a load or store is atomic and orders something. Unordered accesses are what other languages use for plain
/// memory.
pub fn is_atomic(inst: InstructionValue<'_>) -> bool {
    // SAFETY: callers pass loads and stores.
    let ordering = unsafe { LLVMGetOrdering(inst.as_value_ref()) };
    use LLVMAtomicOrdering::{LLVMAtomicOrderingNotAtomic, LLVMAtomicOrderingUnordered};
    !matches!(ordering, LLVMAtomicOrderingNotAtomic | LLVMAtomicOrderingUnordered)
}

/// Whether an atomic update does nothing more when it is done again: it exchanges, or sets or clears bits.
pub fn is_idempotent(update: InstructionValue<'_>) -> bool {
    use LLVMAtomicRMWBinOp::{LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpXchg};
    // SAFETY: callers pass atomic updates.
    let operation = unsafe { LLVMGetAtomicRMWBinOp(update.as_value_ref()) };
    matches!(operation, LLVMAtomicRMWBinOpXchg | LLVMAtomicRMWBinOpOr | LLVMAtomicRMWBinOpAnd)
}

/// Whether a load or store is volatile.
pub fn is_volatile(inst: InstructionValue<'_>) -> bool {
    // SAFETY: callers pass loads and stores.
    unsafe { LLVMGetVolatile(inst.as_value_ref()) != 0 }
}

/// The value that an instruction computes.
pub fn result<'ctx>(inst: InstructionValue<'ctx>) -> BasicValueEnum<'ctx> {
    // SAFETY: callers ask only for instructions with a first-class result.
    unsafe { BasicValueEnum::new(inst.as_value_ref()) }
}

/// Bytes that a load or store of this value's type touches; 0 if the size is not fixed.
pub fn store_size(module: &Module<'_>, value: LLVMValueRef) -> u64 {
    // SAFETY: a live value of a live module.
    unsafe { ffi::threadtalk_shim_fixed_store_size(module.as_mut_ptr(), LLVMTypeOf(value)) }
}

/// Bytes from one element to the next as an address's last index counts them; 0 if that is no element of an array.
pub fn element_size(module: &Module<'_>, address: InstructionValue<'_>) -> u64 {
    // SAFETY: a live instruction that computes an address; the types are those of its own indices.
    unsafe {
        let mut ty = LLVMGetGEPSourceElementType(address.as_value_ref());
        for _ in 2..address.get_num_operands() {
            if LLVMGetTypeKind(ty) != LLVMTypeKind::LLVMArrayTypeKind {
                return 0;
            }
            ty = LLVMGetElementType(ty);
        }
        ffi::threadtalk_shim_fixed_store_size(module.as_mut_ptr(), ty)
    }
}

/// Bytes that a lane of a vector type takes in memory and the number of lanes; `None` for scalable vectors.
pub fn lanes(module: &Module<'_>, ty: LLVMTypeRef) -> Option<(u64, u32)> {
    // SAFETY: a live type.
    unsafe {
        if LLVMGetTypeKind(ty) != LLVMTypeKind::LLVMVectorTypeKind {
            return None;
        }
        let element = LLVMGetElementType(ty);
        Some((ffi::threadtalk_shim_fixed_store_size(module.as_mut_ptr(), element), LLVMGetVectorSize(ty)))
    }
}

/// The type of a value.
pub fn type_of(value: LLVMValueRef) -> LLVMTypeRef {
    // SAFETY: a live value.
    unsafe { LLVMTypeOf(value) }
}

/// Whether a value is a constant whose bits are all ones.
pub fn is_all_ones(value: VectorValue<'_>) -> bool {
    // SAFETY: the same type gives its own all-ones constant; constants are unique.
    unsafe { LLVMConstAllOnes(value.get_type().as_type_ref()) == value.as_value_ref() }
}

/// A vector type as a type.
pub fn vector_len(ty: VectorType<'_>) -> u32 {
    ty.get_size()
}

/// A constant integer's value, if the value is one.
pub fn constant(value: LLVMValueRef) -> Option<u64> {
    // SAFETY: a live value, seen to be a constant integer before its value is read.
    unsafe { (!LLVMIsAConstantInt(value).is_null()).then(|| LLVMConstIntGetZExtValue(value)) }
}

/// The object that a pointer is derived from, as far as LLVM can tell.
pub fn underlying_object(pointer: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: a live pointer value.
    unsafe { ffi::threadtalk_shim_underlying_object(pointer) }
}

/// Whether a pointer leads to a variable of the calling thread's own.
pub fn is_thread_local(pointer: LLVMValueRef) -> bool {
    as_global(underlying_object(pointer)).is_some_and(|global| global.is_thread_local())
}

/// Whether a pointer may become known outside of its function other than by being returned.
pub fn is_captured(pointer: LLVMValueRef) -> bool {
    // SAFETY: a live pointer value.
    unsafe { ffi::threadtalk_shim_captured(pointer, true) }
}

/// The value as an alloca.
pub fn as_alloca<'ctx>(value: LLVMValueRef) -> Option<InstructionValue<'ctx>> {
    // SAFETY: a live value, seen to be an instruction before it is wrapped.
    unsafe { (!LLVMIsAAllocaInst(value).is_null()).then(|| InstructionValue::new(value)) }
}

/// The value as a global variable.
pub fn as_global<'ctx>(value: LLVMValueRef) -> Option<GlobalValue<'ctx>> {
    // SAFETY: a live value, seen to be a global variable before it is wrapped.
    unsafe { (!LLVMIsAGlobalVariable(value).is_null()).then(|| GlobalValue::new(value)) }
}

/// Bytes of an alloca of constant size.
pub fn alloca_size(alloca: InstructionValue<'_>) -> Option<u64> {
    // SAFETY: callers pass allocas.
    let size = unsafe { ffi::threadtalk_shim_static_alloca_size(alloca.as_value_ref()) };
    (size > 0).then_some(size)
}

/// Bytes of one element of an alloca; 0 if that is not fixed.
pub fn alloca_element_size(alloca: InstructionValue<'_>) -> u64 {
    // SAFETY: callers pass allocas.
    unsafe { ffi::threadtalk_shim_alloca_element_size(alloca.as_value_ref()) }
}

/// What is known about the alignment of a pointer.
pub fn known_alignment(module: &Module<'_>, pointer: PointerValue<'_>) -> u64 {
    // SAFETY: a live pointer of a live module.
    unsafe { ffi::threadtalk_shim_known_alignment(pointer.as_value_ref(), module.as_mut_ptr()) }
}

/// The most that an access through a pointer can be aligned to by the arithmetic that leads there, whatever it claims:
/// of pointers to bytes that are cast, nobody checks the claim.
pub fn left_of_alignment(module: &Module<'_>, pointer: PointerValue<'_>) -> u64 {
    // SAFETY: a live pointer of a live module.
    unsafe { ffi::threadtalk_shim_left_of_alignment(pointer.as_value_ref(), module.as_mut_ptr()) }
}

/// The pointer that this one is a constant number of bytes behind, and the number.
pub fn base(module: &Module<'_>, pointer: PointerValue<'_>) -> (LLVMValueRef, i64) {
    let mut offset = 0;
    // SAFETY: a live pointer of a live module.
    let base = unsafe { ffi::threadtalk_shim_base(module.as_mut_ptr(), pointer.as_value_ref(), &mut offset) };
    (base, offset)
}

/// Uses of a value, as the users.
pub fn users(value: LLVMValueRef) -> Vec<LLVMValueRef> {
    let mut found = Vec::new();
    // SAFETY: the use list of a live value.
    unsafe {
        let mut at = LLVMGetFirstUse(value);
        while !at.is_null() {
            found.push(LLVMGetUser(at));
            at = LLVMGetNextUse(at);
        }
    }
    found
}

/// Whether a value is the label of a block.
pub fn is_block(value: LLVMValueRef) -> bool {
    // SAFETY: a live value.
    unsafe { LLVMValueIsBasicBlock(value) != 0 }
}

/// The value as an instruction.
pub fn as_instruction<'ctx>(value: LLVMValueRef) -> Option<InstructionValue<'ctx>> {
    // SAFETY: a live value, seen to be an instruction before it is wrapped.
    unsafe { (!LLVMIsAInstruction(value).is_null()).then(|| InstructionValue::new(value)) }
}

/// Whether a function may use vector registers of 128 bits, of 256, and of 512.
pub fn has_features(function: FunctionValue<'_>) -> [bool; 4] {
    let names = [c"sse2".as_ptr(), c"avx".as_ptr(), c"avx512f".as_ptr(), c"avx512bw".as_ptr()];
    let mut has = [false; 4];
    // SAFETY: a live function; arrays of four, of which the first holds strings.
    unsafe {
        ffi::threadtalk_shim_has_features(function.as_value_ref(), names.as_ptr(), names.len(), has.as_mut_ptr())
    };
    has
}

/// The file that a module was compiled from.
pub fn main_file(module: &Module<'_>) -> String {
    let mut length = 0;
    // SAFETY: a live module; the string lives as long as it.
    unsafe {
        let data = ffi::threadtalk_shim_main_file(module.as_mut_ptr(), &mut length);
        string(data, length)
    }
}

/// Gives the instructions that the builder makes a location, or none.
pub fn set_location(builder: &Builder<'_>, location: Option<LLVMMetadataRef>) {
    // SAFETY: a live builder; null means no location.
    unsafe { LLVMSetCurrentDebugLocation2(builder.as_mut_ptr(), location.unwrap_or(std::ptr::null_mut())) };
}

/// Removes a value's instruction, and what only it used, if nothing uses it.
pub fn remove_unused(value: LLVMValueRef) {
    let mut removed = Vec::new();
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        // An operand of two instructions that are gone is on the list twice.
        if removed.contains(&value) {
            continue;
        }
        // SAFETY: a live value; the caller holds no other reference to what only it used.
        unsafe {
            let stays = LLVMIsAInstruction(value).is_null() || !LLVMGetFirstUse(value).is_null();
            if stays || !LLVMIsAPHINode(value).is_null() || !LLVMIsACallInst(value).is_null() {
                continue;
            }
            rest.extend((0..LLVMGetNumOperands(value)).map(|i| LLVMGetOperand(value, i as u32)));
            LLVMInstructionEraseFromParent(value);
        }
        removed.push(value);
    }
}

/// Makes values of stack slots of a function that only its loads and stores use.
pub fn promote<'ctx>(function: FunctionValue<'ctx>, slots: &[PointerValue<'ctx>]) {
    let slots: Vec<_> = slots.iter().map(AsValueRef::as_value_ref).collect();
    // SAFETY: allocas of this live function that only loads and stores use.
    unsafe { ffi::threadtalk_shim_promote(function.as_value_ref(), slots.as_ptr(), slots.len()) };
}

/// Whether an instruction was made for counters of control flow.
pub fn is_control(inst: InstructionValue<'_>) -> bool {
    // SAFETY: a live instruction.
    unsafe { ffi::threadtalk_shim_is_control(inst.as_value_ref()) }
}

/// Whether an instruction's result is a floating point number or a vector of them.
pub fn is_floating_point(inst: InstructionValue<'_>) -> bool {
    // SAFETY: a live value; a vector type has elements.
    unsafe {
        let mut ty = LLVMTypeOf(inst.as_value_ref());
        if matches!(LLVMGetTypeKind(ty), LLVMTypeKind::LLVMVectorTypeKind) {
            ty = LLVMGetElementType(ty);
        }
        use LLVMTypeKind::*;
        matches!(
            LLVMGetTypeKind(ty),
            LLVMHalfTypeKind
                | LLVMBFloatTypeKind
                | LLVMFloatTypeKind
                | LLVMDoubleTypeKind
                | LLVMX86_FP80TypeKind
                | LLVMFP128TypeKind
        )
    }
}

/// The value as a function.
pub fn as_function<'ctx>(value: LLVMValueRef) -> Option<FunctionValue<'ctx>> {
    // SAFETY: a live value, seen to be a function before it is wrapped.
    unsafe { if LLVMIsAFunction(value).is_null() { None } else { FunctionValue::new(value) } }
}

/// A load or store, by its result, of what is aligned to so many bytes and no more.
pub fn align(access: &impl AsValueRef, bytes: u64) {
    // SAFETY: the callers have just built a load or a store.
    unsafe { LLVMSetAlignment(access.as_value_ref(), bytes as u32) };
}

/// A number that LLVM must take as it is.
pub fn frozen<'ctx>(builder: &Builder<'ctx>, value: IntValue<'ctx>) -> IntValue<'ctx> {
    // SAFETY: freezing an integer gives an integer.
    unsafe { IntValue::new(freeze(builder, value.as_value_ref())) }
}

/// An address that LLVM must take as it is.
pub fn frozen_pointer<'ctx>(builder: &Builder<'ctx>, value: PointerValue<'ctx>) -> PointerValue<'ctx> {
    // SAFETY: freezing a pointer gives a pointer.
    unsafe { PointerValue::new(freeze(builder, value.as_value_ref())) }
}

fn freeze(builder: &Builder<'_>, value: LLVMValueRef) -> LLVMValueRef {
    // SAFETY: a value of the function that the builder is in.
    unsafe { LLVMBuildFreeze(builder.as_mut_ptr(), value, c"".as_ptr()) }
}

/// Lets the code generator leave out two steps, for all that this process compiles: scheduling, which looks only at
/// what is between two calls, and common machine code. 2 to 3 % of the time of a file of one huge function.
pub fn hurry() {
    // SAFETY: LLVM's options exist as long as its library; passes of other modules run in other processes.
    unsafe { ffi::threadtalk_shim_hurry() }
}

/// Gives an instruction another operand.
pub fn set_operand(inst: InstructionValue<'_>, index: u32, value: LLVMValueRef) {
    // SAFETY: a live instruction with such an operand, and a value of its type that dominates it, as the callers see
    // to.
    unsafe { LLVMSetOperand(inst.as_value_ref(), index, value) };
}
