//! What huge functions call for each access: functions of the module itself, which know its numbers.
//!
//! A call then costs the caller, and the compiler, two arguments, of which one is a constant. Whatever else there
//! may be in its place, some pass of LLVM's code generator takes time in proportion to the square of what one block or
//! function holds of it: additions to a number that is loaded (two-address instructions), addresses in one table
//! (LEA optimisation), sums with a register (coalescer), values that live from one instruction to the next (spill
//! weights look through all calls for each). So the counter of a block rides with its first access, in the upper half
//! of the constant, and what is left of counters are calls, too.

use super::thunks::{Alignment, access_name};
use super::{Emitted, ModuleEmitter, Site};
use crate::access::{Access, Direction, Event, When};
use crate::control::Single;
use crate::control::bumps;
use crate::error::PassError;
use crate::llvm;
use crate::llvm::hash::Map;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::module::Linkage;
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{AsValueRef, FunctionValue, InstructionOpcode, InstructionValue, IntValue};
use std::mem::offset_of;
use std::rc::Rc;
use threadtalk_abi::hooks;
use threadtalk_abi::module::ModuleBases;

/// Counters of a huge function, which become part of calls for accesses or calls of their own.
#[derive(Default)]
pub struct Riders<'ctx> {
    counters: Vec<Single<'ctx>>,
    /// The last one of each block that no access has asked for.
    waiting: Map<BasicBlock<'ctx>, usize>,
    /// Whether an access adds to it, by counter.
    rides: Vec<bool>,
}

