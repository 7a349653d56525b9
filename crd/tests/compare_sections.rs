//! Parallel sections of two profiles: which belong together, what changed, and whether promises about them were kept.

mod profiles;

use profiles::{event, module, report};
use threadtalk_crd::Options;
use threadtalk_crd::compare::{CompareOptions, Comparison, Condition, Metric, SectionChange, Verdict, compare};
use threadtalk_crd::imbalance::profile::model::{Cause, Section, Taken};
use threadtalk_crd::imbalance::profile::observed::HandedOut;
use threadtalk_crd::model::{Lowers, Means, Position, Promise, Report, Suggestion, SuggestionKind};
use threadtalk_profile::write::Contents;

/// A section that begins and ends at a line of a function; `values` are the instructions of each thread, a billion a
/// second.
fn section(function: &str, line: u32, values: &[f64]) -> Section {
    let threads = values.len() as f64;
    let (most, mean) = (values.iter().copied().fold(0.0, f64::max), values.iter().sum::<f64>() / threads);
    Section {
        file: Some("a.c".into()),
        line: Some(line),
        function: function.into(),
        end_file: Some("a.c".into()),
        end_line: Some(line),
        kind: "barrier",
        runs: Vec::new(),
        encloses: false,
        holds: Vec::new(),
        instances: 1,
        recorded: 1,
        threads: values.len(),
        team: None,
        imbalance_percent: 100.0 * (most - mean) / most * threads / (threads - 1.0),
        imbalance_time: (most - mean) * 1e-9,
        values: values.to_vec(),
        cpu: values.iter().map(|v| v * 1e-9).collect(),
        waited: vec![0.0; values.len()],
        kinds: Vec::new(),
        handed_out: HandedOut::Nothing,
        uninstrumented: false,
        arrived_together: false,
        taken: None,
        reason: None,
        predictors: 0,
        pooled: false,
        causes: Vec::new(),
        regions: Vec::new(),
    }
}

/// A profile with these functions, the one at index i at line 10 (i + 1), and these sections.
fn run(functions: &[&str], sections: Option<Vec<Section>>) -> Report {
    let regions: Vec<_> = functions.iter().map(|name| (*name, None)).collect();
    let contents =
        Contents { modules: vec![module(&regions)], events: vec![event(1, 0, 1, 100, 100)], ..Contents::default() };
    Report { sections, ..report(&contents, &Options::default()) }
}

fn compared(base: &Report, new: &Report) -> Comparison {
    compare(base, new, &CompareOptions::default())
}

