//! Functions of the source and the lines that they span.

use super::outlined::{self, Outlined};
use crate::llvm::debug::{self, Frame, Location};
use crate::llvm::hash::Map;
use crate::tables::{RegionId, RegionKey, Tables};
use inkwell::llvm_sys::prelude::*;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};
use std::collections::HashMap;
use std::ptr::null_mut;
use threadtalk_abi::module::RegionKind;

/// A function of the source: named by debug information if there is any, else by the symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// `DISubprogram`.
    Subprogram(LLVMMetadataRef),
    /// A function without debug information.
    Symbol(LLVMValueRef),
}

impl Unit {
    /// The unit that a whole LLVM function was made from.
    pub fn of(function: FunctionValue<'_>) -> Self {
        let subprogram = debug::subprogram(function);
        if subprogram.is_null() { Unit::Symbol(function.as_value_ref()) } else { Unit::Subprogram(subprogram) }
    }

    /// The unit of an instruction in `function` with this location.
    pub fn at(function: FunctionValue<'_>, location: Option<Location>) -> Self {
        location.map_or_else(|| Unit::of(function), |l| Unit::Subprogram(l.frame.subprogram))
    }

    /// The name for the linker.
    pub fn name(self) -> String {
        match self {
            Unit::Subprogram(subprogram) => debug::name(subprogram),
            // SAFETY: a Symbol holds a live function.
            Unit::Symbol(function) => match unsafe { FunctionValue::new(function) } {
                Some(function) => function.get_name().to_string_lossy().into_owned(),
                None => String::new(),
            },
        }
    }

    /// First line, 0 if unknown.
    pub fn line(self) -> u32 {
        match self {
            Unit::Subprogram(subprogram) => debug::line(subprogram),
            Unit::Symbol(_) => 0,
        }
    }

    /// The file, empty if unknown.
    pub fn file(self) -> String {
        match self {
            Unit::Subprogram(subprogram) => debug::file(subprogram),
            Unit::Symbol(_) => String::new(),
        }
    }
}

/// The frame of code that was not inlined, for instructions without a location.
pub fn own_frame(function: FunctionValue<'_>) -> Frame {
    Frame { subprogram: debug::subprogram(function), inlined_at: null_mut() }
}

/// A function of C++ that spans this many lines beyond its first is an expression to who reads a report: an operator, a
/// member that returns an element. More is worth a name of its own.
const EXPRESSION_LINES: u32 = 2;

/// All functions of the source that have code in the module.
pub struct Functions {
    last_line: HashMap<Unit, u32>,
    outlined: HashMap<Unit, Outlined>,
    regions: Map<Unit, RegionId>,
    files: Map<LLVMMetadataRef, String>,
    expressions: Map<LLVMMetadataRef, bool>,
    use_openmp: bool,
}

impl Functions {
    /// Reads the whole module once.
    pub fn scan(module: &Module<'_>) -> Self {
        let mut last_line: HashMap<Unit, u32> = HashMap::new();
        let mut use_openmp = false;
        for function in module.get_functions() {
            use_openmp |= function.get_name().to_bytes().starts_with(b"__kmpc_");
            // Of the subprogram that the instructions before belong to.
            let mut last = (null_mut(), 0);
            let mut note = |(subprogram, line): (LLVMMetadataRef, u32)| {
                if !subprogram.is_null() {
                    let most = last_line.entry(Unit::Subprogram(subprogram)).or_default();
                    *most = line.max(*most);
                }
            };
            for inst in function.get_basic_block_iter().flat_map(|b| b.get_instructions()) {
                match debug::of(inst) {
                    Some(at) if at.frame.subprogram == last.0 => last.1 = at.line.max(last.1),
                    Some(at) => note(std::mem::replace(&mut last, (at.frame.subprogram, at.line))),
                    None => {}
                }
            }
            note(last);
        }
        // Outlined functions are arguments of calls of OpenMP's runtime.
        let outlined = if use_openmp { outlined::find(module) } else { HashMap::new() };
        let (regions, files, expressions) = Default::default();
        Functions { last_line, use_openmp, outlined, regions, files, expressions }
    }

