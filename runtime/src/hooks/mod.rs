//! What instrumented code calls.
//!
//! Each hook is a shell of assembly ([`shells`]: the convention `preserve_most`), around a function of one or two lines
//! here, around a body that tests can call ([`access`]). No lock, no allocation from the program's heap, no unwinding;
//! a hook that arrives while another is at work on the same thread (a signal handler) is counted and dropped.

pub mod access;
pub mod again;
pub mod bundles;
mod described;
pub mod event;
pub mod first;
pub mod loops;
pub mod nests;
mod open;
pub mod range;
mod scan;
pub mod searches;
mod shells;
mod string;
mod user;

use crate::execution::{cache as caches, tree, waiting};
use crate::phases;
use crate::process::{self, Process, accuracy};
use crate::thread::{self, Thread};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU8, Ordering, compiler_fence};
use threadtalk_abi::bundle::Bundle;
use threadtalk_abi::loops::{CALLED, CREDIT, IN_NEST, MOST_ACCESSES, MOST_IN_NEST, MOST_SEARCHED, STRAYS, WINDOWS};
use threadtalk_abi::module::{ModuleBases, ModuleDescriptor};
use threadtalk_abi::question::{LoopRow, NestRow};
use threadtalk_profile::layout::BlockedKind;

/// Runs `body` with the calling thread's control block, unless nothing is to be recorded.
#[inline(always)]
pub(crate) fn on_thread(body: impl FnOnce(&mut Thread, &'static Process)) {
    let thread = thread::current();
    let Some(process) = process::get() else { return };
    // SAFETY: `current` gives this thread's block, or the shared one of unrecorded threads, of which only `busy` is
    // read here.
    if unsafe { (*thread).busy.load(Ordering::Relaxed) } {
        if thread != process.off {
            process.header_count(accuracy::DROPPED_REENTRANT, 1);
        }
        return;
    }
    if !process.is_recording() {
        return;
    }
    // SAFETY: the block is this thread's alone, and `busy` keeps signal handlers out from here to the end.
    unsafe {
        (*thread).busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        (*thread).settle_allowance();
        body(&mut *thread, process);
        phases::tick(&mut *thread, process);
        (*thread).grant_allowance(process);
        compiler_fence(Ordering::SeqCst);
        // Release: partner is the load of who ends the pair.
        (*thread).busy.store(false, Ordering::Release);
    }
}

/// As [`on_thread`], for a `body` that may refuse: then, and where anything out of the usual is to be done, false, and
/// nothing was done.
#[inline(always)]
fn in_passing(body: impl FnOnce(&mut Thread, &'static Process) -> bool) -> bool {
    let (thread, process) = (thread::own_block(), process::get());
    let Some(process) = process.filter(|p| !thread.is_null() && p.is_recording() && !p.is_paused()) else {
        return false;
    };
    // SAFETY: as in `on_thread`.
    unsafe {
        if (*thread).busy.load(Ordering::Relaxed) {
            return false;
        }
        (*thread).busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let done = body(&mut *thread, process);
        compiler_fence(Ordering::SeqCst);
        // Release: as in `on_thread`.
        (*thread).busy.store(false, Ordering::Release);
        done
    }
}

extern "C" fn attach() -> *mut Thread {
    thread::current()
}

/// # Safety
/// `descriptor` is what the pass emitted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __threadtalk_register(descriptor: *const ModuleDescriptor) {
    // SAFETY: the caller's promise.
    unsafe { crate::module::register(process::start(), descriptor) };
}

macro_rules! sized {
    ($($read:ident $write:ident $bytes:literal;)*) => {$(
        extern "C" fn $read(address: u64, site: u32) {
            on_thread(|t, p| access::read::<$bytes>(t, p, address, site));
        }
        extern "C" fn $write(address: u64, site: u32) {
            on_thread(|t, p| access::write::<$bytes>(t, p, address, site));
        }
    )*};
}

sized! {
    read1 write1 1;
    read2 write2 2;
    read4 write4 4;
    read8 write8 8;
    read16 write16 16;
    read32 write32 32;
    read64 write64 64;
}

/// Two functions, so that the first one needs few registers; the second one begins where it ends, by a jump.
macro_rules! again {
    ($($again:ident $rarely:ident $cells:literal;)*) => {$(
        extern "C" fn $again(address: u64, site: u32) -> u32 {
            match in_passing(|t, p| first::at_once::<$cells>(t, p, address, site)) {
                true => 1,
                false => $rarely(address, site),
            }
        }
        #[inline(never)]
        extern "C" fn $rarely(address: u64, site: u32) -> u32 {
            u32::from(in_passing(|t, p| again::at_once::<$cells>(t, p, address, site)))
        }
    )*};
}

again! {
    again4 again4_rarely 1;
    again8 again8_rarely 2;
}

extern "C" fn learn(address: u64, bundle: *const Bundle) {
    // SAFETY: the pass makes bundles, constants of a module that is registered.
    on_thread(|t, p| unsafe { bundles::learn(t, p, address, &*bundle) });
}

extern "C" fn read_range(address: u64, bytes: u64, site: u32) {
    // SAFETY: this thread's block, or the shared one of unrecorded threads; what is read of it does not change.
    let thread = unsafe { thread::own_block().as_ref() };
    if thread.zip(process::get()).is_some_and(|(t, p)| range::is_quiet(t, p, address, bytes)) {
        return;
    }
    on_thread(|t, p| range::read(t, p, address, bytes, site));
}

extern "C" fn write_range(address: u64, bytes: u64, site: u32) {
    if in_passing(|t, p| range::write_at_once(t, p, address, bytes, site)) {
        return;
    }
    on_thread(|t, p| range::write(t, p, address, bytes, site));
}

extern "C" fn read_masked(address: u64, bytes: u64, mask: u64, site: u32) {
    on_thread(|t, p| range::masked(address, bytes, mask, |from, bytes| range::read(t, p, from, bytes, site)));
}

extern "C" fn write_masked(address: u64, bytes: u64, mask: u64, site: u32) {
    on_thread(|t, p| range::masked(address, bytes, mask, |from, bytes| access::write_cells(t, p, (from, bytes), site)));
}

extern "C" fn copy(destination: u64, source: u64, bytes: u64, site: u32) {
    if in_passing(|t, p| range::copy_at_once(t, p, (destination, source), bytes, site)) {
        return;
    }
    on_thread(|t, p| {
        range::read(t, p, source, bytes, site);
        range::write(t, p, destination, bytes, site);
    });
}

extern "C" fn read_string(address: u64, most: u64, site: u32) {
    read_range(address, string::bytes(address, most), site);
}

extern "C" fn write_string(address: u64, most: u64, site: u32) {
    write_range(address, string::bytes(address, most), site);
}

extern "C" fn whole_loop(
    rows: *const LoopRow,
    count: u32,
    iterations: u64,
    values: *const u64,
    bases: *const ModuleBases,
    credit: *const AtomicU8,
) -> u32 {
    let mut settled = 0;
    let has_credit = count & CREDIT != 0;
    let kind = loops::Kind { in_nest: count & IN_NEST != 0, strays: count & STRAYS != 0 };
    let (windows, called) = (count & WINDOWS != 0, count & CALLED != 0);
    let count = count & !(IN_NEST | STRAYS | WINDOWS | CALLED | CREDIT);
    on_thread(|t, p| {
        let mut room = [const { MaybeUninit::uninit() }; MOST_ACCESSES];
        // SAFETY: the pass makes tables of `count` rows, and stores the values in the caller's frame; the bases were
        // set when the module was registered.
        let described = unsafe { described::of_loop(&mut room, (rows, count), (values, bases)) };
        let Some((accesses, times)) = described else { return };
        let asked = iterations;
        let iterations = asked.saturating_mul(times);
        settled = u32::from(match windows || called && t.is_nest_open() {
            true => nests::settle(t, p, accesses, (iterations, asked)),
            // In a nest, what was seen is asked first.
            false => {
                let rows = if kind.in_nest { loops::row::foreign } else { loops::row::settle };
                rows(t, p, accesses, iterations) || nests::settle_without(t, p, accesses, kind, iterations)
            }
        });
        if has_credit {
            // SAFETY: then it is a byte of the module's data that is only read and written as an atomic.
            t.questions.answered(&mut t.header.least_asked, unsafe { &*credit }, accesses, asked);
        }
    });
    settled
}

extern "C" fn searched(
    rows: *const LoopRow,
    count: u32,
    iterations: u64,
    executed: u32,
    values: *const u64,
    bases: *const ModuleBases,
) {
    let mut room = [const { MaybeUninit::uninit() }; MOST_SEARCHED];
    // SAFETY: as for a loop that is about to run.
    let described = unsafe { described::of_loop(&mut room, (rows, count), (values, bases)) };
    // Of what ends by what it finds nothing is joined.
    let Some((accesses, 1)) = described else { return };
    let search = searches::Search::new(accesses, iterations, executed);
    let is_counted = in_passing(|t, p| search.at_once(t, p));
    if !is_counted || search.has_more() {
        on_thread(|t, p| search.count(t, p, is_counted));
    }
}

extern "C" fn whole_nest(rows: *const NestRow, count: u32, values: *const u64, bases: *const ModuleBases) -> u32 {
    let mut settled = 0;
    on_thread(|t, p| {
        let mut room = [const { MaybeUninit::uninit() }; MOST_IN_NEST];
        // SAFETY: as for a loop.
        let accesses = unsafe { described::of_nest(&mut room, (rows, count), (values, bases)) };
        settled = accesses.map_or(0, |accesses| u32::from(nests::tiles::settle(t, p, accesses)));
    });
    settled
}

extern "C" fn enter(region: u32) {
    on_thread(|t, p| tree::enter(t, p, region));
}

extern "C" fn exit(region: u32) {
    on_thread(|t, p| tree::exit(t, p, region));
}

extern "C" fn spins(site: u32) {
    let mark = 0u8;
    let frame = (&raw const mark).addr();
    on_thread(|t, p| waiting::begin(t, p, BlockedKind::Spin, Some(site), frame));
}

extern "C" fn spun() {
    on_thread(waiting::end);
}

extern "C" fn cache(address: u64, bytes: u32, site: u32) {
    on_thread(|t, p| caches::access(t, p, address, bytes, site));
}

extern "C" fn allocated(address: u64, bytes: u64, site: u32, frame: u64) {
    on_thread(|t, p| t.latest_block = p.objects.allocated(address, bytes, site, frame));
}

extern "C" fn handed_on(address: u64, site: u32, frame: u64) {
    on_thread(|t, p| p.objects.handed_on(&mut t.latest_block, address, site, frame));
}

extern "C" fn clear(address: u64, bytes: u64) {
    if process::get().is_some_and(|p| p.is_recording() && range::clear_at_once(p, address, bytes)) {
        return;
    }
    on_thread(|_, p| p.clear(address, bytes));
}
