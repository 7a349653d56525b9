//! Histograms: their pages, spread over the bucket blocks.

use std::mem::size_of;
use std::ops::Range;

use super::blocks::Block;
use super::record::Field;
use crate::layout::{BUCKETS_PER_PAGE, BucketPage, block};
use crate::tables::Histogram;

const PAGE: usize = size_of::<BucketPage>();

/// Where pages are: parts of the file, ascending.
#[derive(Debug)]
pub struct Pages {
    ranges: Vec<Range<usize>>,
}

impl Pages {
    /// The pages in the file's bucket blocks.
    pub fn new(blocks: &[Block]) -> Self {
        let ranges = blocks.iter().filter(|b| b.kind == block::BUCKETS).map(|b| b.payload.clone());
        Self { ranges: ranges.collect() }
    }

    /// Where page `number` is; none if there is no such page.
    fn find(&self, number: u32) -> Option<usize> {
        let offset = (number as usize).checked_mul(PAGE)?;
        let range = self.ranges.get(self.ranges.partition_point(|r| r.end <= offset))?;
        (range.start <= offset && offset + PAGE <= range.end).then_some(offset)
    }

    /// The histogram of a table; pages that are not there count as empty.
    pub fn histogram(&self, bytes: &[u8], table: &[u32]) -> Histogram {
        let mut histogram = Histogram::default();
        for (index, page) in used(table) {
            let Some(at) = self.find(page) else { continue };
            for (slot, count) in bytes[at..at + PAGE].chunks_exact(size_of::<u64>()).enumerate() {
                histogram.push((index * BUCKETS_PER_PAGE + slot) as u16, u64::decode(count));
            }
        }
        histogram
    }
}

/// The pages that a table names, with their places in it. Three of a trace's five tables are empty where all usages
/// were followed, and the others begin with what they have: eight places at a time, all takes a quarter less.
fn used(table: &[u32]) -> impl Iterator<Item = (usize, u32)> + '_ {
    let parts = table.chunks(8).enumerate().filter(|(_, part)| part.iter().fold(0, |all, page| all | page) != 0);
    parts.flat_map(|(number, part)| (8 * number..).zip(part.iter().copied())).filter(|(_, page)| *page != 0)
}

/// Checks that every page of every table exists and belongs to one histogram only: else a small file could
/// stand for any amount of histograms.
pub struct PageCheck<'a> {
    pages: &'a Pages,
    /// One bit for each page of the file.
    taken: Vec<u64>,
}

impl<'a> PageCheck<'a> {
    /// No page is taken yet.
    pub fn new(pages: &'a Pages) -> Self {
        let end = pages.ranges.last().map_or(0, |r| r.end);
        Self { pages, taken: vec![0; (end / PAGE).div_ceil(64)] }
    }

    /// Takes the pages of a table; the error says what is wrong.
    pub fn take(&mut self, table: &[u32]) -> Result<(), String> {
        for (_, page) in used(table) {
            if self.pages.find(page).is_none() {
                return Err(format!("a histogram with page {page}, which is not in the file"));
            }
            let (word, bit) = (page as usize / 64, 1 << (page % 64));
            if self.taken[word] & bit != 0 {
                return Err(format!("two histograms with page {page}"));
            }
            self.taken[word] |= bit;
        }
        Ok(())
    }
}
