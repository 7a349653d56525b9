//! An OMPT tool: which threads are workers of the OpenMP runtime, and ([`events`]) what they do together.
//!
//! libomp creates its workers by `pthread_create`, so their lives are known already; this names them. The source of
//! OpenMP constructs comes from the compiler pass, or for code of other compilers from return addresses. A program or
//! another tool that defines `ompt_start_tool` itself keeps its own.

mod events;
mod ompt;

use crate::core_api;
use crate::lifecycle::{self, threads};
use core::ffi::{c_char, c_int, c_uint};
use core::ptr::null_mut;
use ompt::{Data, Lookup, StartToolResult};

/// libomp 19 keeps the address until it calls `finalize`.
static TOOL: StartToolResult = StartToolResult { initialize, finalize, tool_data: Data { value: 0 } };

/// Called by the OpenMP runtime when it starts. Null: no tool.
///
/// # Safety
/// Called by an OpenMP runtime.
#[cfg_attr(feature = "interpose", unsafe(no_mangle))]
pub unsafe extern "C" fn ompt_start_tool(_omp_version: c_uint, _runtime: *const c_char) -> *mut StartToolResult {
    if lifecycle::is_active() { core::ptr::from_ref(&TOOL).cast_mut() } else { null_mut() }
}

/// Non-zero: the tool stays.
unsafe extern "C" fn initialize(lookup: Lookup, _initial_device: c_int, _tool_data: *mut Data) -> c_int {
    // SAFETY: the runtime's own lookup function and a constant name; it answers with the function of that type or null.
    let set_callback = unsafe { lookup(c"ompt_set_callback".as_ptr()) };
    let Some(set_callback) = set_callback else { return 0 };
    // SAFETY: entry points are handed out untyped; this is the type of `ompt_set_callback`.
    let set_callback = unsafe { core::mem::transmute::<ompt::Interface, ompt::SetCallback>(set_callback) };
    // SAFETY: a callback of the event's type, erased as the interface wants it.
    let result = unsafe {
        let callback = core::mem::transmute::<ompt::ThreadBegin, ompt::Interface>(thread_begin);
        set_callback(ompt::CALLBACK_THREAD_BEGIN, callback)
    };
    // SAFETY: as above.
    let creations = unsafe {
        let callback = core::mem::transmute::<ompt::TaskCreate, ompt::Interface>(events::task_create);
        set_callback(ompt::CALLBACK_TASK_CREATE, callback)
    };
    events::creations_are_told(creations == ompt::SET_ALWAYS);
    for (event, callback) in events::all() {
        // SAFETY: callbacks of the events' types.
        unsafe { set_callback(event, callback) };
    }
    (result > ompt::SET_IMPOSSIBLE) as c_int
}

unsafe extern "C" fn finalize(_tool_data: *mut Data) {}

unsafe extern "C" fn thread_begin(kind: c_int, _thread_data: *mut Data) {
    if kind == ompt::THREAD_WORKER
        && lifecycle::is_active()
        && let Some(slot) = threads::current()
    {
        core_api::thread_is_openmp_worker(slot.ticket());
    }
}
