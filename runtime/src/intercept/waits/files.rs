//! Waiting for files to become ready, and reading from those that are not.

use super::waits;
use crate::execution::waiting;
use crate::intercept::next::next;
use crate::intercept::timed;
use core::ffi::{c_int, c_void};
use libc::{epoll_event, fd_set, msghdr, nfds_t, pollfd, sigset_t, sockaddr, socklen_t, timespec, timeval};
use threadtalk_profile::layout::BlockedKind;

waits! {
    Poll: fn ppoll(files: *mut pollfd, number: nfds_t, limit: *const timespec, mask: *const sigset_t) -> c_int, or -1;
    Poll: fn select(number: c_int, r: *mut fd_set, w: *mut fd_set, e: *mut fd_set, limit: *mut timeval) -> c_int, or -1;
    Poll: fn pselect(
        number: c_int, r: *mut fd_set, w: *mut fd_set, e: *mut fd_set, limit: *const timespec, mask: *const sigset_t
    ) -> c_int, or -1;
}

/// Does not wait if `limit` (milliseconds) is 0.
fn up_to<T>(limit: c_int, call: impl FnOnce() -> T) -> T {
    if limit == 0 { call() } else { waiting::during(BlockedKind::Poll, call) }
}

timed! {
    /// Waits, unless it only asks.
    fn poll(files: *mut pollfd, number: nfds_t, limit: c_int) -> c_int {
        let Some(next) = next!(poll: fn(*mut pollfd, nfds_t, c_int) -> c_int) else { return -1 };
        // SAFETY: handed on unchanged.
        up_to(limit, || unsafe { next(files, number, limit) })
    }
}

timed! {
    /// See [`poll`].
    fn epoll_wait(epoll: c_int, events: *mut epoll_event, most: c_int, limit: c_int) -> c_int {
        let Some(next) = next!(epoll_wait: fn(c_int, *mut epoll_event, c_int, c_int) -> c_int) else { return -1 };
        // SAFETY: handed on unchanged.
        up_to(limit, || unsafe { next(epoll, events, most, limit) })
    }
}

timed! {
    /// See [`poll`].
    fn epoll_pwait(epoll: c_int, events: *mut epoll_event, most: c_int, limit: c_int, mask: *const sigset_t) -> c_int {
        let Some(next) = next!(epoll_pwait: fn(c_int, *mut epoll_event, c_int, c_int, *const sigset_t) -> c_int) else {
            return -1;
        };
        // SAFETY: handed on unchanged.
        up_to(limit, || unsafe { next(epoll, events, most, limit, mask) })
    }
}

/// Reads from `file`: a wait if nothing is there yet. Files on disks always are ready; asking costs one system call.
fn reading<T>(file: c_int, read: impl FnOnce() -> T) -> T {
    if !waiting::is_watched() || is_ready(file) { read() } else { waiting::during(BlockedKind::Read, read) }
}

/// Asks the kernel itself, so that the program's errno stays and no cancellation comes.
fn is_ready(file: c_int) -> bool {
    let mut asked = pollfd { fd: file, events: libc::POLLIN, revents: 0 };
    let ready: i64;
    // SAFETY: poll(&asked, 1, 0) of the kernel, which writes to `asked` only.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") libc::SYS_poll => ready,
            in("rdi") &raw mut asked,
            in("rsi") 1,
            in("rdx") 0,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    ready != 0
}

/// Functions whose first argument is the file that they read.
macro_rules! reads {
    ($(fn $name:ident($file:ident: c_int $(, $argument:ident: $type:ty)*) -> $result:ty;)*) => {$(
        timed! {
            /// Waits if nothing is there yet.
            fn $name($file: c_int $(, $argument: $type)*) -> $result {
                let Some(next) = next!($name: fn(c_int $(, $type)*) -> $result) else { return -1 };
                // SAFETY: handed on unchanged.
                reading($file, || unsafe { next($file $(, $argument)*) })
            }
        }
    )*};
}

reads! {
    fn read(file: c_int, to: *mut c_void, bytes: usize) -> isize;
    fn recv(file: c_int, to: *mut c_void, bytes: usize, flags: c_int) -> isize;
    fn recvfrom(
        file: c_int, to: *mut c_void, bytes: usize, flags: c_int, from: *mut sockaddr, length: *mut socklen_t
    ) -> isize;
    fn recvmsg(file: c_int, message: *mut msghdr, flags: c_int) -> isize;
    fn accept(file: c_int, from: *mut sockaddr, length: *mut socklen_t) -> c_int;
    fn accept4(file: c_int, from: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int;
}
