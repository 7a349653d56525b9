//! What an instrumented function does first: find the thread's control block and load what its accesses need.

use super::{Emitted, Likely, ModuleEmitter};
use crate::error::PassError;
use crate::llvm;
use inkwell::values::{AsValueRef, BasicValue, FunctionValue, InstructionValue, IntValue, PointerValue, VectorValue};
use std::mem::offset_of;
use threadtalk_abi::hooks;
use threadtalk_abi::module::ModuleBases;
use threadtalk_abi::thread::offset;

/// What the function's accesses need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Inlined reads.
    pub reads: bool,
    /// Inlined reads of two granules.
    pub reads_of_two: bool,
    /// Inlined writes.
    pub writes: bool,
    /// Address translation of reads and deaths.
    pub translation: bool,
    /// The control block.
    pub header: bool,
}

/// Where the id is that this thread writes at the module's site 0. It changes in calls that create or join threads.
#[derive(Clone, Copy, Debug)]
pub enum WriteId<'ctx> {
    /// In a stack slot, loaded again after each call; becomes registers when the function is done.
    Slot(PointerValue<'ctx>),
    /// A value, where there are no calls.
    Value(IntValue<'ctx>),
}

/// Values that live as long as the function runs.
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
    /// What to write.
    pub write_id: Option<WriteId<'ctx>>,
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Emits the prologue. Everything that follows goes before instructions that it dominates. `known`: the control
    /// block, if the function has looked for it already.
    pub fn prologue(
        &self,
        function: FunctionValue<'ctx>,
        needs: Needs,
        known: Option<PointerValue<'ctx>>,
    ) -> Emitted<Prologue<'ctx>> {
        let mut prologue = Prologue::default();
        let b = &self.builder;
        let point = entry_point(function);
        b.position_before(&point);
        if !needs.header {
            return Ok(prologue);
        }
        let slot = if needs.writes { Some(b.build_alloca(self.i32, "threadtalk.write")?) } else { None };
        let header = match known {
            Some(header) => header,
            None => self.find_header(function, point)?,
        };
        let point = llvm::first_after(header).ok_or(PassError::Invalid("no entry block".into()))?;
        b.position_before(&point);
        prologue.header = Some(header);
        if needs.translation {
            let directory = self.load_constant(self.ptr, header, offset::DIRECTORY, "threadtalk.directory")?;
            prologue.directory = Some(directory.into_pointer_value());
        }
        if needs.writes {
            let writable = self.load_constant(self.ptr, header, offset::WRITABLE, "threadtalk.writable")?;
            prologue.writable = Some(writable.into_pointer_value());
        }
        if needs.reads {
            self.load_own(&mut prologue, header, needs.reads_of_two)?;
        }
        if let Some(slot) = slot {
            b.build_store(slot, self.write_id(header)?)?;
            prologue.write_id = Some(WriteId::Slot(slot));
        }
        Ok(prologue)
    }

    /// Code that finds the control block, before `point`.
    fn find_header(&self, function: FunctionValue<'ctx>, point: InstructionValue<'ctx>) -> Emitted<PointerValue<'ctx>> {
        let b = &self.builder;
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
    pub fn load_own(&self, prologue: &mut Prologue<'ctx>, header: PointerValue<'ctx>, pair: bool) -> Emitted<()> {
        let b = &self.builder;
        let base = self.load_constant(self.i32, header, offset::OWN_BASE, "threadtalk.own")?.into_int_value();
        let span = self.load_constant(self.i32, header, offset::OWN_SPAN, "threadtalk.span")?.into_int_value();
        let foreign = b.build_int_sub(self.c32(0), span, "threadtalk.foreign")?;
        prologue.own = Some((base, foreign));
        if pair {
            prologue.own_pair = Some((self.in_both_halves(base)?, self.in_both_halves(foreign)?));
        }
        Ok(())
    }

    /// A 32-bit number in each half of a 64-bit one.
    pub fn in_both_halves(&self, value: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let low = self.widen(value)?;
        let high = self.builder.build_left_shift(low, self.c64(32), "")?;
        Ok(self.builder.build_or(high, low, "")?)
    }

    /// The id that this thread writes at the module's site 0 now.
    pub fn write_id(&self, header: PointerValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let thread = self.load_int(self.i32, header, offset::WRITE_BASE)?;
        let module = self.load_base(offset_of!(ModuleBases, write_site_base))?;
        Ok(self.builder.build_int_add(thread, module, "")?)
    }

    /// A 32-bit value in each of `lanes` lanes.
    pub fn splat(&self, value: IntValue<'ctx>, lanes: u32) -> Emitted<VectorValue<'ctx>> {
        let ty = self.i32.vec_type(lanes);
        let one = self.builder.build_insert_element(ty.get_poison(), value, self.c32(0), "")?;
        Ok(self.builder.build_shuffle_vector(one, ty.get_poison(), ty.const_zero(), "")?)
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
