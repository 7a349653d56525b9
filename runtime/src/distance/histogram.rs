//! Histograms in the profile: log-linear buckets in pages that exist once something falls into them.

use crate::file::ProfileFile;
use crate::file::appender::Appender;
use threadtalk_profile::buckets;
use threadtalk_profile::layout::{BUCKETS_PER_PAGE, BucketPage, BucketTable};

/// Adds `weight` to the bucket of `value`. Without room for a page the count is dropped: the file is full, and
/// the profile says so already.
pub fn add(table: &mut BucketTable, value: u64, weight: u64, pages: &mut Appender<BucketPage>, file: &ProfileFile) {
    let bucket = buckets::bucket(value);
    let Some(slot) = table.get_mut(bucket / BUCKETS_PER_PAGE) else { return };
    if *slot == 0 {
        let Some(page) = pages.append(file, [0; BUCKETS_PER_PAGE]) else { return };
        *slot = (file.offset_of(page.cast()) / size_of::<BucketPage>() as u64) as u32;
    }
    let page = file.at(u64::from(*slot) * size_of::<BucketPage>() as u64).cast::<u64>();
    // SAFETY: the slot names a page that this thread appended; the index is below the page's length.
    unsafe { *page.add(bucket % BUCKETS_PER_PAGE) += weight };
}
