//! Sleeping, and waiting for signals and children.

use super::waits;
use core::ffi::{c_int, c_uint, c_void};
use libc::{clockid_t, id_t, idtype_t, pid_t, rusage, siginfo_t, sigset_t, timespec, useconds_t};

waits! {
    Sleep: fn sleep(seconds: c_uint) -> c_uint, or seconds;
    Sleep: fn usleep(microseconds: useconds_t) -> c_int, or -1;
    Sleep: fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int, or -1;
    Sleep: fn clock_nanosleep(clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec)
        -> c_int, or libc::EINVAL;
    Sleep: fn thrd_sleep(time: *const timespec, left: *mut timespec) -> c_int, or -2;
    Sleep: fn pause() -> c_int, or -1;
    Wait: fn sigsuspend(mask: *const sigset_t) -> c_int, or -1;
    Wait: fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int, or libc::EINVAL;
    Wait: fn sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) -> c_int, or -1;
    Wait: fn sigtimedwait(set: *const sigset_t, info: *mut siginfo_t, limit: *const timespec) -> c_int, or -1;
    Wait: fn wait(status: *mut c_int) -> pid_t, or -1;
    Wait: fn waitpid(child: pid_t, status: *mut c_int, options: c_int) -> pid_t, or -1;
    Wait: fn waitid(kind: idtype_t, id: id_t, info: *mut siginfo_t, options: c_int) -> c_int, or -1;
    Wait: fn wait3(status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t, or -1;
    Wait: fn wait4(child: pid_t, status: *mut c_int, options: c_int, usage: *mut rusage) -> pid_t, or -1;
    Wait: fn msgrcv(queue: c_int, message: *mut c_void, bytes: usize, kind: core::ffi::c_long, flags: c_int)
        -> isize, or -1;
}
