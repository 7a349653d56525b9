//! Whether what threads use of one cache line is shared falsely.

use super::{ELEMENTS, Element, Finding};
use threadtalk_abi::cell::{NONE, SHARED};
use threadtalk_profile::layout::shared_line_flags;

/// What threads use of a line without using what another one writes there: of each site that wrote elements of it, one
/// finding at most. `reads`: whether a thread has read an element; `reader`: one that has.
///
/// Two writers: at least one of them reads nothing that the other wrote in the line. (Both read from each other in a
/// queue or at the border of two blocks with halos: there the line moves because data moves.) A writer and a reader:
/// the reader reads the line, but nothing that the writer wrote. Writers at one site come first: what matters in a line
/// that the end of an array shares with counters are the counters.
pub(super) fn judge(
    line: &[Element; ELEMENTS],
    reads: impl Fn(&Element, u32) -> bool,
    reader: impl Fn(&Element) -> Option<u32>,
    mut found: impl FnMut(Finding),
) {
    let reads_from =
        |thread: u32, writer: u32| line.iter().any(|e| e.state != NONE && e.thread == writer && reads(e, thread));
    let apart = |a: &Element, b: &Element| {
        a.thread != b.thread && !(reads_from(b.thread, a.thread) && reads_from(a.thread, b.thread))
    };
    // What is found depends on who wrote an element where, and is said of the first one of each.
    let (mut first, mut count) = ([Element::default(); ELEMENTS], 0);
    for e in line.iter().filter(|e| e.parallel) {
        if !first.iter().take(count).any(|earlier| (earlier.thread, earlier.site) == (e.thread, e.site)) {
            // As many as there are elements at most; hooks have no way to a panic.
            let Some(next) = first.get_mut(count) else { break };
            *next = *e;
            count += 1;
        }
    }
    let written = first.get(..count).unwrap_or_default();
    let of_site =
        |site: u32| written.iter().enumerate().fold(0u32, |bits, (k, e)| bits | u32::from(e.site == site) << k);
    // Of which of `written` something was found.
    let mut done = 0;
    let writers =
        |a: &Element, b: &Element| Finding { sites: [a.site, b.site], threads: [a.thread, b.thread], flags: 0 };
    for (k, a) in written.iter().enumerate() {
        if done >> k & 1 == 0
            && let Some(b) = written.iter().find(|b| b.site == a.site && apart(a, b))
        {
            found(writers(a, b));
            done |= of_site(a.site);
        }
    }
    for (k, a) in written.iter().enumerate() {
        if done >> k & 1 == 0
            && let Some(b) = written.iter().find(|b| apart(a, b))
        {
            found(writers(a, b));
            done |= of_site(a.site) | of_site(b.site);
        }
    }
    for (k, a) in written.iter().enumerate() {
        if done >> k & 1 == 1 {
            continue;
        }
        // Who has read an element of the same writer's reads from it.
        let beside = line.iter().filter(|e| e.state & SHARED != 0 && e.thread != a.thread).find_map(|e| {
            let thread = reader(e).filter(|t| *t != a.thread && *t != e.thread)?;
            (!reads_from(thread, a.thread)).then_some((e, thread))
        });
        if let Some((e, thread)) = beside {
            found(Finding {
                sites: [a.site, e.site],
                threads: [a.thread, thread],
                flags: shared_line_flags::OTHER_READS,
            });
            done |= of_site(a.site);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who wrote an element, at which site, and who has read it.
    type Written<'a> = (u32, u32, &'a [u32]);

    /// The findings of a line with these elements, from the first on.
    fn at_sites(elements: &[Written<'_>]) -> Vec<Finding> {
        let mut line = [Element::default(); ELEMENTS];
        for (i, (e, (thread, site, readers))) in line.iter_mut().zip(elements).enumerate() {
            let state = (i as u32 + 1) | if readers.is_empty() { 0 } else { SHARED };
            // Thread 0 wrote before there were others.
            *e = Element { state, thread: *thread, site: *site, parallel: *thread > 0, at: i, readers: None };
        }
        let readers = |e: &Element| elements[(e.state & !SHARED) as usize - 1].2;
        let mut found = Vec::new();
        judge(&line, |e, thread| readers(e).contains(&thread), |e| readers(e).first().copied(), |f| found.push(f));
        found
    }

    /// The same where each thread writes at a site of its own: (writer, readers).
    fn found(elements: &[(u32, &[u32])]) -> Option<Finding> {
        let elements: Vec<Written> =
            elements.iter().map(|(thread, readers)| (*thread, 10 + thread, *readers)).collect();
        at_sites(&elements).first().copied()
    }

    /// Whether two of a site's threads, or one of its and any other that writes, or one that only reads, are apart:
    /// the first of these that holds, by every pair of elements.
    fn of_site(site: u32, elements: &[Written<'_>]) -> Option<u32> {
        let reads_from =
            |thread: u32, writer: u32| elements.iter().any(|(w, _, readers)| *w == writer && readers.contains(&thread));
        // Thread 0 wrote before there were others.
        let written = || elements.iter().filter(|(writer, ..)| *writer > 0);
        let own = || written().filter(|(_, at, _)| *at == site);
        let apart = |a: u32, b: u32| a != b && !(reads_from(a, b) && reads_from(b, a));
        let with = |others: &[&Written<'_>]| own().any(|(a, ..)| others.iter().any(|(b, ..)| apart(*a, *b)));
        let is_beside = |a: u32, (writer, _, readers): &Written<'_>| {
            let reader = readers.first().filter(|r| **r != a && *r != writer && *writer != a);
            reader.is_some_and(|r| !reads_from(*r, a))
        };
        if with(&own().collect::<Vec<_>>()) {
            return Some(0);
        }
        if with(&written().collect::<Vec<_>>()) {
            return Some(1);
        }
        own().any(|(a, ..)| elements.iter().any(|e| is_beside(*a, e))).then_some(2)
    }

    #[test]
    fn what_is_found_is_what_pairs_of_elements_show() {
        let mut rng = fastrand::Rng::with_seed(5);
        let (mut none, mut by_kind) = (0, [0; 3]);
        for _ in 0..20_000 {
            let (threads, sites) = (rng.u32(2..5), rng.u32(1..4));
            let elements: Vec<(u32, u32, Vec<u32>)> = (0..rng.usize(1..ELEMENTS))
                .map(|_| {
                    let (writer, site) = (rng.u32(0..threads), rng.u32(0..sites));
                    let readers = (0..threads).filter(|reader| *reader != writer && rng.u32(0..3) > 0);
                    (writer, site, readers.collect())
                })
                .collect();
            let line: Vec<Written> =
                elements.iter().map(|(writer, site, readers)| (*writer, *site, &readers[..])).collect();
            let found = at_sites(&line);
            for site in 0..sites {
                // A site that writes beside another's is found with it, and a reader's line is not the writer's.
                let of = |f: &&Finding| f.sites[0] == site || f.flags == 0 && f.sites[1] == site;
                let kind = |f: &Finding| if f.flags != 0 { 2 } else { usize::from(f.sites[0] != f.sites[1]) };
                let kinds: Vec<usize> = found.iter().filter(of).map(kind).collect();
                match of_site(site, &line) {
                    Some(expected) => {
                        assert!(kinds.contains(&(expected as usize)), "site {site} of {line:?}: {found:?}");
                        by_kind[expected as usize] += 1;
                    }
                    None => {
                        assert!(kinds.is_empty(), "site {site} of {line:?}: {found:?}");
                        none += 1;
                    }
                }
            }
            assert!(found.len() <= sites as usize, "{line:?}: {found:?}");
        }
        assert!(none > 500 && by_kind.iter().all(|n| *n > 500), "{none} {by_kind:?}");
    }

    #[test]
    fn counters_beside_the_end_of_an_array_are_found_with_each_other() {
        // Thread 3 wrote the array's end, which thread 1 reads; each thread writes its own counter at site 20.
        let line: [Written; 4] = [(3, 10, &[1]), (1, 20, &[]), (2, 20, &[]), (3, 20, &[])];
        let counters = Finding { sites: [20, 20], threads: [1, 2], flags: 0 };
        let array = Finding { sites: [10, 20], threads: [3, 1], flags: 0 };
        assert_eq!(at_sites(&line), [counters, array]);
    }

    #[test]
    fn counters_side_by_side_are_false_sharing() {
        let finding = Finding { sites: [11, 12], threads: [1, 2], flags: 0 };
        assert_eq!(found(&[(1, &[]), (1, &[]), (2, &[]), (3, &[])]), Some(finding));
        // One thread reads all of them at the end.
        assert_eq!(found(&[(1, &[]), (2, &[1]), (3, &[1])]), Some(finding));
    }

    #[test]
    fn elements_that_threads_exchange_are_true_sharing() {
        // Head and tail of a queue, and the border of two blocks whose owners read each other's edge.
        assert_eq!(found(&[(1, &[2]), (2, &[1])]), None);
        assert_eq!(found(&[(1, &[]), (1, &[2]), (2, &[1]), (2, &[])]), None);
        // A flag.
        assert_eq!(found(&[(1, &[2, 3])]), None);
    }

    #[test]
    fn a_line_in_one_state_shares_nothing() {
        for readers in [&[][..], &[2], &[2, 3], &[1, 2]] {
            let state = if readers.is_empty() { 5 } else { SHARED | 5 };
            let line = [Element { state, thread: 1, site: 11, parallel: true, at: 0, readers: None }; ELEMENTS];
            let none = |finding| panic!("{readers:?}: {finding:?}");
            judge(&line, |_, thread| readers.contains(&thread), |_| readers.first().copied(), none);
        }
    }

    #[test]
    fn one_thread_alone_shares_nothing() {
        assert_eq!(found(&[(1, &[]), (1, &[]), (0, &[]), (0, &[])]), None);
        assert_eq!(found(&[(0, &[1, 2]), (0, &[2])]), None);
    }

    #[test]
    fn a_counter_beside_what_others_read_disturbs_them() {
        let finding = Finding { sites: [11, 10], threads: [1, 2], flags: shared_line_flags::OTHER_READS };
        assert_eq!(found(&[(1, &[]), (0, &[2])]), Some(finding));
        // Who reads the writer's elements in the line as well needs it anyway.
        assert_eq!(found(&[(1, &[2]), (0, &[2])]), None);
        assert_eq!(found(&[(1, &[]), (0, &[1])]), None);
    }
}
