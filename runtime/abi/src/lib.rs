//! The contract between instrumented code and the runtime.
//!
//! Three parties read this crate: the pass emits code that relies on it, the runtime implements it, and the profile
//! decoder reads the module tables that it describes. Nothing else may define a symbol name, an offset
//! or a constant that two of them share.
//!
//! * [`hooks`] is the table of entry points, with what each one means.
//! * [`thread`] is the part of a thread's control block that inlined code touches.
//! * [`module`] is the description of a compiled module: its source regions and sites.
//! * [`loops`] describes the accesses of a whole loop, [`question`] how the program says what they are.
//! * [`memo`] is what the reads of a loop nest know of the states that they saw last.
//! * [`bundle`] is what reads of members of a structure know together.
//! * [`window`] is what a loop nest knows of memory.
//! * [`waits`] names the functions before whose calls the program says where it is.
//! * [`control`] is the description of control flow and where its counters are.
//! * [`cell`] says how a 4-byte signature cell encodes its state.
//!
//! A change that an old object file would not survive raises [`ABI_VERSION`]; the pass references
//! `__threadtalk_abi_v<N>`, which only a runtime of the same version defines, so a mismatch is a link error that
//! names both sides.
#![no_std]

pub mod bundle;
pub mod cell;
pub mod control;
pub mod credit;
pub mod hooks;
pub mod loops;
pub mod memo;
pub mod module;
pub mod question;
pub mod thread;
pub mod waits;
pub mod window;

/// Version of everything in this crate. Part of the symbol that ties objects to a runtime.
pub const ABI_VERSION: u32 = 7;

/// The symbol that instrumented modules reference and only a runtime of the same version defines.
pub const ABI_SYMBOL: &str = "__threadtalk_abi_v7";

/// Bytes of memory that one cell stands for. An element of the specification is one granule.
pub const GRANULE: u64 = 4;

/// log2 of the bytes of memory that one entry of the directory translates.
pub const CHUNK_SHIFT: u32 = 14;

/// Bytes of memory (and of cells: they are as large as what they describe) in one chunk.
pub const CHUNK_BYTES: u64 = 1 << CHUNK_SHIFT;

/// Bits of a user-space address that the directory covers. Linux hands out addresses above 2^47 only on request.
pub const ADDRESS_BITS: u32 = 47;

/// Entries of the directory: one 8-byte translation for each chunk of the address space.
pub const DIRECTORY_ENTRIES: u64 = 1 << (ADDRESS_BITS - CHUNK_SHIFT);

/// Bytes of address space, hardly any of them ever touched, without which an instrumented program does not start:
/// the directory of cells and an empty one for threads that do not count (64 GiB each), what is known of each chunk's
/// claims and objects (32 each), the profile's file (64), and room for small tables. Where nothing limits it, the
/// runtime reserves twice as much, and a directory for each thread.
pub const LEAST_ADDRESSES: u64 = 260 << 30;

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn the_version_symbol_carries_the_version() {
        assert_eq!(ABI_SYMBOL, std::format!("__threadtalk_abi_v{ABI_VERSION}"));
    }
}
