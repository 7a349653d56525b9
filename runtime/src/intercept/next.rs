//! The definition that the program would have reached without this runtime.
//!
//! Resolved when it is first needed, by `dlsym(RTLD_NEXT)`, and kept in an atomic pointer. `dlsym` itself may come
//! back here (it frees the text of an earlier error): such a call finds the thread's guard set and gets
//! `None`; each caller says what it does then.

use crate::lifecycle::tls;
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

/// A symbol's next definition.
pub struct Next {
    name: &'static CStr,
    pointer: AtomicPtr<c_void>,
}

/// Stands for "there is none": no function has this address.
const MISSING: *mut c_void = core::ptr::without_provenance_mut(1);

impl Next {
    /// Not resolved yet.
    pub const fn new(name: &'static CStr) -> Self {
        Self { name, pointer: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// The address, resolved now if need be. `None`: nobody else defines it, or `dlsym` is at work on this thread.
    #[inline]
    pub fn get(&self) -> Option<*mut c_void> {
        let pointer = self.pointer.load(Ordering::Relaxed);
        if pointer.addr() > MISSING.addr() { Some(pointer) } else { self.resolve(pointer) }
    }

    /// The address if an earlier [`Self::get`] found it. For functions that an allocator calls while it starts: a
    /// `dlsym` that allocates would wait for that allocator.
    #[inline]
    pub fn known(&self) -> Option<*mut c_void> {
        let pointer = self.pointer.load(Ordering::Relaxed);
        (pointer.addr() > MISSING.addr()).then_some(pointer)
    }

    #[cold]
    #[inline(never)]
    fn resolve(&self, known: *mut c_void) -> Option<*mut c_void> {
        if known == MISSING || !tls::begin_resolving() {
            return None;
        }
        // SAFETY: a C string; RTLD_NEXT searches after the object that this code is in.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if found.is_null() {
            // SAFETY: takes the error away that the program would see in its next dlerror().
            unsafe { libc::dlerror() };
        }
        tls::end_resolving();
        // Several threads may store: they all found the same.
        self.pointer.store(if found.is_null() { MISSING } else { found }, Ordering::Relaxed);
        (!found.is_null()).then_some(found)
    }
}

/// `next!(NAME: fn(types) -> type)`: the next definition of `NAME` as `Option<unsafe extern "C" fn>`.
#[cfg(not(feature = "wrap"))]
macro_rules! next {
    ($name:ident: fn($($type:ty),* $(,)?) $(-> $result:ty)?) => {{
        static NEXT: $crate::intercept::next::Next = $crate::intercept::next::Next::new(
            // SAFETY of the constant: `concat!` ends it with its only NUL.
            match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => unreachable!(),
            },
        );
        NEXT.get().map(|pointer| {
            // SAFETY: the address of the C function of this name, whose type is given.
            unsafe { core::mem::transmute::<*mut core::ffi::c_void, unsafe extern "C" fn($($type),*) $(-> $result)?>(pointer) }
        })
    }};
}

/// With the linker's `--wrap`, the next definition has a name of its own.
#[cfg(feature = "wrap")]
macro_rules! next {
    ($name:ident: fn($($type:ty),* $(,)?) $(-> $result:ty)?) => {{
        unsafe extern "C" {
            #[link_name = concat!("__real_", stringify!($name))]
            fn real($(_: $type),*) $(-> $result)?;
        }
        Some(real as unsafe extern "C" fn($($type),*) $(-> $result)?)
    }};
}
pub(crate) use next;

/// As [`next!`], for a function that is not interposed: the one that belongs to the next definition of its kin.
#[cfg(not(feature = "wrap"))]
macro_rules! kin {
    ($($signature:tt)*) => { $crate::intercept::next::next!($($signature)*) };
}

/// A function that is not wrapped has its usual name.
#[cfg(feature = "wrap")]
macro_rules! kin {
    ($name:ident: fn($($type:ty),* $(,)?) $(-> $result:ty)?) => {{
        unsafe extern "C" {
            fn $name($(_: $type),*) $(-> $result)?;
        }
        Some($name as unsafe extern "C" fn($($type),*) $(-> $result)?)
    }};
}
pub(crate) use kin;
