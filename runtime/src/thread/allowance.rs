//! How many true communications a thread may count with nothing else to be done.
//!
//! Some things are due after so many of them: an allocation is looked up, what was looked at is added to the profile's
//! totals, the clock is read. Reads that are counted in passing ([`crate::hooks::first`]) count down one number for all
//! of these. Hooks settle before they begin what was counted so, and grant anew at their end.

use super::Thread;
use super::checked::Checked;
use crate::process::Process;

/// At most: a look at the clock is due in one hook in 64, so it comes after 16 000 such reads, some 200 microseconds.
const MOST: u32 = 512;

/// What was granted, and what of that is left.
#[derive(Default)]
pub struct Allowance {
    granted: u32,
    left: u32,
}

impl Allowance {
    /// Whether so many granules may be counted.
    #[inline(always)]
    pub fn covers(&self, granules: u32) -> bool {
        self.left >= granules
    }

    /// They are counted.
    #[inline(always)]
    pub fn take(&mut self, granules: u32) {
        self.left -= granules;
    }
}

impl Thread {
    /// What was counted in passing is known to all that counts such things. Nothing more is granted.
    #[inline(always)]
    pub fn settle_allowance(&mut self) {
        let Allowance { granted, left } = core::mem::take(&mut self.allowance);
        self.lookups.pass(granted - left);
        self.checked.communications(granted - left, false);
    }

    /// As many as may be counted before something is due.
    #[inline(always)]
    pub fn grant_allowance(&mut self, p: &Process) {
        let lookup = if p.options.objects > 0 { self.lookups.left() } else { MOST };
        let totals = Checked::MOST.saturating_sub(self.checked.events.saturating_add(1));
        let granted = MOST.min(lookup).min(totals);
        self.allowance = Allowance { granted, left: granted };
    }
}
