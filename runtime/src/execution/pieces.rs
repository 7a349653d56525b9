//! Work of OpenMP that a thread gets because it asks for it: chunks of dynamic and guided loops, tasks.
//!
//! Which thread gets how much of it depends on when each of them runs: with more threads than processors some get
//! nothing. That says nothing about the program, so each piece has a record with its own counts, and the analysis hands
//! the pieces out again, as if each thread had a processor.
//!
//! Chunks that follow each other on the thread share a record for some microseconds, and longer the more records there
//! are, so that their number grows with the logarithm of the time. Tasks do not follow each other; when a part has had
//! [`TASKS`] on this thread, it is marked as not told in full.

use super::part::{self, Identity, Part};
use super::teams::{handed_out, is_recorded, recorded};
use crate::process::Process;
use crate::thread::Thread;
use core::sync::atomic::{AtomicU16, Ordering};
use threadtalk_profile::layout::{InstanceKind, instance_flags};

/// How long chunks share a record, in nanoseconds: a record costs some 2 us.
const SHARED_NS: u64 = 5_000;
/// Records on one thread after which that doubles, each time.
const RECORDS: u32 = 512;
/// Records of tasks on one thread between two barriers.
const TASKS: u32 = 4096;

/// What a thread does of what is handed out in a team.
pub struct Pieces {
    piece: Part,
    /// It is in a loop whose chunks are asked for, and has one.
    in_loop: bool,
    has_chunk: bool,
    /// The loop's chunks become smaller.
    is_guided: bool,
    /// Tasks that it executes, one inside the other.
    tasks: u32,
    /// Chunks in the open record.
    chunks: u64,
    shared_ns: u64,
    /// Records since the last barrier.
    records: u32,
}

impl Pieces {
    /// Nothing.
    pub const fn new() -> Self {
        Self {
            piece: Part::new(),
            in_loop: false,
            has_chunk: false,
            is_guided: false,
            tasks: 0,
            chunks: 0,
            shared_ns: SHARED_NS,
            records: 0,
        }
    }

    /// The thread joins another team.
    pub fn clear(&mut self) {
        self.piece.is_open = false;
        (self.in_loop, self.has_chunk, self.tasks) = (false, false, 0);
        self.phase_begins();
    }

    /// It has left a barrier.
    pub fn phase_begins(&mut self) {
        (self.chunks, self.shared_ns, self.records) = (0, SHARED_NS, 0);
    }
}

fn piece(t: &mut Thread) -> &mut Part {
    &mut handed_out(t).piece
}

/// The calling thread comes to a loop whose chunks it will ask for. `is_guided`: the first chunks are the largest.
pub fn loop_begins(t: &mut Thread, is_guided: bool) {
    if !is_recorded(t) {
        return;
    }
    let pieces = handed_out(t);
    (pieces.in_loop, pieces.has_chunk, pieces.is_guided) = (true, false, is_guided);
}

/// It has got a chunk of so many iterations (0 = unknown); the one before is done.
pub fn dispatched(t: &mut Thread, p: &Process, iterations: u64) {
    let recorded = is_recorded(t);
    let pieces = handed_out(t);
    if !recorded || !pieces.in_loop {
        return;
    }
    pieces.has_chunk = true;
    let now = p.elapsed_ns();
    if pieces.piece.is_open {
        if now.saturating_sub(pieces.piece.begin_ns) < pieces.shared_ns {
            pieces.chunks += 1;
            return;
        }
        close(t, p);
    }
    open(t, p, Some(now));
    let pieces = handed_out(t);
    pieces.piece.identity.ordinal = if pieces.is_guided { iterations } else { 0 };
}

/// There are no more chunks.
pub fn loop_ends(t: &mut Thread, p: &Process) {
    if !is_recorded(t) {
        return;
    }
    close(t, p);
    let pieces = handed_out(t);
    (pieces.in_loop, pieces.has_chunk) = (false, false);
}

/// It begins a task.
pub fn task_begins(t: &mut Thread, p: &Process) {
    if !is_recorded(t) {
        return;
    }
    close(t, p);
    handed_out(t).tasks += 1;
    open(t, p, None);
}

/// The task is complete: the thread goes on in what it was in.
pub fn task_ends(t: &mut Thread, p: &Process) {
    if !is_recorded(t) {
        return;
    }
    close(t, p);
    let pieces = handed_out(t);
    pieces.tasks = pieces.tasks.saturating_sub(1);
    if pieces.tasks > 0 || pieces.has_chunk {
        open(t, p, None);
    }
}

/// It arrives at a barrier, which is in no piece of work.
pub fn barrier(t: &mut Thread, p: &Process) {
    close(t, p);
    let pieces = handed_out(t);
    (pieces.in_loop, pieces.has_chunk, pieces.tasks) = (false, false, 0);
}

/// A piece begins that was handed out at `now`, or is now.
fn open(t: &mut Thread, p: &Process, now: Option<u64>) {
    let Some((mut identity, counted)) = recorded(t).map(|part| (part.identity, part.is_counted)).last() else { return };
    let pieces = handed_out(t);
    if pieces.tasks > 0 && pieces.records >= TASKS {
        pieces.piece.is_open = false;
        return recorded(t).for_each(untold);
    }
    let now = now.unwrap_or_else(|| p.elapsed_ns());
    identity = Identity { kind: InstanceKind::OmpPiece, weight: 1, ordinal: 0, ..identity };
    part::open(t, p, piece, identity);
    let pieces = handed_out(t);
    // The order in which pieces were handed out is not that in which their counters have been read.
    (pieces.chunks, pieces.piece.begin_ns) = (1, now);
    if counted && !pieces.piece.is_counted {
        pieces.piece.is_open = false;
        recorded(t).for_each(untold);
    }
}

fn close(t: &mut Thread, p: &Process) {
    let pieces = handed_out(t);
    if !pieces.piece.is_open {
        return;
    }
    // Chunks that took much longer than they share a record are not all alike: one of them is long. That they took no
    // longer than twice as much tells that none is.
    let long = p.elapsed_ns().saturating_sub(pieces.piece.begin_ns) > 2 * pieces.shared_ns;
    pieces.piece.identity.weight = if long { 1 } else { pieces.chunks };
    pieces.records += 1;
    if pieces.records.is_multiple_of(RECORDS) {
        pieces.shared_ns *= 2;
    }
    part::close(t, p, piece, 0);
}

/// Pieces of the part are missing.
fn untold(part: &mut Part) {
    if part.identity.flags & instance_flags::UNTOLD != 0 {
        return;
    }
    part.identity.flags |= instance_flags::UNTOLD;
    if !part.record.is_null() {
        // SAFETY: a record of the profile, mapped for the life of the process; an aligned half-word.
        let flags = unsafe { AtomicU16::from_ptr(&raw mut (*part.record).flags) };
        flags.fetch_or(instance_flags::UNTOLD, Ordering::Relaxed);
    }
}
