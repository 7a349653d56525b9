//! How far the counts can be trusted, from what happened in the run.
//!
//! Two things make a count wrong. They are the only ones in a program without data races:
//!
//! * Chunks of memory that **share cells** because the signature's budget was used up: a read may find the writer of
//!   another address. Each event of such a chunk may be false. The runtime looks at a part of the events, all true
//!   communication and a sample of the reuse, and counts those in shared cells ("suspect"). Their share bounds
//!   the rate of false events, since an event in shared cells may still be right. If none of `n` was suspect
//!   although chunks share cells, the bound is `3 / n`: a share above it would show in `n` events with 95 % (the
//!   rule of three).
//! * Reads whose **new reader set found no room** in the table of states: true communication that was counted as reuse.
//!   Each is one false event of all that were counted.
//!
//! The rate is the sum of the two, at most 1. It is 0 only if no chunk shares cells and no state was turned away.
//! What was dropped is not in it: dropped events are missing, not false; [`crate::model::Accuracy::dropped`] counts
//! them.

use threadtalk_profile::layout::Accuracy;

use crate::model;

/// Upper bound of the share of false events among `events` counted ones.
pub fn false_rate(run: &Accuracy, events: u64) -> f64 {
    (shared_cells(run) + turned_away(run, events)).min(1.0)
}

fn shared_cells(run: &Accuracy) -> f64 {
    if run.chunks_aliased == 0 && run.events_suspect == 0 {
        return 0.0;
    }
    if run.events_checked == 0 {
        return 1.0;
    }
    run.events_suspect.max(3) as f64 / run.events_checked as f64
}

fn turned_away(run: &Accuracy, events: u64) -> f64 {
    match (run.states_exhausted, events) {
        (0, _) => 0.0,
        (_, 0) => 1.0,
        (turned_away, events) => turned_away as f64 / events as f64,
    }
}

/// A distance between events of which one may be false may be any: all of their share adds to what sampling may have
/// moved past a quantile.
pub(crate) fn doubt_distances(region: &mut model::Region, false_rate: f64) {
    let Some(counts) = &mut region.counts else { return };
    for crd in [Some(&mut counts.own), counts.total.as_mut()].into_iter().flatten().filter_map(|m| m.crd.as_mut()) {
        crd.rank_error = (crd.rank_error + false_rate).min(1.0);
    }
}

pub(crate) fn summary(run: &Accuracy, events: u64) -> model::Accuracy {
    let budget = run.signature_budget;
    model::Accuracy {
        estimated_false_rate: false_rate(run, events),
        occupied: (budget > 0).then(|| run.signature_mapped as f64 / budget as f64),
        dropped: run.dropped_reentrant.saturating_add(run.dropped_full).saturating_add(run.dropped_budget),
        dropped_reentrant: run.dropped_reentrant,
        dropped_full: run.dropped_full,
        signature_mapped: run.signature_mapped,
        chunks: run.chunks,
        chunks_aliased: run.chunks_aliased,
        events_checked: run.events_checked,
        events_suspect: run.events_suspect,
        states_exhausted: run.states_exhausted,
        threads_overflowed: run.threads_overflowed,
        modules_without_lines: run.modules_without_lines,
        crd_budget_reached: run.crd_budget_reached,
        records_budget_reached: run.records_budget_reached,
        dropped_budget: run.dropped_budget,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_run_has_rate_zero_and_nothing_else_has() {
        let clean = Accuracy { events_checked: 1000, chunks: 7, ..Accuracy::default() };
        assert_eq!(false_rate(&clean, 5000), 0.0);
        assert!(false_rate(&Accuracy { chunks_aliased: 1, ..clean }, 5000) > 0.0);
        assert!(false_rate(&Accuracy { states_exhausted: 1, ..clean }, 5000) > 0.0);
    }

    #[test]
    fn rates_add_up_to_at_most_one() {
        let run = Accuracy { chunks_aliased: 2, events_checked: 1000, events_suspect: 50, ..Accuracy::default() };
        assert_eq!(false_rate(&run, 10_000), 0.05);
        assert_eq!(false_rate(&Accuracy { states_exhausted: 100, ..run }, 10_000), 0.05 + 0.01);
        assert_eq!(false_rate(&Accuracy { events_suspect: 0, ..run }, 10_000), 0.003);
        assert_eq!(false_rate(&Accuracy { states_exhausted: 20_000, ..run }, 10_000), 1.0);
        assert_eq!(false_rate(&Accuracy { events_checked: 0, ..run }, 10_000), 1.0);
    }

    #[test]
    fn occupancy_needs_a_budget() {
        let run = Accuracy {
            signature_budget: 200,
            signature_mapped: 50,
            dropped_full: 2,
            dropped_reentrant: 3,
            dropped_budget: 4,
            ..Accuracy::default()
        };
        assert_eq!((summary(&run, 1).occupied, summary(&run, 1).dropped), (Some(0.25), 9));
        assert_eq!(summary(&Accuracy { signature_budget: 0, ..run }, 1).occupied, None);
    }
}
