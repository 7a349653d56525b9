//! What changed from one profile to another, and what is made of it.

mod profiles;

use profiles::{event, module, report};
use threadtalk_abi::module::RegionKind;
use threadtalk_crd::compare::{CompareOptions, Comparison, Condition, Effect, Metric, Verdict, compare};
use threadtalk_crd::machine::Cache;
use threadtalk_crd::model::Report;
use threadtalk_crd::{Options, RegionFilter};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Event, Histogram, Thread, Trace};

/// `f` with these events and distances between threads 0 and 1, `g` with 100 events, `idle` without any.
fn run(f: &[Event], distances: &[u64], threads: u32) -> Report {
    let mut events = f.to_vec();
    events.push(event(2, 0, 1, 100, 100));
    let trace = Trace {
        writer: 0,
        reader: 1,
        region: 1,
        exact_usages: distances.len() as u64,
        exact_elements: 1,
        index: Histogram::of(distances.iter().copied()),
        distinct: Histogram::of(distances.iter().copied()),
        ..Trace::default()
    };
    let contents = Contents {
        modules: vec![module(&[("f", None), ("g", None), ("idle", None)])],
        events,
        traces: if distances.is_empty() { Vec::new() } else { vec![trace] },
        threads: (0..threads).map(|id| Thread { id, ..Thread::default() }).collect(),
        ..Contents::default()
    };
    let caches = vec![Cache { level: 1, bytes: 400, shared_by: 1 }, Cache { level: 2, bytes: 4000, shared_by: 2 }];
    report(&contents, &Options { caches, ..Options::default() })
}

fn f(raw: u64, rar: u64) -> Vec<Event> {
    vec![event(1, 0, 1, raw, rar), event(1, 1, 0, raw, rar)]
}

fn compared(base: &Report, new: &Report) -> Comparison {
    compare(base, new, &CompareOptions::default())
}

#[track_caller]
fn of_f(comparison: &Comparison) -> (Verdict, Vec<(String, Effect)>) {
    let change = comparison.regions.iter().find(|region| region.name == "f").unwrap();
    (change.judged.verdict, change.judged.reasons.iter().map(|r| (r.metric.name(), r.effect)).collect())
}

#[test]
fn a_profile_is_the_same_as_itself() {
    let one = run(&f(500, 700), &[3, 50, 2000], 2);
    let comparison = compared(&one, &one);
    assert_eq!(comparison.program.judged.verdict, Verdict::Same);
    assert!(comparison.regions.iter().all(|r| r.judged.verdict == Verdict::Same && r.judged.reasons.is_empty()));
    let names: Vec<&str> = comparison.regions.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["f", "g"], "the busiest first, and not the one without events");
    let delta = &comparison.regions[0].judged.delta;
    assert!(delta.metrics().all(|metric| delta.get(metric).is_none_or(|d| d == 0.0)));
    assert!(comparison.regions[0].matrices.as_ref().unwrap().raw.is_zero());
    assert!(comparison.unmatched.base.is_empty() && comparison.unmatched.new.is_empty() && comparison.notes.is_empty());
}

#[test]
fn less_communication_at_shorter_distances_is_better_and_back_is_worse() {
    let slow = run(&f(1000, 1000), &[500; 20], 2);
    let fast = run(&f(600, 600), &[20; 20], 2);
    let names = ["raw", "crd_median", "crd_p90", "definite_miss_l1"].map(str::to_string);
    let reasons = |effect| names.clone().map(|name| (name, effect)).to_vec();
    let forth = compared(&slow, &fast);
    assert_eq!(of_f(&forth), (Verdict::Better, reasons(Effect::Better)));
    let (delta, change) = (&forth.regions[0].judged.delta, &forth.regions[0].judged.change);
    assert_eq!((delta.get(Metric::Raw), change.get(Metric::Raw)), (Some(-800.0), Some(-0.4)));
    assert_eq!(delta.get(Metric::DefiniteMiss(Some(1))), Some(-1.0));
    // 500 elements of 4 bytes are beyond 400 and below 4000 bytes.
    assert_eq!(forth.regions[0].base.figures.get(Metric::DefiniteMiss(Some(2))), Some(0.0));
    assert_eq!(forth.regions[0].matrices.as_ref().unwrap().raw.dense(), [[0, -400], [-400, 0]]);
    assert_eq!(of_f(&compared(&fast, &slow)), (Verdict::Worse, reasons(Effect::Worse)));
}

#[test]
fn some_better_and_some_worse_is_mixed() {
    let base = run(&f(1000, 1000), &[], 2);
    let new = run(&[event(1, 0, 1, 800, 800)], &[], 2);
    let (verdict, reasons) = of_f(&compared(&base, &new));
    assert_eq!(verdict, Verdict::Mixed);
    // All reuse is that of one row of two now: twice the mean.
    assert!(reasons.contains(&("raw".to_string(), Effect::Better)));
    assert!(reasons.contains(&("balance".to_string(), Effect::Worse)));
}

