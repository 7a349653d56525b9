//! Functions of the program that allocate for their callers.

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::FunctionValue;

/// Whether a function may allocate for its callers, as `xmalloc` does: the compiler has found out or was told that what
/// it returns is nobody else's, or its name says so, and how much is its caller's choice. Functions that make something
/// of a size of their own are not meant: it says more of a node that `new_node` has allocated it.
pub fn may_hand_on(function: FunctionValue<'_>) -> bool {
    let takes_a_size = || {
        let wide = |t: &BasicMetadataTypeEnum<'_>| t.is_int_type() && t.into_int_type().get_bit_width() >= 32;
        function.get_type().get_param_types().iter().any(wide)
    };
    let noalias = Attribute::get_named_enum_kind_id("noalias");
    let is_new = || function.get_enum_attribute(AttributeLoc::Return, noalias).is_some();
    function.get_type().get_return_type().is_some_and(|t| t.is_pointer_type())
        && takes_a_size()
        && (is_new() || names_an_allocator(function.get_name().to_bytes()))
}

/// `xmalloc`, `safeAlloc`, `ALLOC`; of C++ the function's own name, as the mangled names of all that has to do with
/// containers contain `allocator`; and what these call.
fn names_an_allocator(name: &[u8]) -> bool {
    let allocates = |name: &[u8]| name.windows(5).any(|part| part.eq_ignore_ascii_case(b"alloc"));
    let Some(mangled) = name.strip_prefix(b"_Z") else { return allocates(name) };
    name.windows(10).any(|part| part == b"8allocateE")
        || name.windows(13).any(|part| part == b"11_M_allocateE")
        || own_name(mangled).is_some_and(allocates)
}

/// The last part of a mangled name without templates: `alloc` of `4pool5allocEm`, whole names in front of parameters
/// and qualified ones.
fn own_name(mangled: &[u8]) -> Option<&[u8]> {
    let qualified = mangled.strip_prefix(b"N");
    let mut rest = qualified.unwrap_or(mangled);
    rest = rest.strip_prefix(b"K").filter(|_| qualified.is_some()).unwrap_or(rest);
    loop {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let length: usize = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
        let (part, behind) = rest[digits..].split_at_checked(length)?;
        match behind.first() {
            Some(b'E') if qualified.is_some() => return Some(part),
            Some(b'0'..=b'9') if qualified.is_some() => rest = behind,
            Some(b'I') => return None,
            _ if qualified.is_none() => return Some(part),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::names_an_allocator;

    #[test]
    fn a_function_allocates_by_its_own_name() {
        let allocates = |name: &str| names_an_allocator(name.as_bytes());
        for name in
            ["xmalloc", "safeAlloc", "G_MALLOC", "_Z12AlignedAllocm", "_ZN4pool5allocEm", "_ZNK4pool9alloc_twoEmm"]
        {
            assert!(allocates(name), "{name}");
        }
        for name in ["_ZNSt16allocator_traitsISaIdEE8allocateERS0_m", "_ZNSt15__new_allocatorIdE8allocateEmPKv"] {
            assert!(allocates(name), "what containers call: {name}");
        }
        let others =
            ["new_node", "", "_Z4makem", "_ZN9allocator4makeEm", "_ZN9allocator", "_ZN5allocIdEEm", "_Z", "_Z99alloc"];
        for name in others.into_iter().chain(["_ZNSt6vectorIi14my_allocatorIiEEixEm", "_Z4moveSt9allocatorIdE"]) {
            assert!(!allocates(name), "{name}");
        }
    }
}
