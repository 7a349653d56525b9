//! How far the counts can be trusted, from what happened in the run.
//!
//! Two things make a count wrong. They are the only ones in a program without data races:
//!
//! * Chunks of memory that **share cells** because the signature's budget was used up: a read may find the writer of
//!   another address. Each event of such a chunk may be false. The runtime looks at all true communication and at
//!   samples of the reuse, each of which stands for so many, and counts those in shared cells ("suspect"). Their shares
//!   bound the rates of false events, since an event in shared cells may still be right: that of communication, that of
//!   reuse, each weighted by how many of its kind there are. They are far apart where a few values are read again and
//!   again. If none of `n` was suspect although chunks share cells, the bound is `3 / n`: a share above it would show
//!   in `n` events with 95 % (the rule of three). Where no reuse was looked at (no distances were measured), it is
//!   taken to be as false as communication.
//! * Reads whose **new reader set found no room** in the table of states: true communication that was counted as reuse.
//!   Each is one false event of all that were counted.
//!
//! The rate is the sum of the two, at most 1. It is 0 only if no chunk shares cells and no state was turned away.
//! What was dropped is not in it: dropped events are missing, not false; [`crate::model::Accuracy::dropped`] counts
//! them.

use threadtalk_profile::Header;
use threadtalk_profile::layout::Accuracy;

use crate::model;

/// How many events were counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Events {
    /// True communications.
    pub communications: u64,
    /// Reuses.
    pub reuse: u64,
}

impl Events {
    fn all(&self) -> u64 {
        self.communications.saturating_add(self.reuse)
    }
}

/// Upper bound of the share of false events among the counted ones.
pub fn false_rate(run: &Accuracy, events: &Events) -> f64 {
    (shared_cells(run, events) + turned_away(run, events.all())).min(1.0)
}

fn shared_cells(run: &Accuracy, events: &Events) -> f64 {
    if run.chunks_aliased == 0 && run.events_suspect == 0 {
        return 0.0;
    }
    let looks = run.events_checked.saturating_sub(run.reuse_checked);
    let suspect = run.events_suspect.saturating_sub(run.reuse_suspect);
    let of_communications = if looks > 0 { at_most(suspect as f64 / looks as f64, looks) } else { 1.0 };
    let of_reuse = if run.reuse_checked > 0 && run.reuse_weight > 0 {
        at_most(run.suspect_reuse_weight as f64 / run.reuse_weight as f64, run.reuse_checked)
    } else {
        of_communications
    };
    let share = events.reuse as f64 / events.all().max(1) as f64;
    of_communications * (1.0 - share) + of_reuse * share
}

/// A share found in `n` looks, or what it may be although none was found.
fn at_most(share: f64, n: u64) -> f64 {
    share.max(3.0 / n as f64).min(1.0)
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

pub(crate) fn summary(header: &Header, estimated_false_rate: f64) -> model::Accuracy {
    let run = &header.accuracy;
    let budget = run.signature_budget;
    model::Accuracy {
        estimated_false_rate,
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
        lineless_values: header.lineless_values,
        crd_budget_reached: run.crd_budget_reached,
        records_budget_reached: run.records_budget_reached,
        dropped_budget: run.dropped_budget,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many events, half of them reuse.
    fn half(events: u64) -> Events {
        Events { communications: events / 2, reuse: events / 2 }
    }

    #[test]
    fn a_clean_run_has_rate_zero_and_nothing_else_has() {
        let clean = Accuracy { events_checked: 1000, chunks: 7, ..Accuracy::default() };
        assert_eq!(false_rate(&clean, &half(5000)), 0.0);
        assert!(false_rate(&Accuracy { chunks_aliased: 1, ..clean }, &half(5000)) > 0.0);
        assert!(false_rate(&Accuracy { states_exhausted: 1, ..clean }, &half(5000)) > 0.0);
    }

    #[test]
    fn rates_add_up_to_at_most_one() {
        let run = Accuracy { chunks_aliased: 2, events_checked: 1000, events_suspect: 50, ..Accuracy::default() };
        assert_eq!(false_rate(&run, &half(10_000)), 0.05);
        assert_eq!(false_rate(&Accuracy { states_exhausted: 100, ..run }, &half(10_000)), 0.05 + 0.01);
        assert_eq!(false_rate(&Accuracy { events_suspect: 0, ..run }, &half(10_000)), 0.003);
        assert_eq!(false_rate(&Accuracy { states_exhausted: 20_000, ..run }, &half(10_000)), 1.0);
        assert_eq!(false_rate(&Accuracy { events_checked: 0, ..run }, &half(10_000)), 1.0);
    }

    /// 900 communications, of which 90 were suspect, and 100 samples of reuse, 20 of them suspect, that stand for half
    /// of it.
    #[test]
    fn reuse_is_as_false_as_its_samples_by_what_they_stand_for() {
        let run = Accuracy {
            chunks_aliased: 2,
            events_checked: 1000,
            events_suspect: 110,
            reuse_checked: 100,
            reuse_suspect: 20,
            reuse_weight: 8000,
            suspect_reuse_weight: 4000,
            ..Accuracy::default()
        };
        let of = |communications, reuse| false_rate(&run, &Events { communications, reuse });
        assert_eq!((of(900, 0), of(0, 8000)), (0.1, 0.5));
        assert!((of(2000, 8000) - (0.2 * 0.1 + 0.8 * 0.5)).abs() < 1e-12);
        // None of 100 samples: up to 3 %.
        let clean = Accuracy { events_suspect: 90, reuse_suspect: 0, suspect_reuse_weight: 0, ..run };
        assert_eq!(false_rate(&clean, &Events { communications: 0, reuse: 8000 }), 0.03);
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
        let of = |accuracy| summary(&Header { accuracy, ..Header::default() }, 0.0);
        assert_eq!((of(run).occupied, of(run).dropped), (Some(0.25), 9));
        assert_eq!(of(Accuracy { signature_budget: 0, ..run }).occupied, None);
    }
}
