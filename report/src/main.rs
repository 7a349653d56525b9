//! `threadtalk`: see which threads talk to each other, through which lines of code, and what it costs.

use std::process::ExitCode;

/// Of a report of a million cells a seventh was the kernel's work for pages that the C library's allocator gave back or
/// asked for one by one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    threadtalk::main(std::env::args_os().collect())
}
