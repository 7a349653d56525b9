//! The head of a thread's control block: all that inlined code reads or writes.
//!
//! The thread-local pointer [`TLS_SYMBOL`] holds the address of the [`ThreadHeader`], or null until the thread's first
//! instrumented function calls `__threadtalk_attach`. Every access to these fields comes from
//! the owning thread; only [`ThreadHeader::column`] is written by others.

use crate::bundle::Pattern;
use crate::memo::{MEMOS, Memo};
use crate::window::Window;
use core::ffi::c_void;

/// `thread_local(initialexec)` pointer to the [`ThreadHeader`]; defined by the runtime, null in a new thread.
pub const TLS_SYMBOL: &str = "__threadtalk_thread";

/// Slots of the event cache. 1024 slots of 16 bytes leave half of a 32 KiB L1 cache to the program.
pub const EVENT_SLOTS: u64 = 1024;

/// Spreads sites over the event cache: slot = `(cell + site * EVENT_SITE_FACTOR) % EVENT_SLOTS`, wrapping `u32`.
pub const EVENT_SITE_FACTOR: u32 = 37;

/// Places of [`ThreadHeader::quiets`], a power of two: eight lines of the L1 cache.
pub const QUIETS: usize = 64;

/// What inlined code may touch. The pass addresses the fields by the `OFFSET_*` constants.
///
/// ```text
/// read of n granules at address a, site s, in pseudo-code:
///     t = directory[a >> 16];            if t == 0 goto slow
///     c = the n cells at a + t;          if not all equal goto slow
///     if c - own_base < own_span         done                     (own value)
///     if c == quiets[c % 64]             done                     (own value that others read; not with a memo)
///     e = events[(c + s * 37) % 1024];   if e.key != (s << 32 | c) goto slow
///     r = e.counter.rar + n;             if r >= e.counter.next goto slow
///     e.counter.rar = r                  done                     (reuse, or a read that is no event)
/// In loop nests without calls a memo comes before the event cache:
///     if memo.states == c && memo.left >= n { memo.left -= n; done }
/// Where t == 0 there is no cell to test. Inlined code may then test the granule itself as if it were one: at worst
/// it takes the slow path, for if it looks like an own value, the read would have been no event.
/// slow:
///     __threadtalk_read(a, n, s)         does everything from the start
///
/// write:
///     t = writable[a >> 16];             if t == 0 goto slow
///     the n cells at a + t = write_base + s                       (s: the site's number in the module that writes)
/// ```
#[repr(C)]
pub struct ThreadHeader {
    /// `directory[a >> CHUNK_SHIFT]` is what to add to the address of an aligned granule to get the
    /// address of its cell; 0 = not mapped yet. The same for all threads; here so that one pointer reaches everything.
    pub directory: *const u64,
    /// First fresh id of this thread.
    pub own_base: u32,
    /// Number of fresh ids of this thread (serial and parallel ones): a power of two of which `own_base` is a
    /// multiple, so that `(c ^ own_base) & -own_span == 0` is the same question, for any number of cells at once.
    pub own_span: u32,
    /// Fresh id of this thread for site 0: `own_base`, or `own_base + (1 << site_bits)` while other threads exist.
    /// Changes only inside calls (thread creation and join): it may be kept in a register between calls.
    pub write_base: u32,
    /// `S` of [`crate::cell`].
    pub site_bits: u32,
    /// The event cache: [`EVENT_SLOTS`] slots.
    pub events: *mut EventSlot,
    /// `visits[region]` counts how often this thread entered the region (function entry, loop preheader).
    pub visits: *mut u64,
    /// Site of the latest call that may create a thread (`pthread_create`, `std::thread`, `__kmpc_fork_call`),
    /// synchronise (locks, barriers, joins) or move a block (`realloc`): the pass stores it before the call; the new
    /// thread's record takes it, and so do what blocks and the move.
    pub call_site: u32,
    /// How many of the memos the running loop nest uses.
    pub memos_used: u32,
    /// Counters of control flow, one for each of all registered modules ([`crate::control`]): a bump adds 1 to the
    /// word `counter_base + k`. Never null. Other threads store another column here when the number of threads
    /// changes, relaxed: a bump that loaded the old one counts there. So code loads it for every bump.
    pub column: *mut u64,
    /// `own_base` in both halves: what two cells are compared with at once.
    pub own: u64,
    /// `-own_span` in both halves: the bits in which ids of other threads differ from `own_base`.
    pub foreign: u64,
    /// `write_base` in both halves.
    pub write: u64,
    /// The directory for writes, this thread's own: 0 also where another thread has claimed the chunk, or this one has
    /// not written it yet. Other threads store zeros here, relaxed: see the claims of `sigmem`.
    pub writable: *const u64,
    /// See [`crate::memo`].
    pub memos: [Memo; MEMOS],
    /// How many ranges of memory the runtime knows to hold no events for this thread. A loop nest without calls begins
    /// and ends with none; while it runs, nobody else's write can become visible to the thread, so that what was seen
    /// stays true.
    pub ranges: u64,
    /// What the running nest knows of memory ([`crate::window`]): a table whose entries count only with the present
    /// stamp.
    pub windows: *mut Window,
    /// Grows by [`crate::window::NUMBERS`] where a nest begins or ends, and where what it knows may have become wrong.
    /// Never 0.
    pub stamp: u64,
    /// Loops of fewer iterations do not look into the windows: [`crate::window::SHORTEST`], or
    /// [`crate::window::SHORTEST_ASKED`] while questions are not worth it.
    pub shortest: u64,
    /// What windows have [saved](crate::window::saved).
    pub settled: u64,
    /// Between these addresses lie the running nest's windows with events: a write elsewhere makes none of them wrong.
    pub events_first: u64,
    /// See `events_first`.
    pub events_end: u64,
    /// States of this thread's own values that others have read, in both halves, at the place that their lowest bits
    /// say: such reads are no event at any site. Those that hooks came across; where there is none,
    /// [`crate::cell::NONE`], of which the same holds at its own place, and which no state is equal to elsewhere.
    pub quiets: [u64; QUIETS],
    /// Loops of fewer iterations do not look into the windows if they are in a function that a nest may call:
    /// `shortest` while such a nest runs, else `u64::MAX`. A nest may call pure functions: such as only read and
    /// compute. What the nest knows of memory stays true in them, and what their loops find out is kept as well.
    pub called: u64,
    /// Patterns of bundles ([`crate::bundle`]).
    pub patterns: *mut Pattern,
    /// A bundle that has no pattern is looked at when this falls below 0.
    pub learn_in: u32,
    /// Loops of fewer iterations are not asked about, but for their credit ([`crate::credit`]).
    pub least_asked: u64,
}