impl<'ctx> Riders<'ctx> {
    /// None of them rides.
    pub fn new(counters: &[Single<'ctx>]) -> Self {
        let waiting = counters.iter().enumerate().filter_map(|(i, c)| Some((c.store.get_parent()?, i))).collect();
        Riders { counters: counters.to_vec(), waiting, rides: vec![false; counters.len()] }
    }

    /// The counter that the call for `event` adds to: the one before it in its block, unless a call is between them, in
    /// which threads may begin or end.
    pub fn of(&mut self, event: &Event<'ctx>) -> Option<u32> {
        let number = self.waiting.remove(&event.inst.get_parent()?)?;
        let Single { store, counter } = self.counters[number];
        if event.when != When::Before {
            return None;
        }
        let mut at = store.get_next_instruction()?;
        while at != event.inst {
            if llvm::is_call(at) {
                return None;
            }
            at = at.get_next_instruction()?;
        }
        self.rides[number] = true;
        Some(counter)
    }

    /// Removes the counters' code, and makes calls of those that do not ride. Last of all: what was found out about the
    /// function may name an instruction of theirs as a place.
    pub fn finish(self, m: &ModuleEmitter<'_, 'ctx>) -> Emitted<()> {
        for (Single { store, counter }, rides) in self.counters.into_iter().zip(self.rides) {
            if !rides {
                m.builder.position_before(&store);
                llvm::set_location(&m.builder, None);
                m.call_counter(counter)?;
            }
            remove(store)?;
        }
        Ok(())
    }
}

/// What a function of the module does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Here {
    /// The access: the hook's name, and what is known of addresses.
    hook: Option<(&'static str, Alignment)>,
    /// It adds to a counter.
    counted: bool,
}

/// Removes the code of a counter, given its store, or what stands in its place. Load and store share the address, so
/// that the store, the sum and the load go one by one.
fn remove(store: InstructionValue<'_>) -> Emitted<()> {
    let operand = |inst: InstructionValue<'_>, n| llvm::operand(inst.as_value_ref(), n);
    let none = || PassError::Invalid("a counter is not as it was made".into());
    if store.get_opcode() == InstructionOpcode::Freeze {
        store.erase_from_basic_block();
        return Ok(());
    }
    let address = operand(store, 1);
    let sum = llvm::as_instruction(operand(store, 0)).ok_or_else(none)?;
    let load = llvm::as_instruction(operand(sum, 0)).ok_or_else(none)?;
    [store, sum, load].into_iter().for_each(|inst| inst.erase_from_basic_block());
    llvm::remove_unused(address);
    Ok(())
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Calls the module's function for an access; it adds 1 to `counter` first.
    pub fn call_in_module(
        &self,
        direction: Direction,
        access: &Access<'ctx>,
        site: Site<'ctx>,
        counter: Option<u32>,
    ) -> Emitted<()> {
        let Some(hook) = [hooks::read(access.bytes), hooks::write(access.bytes)][direction as usize] else {
            if let Some(counter) = counter {
                self.call_counter(counter)?;
            }
            return self.call_access(direction, access, site);
        };
        let alignment = Alignment::of(access);
        let index = site.number();
        let (number_type, number) = match counter {
            Some(counter) => {
                let site = llvm::constant(index.as_value_ref()).unwrap_or_default();
                (self.i64, self.c64(u64::from(counter) << 32 | site))
            }
            None => (self.i32, index),
        };
        let name = || {
            let counted = if counter.is_some() { ".counted" } else { "" };
            format!("{}.here{counted}", access_name(hook, alignment))
        };
        let key = Here { hook: Some((hook.name, alignment)), counted: counter.is_some() };
        let function = self.in_module(key, name, &[self.ptr.into(), number_type.into()], |m, function| {
            let parameter = |n| function.get_nth_param(n).ok_or(PassError::Invalid("a parameter".into()));
            let mut index = parameter(1)?.into_int_value();
            if counter.is_some() {
                m.count(m.builder.build_right_shift(index, m.c64(32), false, "")?)?;
                index = m.builder.build_int_truncate(index, m.i32, "")?;
            }
            let number = m.builder.build_int_add(m.load_base(offset_of!(ModuleBases, site_base))?, index, "")?;
            let pointer = parameter(0)?.into_pointer_value();
            m.call_access_function(direction, &Access { pointer, ..*access }, Site::Global(number))
        })?;
        let arguments = [access.pointer.into(), number.into()];
        self.builder.build_call(function, &arguments, "")?.set_call_convention(super::thunks::PRESERVE_ALL);
        Ok(())
    }

    /// Calls the module's function that adds 1 to a counter.
    fn call_counter(&self, counter: u32) -> Emitted<()> {
        let key = Here { hook: None, counted: true };
        let name = || "threadtalk.count.here".into();
        let function = self.in_module(key, name, &[self.i32.into()], |m, function| {
            let counter = function.get_first_param().ok_or(PassError::Invalid("a parameter".into()))?;
            m.count(counter.into_int_value())
        })?;
        let call = self.builder.build_call(function, &[self.c32(counter).into()], "")?;
        call.set_call_convention(super::thunks::PRESERVE_ALL);
        Ok(())
    }

    /// Adds 1 to the counter of this number; the caller has looked for the thread's control block when it was entered.
    fn count(&self, counter: IntValue<'ctx>) -> Emitted<()> {
        let header = self.load_thread_pointer()?;
        let base = self.widen(self.load_base(offset_of!(ModuleBases, counter_base))?)?;
        let number = self.builder.build_int_add(base, self.widen(counter)?, "")?;
        let bytes = self.builder.build_left_shift(number, self.c64(3), "")?;
        bumps::add(self, (header, bytes), 0, self.c64(1)).map(drop)
    }

    /// The module's function of this name for callers with the registers of the one that is being written; `body`
    /// writes it if there is none. It keeps all registers.
    fn in_module(
        &self,
        key: Here,
        name: impl FnOnce() -> String,
        parameters: &[BasicMetadataTypeEnum<'ctx>],
        body: impl FnOnce(&Self, FunctionValue<'ctx>) -> Emitted<()>,
    ) -> Emitted<FunctionValue<'ctx>> {
        let caller = self.here()?.get_parent().ok_or(PassError::Invalid("block without function".into()))?;
        let registers = self.registers(caller);
        if let Some(&known) = self.here.borrow().get(&(key, registers)) {
            return Ok(known);
        }
        let ty = self.context.void_type().fn_type(parameters, false);
        let function = self.new_function(&name(), ty, registers);
        function.set_linkage(Linkage::Internal);
        // Calls of cold functions make blocks cold. Where each block has one nothing follows from that, but that LLVM
        // weighs all of them anew, twice, and sinks what they use into them.
        function.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id("cold"));
        self.here.borrow_mut().insert((key, registers), function);
        let inner = ModuleEmitter { builder: Rc::new(self.context.create_builder()), ..self.clone() };
        inner.builder.position_at_end(self.context.append_basic_block(function, ""));
        body(&inner, function)?;
        inner.builder.build_return(None)?;
        Ok(function)
    }
}
