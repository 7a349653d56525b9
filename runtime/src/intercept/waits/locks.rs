//! Mutexes, read-write locks and semaphores, of POSIX and C11.

use super::take;
use crate::execution::waiting;
use crate::intercept::next::{kin, next};
use crate::intercept::timed;
use core::ffi::c_int;
use libc::{clockid_t, pthread_mutex_t, pthread_rwlock_t, sem_t, timespec};
use threadtalk_profile::layout::BlockedKind;

/// `name(argument, ...)` of `kind`, tried by `attempt(first argument)`.
macro_rules! locks {
    ($($kind:ident, $attempt:ident: fn $name:ident($first:ident: $of:ty $(, $argument:ident: $type:ty)*);)*) => {$(
        timed! {
            /// Waits if it is taken.
            fn $name($first: $of $(, $argument: $type)*) -> c_int {
                let attempt = kin!($attempt: fn($of) -> c_int);
                let Some(next) = next!($name: fn($of $(, $type)*) -> c_int) else {
                    // `dlsym` is at work on this thread, and an allocator below it takes its lock.
                    // SAFETY: the same lock.
                    return unsafe { insist(|| libc::$attempt($first)) };
                };
                let Some(attempt) = attempt else {
                    // SAFETY: handed on unchanged.
                    return unsafe { next($first $(, $argument)*) };
                };
                // SAFETY: the same lock, then handed on unchanged.
                take(BlockedKind::$kind, || unsafe { attempt($first) }, || unsafe { next($first $(, $argument)*) })
            }
        }
    )*};
}

locks! {
    Mutex, pthread_mutex_trylock: fn pthread_mutex_lock(mutex: *mut pthread_mutex_t);
    Mutex, pthread_mutex_trylock: fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, until: *const timespec);
    RwLock, pthread_rwlock_tryrdlock: fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t);
    RwLock, pthread_rwlock_tryrdlock: fn pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t, until: *const timespec);
    RwLock, pthread_rwlock_trywrlock: fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t);
    RwLock, pthread_rwlock_trywrlock: fn pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t, until: *const timespec);
}

/// Locks with a limit by a clock, which the C library has since 2.30: without it their callers do not exist.
macro_rules! clock_locks {
    ($($kind:ident, $attempt:ident: fn $name:ident($lock:ident: $of:ty);)*) => {$(
        timed! {
            /// Waits if it is taken.
            fn $name($lock: $of, clock: clockid_t, until: *const timespec) -> c_int {
                let Some(next) = next!($name: fn($of, clockid_t, *const timespec) -> c_int) else { return libc::EINVAL };
                let Some(attempt) = kin!($attempt: fn($of) -> c_int) else {
                    // SAFETY: handed on unchanged.
                    return unsafe { next($lock, clock, until) };
                };
                // SAFETY: the same lock, then handed on unchanged.
                take(BlockedKind::$kind, || unsafe { attempt($lock) }, || unsafe { next($lock, clock, until) })
            }
        }
    )*};
}

clock_locks! {
    Mutex, pthread_mutex_trylock: fn pthread_mutex_clocklock(mutex: *mut pthread_mutex_t);
    RwLock, pthread_rwlock_tryrdlock: fn pthread_rwlock_clockrdlock(lock: *mut pthread_rwlock_t);
    RwLock, pthread_rwlock_trywrlock: fn pthread_rwlock_clockwrlock(lock: *mut pthread_rwlock_t);
}

/// Takes a lock without waiting for it in the kernel.
fn insist(attempt: impl Fn() -> c_int) -> c_int {
    loop {
        match attempt() {
            libc::EBUSY => {
                // SAFETY: no preconditions.
                unsafe { libc::sched_yield() };
            }
            result => return result,
        }
    }
}

/// Semaphores answer in `errno`.
fn down(sem: *mut sem_t, wait: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: the thread's errno.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    if !waiting::is_watched() {
        return wait();
    }
    // SAFETY: the caller's semaphore.
    if unsafe { libc::sem_trywait(sem) } == 0 {
        return 0;
    }
    // SAFETY: as above.
    unsafe { *errno = before };
    waiting::during(BlockedKind::Semaphore, wait)
}

timed! {
    /// Waits if it is 0.
    fn sem_wait(sem: *mut sem_t) -> c_int {
        let Some(next) = next!(sem_wait: fn(*mut sem_t) -> c_int) else { return -1 };
        // SAFETY: handed on unchanged.
        down(sem, || unsafe { next(sem) })
    }
}

timed! {
    /// See [`sem_wait`].
    fn sem_timedwait(sem: *mut sem_t, until: *const timespec) -> c_int {
        let Some(next) = next!(sem_timedwait: fn(*mut sem_t, *const timespec) -> c_int) else { return -1 };
        // SAFETY: handed on unchanged.
        down(sem, || unsafe { next(sem, until) })
    }
}

timed! {
    /// See [`sem_wait`].
    fn sem_clockwait(sem: *mut sem_t, clock: clockid_t, until: *const timespec) -> c_int {
        let Some(next) = next!(sem_clockwait: fn(*mut sem_t, clockid_t, *const timespec) -> c_int) else { return -1 };
        // SAFETY: handed on unchanged.
        down(sem, || unsafe { next(sem, clock, until) })
    }
}

timed! {
    /// C11's names do not pass through POSIX's. 0, 1, 2 are success, busy, error here.
    fn mtx_lock(mutex: *mut pthread_mutex_t) -> c_int {
        let Some(next) = next!(mtx_lock: fn(*mut pthread_mutex_t) -> c_int) else { return 2 };
        let Some(attempt) = kin!(mtx_trylock: fn(*mut pthread_mutex_t) -> c_int) else { return 2 };
        // SAFETY: the same lock, then handed on unchanged.
        take(BlockedKind::Mutex, || if unsafe { attempt(mutex) } == 0 { 0 } else { libc::EBUSY }, || unsafe { next(mutex) })
    }
}
