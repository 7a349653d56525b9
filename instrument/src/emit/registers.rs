//! Which registers a function may use, and so must find again after a call that keeps all of them.

use super::ModuleEmitter;
use crate::llvm;
use inkwell::values::FunctionValue;

/// LLVM 19 ends functions that used wide registers with vzeroupper, also those that must preserve them: the caller's
/// upper halves were zeroed.
const NO_VZEROUPPER: &str = "-vzeroupper";

/// The vector registers that the convention `preserve_all` keeps, by what the caller's CPU has. More than the caller
/// has would not do either: there may be none to save.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Registers {
    /// None: what interrupts a program must leave them alone.
    General,
    /// 16 of 128 bits.
    Sse,
    /// 16 of 256 bits.
    Avx,
    /// 32 of 512 bits, and masks.
    Avx512,
}

impl Registers {
    /// Those that have functions of their own in the archive.
    pub const ALL: [Registers; 3] = [Registers::Sse, Registers::Avx, Registers::Avx512];

    /// Ends the names of functions.
    pub fn suffix(self) -> &'static str {
        match self {
            Registers::General | Registers::Sse => "",
            Registers::Avx => ".avx",
            Registers::Avx512 => ".avx512",
        }
    }

    /// Attributes of functions that keep them.
    pub fn attributes(self) -> [(&'static str, &'static str); 2] {
        let features = match self {
            Registers::General | Registers::Sse => NO_VZEROUPPER,
            Registers::Avx => "+avx,-vzeroupper",
            Registers::Avx512 => "+avx512f,-vzeroupper",
        };
        [("target-cpu", "x86-64"), ("target-features", features)]
    }
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// The registers of a function.
    pub(super) fn registers(&self, function: FunctionValue<'ctx>) -> Registers {
        *self.registers.borrow_mut().entry(function).or_insert_with(|| match llvm::has_features(function) {
            [.., true] => Registers::Avx512,
            [_, true, _] => Registers::Avx,
            [true, ..] => Registers::Sse,
            [false, ..] => Registers::General,
        })
    }
}
