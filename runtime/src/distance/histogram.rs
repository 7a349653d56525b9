//! Histograms in the profile: log-linear buckets in pages that exist once something falls into them.

use crate::file::ProfileFile;
use crate::file::appender::Appender;
use threadtalk_profile::buckets;
use threadtalk_profile::layout::{BUCKETS_PER_PAGE, BucketPage, BucketTable, LengthTable, block};

/// Pages of one thread's histograms, and what its distances may still take of the profile.
pub struct Pages {
    appender: Appender<BucketPage>,
    /// Bytes left of the budget.
    pub left: u64,
    /// A page had no room in the budget: its histogram lacks counts.
    pub refused: bool,
}

impl Pages {
    /// No pages, and a budget.
    pub const fn new(budget: u64) -> Self {
        Self { appender: Appender::new(block::BUCKETS), left: budget, refused: false }
    }

    /// Takes `bytes` from the budget, if it has them.
    pub fn take(&mut self, bytes: u64) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    fn append(&mut self, file: &ProfileFile) -> Option<*mut BucketPage> {
        if !self.take(size_of::<BucketPage>() as u64) {
            self.refused = true;
            return None;
        }
        self.appender.append(file, [0; BUCKETS_PER_PAGE])
    }
}

/// Adds `weight` to the bucket of `value`. Without room for a page the count is dropped: the file is full or the
/// thread's budget used up, and the profile says so.
pub fn add(table: &mut BucketTable, value: u64, weight: u64, pages: &mut Pages, file: &ProfileFile) {
    add_to(table, buckets::bucket(value), weight, pages, file);
}

/// Adds `weight` to the class of an interval's length, as [`add`] does.
pub fn add_length(table: &mut LengthTable, interval: u64, weight: u64, pages: &mut Pages, file: &ProfileFile) {
    add_to(table, buckets::length(interval), weight, pages, file);
}

fn add_to(table: &mut [u32], bucket: usize, weight: u64, pages: &mut Pages, file: &ProfileFile) {
    let Some(slot) = table.get_mut(bucket / BUCKETS_PER_PAGE) else { return };
    if *slot == 0 {
        let Some(page) = pages.append(file) else { return };
        *slot = (file.offset_of(page.cast()) / size_of::<BucketPage>() as u64) as u32;
    }
    let page = file.at(u64::from(*slot) * size_of::<BucketPage>() as u64).cast::<u64>();
    // SAFETY: the slot names a page that this thread appended; the index is below the page's length.
    let count = unsafe { &mut *page.add(bucket % BUCKETS_PER_PAGE) };
    *count = count.saturating_add(weight);
}
