//! The table of entry points: one line each gives the symbol, its C declaration and its meaning.
//!
//! All hooks but `__threadtalk_register` use the calling convention `preserve_most` (LLVM's `preserve_mostcc`): the
//! callee keeps all general registers but r11, so that the cold call costs the inlined code no spills.
//! Those of [`again`] keep vector registers, too (`preserve_all`).
//! Hooks never unwind, never take a lock, never allocate from the program's heap.
//!
//! `site` is always the global number: the module's `site_base` plus the index in its table.

/// One entry point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook {
    /// Symbol name.
    pub name: &'static str,
    /// C declaration without the name: result, then parameters. `ptr`, `i32`, `i64`, `void`.
    pub signature: (&'static str, &'static [&'static str]),
    /// Calling convention `preserve_most`.
    pub preserve_most: bool,
    /// What it does.
    pub meaning: &'static str,
}

macro_rules! hooks {
    ($($konst:ident = $name:literal, $cc:literal, $ret:literal ($($arg:literal),*): $meaning:literal;)*) => {
        $(#[doc = $meaning] pub const $konst: Hook = Hook {
            name: $name, signature: ($ret, &[$($arg),*]), preserve_most: $cc, meaning: $meaning };)*
        /// All entry points.
        pub const ALL: &[Hook] = &[$($konst),*];
    };
}

hooks! {
    ATTACH = "__threadtalk_attach", true, "ptr" ():
        "Give the calling thread a control block and return it; called by function entries that find the thread-local pointer null. Never returns null.";
    REGISTER = "__threadtalk_register", false, "void" ("ptr"):
        "Register a module (argument: `ModuleDescriptor`); called once for each object file by a constructor of priority 0. Fills in the module's bases.";
    READ1 = "__threadtalk_read1", true, "void" ("ptr", "i32"): "Read of 1 byte at (address, site).";
    READ2 = "__threadtalk_read2", true, "void" ("ptr", "i32"): "Read of 2 bytes.";
    READ4 = "__threadtalk_read4", true, "void" ("ptr", "i32"): "Read of 4 bytes.";
    READ8 = "__threadtalk_read8", true, "void" ("ptr", "i32"): "Read of 8 bytes.";
    AGAIN4 = "__threadtalk_again4", false, "i32" ("ptr", "i32"):
        "Read inside one granule at (address, site). Returns 1 if it was like an earlier one and is done; 0 if nothing was done and the hook must be called.";
    AGAIN8 = "__threadtalk_again8", false, "i32" ("ptr", "i32"): "The same of 8 bytes at a multiple of 4.";
    READ16 = "__threadtalk_read16", true, "void" ("ptr", "i32"): "Read of 16 bytes.";
    READ32 = "__threadtalk_read32", true, "void" ("ptr", "i32"): "Read of 32 bytes.";
    READ64 = "__threadtalk_read64", true, "void" ("ptr", "i32"): "Read of 64 bytes.";
    WRITE1 = "__threadtalk_write1", true, "void" ("ptr", "i32"): "Write of 1 byte at (address, site).";
    WRITE2 = "__threadtalk_write2", true, "void" ("ptr", "i32"): "Write of 2 bytes.";
    WRITE4 = "__threadtalk_write4", true, "void" ("ptr", "i32"): "Write of 4 bytes.";
    WRITE8 = "__threadtalk_write8", true, "void" ("ptr", "i32"): "Write of 8 bytes.";
    WRITE16 = "__threadtalk_write16", true, "void" ("ptr", "i32"): "Write of 16 bytes.";
    WRITE32 = "__threadtalk_write32", true, "void" ("ptr", "i32"): "Write of 32 bytes.";
    WRITE64 = "__threadtalk_write64", true, "void" ("ptr", "i32"): "Write of 64 bytes.";
    READ_RANGE = "__threadtalk_read_range", true, "void" ("ptr", "i64", "i32"):
        "Read of a range (address, bytes, site): one event for each granule touched. 0 bytes = nothing.";
    WRITE_RANGE = "__threadtalk_write_range", true, "void" ("ptr", "i64", "i32"):
        "Write of a range (address, bytes, site).";
    READ_MASKED = "__threadtalk_read_masked", true, "void" ("ptr", "i64", "i64", "i32"):
        "Masked vector load (address of lane 0, bytes of a lane, mask with bit i = lane i active, site).";
    WRITE_MASKED = "__threadtalk_write_masked", true, "void" ("ptr", "i64", "i64", "i32"):
        "Masked vector store (address of lane 0, bytes of a lane, mask, site).";
    COPY = "__threadtalk_copy", true, "void" ("ptr", "ptr", "i64", "i32"):
        "memcpy or memmove (destination, source, bytes, site): read of the source, then write of the destination. Called before the copy.";
    READ_STRING = "__threadtalk_read_string", true, "void" ("ptr", "i64", "i32"):
        "A C library function read a NUL-terminated string (address, at most so many bytes, site): its bytes and the NUL.";
    WRITE_STRING = "__threadtalk_write_string", true, "void" ("ptr", "i64", "i32"):
        "A C library function wrote a NUL-terminated string (address, at most so many bytes, site). Called after it.";
    LOOP = "__threadtalk_loop", true, "i32" ("ptr", "i32", "i64", "ptr", "ptr", "ptr"):
        "A loop is about to run that touches memory only as described (array of `question::LoopRow`, their number (and `loops::IN_NEST`), iterations, values, `ModuleBases`, the loop's credit if `loops::CREDIT` says so). Returns 1 if all its accesses have been counted here, so that a copy of the loop without hooks may run; 0 if nothing was done and the instrumented copy must run.";
    SEARCHED = "__threadtalk_searched", true, "void" ("ptr", "i32", "i64", "i32", "ptr", "ptr"):
        "A loop without hooks has been left that touched memory only as described (array of `question::LoopRow`, their number, iterations that it did as a whole, accesses that the last one did, values, `ModuleBases`).";
    NEST = "__threadtalk_nest", true, "i32" ("ptr", "i32", "ptr", "ptr"):
        "A nest of loops is about to run that touches memory only as described (array of `question::NestRow`, their number, values, `ModuleBases`). Returns 1 if all its accesses have been counted here, so that it may run without hooks; 0 if nothing was done.";
    LEARN = "__threadtalk_learn", true, "void" ("ptr", "ptr"):
        "The reads of a bundle are about to be done (address of the first one, `bundle::Bundle`): learn what states their cells are in.";
    CLEAR = "__threadtalk_clear", true, "void" ("ptr", "i64"):
        "The elements of a range die (address, bytes): a stack variable whose address escaped goes out of scope.";
    ENTER = "__threadtalk_enter", true, "void" ("i32"):
        "The calling thread enters a region whose time is taken (global region).";
    EXIT = "__threadtalk_exit", true, "void" ("i32"):
        "It leaves the region, and all that it entered since and did not leave (exceptions, longjmp).";
    SPINS = "__threadtalk_spins", true, "void" ("i32"):
        "The calling thread has read for some time what another one is to change, in a loop that does nothing else (site): it waits.";
    SPUN = "__threadtalk_spun", true, "void" (): "It has left the loop.";
    CACHE = "__threadtalk_cache", true, "void" ("ptr", "i32", "i32"):
        "An access for the model of the caches (address, bytes with bit 31 = it writes, site): compiled in on request only.";
    ALLOCATED = "__threadtalk_allocated", true, "void" ("ptr", "i64", "i32"):
        "A call gave the program memory (address, bytes, site of the call). An address of 0 or -1 says that it did not.";
    HANDED_ON = "__threadtalk_handed_on", true, "void" ("ptr", "i32"):
        "A function returned this address (site of its call). If it is the calling thread's latest block, and the caller's frame lies above that of the call that made it so far, it is this call that made it: the function allocates for others.";
    REGION_BEGIN = "__threadtalk_region_begin", false, "void" ("ptr"):
        "threadtalk.h: a region named by a string begins on this thread.";
    REGION_END = "__threadtalk_region_end", false, "void" ("ptr"):
        "threadtalk.h: the innermost open region of this name, and all opened inside it, end.";
    START = "__threadtalk_start", false, "void" (): "threadtalk.h: count from now on.";
    STOP = "__threadtalk_stop", false, "void" (): "threadtalk.h: count no events until the next start; writes are still recorded.";
    THREAD_NAME = "__threadtalk_thread_name", false, "void" ("ptr"): "threadtalk.h: name the calling thread.";
}

