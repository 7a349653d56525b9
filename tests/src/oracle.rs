//! A slow, exact model of what is counted: one record for each 4-byte granule.
//!
//! It shares nothing with the tool: no cells, no interned states, no merging.

use crate::report::Matrix;
use std::ops::Range;

/// Bytes of an element.
const GRANULE: usize = 4;

/// One element.
#[derive(Clone, Default)]
struct Element {
    writer: Option<usize>,
    /// Threads that have read it since it was written.
    readers: Vec<usize>,
}

/// Memory of a fixed size and the matrices of what happened in it.
pub struct Oracle {
    elements: Vec<Element>,
    threads: usize,
    counts: Counts,
}

/// True communication and reuse by (writer, reader).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// RaW.
    pub raw: Matrix,
    /// RaR.
    pub rar: Matrix,
}

impl Counts {
    /// No events.
    pub fn none(threads: usize) -> Self {
        let zero = vec![vec![0; threads]; threads];
        Self { raw: zero.clone(), rar: zero }
    }

    /// Adds another matrix pair.
    pub fn add(&mut self, other: &Self) {
        for (mine, others) in [(&mut self.raw, &other.raw), (&mut self.rar, &other.rar)] {
            for (mine, others) in mine.iter_mut().flatten().zip(others.iter().flatten()) {
                *mine += others;
            }
        }
    }
}

impl Oracle {
    /// Memory of `bytes` that nobody has written.
    pub fn new(bytes: usize, threads: usize) -> Self {
        Self { elements: vec![Element::default(); bytes / GRANULE], threads, counts: Counts::none(threads) }
    }

    /// What was counted since the last call.
    pub fn take_counts(&mut self) -> Counts {
        std::mem::replace(&mut self.counts, Counts::none(self.threads))
    }

    /// `thread` reads `bytes` at `address`.
    pub fn read(&mut self, thread: usize, address: i64, bytes: i64) {
        for index in granules(address, bytes) {
            let element = &mut self.elements[index];
            match element.writer {
                None => {}
                Some(writer) if writer == thread => {}
                Some(writer) if element.readers.contains(&thread) => self.counts.rar[writer][thread] += 1,
                Some(writer) => {
                    element.readers.push(thread);
                    self.counts.raw[writer][thread] += 1;
                }
            }
        }
    }

    /// `thread` writes `bytes` at `address`.
    pub fn write(&mut self, thread: usize, address: i64, bytes: i64) {
        for index in granules(address, bytes) {
            self.elements[index] = Element { writer: Some(thread), readers: Vec::new() };
        }
    }
}

fn granules(address: i64, bytes: i64) -> Range<usize> {
    let (address, bytes) = (address as usize, bytes as usize);
    if bytes == 0 { 0..0 } else { address / GRANULE..(address + bytes - 1) / GRANULE + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn re_reads_are_reuse_until_the_next_write() {
        let mut oracle = Oracle::new(64, 3);
        oracle.write(0, 0, 8);
        oracle.read(1, 0, 8);
        oracle.read(1, 2, 4);
        oracle.read(0, 0, 8);
        oracle.write(2, 4, 1);
        oracle.read(1, 0, 8);
        oracle.read(1, 16, 8);
        let counts = oracle.take_counts();
        assert_eq!((counts.raw[0][1], counts.rar[0][1]), (2, 3));
        assert_eq!((counts.raw[2][1], counts.rar[2][1]), (1, 0));
        assert_eq!(oracle.take_counts(), Counts::none(3));
    }
}
