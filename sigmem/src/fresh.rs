//! Names of values that nobody but their writer has read.

use threadtalk_abi::cell;

/// What a write leaves in its cell: who wrote, where, and whether the process had one thread then.
/// `(2 * thread + parallel) << site_bits | site`; never 0, because no site has the number 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FreshId(pub u32);

impl FreshId {
    /// The id for a write of `thread` at `site`. Bits that do not fit are cut off.
    #[inline]
    pub const fn new(thread: u32, parallel: bool, site: u32, site_bits: u32) -> Self {
        let who = (thread << 1 | parallel as u32).wrapping_shl(site_bits);
        Self((who | site & ((1 << site_bits) - 1)) & !cell::SHARED)
    }

    /// The first of the sites that stand for an unknown one: a quarter of all.
    #[inline]
    pub const fn first_lineless(site_bits: u32) -> u32 {
        (1 << site_bits) / 4 * 3
    }

    /// The same write at an unknown site.
    #[inline]
    pub const fn without_site(self, site_bits: u32) -> Self {
        Self(self.0 & !((1 << site_bits) - 1) | Self::first_lineless(site_bits))
    }

    /// The logical thread that wrote.
    #[inline]
    pub const fn thread(self, site_bits: u32) -> u32 {
        self.0 >> (site_bits + 1)
    }

    /// Written while the process had only one thread.
    #[inline]
    pub const fn serial(self, site_bits: u32) -> bool {
        self.0 >> site_bits & 1 == 0
    }

    /// Number of the writing site.
    #[inline]
    pub const fn site(self, site_bits: u32) -> u32 {
        self.0 & ((1 << site_bits) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_come_back() {
        for (thread, parallel, site, bits) in [(0, false, 1, 16), (16_383, true, 65_535, 16), (3, true, 9, 20)] {
            let id = FreshId::new(thread, parallel, site, bits);
            assert_eq!((id.thread(bits), id.serial(bits), id.site(bits)), (thread, !parallel, site));
            assert_eq!(id.0 & cell::SHARED, 0);
            let known = id.without_site(bits);
            assert_eq!((known.thread(bits), known.serial(bits)), (thread, !parallel));
            assert_eq!(known.site(bits), FreshId::first_lineless(bits));
        }
    }
}
