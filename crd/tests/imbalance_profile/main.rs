//! From counts and times of a run to sections with causes, tables of regions, kinds and block vectors.

mod handed_out;
mod program;
mod roles;
mod tables;

use program::*;
use threadtalk_crd::imbalance::lime;
use threadtalk_crd::imbalance::profile::model::{Dependent, Imbalance, Section};
use threadtalk_crd::imbalance::profile::observed::*;
use threadtalk_crd::imbalance::profile::{MISS_COST, Options, analyse};
use threadtalk_profile::layout::CounterEvent;

fn of(o: &Observed) -> Imbalance {
    analyse(o, &Options::default())
}

fn lines(section: &Section) -> Vec<(Option<u32>, bool)> {
    section.causes.iter().map(|c| (c.line, c.important())).collect()
}

#[test]
fn an_if_that_one_thread_takes_is_the_cause() {
    let mut o = empty();
    branch(&mut o);
    o.threads = (0..8).collect();
    o.parts = (0..8).map(|t| part(t, 0, &taken(if t == 3 { 10 } else { 0 }, 10))).collect();
    o.parts.iter_mut().for_each(|p| p.cpu_ns = 1000);
    let result = of(&o);
    assert_eq!(result.dependent, Dependent::Work);
    let section = &result.sections[0];
    assert_eq!((section.line, section.end_line, section.threads, section.instances), (Some(1), Some(99), 8, 1));
    // 110 + 1000 against 110 seven times: the mean is 235.
    assert_eq!(section.values, [110.0, 110.0, 110.0, 1110.0, 110.0, 110.0, 110.0, 110.0]);
    assert!((section.imbalance_percent - 100.0 * 875.0 / 1110.0 * 8.0 / 7.0).abs() < 1e-9);
    // 8 us of CPU time for 1880 instructions.
    assert!((section.imbalance_time - 875.0 * 8e-6 / 1880.0).abs() < 1e-15);
    let cause = &section.causes[0];
    assert_eq!((cause.kind, cause.line, &*cause.function), ("control-flow", Some(5), "worker"));
    assert!((cause.score - 1.0).abs() < 1e-9 && cause.p < 1e-6, "{cause:?}");
    assert_eq!(cause.counts, [0.0, 0.0, 0.0, 10.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(section.causes.iter().filter(|c| c.important()).count(), 1);
    assert_eq!(section.kinds, [vec![0, 1, 2, 4, 5, 6, 7], vec![3]]);
    assert_eq!(section.regions.len(), 1);
    assert!((section.regions[0].share - 1.0).abs() < 1e-12);
}

#[test]
fn a_balanced_section_has_no_cause() {
    let mut o = empty();
    branch(&mut o);
    o.threads = (0..8).collect();
    o.parts = (0..8).map(|t| part(t, 0, &taken(4, 10))).collect();
    let section = &of(&o).sections[0];
    assert_eq!((section.imbalance_percent, section.reason), (0.0, Some(lime::Reason::Balanced)));
    assert!(section.causes.is_empty());
}

#[test]
fn a_loop_without_a_condition_before_its_body_is_found_by_its_last_branch() {
    // As optimised: the block is the loop.
    let mut o = empty();
    function(
        &mut o,
        "worker",
        &[(3, 5), (6, 7), (9, 1)],
        &[(OUT, 0, 0), (0, 1, 4), (1, 1, -4), (1, 2, 4), (2, OUT, 0)],
    );
    o.threads = (0..8).collect();
    o.parts = (0..8u32).map(|t| part(t, 0, &[1, 1, [40, 11, 93, 57, 8, 71, 29, 66][t as usize], 1, 1])).collect();
    let section = &of(&o).sections[0];
    assert_eq!(lines(section)[0], (Some(4), true));
    assert!(section.causes[0].score > 0.999);
    assert_eq!(section.causes[0].counts[2], 94.0, "rounds, the first included");
    assert_eq!(section.causes.iter().filter(|c| c.important()).count(), 1);
}

#[test]
fn a_recursive_walk_is_led_by_its_function_and_several_branches_of_a_line_are_one_cause() {
    // worker calls walk; walk: if (line 22) { walk; walk; }
    let mut o = empty();
    let worker = function(&mut o, "worker", &[(3, 5)], &[(OUT, 0, 0), (0, OUT, 0)]);
    let walk = function(
        &mut o,
        "walk",
        &[(21, 6), (23, 9), (26, 1)],
        &[(OUT, 0, 0), (0, 1, 22), (0, 2, 22), (1, 2, 24), (2, OUT, 0)],
    );
    let entry = o.functions[walk as usize].entry;
    o.calls = vec![
        Call { block: o.functions[worker as usize].entry, line: 3, callee: Callee::Function(walk) },
        Call { block: entry + 1, line: 23, callee: Callee::Function(walk) },
        Call { block: entry + 1, line: 24, callee: Callee::Function(walk) },
    ];
    o.threads = (0..8).collect();
    let inner = [3u64, 100, 17, 45, 8, 77, 31, 60];
    // A tree with so many inner nodes has one leaf more, and is entered once from outside.
    let counts = |n: u64| vec![1, 1, 2 * n + 1, n, n + 1, n, 2 * n + 1];
    o.parts = (0..8u32).map(|t| part(t, 0, &counts(inner[t as usize]))).collect();
    let section = &of(&o).sections[0];
    assert_eq!(lines(section), [(Some(22), true)]);
    assert_eq!(&*section.causes[0].function, "walk");
    assert!(section.causes[0].score > 0.999);
}

#[test]
fn instances_weigh_by_what_they_lose_and_by_what_they_stand_for() {
    let mut o = empty();
    branch(&mut o);
    o.threads = (0..8).collect();
    let one = |ordinal: u64, slow: u32, times: u64| {
        (0..8u32).map(move |t| part(t, ordinal, &taken(if t == slow { times } else { 0 }, 10))).collect::<Vec<_>>()
    };
    let mut copies = o.clone();
    o.parts = [one(0, 1, 10), one(1, 2, 5)].concat();
    o.parts[..8].iter_mut().for_each(|p| p.weight = 3.0);
    copies.parts = [one(0, 1, 10), one(1, 2, 5), one(2, 1, 10), one(3, 1, 10)].concat();
    let (thinned, all) = (&of(&o).sections[0], &of(&copies).sections[0]);
    assert_eq!((thinned.instances, thinned.recorded, all.recorded), (4, 2, 4));
    assert_eq!(thinned.values, all.values);
    assert!((thinned.imbalance_percent - all.imbalance_percent).abs() < 1e-9);
    assert!((thinned.causes[0].score - all.causes[0].score).abs() < 1e-9);
    assert_eq!(thinned.causes[0].counts[1..3], [10.0, 5.0]);
}

#[test]
fn a_thread_that_only_creates_the_others_is_not_in_the_team_and_one_that_works_is() {
    let mut o = empty();
    branch(&mut o);
    let worker_edges = o.edges.len() as u32;
    function(&mut o, "main", &[(50, 300)], &[(OUT, 0, 0), (0, OUT, 0)]);
    o.threads = (0..9).collect();
    let mut parts: Vec<Part> = (1..9).map(|t| part(t, 0, &taken(u64::from(t % 2), 10))).collect();
    let mut creator = Part { creator: true, ..part(0, 0, &[]) };
    creator.edges = vec![(worker_edges, 1)];
    parts.push(creator);
    parts.iter_mut().for_each(|p| p.kind = "join");
    o.parts = parts;
    assert_eq!(of(&o).sections[0].team.as_deref(), Some(&[1, 2, 3, 4, 5, 6, 7, 8][..]));
    // It calls worker itself, as many programs do.
    o.parts[8].edges = vec![(0, 10), (1, 4), (2, 6), (3, 4), (4, 10), (worker_edges, 1)];
    assert_eq!(of(&o).sections[0].threads, 9);
}

#[test]
fn small_teams_are_pooled_and_one_instance_of_them_says_nothing() {
    let mut o = empty();
    branch(&mut o);
    o.threads = (0..2).collect();
    let both = |ordinal: u64, slow: u64| {
        [0, 1].map(|t| part(t, ordinal, &taken(if u64::from(t) == slow { 10 } else { 2 }, 10)))
    };
    o.parts = both(0, 0).to_vec();
    assert_eq!(of(&o).sections[0].reason, Some(lime::Reason::TooFewThreads));
    o.parts = (0..12).flat_map(|i| both(i, i % 2)).collect();
    let section = &of(&o).sections[0];
    assert!(section.pooled && section.reason.is_none());
    assert_eq!(lines(section), [(Some(5), true)]);
    assert_eq!(section.causes[0].counts, [72.0, 72.0], "counts, not what they differ by from an instance's mean");
}

#[test]
fn a_thread_whose_data_misses_the_cache_is_told_by_the_line_that_misses() {
    let mut o = empty();
    branch(&mut o);
    o.threads = (0..8).collect();
    o.sites = vec![SiteOf { at: spot(6), region: 1 }];
    let event = |kind, count| SiteEvent { kind, site: 0, count };
    o.parts = (0..8u32)
        .map(|t| {
            let misses = if t == 5 { 400 } else { 3 + u64::from(t) };
            let last = if t == 5 { 390 } else { 0 };
            let events = vec![
                event(EventKind::Access, 1000),
                event(EventKind::FirstLevelMiss, misses),
                event(EventKind::LastLevelMiss, last),
            ];
            Part { events, ..part(t, 0, &taken(4, 10)) }
        })
        .collect();
    let result = of(&o);
    assert_eq!(result.miss_cost, Some(MISS_COST));
    let section = &result.sections[0];
    assert_eq!(section.values[0], 510.0 + 3.0 * MISS_COST[0]);
    assert_eq!((section.causes[0].kind, section.causes[0].line), ("cache-miss", Some(6)));
    assert!(section.causes[0].score > 0.9, "{:?}", section.causes);
    assert!(section.causes[0].counts[5] >= 390.0);
}

/// All threads go the same ways; one has page faults, which take its time.
#[test]
fn what_the_kernel_counted_explains_time_that_no_branch_does() {
    let mut o = empty();
    branch(&mut o);
    o.threads = (0..8).collect();
    let faults = |t: u32| if t == 5 { 5000 } else { 20 + u64::from(t) };
    let counted = |t: u32| {
        vec![
            (CounterEvent::PageFaults, faults(t)),
            (CounterEvent::BranchMisses, 40 + u64::from(t % 3)),
            // Time itself explains nothing, and switches are the machine's.
            (CounterEvent::TaskClock, 1_000_000 + 700 * faults(t)),
            (CounterEvent::ContextSwitches, faults(t)),
        ]
    };
    let noise = |t: u32| u64::from(t * 7919 % 13) * 100;
    o.parts = (0..8u32)
        .map(|t| Part {
            cpu_ns: 1_000_000 + 700 * faults(t) + noise(t),
            counters: counted(t),
            ..part(t, 0, &taken(4, 10))
        })
        .collect();
    let by_time = Options { dependent: Some(Dependent::Time), ..Options::default() };
    let section = &analyse(&o, &by_time).sections[0];
    let causes: Vec<_> = section.causes.iter().filter(|c| c.important()).collect();
    assert_eq!(causes.len(), 1, "{:?}", section.causes);
    // What was counted for the section as a whole is where it begins.
    assert_eq!((causes[0].kind, causes[0].event, causes[0].line), ("counter", "page-faults", Some(1)));
    assert!((causes[0].score - 1.0).abs() < 0.05 && causes[0].counts[5] == 5000.0, "{:?}", causes[0]);

    // Where a branch decides who faults, the branch is the cause, which has a line.
    for (part, t) in o.parts.iter_mut().zip(0u64..) {
        part.edges = program::part(0, 0, &taken(if t == 5 { 9 } else { 4 }, 10)).edges;
    }
    let section = &analyse(&o, &by_time).sections[0];
    assert_eq!((section.causes[0].kind, section.causes[0].line), ("control-flow", Some(5)), "{:?}", section.causes);
    // Executed instructions are what they are.
    assert!(analyse(&o, &Options::default()).sections[0].causes.iter().all(|c| c.kind == "control-flow"));
}

#[test]
fn without_control_flow_the_time_is_compared_and_no_cause_is_sought() {
    let mut o = empty();
    o.threads = (0..4).collect();
    o.parts = (0..4).map(|t| Part { cpu_ns: if t == 0 { 4_000_000 } else { 1_000_000 }, ..part(t, 0, &[]) }).collect();
    let result = of(&o);
    assert_eq!((result.dependent, result.control_flow), (Dependent::Time, false));
    let section = &result.sections[0];
    // Maximum 4, mean 1.75.
    assert!((section.imbalance_time - 0.00225).abs() < 1e-12);
    assert!((section.imbalance_percent - 75.0).abs() < 1e-9);
    assert!(section.causes.is_empty() && result.parallelism.is_none());
}

#[test]
fn entries_that_no_known_call_accounts_for_come_from_the_only_place_that_creates_threads() {
    // Tasks: each thread runs `task` as often as it is given one.
    let mut o = empty();
    function(&mut o, "main", &[(50, 3)], &[(OUT, 0, 0), (0, OUT, 0)]);
    let task = function(&mut o, "task", &[(60, 70)], &[(OUT, 0, 0), (0, OUT, 0)]);
    o.calls = vec![Call { block: 0, line: 52, callee: Callee::Fork(task) }];
    o.threads = (0..8).collect();
    o.parts = (0..8u32).map(|t| part(t, 0, &[0, 0, [9, 3, 27, 14, 5, 21, 2, 11][t as usize]])).collect();
    let section = &of(&o).sections[0];
    assert_eq!(lines(section), [(Some(52), true)]);
    o.calls.clear();
    assert_eq!(lines(&of(&o).sections[0]), [(Some(60), true)]);
}

#[test]
fn a_section_with_others_inside_is_told_apart() {
    let mut o = empty();
    branch(&mut o);
    o.threads = (0..8).collect();
    // From creation to join, and in it two phases between barriers: what one phase has too much the other has too
    // little.
    let phase = |ordinal: u64, slow: u32| {
        (0..8).map(move |t| Part {
            begin_ns: 100 + 1000 * ordinal,
            wall_ns: 900,
            ..part(t, ordinal, &taken(if t % 2 == slow { 9 } else { 0 }, 10))
        })
    };
    let all = |t| Part { begin_ns: 50, wall_ns: 2500, kind: "join", end: spot(120), ..part(t, 0, &taken(9, 20)) };
    o.parts = phase(0, 0).chain(phase(1, 1)).chain((0..8).map(all)).collect();
    let sections = of(&o).sections;
    let told: Vec<(&str, bool, u64)> = sections.iter().map(|s| (s.kind, s.encloses, s.instances)).collect();
    assert_eq!(told, [("barrier", false, 2), ("join", true, 1)]);
    assert_eq!((sections[1].imbalance_percent, sections[1].causes.len()), (0.0, 0));
    assert!(sections[0].imbalance_percent > 40.0);
}

#[test]
fn how_threads_were_counted_is_read_from_the_runs_options() {
    use threadtalk_profile::{Profile, write::Contents};
    let counting = |meta: Vec<(String, String)>| {
        let bytes = Contents { meta, ..Contents::default() }.encode();
        Observed::of(&Profile::from_bytes(&bytes).unwrap()).counting
    };
    let option = |value: &str| vec![("option.parallelism".to_owned(), value.to_owned())];
    assert_eq!(counting(option("effective")), Counting::Effective);
    assert_eq!(counting(option("nominal")), Counting::Nominal);
    assert_eq!(counting(Vec::new()), Counting::Nominal);
}
