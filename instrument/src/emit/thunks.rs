//! Functions of the runtime's archive that instrumented code calls, so that the code at each access stays small.
//!
//! * A *keeper* (`threadtalk.hook.read8`) calls a hook and keeps all registers, vector registers too, as hooks do not.
//!   A cold call in a loop of floating point code then costs that loop no spills.
//! * An *access function* (`threadtalk.read8`) does all that a read or write of that size can need: the whole sequence
//!   of [`threadtalk_abi::thread`], for any alignment. Inlined code does the usual case and calls it for the rest; huge
//!   functions call it for everything.
//!
//! Sites are global numbers in all of them. [`super::archive`] emits them, once for the archive: in each module they
//! took a tenth of the time that compiling it takes without any of this. There is a set for each kind of
//! [`Registers`].

use super::prologue::Prologue;
use super::read::{Detail, Exits, Read};
use super::registers::Registers;
use super::{Emitted, Likely, ModuleEmitter, Site};
use crate::access::{Access, Direction};
use crate::error::PassError;
use inkwell::IntPredicate;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::types::FunctionType;
use inkwell::values::{BasicMetadataValueEnum, CallSiteValue, FunctionValue, IntValue, PointerValue};
use threadtalk_abi::hooks::{self, Hook};
use threadtalk_abi::thread::offset;
use threadtalk_abi::{GRANULE, cell};

/// LLVM's number of the calling convention `preserve_all`.
pub(super) const PRESERVE_ALL: u32 = 15;

/// Hooks that have keepers beside those for accesses of known size.
pub(super) const KEPT: [Hook; 8] = [
    hooks::READ_RANGE,
    hooks::WRITE_RANGE,
    hooks::READ_MASKED,
    hooks::WRITE_MASKED,
    hooks::COPY,
    hooks::CLEAR,
    hooks::LEARN,
    hooks::CACHE,
];

/// What is known of an access's address. The less is known, the more a function must test: 8 bytes at any address take
/// twice the instructions of 8 that are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Alignment {
    /// A multiple of the access's size: it lies in one chunk.
    Natural,
    /// A multiple of a granule: it touches as many granules as its size says.
    Granules,
    /// Nothing.
    Any,
}

impl Alignment {
    pub(super) fn of(access: &Access<'_>) -> Self {
        Self::known(access.bytes, access.align)
    }

    /// Of an access of so many bytes at a multiple of `align`.
    pub(super) fn known(bytes: u64, align: u64) -> Self {
        match align {
            align if align >= bytes => Alignment::Natural,
            align if align >= GRANULE => Alignment::Granules,
            _ => Alignment::Any,
        }
    }

    /// Of an access of so many bytes.
    fn bytes(self, size: u64) -> u64 {
        match self {
            Alignment::Natural => size,
            Alignment::Granules => GRANULE,
            Alignment::Any => 1,
        }
    }

    /// Whether an access of so many bytes touches no more granules than its size says.
    pub(super) fn is_whole(self, size: u64) -> bool {
        self != Alignment::Any || size == 1
    }

    /// Ends the names of functions.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Alignment::Natural => "",
            Alignment::Granules => ".granules",
            Alignment::Any => ".unaligned",
        }
    }
}

