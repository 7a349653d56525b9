//! Members of the C++ library's containers that allocate for them.
//!
//! Where such a function is inlined, the call of the allocator is in the code that means it. Those of libstdc++ that
//! make a vector grow are too large for that: all blocks of all vectors would have been allocated in `vector.tcc`.

use super::{allocates, may_hand_on};
use crate::llvm;
use inkwell::values::FunctionValue;

/// Containers whose first member leads to their elements, or to the table of them, behind `_ZNSt` and what names the
/// library's version.
const CONTAINERS: [&[u8]; 5] = [b"6vectorI", b"12_Vector_baseI", b"8valarrayI", b"10_HashtableI", b"12__hash_tableI"];

/// Without inlining the allocator is so many calls away: `vector`, `_Vector_base`, `_M_create_storage`, `_M_allocate`.
const MOST_CALLS: usize = 4;

/// Whether a function may give the container that its first argument leads to a new block.
pub fn may_fill(function: FunctionValue<'_>) -> bool {
    is_member(function.get_name().to_bytes()) && may_allocate(function, MOST_CALLS)
}

/// Of a container, and not constant.
fn is_member(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(b"_ZNSt") else { return false };
    let version = [&b"3__1"[..], b"9__cxx1998", b"7__debug"].into_iter().find_map(|version| rest.strip_prefix(version));
    let rest = version.unwrap_or(rest);
    CONTAINERS.iter().any(|container| rest.starts_with(container))
}

fn may_allocate(function: FunctionValue<'_>, calls: usize) -> bool {
    let instructions = function.get_basic_block_iter().flat_map(|block| block.get_instructions());
    instructions.filter(|inst| llvm::is_call(*inst)).any(|call| {
        let Some(callee) = llvm::callee(call) else { return false };
        let is_allocator =
            || callee.get_name().to_str().is_ok_and(|n| allocates(n, llvm::argument_count(call)).is_some());
        is_allocator()
            || may_hand_on(callee)
            || calls > 1 && is_member(callee.get_name().to_bytes()) && may_allocate(callee, calls - 1)
    })
}

#[cfg(test)]
mod tests {
    use super::is_member;

    #[test]
    fn members_of_containers_are_known_by_their_names() {
        for name in [
            "_ZNSt6vectorIiSaIiEE17_M_default_appendEm",
            "_ZNSt12_Vector_baseIdSaIdEE17_M_create_storageEm",
            "_ZNSt3__16vectorIiNS_9allocatorIiEEE8__appendEm",
            "_ZNSt10_HashtableIiSt4pairIKiiESaIS2_ENSt8__detailE9_M_rehashEm",
        ] {
            assert!(is_member(name.as_bytes()), "{name}");
        }
        for name in ["_ZNKSt6vectorIiSaIiEE4sizeEv", "_ZN4mine6vectorIiE4growEv", "_ZNSt6threadC2Ev", "_ZNSt", "malloc"]
        {
            assert!(!is_member(name.as_bytes()), "{name}");
        }
    }
}
