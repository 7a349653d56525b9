//! Calls in which a thread may wait, as the C library has them: each is timed, and the thread is not effective
//! meanwhile.
//!
//! A lock is tried first: one that is free costs no more than that and is no waiting. libstdc++'s and libomp's calls
//! come by here, too, because they go through the dynamic linker; the C library's own do not.

pub mod conditions;
pub mod files;
pub mod futex;
pub mod locks;
pub mod sleep;

use crate::execution::waiting;
use core::ffi::c_int;
use threadtalk_profile::layout::BlockedKind;

/// Defines functions that wait and return: `kind: name(argument: type, ...) -> type, or the result without a next
/// definition`.
macro_rules! waits {
    ($($kind:ident: fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty, or $missing:expr;)*) => {$(
        $crate::intercept::timed! {
            /// Waits.
            fn $name($($argument: $type),*) -> $result {
                let Some(next) = $crate::intercept::next::next!($name: fn($($type),*) -> $result) else { return $missing };
                // SAFETY: handed on unchanged.
                $crate::execution::waiting::during(threadtalk_profile::layout::BlockedKind::$kind, || unsafe {
                    next($($argument),*)
                })
            }
        }
    )*};
}
use waits;

/// Takes something: by `attempt`, which does not wait, or if it is taken (`EBUSY`) by `lock`, which does.
#[inline]
fn take(kind: BlockedKind, attempt: impl FnOnce() -> c_int, lock: impl FnOnce() -> c_int) -> c_int {
    if !waiting::is_watched() {
        return lock();
    }
    match attempt() {
        libc::EBUSY => waiting::during(kind, lock),
        taken @ (0 | libc::EOWNERDEAD) => taken,
        // Whatever is wrong, the call itself says it best.
        _ => lock(),
    }
}
