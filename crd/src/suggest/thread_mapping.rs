//! Thread mapping: threads talk to few partners, or all to one, or reuse very unevenly, so that it matters who runs
//! beside whom.

use std::collections::BTreeMap;
use threadtalk_profile::{Event, Profile};

use super::{Case, Rule, Threshold, evidence, span, start};
use crate::model::{Lowers, Means, Measures, Suggestion, SuggestionKind};
use crate::threads::{companions, lived_together};

pub(super) const RULE: Rule = Rule {
    name: "thread-mapping",
    thresholds: &[
        Threshold { name: "threads", default: 4.0, meaning: "least number of threads: fewer have no choice" },
        Threshold {
            name: "partners",
            default: 0.6,
            meaning: "part of a thread's communication that is with its two closest partners",
        },
        Threshold {
            name: "uneven",
            default: 1.5,
            meaning: "how many times that part must exceed the one of even communication",
        },
        Threshold {
            name: "travels",
            default: 0.05,
            meaning: "part of the events that leave the reader's nearest cache: true communication, and reuse that misses it; for uneven reuse that alone",
        },
        Threshold {
            name: "run",
            default: 0.005,
            meaning: "part of the run's CPU time that fetching what travels can cost at most, at 100 ns for each element: of less no placement \
                      saves anything that can be measured",
        },
        Threshold {
            name: "hub",
            default: 0.9,
            meaning: "part of the communication that one thread has with all others",
        },
        Threshold {
            name: "reuse",
            default: 1.0,
            meaning: "reuses for each true communication, around a hub and for uneven reuse: what is read once is fetched anyhow",
        },
        Threshold {
            name: "heterogeneity",
            default: 1.0,
            meaning: "standard deviation of the pairs' reuse ratios, as a multiple of their mean",
        },
    ],
    find,
};

/// What it takes to fetch a value from a cache that is far away.
const FETCH_NS: f64 = 100.0;

fn find(case: &Case<'_>) -> Option<Suggestion> {
    let counts = case.counts()?;
    if !case.is_significant() || counts.raw.is_zero() {
        return None;
    }
    // What a thread's own cache holds stays there wherever the thread runs.
    let misses =
        counts.own.crd.as_ref().and_then(|crd| crd.cutoffs.first()).map_or(0.0, |nearest| nearest.definite_miss);
    let (raw, rar) = case.all_uses();
    let travels = (raw + rar * misses) / (raw + rar);
    if travels < case.threshold(&RULE, "travels") {
        return None;
    }
    let cpu_ns = case.facts.profile.header().cpu_ns.map_or(0.0, |ns| ns as f64);
    if (raw + rar * misses) * FETCH_NS < case.threshold(&RULE, "run") * cpu_ns {
        return None;
    }
    let traffic = |e: &Event| {
        let (first, again) = case.uses(e);
        first + again * misses
    };
    // What one thread wrote before the others existed, or that had ended, says nothing of who belongs together, but
    // much of who is near the data.
    let all = Pairs::of(case.events, traffic);
    let is_among = |e: &&Event| !e.is_serial() && lived_together(case.facts.profile, e.writer, e.reader);
    let among = Pairs::of(case.events.iter().filter(is_among), traffic);
    let least = case.threshold(&RULE, "threads");
    let least_of_hub = case.threshold(&RULE, "hub");
    let around = among.centre(least_of_hub);
    let (partners, even) = among.partners(case.facts.profile, around);
    let heterogeneity = variation(&counts.own, &case.region.threads, case.facts.profile);
    let (centre, hub) = all.hub()?;
    let reuse = rar / raw.max(1.0);
    let is_used_again = reuse >= case.threshold(&RULE, "reuse");
    let few = among.threads.len() as f64 >= least
        && partners >= case.threshold(&RULE, "partners")
        && exceeds(partners, even, case.threshold(&RULE, "uneven"))
        && (is_used_again || around.is_none());
    let reuse_travels = rar * misses / (raw + rar) >= case.threshold(&RULE, "travels");
    let uneven = among.threads.len() as f64 >= least
        && is_used_again
        && reuse_travels
        && heterogeneity >= case.threshold(&RULE, "heterogeneity");
    let star = all.threads.len() as f64 >= least && is_used_again && hub >= least_of_hub;
    let count = all.threads.len();
    let (why, then) = if few {
        let share = 100.0 * partners;
        (format!("{share:.0} % of each thread's communication is with one or two others of {count}"), BESIDE)
    } else if star {
        let share = 100.0 * hub;
        (format!("{share:.0} % of what passes between {count} threads comes from or goes to thread {centre}"), AROUND)
    } else if uneven {
        let why = format!(
            "reuse differs much between the pairs of {count} threads (the ratios' standard deviation is {heterogeneity:.1} times their mean)"
        );
        (why, BESIDE)
    } else {
        return None;
    };
    Some(Suggestion {
        rule: RULE.name.to_owned(),
        kind: SuggestionKind::Thread,
        means: Means::RunTime,
        text: format!("Thread mapping: at {} {why}. {then}: `threadtalk map` computes a placement.", span(case.region)),
        evidence: evidence([
            ("threads", count as f64),
            ("travels", travels),
            ("partners", partners),
            ("even", even),
            ("hub", hub),
            ("reuse", reuse),
            ("heterogeneity", heterogeneity),
            ("homogeneity", counts.own.homogeneity),
            ("balance", counts.own.balance),
        ]),
        promise: case.promise(Lowers::PlacementCost),
        lines: vec![start(case.region)],
    })
}

