//! Control flow: what is counted of it, and where the tables say so.
//!
//! A function's blocks and the edges between them are listed as they are when the counters are placed: at the end of
//! the optimiser's pipeline, before accesses get their sequences. Only edges outside a spanning tree have a counter
//! (Knuth and Stevenson 1973; Ball and Larus 1994); as what enters a block also leaves it, all other counts follow
//! from theirs. So that this holds, the world outside the function is a node, too: [`OUTSIDE`].
//!
//! A counter is a word of the thread's [`crate::thread::ThreadHeader::column`], at its module's
//! [`crate::module::ModuleBases::counter_base`] plus its number. Inlined code loads the column for each bump:
//! other threads switch it when the number of threads changes.

/// The node of an edge that comes from the function's caller or goes there.
pub const OUTSIDE: u32 = u32::MAX;

/// Categories of instructions, numbered from 0: loads and stores, computation of addresses, integer arithmetic,
/// floating point arithmetic, comparisons, conditional transfers of control, unconditional ones, synchronisation
/// (Kambadur et al., IISWC 2012, figure 6).
pub const CATEGORIES: usize = 8;

/// Most counters of a module; functions that would need more are not counted.
pub const MOST_IN_MODULE: u32 = 1 << 20;

/// A function whose control flow is counted.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionEntry {
    /// Index of its region in this module.
    pub region: u32,
    /// Index of its first [`BlockEntry`]: where those of the function before it end. Its first block is its entry.
    pub first_block: u32,
    /// Number of its blocks; at least 1.
    pub blocks: u32,
    /// Index of its first [`EdgeEntry`].
    pub first_edge: u32,
    /// Number of its edges.
    pub edges: u32,
    /// Index of its first [`CallEntry`].
    pub first_call: u32,
    /// Number of its calls.
    pub calls: u32,
    /// [`function_flags`].
    pub flags: u32,
}

/// Bits of [`FunctionEntry::flags`].
pub mod function_flags {
    /// The function's time is taken: it calls `__threadtalk_enter` and `__threadtalk_exit`.
    pub const TIMED: u32 = 1;
    /// Its control flow cannot be counted (edges that no code can be put on in more places than flow conservation can
    /// make up for): its blocks are listed, none of its edges.
    pub const UNCOUNTED: u32 = 2;
    /// It stands in a header of the system, as what the C++ library's containers and algorithms are made of does.
    pub const OF_LIBRARY: u32 = 4;
    /// Of one of a library: its address is taken, so that others than those that call it by its name may run it.
    pub const ADDRESS_TAKEN: u32 = 8;
}

/// A basic block.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockEntry {
    /// Index of the innermost region in this module.
    pub region: u32,
    /// String: the file.
    pub file: u32,
    /// First line of this file in it; 0 = unknown.
    pub line: u32,
    /// Last line of this file in it; 0 = unknown.
    pub end_line: u32,
    /// Instructions of each category. Blocks with more of one than fit are cut in two.
    pub opcodes: [u16; CATEGORIES],
    /// Loads, vectors counted once.
    pub reads: u16,
    /// Stores.
    pub writes: u16,
}

/// An edge of the control flow graph. Two blocks may have several between them.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeEntry {
    /// Block that it leaves, counted from the function's first; [`OUTSIDE`].
    pub from: u32,
    /// Block that it enters; [`OUTSIDE`].
    pub to: u32,
    /// Number of its counter in this module plus 1; 0 = none, its count is derived.
    pub counter: u32,
    /// Line of the branch; 0 = unknown.
    pub line: u32,
    /// [`edge_flags`].
    pub flags: u32,
}

/// Bits of [`EdgeEntry::flags`].
pub mod edge_flags {
    /// Goes back to the header of a loop.
    pub const BACK: u32 = 1;
    /// No branch: an exception leaves through a call that is not caught here, or `setjmp` returns once more. No code
    /// can be put there, so it never has a counter.
    pub const ABNORMAL: u32 = 2;
}

/// A call. It is executed as often as its block.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallEntry {
    /// Block, counted from the function's first.
    pub block: u32,
    /// String: symbol of the function that runs; empty for an indirect call.
    pub callee: u32,
    /// [`call_flags`].
    pub flags: u32,
    /// Line in the block's file; 0 = unknown, or in another file.
    pub line: u32,
}

/// Bits of [`CallEntry::flags`].
pub mod call_flags {
    /// The callee runs on other threads (`pthread_create`, `__kmpc_fork_call`): it is the start routine that is
    /// named, not what is called.
    pub const FORK: u32 = 1;
    /// Through a pointer.
    pub const INDIRECT: u32 = 2;
}
