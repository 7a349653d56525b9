//! The end of the process, in all the ways that can be seen.
//!
//! Those that cannot (a signal, `SIGKILL`, a failed assertion) need nothing: the profile's mapping is valid at any
//! moment. A child of `vfork` shares this memory but is another process: it must not end its parent's profile, so each
//! of these asks for the process id.

use crate::core_api::{self, Ending};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicI32, AtomicU8, Ordering};

static PROCESS: AtomicI32 = AtomicI32::new(0);
/// How an `exit` under way wants its `_exit` to be understood.
static LAST_CALL: AtomicU8 = AtomicU8::new(0);
const NORMAL: u8 = 1;
const RECORDED: u8 = 2;
static QUICK_EXIT_STATUS: AtomicI32 = AtomicI32::new(-1);

unsafe extern "C" {
    fn on_exit(handler: unsafe extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    fn __cxa_at_quick_exit(handler: unsafe extern "C" fn(*mut c_void), library: *mut c_void) -> c_int;
}

/// Registered first, so run last: after the destructors of the executable and of all libraries, which the C library
/// registers later. If there is no room for a handler, the profile stays "running", as after a kill.
pub(super) fn register() {
    remember_process();
    // SAFETY: both handlers live as long as the process.
    unsafe {
        on_exit(at_exit, core::ptr::null_mut());
        __cxa_at_quick_exit(at_quick_exit, core::ptr::null_mut());
    }
}

/// This process is the one that is profiled.
pub(super) fn remember_process() {
    // SAFETY: always succeeds.
    PROCESS.store(unsafe { libc::getpid() }, Ordering::Relaxed);
}

/// In a static program the destructors were registered before this and follow; there `exit` comes to the wrapped
/// `_exit` at last.
unsafe extern "C" fn at_exit(status: c_int, _: *mut c_void) {
    if cfg!(feature = "wrap") {
        LAST_CALL.store(NORMAL, Ordering::Relaxed);
    } else {
        record(Ending::Normal, status);
    }
}

unsafe extern "C" fn at_quick_exit(_: *mut c_void) {
    record(Ending::Abrupt, QUICK_EXIT_STATUS.load(Ordering::Relaxed));
    LAST_CALL.store(RECORDED, Ordering::Relaxed);
}

/// `_exit`: by the program, or in a static program also by `exit` and `quick_exit`.
pub fn record_exit(status: c_int) {
    match LAST_CALL.load(Ordering::Relaxed) {
        NORMAL => record(Ending::Normal, status),
        RECORDED => {}
        _ => record(Ending::Abrupt, status),
    }
}

/// The status that the handler of `quick_exit` is not told.
pub fn announce_quick_exit(status: c_int) {
    QUICK_EXIT_STATUS.store(status, Ordering::Relaxed);
}

/// The process ends now with this status (-1 = by a signal). What the kernel keeps of a status is its low byte.
pub fn record(ending: Ending, status: c_int) {
    if concerns_this_process() {
        core_api::process_exit(ending, if status < 0 && ending == Ending::Abrupt { -1 } else { status & 0xff });
    }
}

fn concerns_this_process() -> bool {
    // SAFETY: always succeeds.
    super::is_active() && PROCESS.load(Ordering::Relaxed) == unsafe { libc::getpid() }
}

/// Between a call of exec and its failure.
pub struct BeforeExec {
    recorded: bool,
}

/// The process is about to be replaced.
pub fn before_exec() -> BeforeExec {
    let recorded = concerns_this_process();
    if recorded {
        core_api::before_exec();
    }
    BeforeExec { recorded }
}

impl BeforeExec {
    /// It was not.
    pub fn failed(self) {
        if self.recorded {
            core_api::exec_failed();
        }
    }
}
