//! Functions of a module of which a call changes nothing that anyone else could see, and after which nothing that
//! another thread wrote can be seen: *pure* ones, as GCC's attribute has it.
//!
//! They read memory and compute. They have no access that is atomic or volatile, write only their own frame (which
//! nobody else has the address of), and call only functions that are pure as well, or of the C library's that compute.
//! So none of them can throw, jump away, allocate, or wait. A loop around such calls is a nest like one without
//! ([`crate::optimise::nests`]).
//!
//! What is seen of a function must be what runs. A definition that the linker or the loader may replace by another one
//! (weak, or with `-fsemantic-interposition`) says nothing. An inline function of C++ may be replaced by another
//! module's copy of the same source: that may call what is inlined here, but does the same accesses, and LLVM never
//! leaves out an atomic one.

use crate::library;
use crate::llvm;
use crate::optimise::segment::synchronises;
use crate::skip::Skipper;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::{AsValueRef, FunctionValue, InstructionOpcode, InstructionValue};
use std::collections::{HashMap, HashSet};

/// Functions, each with those that it calls, or that call it.
type CallGraph<'ctx> = HashMap<FunctionValue<'ctx>, Vec<FunctionValue<'ctx>>>;

/// The pure functions of a module.
#[derive(Default)]
pub struct PureFunctions<'ctx> {
    /// Those that they call.
    calls: CallGraph<'ctx>,
    /// Those with loops that ask the runtime, themselves or in what they call.
    asking: HashSet<FunctionValue<'ctx>>,
}

/// What an instruction of a pure function may be.
enum Step<'ctx> {
    Computes,
    Calls(FunctionValue<'ctx>),
}

impl<'ctx> PureFunctions<'ctx> {
    /// Finds them, as long as nothing is instrumented. Of functions that call each other in a circle all are pure, or
    /// none: what makes one impure is in the body of some.
    pub fn find(module: &Module<'ctx>) -> Self {
        let mut calls: HashMap<_, _> = module.get_functions().filter_map(|f| Some((f, calls_of_pure(f)?))).collect();
        let mut callers = callers(&calls);
        let mut impure: Vec<_> = callers.keys().copied().filter(|callee| !calls.contains_key(callee)).collect();
        while let Some(callee) = impure.pop() {
            for caller in callers.remove(&callee).unwrap_or_default() {
                if calls.remove(&caller).is_some() {
                    impure.push(caller);
                }
            }
        }
        PureFunctions { calls, asking: HashSet::new() }
    }

    /// Whether a function is pure.
    pub fn contains(&self, function: FunctionValue<'ctx>) -> bool {
        self.calls.contains_key(&function)
    }

    /// Tells which functions have loops that ask.
    pub fn note_asking(&mut self, functions: impl IntoIterator<Item = FunctionValue<'ctx>>) {
        let callers = callers(&self.calls);
        let mut found: Vec<_> = functions.into_iter().filter(|f| self.calls.contains_key(f)).collect();
        while let Some(function) = found.pop() {
            if self.asking.insert(function) {
                found.extend(callers.get(&function).into_iter().flatten());
            }
        }
    }

    /// Whether a pure function, or one that it calls, has a loop that asks, and so relies on what a nest knows.
    pub fn asks(&self, function: FunctionValue<'ctx>) -> bool {
        self.asking.contains(&function)
    }
}

/// Who calls each function, given what each one calls.
fn callers<'ctx>(calls: &CallGraph<'ctx>) -> CallGraph<'ctx> {
    let mut callers = CallGraph::new();
    for (&function, called) in calls {
        called.iter().for_each(|&callee| callers.entry(callee).or_default().push(function));
    }
    callers
}

/// The functions of the module that a function calls, if all else in it is pure.
fn calls_of_pure<'ctx>(function: FunctionValue<'ctx>) -> Option<Vec<FunctionValue<'ctx>>> {
    let elsewhere = matches!(function.get_linkage(), Linkage::AvailableExternally);
    if function.count_basic_blocks() == 0 || elsewhere || llvm::is_interposable(function) {
        return None;
    }
    let mut skipper = Skipper::default();
    let mut calls = Vec::new();
    for inst in function.get_basic_block_iter().flat_map(|block| block.get_instructions()) {
        match step(inst, &mut skipper)? {
            Step::Computes => {}
            Step::Calls(callee) => calls.push(callee),
        }
    }
    calls.sort_by_key(|callee| callee.as_value_ref());
    calls.dedup();
    Some(calls)
}

/// What an instruction is; `None`: nothing that a pure function has.
fn step<'ctx>(inst: InstructionValue<'ctx>, skipper: &mut Skipper) -> Option<Step<'ctx>> {
    use InstructionOpcode as Op;
    let pure = match inst.get_opcode() {
        Op::Invoke | Op::CallBr | Op::Resume | Op::LandingPad => false,
        Op::CatchPad | Op::CatchRet | Op::CatchSwitch | Op::CleanupPad | Op::CleanupRet => false,
        // The argument list is memory of its own that is read.
        Op::VAArg => false,
        Op::Alloca => skipper.is_private_object(inst.as_value_ref()),
        Op::Load => !llvm::is_volatile(inst) && !synchronises(inst),
        Op::Store => {
            !llvm::is_volatile(inst) && !synchronises(inst) && skipper.is_private(llvm::pointer_operand(inst, 1))
        }
        Op::Call => return call(inst, skipper),
        _ => !synchronises(inst),
    };
    pure.then_some(Step::Computes)
}

fn call<'ctx>(call: InstructionValue<'ctx>, skipper: &mut Skipper) -> Option<Step<'ctx>> {
    let callee = llvm::callee(call)?;
    let name = callee.get_name().to_str().ok()?;
    let pure = if !name.starts_with("llvm.") {
        if callee.count_basic_blocks() > 0 {
            return Some(Step::Calls(callee));
        }
        library::only_computes(callee)
    } else if let Some(writes) = moves_memory(name) {
        let volatile = llvm::constant(llvm::operand(call.as_value_ref(), 3)) != Some(0);
        !volatile && writes && skipper.is_private(llvm::pointer_operand(call, 0))
    } else {
        has(callee, "nosync") && has(callee, "nocallback") && !may_write(callee, name)
    };
    pure.then_some(Step::Computes)
}

/// `llvm.memcpy` and its like, which say in their last argument whether they are volatile; `Some(false)` for those that
/// are atomic.
fn moves_memory(name: &str) -> Option<bool> {
    let of = ["llvm.memcpy.", "llvm.memmove.", "llvm.memset."].iter().any(|prefix| name.starts_with(prefix));
    of.then(|| !name.contains(".atomic."))
}

/// Whether an intrinsic may write what others see. What LLVM says of markers and annotations (they write something) is
/// there to keep their place.
fn may_write(intrinsic: FunctionValue<'_>, name: &str) -> bool {
    const MARKERS: [&str; 5] =
        ["llvm.assume", "llvm.lifetime.", "llvm.dbg.", "llvm.experimental.noalias.scope.decl", "llvm.invariant."];
    let marks = MARKERS.iter().any(|marker| name.starts_with(marker));
    !marks && !llvm::only_reads(intrinsic)
}

fn has(function: FunctionValue<'_>, attribute: &str) -> bool {
    let kind = Attribute::get_named_enum_kind_id(attribute);
    function.get_enum_attribute(AttributeLoc::Function, kind).is_some()
}
