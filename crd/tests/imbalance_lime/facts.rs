use std::f64::consts::PI;

use super::random::Random;
use threadtalk_crd::imbalance::lime::{
    Cause, Edge, HardwareEvent, Instance, Kind, Level, Options, Reason, Section, Significance, analyse, analyse_pooled,
    combine, forward, residual, upper_tail,
};

fn near(a: f64, b: f64, within: f64) -> bool {
    (a - b).abs() <= within
}

fn edge(from: u32, to: u32, back: bool, counts: &[f64]) -> Edge {
    Edge { from, to, back, counts: counts.to_vec() }
}

#[test]
fn tail_of_f_in_closed_form() {
    for x in [0.1f64, 1.0, 5.0, 161.4476] {
        assert!(near(upper_tail(x, 1), 1.0 - 2.0 / PI * x.sqrt().atan(), 1e-12), "{x}");
    }
    for x in [0.3f64, 2.0, 9.0] {
        assert!(near(upper_tail(x, 2), 1.0 - (x / (2.0 + x)).sqrt(), 1e-12), "{x}");
    }
    // The 5 % point in tables, and a tail far below the rounding of 1.
    assert!(near(upper_tail(5.987378, 6), 0.05, 1e-6));
    let tiny = upper_tail(1e6, 6) * 1e18;
    assert!(near(tiny, 67.5, 0.1), "{tiny}: leading term 67.5 / F^3");
    assert_eq!((upper_tail(f64::INFINITY, 3), upper_tail(0.0, 3)), (0.0, 1.0));
}

#[test]
fn residuals() {
    let executed = vec![100.0, 200.0, 300.0, 400.0];
    assert_eq!(residual(&[10.0, 20.0, 30.0, 40.0], std::slice::from_ref(&executed)), [0.0; 4]);
    let rest = residual(&[10.0, 20.0, 30.0, 80.0], std::slice::from_ref(&executed));
    for (got, wanted) in rest.iter().zip([8.0, -4.0, -16.0, 12.0]) {
        assert!(near(*got, wanted, 1e-9), "{rest:?}");
    }
    // A superior that is a multiple of another adds nothing.
    let doubled = executed.iter().map(|x| 2.0 * x).collect();
    assert_eq!(residual(&[10.0, 20.0, 30.0, 80.0], &[executed, doubled]), rest);
    assert_eq!(residual(&[1.0, 2.0, 3.0], &[]), [-1.0, 0.0, 1.0]);
}

/// Like the paper's radix section (Figures 1 and 2), with its lines as nodes: one thread takes the if at 535, and the
/// if at 579 is taken differently often.
pub fn radix() -> Section {
    let one = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let zero = one.map(|x| 1.0 - x);
    let taken = [3.0, 0.0, 1.0, 1.0, 2.0, 1.0, 2.0, 2.0];
    let times = |v: [f64; 8], f: f64| v.map(|x| x * f);
    let edges = vec![
        edge(0, 535, false, &[1.0; 8]),
        edge(535, 540, false, &one),
        edge(540, 549, false, &times(one, 4.0)),
        edge(549, 557, false, &times(one, 6.0)),
        edge(557, 578, false, &one),
        edge(535, 562, false, &zero),
        edge(562, 566, false, &times(zero, 9.0)),
        edge(566, 578, false, &zero),
        edge(578, 579, false, &[3.0; 8]),
        edge(579, 582, false, &taken),
        edge(579, 578, true, &taken.map(|x| 3.0 - x)),
        edge(582, 578, true, &times(taken, 256.0)),
        edge(578, 590, false, &[1.0; 8]),
        edge(590, 594, false, &[256.0; 8]),
    ];
    let dependent = (0..8).map(|i| 50.0 + 100.0 * one[i] + 20.0 * taken[i]).collect();
    Section { dependent, edges, hardware: Vec::new() }
}

#[test]
fn two_causes_of_a_radix_like_section() {
    let result = analyse(&radix(), &Options::default());
    assert_eq!(result.clusters, [vec![1, 2, 3, 4], vec![5, 6, 7], vec![9, 11], vec![10]]);
    let [first, second] = &result.entered[..] else { panic!("two clusters enter: {:?}", result.entered) };
    assert_eq!((first.cluster, second.cluster, second.f, second.p), (0, 2, None, 0.0));
    assert!(near(first.f.unwrap(), 69.03, 0.005) && near(first.p, 0.00016, 5e-6));
    let shown: Vec<_> = result.causes.iter().map(|c| (c.location, c.kind)).collect();
    assert_eq!(shown, [(535, Kind::ControlFlow), (579, Kind::ControlFlow)]);
    for (cause, (score, beta, own)) in result.causes.iter().zip([(0.6851, 0.7143, 0.9592), (0.3149, 0.3741, 0.8417)]) {
        assert!(near(cause.score, score, 5e-5) && near(cause.beta, beta, 5e-5));
        assert!(near(cause.leader_score.unwrap(), own, 5e-5) && cause.important());
    }
    assert_eq!(result.causes[0].counts[..2], [1.0, 0.0]);
}

