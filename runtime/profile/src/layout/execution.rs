//! What the control-flow counters, clocks and synchronisation hooks leave: how often, how long, and in which instance.
//!
//! All times are nanoseconds. Points in time are on the monotonic clock, counted from the file's start; a site number
//! with [`CODE_SITE`] set names a [`CodeRecord`].

/// Set in a site number that names a [`CodeRecord`] by its lower bits: code that the pass has not seen.
pub const CODE_SITE: u32 = 1 << 31;

/// Declares a field's numbers as an enumeration.
macro_rules! numbers {
    ($(#[$meta:meta])* $name:ident: $repr:ty { $($(#[$variant_meta:meta])* $variant:ident = $number:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr($repr)]
        pub enum $name {
            #[default]
            $($(#[$variant_meta])* $variant = $number,)*
        }

        impl $name {
            /// All, by number.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The meaning of a field's number.
            pub fn from_number(number: $repr) -> Option<Self> {
                Self::ALL.iter().copied().find(|k| *k as $repr == number)
            }
        }
    };
}

numbers! {
    /// [`CountRecord::kind`]: what [`CountRecord::id`] numbers, and what is counted.
    CountKind: u16 {
        /// Passes of a control-flow edge that has a counter; `id` = global counter.
        Edge = 0,
        /// Misses of the modelled first-level cache; `id` = global site.
        FirstLevelMiss = 1,
        /// Misses of the modelled last-level cache; `id` = global site.
        LastLevelMiss = 2,
        /// Lines of the modelled cache looked up; `id` = global site.
        CacheAccess = 3,
        /// An event that the machine or the kernel counted; `id` = a [`CounterEvent`]. There is a record also of 0.
        Counter = 4,
    }
}

numbers! {
    /// [`CountRecord::id`] of [`CountKind::Counter`].
    CounterEvent: u32 {
        /// Instructions that were executed.
        Instructions = 0,
        /// Cycles of the processor.
        Cycles = 1,
        /// Misses of the last-level cache.
        CacheMisses = 2,
        /// Branches that were predicted wrongly.
        BranchMisses = 3,
        /// Page faults.
        PageFaults = 4,
        /// Switches to another thread.
        ContextSwitches = 5,
        /// Moves to another processor.
        Migrations = 6,
        /// Nanoseconds on a processor.
        TaskClock = 7,
        /// Nanoseconds for which the thread's events were wanted. There only if they were not counted all that time,
        /// as there were more than the processor has counters: then counts are scaled up.
        Wanted = 8,
        /// Nanoseconds for which they were counted.
        Counted = 9,
    }
}

numbers! {
    /// [`BlockedRecord::kind`]: in what a thread waited.
    BlockedKind: u16 {
        /// Joining a thread.
        Join = 0,
        /// A mutex or spin lock that was taken.
        Mutex = 1,
        /// A read-write lock that was taken.
        RwLock = 2,
        /// A condition variable.
        Condition = 3,
        /// A barrier.
        Barrier = 4,
        /// A semaphore at 0.
        Semaphore = 5,
        /// sleep, usleep, nanosleep, clock_nanosleep, pause.
        Sleep = 6,
        /// poll, select, epoll_wait and their kin.
        Poll = 7,
        /// read, recv, accept and their kin on a pipe, socket or terminal.
        Read = 8,
        /// wait, waitpid, waitid, sigwait and their kin.
        Wait = 9,
        /// A futex by `syscall()`.
        Futex = 10,
        /// A barrier, explicit or implicit, of OpenMP.
        OmpBarrier = 11,
        /// `taskwait` and `taskgroup` of OpenMP.
        OmpTaskWait = 12,
        /// A critical region, lock, atomic or ordered region of OpenMP.
        OmpMutex = 13,
        /// A worker of OpenMP between two parallel regions.
        OmpIdle = 14,
        /// A loop that reads again and again what another thread is to write.
        Spin = 15,
    }
}

numbers! {
    /// [`InstanceRecord::kind`]: what bounds a dynamic instance of a parallel section.
    InstanceKind: u16 {
        /// From one wait at a `pthread_barrier_t` to the next, or from the thread's start to its first.
        Barrier = 0,
        /// A thread from its creation to its join; an instance is what one call site creates until it joins.
        Join = 1,
        /// A parallel region of OpenMP, to its end.
        OmpParallel = 2,
        /// Between two barriers inside a parallel region, or from its begin to the first.
        OmpBarrier = 3,
        /// A worksharing loop of OpenMP.
        OmpFor = 4,
        /// The `sections` construct.
        OmpSections = 5,
        /// `single`: the thread that executes it.
        OmpSingle = 6,
        /// From one wait at another kind of barrier (C++20's, hand-made with condition variables) to the next.
        Condition = 7,
        /// A piece of work that a thread asked for, inside such parts of it: a chunk of a dynamic or guided loop, a
        /// task.
        OmpPiece = 8,
    }
}

numbers! {
    /// [`LevelRecord::kind`]: which count of threads a level is.
    LevelKind: u32 {
        /// Threads created and not ended, with the first; workers of OpenMP while they are in a team.
        Nominal = 0,
        /// Those of them that do not wait.
        Effective = 1,
    }
}

/// How often something happened on a thread. Sparse: what has no record is 0. A combination of all but
/// `count` may come more than once: counts add up.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CountRecord {
    /// The [`InstanceRecord::number`] in which it was counted; 0 = the whole run. The run's totals include all parts.
    pub part: u32,
    /// Logical thread.
    pub thread: u32,
    /// See [`CountKind`].
    pub id: u32,
    /// A [`CountKind`].
    pub kind: u16,
    /// The number of threads while it was counted (nominal or effective, as the run's option `parallelism` says); the
    /// highest stands for itself and all above; 0 = not told apart (parts of the run).
    pub level: u16,
    /// Times.
    pub count: u64,
}

/// A node of a thread's call tree: a region, reached through its parent. Updated in place while it is open: a visit
/// counts from its entry, its time from its exit.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeRecord {
    /// Logical thread.
    pub thread: u32,
    /// Number of the node, from 1, given once in a run.
    pub id: u32,
    /// Node of the caller in the same thread; 0 = the thread's start.
    pub parent: u32,
    /// Global region.
    pub region: u32,
    /// Entries.
    pub visits: u64,
    /// Time inside, callees included.
    pub wall_ns: u64,
    /// CPU time inside, callees included.
    pub cpu_ns: u64,
}

/// The part of one thread in a dynamic instance of a parallel section. Records of one instance have equal kind, key and
/// ordinal.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct InstanceRecord {
    /// Number of this record, from 1, given once in a run: [`CountRecord::part`].
    pub number: u32,
    /// Logical thread.
    pub thread: u32,
    /// An [`InstanceKind`].
    pub kind: u16,
    /// [`instance_flags`].
    pub flags: u16,
    /// Threads that take part; 0 = unknown.
    pub team: u32,
    /// Site of the call at which the part begins; 0 = unknown.
    pub begin_site: u32,
    /// Site of the call at which it ends; 0 = unknown.
    pub end_site: u32,
    /// What the section is: the barrier's, creator's or code's identity. Means nothing outside of the run. Of
    /// [`InstanceKind::OmpPiece`]: that of its region.
    pub key: u64,
    /// Which of the key's dynamic instances, from 0. Of [`InstanceKind::OmpPiece`]: iterations of a chunk of a guided
    /// loop, which tell better than times what was handed out first; else 0.
    pub ordinal: u64,
    /// When the thread began.
    pub begin_ns: u64,
    /// When it arrived at the end; not before `begin_ns`.
    pub arrive_ns: u64,
    /// When it was let go; not before `arrive_ns`.
    pub release_ns: u64,
    /// CPU time from begin to arrival.
    pub cpu_ns: u64,
    /// Instances of the same section that this one stands for, itself included; at least 1. Of
    /// [`InstanceKind::OmpPiece`]: pieces of about the same size that followed each other on the thread and have this
    /// record together.
    pub weight: u64,
}

