//! Which threads exist.
//!
//! A thread exists from before its creation (so that the parent's writes are "parallel" from then on, whatever the
//! scheduler does) until it is joined, or, detached, until it has ended. A thread that has ended but was not joined
//! still exists: when it ends depends on the scheduler, when it is joined only on the program.
//!
//! Each has a [`Slot`] for that time. A slot is one word of state bits, which only grow until the last of the three
//! parties (creator, thread, joiner) has finished with it and frees it:
//!
//! ```text
//! FREE -> USED              the creator takes it (compare-exchange)
//!         | CREATED         the creator's call has returned: it will not touch the slot again
//!         | ENDED           the thread has run its destructors
//!         | RELEASED        joined, or detached
//! ENDED and RELEASED        it exists no more
//! all three                 the slot is free again
//! ```

use super::signals::Held;
use super::{is_active, thread_end};
use crate::core_api::{self, AddressRange, CreationTicket};
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use libc::{pthread_attr_t, pthread_t};

pub use super::trampoline::trampoline;

unsafe extern "C" {
    fn pthread_attr_getdetachstate(attributes: *const pthread_attr_t, state: *mut c_int) -> c_int;
}

const USED: u32 = 1;
const CREATED: u32 = 2;
const ENDED: u32 = 4;
const RELEASED: u32 = 8;
const OWN_STACK: u32 = 16;

/// A thread that exists. Its address is a multiple of 64: see [`thread_end`].
#[repr(C, align(64))]
pub struct Slot {
    state: AtomicU32,
    handle: AtomicU64,
    pub(super) start: AtomicUsize,
    pub(super) argument: AtomicPtr<c_void>,
    ticket: AtomicU64,
    stack_low: AtomicUsize,
    stack_high: AtomicUsize,
    /// The signals that its creator had blocked.
    pub(super) signals: AtomicU64,
}

/// So many that a chunk has 16 KiB.
const CHUNK: usize = 255;

#[repr(C, align(64))]
struct Chunk {
    slots: [Slot; CHUNK],
    used: AtomicU32,
    next: AtomicPtr<Chunk>,
}

const _: () = assert!(size_of::<Chunk>() == 16 << 10);

static FIRST: Chunk = Chunk {
    slots: [const {
        Slot {
            state: AtomicU32::new(0),
            handle: AtomicU64::new(0),
            start: AtomicUsize::new(0),
            argument: AtomicPtr::new(core::ptr::null_mut()),
            ticket: AtomicU64::new(0),
            stack_low: AtomicUsize::new(0),
            stack_high: AtomicUsize::new(0),
            signals: AtomicU64::new(0),
        }
    }; CHUNK],
    used: AtomicU32::new(0),
    next: AtomicPtr::new(core::ptr::null_mut()),
};

static EXISTING: AtomicU32 = AtomicU32::new(1);

/// Number of threads that exist.
#[inline]
pub fn existing() -> u32 {
    EXISTING.load(Ordering::Relaxed)
}

fn chunks() -> impl Iterator<Item = &'static Chunk> {
    // SAFETY: chunks are never given back, and the pointer is published after the kernel zeroed the chunk: all free.
    core::iter::successors(Some(&FIRST), |chunk| unsafe { chunk.next.load(Ordering::Acquire).as_ref() })
}

