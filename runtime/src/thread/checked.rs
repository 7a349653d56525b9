//! How many events fall into cells that serve more than one chunk of memory: any of these may be false.
//!
//! All true communications are looked at. Of reuse, those are that a sample of the reuse distance begins with, each of
//! which stands for the events until the next one, and those that are followed exactly. Without distances no reuse is
//! looked at.

use crate::process::{Process, accuracy};

/// What a thread has looked at and not yet added to the profile's totals.
#[derive(Default)]
pub struct Checked {
    /// Events looked at, of both kinds.
    pub events: u32,
    suspect: u32,
    reuse: u32,
    suspect_reuse: u32,
    reuse_weight: u64,
    suspect_reuse_weight: u64,
}

impl Checked {
    /// Events that are added to the profile's totals at a time.
    pub const MOST: u32 = 4096;

    /// `n` true communications.
    #[inline]
    pub fn communications(&mut self, n: u32, suspect: bool) {
        self.events += n;
        self.suspect += if suspect { n } else { 0 };
    }

    /// A reuse that stands for `weight` of them.
    pub fn reuse(&mut self, weight: u64, suspect: bool) {
        self.communications(1, suspect);
        self.reuse += 1;
        self.reuse_weight += weight;
        self.suspect_reuse += u32::from(suspect);
        self.suspect_reuse_weight += if suspect { weight } else { 0 };
    }

    /// Adds them to the profile's totals if they are many.
    #[inline]
    pub fn flush_if_many(&mut self, process: &Process) {
        if self.events >= Self::MOST {
            self.flush(process);
        }
    }

    /// Adds them to the profile's totals.
    pub fn flush(&mut self, process: &Process) {
        process.header_count(accuracy::EVENTS_CHECKED, self.events.into());
        process.header_count(accuracy::EVENTS_SUSPECT, self.suspect.into());
        process.header_count(accuracy::REUSE_CHECKED, self.reuse.into());
        process.header_count(accuracy::REUSE_SUSPECT, self.suspect_reuse.into());
        process.header_count(accuracy::REUSE_WEIGHT, self.reuse_weight);
        process.header_count(accuracy::SUSPECT_REUSE_WEIGHT, self.suspect_reuse_weight);
        *self = Self::default();
    }
}
