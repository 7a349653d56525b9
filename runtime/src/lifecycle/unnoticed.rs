//! System calls that the program must not notice.
//!
//! `open`, `write`, `fallocate` and others are cancellation points: a thread with a pending `pthread_cancel` would
//! end inside the runtime, at a place where the program cannot end. And a failed call leaves its error in `errno`,
//! which the program may be about to read.

use core::ffi::c_int;

const DISABLE: c_int = 1; // PTHREAD_CANCEL_DISABLE

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}

/// Calls `act` without cancellation, and restores `errno`.
pub fn unnoticed<T>(act: impl FnOnce() -> T) -> T {
    let mut old = 0;
    // SAFETY: the thread's own state and errno, which lives as long as the thread.
    let (errno, error) = unsafe {
        pthread_setcancelstate(DISABLE, &mut old);
        let errno = libc::__errno_location();
        (errno, *errno)
    };
    let result = act();
    // SAFETY: as above. A pending cancellation stays pending, unless the thread asked to be cancelled anywhere: then it
    // ends here, at the end of the runtime's work.
    unsafe {
        *errno = error;
        pthread_setcancelstate(old, core::ptr::null_mut());
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errno_and_the_cancellation_state_are_as_before() {
        let state = || {
            let (mut old, mut unused) = (0, 0);
            // SAFETY: the thread's own state, put back at once.
            unsafe {
                pthread_setcancelstate(DISABLE, &mut old);
                pthread_setcancelstate(old, &mut unused);
            }
            old
        };
        // SAFETY: the thread's errno.
        let errno = unsafe { &mut *libc::__errno_location() };
        *errno = 17;
        let before = state();
        unnoticed(|| {
            assert_eq!(state(), DISABLE);
            // SAFETY: fails with EBADF.
            unsafe { libc::close(-1) };
        });
        assert_eq!((*errno, state()), (17, before));
        assert_ne!(before, DISABLE);
    }
}
