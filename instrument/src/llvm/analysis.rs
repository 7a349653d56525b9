//! Scalar evolution: how addresses relate to each other and to the iterations of loops.

use super::ffi;
use inkwell::basic_block::BasicBlock;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue, PointerValue};
use std::ffi::c_void;

/// LLVM's analyses of one function.
pub struct Analysis(*mut c_void);

impl Analysis {
    /// Analyses a function.
    pub fn of(function: FunctionValue<'_>) -> Self {
        // SAFETY: a live function with a body.
        Analysis(unsafe { ffi::threadtalk_shim_analysis_open(function.as_value_ref(), false) })
    }

    /// The same for the control flow graph and its known iterations, and nothing else: what takes long and has no loops
    /// is not looked at.
    pub fn for_counters(function: FunctionValue<'_>) -> Self {
        // SAFETY: a live function with a body.
        Analysis(unsafe { ffi::threadtalk_shim_analysis_open(function.as_value_ref(), true) })
    }

    /// The shim's handle.
    pub fn raw(&mut self) -> *mut c_void {
        self.0
    }

    /// For each pointer, an earlier one of the same segment (or itself) and the constant distance from there in bytes.
    pub fn distances(&mut self, pointers: &[(PointerValue<'_>, u32)]) -> Vec<(usize, i64)> {
        let (raw, segments): (Vec<_>, Vec<_>) = pointers.iter().map(|(p, s)| (p.as_value_ref(), *s)).unzip();
        let mut leaders = vec![0u32; raw.len()];
        let mut distances = vec![0i64; raw.len()];
        // SAFETY: pointers of the function that was analysed; all arrays have the same length.
        unsafe {
            let (leaders, distances) = (leaders.as_mut_ptr(), distances.as_mut_ptr());
            let (pointers, segments) = (raw.as_ptr(), segments.as_ptr());
            ffi::threadtalk_shim_distances(self.0, pointers, segments, raw.len(), leaders, distances);
        }
        leaders.into_iter().map(|l| l as usize).zip(distances).collect()
    }

    /// Bytes from one iteration of the innermost loop around `block` to the next, and the same for the loop around
    /// that; [`NO_STRIDE`](threadtalk_abi::module::NO_STRIDE) and
    /// [`VARIABLE_STRIDE`](threadtalk_abi::module::VARIABLE_STRIDE) where there is no constant.
    pub fn strides(&mut self, pointer: PointerValue<'_>, block: BasicBlock<'_>) -> (i32, i32) {
        let (mut inner, mut outer) = (0i64, 0i64);
        let (pointer, block) = (pointer.as_value_ref(), block.as_mut_ptr());
        // SAFETY: a pointer and a block of the function that was analysed.
        unsafe { ffi::threadtalk_shim_strides(self.0, pointer, block, &mut inner, &mut outer) };
        // The shim keeps to the range.
        (inner as i32, outer as i32)
    }
}

impl Analysis {
    /// Whether two loads or stores cannot touch the same bytes when they run one after the other.
    pub fn disjoint(&self, one: InstructionValue<'_>, other: InstructionValue<'_>) -> bool {
        // SAFETY: live instructions of the function that was analysed.
        unsafe { ffi::threadtalk_shim_disjoint(self.0, one.as_value_ref(), other.as_value_ref()) }
    }
}

impl Analysis {
    /// Whether nobody can look at what a thread does in an innermost loop before it has left the loop by one of its
    /// exits: no calls, no synchronisation, nothing that waits for others.
    pub fn runs_unseen(&self, header: BasicBlock<'_>) -> bool {
        // SAFETY: a block of the function that was analysed.
        unsafe { ffi::threadtalk_shim_control_unseen(self.0, header.as_mut_ptr()) }
    }
}

impl Analysis {
    /// How often a loop runs at most each time it is entered; `None` if that is not known when compiling, or 2^32 or
    /// more.
    pub fn most_iterations(&self, header: BasicBlock<'_>) -> Option<u64> {
        // SAFETY: a block of the function that was analysed.
        let most = unsafe { ffi::threadtalk_shim_most_iterations(self.0, header.as_mut_ptr()) };
        (most > 0).then_some(most.into())
    }
}

impl Drop for Analysis {
    fn drop(&mut self) {
        // SAFETY: came from `of` and is not used after this.
        unsafe { ffi::threadtalk_shim_analysis_close(self.0) };
    }
}
