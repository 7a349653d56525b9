//! What LLVM has inferred about the effects of functions, and what of it instrumentation makes wrong.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::values::{AsValueRef, CallSiteValue, FunctionValue};

/// What a function touches, whether it synchronises, whether it may be called where it was not: sequences count in
/// memory, with atomic accesses.
const OUTDATED: [&str; 3] = ["memory", "nosync", "speculatable"];

/// Takes back what is known of the effects of an instrumented function, where it is defined and where it is called.
/// Link-time optimisation would else leave out a second call of a function that only reads, and what the call counts.
pub fn forget(function: FunctionValue<'_>) {
    let calls: Vec<CallSiteValue<'_>> = super::users(function.as_value_ref())
        .into_iter()
        .filter_map(super::as_instruction)
        .filter_map(|user| CallSiteValue::try_from(user).ok())
        .filter(|call| call.get_called_fn_value() == Some(function))
        .collect();
    for name in OUTDATED {
        let kind = Attribute::get_named_enum_kind_id(name);
        function.remove_enum_attribute(AttributeLoc::Function, kind);
        calls.iter().for_each(|call| call.remove_enum_attribute(AttributeLoc::Function, kind));
    }
}
