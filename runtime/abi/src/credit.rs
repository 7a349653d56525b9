//! Which loops of few iterations are asked about.
//!
//! A question costs as much as the sequences of some thirty iterations that read own values, and as those of three or
//! four that read vectors which another thread has written since. Which it is only memory tells. So each loop that is
//! offered has a credit, a byte of its module's data that begins as 0, and is asked about
//!
//! ```text
//! if iterations + credit >= header.least_asked
//! ```
//!
//! where [`least_asked`](crate::thread::ThreadHeader::least_asked) is [`SHORTEST_ASKED`] nearly always. From time to
//! time a thread lowers it for some questions to [`SHORTEST`], and loops whose questions turn out to be worth it get a
//! credit: the iterations that they need not have. One that is asked in vain again and again loses it. A loop's credit
//! serves all threads; it is written only where it changes, so that its line is shared.

use crate::window::{SHORTEST, SHORTEST_ASKED};

/// The most that a credit can be.
pub const MOST: u8 = (SHORTEST_ASKED - SHORTEST) as u8;

/// The credit of a loop for which so many iterations are enough.
pub const fn from(iterations: u64) -> u8 {
    let spared = SHORTEST_ASKED.saturating_sub(iterations);
    if spared < MOST as u64 { spared as u8 } else { MOST }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credit_is_what_iterations_lack() {
        for enough in 0..100 {
            let asked = |iterations: u64| iterations + u64::from(from(enough)) >= SHORTEST_ASKED;
            let least = enough.clamp(SHORTEST, SHORTEST_ASKED);
            assert!(asked(least) && !asked(least - 1), "{enough}");
        }
    }
}
