//! What an instrumented function does first: find the thread's control block and load what its accesses need.

use super::{Emitted, Likely, ModuleEmitter};
use crate::access::Direction;
use crate::error::PassError;
use crate::llvm;
use inkwell::values::{AsValueRef, BasicValue, FunctionValue, InstructionValue, IntValue, PointerValue, VectorValue};
use std::mem::offset_of;
use threadtalk_abi::hooks;
use threadtalk_abi::module::ModuleBases;
use threadtalk_abi::thread::offset;

/// Values that live as long as the function runs. What only the assembly of accesses needs is none of them: it takes
/// that from the control block each time ([`super::assembly`]).
#[derive(Default)]
pub struct Prologue<'ctx> {
    /// The control block; `None` if nothing needs it.
    pub header: Option<PointerValue<'ctx>>,
    /// `ThreadHeader::directory`.
    pub directory: Option<PointerValue<'ctx>>,
    /// `ThreadHeader::writable`.
    pub writable: Option<PointerValue<'ctx>>,
    /// `own_base`, and the bits in which ids of other threads differ from it.
    pub own: Option<(IntValue<'ctx>, IntValue<'ctx>)>,
    /// Both in each half of 64 bits.
    pub own_pair: Option<(IntValue<'ctx>, IntValue<'ctx>)>,
    /// What the module's first site is in the ids that writes leave, in each half of 64 bits.
    pub sites: Option<IntValue<'ctx>>,
    /// In the archive's functions: what is written at the site with global number 0.
    pub write_id: Option<IntValue<'ctx>>,
}

