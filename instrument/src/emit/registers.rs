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

/// What a gate keeps (see [`super::gates`]): all that its callers may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kept {
    /// Those that the function behind it knows of.
    pub registers: Registers,
    /// And masks, of 64 bits: the caller has AVX-512 for bytes and words, as all that has AVX-512 but the first of its
    /// processors. Else they have 16, and pieces of assembly say that they change: where one function had the other's
    /// instructions, there might be none such.
    pub masks: bool,
}

impl Kept {
    /// Those that have gates in the archive.
    pub fn all(registers: Registers) -> impl Iterator<Item = Kept> {
        let wide = (registers == Registers::Avx512).then_some(true);
        [false].into_iter().chain(wide).map(move |masks| Kept { registers, masks })
    }

    /// Whether callers must expect other masks behind it.
    pub fn loses_masks(self) -> bool {
        self.registers == Registers::Avx512 && !self.masks
    }

    /// Attributes of gates.
    pub fn attributes(self) -> [(&'static str, &'static str); 2] {
        let [cpu, features] = self.registers.attributes();
        [cpu, if self.masks { (features.0, "+avx512f,+avx512bw,-vzeroupper") } else { features }]
    }

    /// Ends the names of gates.
    pub fn suffix(self) -> &'static str {
        if self.masks { ".avx512.masks" } else { self.registers.suffix() }
    }
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
        self.kept(function).registers
    }

    /// What gates keep for a function.
    pub(super) fn kept(&self, function: FunctionValue<'ctx>) -> Kept {
        *self.registers.borrow_mut().entry(function).or_insert_with(|| {
            let (registers, masks) = match llvm::has_features(function) {
                [.., true, bytes_and_words] => (Registers::Avx512, bytes_and_words),
                [_, true, ..] => (Registers::Avx, false),
                [true, ..] => (Registers::Sse, false),
                [false, ..] => (Registers::General, false),
            };
            Kept { registers, masks }
        })
    }
}
