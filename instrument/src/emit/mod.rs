//! Turns a function's plan into IR.
//!
//! * [`hooks`] declares the entry points of the runtime; [`thunks`] are the functions through which they are called,
//!   [`archive`] makes them, for each kind of [`registers`].
//! * [`prologue`] finds the thread's control block when a function is entered.
//! * [`translate`] gets from an address to its cells.
//! * [`mod@inline`] are accesses in the program's code: [`assembly`] that does what is usual, and calls the archive's
//!   functions by [`gates`].
//! * [`mod@read`] and [`mod@write`] are what those do, as [`threadtalk_abi::thread`] describes it.
//! * [`lanes`] are masked accesses, gather and scatter in loops, all lanes at once; [`vectors`] are the others.
//! * [`library`] are calls of the C library, [`prefix`] is what they need to know where a comparison ends.
//! * [`memos`] are what comes before the event cache in loop nests without calls.
//! * [`repeats`] are what reads that come again in one block look at.
//! * [`cache`] calls the model of the caches, if that is compiled in.
//! * [`inductions`] hides loops' variables from the code generator.
//! * [`in_module`] are functions of the module itself that huge functions call.
//! * [`loops`] asks the runtime to count a whole loop before it runs; [`windows`] is what comes before that in nests.
//! * [`nests`] asks it to count a whole nest.
//! * [`questions`] is how both say what is accessed.
//! * [`visits`] counts entries of regions.
//! * [`function`] puts the pieces where they belong; [`registration`] makes the module known to the runtime.

pub mod archive;
pub mod assembly;
pub mod cache;
pub mod function;
pub mod gates;
pub mod hooks;
pub mod in_module;
pub mod inductions;
pub mod inline;
pub mod lanes;
pub mod library;
pub mod lifetime;
pub mod loops;
pub mod memos;
pub mod nests;
pub mod prefix;
pub mod prologue;
mod questions;
pub mod read;
pub mod registers;
pub mod registration;
pub mod repeats;
pub mod searches;
pub mod thunks;
pub mod translate;
pub mod vectors;
pub mod visits;
pub mod windows;
pub mod write;

use crate::error::PassError;
use crate::llvm::hash::Map;
use crate::tables::SiteId;
use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::context::ContextRef;
use inkwell::module::{Linkage, Module};
use inkwell::types::{BasicType, IntType, PointerType};
use inkwell::values::{
    BasicValue, FunctionValue, GlobalValue, InstructionValue, IntValue, MetadataValue, PointerValue,
};
use inkwell::{AddressSpace, AtomicOrdering, ThreadLocalMode};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use threadtalk_abi::thread::TLS_SYMBOL;

/// Result of emitting something.
pub type Emitted<T> = Result<T, PassError>;

/// What the code of all functions of a module shares.
#[derive(Clone)]
pub struct ModuleEmitter<'a, 'ctx> {
    /// The module.
    pub module: &'a Module<'ctx>,
    /// Its context.
    pub context: ContextRef<'ctx>,
    /// The one builder.
    pub builder: Rc<Builder<'ctx>>,
    /// `i32`.
    pub i32: IntType<'ctx>,
    /// `i64`.
    pub i64: IntType<'ctx>,
    /// Pointers.
    pub ptr: PointerType<'ctx>,
    /// The runtime's thread-local pointer.
    pub tls: GlobalValue<'ctx>,
    /// The module's `ModuleBases`.
    pub bases: GlobalValue<'ctx>,
    hooks: Rc<RefCell<HashMap<&'static str, FunctionValue<'ctx>>>>,
    /// Functions of the module that huge functions call.
    here: Rc<RefCell<Map<(in_module::Here, registers::Registers), FunctionValue<'ctx>>>>,
    registers: Rc<RefCell<Map<FunctionValue<'ctx>, registers::Kept>>>,
    /// Lengths of strings before something was appended to them, by the call that does it.
    appendable: Rc<RefCell<HashMap<InstructionValue<'ctx>, IntValue<'ctx>>>>,
    invariant_kind: u32,
    profile_kind: u32,
    control_kind: u32,
    empty: MetadataValue<'ctx>,
    rarely: MetadataValue<'ctx>,
    usually: MetadataValue<'ctx>,
    mostly: MetadataValue<'ctx>,
}

