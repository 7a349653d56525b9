//! Reads and writes in the program's code: what is usual, and a call for the rest.
//!
//! What an access is asked is one piece of assembly without a branch that LLVM knows of: where its cells are, whether
//! they are own, the rarer tests, the count, and the call of the function behind it (see [`super::gates`]). As branches
//! of LLVM a read with a memo was six blocks, and most of the time that instrumented code takes to compile was theirs:
//! selection block by block, values followed through all of them, registers split around each call.
//!
//! * [`read`] and [`write`] put the pieces together: rdi and r11 are there to work in, label 1 is the end, label 2 the
//!   call.
//! * [`cells`] loads and compares cells that other accesses share the place of, or that are many.
//! * [`cold`] is the call.

mod bundle;
mod cells;
mod cold;
mod read;
mod write;

use super::assembly::Assembly;
use super::prologue::Prologue;
use super::registers::{Kept, Registers};
use super::repeats::Marked;
use super::translate::{Shape, Translation};
use super::{Emitted, ModuleEmitter};
use crate::access::Access;
use crate::error::PassError;
use crate::optimise::appends::Append;
use crate::optimise::memos::Place;
use inkwell::values::{IntValue, PointerValue, VectorValue};
use threadtalk_abi::CHUNK_SHIFT;
use threadtalk_abi::thread::offset;

/// How much is asked inline; the rest is behind the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Own values, states that the thread knows to be no event at any site, and reuse that the event cache knows.
    Events,
    /// Of a write: own cells; what it overwrites else may be in a window.
    Guarded,
    /// Own values, and reuse of the state that the memo holds (see [`super::memos`]).
    Memo(Place),
}

/// An access to be inlined.
#[derive(Clone, Copy)]
pub struct Inlined<'p, 'ctx> {
    /// The function's values.
    pub prologue: &'p Prologue<'ctx>,
    /// What is accessed.
    pub access: &'p Access<'ctx>,
    /// From its address to its cells, if other accesses share that; `None` if the assembly looks itself (see
    /// [`looks_itself`]).
    pub shift: Option<IntValue<'ctx>>,
    /// Where in the source: its number in the module.
    pub site: u32,
    /// What is asked.
    pub ask: Ask,
    /// Whether the segment reads it several times.
    pub repeat: Option<Marked<'ctx>>,
    /// Whether it is a write that goes on behind earlier ones.
    pub append: Option<Append>,
}

/// Cells in a piece of assembly.
enum Cells<'ctx> {
    /// One or two, loaded from there whenever something is asked of them: what is not own is rare, and a register that
    /// kept them would not be free for the program.
    At(Width, String),
    /// One or two, in a register: those that the event cache is asked about, or that have one more.
    Held(Width, String),
    /// Two and two of four, loaded from there.
    Pairs([String; 2]),
    /// In vectors.
    Lanes(Vec<VectorValue<'ctx>>),
}

/// What a piece knows after the test for own values. Registers are named with 64 bits.
struct Tested<'ctx> {
    cells: Cells<'ctx>,
    /// The last cell, if there may be one more, or the third of three.
    last: Option<String>,
    /// The shift from data to cells; not needed any more once it is tested.
    shift: String,
    /// How many granules: a register or a number.
    count: String,
    /// The operand that the address is so many bytes behind, if one is.
    pointer: Option<(String, i64)>,
}

/// Whether the assembly can look into the directory: the access lies in one chunk at whatever address.
pub fn looks_itself(access: &Access<'_>) -> bool {
    is_few(Shape::of(access.bytes, access.align)) && access.align >= access.bytes
}

/// Whether the assembly looks at the mark of a read that comes again. Where cells are loaded before it, that must
/// come before them.
pub fn looks_at_mark(access: &Access<'_>) -> bool {
    is_few(Shape::of(access.bytes, access.align))
}

/// One cell or two, as many at whatever address.
fn is_few(shape: Shape) -> bool {
    shape.cells <= 2 && !shape.ragged && !shape.third
}

/// One cell or two: how an instruction ends, and what a register is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    One,
    Two,
}

impl Width {
    fn of(shape: Shape) -> Self {
        if shape.cells == 1 { Width::One } else { Width::Two }
    }

