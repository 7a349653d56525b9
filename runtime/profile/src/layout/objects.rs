//! Memory by who allocated it, cache lines that threads share, and what became of written elements.

/// Blocks of memory that one call allocated.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct AllocationRecord {
    /// Global site of the call.
    pub site: u32,
    /// Reserved; zero.
    pub reserved: u32,
    /// Blocks.
    pub blocks: u64,
    /// Bytes of all of them.
    pub bytes: u64,
}

/// Where the memory came from that a site reads of what another one wrote: events, sampled.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ObjectEventRecord {
    /// Global site of the read.
    pub reader_site: u32,
    /// Global site of the write; 0 = unknown line.
    pub writer_site: u32,
    /// Global site of the call that allocated the memory; 0 = none that was recorded.
    pub allocation_site: u32,
    /// Reserved; zero.
    pub reserved: u32,
    /// True communication: sampled events times the sampling period.
    pub raw: u64,
    /// Reuse, likewise. Samples are drawn where those of the reuse distance are: none without distances.
    pub rar: u64,
}

/// Cache lines in which two threads use different elements: what one wrote, the other never read.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SharedLineRecord {
    /// Global site of one write; 0 = unknown line.
    pub site: u32,
    /// Global site of the other's write; of a reader's line the site that wrote what it read.
    pub other_site: u32,
    /// A thread that wrote at `site`.
    pub thread: u32,
    /// A thread that wrote at `other_site`, or read what was written there.
    pub other_thread: u32,
    /// Global site of the allocation of the first line found; 0 = not heap memory.
    pub allocation_site: u32,
    /// [`shared_line_flags`].
    pub flags: u32,
    /// Lines.
    pub lines: u64,
    /// Address of the first line found.
    pub address: u64,
    /// Bit t % 64 for each thread t that took part.
    pub threads: u64,
}

/// [`SharedLineRecord::flags`].
pub mod shared_line_flags {
    /// The other thread only reads the line.
    pub const OTHER_READS: u32 = 1;
}

/// What a site's writes left in memory: those while more than one thread existed, and apart from them the others.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct WrittenSiteRecord {
    /// Global site of the writes.
    pub site: u32,
    /// Reserved; zero.
    pub reserved: u32,
    /// Cache lines with an element that was last written there.
    pub lines: u64,
    /// Such elements.
    pub elements: u64,
    /// Those of them that another thread read.
    pub read: u64,
    /// Sum of the numbers of reading threads of these.
    pub readers: u64,
}

const _: () = {
    assert!(size_of::<AllocationRecord>() == 24);
    assert!(size_of::<ObjectEventRecord>() == 32);
    assert!(size_of::<SharedLineRecord>() == 48);
    assert!(size_of::<WrittenSiteRecord>() == 40);
};