/// One slot of the event cache.
#[repr(C)]
pub struct EventSlot {
    /// `site << 32 | cell`: what a read at `site` of a cell in state `cell` means to this thread is known.
    /// [`EMPTY_KEY`] in an empty slot.
    pub key: u64,
    /// Where to count it. Reads that are no event (own data that others have read, cold data) count
    /// into a counter that nobody reads.
    pub counter: *mut EventCounter,
}

/// No site has this number, so no key is equal to it.
pub const EMPTY_KEY: u64 = u64::MAX;

/// The head of an event record, as inlined code sees it.
#[repr(C)]
pub struct EventCounter {
    /// Reuse events counted so far.
    pub rar: u64,
    /// Take the slow path when `rar` would reach this: the next event to be sampled for the reuse distance.
    pub next: u64,
}

impl ThreadHeader {
    /// The thread's ids begin at `base`, and there are `span` of them (0: all ids are its own).
    pub fn set_own(&mut self, base: u32, span: u32) {
        (self.own_base, self.own_span) = (base, span);
        (self.own, self.foreign) = (in_both_halves(base), in_both_halves(span.wrapping_neg()));
    }

    /// Whether a cell holds one of the thread's ids: a value of its own that nobody else has read.
    #[inline(always)]
    pub fn is_own(&self, cell: u32) -> bool {
        cell.wrapping_sub(self.own_base) < self.own_span
    }

    /// The thread writes ids from `base` on.
    pub fn set_write_base(&mut self, base: u32) {
        (self.write_base, self.write) = (base, in_both_halves(base));
    }
}

/// Two cells of the same content.
const fn in_both_halves(cell: u32) -> u64 {
    (cell as u64) << 32 | cell as u64
}

/// Byte offsets in [`ThreadHeader`] for the pass.
pub mod offset {
    use super::{EventCounter, EventSlot, ThreadHeader};
    use crate::memo::Memo;
    use crate::window::Window;
    use core::mem::offset_of;