const BESIDE: &str = "Place threads that talk to each other on processors that share a cache";
const AROUND: &str = "Keep all of them in one package, beside its memory, instead of spread over several";

/// How much passes between two threads, in either direction.
struct Pairs {
    /// For each thread and each of its partners.
    threads: BTreeMap<u32, BTreeMap<u32, f64>>,
}

impl Pairs {
    fn of<'e>(events: impl IntoIterator<Item = &'e Event>, traffic: impl Fn(&Event) -> f64) -> Self {
        let volume = |e: &Event| (e.writer.min(e.reader), e.writer.max(e.reader), traffic(e));
        let mut volumes: Vec<(u32, u32, f64)> = events.into_iter().map(volume).collect();
        // Sums of numbers with a fraction depend on the order, and that of a profile's events means nothing.
        volumes.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        let mut threads: BTreeMap<u32, BTreeMap<u32, f64>> = BTreeMap::new();
        for pair in volumes.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (a, b, sum) = (pair[0].0, pair[0].1, pair.iter().map(|(_, _, volume)| volume).sum());
            threads.entry(a).or_default().insert(b, sum);
            threads.entry(b).or_default().insert(a, sum);
        }
        Self { threads }
    }

    /// Each pair twice.
    fn sum(&self) -> f64 {
        self.threads.values().flat_map(BTreeMap::values).sum()
    }

    /// The part of its communication that a thread has with its two closest partners, and what it would be if it were
    /// the same with all threads that it lived with. Where all communication is around one thread, the others have no
    /// other partner: then that of the centre alone.
    fn partners(&self, profile: &Profile, centre: Option<u32>) -> (f64, f64) {
        let (mut closest, mut even, mut sum) = (0.0, 0.0, 0.0);
        let others = companions(profile, &self.threads.keys().copied().collect::<Vec<_>>());
        let each = self.threads.iter().zip(others);
        for ((_, partners), others) in each.filter(|((id, _), _)| centre.is_none_or(|centre| centre == **id)) {
            let mut volumes: Vec<f64> = partners.values().copied().collect();
            volumes.sort_unstable_by(|a, b| b.total_cmp(a));
            let all = volumes.iter().sum::<f64>();
            closest += volumes.iter().take(2).sum::<f64>();
            even += all * (2.0 / others as f64).min(1.0);
            sum += all;
        }
        (closest / sum.max(1.0), even / sum.max(1.0))
    }

    /// The thread that has so large a part of all communication.
    fn centre(&self, least: f64) -> Option<u32> {
        self.hub().filter(|(_, part)| *part >= least).map(|(centre, _)| centre)
    }

    /// The thread with the most communication, and its part of all.
    fn hub(&self) -> Option<(u32, f64)> {
        let sums = self.threads.iter().map(|(thread, partners)| (*thread, partners.values().sum::<f64>()));
        let (thread, most) = sums.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
        Some((thread, 2.0 * most / self.sum().max(1.0)))
    }
}

