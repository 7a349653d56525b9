//! Synchronisation hot spot: atomic variables that travel between threads are a large part of what the region
//! communicates; or flags for which threads wait by looking at them, atomic or volatile.

use threadtalk_abi::module::site_flags::{LOCKS, TAKES, UPDATE, WAITS};
use threadtalk_profile::{Event, Stride};

use super::{Case, Rule, Threshold, evidence, place};
use crate::model::{Lowers, Means, Suggestion, SuggestionKind};

pub(super) const RULE: Rule = Rule {
    name: "synchronisation",
    thresholds: &[
        Threshold {
            name: "share",
            default: 0.5,
            meaning: "part of the region's events whose read is atomic, or waits for a volatile flag",
        },
        Threshold {
            name: "polled",
            default: 0.9,
            meaning: "part of these reads that find nothing new, from which on threads are taken to wait or to look something up",
        },
        Threshold {
            name: "found",
            default: 0.5,
            meaning: "new values for each entry of the region, from which on threads are taken to wait, as each wait ends with one; \
                      where control flow was counted, loops that wait are known instead",
        },
        Threshold {
            name: "waiting",
            default: 0.2,
            meaning: "`share`, where threads wait: who looks at a flag often reads where it lies as well",
        },
    ],
    find,
};

fn find(case: &Case<'_>) -> Option<Suggestion> {
    if !case.is_significant() {
        return None;
    }
    let waiting = case.facts.waiting;
    let synchronises = |e: &Event| e.is_sync() || !waiting.is_empty() && waiting.contains(&e.reader_site);
    let (atomic, example) = case.heaviest(synchronises)?;
    let share = atomic as f64 / case.total as f64;
    let count =
        |of: fn(&Event) -> u64| case.events.iter().filter(|e| synchronises(e)).map(of).fold(0u64, u64::saturating_add);
    let polled = count(|e| e.rar) as f64 / atomic.max(1) as f64;
    // What was written before there were threads is no answer to anybody.
    let found = found_per_entry(count(|e| if e.is_serial() { 0 } else { e.raw }), case.region.visits);
    let is_polled = polled > case.threshold(&RULE, "polled");
    // A loop that looks at the place of each turn's own, as along a list, waits for none of them.
    let is_one_place = || case.strides(example.reader_site).0 == Stride::Bytes(0);
    let is_found = || found.is_some_and(|found| found >= case.threshold(&RULE, "found"));
    let waits = is_polled && case.is_spinning().unwrap_or_else(|| is_one_place() && is_found());
    // What is read often and changes seldom lies in all caches, as it should.
    if is_polled && !waits || share < case.threshold(&RULE, if waits { "waiting" } else { "share" }) {
        return None;
    }
    let (from, to) = (case.position(example.writer_site), case.position(example.reader_site));
    let flags = case.facts.profile.site(example.reader_site).map_or(0, |site| site.flags);
    if flags & WAITS != 0 && !waits {
        return None;
    }
    let advice = if waits {
        "Most read again what the thread has read already: it waits for another one. Let it sleep (a condition \
         variable, a barrier), or read less often in between."
    } else if flags & UPDATE != 0 && is_lock(case, example.reader_site) {
        "Threads spin for a lock there: hold it for less, divide what it protects, or take a mutex, which lets them sleep."
    } else if flags & TAKES != 0 {
        "Threads take their work from it piece by piece: let them take several pieces at a time, fewer towards the end."
    } else if flags & UPDATE != 0 {
        "Count in a local variable and combine at the end (reduction), or divide the variable among the threads."
    } else {
        "One thread stores what others load: pass several values on at a time, or keep what was seen last and look again \
         only when that is used up."
    };
    let mut figures = evidence([("share", share), ("events", atomic as f64), ("polled", polled)]);
    figures.extend(found.map(|found| ("found".to_owned(), found)));
    Some(Suggestion {
        rule: RULE.name.to_owned(),
        kind: SuggestionKind::Data,
        means: Means::Code,
        text: format!(
            "Synchronisation hot spot: {:.0} % of the events are {} {} at {}. {advice}",
            100.0 * share,
            if flags & WAITS != 0 { "looks at" } else { "atomic accesses to" },
            case.object(&example),
            place(&to)
        ),
        evidence: figures,
        promise: case.promise(if flags & WAITS != 0 { Lowers::Rar } else { Lowers::Sync }),
        lines: vec![from, to],
    })
}

/// Whether threads spin for a lock at the line of a site. The first attempt may be in front of the loop that repeats
/// it.
fn is_lock(case: &Case<'_>, site: u32) -> bool {
    let profile = case.facts.profile;
    let Some(at) = profile.site(site) else { return false };
    let mut sites = profile.modules().iter().flat_map(|module| &module.sites);
    sites.any(|other| other.flags & LOCKS != 0 && (other.line, &other.file) == (at.line, &at.file))
}

/// New values for each entry of a region. Entries of inlined functions are not counted: who goes through one again and
/// again may look once each time, so nothing is known of them.
fn found_per_entry(new_values: u64, entries: u64) -> Option<f64> {
    (entries > 0).then(|| new_values as f64 / entries as f64)
}

#[cfg(test)]
mod tests {
    use super::found_per_entry;

    #[test]
    fn nothing_is_known_of_regions_whose_entries_are_not_counted() {
        assert_eq!(
            [(1, 2), (0, 4), (38, 0)].map(|(new, entries)| found_per_entry(new, entries)),
            [Some(0.5), Some(0.0), None]
        );
    }
}
