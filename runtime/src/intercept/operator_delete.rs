//! C++ `operator delete`, for allocators that bring their own.
//!
//! libstdc++'s and libc++'s call `free`, which is seen there. jemalloc and tcmalloc define the operators beside
//! `malloc`, without passing through `free`: only then is the death recorded here. In a program whose C++ library came
//! by `dlopen` or is linked in statically there may be no next definition: memory of `operator new` then comes from
//! `malloc`.

use super::heap;
use super::interpose;
use super::next::next;
use crate::core_api;
use crate::lifecycle;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU8, Ordering};

/// The elements of a block die, unless the operator that follows calls `free`.
///
/// # Safety
/// `block` is null or a live block from `operator new`.
unsafe fn die(block: *mut c_void, operator: *const c_void) {
    const UNKNOWN: u8 = 0;
    const CALLS_FREE: u8 = 1;
    const OWN_MEMORY: u8 = 2;
    static KIND: AtomicU8 = AtomicU8::new(UNKNOWN);
    if block.is_null() || !lifecycle::is_active() {
        return;
    }
    let kind = match KIND.load(Ordering::Relaxed) {
        UNKNOWN => {
            let Some(free) = next!(free: fn(*mut c_void)) else { return };
            let kind = if heap::same_library(free as *const c_void, operator) { OWN_MEMORY } else { CALLS_FREE };
            KIND.store(kind, Ordering::Relaxed);
            kind
        }
        kind => kind,
    };
    if kind == OWN_MEMORY {
        // SAFETY: see above; the operators and `malloc_usable_size` are of one allocator.
        core_api::clear_range(block.addr(), unsafe { heap::usable(block) });
    }
}

macro_rules! operators {
    ($($(#[$meta:meta])* $name:ident($($argument:ident: $type:ty),*);)*) => {$(
        interpose! {
            $(#[$meta])*
            fn $name(block: *mut c_void $(, $argument: $type)*) {
                match next!($name: fn(*mut c_void $(, $type)*)) {
                    Some(next) => {
                        // SAFETY: by the caller's contract; handed on unchanged.
                        unsafe {
                            die(block, next as *const c_void);
                            next(block $(, $argument)*)
                        }
                    }
                    // SAFETY: memory of `operator new` without a library of its own, see the module's documentation.
                    None => unsafe { heap::free(block) },
                }
            }
        }
    )*};
}

// The names are C++'s mangled ones: `dl` = delete, `da` = delete[], `m` = with size, `St11align_val_t` = aligned,
// `RKSt9nothrow_t` = nothrow.
operators! {
    /// `operator delete(void*)`.
    _ZdlPv();
    /// `operator delete[](void*)`.
    _ZdaPv();
    /// `operator delete(void*, size_t)`.
    _ZdlPvm(bytes: usize);
    /// `operator delete[](void*, size_t)`.
    _ZdaPvm(bytes: usize);
    /// `operator delete(void*, nothrow)`.
    _ZdlPvRKSt9nothrow_t(nothrow: *const c_void);
    /// `operator delete[](void*, nothrow)`.
    _ZdaPvRKSt9nothrow_t(nothrow: *const c_void);
    /// `operator delete(void*, align_val_t)`.
    _ZdlPvSt11align_val_t(alignment: usize);
    /// `operator delete[](void*, align_val_t)`.
    _ZdaPvSt11align_val_t(alignment: usize);
    /// `operator delete(void*, size_t, align_val_t)`.
    _ZdlPvmSt11align_val_t(bytes: usize, alignment: usize);
    /// `operator delete[](void*, size_t, align_val_t)`.
    _ZdaPvmSt11align_val_t(bytes: usize, alignment: usize);
    /// `operator delete(void*, align_val_t, nothrow)`.
    _ZdlPvSt11align_val_tRKSt9nothrow_t(alignment: usize, nothrow: *const c_void);
    /// `operator delete[](void*, align_val_t, nothrow)`.
    _ZdaPvSt11align_val_tRKSt9nothrow_t(alignment: usize, nothrow: *const c_void);
}
