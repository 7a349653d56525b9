//! What is linked into programs: the runtime, its first code, and what happens if it panics.
//!
//! Built with the profile `runtime`, which does not unwind. Under any other profile this is an ordinary library, so
//! that checking the whole workspace works.
#![cfg_attr(panic = "abort", no_std)]

#[cfg(panic = "abort")]
mod panic;

use core::ffi::{c_char, c_int};
use threadtalk_runtime::lifecycle::start::__threadtalk_init;

type Initializer = unsafe extern "C" fn(c_int, *const *const c_char, *const *const c_char);

/// The shared library's first constructor. In the archives `scripts/link-runtime.sh` moves it to `.preinit_array`,
/// which only executables may have and which runs before the constructors of all libraries.
#[used]
#[unsafe(link_section = ".init_array.00000")]
static INITIALIZER: Initializer = __threadtalk_init;
