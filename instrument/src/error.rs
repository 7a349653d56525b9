//! What can go wrong in the pass. The text becomes an error of the compilation.

use crate::options::OptionError;
use inkwell::builder::BuilderError;
use thiserror::Error;

/// An error of the pass.
#[derive(Debug, Error)]
pub enum PassError {
    /// Bad options.
    #[error(transparent)]
    Options(#[from] OptionError),
    /// The ignore list.
    #[error("cannot use the ignorelist '{path}': {reason}")]
    Ignorelist {
        /// Its path.
        path: String,
        /// What LLVM says.
        reason: String,
    },
    /// The target is not what the runtime's layout assumes.
    #[error("cannot instrument code for '{0}': only 64-bit little-endian x86 (x86_64) is supported")]
    Target(String),
    /// LLVM refused an instruction: an error in the pass.
    #[error("cannot build an instruction: {0}; please report this with the preprocessed source")]
    Builder(#[from] BuilderError),
    /// LLVM found the result broken: an error in the pass.
    #[error(
        "the instrumented module is not valid: {0}; please report this with the preprocessed source; until it is \
         mended, THREADTALK_PASS_OPTIONS=opt=0 compiles this file without optimised counting"
    )]
    Invalid(String),
}
