//! The call behind an inlined access.

use super::super::assembly::Assembly;
use super::super::gates::gate_name;
use super::super::memos::recall_name;
use super::super::thunks::{Alignment, access_name, keeper_name, sized_hook};
use super::{Ask, Inlined};
use crate::access::{Direction, powers};
use crate::emit::{Emitted, ModuleEmitter};
use inkwell::values::PointerValue;
use std::mem::offset_of;
use threadtalk_abi::memo::packed;
use threadtalk_abi::module::ModuleBases;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Calls what settles the access, part by part. `pointer`: the operand that the address is so many bytes
    /// behind, if one is.
    pub(super) fn cold(
        &self,
        a: &mut Assembly<'ctx>,
        (direction, inlined): (Direction, &Inlined<'_, 'ctx>),
        pointer: Option<&(String, i64)>,
    ) -> Emitted<()> {
        let access = inlined.access;
        if let Ask::Memo(place) = inlined.ask {
            let name = recall_name(sized_hook(direction, access.bytes)?, Alignment::of(access));
            let base = self.base(a, offset_of!(ModuleBases, site_base))?;
            a.line(format!("movl {base}, %edi"));
            a.line(format!("movabsq $${}, %r11", packed(inlined.site, place.number, place.share)));
            a.line("addq %rdi, %r11");
            return self.call_gate(a, (access.pointer, pointer), &name);
        }
        for (first, bytes) in powers(access.bytes) {
            let hook = sized_hook(direction, bytes)?;
            let align = access.align.min(1 << first.trailing_zeros().min(63));
            let name = match direction {
                Direction::Read => access_name(hook, Alignment::known(bytes, align)),
                // What the inlined code did not do, the function for such writes could not do either.
                Direction::Write => keeper_name(hook),
            };
            self.cold_call(a, inlined, (first, pointer), &name)?;
        }
        Ok(())
    }

    /// Calls a function for the access's part that begins at byte `first`.
    fn cold_call(
        &self,
        a: &mut Assembly<'ctx>,
        access: &Inlined<'_, 'ctx>,
        (first, pointer): (u64, Option<&(String, i64)>),
        name: &str,
    ) -> Emitted<()> {
        let base = self.base(a, offset_of!(ModuleBases, site_base))?;
        a.line(format!("movl {base}, %r11d"));
        a.line(format!("addl $${}, %r11d", access.site as i32));
        let from = match first {
            0 => access.access.pointer,
            _ => self.offset(access.access.pointer, first)?,
        };
        self.call_gate(a, (from, pointer), name)
    }

    /// Calls a function with an address, and with what is in r11.
    pub(super) fn call_gate(
        &self,
        a: &mut Assembly<'ctx>,
        (pointer, held): (PointerValue<'ctx>, Option<&(String, i64)>),
        name: &str,
    ) -> Emitted<()> {
        match held {
            Some((held, 0)) => a.line(format!("movq {held}, %rdi")),
            Some((held, bytes)) => a.line(format!("leaq {bytes}({held}), %rdi")),
            None => a.address(pointer, "%rdi"),
        }
        let gate = gate_name(name, self.own_kept()?);
        // Through the table of offsets, as nonlazybind says of calls of hooks: nobody keeps registers when a call is
        // bound at its first use.
        a.line(format!("callq *{gate}@GOTPCREL(%rip)"));
        Ok(())
    }

    /// One of the module's bases.
    pub(super) fn base(&self, a: &mut Assembly<'ctx>, field: usize) -> Emitted<String> {
        Ok(a.memory(self.offset(self.bases.as_pointer_value(), field as u64)?))
    }
}
