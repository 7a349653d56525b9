//! The part of OMPT (OpenMP 5.1, chapter 4) that is used, as libomp's `omp-tools.h` declares it.

use core::ffi::{c_char, c_int, c_uint, c_void};

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
/// `ompt_set_always`: it comes at each such event.
pub const SET_ALWAYS: c_int = 5;

/// `ompt_callback_parallel_begin_t`; the frame is not looked into.
pub type ParallelBegin = unsafe extern "C" fn(*mut Data, *const c_void, *mut Data, c_uint, c_int, *const c_void);
/// `ompt_callback_parallel_end_t`.
pub type ParallelEnd = unsafe extern "C" fn(*mut Data, *mut Data, c_int, *const c_void);
/// `ompt_callback_implicit_task_t`.
pub type ImplicitTask = unsafe extern "C" fn(c_int, *mut Data, *mut Data, c_uint, c_uint, c_int);
/// `ompt_callback_sync_region_t`.
pub type SyncRegion = unsafe extern "C" fn(c_int, c_int, *mut Data, *mut Data, *const c_void);
/// `ompt_callback_task_create_t`; the frame is not looked into.
pub type TaskCreate = unsafe extern "C" fn(*mut Data, *const c_void, *mut Data, c_int, c_int, *const c_void);
/// `ompt_callback_task_schedule_t`.
pub type TaskSchedule = unsafe extern "C" fn(*mut Data, c_int, *mut Data);
/// `ompt_callback_mutex_acquire_t`.
pub type MutexAcquire = unsafe extern "C" fn(c_int, c_uint, c_uint, u64, *const c_void);
/// `ompt_callback_mutex_t`.
pub type Mutex = unsafe extern "C" fn(c_int, u64, *const c_void);

/// `ompt_callback_work_t`.
pub type Work = unsafe extern "C" fn(c_int, c_int, *mut Data, *mut Data, u64, *const c_void);
/// `ompt_callback_dispatch_t`; what is dispatched comes as a number or a pointer, by its kind.
pub type Dispatch = unsafe extern "C" fn(*mut Data, *mut Data, c_int, Data);

/// `ompt_dispatch_chunk_t`.
#[repr(C)]
pub struct Chunk {
    /// First iteration.
    pub start: u64,
    /// How many.
    pub iterations: u64,
}

/// `ompt_callback_parallel_begin`.
pub const CALLBACK_PARALLEL_BEGIN: c_int = 3;
/// `ompt_callback_parallel_end`.
pub const CALLBACK_PARALLEL_END: c_int = 4;
/// `ompt_callback_task_create`.
pub const CALLBACK_TASK_CREATE: c_int = 5;
/// `ompt_callback_task_schedule`.
pub const CALLBACK_TASK_SCHEDULE: c_int = 6;
/// `ompt_callback_implicit_task`.
pub const CALLBACK_IMPLICIT_TASK: c_int = 7;
/// `ompt_callback_sync_region_wait`.
pub const CALLBACK_SYNC_REGION_WAIT: c_int = 16;
/// `ompt_callback_work`.
pub const CALLBACK_WORK: c_int = 20;
/// `ompt_callback_dispatch`.
pub const CALLBACK_DISPATCH: c_int = 32;
/// `ompt_dispatch_ws_loop_chunk`: a pointer to a [`Chunk`].
pub const DISPATCH_LOOP_CHUNK: c_int = 3;
/// `ompt_work_loop_dynamic`.
pub const WORK_LOOP_DYNAMIC: c_int = 11;
/// `ompt_work_loop_guided`.
pub const WORK_LOOP_GUIDED: c_int = 12;
/// `ompt_work_loop_other`.
pub const WORK_LOOP_OTHER: c_int = 13;
/// `ompt_callback_mutex_released`.
pub const CALLBACK_MUTEX_RELEASED: c_int = 17;
/// `ompt_callback_sync_region`.
pub const CALLBACK_SYNC_REGION: c_int = 23;
/// `ompt_callback_mutex_acquire`.
pub const CALLBACK_MUTEX_ACQUIRE: c_int = 26;
/// `ompt_callback_mutex_acquired`.
pub const CALLBACK_MUTEX_ACQUIRED: c_int = 27;
/// `ompt_scope_begin`.
pub const SCOPE_BEGIN: c_int = 1;
/// `ompt_scope_end`.
pub const SCOPE_END: c_int = 2;
/// `ompt_task_implicit`.
pub const TASK_IMPLICIT: c_int = 2;
/// `ompt_task_undeferred`: its creator runs it before it goes on.
pub const TASK_UNDEFERRED: c_int = 0x0800_0000;
/// `ompt_task_complete`.
pub const TASK_COMPLETE: c_int = 1;
/// `ompt_task_cancel`.
pub const TASK_CANCEL: c_int = 3;
/// `ompt_task_detach`.
pub const TASK_DETACH: c_int = 4;
/// `ompt_task_switch`.
pub const TASK_SWITCH: c_int = 7;
/// `ompt_sync_region_taskwait`.
pub const SYNC_TASKWAIT: c_int = 5;
/// `ompt_sync_region_taskgroup`.
pub const SYNC_TASKGROUP: c_int = 6;
/// `ompt_sync_region_reduction`.
pub const SYNC_REDUCTION: c_int = 7;
/// `ompt_sync_region_barrier_implicit_parallel`.
pub const SYNC_BARRIER_IMPLICIT_PARALLEL: c_int = 9;
/// `ompt_mutex_test_lock`.
pub const MUTEX_TEST_LOCK: c_int = 2;
/// `ompt_mutex_test_nest_lock`.
pub const MUTEX_TEST_NEST_LOCK: c_int = 4;
