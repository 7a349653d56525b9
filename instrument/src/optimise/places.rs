//! Where accesses lie that are constant distances apart.

use crate::access::Access;
use crate::llvm;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;

/// Bytes behind a pointer of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The pointer.
    pub base: LLVMValueRef,
    /// How far behind it they begin.
    pub first: i64,
    /// How many they are.
    pub bytes: u64,
}

/// 64 bytes: the base, and how many times 64 bytes they lie behind it.
pub type Stretch = (LLVMValueRef, i64);

impl Place {
    /// That of an access.
    pub fn of(module: &Module<'_>, access: &Access<'_>) -> Self {
        let (base, first) = llvm::base(module, access.pointer);
        Place { base, first, bytes: access.bytes }
    }

    /// The stretches that it lies in, each with a bit for each of its bytes there.
    pub fn stretches(self) -> impl Iterator<Item = (Stretch, u64)> {
        let end = self.first.saturating_add_unsigned(self.bytes);
        (self.first.div_euclid(64)..=(end - 1).div_euclid(64)).map(move |number| {
            let begin = number * 64;
            let (from, to) = (self.first.max(begin) - begin, end.min(begin + 64) - begin);
            ((self.base, number), u64::MAX >> (64 - (to - from)) << from)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr::null_mut;

    fn stretches(first: i64, bytes: u64) -> Vec<(i64, u64)> {
        Place { base: null_mut(), first, bytes }.stretches().map(|((_, number), bits)| (number, bits)).collect()
    }

    #[test]
    fn each_byte_has_its_bit() {
        assert_eq!(stretches(8, 8), [(0, 0xff00)]);
        assert_eq!(stretches(64, 64), [(1, u64::MAX)]);
        assert_eq!(stretches(60, 8), [(0, 0xf << 60), (1, 0xf)]);
        assert_eq!(stretches(-1, 2), [(-1, 1 << 63), (0, 1)]);
        assert_eq!(stretches(32, 100), [(0, u64::MAX << 32), (1, u64::MAX), (2, 0xf)]);
    }
}
