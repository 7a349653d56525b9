//! The barriers of POSIX that the program has made: which they are, for how many threads, and how often each was
//! reached.

use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Barriers at a time; more are waited at without bounding instances.
const MOST: usize = 1024;
/// In [`Slot::address`]: was used, may be again.
const FREED: usize = 1;

struct Slot {
    /// Of the barrier; 0 = never used.
    address: AtomicUsize,
    /// Which barrier of the run, from 1.
    key: AtomicU64,
    team: AtomicU32,
    arrivals: AtomicU64,
}

static SLOTS: [Slot; MOST] = [const {
    Slot { address: AtomicUsize::new(0), key: AtomicU64::new(0), team: AtomicU32::new(0), arrivals: AtomicU64::new(0) }
}; MOST];

static MADE: AtomicU64 = AtomicU64::new(0);

/// One of the times that all threads of a barrier meet.
pub struct Round {
    /// The barrier; not 0.
    pub key: u64,
    /// From 0.
    pub number: u64,
    /// Threads that meet.
    pub team: u32,
}

/// Whether there has been any barrier.
pub fn exist() -> bool {
    MADE.load(Ordering::Relaxed) > 0
}

fn slots(address: usize) -> impl Iterator<Item = &'static Slot> {
    let first = (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) % MOST;
    SLOTS.iter().cycle().skip(first).take(MOST)
}

/// `pthread_barrier_init`.
pub fn made(address: usize, team: u32) {
    forget(address);
    let key = MADE.fetch_add(1, Ordering::Relaxed) + 1;
    for slot in slots(address) {
        let held = slot.address.load(Ordering::Relaxed);
        if held > FREED {
            continue;
        }
        // Relaxed: the program publishes a barrier only after its initialisation has returned.
        if slot.address.compare_exchange(held, address, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            slot.key.store(key, Ordering::Relaxed);
            slot.team.store(team, Ordering::Relaxed);
            slot.arrivals.store(0, Ordering::Relaxed);
            return;
        }
    }
}

/// `pthread_barrier_destroy`.
pub fn forget(address: usize) {
    if let Some(slot) = find(address) {
        slot.address.store(FREED, Ordering::Relaxed);
    }
}

/// A thread arrives.
pub fn arrive(address: usize) -> Option<Round> {
    let slot = find(address)?;
    let team = slot.team.load(Ordering::Relaxed).max(1);
    let before = slot.arrivals.fetch_add(1, Ordering::Relaxed);
    Some(Round { key: slot.key.load(Ordering::Relaxed), number: before / u64::from(team), team })
}

fn find(address: usize) -> Option<&'static Slot> {
    slots(address)
        .take_while(|slot| slot.address.load(Ordering::Relaxed) != 0)
        .find(|slot| slot.address.load(Ordering::Relaxed) == address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_counted_for_each_barrier_anew() {
        let at = 0x7000_0000_1000;
        assert!(arrive(at).is_none());
        made(at, 3);
        made(at + 64, 1);
        let rounds: std::vec::Vec<_> = (0..7).filter_map(|_| arrive(at)).map(|r| (r.number, r.team)).collect();
        assert_eq!(rounds, [(0, 3), (0, 3), (0, 3), (1, 3), (1, 3), (1, 3), (2, 3)]);
        let old = arrive(at).map(|r| r.key);
        forget(at);
        assert!(arrive(at).is_none());
        made(at, 2);
        let new = arrive(at).map(|r| (r.key, r.number));
        assert!(new.is_some_and(|(key, number)| Some(key) != old && number == 0));
        assert!(exist() && arrive(at + 64).is_some_and(|r| r.team == 1));
    }

    #[test]
    fn no_barrier_is_lost_to_others_that_come_and_go() {
        let kept = 0x7100_0000_0000;
        made(kept, 1);
        for i in 1..5 * MOST {
            made(kept + i * 64, 2);
            forget(kept + i * 64);
        }
        assert!(arrive(kept).is_some());
    }
}
