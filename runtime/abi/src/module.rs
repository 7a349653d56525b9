//! What the pass knows about a module, as constant data in the object file.
//!
//! The runtime copies [`ModuleDescriptor::tables`] into the profile without looking inside; the decoder reads them
//! there. Little endian.
//!
//! ```text
//! tables:  TablesHeader
//!          RegionEntry * regions      functions, loops and OpenMP constructs that hold a site or a child
//!          SiteEntry   * sites        distinct (region, file, line, kind of access, what is accessed and how)
//!          FunctionEntry * functions  whose control flow is counted: see [`crate::control`]
//!          BlockEntry * blocks        of all functions, function after function
//!          EdgeEntry * edges
//!          CallEntry * calls
//!          bytes of the strings       NUL-terminated UTF-8; offset 0 is the empty string
//!          sections                   SectionHeader, then its bytes; who does not know a section skips it
//! ```

use core::ffi::c_void;

/// Passed to `__threadtalk_register`.
#[repr(C)]
pub struct ModuleDescriptor {
    /// [`crate::ABI_VERSION`] of the pass.
    pub abi_version: u32,
    /// Number of sites.
    pub sites: u32,
    /// Number of regions.
    pub regions: u32,
    /// Bytes of `tables`.
    pub tables_len: u32,
    /// Number of counters of control flow.
    pub counters: u32,
    /// Reserved; zero.
    pub reserved: u32,
    /// See the module's documentation.
    pub tables: *const c_void,
    /// Filled in by the runtime before it returns; zero before.
    pub bases: *mut ModuleBases,
}

/// The numbers that turn a module's own indices into global ones. Constant after registration.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModuleBases {
    /// Global number of the module's site 0, for reads. Never 0 once registered.
    pub site_base: u32,
    /// `site_base * EVENT_SITE_FACTOR`, wrapping.
    pub site_salt: u32,
    /// The same for the ids that writes leave in cells. Differs from `site_base` only when the process ran out of
    /// writer sites; what is written under it has no line.
    pub write_site_base: u32,
    /// Global number of the module's region 0.
    pub region_base: u32,
    /// Global number of the module's counter 0.
    pub counter_base: u32,
}

/// First bytes of the tables.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TablesHeader {
    /// Number of [`RegionEntry`].
    pub regions: u32,
    /// Number of [`SiteEntry`].
    pub sites: u32,
    /// Bytes of strings.
    pub strings_len: u32,
    /// String: the module's name (its main source file).
    pub name: u32,
    /// Number of [`FunctionEntry`](crate::control::FunctionEntry).
    pub functions: u32,
    /// Number of [`BlockEntry`](crate::control::BlockEntry).
    pub blocks: u32,
    /// Number of [`EdgeEntry`](crate::control::EdgeEntry).
    pub edges: u32,
    /// Number of [`CallEntry`](crate::control::CallEntry).
    pub calls: u32,
}

/// A region of the source.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionEntry {
    /// A [`RegionKind`] as a number.
    pub kind: u16,
    /// Reserved; zero.
    pub flags: u16,
    /// String: the name that the source gives (demangling is the report's work); for loops and constructs the enclosing
    /// function's.
    pub name: u32,
    /// String: the file, with its directory if the path is relative.
    pub file: u32,
    /// First line; 0 = unknown.
    pub line: u32,
    /// Last line; 0 = unknown.
    pub end_line: u32,
    /// Index of the enclosing region in this module plus 1; 0 = the program.
    pub parent: u32,
}

/// A source position at which memory is accessed.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SiteEntry {
    /// Index of the innermost region in this module.
    pub region: u32,
    /// String: the file.
    pub file: u32,
    /// Line; 0 = unknown.
    pub line: u32,
    /// [`site_flags`].
    pub flags: u32,
}

/// Bits of [`SiteEntry::flags`].
pub mod site_flags {
    /// An atomic access: its events are synchronisation.
    pub const ATOMIC: u32 = 1;
    /// A call of a C library function or an intrinsic, not a load or store.
    pub const LIBRARY: u32 = 2;
    /// A call that creates threads.
    pub const CREATION: u32 = 4;
    /// A call that may wait for other threads or let them go on.
    pub const SYNC: u32 = 8;
    /// A call that allocates memory.
    pub const ALLOCATION: u32 = 16;
    /// A counter that the program adds to and by which a loop around it ends: threads that share it take work from it
    /// piece by piece.
    pub const TAKES: u32 = 32;
    /// Reads and writes at once: an atomic addition, exchange, comparison.
    pub const UPDATE: u32 = 64;
    /// Looks at a volatile variable until it has another value: the thread waits for another one.
    pub const WAITS: u32 = 128;
    /// An atomic exchange, or comparison, that puts a constant there until it finds what it waits for: a spin lock.
    pub const LOCKS: u32 = 256;
    /// Lies in an item that a link led to, which the loop around read in an iteration before: of a list, of a tree.
    pub const LINKED: u32 = 512;
}