/// The number of a site.
#[derive(Clone, Copy, Debug)]
pub enum Site<'ctx> {
    /// In its module: a constant.
    InModule(IntValue<'ctx>),
    /// In the process, as hooks take it.
    Global(IntValue<'ctx>),
}

impl<'ctx> Site<'ctx> {
    /// The number itself.
    pub fn number(self) -> IntValue<'ctx> {
        let (Site::InModule(number) | Site::Global(number)) = self;
        number
    }
}

/// How often a branch is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likely {
    /// Nearly never: the target is a cold call.
    Rarely,
    /// Nearly always.
    Usually,
    /// More often than not.
    Mostly,
}

impl<'a, 'ctx> ModuleEmitter<'a, 'ctx> {
    /// Adds the declarations that every function needs.
    pub fn new(module: &'a Module<'ctx>) -> Self {
        let context = module.get_context();
        let ptr = context.ptr_type(AddressSpace::default());
        let i32 = context.i32_type();
        let tls = module.get_global(TLS_SYMBOL).unwrap_or_else(|| {
            let tls = module.add_global(ptr, None, TLS_SYMBOL);
            tls.set_linkage(Linkage::External);
            tls.set_thread_local_mode(Some(ThreadLocalMode::InitialExecTLSModel));
            tls
        });
        let bases_type = i32.array_type(size_of::<threadtalk_abi::module::ModuleBases>() as u32 / 4);
        let bases = module.add_global(bases_type, None, "threadtalk.bases");
        bases.set_linkage(Linkage::Internal);
        bases.set_initializer(&bases_type.const_zero());
        bases.set_alignment(16);
        let weights = |taken: u64, other: u64| {
            let name = context.metadata_string("branch_weights");
            context.metadata_node(&[
                name.into(),
                i32.const_int(taken, false).into(),
                i32.const_int(other, false).into(),
            ])
        };
        ModuleEmitter {
            module,
            context,
            builder: Rc::new(context.create_builder()),
            i32,
            i64: context.i64_type(),
            ptr,
            tls,
            bases,
            hooks: Rc::default(),
            here: Rc::default(),
            registers: Rc::default(),
            appendable: Rc::default(),
            invariant_kind: context.get_kind_id("invariant.load"),
            control_kind: context.get_kind_id("threadtalk.control"),
            profile_kind: context.get_kind_id("prof"),
            empty: context.metadata_node(&[]),
            // The weights of __builtin_expect, so that block placement treats the targets as cold.
            rarely: weights(1, 2000),
            usually: weights(50, 1),
            mostly: weights(4, 1),
        }
    }

