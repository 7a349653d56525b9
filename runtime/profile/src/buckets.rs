//! Log-linear buckets: exact below 16, then 8 buckets to the octave (a width of at most 12.5 %).

use crate::layout::{BUCKET_PAGES, BUCKETS_PER_PAGE};

/// Number of buckets.
pub const BUCKETS: usize = BUCKET_PAGES * BUCKETS_PER_PAGE;

/// The bucket that holds `value`; values beyond the last bucket count in it.
pub const fn bucket(value: u64) -> usize {
    if value < 16 {
        return value as usize;
    }
    let octave = value.ilog2();
    let index = 16 + (octave as usize - 4) * 8 + ((value >> (octave - 3)) & 7) as usize;
    if index < BUCKETS { index } else { BUCKETS - 1 }
}

/// Smallest value of a bucket.
pub const fn lower_bound(bucket: usize) -> u64 {
    if bucket < 16 {
        return bucket as u64;
    }
    let octave = (bucket - 16) / 8 + 4;
    (8 + ((bucket - 16) % 8) as u64) << (octave - 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bucket_begins_where_the_one_before_ends() {
        for b in 0..BUCKETS {
            assert_eq!(bucket(lower_bound(b)), b);
            if b > 0 {
                assert_eq!(bucket(lower_bound(b) - 1), b - 1);
            }
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }
}