impl<'ctx> Prologue<'ctx> {
    /// The directory of reads or of writes.
    pub fn directory_of(&self, direction: Direction) -> Emitted<PointerValue<'ctx>> {
        let directory = match direction {
            Direction::Read => self.directory,
            Direction::Write => self.writable,
        };
        directory.ok_or(PassError::Invalid("no directory".into()))
    }
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Loads what accesses need, behind the control block. Everything that follows goes before instructions that it
    /// dominates.
    pub fn prologue(&self, header: PointerValue<'ctx>) -> Emitted<Prologue<'ctx>> {
        let mut prologue = Prologue { header: Some(header), ..Prologue::default() };
        let point = llvm::first_after(header).ok_or(PassError::Invalid("no entry block".into()))?;
        self.builder.position_before(&point);
        let pointer =
            |field, name| -> Emitted<_> { Ok(self.load_constant(self.ptr, header, field, name)?.into_pointer_value()) };
        prologue.directory = Some(pointer(offset::DIRECTORY, "threadtalk.directory")?);
        prologue.writable = Some(pointer(offset::WRITABLE, "threadtalk.writable")?);
        self.load_own(&mut prologue, header)?;
        prologue.sites = Some(self.in_both_halves(self.load_base(offset_of!(ModuleBases, write_site_base))?)?);
        Ok(prologue)
    }

    /// Removes what nothing has asked for.
    pub fn tidy(&self, prologue: &Prologue<'ctx>) {
        let pairs = prologue.own.into_iter().chain(prologue.own_pair).flat_map(|(base, foreign)| [base, foreign]);
        pairs.chain(prologue.sites).for_each(|number| llvm::remove_unused(number.as_value_ref()));
        let directories = prologue.directory.into_iter().chain(prologue.writable);
        directories.for_each(|pointer| llvm::remove_unused(pointer.as_value_ref()));
    }

    /// Where a function begins, code that finds the thread's control block.
    pub fn control_block(&self, function: FunctionValue<'ctx>) -> Emitted<PointerValue<'ctx>> {
        let b = &self.builder;
        let point = entry_point(function);
        // Takes over its location.
        b.position_before(&point);
        let rest = llvm::split_before(point).ok_or(PassError::Invalid("no entry block".into()))?;
        let entry = function.get_first_basic_block().ok_or(PassError::Invalid("no entry block".into()))?;
        let attach = self.context.append_basic_block(function, "threadtalk.attach");
        self.reopen(entry)?;
        let known = self.load_thread_pointer()?;
        self.branch(b.build_is_null(known, "")?, attach, rest, Likely::Rarely)?;
        b.position_at_end(attach);
        let made = self.call_directly(hooks::ATTACH, &[])?;
        let made = made.try_as_basic_value().basic().ok_or(PassError::Invalid("attach has no result".into()))?;
        b.build_unconditional_branch(rest)?;
        b.position_before(&point);
        let header = b.build_phi(self.ptr, "threadtalk.thread")?;
        header.add_incoming(&[(&known, entry), (&made, attach)]);
        Ok(header.as_basic_value().into_pointer_value())
    }

    /// The thread's control block or null.
    pub fn load_thread_pointer(&self) -> Emitted<PointerValue<'ctx>> {
        let tls = self.tls.as_pointer_value();
        let slot = self.intrinsic("llvm.threadlocal.address", &[self.ptr.into()], &[tls.into()])?;
        let known = self.builder.build_load(self.ptr, slot.into_pointer_value(), "threadtalk.known")?;
        if let Some(load) = known.as_instruction_value() {
            self.mark_control(load);
        }
        Ok(known.into_pointer_value())
    }

    /// Loads what tells the thread's own ids from others.
    pub fn load_own(&self, prologue: &mut Prologue<'ctx>, header: PointerValue<'ctx>) -> Emitted<()> {
        let load = |ty| -> Emitted<_> {
            let base = self.load_constant(ty, header, offset::OWN, "threadtalk.own")?.into_int_value();
            let foreign = self.load_constant(ty, header, offset::FOREIGN, "threadtalk.foreign")?.into_int_value();
            Ok((base, foreign))
        };
        (prologue.own, prologue.own_pair) = (Some(load(self.i32)?), Some(load(self.i64)?));
        Ok(())
    }

    /// What the function's writes leave in cells now, before their sites are added. It changes in calls that create or
    /// join threads.
    pub fn id_of_writes(&self, prologue: &Prologue<'ctx>) -> Emitted<IntValue<'ctx>> {
        if let Some(known) = prologue.write_id {
            return Ok(known);
        }
        let missing = || PassError::Invalid("no write id".into());
        let thread = self.load_int(self.i32, prologue.header.ok_or_else(missing)?, offset::WRITE)?;
        let module = self.builder.build_int_truncate(prologue.sites.ok_or_else(missing)?, self.i32, "")?;
        Ok(self.builder.build_int_add(thread, module, "")?)
    }

    /// A 32-bit number in each half of a 64-bit one.
    pub fn in_both_halves(&self, value: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let low = self.widen(value)?;
        let high = self.builder.build_left_shift(low, self.c64(32), "")?;
        Ok(self.builder.build_or(high, low, "")?)
    }

    /// A number in each of `lanes` lanes.
    pub fn splat(&self, value: IntValue<'ctx>, lanes: u32) -> Emitted<VectorValue<'ctx>> {
        let ty = value.get_type().vec_type(lanes);
        let one = self.builder.build_insert_element(ty.get_poison(), value, self.c32(0), "")?;
        Ok(self.builder.build_shuffle_vector(one, ty.get_poison(), self.i32.vec_type(lanes).const_zero(), "")?)
    }

    /// Removes a block's terminator and goes on building at its end.
    pub fn reopen(&self, block: inkwell::basic_block::BasicBlock<'ctx>) -> Emitted<()> {
        if let Some(last) = block.get_terminator() {
            last.erase_from_basic_block();
        }
        self.builder.position_at_end(block);
        Ok(())
    }
}

/// Where code may go that dominates everything but static allocas.
fn entry_point(function: FunctionValue<'_>) -> InstructionValue<'_> {
    // SAFETY: a live function with a body; the result is one of its instructions.
    unsafe { InstructionValue::new(llvm::ffi::threadtalk_shim_entry_point(function.as_value_ref())) }
}