#[test]
fn all_pairs_alike_by_another_factor_are_no_less_alike() {
    let uneven = |factor: u64| vec![event(1, 0, 1, 1000, 1000 * factor), event(1, 1, 0, 1000, 4000 * factor)];
    let comparison = compared(&run(&uneven(1), &[], 2), &run(&uneven(3), &[], 2));
    let change = &comparison.regions[0].judged.change;
    assert!((change.get(Metric::Homogeneity).unwrap() - 8.0).abs() < 1e-9, "nine times as large");
    assert_eq!(of_f(&comparison), (Verdict::Same, Vec::new()));
    // Less alike at the same largest ratio is worse.
    let even = vec![event(1, 0, 1, 1000, 4000), event(1, 1, 0, 1000, 4000)];
    let (verdict, reasons) = of_f(&compared(&run(&uneven(1), &[], 2), &run(&even, &[], 2)));
    assert_eq!(
        (verdict, &reasons[..]),
        (Verdict::Mixed, &[("homogeneity".to_string(), Effect::Worse), ("balance".to_string(), Effect::Better),][..])
    );
}

#[test]
fn noise_is_what_the_caller_says_it_is() {
    let (base, new) = (run(&f(1000, 0), &[], 2), run(&f(1060, 0), &[], 2));
    let verdict = |noise| of_f(&compare(&base, &new, &CompareOptions { noise, region: None })).0;
    assert_eq!((verdict(0.05), verdict(0.07)), (Verdict::Worse, Verdict::Same));
}

#[test]
fn a_handful_of_events_says_nothing() {
    let (base, new) = (run(&f(1, 1), &[], 2), run(&[event(1, 0, 1, 7, 7)], &[], 2));
    assert_eq!(of_f(&compared(&base, &new)), (Verdict::Same, Vec::new()));
}

#[test]
fn what_came_out_of_nothing_has_a_difference_and_no_relation() {
    let (base, new) = (run(&[], &[], 2), run(&f(50, 0), &[], 2));
    let comparison = compared(&base, &new);
    let change = comparison.regions.iter().find(|r| r.name == "f").unwrap();
    assert_eq!(change.judged.verdict, Verdict::Worse);
    assert_eq!((change.judged.delta.get(Metric::Raw), change.judged.change.get(Metric::Raw)), (Some(100.0), None));
    // Without an event there was no ratio.
    assert_eq!(change.base.figures.get(Metric::Balance), None);
    assert!(change.matrices.is_none());
}

#[test]
fn other_numbers_of_threads_leave_totals() {
    let (base, new) = (run(&f(100, 0), &[], 2), run(&[f(100, 0), vec![event(1, 2, 1, 5, 0)]].concat(), &[], 3));
    let comparison = compared(&base, &new);
    let f = comparison.regions.iter().find(|r| r.name == "f").unwrap();
    assert!(f.matrices.is_none());
    assert!(f.judged.reasons.is_empty(), "balance changed with the number of threads: {:?}", f.judged.reasons);
    assert_ne!(f.judged.delta.get(Metric::Homogeneity), None);
    assert_eq!((f.base.threads, f.new.threads, f.judged.delta.get(Metric::Raw)), (2, 3, Some(5.0)));
    assert!(
        comparison.notes[0].starts_with("2 threads in base and 3 in new: totals compare"),
        "{:?}",
        comparison.notes
    );
}

#[test]
fn differences_of_the_recording_are_noted() {
    let base = run(&f(100, 0), &[], 2);
    let mut new = base.clone();
    (new.options.granule, new.options.crd, new.options.mode) = (8, "off", "nothing");
    (new.accuracy.estimated_false_rate, new.accuracy.dropped_full) = (0.2, 9);
    (new.ended, new.program.exit_status) = (threadtalk_crd::model::Ended::Abnormally, None);
    let notes = compared(&base, &new).notes.join("\n");
    for words in [
        "elements of 4 bytes in base and 8 in new",
        "and off in new",
        "and new in nothing mode",
        "up to 20 % of the events of new may be false",
        "9 events of new had no room",
        "new ended abnormally",
    ] {
        assert!(notes.contains(words), "`{words}` is not in:\n{notes}");
    }
    new.program.exit_status = Some(0);
    let notes = compared(&base, &new).notes.join("\n");
    assert!(!notes.contains("ended"), "it left by _exit:\n{notes}");
}

