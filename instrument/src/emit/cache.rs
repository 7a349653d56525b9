//! Calls of the cache model: one before each access, with as many bytes as it touches.

use super::{Emitted, ModuleEmitter, Site};
use crate::access::{Access, Action, Direction, Event};
use crate::llvm;
use inkwell::AddressSpace;
use inkwell::values::{IntValue, PointerValue, VectorValue};
use threadtalk_abi::hooks;

/// The bit that says that an access writes.
const WRITES: u32 = 1 << 31;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Adds the calls for a function. Comes before its other instrumentation.
    pub fn model_caches(&self, events: &[Event<'ctx>]) -> Emitted<()> {
        for event in events {
            self.builder.position_before(&event.inst);
            llvm::set_location(&self.builder, llvm::debug::of(event.inst).map(|l| l.raw));
            self.model(event)?;
            llvm::set_location(&self.builder, None);
        }
        Ok(())
    }

    fn model(&self, event: &Event<'ctx>) -> Emitted<()> {
        let site = self.site(event.site);
        match &event.action {
            Action::Plain(direction, access) => self.touch(access.pointer, self.bytes(access.bytes), *direction, site),
            // One line is fetched, for writing.
            Action::Update(access) | Action::CompareExchange(access) => {
                self.touch(access.pointer, self.bytes(access.bytes), Direction::Write, site)
            }
            Action::Range(direction, pointer, bytes) => self.touch(*pointer, self.narrow(*bytes)?, *direction, site),
            Action::Copy(to, from, bytes) => {
                let bytes = self.narrow(*bytes)?;
                self.touch(*from, bytes, Direction::Read, site)?;
                self.touch(*to, bytes, Direction::Write, site)
            }
            // Lanes that are not active lie in the same lines as those that are, but for the ends.
            Action::Masked(direction, Access { pointer, bytes: lane, .. }, mask)
            | Action::Packed(direction, pointer, lane, mask) => {
                let bytes = lane * u64::from(llvm::vector_len(mask.get_type()));
                self.touch(*pointer, self.bytes(bytes), *direction, site)
            }
            Action::Scattered(direction, pointers, bytes, _, mask) => {
                self.touch_lanes(*direction, *pointers, *bytes, *mask, site)
            }
            Action::Library(_)
            | Action::Moves(_)
            | Action::Allocation(_)
            | Action::Creation
            | Action::Dies(..)
            | Action::DiesWhole(..) => Ok(()),
        }
    }

    /// Each lane; one that is not active touches no bytes.
    fn touch_lanes(
        &self,
        direction: Direction,
        pointers: VectorValue<'ctx>,
        bytes: u64,
        mask: VectorValue<'ctx>,
        site: Site<'ctx>,
    ) -> Emitted<()> {
        for lane in 0..llvm::vector_len(mask.get_type()) {
            let pointer = self.builder.build_extract_element(pointers, self.c32(lane), "")?.into_pointer_value();
            let active = self.builder.build_extract_element(mask, self.c32(lane), "")?.into_int_value();
            let bytes = self.builder.build_select(active, self.bytes(bytes), self.c32(0), "")?.into_int_value();
            self.touch(pointer, bytes, direction, site)?;
        }
        Ok(())
    }

    fn touch(
        &self,
        pointer: PointerValue<'ctx>,
        bytes: IntValue<'ctx>,
        direction: Direction,
        site: Site<'ctx>,
    ) -> Emitted<()> {
        let writes = self.c32(if direction == Direction::Write { WRITES } else { 0 });
        let bytes = self.builder.build_or(bytes, writes, "")?;
        let pointer = self.builder.build_pointer_cast(pointer, self.context.ptr_type(AddressSpace::default()), "")?;
        self.call(hooks::CACHE, &[pointer.into(), bytes.into(), self.global_site(site)?.into()]).map(drop)
    }

    fn bytes(&self, bytes: u64) -> IntValue<'ctx> {
        self.c32(bytes.min(u64::from(WRITES - 1)) as u32)
    }

    /// A length in 31 bits; what is longer than 2 GiB counts as that.
    fn narrow(&self, bytes: IntValue<'ctx>) -> Emitted<IntValue<'ctx>> {
        let bytes = self.widen(bytes)?;
        let most = self.c64(u64::from(WRITES - 1));
        let fits = self.compare(inkwell::IntPredicate::ULT, bytes, most)?;
        let bytes = self.builder.build_select(fits, bytes, most, "")?.into_int_value();
        Ok(self.builder.build_int_truncate(bytes, self.i32, "")?)
    }
}
