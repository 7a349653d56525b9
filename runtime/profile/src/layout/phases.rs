//! Communication over time.

/// What `reader` read of `writer`'s data from one moment to another. A thread writes a set of these, one for each
/// writer of whom it had events, when it arrives where threads wait for each other and when a slice of time is over;
/// what it counts after its last set is in the [`super::EventRecord`]s alone. So sets never count more than those, and
/// what they leave is the end of the thread.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct PhaseRecord {
    /// Logical thread.
    pub reader: u32,
    /// Logical thread.
    pub writer: u32,
    /// When the time that the record covers began, in nanoseconds after the file's start: the end of the thread's set
    /// before, or when the thread was let go after it.
    pub from_ns: u64,
    /// When it ended; not before `from_ns`.
    pub to_ns: u64,
    /// True communication in that time.
    pub raw: u64,
    /// Reuse in that time.
    pub rar: u64,
    /// The meeting at which it ended: equal for all threads that waited for each other there, and for no others; 0 =
    /// unknown.
    pub meeting: u64,
    /// A [`PhaseEnd`].
    pub end: u16,
    /// [`phase_flags`].
    pub flags: u16,
    /// Reserved; zero.
    pub reserved: u32,
}

/// [`PhaseRecord::end`]: why the set was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub enum PhaseEnd {
    /// The slice of time was over.
    #[default]
    Slice = 0,
    /// The thread arrived at a barrier, or at the end of a parallel region.
    Barrier = 1,
    /// The thread waited for something else, or created another one.
    Wait = 2,
}

impl PhaseEnd {
    /// The meaning of a field's number.
    pub fn from_number(number: u16) -> Option<Self> {
        [Self::Slice, Self::Barrier, Self::Wait].into_iter().find(|end| *end as u16 == number)
    }
}

/// [`PhaseRecord::flags`].
pub mod phase_flags {
    /// The memory for records was running out, so sets were farther apart than the run's options say.
    pub const COARSE: u16 = 1;
}

const _: () = assert!(size_of::<PhaseRecord>() == 56);
