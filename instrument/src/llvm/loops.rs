//! The loops of a function.

use super::debug::{self, Location};
use super::ffi::{self, RawLoop};
use super::hash::Map;
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};
use std::ffi::c_void;

/// A natural loop.
pub struct Loop<'ctx> {
    /// Its header.
    pub header: BasicBlock<'ctx>,
    /// The block that enters it, if there is or could be made exactly one.
    pub preheader: Option<BasicBlock<'ctx>>,
    /// Index of the enclosing loop.
    pub parent: Option<usize>,
    /// Made by LLVM out of a source loop that has other pieces (vector body, remainder).
    pub derived: bool,
    /// First line.
    pub start: Option<Location>,
    /// Last line.
    pub end: Option<Location>,
}

/// Gives every value that leaves a loop a PHI node behind it (LCSSA). What notes a value outside of the loop then notes
/// one that stays right when the loop gets a copy and the PHI node a second origin.
pub fn close(function: FunctionValue<'_>) {
    // SAFETY: a live function with a body.
    unsafe { ffi::threadtalk_shim_close_loops(function.as_value_ref()) };
}

/// All loops of a function, outer ones first, and the innermost loop of each block.
#[derive(Default)]
pub struct Loops<'ctx> {
    /// Outer loops before inner ones.
    pub all: Vec<Loop<'ctx>>,
    innermost: Map<LLVMBasicBlockRef, usize>,
    has_inner: Vec<bool>,
}

extern "C" fn on_loop(data: *mut c_void, raw: *const RawLoop) {
    // SAFETY: `find` passes its own Loops, and the shim a loop that lives during the call.
    unsafe {
        let loops = &mut *data.cast::<Loops<'_>>();
        let raw = &*raw;
        let Some(header) = BasicBlock::new(raw.header) else { return };
        loops.all.push(Loop {
            header,
            preheader: BasicBlock::new(raw.preheader),
            parent: (raw.parent as usize).checked_sub(1),
            derived: raw.derived,
            start: debug::location(raw.start),
            end: debug::location(raw.end),
        });
    }
}

extern "C" fn on_block(data: *mut c_void, block: LLVMBasicBlockRef, number: u32) {
    // SAFETY: `find` passes its own Loops.
    let loops = unsafe { &mut *data.cast::<Loops<'_>>() };
    loops.innermost.insert(block, number as usize - 1);
}

impl<'ctx> Loops<'ctx> {
    /// Finds the loops. Gives each a preheader where that is possible.
    pub fn find(function: FunctionValue<'ctx>) -> Self {
        let mut loops = Loops::default();
        let data: *mut Loops<'ctx> = &mut loops;
        // SAFETY: a live function with a body; the visitors get the data that they expect.
        unsafe { ffi::threadtalk_shim_loops(function.as_value_ref(), data.cast(), on_loop, on_block) };
        loops.has_inner = vec![false; loops.all.len()];
        for parent in loops.all.iter().filter_map(|l| l.parent) {
            loops.has_inner[parent] = true;
        }
        loops
    }

    /// The innermost loop that holds the block.
    pub fn innermost(&self, block: BasicBlock<'ctx>) -> Option<usize> {
        self.innermost.get(&block.as_mut_ptr()).copied()
    }

    /// Whether a loop has loops inside.
    pub fn has_inner(&self, index: usize) -> bool {
        self.has_inner[index]
    }

    /// The loop and all that enclose it, innermost first.
    pub fn chain(&self, innermost: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(innermost, |&i| self.all[i].parent)
    }
}

/// Where control goes when it leaves each of some loops.
pub type Exits<'ctx> = Vec<Option<Vec<InstructionValue<'ctx>>>>;

/// For each loop, given by its header, where control goes when it leaves the loop: reached only from there. `None` for
/// a loop for which that cannot be; nowhere for one that is never left. One call for all loops of a function: it takes
/// as long as a walk through the function.
pub fn exits<'ctx>(function: FunctionValue<'ctx>, headers: &[BasicBlock<'ctx>]) -> Exits<'ctx> {
    let raw: Vec<_> = headers.iter().map(|b| b.as_mut_ptr()).collect();
    let mut found: Exits<'ctx> = vec![Some(Vec::new()); raw.len()];
    if found.is_empty() {
        return found;
    }
    let data: *mut Exits<'ctx> = &mut found;
    // SAFETY: live headers of that live function; the visitor gets the data that it expects.
    unsafe {
        let (headers, count) = (raw.as_ptr(), raw.len());
        ffi::threadtalk_shim_exits(function.as_value_ref(), headers, count, data.cast(), on_exit);
    }
    found
}

extern "C" fn on_exit(data: *mut c_void, number: usize, raw: LLVMValueRef) {
    // SAFETY: `exits` passes its own lists, one for each loop, and the shim a live instruction or null.
    unsafe {
        let exits = &mut (&mut *data.cast::<Exits<'_>>())[number];
        match exits {
            Some(known) if !raw.is_null() => known.push(InstructionValue::new(raw)),
            _ => *exits = None,
        }
    };
}

/// Which instructions dominate which in a function that does not change meanwhile.
pub struct Dominators(*mut c_void);

impl Dominators {
    /// Analyses a function.
    pub fn of(function: FunctionValue<'_>) -> Self {
        // SAFETY: a live function with a body.
        Dominators(unsafe { ffi::threadtalk_shim_dominators_open(function.as_value_ref()) })
    }

    /// Whether each way to `second` goes through `first`.
    pub fn dominates(&self, first: InstructionValue<'_>, second: InstructionValue<'_>) -> bool {
        // SAFETY: live instructions of the function.
        unsafe { ffi::threadtalk_shim_dominates(self.0, first.as_value_ref(), second.as_value_ref()) }
    }

    /// The nearest block through which each way to any of `blocks` goes.
    pub fn common<'ctx>(&self, blocks: &[BasicBlock<'ctx>]) -> Option<BasicBlock<'ctx>> {
        let raw: Vec<_> = blocks.iter().map(|b| b.as_mut_ptr()).collect();
        if raw.is_empty() {
            return None;
        }
        // SAFETY: live blocks of the function, at least one.
        unsafe { BasicBlock::new(ffi::threadtalk_shim_common_dominator(self.0, raw.as_ptr(), raw.len())) }
    }
}

impl Drop for Dominators {
    fn drop(&mut self) {
        // SAFETY: came from `of` and is not used after this.
        unsafe { ffi::threadtalk_shim_dominators_close(self.0) };
    }
}