    fn granules(self) -> u64 {
        match self {
            Width::One => 1,
            Width::Two => 2,
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Width::One => "l",
            Width::Two => "q",
        }
    }

    /// A register or an operand, both named with 64 bits.
    fn name(self, register: &str) -> String {
        match (self, register) {
            (Width::Two, whole) => whole.into(),
            (Width::One, "%rdi") => "%edi".into(),
            (Width::One, "%r11") => "%r11d".into(),
            (Width::One, operand) => operand.replace(":q}", ":k}"),
        }
    }
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Looks into a directory, a field of the control block, and leaves the shift in a register.
    fn look_up(
        &self,
        a: &mut Assembly<'ctx>,
        access: &Inlined<'_, 'ctx>,
        pointer: &str,
        (field, to): (u64, &str),
    ) -> Emitted<()> {
        a.line(format!("movq {pointer}, {to}"));
        a.line(format!("shrq $${CHUNK_SHIFT}, {to}"));
        let directory = match (is_hot(access.ask), field) {
            (true, offset::DIRECTORY) => a.register(access.prologue.directory.ok_or(invalid("no directory"))?),
            (true, _) => a.register(access.prologue.writable.ok_or(invalid("no directory"))?),
            (false, _) => {
                let (field, other) = (a.field(self.header(access)?, field), if to == "%r11" { "%rdi" } else { "%r11" });
                a.line(format!("movq {field}, {other}"));
                other.into()
            }
        };
        a.line(format!("movq ({directory},{to},8), {to}"));
        Ok(())
    }

    /// Whether the cells in a register are own: the flags say equal then. The register is another afterwards.
    fn test_own(
        &self,
        a: &mut Assembly<'ctx>,
        access: &Inlined<'_, 'ctx>,
        width: Width,
        register: &str,
    ) -> Emitted<()> {
        let (own, foreign) = if is_hot(access.ask) {
            let pair = match width {
                Width::One => access.prologue.own,
                Width::Two => access.prologue.own_pair,
            };
            let (own, foreign) = pair.ok_or(invalid("no own range"))?;
            (width.name(&a.register(own)), width.name(&a.register(foreign)))
        } else {
            let header = self.header(access)?;
            (a.field(header, offset::OWN), a.field(header, offset::FOREIGN))
        };
        let (suffix, register) = (width.suffix(), width.name(register));
        a.line(format!("xor{suffix} {own}, {register}"));
        a.line(format!("test{suffix} {register}, {foreign}"));
        Ok(())
    }

    /// Where many cells are, or a number that depends on the address.
    fn translation(&self, access: &Inlined<'_, 'ctx>) -> Emitted<Translation<'ctx>> {
        self.translated(access.access, access.shift.ok_or(invalid("no shift"))?)
    }

    fn header(&self, access: &Inlined<'_, 'ctx>) -> Emitted<PointerValue<'ctx>> {
        access.prologue.header.ok_or(invalid("no header"))
    }

    /// Whether instructions are those of AVX.
    fn has_avx(&self) -> Emitted<bool> {
        Ok(matches!(self.own_registers()?, Registers::Avx | Registers::Avx512))
    }

    /// Whether the access takes vectors that the function must not use: then nothing but the call is inlined.
    fn lacks_vectors(&self, access: &Access<'ctx>) -> Emitted<bool> {
        Ok(Shape::of(access.bytes, access.align).cells > 2 && self.own_registers()? == Registers::General)
    }

    fn own_registers(&self) -> Emitted<Registers> {
        Ok(self.own_kept()?.registers)
    }

    fn own_kept(&self) -> Emitted<Kept> {
        let function = self.here()?.get_parent().ok_or(invalid("block without function"))?;
        Ok(self.kept(function))
    }
}

/// Whether an access is in an innermost loop. What it takes from the control block has registers there: that saves
/// three loads for each access and takes no longer to compile. Elsewhere LLVM would keep the registers for longer than
/// they are of use.
fn is_hot(ask: Ask) -> bool {
    matches!(ask, Ask::Memo(_) | Ask::Events)
}

fn invalid(what: &str) -> PassError {
    PassError::Invalid(what.into())
}
