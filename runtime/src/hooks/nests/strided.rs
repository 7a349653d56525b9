//! Strided accesses: a column of a matrix, one element in each iteration, lines apart.
//!
//! Neighbouring columns share the lines of their cells, so a line is looked at in each iteration: if its cells agree,
//! all columns in it are settled at once, up to those where some iteration finds another. Iterations may find different
//! kinds of cells, as long as all events count in one counter.

use super::Look;
use super::group::Group;
use crate::process::Process;
use crate::thread::Thread;
use core::{ptr, slice};
use threadtalk_abi::thread::EventCounter;
use threadtalk_abi::window::LINE_SHIFT;
use threadtalk_abi::{CHUNK_BYTES, GRANULE};

const LINE: u64 = 1 << LINE_SHIFT;

/// What a strided read finds, and a window around where it begins.
pub fn look(group: Group, (stride, iterations): (i64, u64), t: &mut Thread, p: &Process) -> Option<Look> {
    let (from, bytes) = (group.from, group.to - group.from);
    let line = from & !(LINE - 1);
    // Where accesses may begin to find the same.
    let mut like_this = (line, line + LINE);
    if group.to > line + LINE {
        like_this = (from, group.to);
    }
    let mut last = None;
    let mut counter = ptr::null_mut::<EventCounter>();
    let mut events = 0;
    for i in 0..iterations as i64 {
        let here = from.wrapping_add_signed(stride * i);
        let cells = stretch(p, here, bytes)?;
        let &[state, ..] = cells else { return None };
        let kind = match last {
            Some((of, kind)) if of == state => kind,
            _ => group.kind(t, state)?,
        };
        last = Some((state, kind));
        let like = |cells: &[u32]| cells.iter().fold(0, |any, cell| any | (cell ^ kind.value) & kind.mask) == 0;
        if !like(cells) {
            return None;
        }
        let around = stretch(p, like_this.0.wrapping_add_signed(stride * i), like_this.1 - like_this.0);
        match around {
            Some(cells) if like(cells) => {}
            Some(cells) => {
                let before = (from - like_this.0) / GRANULE;
                let (left, right) = cells.split_at_checked(before as usize)?;
                let agrees = |cell: &&u32| (**cell ^ kind.value) & kind.mask == 0;
                let (less, more) = (left.iter().rev().take_while(agrees), right.iter().take_while(agrees));
                like_this = (from - less.count() as u64 * GRANULE, from + more.count() as u64 * GRANULE);
            }
            None => like_this = (from, group.to),
        }
        if !kind.counter.is_null() {
            if !counter.is_null() && counter != kind.counter {
                return None;
            }
            counter = kind.counter;
            events += bytes / GRANULE;
        }
    }
    let mut window = group.window(t, like_this, counter);
    window.granules = events;
    Some(Look { granules: events, window, known: false, group })
}

/// The cells of a few bytes in one chunk.
fn stretch(p: &Process, address: u64, bytes: u64) -> Option<&[u32]> {
    if address % CHUNK_BYTES + bytes > CHUNK_BYTES {
        return None;
    }
    let cells = p.signature.directory.translate(address)?;
    // SAFETY: a chunk has cells for all of its granules. In a race-free program nobody else changes those that the loop
    // is about to read, and of the others only a coherent word is seen.
    Some(unsafe { slice::from_raw_parts(cells.cast::<u32>(), (bytes / GRANULE) as usize) })
}