/// [`InstanceRecord::flags`].
pub mod instance_flags {
    /// The thread creates and joins the others, or is the primary of the team.
    pub const PRIMARY: u16 = 1;
    /// [`super::CountRecord`]s of this part are in the profile.
    pub const COUNTED: u16 = 2;
    /// Pieces of work that were handed out in this part are not all recorded.
    pub const UNTOLD: u16 = 4;
    /// Of [`super::InstanceKind::Barrier`]: it ends with the thread, or where the thread joins another; no barrier ends
    /// it.
    pub const LAST: u16 = 8;
    /// What the thread did after its first join in a part: what came before is another record of the same instance.
    pub const RESUMED: u16 = 16;
}

/// Waiting of one kind by one thread in one place. A combination may come more than once.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockedRecord {
    /// Logical thread.
    pub thread: u32,
    /// Site of the call; 0 = unknown.
    pub site: u32,
    /// A [`BlockedKind`].
    pub kind: u16,
    /// Reserved; zero.
    pub reserved: [u16; 3],
    /// Times that the thread waited. Locks that were free at once are no waiting.
    pub count: u64,
    /// Time spent.
    pub wall_ns: u64,
}

/// How long the program had so many threads.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct LevelRecord {
    /// Number of threads; the highest level stands for all above.
    pub level: u32,
    /// A [`LevelKind`].
    pub kind: u32,
    /// Time spent. A combination may come more than once.
    pub ns: u64,
}

/// A place in code that was not compiled with the pass.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CodeRecord {
    /// Its number: [`CODE_SITE`]` | id` is used as a site.
    pub id: u32,
    /// Reserved; zero.
    pub reserved: u32,
    /// Address in the file that holds the code, as tools that read its line tables expect it.
    pub address: u64,
    /// The function's name as the linker knows it, NUL-padded, cut to fit; empty = unknown.
    pub function: [u8; 112],
    /// Path of the executable or library, NUL-padded; its last bytes where it is too long.
    pub file: [u8; 128],
}

const _: () = {
    assert!(size_of::<CountRecord>() == 24);
    assert!(size_of::<NodeRecord>() == 40);
    assert!(size_of::<InstanceRecord>() == 80);
    assert!(size_of::<BlockedRecord>() == 32);
    assert!(size_of::<LevelRecord>() == 16);
    assert!(size_of::<CodeRecord>() == 256);
};