/// The hook that settles reads of `bytes` like earlier ones and keeps all registers but r11 and its result's, if there
/// is one of that size.
pub fn again(bytes: u64) -> Option<Hook> {
    match bytes {
        1 | 2 | 4 => Some(AGAIN4),
        8 => Some(AGAIN8),
        _ => None,
    }
}

/// The hook for a scalar or vector read of `bytes`, if there is one of that size.
pub fn read(bytes: u64) -> Option<Hook> {
    sized(&[READ1, READ2, READ4, READ8, READ16, READ32, READ64], bytes)
}

/// The hook for a scalar or vector write of `bytes`, if there is one of that size.
pub fn write(bytes: u64) -> Option<Hook> {
    sized(&[WRITE1, WRITE2, WRITE4, WRITE8, WRITE16, WRITE32, WRITE64], bytes)
}

fn sized(hooks: &[Hook; 7], bytes: u64) -> Option<Hook> {
    (bytes.is_power_of_two() && bytes <= 64).then(|| hooks[bytes.trailing_zeros() as usize])
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::HashSet;
    use std::string::ToString;

    #[test]
    fn names_are_unique_and_prefixed() {
        let names: HashSet<_> = ALL.iter().map(|h| h.name.to_string()).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(names.iter().all(|n| n.starts_with("__threadtalk_")));
    }

    #[test]
    fn sized_hooks_are_found_by_size() {
        assert_eq!(read(8), Some(READ8));
        assert_eq!(write(64), Some(WRITE64));
        assert_eq!(read(3), None);
        assert_eq!(read(128), None);
        assert_eq!(read(0), None);
    }
}