    /// Of [`ThreadHeader::directory`].
    pub const DIRECTORY: u64 = offset_of!(ThreadHeader, directory) as u64;
    /// Of [`ThreadHeader::own`].
    pub const OWN: u64 = offset_of!(ThreadHeader, own) as u64;
    /// Of [`ThreadHeader::foreign`].
    pub const FOREIGN: u64 = offset_of!(ThreadHeader, foreign) as u64;
    /// Of [`ThreadHeader::write`].
    pub const WRITE: u64 = offset_of!(ThreadHeader, write) as u64;
    /// Of [`ThreadHeader::site_bits`].
    pub const SITE_BITS: u64 = offset_of!(ThreadHeader, site_bits) as u64;
    /// Of [`ThreadHeader::events`].
    pub const EVENTS: u64 = offset_of!(ThreadHeader, events) as u64;
    /// Of [`ThreadHeader::visits`].
    pub const VISITS: u64 = offset_of!(ThreadHeader, visits) as u64;
    /// Of [`ThreadHeader::call_site`].
    pub const CALL_SITE: u64 = offset_of!(ThreadHeader, call_site) as u64;
    /// Of [`ThreadHeader::column`].
    pub const COLUMN: u64 = offset_of!(ThreadHeader, column) as u64;
    /// Of [`ThreadHeader::memos_used`].
    pub const MEMOS_USED: u64 = offset_of!(ThreadHeader, memos_used) as u64;
    /// Of [`ThreadHeader::memos`].
    pub const MEMOS: u64 = offset_of!(ThreadHeader, memos) as u64;
    /// Of [`ThreadHeader::ranges`].
    pub const RANGES: u64 = offset_of!(ThreadHeader, ranges) as u64;
    /// Of [`ThreadHeader::quiets`].
    pub const QUIETS: u64 = offset_of!(ThreadHeader, quiets) as u64;
    /// Of [`ThreadHeader::writable`].
    pub const WRITABLE: u64 = offset_of!(ThreadHeader, writable) as u64;
    /// Of [`ThreadHeader::windows`].
    pub const WINDOWS: u64 = offset_of!(ThreadHeader, windows) as u64;
    /// Of [`ThreadHeader::stamp`].
    pub const STAMP: u64 = offset_of!(ThreadHeader, stamp) as u64;
    /// Of [`ThreadHeader::shortest`].
    pub const SHORTEST: u64 = offset_of!(ThreadHeader, shortest) as u64;
    /// Of [`ThreadHeader::settled`].
    pub const SETTLED: u64 = offset_of!(ThreadHeader, settled) as u64;
    /// Of [`ThreadHeader::events_first`].
    pub const EVENTS_FIRST: u64 = offset_of!(ThreadHeader, events_first) as u64;
    /// Of [`ThreadHeader::events_end`].
    pub const EVENTS_END: u64 = offset_of!(ThreadHeader, events_end) as u64;
    /// Of [`ThreadHeader::called`].
    pub const CALLED: u64 = offset_of!(ThreadHeader, called) as u64;
    /// Of [`ThreadHeader::patterns`].
    pub const PATTERNS: u64 = offset_of!(ThreadHeader, patterns) as u64;
    /// Of [`ThreadHeader::learn_in`].
    pub const LEARN_IN: u64 = offset_of!(ThreadHeader, learn_in) as u64;
    /// Of [`ThreadHeader::least_asked`].
    pub const LEAST_ASKED: u64 = offset_of!(ThreadHeader, least_asked) as u64;
    /// Of [`Window::stamp`].
    pub const WINDOW_STAMP: u64 = offset_of!(Window, stamp) as u64;
    /// Of [`Window::first`].
    pub const WINDOW_FIRST: u64 = offset_of!(Window, first) as u64;
    /// Of [`Window::end`].
    pub const WINDOW_END: u64 = offset_of!(Window, end) as u64;
    /// Of [`Window::counter`].
    pub const WINDOW_COUNTER: u64 = offset_of!(Window, counter) as u64;
    /// Of [`Window::stride`].
    pub const WINDOW_STRIDE: u64 = offset_of!(Window, stride) as u64;
    /// Of [`Window::iterations`].
    pub const WINDOW_ITERATIONS: u64 = offset_of!(Window, iterations) as u64;
    /// Of [`Window::granules`].
    pub const WINDOW_GRANULES: u64 = offset_of!(Window, granules) as u64;
    /// Of [`Window::cells`].
    pub const WINDOW_CELLS: u64 = offset_of!(Window, cells) as u64;
    /// Size of [`Window`].
    pub const WINDOW_SIZE: u64 = size_of::<Window>() as u64;
    /// Of [`Memo::states`].
    pub const MEMO_STATES: u64 = offset_of!(Memo, states) as u64;
    /// [`Memo::next_states`].
    pub const MEMO_NEXT_STATES: u64 = offset_of!(Memo, next_states) as u64;
    /// Of [`Memo::left`].
    pub const MEMO_LEFT: u64 = offset_of!(Memo, left) as u64;
    /// Of [`Memo::counted`].
    pub const MEMO_COUNTED: u64 = offset_of!(Memo, counted) as u64;
    /// Of [`Memo::counter`].
    pub const MEMO_COUNTER: u64 = offset_of!(Memo, counter) as u64;
    /// [`Memo::second`].
    pub const MEMO_SECOND: u64 = offset_of!(Memo, second) as u64;
    /// Size of [`Memo`].
    pub const MEMO_SIZE: u64 = size_of::<Memo>() as u64;
    /// Of [`EventSlot::key`].
    pub const SLOT_KEY: u64 = offset_of!(EventSlot, key) as u64;
    /// Of [`EventSlot::counter`].
    pub const SLOT_COUNTER: u64 = offset_of!(EventSlot, counter) as u64;
    /// Size of [`EventSlot`].
    pub const SLOT_SIZE: u64 = size_of::<EventSlot>() as u64;
    /// Of [`EventCounter::rar`].
    pub const COUNTER_RAR: u64 = offset_of!(EventCounter, rar) as u64;
    /// Of [`EventCounter::next`].
    pub const COUNTER_NEXT: u64 = offset_of!(EventCounter, next) as u64;
}

/// Returned by `__threadtalk_attach`, opaque to the program.
pub type ThreadPointer = *mut c_void;
