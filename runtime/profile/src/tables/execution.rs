//! Counts, call trees, instances of parallel sections, waiting. Times as in [`crate::layout`].

use crate::layout::{BlockedKind, CODE_SITE, CountKind, InstanceKind, LevelKind, instance_flags};

/// How often something happened on a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The [`Instance::number`] in which it was counted; 0 = the whole run, parts included.
    pub part: u32,
    /// Logical thread.
    pub thread: u32,
    /// Global counter or global site, as the kind says.
    pub id: u32,
    /// What was counted.
    pub kind: CountKind,
    /// Number of threads while it was counted; 0 = not told apart.
    pub level: u16,
    /// Times.
    pub count: u64,
}

/// A region in a thread's call tree. Times include callees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Logical thread.
    pub thread: u32,
    /// Its number, given once in a run; not 0.
    pub id: u32,
    /// Node of the caller in the same thread; none = the thread's start.
    pub parent: Option<u32>,
    /// Global region.
    pub region: u32,
    /// Entries.
    pub visits: u64,
    /// Nanoseconds inside.
    pub wall_ns: u64,
    /// Nanoseconds of CPU time inside.
    pub cpu_ns: u64,
}

/// The part of one thread in a dynamic instance of a parallel section. Those of one instance have equal
/// kind, key and ordinal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// Number of this part, given once in a run: [`Count::part`].
    pub number: u32,
    /// Logical thread.
    pub thread: u32,
    /// What bounds the section.
    pub kind: InstanceKind,
    /// [`instance_flags`].
    pub flags: u16,
    /// Threads that take part; 0 = unknown.
    pub team: u32,
    /// Site at which the part begins ([`crate::layout::CODE_SITE`]); 0 = unknown.
    pub begin_site: u32,
    /// Site at which it ends; 0 = unknown.
    pub end_site: u32,
    /// What the section is.
    pub key: u64,
    /// Which of the section's instances, from 0.
    pub ordinal: u64,
    /// Nanoseconds after the start of recording.
    pub begin_ns: u64,
    /// Arrival at the end; not before the begin.
    pub arrive_ns: u64,
    /// Release; not before the arrival.
    pub release_ns: u64,
    /// CPU time from begin to arrival.
    pub cpu_ns: u64,
    /// Instances of the section that this one stands for; at least 1.
    pub weight: u64,
}

impl Instance {
    /// The thread creates and joins the others, or is the primary of the team.
    pub fn is_primary(&self) -> bool {
        self.flags & instance_flags::PRIMARY != 0
    }

    /// Counts of this part are in the profile.
    pub fn is_counted(&self) -> bool {
        self.flags & instance_flags::COUNTED != 0
    }

    /// Pieces of work that were handed out in this part are not all in the profile.
    pub fn is_untold(&self) -> bool {
        self.flags & instance_flags::UNTOLD != 0
    }

    /// No barrier ends it: the thread ended, or joined another.
    pub fn is_last(&self) -> bool {
        self.flags & instance_flags::LAST != 0
    }

    /// What the thread did after it had joined another.
    pub fn is_resumed(&self) -> bool {
        self.flags & instance_flags::RESUMED != 0
    }
}

/// Waiting of one kind by one thread in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocked {
    /// Logical thread.
    pub thread: u32,
    /// Site of the call ([`crate::layout::CODE_SITE`]); 0 = unknown.
    pub site: u32,
    /// In what.
    pub kind: BlockedKind,
    /// Times that the thread waited.
    pub count: u64,
    /// Nanoseconds.
    pub wall_ns: u64,
}

/// How long the program had so many threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Number of threads.
    pub level: u32,
    /// How they are counted.
    pub kind: LevelKind,
    /// Nanoseconds.
    pub ns: u64,
}

/// A place in code that was not compiled with the pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// Its number.
    pub id: u32,
    /// Address in the file that holds the code.
    pub address: u64,
    /// Name of the function; empty = unknown. At most 112 bytes are kept.
    pub function: String,
    /// Executable or library. At most 128 bytes are kept.
    pub file: String,
}

impl Code {
    /// The site number that names it.
    pub fn site(&self) -> u32 {
        CODE_SITE | self.id
    }
}
