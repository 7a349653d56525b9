//! An access of a loop as a range of addresses.

use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::Access;

/// An access as a range: `first ..= last` byte over all iterations.
#[derive(Clone, Copy)]
pub struct Span {
    pub first: u64,
    pub last: u64,
}

impl Span {
    /// `None` if the addresses wrap around or leave the address space.
    pub fn of(access: &Access, iterations: u64) -> Option<Span> {
        Span::with(access, u64::from(access.bytes), iterations)
    }

    /// The same of an access of so many bytes.
    pub fn with(access: &Access, bytes: u64, iterations: u64) -> Option<Span> {
        let reach = access.stride.checked_mul(i64::try_from(iterations - 1).ok()?)?;
        let first = access.address.checked_add_signed(reach.min(0))?;
        let last = access.address.checked_add_signed(reach.max(0))?.checked_add(bytes)?.checked_sub(1)?;
        (last >> threadtalk_abi::ADDRESS_BITS == 0 && bytes > 0).then_some(Span { first, last })
    }

    /// Whether the two share a granule.
    pub fn meets(self, other: Span) -> bool {
        self.first & !(GRANULE - 1) <= other.last | (GRANULE - 1)
            && other.first & !(GRANULE - 1) <= self.last | (GRANULE - 1)
    }
}
