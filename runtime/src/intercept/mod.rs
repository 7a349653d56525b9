//! Functions of the C library that this runtime stands in front of.
//!
//! The runtime is linked into the executable (or preloaded), so the dynamic linker finds these definitions before the C
//! library's; each tells the core what happens and calls the next definition ([`next`]), which is the C library's or
//! that of an allocator the program chose. The exported names are weak: a program that defines one of
//! them itself (its own `free`, say) keeps its own.
//!
//! What is *not* replaced, because what it does can be seen elsewhere:
//! `malloc`, `calloc` and their kin (a block is born without a writer because its last owner's elements died),
//! `reallocarray` (the C library calls `realloc`), `pthread_exit` and `pthread_cancel` (key destructors run), `exit`
//! (`on_exit`), `fork` (`pthread_atfork`), `vfork`, `posix_spawn`, `system` (their children touch nothing of ours
//! before they exec).
//!
//! A fully static program has no next definition to ask for; there the linker's `--wrap` gives both names (feature
//! `wrap`).

pub mod heap;
pub mod mapping;
pub mod names;
pub mod next;
#[cfg(not(feature = "wrap"))] // a static C program has no operators to wrap; libstdc++'s call the wrapped `free`
pub mod operator_delete;
pub mod process;
pub mod shared_memory;
pub mod threads;
pub mod waits;

/// Defines an interposed function. Exported only with the feature `interpose` (the archive turns it on): test
/// programs of this package must not get a new `free`. With the feature `wrap` the name is `__wrap_NAME`.
macro_rules! interpose {
    ($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)? $body:block) => {
        $(#[$meta])*
        ///
        /// # Safety
        /// That of the C function of this name.
        #[allow(non_snake_case, reason = "C's names")]
        #[cfg_attr(all(feature = "interpose", not(feature = "wrap")), unsafe(no_mangle))]
        #[cfg_attr(all(feature = "interpose", feature = "wrap"), unsafe(export_name = concat!("__wrap_", stringify!($name))))]
        pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? $body
    };
}
pub(crate) use interpose;

/// The same of a function in which a thread may wait: instrumented code says where it calls it.
macro_rules! timed {
    ($(#[$meta:meta])* fn $name:ident $($rest:tt)*) => {
        const _: () = assert!(threadtalk_abi::waits::is_timed(stringify!($name)), "the pass does not know that it waits");
        $crate::intercept::interpose! { $(#[$meta])* fn $name $($rest)* }
    };
}
pub(crate) use timed;
