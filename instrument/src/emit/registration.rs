//! Makes the module known to the runtime: its tables and a constructor.

use super::{Emitted, ModuleEmitter};
use crate::llvm;
use crate::tables::Tables;
use inkwell::InlineAsmDialect;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Linkage;
use inkwell::values::{AsValueRef, PointerValue};
use threadtalk_abi::{ABI_SYMBOL, ABI_VERSION, hooks};

/// Constructors of this priority run before those of the program (which may use 101 and up).
const PRIORITY: i32 = 0;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Adds tables, descriptor and constructor.
    pub fn register(&self, tables: &mut Tables) -> Emitted<()> {
        let bytes = tables.serialise(&llvm::main_file(self.module));
        let content = self.context.const_string(&bytes, false);
        let data = self.module.add_global(content.get_type(), None, "threadtalk.tables");
        data.set_initializer(&content);
        data.set_constant(true);
        data.set_linkage(Linkage::Internal);
        data.set_alignment(8);
        let descriptor = self.descriptor(tables, bytes.len() as u32, data.as_pointer_value());
        let void = self.context.void_type();
        let constructor = self.module.add_function("threadtalk.register", void.fn_type(&[], false), None);
        constructor.set_linkage(Linkage::Internal);
        let nounwind = Attribute::get_named_enum_kind_id("nounwind");
        constructor.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(nounwind, 0));
        let b = &self.builder;
        b.position_at_end(self.context.append_basic_block(constructor, ""));
        llvm::set_location(b, None);
        // An operand that nothing can remove: the link fails unless a runtime of this version is there.
        let version = self
            .module
            .get_global(ABI_SYMBOL)
            .unwrap_or_else(|| self.module.add_global(self.context.i8_type(), None, ABI_SYMBOL));
        let keep = void.fn_type(&[self.ptr.into()], false);
        let asm = self.context.create_inline_asm(
            keep,
            String::new(),
            "r".into(),
            true,
            false,
            Some(InlineAsmDialect::ATT),
            false,
        );
        b.build_indirect_call(keep, asm, &[version.as_pointer_value().into()], "")?;
        b.build_call(self.hook(hooks::REGISTER), &[descriptor.into()], "")?;
        b.build_return(None)?;
        // SAFETY: a function without parameters of this module.
        unsafe {
            let raw = self.module.as_mut_ptr();
            llvm::ffi::threadtalk_shim_add_constructor(raw, constructor.as_value_ref(), PRIORITY);
        }
        Ok(())
    }

    /// `threadtalk_abi::module::ModuleDescriptor`.
    fn descriptor(&self, tables: &Tables, tables_len: u32, data: PointerValue<'ctx>) -> PointerValue<'ctx> {
        let content = self.context.const_struct(
            &[
                self.c32(ABI_VERSION).into(),
                self.c32(tables.sites()).into(),
                self.c32(tables.regions()).into(),
                self.c32(tables_len).into(),
                self.c32(tables.counters()).into(),
                self.c32(0).into(),
                data.into(),
                self.bases.as_pointer_value().into(),
            ],
            false,
        );
        let global = self.module.add_global(content.get_type(), None, "threadtalk.module");
        global.set_initializer(&content);
        // Its pointers need relocation in shared objects: LLVM puts it into .data.rel.ro there.
        global.set_constant(true);
        global.set_linkage(Linkage::Internal);
        global.as_pointer_value()
    }
}