/// Of four threads a thread's two closest are 1.5 times the even part only if they are all: a few words with the third,
/// such as where work begins, are none.
const NEARLY_ALL: f64 = 0.99;

/// Whether a part is so many times the even one, or nearly all.
fn exceeds(part: f64, even: f64, times: f64) -> bool {
    part >= (even * times).min(NEARLY_ALL)
}

/// Coefficient of variation of the reuse ratios of all pairs that lived together. The homogeneity of equation 1 has the
/// diagonal in it, which is 0 by definition: of ratios that are all equal it leaves a variance that depends on the
/// number of threads.
fn variation(measures: &Measures, threads: &[u32], profile: &Profile) -> f64 {
    let pairs = companions(profile, threads).into_iter().sum::<usize>() as f64;
    let is_pair = |a: u32, b: u32| a != b && lived_together(profile, a, b);
    let id = |at: u32| threads.get(at as usize).copied();
    let is_counted = |writer: u32, reader: u32| id(writer).zip(id(reader)).is_some_and(|(a, b)| is_pair(a, b));
    let ratios = measures.crr.entries().filter(|e| is_counted(e.writer, e.reader)).map(|e| e.value);
    let (sum, squares) = ratios.fold((0.0, 0.0), |(sum, squares), r| (sum + r, squares + r * r));
    if pairs == 0.0 || sum == 0.0 {
        return 0.0;
    }
    let mean = sum / pairs;
    (squares / pairs - mean * mean).max(0.0).sqrt() / mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadtalk_profile::Thread;
    use threadtalk_profile::write::Contents;

    /// Closest and even parts of pairs of threads, which exchange so much; of each thread begin and end.
    fn partners_of(pairs: &[(u32, u32, u64)], lives: &[(u64, u64)], hub: f64) -> (f64, f64) {
        let threads = lives.iter().zip(0..).map(|(&(start_ns, end), id)| {
            let end_ns = Some(end);
            Thread { id, start_ns, end_ns, ended: true, ..Thread::default() }
        });
        let contents = Contents { threads: threads.collect(), ..Contents::default() };
        let profile = Profile::from_bytes(&contents.encode()).unwrap();
        let events = pairs.iter().map(|&(writer, reader, raw)| Event { writer, reader, raw, ..Event::default() });
        let events: Vec<Event> = events.collect();
        let pairs = Pairs::of(&events, |e| e.raw as f64);
        pairs.partners(&profile, pairs.centre(hub))
    }

    /// The same of pairs that exchange alike.
    fn partners(pairs: &[(u32, u32)], lives: &[(u64, u64)]) -> (f64, f64) {
        let alike: Vec<_> = pairs.iter().map(|&(writer, reader)| (writer, reader, 10)).collect();
        partners_of(&alike, lives, 0.9)
    }

    #[test]
    fn threads_of_another_round_are_no_choice() {
        let round = |first: u32| (first..first + 4).flat_map(move |a| (a + 1..first + 4).map(move |b| (a, b)));
        let pairs: Vec<_> = round(0).chain(round(4)).collect();
        let lives = |second| [[(1, 10); 4], [second; 4]].concat();
        let part = |number: f64| (number * 1000.0).round();
        let (closest, even) = partners(&pairs, &lives((10, 20)));
        assert_eq!([part(closest), part(even)], [667.0, 667.0]);
        let (closest, even) = partners(&pairs, &lives((1, 10)));
        assert_eq!([part(closest), part(even)], [667.0, 286.0]);
    }

    #[test]
    fn four_threads_in_a_row_are_told() {
        let row = |third: u64| {
            let pairs = [(0, 1, 257_311), (1, 2, 190_021), (2, 3, 1_003), (0, 2, third), (0, 3, third)];
            let (closest, even) = partners_of(&pairs, &[(1, 9); 4], 1.1);
            exceeds(closest, even, 1.5)
        };
        assert!(row(0) && row(7));
        assert!(!row(50_000));
        assert!(!exceeds(2.0 / 3.0, 2.0 / 3.0, 1.5), "all with all");
    }

    #[test]
    fn around_a_hub_the_hubs_partners_tell() {
        assert_eq!(partners(&[(0, 5), (1, 5), (2, 5), (3, 5), (4, 5)], &[(1, 9); 6]), (0.4, 0.4));
    }
}