/// Begins a section behind the strings: nothing that an older decoder has to know.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectionHeader {
    /// One of [`section`].
    pub kind: u32,
    /// Bytes that follow.
    pub bytes: u32,
}

/// Kinds of sections.
pub mod section {
    /// One [`super::AccessEntry`] for each site, in the sites' order.
    pub const ACCESSES: u32 = 1;
    /// A `u32` for each site, in the sites' order: the innermost loop of a caller that the site's code was inlined
    /// into, as 1 + its number in the module; 0 = none.
    pub const CALLER_LOOPS: u32 = 2;
}

/// The [`AccessEntry::object`] of the block in which OpenMP keeps a task and its arguments: the program did not declare
/// it and cannot lay it out.
pub const TASK_DATA: &str = "data of a task";

/// What a site accesses, and with which strides.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccessEntry {
    /// An [`ObjectKind`] as a number.
    pub object_kind: u32,
    /// String: the variable, as an expression of the source (`grid`, `grid->cells`, and `grid->{x,y}` or `grid->*` for
    /// members that follow each other); of an allocation the variable that receives the block. Empty = unknown.
    pub object: u32,
    /// String: the file that declares the variable; empty = unknown.
    pub object_file: u32,
    /// Line of its declaration; 0 = unknown.
    pub object_line: u32,
    /// Bytes from one iteration of the innermost loop to the next; [`NO_STRIDE`] or [`VARIABLE_STRIDE`] if not a
    /// constant.
    pub stride: i32,
    /// The same for the loop around it.
    pub outer_stride: i32,
}

impl Default for AccessEntry {
    fn default() -> Self {
        let (stride, outer_stride) = (NO_STRIDE, NO_STRIDE);
        Self { object_kind: 0, object: 0, object_file: 0, object_line: 0, stride, outer_stride }
    }
}

/// There is no such loop, or the address is no linear function of its iterations.
pub const NO_STRIDE: i32 = i32::MIN;
/// The same in every iteration, but known only when the program runs: the length of a row, mostly.
pub const VARIABLE_STRIDE: i32 = i32::MAX;

/// What kind of object an access goes to, as far as the compiler knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u32)]
pub enum ObjectKind {
    /// Not known.
    #[default]
    Unknown = 0,
    /// A global or static variable.
    Global = 1,
    /// A local variable.
    Stack = 2,
    /// What a pointer leads to: the name is the pointer's.
    Pointer = 3,
}

impl ObjectKind {
    /// The kind with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        [Self::Unknown, Self::Global, Self::Stack, Self::Pointer].get(number as usize).copied()
    }
}

/// What kind of region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
#[allow(missing_docs)] // the names are the documentation
pub enum RegionKind {
    Program = 0,
    Function = 1,
    Loop = 2,
    OmpParallel = 3,
    OmpFor = 4,
    OmpSections = 5,
    OmpSingle = 6,
    OmpMaster = 7,
    OmpCritical = 8,
    OmpTask = 9,
    OmpTaskloop = 10,
    OmpOrdered = 11,
    OmpDistribute = 12,
    OmpTaskgroup = 13,
    OmpTarget = 14,
    User = 15,
}

impl RegionKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [RegionKind; 16] = [
        Self::Program,
        Self::Function,
        Self::Loop,
        Self::OmpParallel,
        Self::OmpFor,
        Self::OmpSections,
        Self::OmpSingle,
        Self::OmpMaster,
        Self::OmpCritical,
        Self::OmpTask,
        Self::OmpTaskloop,
        Self::OmpOrdered,
        Self::OmpDistribute,
        Self::OmpTaskgroup,
        Self::OmpTarget,
        Self::User,
    ];

    /// The kind with this number.
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }

    /// The name in JSON and text.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Function => "function",
            Self::Loop => "loop",
            Self::OmpParallel => "omp_parallel",
            Self::OmpFor => "omp_for",
            Self::OmpSections => "omp_sections",
            Self::OmpSingle => "omp_single",
            Self::OmpMaster => "omp_master",
            Self::OmpCritical => "omp_critical",
            Self::OmpTask => "omp_task",
            Self::OmpTaskloop => "omp_taskloop",
            Self::OmpOrdered => "omp_ordered",
            Self::OmpDistribute => "omp_distribute",
            Self::OmpTaskgroup => "omp_taskgroup",
            Self::OmpTarget => "omp_target",
            Self::User => "user",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_kinds_match() {
        for (i, k) in RegionKind::ALL.iter().enumerate() {
            assert_eq!(*k as usize, i);
            assert_eq!(RegionKind::from_number(i as u16), Some(*k));
        }
        assert_eq!(RegionKind::from_number(16), None);
    }

    #[test]
    fn numbers_and_kinds_of_objects_match() {
        use ObjectKind::{Global, Pointer, Stack, Unknown};
        for kind in [Unknown, Global, Stack, Pointer] {
            assert_eq!(ObjectKind::from_number(kind as u32), Some(kind));
        }
        assert_eq!(ObjectKind::from_number(4), None);
    }
}
