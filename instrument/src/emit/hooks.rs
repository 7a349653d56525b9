//! Declarations of the runtime's entry points. [`super::thunks`] calls them.

use super::ModuleEmitter;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::types::{BasicMetadataTypeEnum, FunctionType};
use inkwell::values::FunctionValue;
use threadtalk_abi::hooks::Hook;

/// LLVM's number of the calling convention `preserve_most`.
pub const PRESERVE_MOST: u32 = 14;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// The declaration of a hook.
    pub fn hook(&self, hook: Hook) -> FunctionValue<'ctx> {
        *self.hooks.borrow_mut().entry(hook.name).or_insert_with(|| self.declare(hook))
    }

    fn declare(&self, hook: Hook) -> FunctionValue<'ctx> {
        if let Some(known) = self.module.get_function(hook.name) {
            return known;
        }
        let function = self.module.add_function(hook.name, self.hook_type(hook), None);
        // nonlazybind: a lazily bound PLT entry would run the dynamic linker's C code, which keeps neither r10 nor the
        // promise of preserve_most.
        for name in ["nounwind", "cold", "nonlazybind"] {
            let attribute = self.context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), 0);
            function.add_attribute(AttributeLoc::Function, attribute);
        }
        if hook.preserve_most {
            function.set_call_conventions(PRESERVE_MOST);
        }
        function
    }

    /// The type of a hook.
    pub(super) fn hook_type(&self, hook: Hook) -> FunctionType<'ctx> {
        let (result, parameters) = hook.signature;
        let parameters: Vec<BasicMetadataTypeEnum<'ctx>> = parameters
            .iter()
            .map(|name| match *name {
                "i32" => self.i32.into(),
                "i64" => self.i64.into(),
                _ => self.ptr.into(),
            })
            .collect();
        match result {
            "ptr" => inkwell::types::BasicType::fn_type(&self.ptr, &parameters, false),
            "i32" => self.i32.fn_type(&parameters, false),
            _ => self.context.void_type().fn_type(&parameters, false),
        }
    }
}