    /// The region of a function, or of the OpenMP construct that it was made from.
    pub fn region(&mut self, unit: Unit, tables: &mut Tables) -> RegionId {
        if let Some(&region) = self.regions.get(&unit) {
            return region;
        }
        let last_line = self.last_line.get(&unit).copied().unwrap_or(0);
        let region = match self.outlined.get(&unit).copied() {
            Some(construct) => {
                let parent = construct.parent.filter(|&p| p != unit).map(|p| self.region(p, tables));
                let key = RegionKey {
                    kind: construct.kind,
                    name: self.source_name(unit),
                    file: construct.entry.file(),
                    line: construct.entry.line(),
                };
                tables.region(key, last_line, parent)
            }
            None => {
                let key = RegionKey {
                    kind: RegionKind::Function,
                    name: self.source_name(unit),
                    file: unit.file(),
                    line: unit.line(),
                };
                tables.region(key, last_line, None)
            }
        };
        self.regions.insert(unit, region);
        region
    }

    /// The region of a function if an access has asked for it.
    pub fn known_region(&self, unit: Unit) -> Option<RegionId> {
        let same_construct = || {
            let construct = self.outlined.get(&unit)?;
            let pieces = self.outlined.iter().filter(|(_, o)| o.entry == construct.entry);
            // All pieces of a construct have one region.
            pieces.filter_map(|(piece, _)| self.regions.get(piece)).next().copied()
        };
        self.regions.get(&unit).copied().or_else(same_construct)
    }

    /// The name of the function that the user wrote: for outlined constructs that of the function around them.
    pub fn source_name(&self, unit: Unit) -> String {
        let mut at = unit;
        // Nested constructs: at most one step for each outlined function.
        for _ in 0..=self.outlined.len() {
            match self.outlined.get(&at).and_then(|o| o.parent) {
                Some(parent) if parent != at => at = parent,
                _ => break,
            }
        }
        outlined::strip_suffix(&at.name()).to_string()
    }

    /// The location of a call as its user sees it: containers of the C++ library allocate in headers that were inlined
    /// into the code that means it, and functions that allocate for others do, `frames` calls away from it.
    pub fn user_location(&mut self, call: InstructionValue<'_>, frames: u32) -> Option<Location> {
        let innermost = debug::of(call)?;
        let outer = |at: &Location| debug::location(at.frame.inlined_at);
        let received = (0..frames).try_fold(innermost, |at, _| outer(&at)).unwrap_or(innermost);
        Some(self.outside_libraries(received))
    }

    /// Where code is that was inlined from a header of the system: at the call that the program makes. If all of it is
    /// the library's, in the function that was not inlined, of which the analysis knows who calls it.
    pub fn outside_libraries(&mut self, innermost: Location) -> Location {
        let mut at = innermost;
        while self.is_library(at.scope)
            && let Some(caller) = debug::location(at.frame.inlined_at)
        {
            at = caller;
        }
        at
    }

    /// Whether a scope lies in a header of the system: the language's library, most often.
    pub fn is_library(&mut self, scope: LLVMMetadataRef) -> bool {
        let file = self.file(scope);
        file.starts_with("/usr/include/") || file.starts_with("/usr/lib/")
    }

    /// Whether a function is so short that its code says what its caller does, where it was inlined. A lambda, and what
    /// else is called as an object, is what the caller's library is for.
    pub fn is_expression(&mut self, subprogram: LLVMMetadataRef) -> bool {
        if let Some(&known) = self.expressions.get(&subprogram) {
            return known;
        }
        let unit = Unit::Subprogram(subprogram);
        let lines = self.last_line.get(&unit).map(|last| last.saturating_sub(unit.line()));
        let is = lines.is_some_and(|lines| lines <= EXPRESSION_LINES)
            && debug::name(subprogram).starts_with("_Z")
            && debug::source_name(subprogram) != "operator()"
            && !self.outlined.contains_key(&unit);
        self.expressions.insert(subprogram, is);
        is
    }

    /// Whether anything in the module calls OpenMP's runtime as clang does.
    pub fn use_openmp(&self) -> bool {
        self.use_openmp
    }

    /// The path of the file that a scope lies in.
    pub fn file(&mut self, scope: LLVMMetadataRef) -> &str {
        self.files.entry(scope).or_insert_with(|| debug::file(scope))
    }
}
