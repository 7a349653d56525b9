//! Functions that the pass adds to a module, so that the code at each access stays small.
//!
//! * A *keeper* calls a hook and keeps all registers, vector registers too, as hooks do not. A cold call in a loop of
//!   floating point code
//!   then costs that loop no spills.
//! * An *access function* (`threadtalk.read8`) does all that a read or write of that size can need: the whole sequence
//!   of
//!   [`threadtalk_abi::thread`], for any alignment. Inlined code does the usual case and calls it for the rest; huge
//!   functions call it for everything.
//!
//! Both are local to the module, and there is one set for each set of CPU features that its functions are compiled
//! for: which vector registers there are to keep depends on them.

use super::prologue::{Prologue, WriteId};
use super::read::{Detail, Exits, Read};
use super::{Emitted, Likely, ModuleEmitter};
use crate::access::{Access, Direction};
use crate::error::PassError;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::module::Linkage;
use inkwell::values::{BasicMetadataValueEnum, CallSiteValue, FunctionValue, IntValue};
use std::rc::Rc;
use threadtalk_abi::GRANULE;
use threadtalk_abi::hooks::{self, Hook};
use threadtalk_abi::thread::offset;

/// LLVM's number of the calling convention `preserve_all`.
pub(super) const PRESERVE_ALL: u32 = 15;

/// Attributes that say what instructions a function may use.
const TARGET_ATTRIBUTES: [&str; 3] = ["target-cpu", TARGET_FEATURES, "tune-cpu"];
const TARGET_FEATURES: &str = "target-features";
const NO_VZEROUPPER: &str = "-vzeroupper";

/// What tells the functions of a module apart: the hook, what the function is to it, and the CPU features.
pub type Key = (&'static str, Role, Vec<(&'static str, String)>);

/// What a function is to a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Keeps all registers around it.
    Keeper,
    /// Does the whole access, and calls it for what is left.
    Access(Alignment),
}

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
        match access.align {
            align if align >= access.bytes => Alignment::Natural,
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

    /// Ends the names of functions.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Alignment::Natural => "",
            Alignment::Granules => ".granules",
            Alignment::Any => ".unaligned",
        }
    }
}

/// The keeper of all hooks for an access of known size: it is told which to call. Each function of a module costs a
/// millisecond to compile, and a module of floating point code has a dozen of these hooks.
const ACCESS_KEEPER: &str = "threadtalk.hook.access";

/// Bytes that a longer read is taken apart into where its cells differ.
const PIECE: u64 = 8;