/// Lines on both sides; 0 = none.
fn lines(changes: &[SectionChange]) -> Vec<(u32, u32)> {
    let line = |side: &Option<_>| side.as_ref().map_or(0, |s: &threadtalk_crd::compare::SectionSide| s.line.unwrap());
    let mut lines: Vec<_> = changes.iter().map(|c| (line(&c.base), line(&c.new))).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn sections_are_found_again_where_their_function_went() {
    let even = |function: &str, line| section(function, line, &[5.0, 5.0]);
    // `solve` moves from line 10 to 30, `sweep` from 20 to 40 with another name, and has one more section.
    let base = run(&["solve", "sweep"], Some(vec![even("solve", 13), even("sweep", 22), even("sweep", 26)]));
    let new = vec![even("solve", 34), even("relax", 42), even("relax", 44), even("relax", 47)];
    let new = run(&["first", "second", "solve", "relax"], Some(new));
    let changes = compared(&base, &new).sections;
    assert_eq!(lines(&changes), [(0, 44), (13, 34), (22, 42), (26, 47)]);
    let added = changes.iter().find(|c| c.base.is_none()).unwrap();
    assert_eq!((added.delta, added.verdict, &*added.function), (None, None, "relax"));
    let fewer = run(&["first", "second", "solve", "relax"], Some(vec![even("relax", 47)]));
    assert_eq!(lines(&compared(&new, &fewer).sections), [(34, 0), (42, 0), (44, 0), (47, 47)]);
}

#[test]
fn another_end_or_others_inside_is_another_section() {
    let base = section("solve", 12, &[5.0, 5.0]);
    let (joined, outer) = (Section { kind: "join", ..base.clone() }, Section { encloses: true, ..base.clone() });
    for other in [joined, outer] {
        let changes =
            compared(&run(&["solve"], Some(vec![base.clone()])), &run(&["solve"], Some(vec![other]))).sections;
        assert_eq!(lines(&changes), [(0, 12), (12, 0)]);
    }
}

#[test]
fn the_verdict_is_that_of_the_percentage() {
    let change = |before: &[f64], after: &[f64]| {
        let of = |values| run(&["solve"], Some(vec![section("solve", 12, values)]));
        let comparison = compared(&of(before), &of(after));
        let program = comparison.program.judged;
        assert_eq!(Some(program.verdict), comparison.sections[0].verdict, "one section is the whole program");
        (comparison.sections[0].delta.unwrap().round(), program.verdict)
    };
    assert_eq!(change(&[10.0, 0.0], &[10.0, 10.0]), (-100.0, Verdict::Better));
    assert_eq!(change(&[10.0, 5.0], &[10.0, 0.0]), (50.0, Verdict::Worse));
    // Twice the work, divided as before.
    assert_eq!(change(&[10.0, 5.0], &[20.0, 10.0]), (0.0, Verdict::Same));
    // Below a point it is noise, whatever its relation.
    assert_eq!(change(&[1000.0, 995.0], &[1000.0, 1000.0]), (-1.0, Verdict::Same));
}

#[test]
fn work_that_threads_take_as_they_go_counts_as_even() {
    let shared_out = section("solve", 12, &[10.0, 0.0]);
    let taken = Taken { file: Some("a.c".into()), line: Some(13), pieces: 4000 };
    let taken = Section { taken: Some(taken), ..section("solve", 12, &[8.0, 2.0]) };
    let together = Section { arrived_together: true, ..section("solve", 12, &[8.0, 2.0]) };
    for new in [taken, together] {
        let comparison = compared(&run(&["solve"], Some(vec![shared_out.clone()])), &run(&["solve"], Some(vec![new])));
        let change = &comparison.sections[0];
        assert_eq!((change.delta, change.verdict), (Some(-100.0), Some(Verdict::Better)));
        assert_eq!(comparison.program.judged.verdict, Verdict::Better);
        let side = change.new.as_ref().unwrap();
        assert_eq!((side.imbalance_percent, side.imbalance_time, &side.values[..]), (0.0, 0.0, &[8.0, 2.0][..]));
    }
}

#[test]
fn one_run_that_saw_threads_come_together_tells_of_both_unless_the_other_is_less_even() {
    let of = |values: &[f64], arrived_together| {
        run(&["solve"], Some(vec![Section { arrived_together, ..section("solve", 12, values) }]))
    };
    let (together, late, less) = (of(&[10.0, 6.0], true), of(&[10.0, 5.9], false), of(&[10.0, 8.0], false));
    for (base, new) in [(&together, &late), (&late, &together), (&together, &less)] {
        let comparison = compared(base, new);
        let change = &comparison.sections[0];
        assert_eq!((change.delta, change.verdict), (Some(0.0), Some(Verdict::Same)));
        assert_eq!(comparison.program.judged.verdict, Verdict::Same);
    }
    // Divided less evenly, it is another program.
    assert_eq!(compared(&together, &of(&[10.0, 1.0], false)).sections[0].verdict, Some(Verdict::Worse));
}

#[test]
fn what_threads_run_tells_sections_of_one_place_apart_by_its_new_name() {
    let team = |name: &str, values: &[f64]| Section { runs: vec![name.into()], ..section("start", 12, values) };
    let base =
        run(&["start", "read_lines", "check"], Some(vec![team("read_lines", &[9.0, 1.0]), team("check", &[5.0, 5.0])]));
    let new = run(
        &["start", "read_lines", "verify"],
        Some(vec![team("read_lines", &[9.0, 9.0]), team("verify", &[5.0, 5.0])]),
    );
    let changes = compared(&base, &new).sections;
    let runs: Vec<_> = changes.iter().map(|c| (c.runs.join(","), c.verdict)).collect();
    let expected = [("read_lines", Verdict::Better), ("verify", Verdict::Same)];
    assert_eq!(runs, expected.map(|(name, verdict)| (name.to_owned(), Some(verdict))));
    assert!(compared(&base, &run(&["start"], Some(Vec::new()))).sections.iter().all(|c| c.verdict.is_none()));
}

#[test]
fn the_program_is_the_mean_by_the_slowest_threads() {
    // 100 % of 10, 0 % of 30, and what encloses both counts nothing.
    let enclosing = Section { encloses: true, ..section("solve", 11, &[40.0, 30.0]) };
    let alone = section("solve", 16, &[70.0]);
    let alone = Section { imbalance_percent: 0.0, ..alone };
    let sections = vec![enclosing, section("solve", 12, &[10.0, 0.0]), section("solve", 14, &[30.0, 30.0]), alone];
    let report = run(&["solve"], Some(sections));
    let percent = compared(&report, &report).program.base.figures.get(Metric::Imbalance).unwrap();
    assert!((percent - 25.0).abs() < 1e-9, "{percent}");
}

#[test]
fn sections_by_time_and_by_work_are_weighed_by_time() {
    // 100 % of a second, and 0 % of three, which are some thousand instructions.
    let by_time = Section { uninstrumented: true, cpu: vec![1.0, 0.0], ..section("solve", 12, &[1e9, 0.0]) };
    let by_work = Section { cpu: vec![3.0, 3.0], ..section("solve", 14, &[3000.0, 3000.0]) };
    let report = run(&["solve"], Some(vec![Section { imbalance_time: 0.5, ..by_time }, by_work]));
    let percent = compared(&report, &report).program.base.figures.get(Metric::Imbalance).unwrap();
    assert!((percent - 25.0).abs() < 1e-9, "{percent}");
}

#[test]
fn that_runs_differ_is_noted_where_threads_take_work_as_they_go() {
    let even = section("solve", 12, &[5.0, 5.0]);
    let run = |section: &Section| run(&["solve"], Some(vec![section.clone()]));
    let taken = Taken { file: None, line: None, pieces: 4000 };
    let others = [
        Section { handed_out: HandedOut::Wholly, ..even.clone() },
        Section { taken: Some(taken), ..even.clone() },
        Section { arrived_together: true, ..even.clone() },
    ];
    for other in others {
        for (base, new) in [(&even, &other), (&other, &even)] {
            let notes = compared(&run(base), &run(new)).notes;
            assert!(notes[0].starts_with("threads take work as they go in the section at a.c:12: "), "{notes:?}");
        }
    }
    assert!(compared(&run(&even), &run(&even)).notes.is_empty());
}

#[test]
fn what_was_not_counted_does_not_compare() {
    let (counted, none) = (run(&["solve"], Some(vec![section("solve", 12, &[9.0, 1.0])])), run(&["solve"], None));
    let comparison = compared(&counted, &none);
    assert!(comparison.sections.is_empty());
    assert_eq!(comparison.program.judged.delta.get(Metric::Imbalance), None);
    assert_eq!(comparison.notes, ["control flow was counted in base only: imbalance does not compare"]);
    let conditions = Condition::parse("imbalance>+5").unwrap();
    assert_eq!(comparison.check(&conditions, true).unmeasured, ["imbalance>+5"]);
    assert!(compared(&none, &none).notes.is_empty());
    // A run without parallel sections has none, which is something to compare.
    assert_eq!(lines(&compared(&counted, &run(&["solve"], Some(Vec::new()))).sections), [(12, 0)]);
}

#[test]
fn conditions_hold_for_the_program() {
    let of = |values: &[f64]| run(&["solve"], Some(vec![section("solve", 12, values)]));
    let comparison = compared(&of(&[10.0, 8.0]), &of(&[10.0, 6.0]));
    let fails = |list| comparison.check(&Condition::parse(list).unwrap(), true).failures.len();
    assert_eq!([fails("imbalance>+10"), fails("imbalance>+25"), fails("imbalance>30")], [1, 0, 1]);
}

#[test]
fn a_promise_about_imbalance_is_held_against_the_section_with_most_to_save() {
    let cause = Cause {
        kind: "control-flow",
        event: "",
        file: Some("a.c".into()),
        line: Some(15),
        function: "solve".into(),
        score: 1.0,
        p: 0.0,
        counts: vec![9.0, 1.0],
        alike: Vec::new(),
    };
    let worst = Section { causes: vec![cause], ..section("solve", 14, &[90.0, 10.0]) };
    let mut base = run(&["solve"], Some(vec![worst, section("solve", 12, &[10.0, 9.0])]));
    base.regions[1].suggestions.push(Suggestion {
        rule: "load-imbalance".into(),
        kind: SuggestionKind::Data,
        means: Means::Code,
        text: String::new(),
        evidence: Default::default(),
        promise: Promise { lowers: Lowers::ImbalancePercent, region: 1, now: Some(88.9) },
        lines: vec![Position { file: None, line: None }],
    });
    let kept = |second: &[f64]| {
        let new = run(&["solve"], Some(vec![section("solve", 12, &[90.0, 0.0]), section("solve", 14, second)]));
        let comparison = compared(&base, &new);
        let bases = comparison.sections.iter().filter_map(|change| change.base.as_ref());
        let causes: Vec<_> = bases.filter_map(|side| side.cause.as_ref()?.line).collect();
        assert_eq!(causes, [15]);
        let promise = &comparison.promises[0];
        // Once more with the same suggestion for the new profile.
        let suggested = Report { regions: base.regions.clone(), ..new };
        let again = &compared(&base, &suggested).promises[0];
        assert_eq!((again.new, again.kept, again.still_made), (promise.new, promise.kept, true));
        (promise.new.round(), promise.kept, promise.still_made)
    };
    assert_eq!(kept(&[50.0, 50.0]), (0.0, true, false));
    assert_eq!(kept(&[90.0, 10.0]), (89.0, false, false));
    let gone = run(&["solve"], Some(Vec::new()));
    assert!(
        compared(&base, &gone).promises.is_empty(),
        "where the section is gone there is nothing to hold it against"
    );
}