/// A free slot, or `None` without memory for one.
fn take() -> Option<&'static Slot> {
    let mut last = &FIRST;
    for chunk in chunks() {
        last = chunk;
        // A hint that saves the walk through full chunks; a slot it hides is found by the next caller.
        if chunk.used.load(Ordering::Relaxed) >= CHUNK as u32 {
            continue;
        }
        if let Some(slot) = take_from(chunk) {
            return Some(slot);
        }
    }
    // Mapped by the kernel directly: `mmap` is interposed. If another thread appends first, ours follows its chunk.
    // SAFETY: new memory.
    let new = unsafe {
        libc::syscall(
            libc::SYS_mmap,
            core::ptr::null_mut::<c_void>(),
            size_of::<Chunk>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if new == -1 {
        return None;
    }
    let new = core::ptr::with_exposed_provenance_mut::<Chunk>(new as usize);
    // SAFETY: zeroed memory is a chunk of free slots, and nobody else knows it.
    let slot = take_from(unsafe { &*new });
    while let Err(other) = last.next.compare_exchange(core::ptr::null_mut(), new, Ordering::Release, Ordering::Acquire)
    {
        // SAFETY: another thread's chunk, published by it.
        last = unsafe { &*other };
    }
    slot
}

fn take_from(chunk: &'static Chunk) -> Option<&'static Slot> {
    let free = |slot: &&Slot| {
        slot.state.load(Ordering::Relaxed) == 0
            && slot.state.compare_exchange(0, USED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    };
    let slot = chunk.slots.iter().find(free)?;
    chunk.used.fetch_add(1, Ordering::Relaxed);
    Some(slot)
}

/// Gives a slot back.
fn free(slot: &'static Slot) {
    // SAFETY: the chunk's slots are its first field, and a chunk is aligned only to 64 bytes, so it is found by
    // searching.
    let owner = chunks().find(|chunk| chunk.slots.as_ptr_range().contains(&(slot as *const Slot)));
    slot.handle.store(0, Ordering::Relaxed);
    slot.stack_low.store(0, Ordering::Relaxed);
    slot.stack_high.store(0, Ordering::Relaxed);
    slot.state.store(0, Ordering::Release);
    if let Some(chunk) = owner {
        chunk.used.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Slot {
    /// The core's number of the thread.
    pub fn ticket(&self) -> CreationTicket {
        CreationTicket(self.ticket.load(Ordering::Relaxed))
    }

    /// One of the parties has done its part.
    fn mark(&'static self, bits: u32) {
        const GONE: u32 = ENDED | RELEASED;
        const FINISHED: u32 = GONE | CREATED;
        let ticket = self.ticket();
        let before = self.state.fetch_or(bits, Ordering::AcqRel);
        let after = before | bits;
        if after & GONE == GONE && before & GONE != GONE {
            let alone = EXISTING.fetch_sub(1, Ordering::Relaxed) == 2;
            core_api::thread_gone(ticket, alone);
        }
        if after & FINISHED == FINISHED && before & FINISHED != FINISHED {
            free(self);
        }
    }

    /// The thread's stack with its thread-local storage, as far as known.
    fn stack(&self) -> AddressRange {
        AddressRange { low: self.stack_low.load(Ordering::Relaxed), high: self.stack_high.load(Ordering::Relaxed) }
    }

    /// First thing in the new thread.
    pub(super) fn begin(&'static self, frame: usize) {
        thread_end::arm(self);
        // SAFETY: always succeeds.
        self.handle.store(unsafe { libc::pthread_self() }, Ordering::Release);
        let stack = own_stack();
        self.stack_low.store(stack.low, Ordering::Relaxed);
        self.stack_high.store(stack.high, Ordering::Relaxed);
        if self.state.load(Ordering::Relaxed) & OWN_STACK != 0 && (stack.low..stack.high).contains(&frame) {
            // Memory that the program chose for a stack: what it wrote there before is dead below this frame. The C
            // library's own stacks were cleared when their last thread ended.
            core_api::clear_range(stack.low, frame - stack.low);
        }
        core_api::thread_started(self.ticket(), stack);
    }

    /// Last thing in the thread.
    pub(super) fn end(&'static self) {
        if !is_active() {
            return;
        }
        core_api::thread_ended(self.ticket());
        let stack = self.stack();
        if stack.high > stack.low {
            core_api::clear_range(stack.low, stack.high - stack.low);
        }
        self.mark(ENDED);
    }
}

/// A creation under way, in the creator.
pub struct Creation {
    slot: &'static Slot,
    held: Held,
}

impl Creation {
    /// Counts the thread, before it exists. `None`: profiling is off or there is no memory; then it is created unseen.
    ///
    /// # Safety
    /// `attributes` is null or points to initialised attributes.
    pub unsafe fn begin(start: usize, argument: *mut c_void, attributes: *const pthread_attr_t) -> Option<Self> {
        if !is_active() {
            return None;
        }
        let slot = take()?;
        slot.start.store(start, Ordering::Relaxed);
        slot.argument.store(argument, Ordering::Relaxed);
        if !attributes.is_null() {
            // SAFETY: initialised attributes.
            slot.state.fetch_or(unsafe { state_from(attributes) }, Ordering::Relaxed);
        }
        EXISTING.fetch_add(1, Ordering::Relaxed);
        slot.ticket.store(core_api::thread_created().0, Ordering::Relaxed);
        // Last: handlers of this thread see it as it is.
        Some(Self { slot, held: Held::begin(&slot.signals) })
    }

    /// What the trampoline needs.
    pub fn argument(&self) -> *mut c_void {
        core::ptr::from_ref(self.slot).cast_mut().cast()
    }

    /// The call has returned, with the thread's handle if it worked.
    pub fn end(self, handle: Option<pthread_t>) {
        match handle {
            Some(handle) => {
                self.slot.handle.store(handle, Ordering::Release);
                self.slot.mark(CREATED);
            }
            None => {
                let ticket = self.slot.ticket();
                free(self.slot);
                let alone = EXISTING.fetch_sub(1, Ordering::Relaxed) == 2;
                core_api::thread_create_failed(ticket, alone);
            }
        }
        self.held.end();
    }
}

/// # Safety
/// Initialised attributes.
unsafe fn state_from(attributes: *const pthread_attr_t) -> u32 {
    let (mut detached, mut low, mut bytes) = (0, core::ptr::null_mut(), 0);
    // SAFETY: initialised attributes; the results are ours.
    unsafe {
        pthread_attr_getdetachstate(attributes, &mut detached);
        libc::pthread_attr_getstack(attributes, &mut low, &mut bytes);
    }
    // Without a stack of its own the C library's attribute holds the end 0.
    let own = low.addr().wrapping_add(bytes) != 0;
    (if detached == libc::PTHREAD_CREATE_DETACHED { RELEASED } else { 0 }) | (if own { OWN_STACK } else { 0 })
}

/// The calling thread's stack. The C library includes thread-local storage, which lies at its upper end.
fn own_stack() -> AddressRange {
    let mut attributes = MaybeUninit::<pthread_attr_t>::uninit();
    let (mut low, mut bytes) = (core::ptr::null_mut::<c_void>(), 0);
    // SAFETY: filled in when the result is 0, then read and destroyed.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return AddressRange::default();
        }
        libc::pthread_attr_getstack(attributes.as_ptr(), &mut low, &mut bytes);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
    }
    AddressRange { low: low.addr(), high: low.addr() + bytes }
}

/// The thread with this handle, if it was created here and exists.
pub fn find(handle: pthread_t) -> Option<&'static Slot> {
    let used = |chunk: &&Chunk| chunk.used.load(Ordering::Relaxed) != 0;
    let is_it =
        |slot: &&Slot| slot.handle.load(Ordering::Acquire) == handle && slot.state.load(Ordering::Relaxed) & USED != 0;
    chunks().filter(used).flat_map(|chunk| &chunk.slots).find(is_it)
}

/// A thread was joined or detached. For a joined one the end may have gone unseen (no key destructor): it has ended all
/// the same.
pub fn release(slot: Option<&'static Slot>, joined: bool) {
    if let Some(slot) = slot.filter(|_| is_active()) {
        slot.mark(if joined { RELEASED | ENDED } else { RELEASED });
    }
}

/// The calling thread's slot.
pub fn current() -> Option<&'static Slot> {
    thread_end::armed()
}

/// The calling thread was not created through this runtime (the C library's own helpers, raw `clone`), and a hook has
/// met it. It exists until it ends.
pub fn adopt(ticket: CreationTicket) {
    if let Some(slot) = take() {
        slot.ticket.store(ticket.0, Ordering::Relaxed);
        slot.state.fetch_or(CREATED | RELEASED, Ordering::Relaxed);
        EXISTING.fetch_add(1, Ordering::Relaxed);
        // SAFETY: always succeeds.
        slot.handle.store(unsafe { libc::pthread_self() }, Ordering::Release);
        thread_end::arm(slot);
    }
}

/// The first thread's slot. It may be joined too, after it called `pthread_exit`. Its stack never dies: arguments and
/// environment are on it.
pub(super) fn begin_with_first() {
    if let Some(slot) = take() {
        slot.ticket.store(CreationTicket::FIRST.0, Ordering::Relaxed);
        slot.state.fetch_or(CREATED, Ordering::Relaxed);
        // SAFETY: always succeeds.
        slot.handle.store(unsafe { libc::pthread_self() }, Ordering::Release);
        thread_end::arm(slot);
    }
}

/// In a forked child.
pub(super) fn only_this_one_is_left() {
    let own = current();
    for slot in chunks().flat_map(|chunk| &chunk.slots) {
        if slot.state.load(Ordering::Relaxed) != 0 && !own.is_some_and(|own| core::ptr::eq(own, slot)) {
            free(slot);
        }
    }
    EXISTING.store(1, Ordering::Relaxed);
}
