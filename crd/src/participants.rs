//! Which threads touched memory in a region: T of the equations, and the rows and columns of its matrices.
//!
//! A profile has no list of them. A thread counts if it took part in an event of the region, wrote bytes there that
//! nobody else read, or entered the region and the region itself accesses memory. The last may count a thread that
//! passed through without executing any of the accesses.

use bitvec::bitvec;
use threadtalk_profile::Profile;

use crate::regions::Tree;
use crate::threads::Threads;

/// (thread index, number), by thread, each thread once.
pub type ByThread = Vec<(u32, u64)>;

/// Entries into each region.
pub fn visits(profile: &Profile, tree: &Tree, threads: &Threads) -> Vec<ByThread> {
    let mut visits = vec![ByThread::new(); tree.nodes.len()];
    for v in profile.visits() {
        visits[tree.node(v.region) as usize].push((threads.index(v.thread), v.count));
    }
    visits.into_iter().map(fold).collect()
}

/// Private bytes of each region.
pub fn private_bytes(profile: &Profile, tree: &Tree, threads: &Threads) -> Vec<ByThread> {
    let mut bytes = vec![ByThread::new(); tree.nodes.len()];
    for p in profile.private_bytes() {
        bytes[tree.node(p.region) as usize].push((threads.index(p.writer), p.bytes));
    }
    bytes.into_iter().map(fold).collect()
}

/// Sorts by thread and adds up what a thread has more than once.
pub fn fold(mut counts: ByThread) -> ByThread {
    counts.sort_unstable();
    counts.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 = kept.1.saturating_add(next.1);
        }
        same
    });
    counts
}

/// Threads that touched memory in a region itself, ascending; the profile has `threads` of them.
pub fn own(
    of_events: impl Iterator<Item = u32>,
    visits: &ByThread,
    private: &ByThread,
    has_accesses: bool,
    threads: usize,
) -> Vec<u32> {
    let of_private = private.iter().map(|(thread, _)| *thread);
    let of_visits = visits.iter().filter(|(_, count)| has_accesses && *count > 0).map(|(thread, _)| *thread);
    let mut touched = bitvec![0; threads];
    of_events.chain(of_private).chain(of_visits).for_each(|thread| touched.set(thread as usize, true));
    touched.iter_ones().map(|thread| thread as u32).collect()
}

/// Ascending, each thread once.
pub fn sorted(mut threads: Vec<u32>) -> Vec<u32> {
    threads.sort_unstable();
    threads.dedup();
    threads
}
