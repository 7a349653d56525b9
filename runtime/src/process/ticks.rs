//! The clock of the hooks at regions: the processor's time stamp counter where it runs evenly, else the monotonic
//! clock.
//!
//! Reading the counter takes some 10 ns less than the kernel's clock without a system call, and hundreds less than with
//! one. What a tick is in nanoseconds is measured against the monotonic clock from the start of the process on, again
//! and again over twice the time.

use super::clock;
use core::arch::x86_64::{__cpuid, _rdtsc};
use core::sync::atomic::{AtomicU64, Ordering};

/// Least time over which the counter is measured: two readings within 100 ns of each other are then right to 0.01 %.
const LEAST_NS: u64 = 1_000_000;

const TWO_TO_32: f64 = (1u64 << 32) as f64;

/// The clock and its scale.
pub struct Ticks {
    has_counter: bool,
    first_ticks: u64,
    first_ns: u64,
    /// Nanoseconds in 2^32 ticks; 0 = not measured yet.
    scale: AtomicU64,
    /// When it is to be measured again, in nanoseconds after the first reading.
    again_ns: AtomicU64,
}

impl Ticks {
    /// Reads both clocks for the first time.
    pub fn new() -> Self {
        let has_counter = counter_is_even();
        let first_ns = clock::monotonic_ns();
        Self {
            has_counter,
            first_ticks: if has_counter { counter() } else { 0 },
            first_ns,
            scale: AtomicU64::new(if has_counter { 0 } else { 1 << 32 }),
            again_ns: AtomicU64::new(LEAST_NS),
        }
    }

    /// What the profile calls it.
    pub fn name(&self) -> &'static [u8] {
        if self.has_counter { b"time stamp counter" } else { b"monotonic" }
    }

    /// The present tick.
    #[inline]
    pub fn now(&self) -> u64 {
        if self.has_counter { counter() } else { clock::monotonic_ns() }
    }

    /// Nanoseconds in so many ticks.
    pub fn ns(&self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.scale())) >> 32) as u64
    }

    /// Ticks in so many nanoseconds.
    pub fn ticks(&self, ns: u64) -> u64 {
        // Division of 128 bits would be a call of the compiler's library, which the archive does not hold.
        (ns as f64 * TWO_TO_32 / self.scale().max(1) as f64) as u64
    }

    /// The scale; measured now if it was not, which may take up to [`LEAST_NS`] once in a process.
    fn scale(&self) -> u64 {
        let known = self.scale.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        while clock::monotonic_ns() - self.first_ns < LEAST_NS {
            core::hint::spin_loop();
        }
        self.measure()
    }

    /// Measures the scale again if the time since the start has doubled.
    pub fn refine(&self) {
        if self.has_counter && clock::monotonic_ns() - self.first_ns >= self.again_ns.load(Ordering::Relaxed) {
            self.measure();
        }
    }

    fn measure(&self) -> u64 {
        let (ns, ticks) = (clock::monotonic_ns() - self.first_ns, counter().wrapping_sub(self.first_ticks));
        let scale = (ns as f64 * TWO_TO_32 / ticks.max(1) as f64) as u64;
        self.scale.store(scale.max(1), Ordering::Relaxed);
        self.again_ns.store(ns * 2, Ordering::Relaxed);
        scale.max(1)
    }
}

fn counter() -> u64 {
    // SAFETY: an instruction without effects; every processor of this architecture has it, and Linux lets programs use
    // it.
    unsafe { _rdtsc() }
}

/// The processor says that the counter neither changes its frequency nor stops ("invariant TSC").
fn counter_is_even() -> bool {
    let (highest, power) = (__cpuid(0x8000_0000).eax, __cpuid(0x8000_0007).edx);
    highest >= 0x8000_0007 && power >> 8 & 1 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_and_nanoseconds_are_each_others_inverse() {
        let ticks = Ticks::new();
        for ns in [1_000, 50_000, 1_000_000_000, 3_600_000_000_000] {
            let there_and_back = ticks.ns(ticks.ticks(ns));
            assert!(ns.abs_diff(there_and_back) <= ns / 100 + 1, "{ns}: {there_and_back}");
        }
        let before = ticks.now();
        assert!(ticks.now() >= before && ticks.ns(0) == 0);
    }

    #[test]
    fn without_a_counter_a_tick_is_a_nanosecond() {
        let scale = AtomicU64::new(1 << 32);
        let ticks = Ticks { has_counter: false, first_ticks: 0, first_ns: 0, scale, again_ns: AtomicU64::new(0) };
        ticks.refine();
        assert_eq!((ticks.ns(12_345), ticks.ticks(12_345)), (12_345, 12_345));
        assert_eq!(ticks.name(), b"monotonic");
    }
}
