//! The part of OMPT (OpenMP 5.1, chapter 4) that is used, as libomp's `omp-tools.h` declares it.

use core::ffi::{c_char, c_int, c_void};

/// `ompt_data_t`, a union of a number and a pointer.
#[repr(C)]
pub union Data {
    /// The number.
    pub value: u64,
    /// The pointer.
    pub pointer: *mut c_void,
}

/// `ompt_interface_fn_t`: any function.
pub type Interface = unsafe extern "C" fn();
/// `ompt_function_lookup_t`.
pub type Lookup = unsafe extern "C" fn(*const c_char) -> Option<Interface>;
/// `ompt_set_callback_t`.
pub type SetCallback = unsafe extern "C" fn(c_int, Interface) -> c_int;
/// `ompt_callback_thread_begin_t`.
pub type ThreadBegin = unsafe extern "C" fn(c_int, *mut Data);

/// `ompt_start_tool_result_t`.
#[repr(C)]
pub struct StartToolResult {
    /// Called once, before the first construct.
    pub initialize: unsafe extern "C" fn(Lookup, c_int, *mut Data) -> c_int,
    /// Called at the runtime's end.
    pub finalize: unsafe extern "C" fn(*mut Data),
    /// The tool's own.
    pub tool_data: Data,
}

// SAFETY: constant; the runtime passes the address of `tool_data` back and this tool does not use it.
unsafe impl Sync for StartToolResult {}

/// `ompt_callback_thread_begin`.
pub const CALLBACK_THREAD_BEGIN: c_int = 1;
/// `ompt_thread_worker`.
pub const THREAD_WORKER: c_int = 2;
/// `ompt_set_impossible`; larger results mean that the callback may come.
pub const SET_IMPOSSIBLE: c_int = 2;
