//! Strided accesses: a column of a matrix, one element in each iteration, lines apart.
//!
//! Neighbouring columns share the lines of their cells, so a line is looked at in each iteration: if its cells agree,
//! all columns in it are settled at once, up to those where some iteration finds another. Iterations may find different
//! kinds of cells. If their events count in one counter, inlined code counts the next loops; if in several, as where
//! the rows of a matrix have several writers, the hook does ([`Mixtures`](crate::thread::mixtures::Mixtures)).

use super::Look;
use super::group::Group;
use crate::process::Process;
use crate::thread::Thread;
use crate::thread::mixtures::Parts;
use core::slice;
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
    let mut parts = Parts::new();
    for i in 0..iterations as i64 {
        let here = from.wrapping_add_signed(stride * i);
        let cells = stretch(p, here, bytes)?;
        let &[state, ..] = cells else { return None };
        let kind = match last {
            Some((of, kind)) if of == state => kind,
            _ => group.kind(t, state)?,
        };
        last = Some((state, kind));
        if !kind.holds_all(t, cells, here / GRANULE) {
            return None;
        }
        let line = like_this.0.wrapping_add_signed(stride * i);
        match stretch(p, line, like_this.1 - like_this.0) {
            Some(cells) if kind.holds_all(t, cells, line / GRANULE) => {}
            Some(cells) => {
                let before = ((from - like_this.0) / GRANULE) as usize;
                let (left, right) = cells.split_at_checked(before)?;
                let mut less = left.iter().rev().take_while(|cell| kind.holds(**cell)).count();
                while kind.unwatched(t, here / GRANULE - less as u64, less) < less {
                    less -= 1;
                }
                let more = right.iter().take_while(|cell| kind.holds(**cell)).count();
                let more = kind.unwatched(t, here / GRANULE, more);
                like_this = (from - less as u64 * GRANULE, from + more as u64 * GRANULE);
            }
            None => like_this = (from, group.to),
        }
        if !kind.counter.is_null() {
            parts.add(kind.counter, bytes / GRANULE)?;
        }
    }
    let counter = t.mixed_counter(&parts)?;
    let mut window = group.window(t, like_this, counter);
    window.granules = parts.granules();
    Some(Look { granules: window.granules, window, known: false, group })
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