#[test]
fn what_sampling_may_have_made_of_distances_is_no_change() {
    // 2 % of the usages are followed: 40 of 100 samples are beyond the first cache, and in another run 48.
    let run = |long: usize, samples: u64| {
        let distances = |n: usize| (0..100).map(move |i| if i < n { 500 } else { 20 });
        let trace = Trace {
            writer: 0,
            reader: 1,
            region: 1,
            samples,
            sampled: Histogram::of(distances(long)),
            ..Trace::default()
        };
        let contents = Contents {
            modules: vec![module(&[("f", None), ("g", None), ("idle", None)])],
            events: f(5000, 5000),
            traces: vec![trace],
            threads: (0..2).map(|id| Thread { id, ..Thread::default() }).collect(),
            ..Contents::default()
        };
        let caches = vec![Cache { level: 1, bytes: 400, shared_by: 1 }];
        report(&contents, &Options { caches, ..Options::default() })
    };
    let (base, new) = (run(40, 100), run(48, 100));
    let comparison = compared(&base, &new);
    let f = comparison.regions.iter().find(|r| r.name == "f").unwrap();
    let change = f.judged.change.get(Metric::DefiniteMiss(Some(1))).unwrap();
    assert!((change - 0.2).abs() < 0.1, "a fifth more misses: {change}");
    assert_eq!((f.judged.verdict, &f.judged.reasons[..]), (Verdict::Same, &[][..]));
    assert!(f.judged.by_chance.contains(&Metric::DefiniteMiss(Some(1))), "{:?}", f.judged.by_chance);
    let conditions = Condition::parse("definite_miss>+10%,definite_miss>+0.05,crd_p90>+1%").unwrap();
    assert_eq!(comparison.check(&conditions, true).failures, []);
    // A limit of the value itself is about what was found.
    let conditions = Condition::parse("definite_miss>0.45").unwrap();
    assert!(!comparison.check(&conditions, true).failures.is_empty());
    // Beyond the error it is a change: all are long now.
    assert_eq!(of_f(&compared(&base, &run(100, 100))).0, Verdict::Worse);
}

#[test]
fn within_a_cache_line_distances_are_all_alike() {
    let verdict =
        |distance: u64| of_f(&compared(&run(&f(500, 700), &[1; 40], 2), &run(&f(500, 700), &[distance; 40], 2))).0;
    assert_eq!((verdict(2), verdict(16), verdict(17)), (Verdict::Same, Verdict::Same, Verdict::Worse));
}

#[test]
fn evenness_of_a_few_communications_for_each_thread_is_not_judged() {
    let talk = |raw: u64, factor: u64| vec![event(1, 0, 1, raw, factor * raw), event(1, 1, 0, raw, raw)];
    assert_eq!(of_f(&compared(&run(&talk(13, 1), &[], 2), &run(&talk(13, 3), &[], 2))).0, Verdict::Same);
    let reasons = of_f(&compared(&run(&talk(60, 1), &[], 2), &run(&talk(60, 3), &[], 2))).1;
    assert!(reasons.contains(&("balance".to_string(), Effect::Worse)), "{reasons:?}");
}

#[test]
fn a_filter_chooses_pairs_and_unmatched_regions() {
    let mut base = run(&f(100, 0), &[], 2);
    let new = base.clone();
    base.regions[3].name = "busy".to_string();
    base.regions[3].kind = RegionKind::User;
    let filtered = |name| {
        let options = CompareOptions { region: Some(RegionFilter::new(name)), ..CompareOptions::default() };
        let comparison = compare(&base, &new, &options);
        let names = |sides: &[threadtalk_crd::compare::Side]| sides.iter().map(|s| s.name.clone()).collect::<Vec<_>>();
        (comparison.regions.len(), names(&comparison.unmatched.base), names(&comparison.unmatched.new))
    };
    assert_eq!(filtered("g"), (1, vec![], vec![]));
    assert_eq!(filtered("busy"), (0, vec!["busy".to_string()], vec![]));
    assert_eq!(filtered("idle"), (0, vec![], vec!["idle".to_string()]));
}

#[test]
fn conditions_hold_where_they_are_broken() {
    let (base, new) = (run(&f(1000, 0), &[], 2), run(&f(1300, 0), &[], 2));
    let comparison = compared(&base, &new);
    let check = |list: &str| {
        let conditions = Condition::parse(list).unwrap();
        let checked = comparison.check(&conditions, true);
        let at = |region: Option<usize>| region.map_or("program", |index| &comparison.regions[index].name).to_string();
        let failures: Vec<String> =
            checked.failures.iter().map(|f| format!("{} {}", at(f.region), f.condition)).collect();
        (failures, checked.unmeasured.iter().map(|c| c.to_string()).collect::<Vec<_>>())
    };
    let both = |c: &str| (vec![format!("program {c}"), format!("f {c}")], vec![]);
    assert_eq!(check("raw>+10%"), both("raw>+10%"));
    assert_eq!(check("raw>+30%"), (vec![], vec![]), "the limit itself is no failure");
    assert_eq!(check("raw>+599"), both("raw>+599"));
    assert_eq!(check("raw>2650"), (vec!["program raw>2650".to_string()], vec![]), "g's 100 events count there");
    assert_eq!(check("rar<-5%"), (vec![], vec![]));
    assert_eq!(check("crd_median>+1%"), (vec![], vec!["crd_median>+1%".to_string()]));
    // Without the program, as with a filter.
    let conditions = Condition::parse("raw>+10%").unwrap();
    assert_eq!(comparison.check(&conditions, false).failures.len(), 1);
}
