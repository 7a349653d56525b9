//! The end of the process, as far as it is announced.

use super::{Process, accuracy, clock, meta};
use crate::thread;
use core::mem::offset_of;
use core::sync::atomic::Ordering;
use threadtalk_profile::layout::{FileHeader, state, thread_flags};

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// exit, return from main, or the last thread's end.
    Normal,
    /// exec replaces the program.
    Exec,
    /// `_exit`, `quick_exit`, `abort`.
    Abrupt,
}

/// Completes the profile. Only the first call counts. After it nothing is recorded.
pub fn end(process: &Process, how: End, status: Option<i32>) {
    if !process.is_recording() || process.ended.swap(1, Ordering::Relaxed) != 0 {
        return;
    }
    complete_counters(process, status);
    let quick = how != End::Normal;
    if !quick {
        for (address, bytes) in process.signature.directory.used() {
            process.private.range_dies(process, address, bytes);
            process.lines.range_dies(process, address, bytes);
        }
        process.private.finish(process);
        process.lines.finish(process);
    }
    process.levels.finish(process);
    // Cheap: two tables of what happened.
    process.objects.finish(process);
    process.recording.store(false, Ordering::Relaxed);
    // The calling thread stops counting; others may go on until the kernel ends them.
    let own = thread::own_block();
    if !own.is_null() && own != process.off {
        thread::set_own_block(process.off);
        process.ender.store(own, Ordering::Relaxed);
        // SAFETY: this thread's block, no longer reachable through the thread-local pointer.
        unsafe {
            (*own).end(process);
            thread::roll::ended((*own).record, process);
        }
    }
    process.rest.write(process);
    let code = match how {
        End::Normal => state::NORMAL,
        End::Exec => state::EXEC,
        End::Abrupt => state::ABRUPT,
    };
    let alone = process.alive.load(Ordering::Relaxed) <= 1;
    crate::file::seal::seal(&process.file, alone && !quick, code);
    if how == End::Normal {
        meta::say_end(process);
    }
}

/// exec failed: the process goes on and so does the profile. The calling thread keeps its number.
pub(crate) fn resume(process: &'static Process) {
    if process.ended.swap(0, Ordering::Relaxed) == 0 {
        return;
    }
    process.word32(offset_of!(FileHeader, state)).store(state::RUNNING, Ordering::Release);
    process.recording.store(true, Ordering::Relaxed);
    process.rest.take_back(process);
    let own = process.ender.swap(core::ptr::null_mut(), Ordering::Relaxed);
    if own.is_null() {
        return;
    }
    // SAFETY: the block that `end` took from this very thread.
    unsafe {
        let (id, record) = ((*own).view.thread(), (*own).record);
        let alone = (*own).header.write_base == (*own).header.own_base;
        if (*own).begin(process, id, record, alone) {
            (*record).flags &= !thread_flags::ENDED;
            thread::set_own_block(own);
        }
    }
}

fn complete_counters(process: &Process, status: Option<i32>) {
    let set = |offset: usize, value: u64| process.file.word(offset).store(value, Ordering::Relaxed);
    set(accuracy::SIGNATURE_MAPPED, process.signature.pool.bytes_in_use());
    set(accuracy::CHUNKS, process.signature.pool.chunks());
    set(accuracy::CHUNKS_ALIASED, process.signature.pool.chunks_aliased());
    set(accuracy::STATES, process.states.len());
    set(offset_of!(FileHeader, lineless_values), process.states.lineless_values());
    set(accuracy::DROPPED_FULL, process.file.lost_blocks());
    set(offset_of!(FileHeader, duration_ns), process.elapsed_ns());
    set(offset_of!(FileHeader, cpu_ns), clock::process_cpu_ns());
    if let Some(status) = status {
        set(offset_of!(FileHeader, exit_status), status as u64);
    }
}
