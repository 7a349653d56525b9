//! How far a string comparison reads: a small function in the instrumented module.

use super::{Emitted, ModuleEmitter};
use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::Linkage;
use inkwell::values::FunctionValue;

/// Its symbol: `i64 (ptr left, ptr right, i64 limit)`.
pub const NAME: &str = "threadtalk.prefix";

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Defines the function. The builder is left without a place and must be positioned again.
    ///
    /// ```text
    /// for (i = 0; i != limit; ) { a = left[i]; b = right[i]; i += 1; if (a != b || a == 0) break; } return i;
    /// ```
    pub fn define_common_prefix(&self) -> Emitted<FunctionValue<'ctx>> {
        let byte = self.context.i8_type();
        let ty = self.i64.fn_type(&[self.ptr.into(), self.ptr.into(), self.i64.into()], false);
        let function = self.module.add_function(NAME, ty, Some(Linkage::Internal));
        for name in ["nounwind", "noinline"] {
            let attribute = self.context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), 0);
            function.add_attribute(AttributeLoc::Function, attribute);
        }
        let parameters = function.get_params();
        let (left, right) = (parameters[0].into_pointer_value(), parameters[1].into_pointer_value());
        let limit = parameters[2].into_int_value();
        let [entry, head, body, done] =
            ["entry", "head", "body", "done"].map(|n| self.context.append_basic_block(function, n));
        let b = self.context.create_builder();
        b.position_at_end(entry);
        b.build_unconditional_branch(head)?;
        b.position_at_end(head);
        let index = b.build_phi(self.i64, "")?;
        let at = index.as_basic_value().into_int_value();
        b.build_conditional_branch(b.build_int_compare(IntPredicate::EQ, at, limit, "")?, done, body)?;
        b.position_at_end(body);
        let load = |base| -> Emitted<_> {
            // SAFETY: the strings reach at least to where the comparison stops.
            let place = unsafe { b.build_gep(byte, base, &[at], "")? };
            Ok(b.build_load(byte, place, "")?.into_int_value())
        };
        let (x, y) = (load(left)?, load(right)?);
        let next = b.build_int_add(at, self.c64(1), "")?;
        let differ = b.build_int_compare(IntPredicate::NE, x, y, "")?;
        let ended = b.build_int_compare(IntPredicate::EQ, x, byte.const_zero(), "")?;
        b.build_conditional_branch(b.build_or(differ, ended, "")?, done, head)?;
        index.add_incoming(&[(&self.i64.const_zero(), entry), (&next, body)]);
        b.position_at_end(done);
        let length = b.build_phi(self.i64, "")?;
        length.add_incoming(&[(&at, head), (&next, body)]);
        b.build_return(Some(&length.as_basic_value()))?;
        Ok(function)
    }
}
