use std::collections::{BTreeMap, BTreeSet};

use crate::report::Report;

/// The share of events that are wrong in `found`, made up or missing, whichever is more, among entries of the regions'
/// matrices in which all runs of `exact` agree. The schedule decides on the others: who is the first to take a mutex,
/// which may be another one in each hashed run, too.
pub fn wrong(found: &Report, exact: &[Report]) -> f64 {
    let Some(first) = exact.first() else { return 0.0 };
    let found_entries = found.entries();
    let expected: Vec<_> = exact.iter().map(Report::entries).collect();
    let (mut made_up, mut missing) = (0, 0);
    let all = expected.iter().chain([&found_entries]).flat_map(BTreeMap::keys);
    for at in all.collect::<BTreeSet<_>>() {
        let mut counts = expected.iter().map(|entries| entries.get(at).copied().unwrap_or(0));
        let count = counts.next().unwrap_or(0);
        if counts.all(|other| other == count) {
            let found = found_entries.get(at).copied().unwrap_or(0);
            made_up += found.saturating_sub(count);
            missing += count.saturating_sub(found);
        }
    }
    let share = |events: u64, of: &Report| events as f64 / of.events().max(1) as f64;
    share(made_up, found).max(share(missing, first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Accuracy, Region};

    fn report(raw: [u64; 2], rar: u64) -> Report {
        let region = |id, raw, rar| Region {
            id,
            threads: vec![0, 1],
            raw: vec![vec![0, raw], vec![0, 0]],
            rar: vec![vec![0, rar], vec![0, 0]],
            ..Region::default()
        };
        let regions = vec![region(1, raw[0], rar), region(2, raw[1], 0)];
        Report { accuracy: Accuracy { estimated_false_rate: 0.0 }, program_total: regions[0].clone(), regions }
    }

    #[test]
    fn entries_that_vary_between_exact_runs_say_nothing() {
        let exact = [report([500, 100], 400), report([500, 120], 400)];
        assert_eq!(wrong(&report([500, 700], 400), &exact), 0.0);
        assert_eq!(wrong(&report([490, 100], 400), &exact), 0.01);
        assert_eq!(wrong(&report([500, 80], 420), &exact), 0.02);
    }

    #[test]
    fn an_entry_that_no_exact_run_has_is_made_up() {
        let exact = [report([900, 0], 0), report([900, 0], 0)];
        assert_eq!(wrong(&report([900, 100], 0), &exact), 0.1);
    }
}