#[test]
fn the_side_of_a_branch_that_takes_the_time_is_the_cause_whichever_comes_first() {
    let mut section = radix();
    section.edges.reverse();
    let result = analyse(&section, &Options::default());
    let shown: Vec<_> = result.causes.iter().map(|c| (c.location, (c.score * 1e4).round())).collect();
    assert_eq!(shown, [(535, 6851.0), (579, 3149.0)]);
}

#[test]
fn misses_beyond_what_their_instruction_explains_are_a_hardware_cause() {
    let executed = vec![100.0, 120.0, 90.0, 110.0, 100.0, 105.0, 95.0, 100.0];
    let missed: Vec<f64> =
        executed.iter().enumerate().map(|(i, e)| 0.1 * e + if i == 3 { 40.0 } else { 0.0 }).collect();
    let dependent = missed.iter().map(|m| 1000.0 + 100.0 * m).collect();
    let event = |id, counts: &[f64]| HardwareEvent { id, counts: counts.to_vec(), superiors: vec![executed.clone()] };
    let proportional: Vec<f64> = executed.iter().map(|e| 0.2 * e).collect();
    let hardware = vec![event(7, &missed), event(8, &proportional)];
    let result = analyse(&Section { dependent, edges: Vec::new(), hardware }, &Options::default());
    let [cause] = &result.causes[..] else { panic!("one cause: {:?}", result.causes) };
    assert_eq!((cause.kind, cause.location, cause.leader_score), (Kind::Hardware, 7, None));
    assert!(cause.score > 0.9 && cause.counts == missed, "{cause:?}");
}

#[test]
fn recursive_calls_are_back_edges() {
    let nodes = [3.0, 9.0, 4.0, 20.0, 6.0, 8.0];
    let less = |d: f64| nodes.map(|x| x - d);
    let edges = vec![edge(1, 2, false, &[1.0; 6]), edge(2, 3, false, &nodes), edge(3, 2, true, &less(1.0))];
    let section = Section { dependent: nodes.map(|x| 50.0 + 10.0 * x).to_vec(), edges, hardware: Vec::new() };
    let result = analyse(&section, &Options::default());
    assert_eq!(result.causes.iter().map(|c| c.location).collect::<Vec<_>>(), [2]);
    assert!(near(result.causes[0].score, 1.0, 1e-9));
}

#[test]
fn reasons_for_no_answer() {
    let section = |n: usize, slope: f64| Section {
        dependent: (0..n).map(|i| 100.0 + slope * i as f64).collect(),
        edges: vec![Edge { from: 1, to: 2, back: false, counts: (0..n).map(|i| i as f64).collect() }],
        hardware: Vec::new(),
    };
    let reason = |s: &Section| analyse(s, &Options::default()).reason;
    assert_eq!(reason(&section(0, 1.0)), Some(Reason::TooFewThreads));
    assert_eq!(reason(&section(4, 10.0)), Some(Reason::TooFewThreads));
    assert_eq!(reason(&section(5, 10.0)), None);
    assert_eq!(reason(&section(5, 0.0)), Some(Reason::Balanced));
    assert_eq!(reason(&section(5, 0.1)), Some(Reason::Balanced), "0.2 %");
    let all = Options { min_imbalance: 0.0, ..Options::default() };
    assert_eq!(analyse(&section(5, 0.1), &all).causes.len(), 1);
    assert_eq!(analyse(&section(5, 0.0), &all).reason, Some(Reason::Balanced));
}

#[test]
fn small_teams_are_pooled_within_instances() {
    // Long instances execute edge 1 more often, in all threads alike; only edge 2 differs between threads.
    let instance = |length: f64, order: [f64; 3]| Section {
        dependent: order.map(|x| 100.0 * length + 40.0 * x).to_vec(),
        edges: vec![edge(1, 2, false, &[length; 3]), edge(2, 3, false, &order)],
        hardware: Vec::new(),
    };
    let (a, b) = (instance(1.0, [1.0, 2.0, 5.0]), instance(9.0, [4.0, 0.0, 3.0]));
    let options = Options::default();
    assert_eq!(analyse(&a, &options).reason, Some(Reason::TooFewThreads));
    let result = analyse_pooled(&[a.clone(), b.clone()], &options).unwrap();
    assert_eq!((result.reason, result.threads), (None, 6));
    assert_eq!(result.causes.iter().map(|c| c.location).collect::<Vec<_>>(), [2]);
    // Two of two threads leave 2 degrees of freedom beyond their means.
    let two = |s: &Section| Section {
        dependent: s.dependent[..2].to_vec(),
        edges: s.edges.iter().map(|e| Edge { counts: e.counts[..2].to_vec(), ..e.clone() }).collect(),
        hardware: Vec::new(),
    };
    assert_eq!(analyse_pooled(&[two(&a), two(&b)], &options).unwrap().reason, Some(Reason::TooFewThreads));
    let other = Section { edges: vec![a.edges[0].clone()], ..b };
    let error = analyse_pooled(&[a, other], &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "instance 1 of the section has other events than the first: give every instance all events of the section"
    );
}