    /// A 64-bit constant.
    pub fn c64(&self, value: u64) -> IntValue<'ctx> {
        self.i64.const_int(value, false)
    }

    /// A 32-bit constant.
    pub fn c32(&self, value: u32) -> IntValue<'ctx> {
        self.i32.const_int(u64::from(value), false)
    }

    /// A site of the module.
    pub fn site(&self, site: SiteId) -> Site<'ctx> {
        Site::InModule(self.c32(site.0))
    }

    /// `base + offset` bytes.
    pub fn offset(&self, base: PointerValue<'ctx>, offset: u64) -> Emitted<PointerValue<'ctx>> {
        if offset == 0 {
            return Ok(base);
        }
        // SAFETY: a byte offset into a structure or array that holds it; without `inbounds` nothing is promised to
        // LLVM.
        Ok(unsafe { self.builder.build_gep(self.context.i8_type(), base, &[self.c64(offset)], "")? })
    }

    /// `base + index` bytes.
    pub fn offset_by(&self, base: PointerValue<'ctx>, index: IntValue<'ctx>) -> Emitted<PointerValue<'ctx>> {
        // SAFETY: as in `offset`.
        Ok(unsafe { self.builder.build_gep(self.context.i8_type(), base, &[index], "")? })
    }

    /// Loads a value that does not change while the function runs.
    pub fn load_constant<T: BasicType<'ctx>>(
        &self,
        ty: T,
        base: PointerValue<'ctx>,
        offset: u64,
        name: &str,
    ) -> Emitted<inkwell::values::BasicValueEnum<'ctx>> {
        let value = self.builder.build_load(ty, self.offset(base, offset)?, name)?;
        self.mark(value, self.empty, self.invariant_kind);
        Ok(value)
    }

    /// Loads an integer that only this thread changes.
    pub fn load_int(&self, ty: IntType<'ctx>, base: PointerValue<'ctx>, offset: u64) -> Emitted<IntValue<'ctx>> {
        Ok(self.builder.build_load(ty, self.offset(base, offset)?, "")?.into_int_value())
    }

    /// Loads one of the module's bases. Not marked as constant: what uses it is cold or warm, and must not be given a
    /// register that hot code needs.
    pub fn load_base(&self, offset: usize) -> Emitted<IntValue<'ctx>> {
        let base = self.load_int(self.i32, self.bases.as_pointer_value(), offset as u64)?;
        if let Some(load) = base.as_instruction_value() {
            self.mark_control(load);
        }
        Ok(base)
    }

    /// Makes the memory access relaxed.
    pub fn relaxed(&self, access: InstructionValue<'ctx>, align: u32) {
        // Both fail only for instructions that have no ordering or alignment.
        let set = access.set_alignment(align).and_then(|()| access.set_atomic_ordering(AtomicOrdering::Monotonic));
        debug_assert!(set.is_ok(), "loads and stores have an ordering");
    }

    /// A conditional branch.
    pub fn branch(
        &self,
        condition: IntValue<'ctx>,
        taken: BasicBlock<'ctx>,
        other: BasicBlock<'ctx>,
        likely: Likely,
    ) -> Emitted<()> {
        let branch = self.builder.build_conditional_branch(condition, taken, other)?;
        let weights = match likely {
            Likely::Rarely => self.rarely,
            Likely::Usually => self.usually,
            Likely::Mostly => self.mostly,
        };
        let set = branch.set_metadata(weights, self.profile_kind);
        debug_assert!(set.is_ok(), "a node is metadata");
        Ok(())
    }

    /// Branches to `target` if `condition` holds, which is rare; goes on in a new block.
    pub fn leave_if(&self, condition: IntValue<'ctx>, target: BasicBlock<'ctx>) -> Emitted<()> {
        let next = self.block_after(self.here()?);
        self.branch(condition, target, next, Likely::Rarely)?;
        self.builder.position_at_end(next);
        Ok(())
    }

    /// Compares two integers.
    pub fn compare(
        &self,
        predicate: IntPredicate,
        left: IntValue<'ctx>,
        right: IntValue<'ctx>,
    ) -> Emitted<IntValue<'ctx>> {
        Ok(self.builder.build_int_compare(predicate, left, right, "")?)
    }

    /// An integer as 64 bits, without sign.
    pub fn widen(&self, value: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        match value.get_type().get_bit_width() {
            64 => Ok(value),
            bits if bits < 64 => Ok(self.builder.build_int_z_extend(value, self.i64, "")?),
            _ => Ok(self.builder.build_int_truncate(value, self.i64, "")?),
        }
    }

    /// A new block behind `block`.
    pub fn block_after(&self, block: BasicBlock<'ctx>) -> BasicBlock<'ctx> {
        self.context.insert_basic_block_after(block, "")
    }

    /// Calls an LLVM intrinsic that is overloaded on the given types.
    pub fn intrinsic(
        &self,
        name: &str,
        types: &[inkwell::types::BasicTypeEnum<'ctx>],
        arguments: &[inkwell::values::BasicMetadataValueEnum<'ctx>],
    ) -> Emitted<inkwell::values::BasicValueEnum<'ctx>> {
        let call = self.call_intrinsic(name, types, arguments)?;
        call.try_as_basic_value().basic().ok_or_else(|| PassError::Invalid(format!("intrinsic {name} has no result")))
    }

    /// The same, of one that may have no result.
    pub fn call_intrinsic(
        &self,
        name: &str,
        types: &[inkwell::types::BasicTypeEnum<'ctx>],
        arguments: &[inkwell::values::BasicMetadataValueEnum<'ctx>],
    ) -> Emitted<inkwell::values::CallSiteValue<'ctx>> {
        let function = inkwell::intrinsics::Intrinsic::find(name)
            .and_then(|i| i.get_declaration(self.module, types))
            .ok_or_else(|| PassError::Invalid(format!("LLVM has no intrinsic {name}")))?;
        Ok(self.builder.build_call(function, arguments, "")?)
    }

    /// Marks an instruction as one that is made before accesses are looked for: no access of the program, no
    /// synchronisation.
    pub fn mark_control(&self, inst: InstructionValue<'ctx>) {
        let set = inst.set_metadata(self.empty, self.control_kind);
        debug_assert!(set.is_ok(), "a node is metadata");
    }

    fn mark(&self, value: inkwell::values::BasicValueEnum<'ctx>, node: MetadataValue<'ctx>, kind: u32) {
        if let Some(inst) = value.as_instruction_value() {
            let set = inst.set_metadata(node, kind);
            debug_assert!(set.is_ok(), "a node is metadata");
        }
    }
}