/// Bytes that a longer read is taken apart into where its cells differ.
const PIECE: u64 = 8;
/// The largest read of which a memo knows cells in two states.
const PAIR: u64 = 16;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Calls a hook through its keeper.
    pub fn call(&self, hook: Hook, arguments: &[BasicMetadataValueEnum<'ctx>]) -> Emitted<CallSiteValue<'ctx>> {
        debug_assert!(KEPT.contains(&hook) || is_access(hook), "{} has no keeper", hook.name);
        let keeper = self.function_for(&keeper_name(hook), self.hook_type(hook))?;
        let call = self.builder.build_call(keeper, arguments, "")?;
        call.set_call_convention(PRESERVE_ALL);
        Ok(call)
    }

    /// Calls a hook where keeping vector registers gains nothing: beside calls that clobber them too, or where what the
    /// hook does takes far longer.
    pub fn call_directly(
        &self,
        hook: Hook,
        arguments: &[BasicMetadataValueEnum<'ctx>],
    ) -> Emitted<CallSiteValue<'ctx>> {
        let call = self.builder.build_call(self.hook(hook), arguments, "")?;
        call.set_call_convention(super::hooks::PRESERVE_MOST);
        Ok(call)
    }

    /// Calls a hook for so many bytes beside the instruction that touches them, which is a call itself unless their
    /// number is known: the C library's function keeps no vector registers.
    pub fn call_beside(
        &self,
        hook: Hook,
        bytes: IntValue<'ctx>,
        arguments: &[BasicMetadataValueEnum<'ctx>],
    ) -> Emitted<()> {
        match bytes.is_const() {
            true => self.call(hook, arguments).map(drop),
            false => self.call_directly(hook, arguments).map(drop),
        }
    }

    /// Calls the function that handles an access of a size that has one.
    pub fn call_access_function(&self, direction: Direction, access: &Access<'ctx>, site: Site<'ctx>) -> Emitted<()> {
        let hook = sized_hook(direction, access.bytes)?;
        let name = access_name(hook, Alignment::of(access));
        let function = self.function_for(&name, self.hook_type(hook))?;
        let site = self.global_site(site)?;
        let call = self.builder.build_call(function, &[access.pointer.into(), site.into()], "")?;
        call.set_call_convention(PRESERVE_ALL);
        Ok(())
    }

    /// The function of this name that keeps all registers that the code being written may use.
    pub(super) fn function_for(&self, name: &str, ty: FunctionType<'ctx>) -> Emitted<FunctionValue<'ctx>> {
        let caller = self.here()?.get_parent().ok_or(PassError::Invalid("block without function".into()))?;
        let name = format!("{name}{}", self.registers(caller).suffix());
        Ok(self.module.get_function(&name).unwrap_or_else(|| self.declare_function(&name, ty)))
    }

    fn declare_function(&self, name: &str, ty: FunctionType<'ctx>) -> FunctionValue<'ctx> {
        let function = self.module.add_function(name, ty, None);
        function.set_call_conventions(PRESERVE_ALL);
        // nonlazybind: as for hooks.
        for attribute in ["nounwind", "cold", "nonlazybind"] {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            function.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind, 0));
        }
        function
    }

    /// The body of a keeper.
    pub(super) fn keeper_body(&self, function: FunctionValue<'ctx>, hook: Hook) -> Emitted<()> {
        let b = &self.builder;
        b.position_at_end(self.context.append_basic_block(function, ""));
        let arguments: Vec<_> = function.get_param_iter().map(Into::into).collect();
        self.call_directly(hook, &arguments)?;
        b.build_return(None)?;
        Ok(())
    }

    /// `recalls`: the function of a read with a memo, whose second parameter says which.
    pub(super) fn access_body(
        &self,
        function: FunctionValue<'ctx>,
        hook: Hook,
        (direction, recalls): (Direction, bool),
        (bytes, alignment): (u64, Alignment),
    ) -> Emitted<()> {
        let b = &self.builder;
        let [pointer, what] = function.get_params()[..] else {
            return Err(PassError::Invalid("two parameters".into()));
        };
        let (pointer, what) = (pointer.into_pointer_value(), what.into_int_value());
        let [entry, attached, slow, done] = [(); 4].map(|()| self.context.append_basic_block(function, ""));
        b.position_at_end(entry);
        let site = Site::Global(if recalls { b.build_int_truncate(what, self.i32, "")? } else { what });
        b.position_at_end(slow);
        if direction == Direction::Read {
            self.leave_if_again(function, (bytes, alignment), (pointer, site), done)?;
        }
        self.call(hook, &[pointer.into(), self.global_site(site)?.into()])?;
        b.build_unconditional_branch(done)?;
        b.position_at_end(done);
        b.build_return(None)?;
        b.position_at_end(entry);
        let header = self.load_thread_pointer()?;
        self.branch(b.build_is_null(header, "")?, slow, attached, Likely::Rarely)?;
        b.position_at_end(attached);
        let field = match direction {
            Direction::Read => offset::DIRECTORY,
            Direction::Write => offset::WRITABLE,
        };
        let directory = Some(b.build_load(self.ptr, self.offset(header, field)?, "")?.into_pointer_value());
        let mut prologue = Prologue { header: Some(header), ..Prologue::default() };
        match direction {
            Direction::Read => prologue.directory = directory,
            Direction::Write => prologue.writable = directory,
        }
        let access = Access { pointer, bytes, align: alignment.bytes(bytes) };
        let translation = self.translated(&access, self.shift(&prologue, (direction, &access), None)?)?;
        match direction {
            Direction::Read => {
                self.load_own(&mut prologue, header)?;
                let exits = Exits { slow, mixed: slow, done };
                let mut read = Read { prologue: &prologue, access: &access, translation: &translation, site, exits };
                let memo = if recalls { Some(self.unpack(header, what)?) } else { None };
                if let Some((memo, _)) = memo {
                    self.give_back(memo, self.granules(&read)?)?;
                }
                if bytes > GRANULE {
                    let whole = Access { align: access.align.max(GRANULE), ..access };
                    read.exits.mixed = self.pieces(function, &Read { access: &whole, ..read })?;
                    if alignment == Alignment::Any {
                        read.exits.mixed = self.unless_inside(function, &read)?;
                    }
                }
                let Some((memo, share)) = memo else { return self.read(&read, Detail::Events) };
                if alignment != Alignment::Any && matches!(bytes, PIECE | PAIR) {
                    read.exits.mixed = self.pair(function, &read, (memo, share))?;
                }
                self.read(&read, Detail::Refill(memo, share))
            }
            Direction::Write => {
                let exits = Exits { slow, mixed: slow, done };
                prologue.write_id = Some(self.load_int(self.i32, header, offset::WRITE)?);
                self.write(&prologue, &access, &translation, Site::Global(self.numbered(header, site)?), exits)
            }
        }
    }

    /// Asks the hook that settles reads like earlier ones and keeps all registers, if there is one for such accesses.
    /// Where it settles nothing, goes on in a new block.
    fn leave_if_again(
        &self,
        function: FunctionValue<'ctx>,
        (bytes, alignment): (u64, Alignment),
        (pointer, site): (PointerValue<'ctx>, Site<'ctx>),
        done: BasicBlock<'ctx>,
    ) -> Emitted<()> {
        let Some(hook) = hooks::again(bytes).filter(|_| alignment.is_whole(bytes)) else { return Ok(()) };
        let b = &self.builder;
        let asked = self.hook(hook);
        asked.set_call_conventions(PRESERVE_ALL);
        let call = b.build_call(asked, &[pointer.into(), self.global_site(site)?.into()], "")?;
        call.set_call_convention(PRESERVE_ALL);
        let settled = call.try_as_basic_value().basic().ok_or(PassError::Invalid("an answer has no value".into()))?;
        let more = self.context.append_basic_block(function, "");
        let unsettled = self.compare(IntPredicate::EQ, settled.into_int_value(), self.c32(0))?;
        self.branch(unsettled, more, done, Likely::Rarely)?;
        b.position_at_end(more);
        Ok(())
    }

    /// The number of a site in the ids that writes leave, which the runtime gives modules as `write_site_base`: numbers
    /// from three quarters of those that fit on are one, without a line.
    fn numbered(&self, header: PointerValue<'ctx>, site: Site<'ctx>) -> Emitted<IntValue<'ctx>> {
        let b = &self.builder;
        let bits = self.load_int(self.i32, header, offset::SITE_BITS)?;
        let quarter = b.build_left_shift(self.c32(1), b.build_int_sub(bits, self.c32(2), "")?, "")?;
        let lineless = b.build_int_mul(quarter, self.c32(3), "")?;
        let ty = [self.i32.into()];
        let least = self.intrinsic("llvm.umin", &ty, &[self.global_site(site)?.into(), lineless.into()])?;
        Ok(least.into_int_value())
    }

    /// A block that reads pieces of 8 bytes by themselves, where two granules differ granule by granule: each may be
    /// in a state that the event cache knows. Fields of a structure that were written at several lines are read so.
    fn pieces(&self, function: FunctionValue<'ctx>, read: &Read<'_, 'ctx>) -> Emitted<BasicBlock<'ctx>> {
        let here = self.here()?;
        let mixed = self.context.append_basic_block(function, "");
        self.builder.position_at_end(mixed);
        let access = read.access;
        let piece = |bytes: u64, first: u64| -> Emitted<_> {
            Ok(Access { pointer: self.offset(access.pointer, first)?, bytes, align: access.align.min(bytes) })
        };
        if access.bytes == PIECE {
            self.leave_if_marked(function, read)?;
            for first in (0..PIECE).step_by(GRANULE as usize) {
                self.call_access_function(Direction::Read, &piece(GRANULE, first)?, read.site)?;
            }
            self.builder.build_unconditional_branch(read.exits.done)?;
        }
        for first in (0..access.bytes).step_by(PIECE as usize).filter(|_| access.bytes > PIECE) {
            let access = piece(PIECE, first)?;
            let translation = self.translated(&access, read.translation.shift)?;
            let last = first + PIECE == read.access.bytes;
            let done = if last { read.exits.done } else { self.context.append_basic_block(function, "") };
            let other = self.context.append_basic_block(function, "");
            let exits = Exits { slow: other, mixed: other, done };
            self.read(&Read { access: &access, translation: &translation, exits, ..*read }, Detail::Events)?;
            self.builder.position_at_end(other);
            self.call_access_function(Direction::Read, &access, read.site)?;
            self.builder.build_unconditional_branch(done)?;
            self.builder.position_at_end(done);
        }
        self.builder.position_at_end(here);
        Ok(mixed)
    }

    /// A block that lets a memo take over two states of the cells, or goes on with the read's pieces.
    fn pair(
        &self,
        function: FunctionValue<'ctx>,
        read: &Read<'_, 'ctx>,
        memo: (PointerValue<'ctx>, IntValue<'ctx>),
    ) -> Emitted<BasicBlock<'ctx>> {
        let here = self.here()?;
        let pair = self.context.append_basic_block(function, "");
        self.builder.position_at_end(pair);
        self.refill_pair(read, memo)?;
        self.builder.position_at_end(here);
        Ok(pair)
    }

    /// A block that goes on with the pieces of a read of any alignment, or with the hook if it begins inside a granule:
    /// pieces would count some granules twice. Vectors of three numbers are read as four, at addresses of which the
    /// compiler knows nothing.
    fn unless_inside(&self, function: FunctionValue<'ctx>, read: &Read<'_, 'ctx>) -> Emitted<BasicBlock<'ctx>> {
        let (b, here) = (&self.builder, self.here()?);
        let asks = self.context.append_basic_block(function, "");
        b.position_at_end(asks);
        let inside = b.build_and(self.number_of(read.access.pointer)?, self.c64(GRANULE - 1), "")?;
        let is_inside = self.compare(IntPredicate::NE, inside, self.c64(0))?;
        self.branch(is_inside, read.exits.slow, read.exits.mixed, Likely::Rarely)?;
        b.position_at_end(here);
        Ok(asks)
    }

    /// Goes on with the hook where two granules differ in the mark of one of them alone: it knows what that means, and
    /// counts both.
    fn leave_if_marked(&self, function: FunctionValue<'ctx>, read: &Read<'_, 'ctx>) -> Emitted<()> {
        let b = &self.builder;
        let both = self.load_pair(read.translation.cells, read.access.align)?;
        let (low, high) = self.halves(both)?;
        let differ = b.build_xor(low, high, "")?;
        let is_mark = self.compare(IntPredicate::EQ, differ, self.c32(cell::TRACKED))?;
        let is_shared = self.compare(IntPredicate::NE, b.build_and(low, self.c32(cell::SHARED), "")?, self.c32(0))?;
        let several = self.context.append_basic_block(function, "");
        self.branch(b.build_and(is_mark, is_shared, "")?, read.exits.slow, several, Likely::Rarely)?;
        b.position_at_end(several);
        Ok(())
    }

    /// A function of the archive, without its body, for callers with these registers.
    pub(super) fn new_function(&self, name: &str, ty: FunctionType<'ctx>, registers: Registers) -> FunctionValue<'ctx> {
        let name = format!("{name}{}", registers.suffix());
        let function = self.module.get_function(&name).unwrap_or_else(|| self.module.add_function(&name, ty, None));
        function.set_call_conventions(PRESERVE_ALL);
        // uwtable 2: a debugger or profiler that stops below must find its way back to the program.
        for (attribute, value) in [("nounwind", 0), ("noinline", 0), ("cold", 0), ("uwtable", 2)] {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            function.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind, value));
        }
        for (attribute, value) in registers.attributes() {
            function.add_attribute(AttributeLoc::Function, self.context.create_string_attribute(attribute, value));
        }
        function
    }
}

fn is_access(hook: Hook) -> bool {
    hook.signature == hooks::READ1.signature
}

/// The hook of an access of this size.
pub(super) fn sized_hook(direction: Direction, bytes: u64) -> Emitted<Hook> {
    let hook = match direction {
        Direction::Read => hooks::read(bytes),
        Direction::Write => hooks::write(bytes),
    };
    hook.ok_or_else(|| PassError::Invalid(format!("no hook for {bytes} bytes")))
}

/// `threadtalk.hook.read8`.
pub(super) fn keeper_name(hook: Hook) -> String {
    hook.name.replace("__threadtalk_", "threadtalk.hook.")
}

/// `threadtalk.read8.granules`.
pub(super) fn access_name(hook: Hook, alignment: Alignment) -> String {
    hook.name.replace("__threadtalk_", "threadtalk.") + alignment.suffix()
}