#[test]
fn instances_weigh_as_much_as_they_lose() {
    let cause = |location, score| Cause {
        kind: Kind::ControlFlow,
        location,
        score,
        beta: 1.0,
        leader_score: Some(score),
        p: 0.001,
        cluster: 0,
        counts: vec![1.0, 2.0, 3.0],
    };
    let (a, b, twice) = ([cause(1, 1.0)], [cause(2, 9.0)], [cause(1, 0.5), cause(1, 0.25)]);
    let unequal = Instance { times: &[10.0, 10.0, 22.0], causes: &a };
    let found = combine(&[unequal, Instance { times: &[10.0; 3], causes: &b }]);
    let shown: Vec<_> = found.iter().map(|c| (c.location, c.score, c.important())).collect();
    assert_eq!(shown, [(1, 1.0, true), (2, 0.0, false)]);
    // 8 and 4 lost: (8 * 1 + 4 * 0.5) / 12.
    let found = combine(&[unequal, Instance { times: &[0.0, 6.0, 6.0 + 3.0], causes: &twice }]);
    assert!(near(found[0].score, 10.0 / 12.0, 1e-12));
    assert_eq!(found[0].counts, [2.0, 4.0, 6.0]);
    // An instance without causes lowers the score by its share.
    let found = combine(&[unequal, Instance { times: &[0.0, 0.0, 12.0], causes: &[] }]);
    assert!(near(found[0].score, 0.5, 1e-12));
    assert!(combine(&[Instance { times: &[1.0, 1.0], causes: &[] }]).is_empty());
}

#[test]
fn noise_enters_often_at_the_raw_level_and_seldom_at_the_divided_one() {
    let mut random = Random(7);
    let (trials, clusters) = (300, 20);
    let (mut raw, mut divided, mut with_pairs) = (0, 0, 0);
    for _ in 0..trials {
        let dependent = random.normals(8);
        let noise: Vec<Vec<f64>> = (0..clusters).map(|_| random.normals(8)).collect();
        raw += usize::from(!forward(&dependent, &noise, Level::raw(0.05), 1).is_empty());
        divided += usize::from(!forward(&dependent, &noise, Level::raw(0.05 / clusters as f64), 1).is_empty());
        with_pairs += usize::from(!forward(&dependent, &noise, Level::divided(0.05, clusters), 1).is_empty());
    }
    let percent = |n: usize| 100.0 * n as f64 / f64::from(trials);
    let [raw, divided, with_pairs] = [raw, divided, with_pairs].map(percent);
    println!("noise enters in {raw:.0} % of instances, level divided {divided:.0} %, with pairs {with_pairs:.0} %");
    assert!(near(raw, 64.0, 10.0) && near(divided, 5.0, 4.0) && near(with_pairs, 10.0, 6.0));
    assert_eq!(Options::default().significance, Significance::Divided(0.05));
}

#[test]
fn two_equal_causes_enter_together_where_neither_does_alone() {
    let mut random = Random(11);
    let mut predictors: Vec<Vec<f64>> = (0..10).map(|_| random.normals(8)).collect();
    let (a, b) = (vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], vec![0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let dependent: Vec<f64> = (0..8).map(|t| 100.0 + 30.0 * (a[t] + b[t]) + 0.1 * random.normal()).collect();
    // The other side of each branch comes first.
    predictors.extend([&a, &b].map(|v| v.iter().map(|x| 1.0 - x).collect()));
    predictors.extend([a, b]);
    let level = Level::divided(0.05, predictors.len());
    assert_eq!(forward(&dependent, &predictors, Level { pair: 0.0, ..level }, 1), []);
    let mut selected = forward(&dependent, &predictors, level, 1);
    selected.sort_by_key(|s| s.predictor);
    assert_eq!(selected.iter().map(|s| s.predictor).collect::<Vec<_>>(), [12, 13]);
    assert!(selected.iter().all(|s| s.beta > 0.5 && s.p < 1e-6 && s.f == selected[0].f), "{selected:?}");
}
