//! Which region of the source an access belongs to.
//!
//! * [`functions`]: functions, as the source has them: code that was inlined belongs to the function it came from.
//! * [`outlined`]: functions that the compiler made out of OpenMP constructs.
//! * [`constructs`]: OpenMP constructs between two calls of the OpenMP runtime, found by propagation over the control
//!   flow.
//! * [`nesting`]: the innermost of all these and of the loops at some instruction.

pub mod constructs;
pub mod functions;
pub mod nesting;
pub mod outlined;
