//! A truth value that is as wide as a register.
//!
//! Behind a `bool` at the end of a structure lie bytes of no meaning. Where such a structure is returned and copied,
//! they are copied as well, by loads that wait for stores of other widths (a store is not forwarded to a load that
//! reaches beyond it): in loops over rows of 64 an eighth of the time.

/// See the module's documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Wide {
    /// It is not so.
    No = 0,
    /// It is so.
    Yes = 1,
}

impl Wide {
    /// Whether it is so.
    #[inline(always)]
    pub fn is_so(self) -> bool {
        self == Self::Yes
    }
}

impl From<bool> for Wide {
    #[inline(always)]
    fn from(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}
