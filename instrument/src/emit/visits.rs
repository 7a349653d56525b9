//! Counts how often regions are entered.

use super::{Emitted, ModuleEmitter};
use crate::access::Plan;
use crate::llvm;
use crate::tables::Tables;
use inkwell::values::PointerValue;
use std::mem::offset_of;
use threadtalk_abi::module::ModuleBases;
use threadtalk_abi::thread::offset;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Counts entries of the function, its loops and its constructs.
    pub fn visits(&self, header: PointerValue<'ctx>, plan: &Plan<'ctx>, tables: &Tables) -> Emitted<()> {
        let b = &self.builder;
        let entry = llvm::first_after(header);
        let function = plan.entry_region.zip(entry).into_iter();
        for (region, before) in function.chain(plan.entrances.iter().map(|e| (e.region, e.before))) {
            if !tables.has_site(region) {
                continue;
            }
            b.position_before(&before);
            let counters = b.build_load(self.ptr, self.offset(header, offset::VISITS)?, "")?.into_pointer_value();
            let base = self.load_base(offset_of!(ModuleBases, region_base))?;
            let number = self.widen(b.build_int_add(base, self.c32(region.0), "")?)?;
            let counter = self.offset_by(counters, b.build_left_shift(number, self.c64(3), "")?)?;
            let count = self.load_int(self.i64, counter, 0)?;
            b.build_store(counter, b.build_int_add(count, self.c64(1), "")?)?;
        }
        Ok(())
    }
}