fn is_access(hook: Hook) -> bool {
    hook.signature == hooks::READ1.signature
}

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Calls a hook through its keeper.
    pub fn call(&self, hook: Hook, arguments: &[BasicMetadataValueEnum<'ctx>]) -> Emitted<CallSiteValue<'ctx>> {
        let caller = self.here()?.get_parent().ok_or(PassError::Invalid("block without function".into()))?;
        let keeper = self.keeper(hook, caller)?;
        let mut arguments = arguments.to_vec();
        if is_access(hook) {
            arguments.push(self.hook(hook).as_global_value().as_pointer_value().into());
        }
        let call = self.builder.build_call(keeper, &arguments, "")?;
        call.set_call_convention(PRESERVE_ALL);
        Ok(call)
    }

    /// Calls a hook where keeping vector registers gains nothing: beside calls that clobber them too, or where what the
    /// hook does takes far longer. A keeper takes half a millisecond to compile.
    pub fn call_directly(
        &self,
        hook: Hook,
        arguments: &[BasicMetadataValueEnum<'ctx>],
    ) -> Emitted<CallSiteValue<'ctx>> {
        let call = self.builder.build_call(self.hook(hook), arguments, "")?;
        call.set_call_convention(super::hooks::PRESERVE_MOST);
        Ok(call)
    }

    /// Calls the function that handles an access of a size that has one.
    pub fn call_access_function(
        &self,
        direction: Direction,
        access: &Access<'ctx>,
        site: IntValue<'ctx>,
    ) -> Emitted<()> {
        let caller = self.here()?.get_parent().ok_or(PassError::Invalid("block without function".into()))?;
        let function = self.access_function(direction, access.bytes, Alignment::of(access), caller)?;
        let call = self.builder.build_call(function, &[access.pointer.into(), site.into()], "")?;
        call.set_call_convention(PRESERVE_ALL);
        Ok(())
    }

    fn keeper(&self, hook: Hook, caller: FunctionValue<'ctx>) -> Emitted<FunctionValue<'ctx>> {
        let shared = is_access(hook);
        let key = (if shared { ACCESS_KEEPER } else { hook.name }, Role::Keeper, targets(caller));
        if let Some(known) = self.functions.borrow().get(&key) {
            return Ok(*known);
        }
        let raw = self.hook(hook);
        let ty = raw.get_type();
        let keeper = if shared {
            let mut parameters = ty.get_param_types();
            parameters.push(self.ptr.into());
            self.new_function(ACCESS_KEEPER, self.context.void_type().fn_type(&parameters, false), &key.2)
        } else {
            self.new_function(&hook.name.replace("__threadtalk_", "threadtalk.hook."), ty, &key.2)
        };
        self.functions.borrow_mut().insert(key, keeper);
        let b = self.context.create_builder();
        b.position_at_end(self.context.append_basic_block(keeper, ""));
        let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> = keeper.get_param_iter().map(Into::into).collect();
        let call = match arguments.pop() {
            Some(BasicMetadataValueEnum::PointerValue(target)) if shared => {
                b.build_indirect_call(ty, target, &arguments, "")?
            }
            last => {
                arguments.extend(last);
                b.build_call(raw, &arguments, "")?
            }
        };
        call.set_call_convention(super::hooks::PRESERVE_MOST);
        match call.try_as_basic_value().basic() {
            Some(value) => b.build_return(Some(&value))?,
            None => b.build_return(None)?,
        };
        Ok(keeper)
    }

    fn access_function(
        &self,
        direction: Direction,
        bytes: u64,
        alignment: Alignment,
        caller: FunctionValue<'ctx>,
    ) -> Emitted<FunctionValue<'ctx>> {
        let hook = match direction {
            Direction::Read => hooks::read(bytes),
            Direction::Write => hooks::write(bytes),
        };
        let hook = hook.ok_or_else(|| PassError::Invalid(format!("no hook for {bytes} bytes")))?;
        let key = (hook.name, Role::Access(alignment), targets(caller));
        if let Some(known) = self.functions.borrow().get(&key) {
            return Ok(*known);
        }
        let name = hook.name.replace("__threadtalk_", "threadtalk.") + alignment.suffix();
        let function = self.new_function(&name, self.hook(hook).get_type(), &key.2);
        self.functions.borrow_mut().insert(key, function);
        let aside = ModuleEmitter { builder: Rc::new(self.context.create_builder()), ..self.clone() };
        aside.access_body(function, hook, (direction, Detail::Events), (bytes, alignment))?;
        Ok(function)
    }

    /// `Refill`: the function of a read with a memo. Emitted with `Detail::Events` for any other.
    pub(super) fn access_body(
        &self,
        function: FunctionValue<'ctx>,
        hook: Hook,
        (direction, detail): (Direction, Detail<'ctx>),
        (bytes, alignment): (u64, Alignment),
    ) -> Emitted<()> {
        let b = &self.builder;
        let (pointer, site) =
            (function.get_params()[0].into_pointer_value(), function.get_params()[1].into_int_value());
        let [entry, attached, slow, done] = [(); 4].map(|()| self.context.append_basic_block(function, ""));
        b.position_at_end(slow);
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
        let translation = self.translate(&prologue, (direction, &access), None)?;
        let mixed = match direction {
            Direction::Read if bytes > PIECE => self.pieces(function, &access, site, done)?,
            _ => slow,
        };
        let exits = Exits { slow, mixed, done };
        match direction {
            Direction::Read => {
                self.load_own(&mut prologue, header, bytes == 8)?;
                let read = Read { prologue: &prologue, access: &access, translation: &translation, site, exits };
                if let Detail::Refill(memo, _) = detail {
                    self.give_back(memo, self.granules(&read)?)?;
                }
                self.read(&read, detail)
            }
            Direction::Write => {
                prologue.write_id = Some(WriteId::Value(self.write_id(header)?));
                self.write(&prologue, &access, &translation, site, exits, false)
            }
        }
    }

    /// A block that reads pieces of 8 bytes by themselves: each may be in a state that the event cache knows.
    fn pieces(
        &self,
        function: FunctionValue<'ctx>,
        access: &Access<'ctx>,
        site: IntValue<'ctx>,
        done: BasicBlock<'ctx>,
    ) -> Emitted<BasicBlock<'ctx>> {
        let here = self.here()?;
        let mixed = self.context.append_basic_block(function, "");
        self.builder.position_at_end(mixed);
        for first in (0..access.bytes).step_by(PIECE as usize) {
            let piece = Access { pointer: self.offset(access.pointer, first)?, bytes: PIECE, ..*access };
            self.call_access_function(Direction::Read, &piece, site)?;
        }
        self.builder.build_unconditional_branch(done)?;
        self.builder.position_at_end(here);
        Ok(mixed)
    }

    pub(super) fn new_function(
        &self,
        name: &str,
        ty: inkwell::types::FunctionType<'ctx>,
        targets: &[(&'static str, String)],
    ) -> FunctionValue<'ctx> {
        let function = self.module.add_function(name, ty, Some(Linkage::Internal));
        function.set_call_conventions(PRESERVE_ALL);
        // uwtable 2: a debugger or profiler that stops below must find its way back to the program.
        for (attribute, value) in [("nounwind", 0), ("noinline", 0), ("cold", 0), ("uwtable", 2)] {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            function.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind, value));
        }
        for (attribute, value) in targets {
            function.add_attribute(AttributeLoc::Function, self.context.create_string_attribute(attribute, value));
        }
        // LLVM 19 ends functions that used wide registers with vzeroupper, also those that must preserve them: the
        // caller's upper halves were zeroed.
        let features = targets.iter().find(|t| t.0 == TARGET_FEATURES).map_or("", |t| t.1.as_str());
        let features = if features.is_empty() { NO_VZEROUPPER.into() } else { format!("{features},{NO_VZEROUPPER}") };
        function
            .add_attribute(AttributeLoc::Function, self.context.create_string_attribute(TARGET_FEATURES, &features));
        function
    }
}

pub(super) fn targets(function: FunctionValue<'_>) -> Vec<(&'static str, String)> {
    let value = |name| {
        let attribute = function.get_string_attribute(AttributeLoc::Function, name)?;
        let value = attribute.get_string_value().to_string_lossy().into_owned();
        // What these functions call is of their own set: the set does not depend on what was added for them.
        let value = value.strip_suffix(NO_VZEROUPPER).map_or(value.as_str(), |given| given.trim_end_matches(','));
        (!value.is_empty()).then(|| (name, value.to_owned()))
    };
    TARGET_ATTRIBUTES.into_iter().filter_map(value).collect()
}
