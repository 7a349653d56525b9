//! End-to-end tests: C and C++ programs are compiled by the wrappers, run under the tool, and what the report says is
//! compared with what the program's own comments expect.
//!
//! * [`distribution`] finds the built tool.
//! * [`compile`] and [`execute`] compile and run one program in a folder of its own.
//! * [`expectation`] reads the comments; [`formula`] evaluates the formulas in them.
//! * [`report`] reads `threadtalk report --format json`; [`check`] compares both.
//! * [`difference`] finds the first count in which two reports differ.
//! * [`disassembly`] reads machine code: what hooks reach, and how long the inlined sequences are.
//! * [`oracle`] is an exact model of what is counted, for random schedules of `programs/special/kernels.c`.
//! * [`planted`] finds the lines of planted causes of imbalance.
//! * [`scene`] is for tests that do more with a program than run it to its end.
//!
//! `programs/README.md` explains the language of the comments.

pub mod check;
pub mod compile;
pub mod difference;
pub mod disassembly;
pub mod distribution;
pub mod execute;
pub mod expectation;
pub mod formula;
pub mod oracle;
pub mod planted;
pub mod report;
pub mod scene;
