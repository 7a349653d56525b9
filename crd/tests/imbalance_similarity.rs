//! Similarity analysis on the tables that the paper prints and on small programs.

use std::collections::BTreeSet;

use proptest::prelude::*;
use threadtalk_crd::imbalance::similarity::ccr::{Regions, search};
use threadtalk_crd::imbalance::similarity::kinds::{TAU, kinds, members};
use threadtalk_crd::imbalance::similarity::optics::{extract, optics};
use threadtalk_crd::imbalance::similarity::{
    Cell, DecisionTable, Metric, TooManyAttributes, analyse, discernibility, reducts, severity,
};

fn table(rows: &[&[usize]], decisions: &[usize]) -> DecisionTable {
    let attributes = (1..=rows[0].len()).map(|i| format!("a{i}")).collect();
    DecisionTable { attributes, rows: rows.iter().map(|r| r.to_vec()).collect(), decisions: decisions.to_vec() }
}

/// As the paper writes it: `0`, `-1`, `a1a4`.
fn written(cell: &Cell) -> String {
    match cell {
        Cell::Same => "0".into(),
        Cell::Inconsistent => "-1".into(),
        Cell::Attributes(set) => set.iter().map(|a| format!("a{}", a + 1)).collect(),
    }
}

fn matrix(table: &DecisionTable) -> Vec<Vec<String>> {
    discernibility(table).iter().map(|row| row.iter().map(written).collect()).collect()
}

/// Outlook, temperature, humidity, wind; the codes of words that differ in capitals are the same.
fn table_1() -> DecisionTable {
    table(&[&[0, 0, 0, 0], &[0, 0, 0, 1], &[1, 0, 0, 0], &[0, 1, 1, 0]], &[0, 0, 1, 1])
}

fn table_2() -> DecisionTable {
    let rows: [&[usize]; 8] = [
        &[0, 0, 0, 0, 0],
        &[0, 0, 0, 0, 1],
        &[0, 0, 0, 0, 1],
        &[1, 0, 0, 0, 2],
        &[0, 1, 0, 0, 3],
        &[1, 1, 0, 1, 4],
        &[1, 2, 0, 1, 3],
        &[1, 2, 0, 0, 4],
    ];
    table(&rows, &[0, 1, 1, 2, 3, 4, 3, 4])
}

#[test]
fn table_1_of_the_paper() {
    assert_eq!(matrix(&table_1())[..3], [vec!["0", "a1", "a2a3"], vec!["a1a4", "a2a3a4"], vec!["0"]]);
    let found = reducts(&discernibility(&table_1()), 4).unwrap();
    assert_eq!(found.core, [0]);
    assert_eq!(found.reducts, [[0, 1], [0, 2]]);
    assert_eq!(found.chosen, [0, 1], "a2 and a3 are in as many cells: the first");
}

#[test]
fn table_2_of_the_paper() {
    let rows = matrix(&table_2());
    // As Figure 5 prints them, but for a1a2a4a5 where it has a2a4a5 in row 1, and for row 2, which has an entry too
    // many there.
    assert_eq!(rows[0], ["a5", "a5", "a1a5", "a2a5", "a1a2a4a5", "a1a2a4a5", "a1a2a5"]);
    assert_eq!(rows[1], ["0", "a1a5", "a2a5", "a1a2a4a5", "a1a2a4a5", "a1a2a5"]);
    assert_eq!(rows[2], ["a1a5", "a2a5", "a1a2a4a5", "a1a2a4a5", "a1a2a5"]);
    assert_eq!(rows[3], ["a1a2a5", "a2a4a5", "a2a4a5", "a2a5"]);
    assert_eq!(rows[4], ["a1a4a5", "0", "a1a2a5"]);
    assert_eq!(rows[5], ["a2a5", "0"]);
    assert_eq!(rows[6], ["a4a5"]);
    let found = reducts(&discernibility(&table_2()), 5).unwrap();
    assert_eq!((found.core, found.reducts, found.chosen), (vec![4], vec![vec![4]], vec![4]));
    // Figure 4's kinds are the decisions.
    assert_eq!(members(&table_2().decisions), [vec![0], vec![1, 2], vec![3], vec![4, 6], vec![5, 7]]);
}

#[test]
fn equal_rows_of_different_kinds_are_inconsistent_and_restrict_nothing() {
    let t = table(&[&[0, 0], &[0, 0], &[0, 1]], &[0, 1, 1]);
    let found = reducts(&discernibility(&t), 2).unwrap();
    assert_eq!((found.inconsistent, found.core, found.reducts), (1, vec![1], vec![vec![1]]));
    let one_kind = reducts(&discernibility(&table(&[&[0], &[1]], &[0, 0])), 1).unwrap();
    assert_eq!((one_kind.reducts, one_kind.chosen), (vec![vec![]], vec![]));
}

#[test]
fn more_than_twenty_attributes_are_refused() {
    let error = reducts(&[], 21).unwrap_err();
    assert_eq!(error, TooManyAttributes { attributes: 21 });
    assert_eq!(error.to_string(), "the decision table has 21 attributes, 20 can be reduced: choose fewer metrics");
    // Ten disjoint pairs: every choice of one of each is a reduct.
    let pairs: Vec<Cell> = (0..10).map(|i| Cell::Attributes(vec![2 * i, 2 * i + 1])).collect();
    assert_eq!(reducts(&[pairs], 20).unwrap().reducts.len(), 1024);
}

#[test]
fn severity_examples() {
    let s = |v: &[[f64; 2]]| severity(&v.iter().map(|v| v.to_vec()).collect::<Vec<_>>());
    assert_eq!(s(&[[3.0, 4.0], [3.0, 4.0], [6.0, 8.0]]), 1.0);
    assert_eq!(s(&[[0.0, 0.0], [1.0, 0.0]]), f64::INFINITY);
    assert_eq!(s(&[[0.0, 0.0], [0.0, 0.0]]), 0.0);
    assert_eq!(s(&[[1.0, 2.0]]), 0.0);
}

#[test]
fn a_new_search_of_optics_begins_with_undefined_reachability() {
    let points: Vec<Vec<f64>> = [0.0, 0.1, 0.3, 10.0, 10.1, 10.3].iter().map(|&x| vec![x]).collect();
    let ordering = optics(&points, 1.0, 2);
    assert_eq!(ordering.order, [0, 1, 2, 3, 4, 5]);
    assert_eq!((ordering.reachability[0], ordering.reachability[3]), (None, None));
    assert!((ordering.reachability[2].unwrap() - 0.2).abs() < 1e-9);
    assert_eq!(extract(&ordering, 1.0), [0, 0, 0, 1, 1, 1]);
    assert_eq!(extract(&ordering, 0.15), [0, 0, 1, 2, 2, 3]);
}

#[test]
fn idle_threads_are_a_kind_and_zeros_are_alike() {
    let v = |t: &[f64]| kinds(&t.iter().map(|&x| vec![x]).collect::<Vec<_>>(), TAU);
    assert_eq!(v(&[0.0, 0.0, 0.0]), [0, 0, 0]);
    assert_eq!(v(&[5.0, 0.0, 5.0, 5.2]), [0, 1, 0, 0]);
    assert_eq!(v(&[]), Vec::<usize>::new());
}

/// Region 0 has 1 and 2 inside; 3 is beside it. The threads differ by region 2.
fn example() -> Regions {
    let times = [[10.0, 4.0, 6.0, 5.0], [10.1, 4.0, 6.1, 5.0], [16.0, 4.1, 11.9, 5.0], [16.1, 4.0, 12.1, 5.1]];
    Regions { parents: vec![None, Some(0), Some(0), None], times: times.map(|t| t.to_vec()).to_vec() }
}

#[test]
fn the_core_is_the_innermost_region_that_keeps_the_kinds() {
    let found = search(&example(), TAU);
    let shown: Vec<_> = found.ccr.iter().map(|c| (c.region, c.level, c.core)).collect();
    assert_eq!(shown, [(0, 1, false), (2, 2, true)]);
    assert_eq!(found.cccr, BTreeSet::from([2]));
    let balanced = Regions { times: vec![vec![10.0, 4.0, 6.0, 5.0]; 4], ..example() };
    let found = search(&balanced, TAU);
    assert!(found.ccr.is_empty() && found.groups.is_empty() && found.cccr.is_empty());
}

#[test]
fn regions_critical_only_together_are_combined() {
    // Two regions that both tell the same threads apart: without either the other still does.
    let times = vec![vec![10.0, 10.0], vec![10.0, 10.0], vec![20.0, 20.0], vec![20.0, 20.0]];
    let found = search(&Regions { parents: vec![None, None], times }, TAU);
    assert!(found.ccr.is_empty());
    assert_eq!(found.groups, [[0, 1]]);
    assert_eq!(found.cccr, BTreeSet::from([0, 1]));
}

#[test]
fn the_whole_names_the_metric_that_tells_the_kinds_apart() {
    let metric = |region, name: &str, values: [f64; 4]| Metric { region, name: name.into(), values: values.to_vec() };
    let metrics = [
        metric(2, "misses", [7.0; 4]),
        metric(2, "work", [100.0, 101.0, 200.0, 202.0]),
        metric(1, "calls", [1.0, 9.0, 1.0, 1.0]),
    ];
    let result = analyse(&example(), &metrics, TAU).unwrap();
    assert_eq!(result.kinds, [[0, 1], [2, 3]]);
    assert_eq!(result.decision_table.attributes, ["misses", "work"], "calls are of a region that is no core");
    assert_eq!(result.reducts.chosen, [1]);
    let json = serde_json::to_value(&result).unwrap();
    for key in ["severity", "kinds", "ccr", "cccr", "decision_table", "core", "reducts"] {
        assert!(json.get(key).is_some(), "{key}");
    }
    let many: Vec<Metric> = (0..21).map(|i| metric(2, &i.to_string(), [1.0; 4])).collect();
    assert_eq!(analyse(&example(), &many, TAU), Err(TooManyAttributes { attributes: 21 }));
}

/// All subsets that hit every cell and of which no proper subset does, by trying each against each.
fn reducts_by_definition(cells: &[Vec<usize>], attributes: usize) -> BTreeSet<Vec<usize>> {
    let set = |mask: usize| -> Vec<usize> { (0..attributes).filter(|a| mask >> a & 1 == 1).collect() };
    let hitting: Vec<usize> =
        (0..1 << attributes).filter(|&m| cells.iter().all(|c| c.iter().any(|a| m >> a & 1 == 1))).collect();
    let minimal = hitting.iter().filter(|&&m| !hitting.iter().any(|&s| s != m && s & m == s));
    minimal.map(|&m| set(m)).collect()
}

/// Whether two threads are of one kind if kinds are what is connected by steps of at most the radius.
fn connected(points: &[Vec<f64>], eps: f64) -> Vec<usize> {
    let near = |i: usize, j: usize| {
        points[i].iter().zip(&points[j]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt() <= eps
    };
    let mut labels: Vec<usize> = (0..points.len()).collect();
    for _ in 0..points.len() {
        for i in 0..points.len() {
            for j in (0..points.len()).filter(|&j| near(i, j)) {
                labels[i] = labels[i].min(labels[j]);
            }
        }
    }
    labels
}

proptest! {
    #[test]
    fn reducts_are_those_of_the_definition(
        cells in prop::collection::vec(prop::collection::btree_set(0usize..7, 1..5), 0..12),
    ) {
        let cells: Vec<Vec<usize>> = cells.into_iter().map(|c| c.into_iter().collect()).collect();
        let matrix = vec![cells.iter().cloned().map(Cell::Attributes).collect::<Vec<_>>()];
        let found = reducts(&matrix, 7).unwrap();
        let wanted = reducts_by_definition(&cells, 7);
        prop_assert_eq!(&found.reducts.iter().cloned().collect::<BTreeSet<_>>(), &wanted);
        let shared: Vec<usize> = (0..7).filter(|a| wanted.iter().all(|r| r.contains(a))).collect();
        prop_assert_eq!(found.core, shared);
    }

    #[test]
    fn with_two_points_making_density_kinds_are_connected_components(
        points in prop::collection::vec(prop::collection::vec(0u32..40, 2), 1..20),
        eps in 1u32..12,
    ) {
        let points: Vec<Vec<f64>> = points.iter().map(|p| p.iter().map(|&x| f64::from(x)).collect()).collect();
        let eps = f64::from(eps) + 0.25;
        let labels = extract(&optics(&points, eps, 2), eps);
        let reference = connected(&points, eps);
        for i in 0..points.len() {
            for j in 0..i {
                prop_assert_eq!(labels[i] == labels[j], reference[i] == reference[j]);
            }
        }
    }

    #[test]
    fn permuting_threads_permutes_kinds_only(
        (times, order) in prop::collection::vec(prop::collection::vec(0u32..50, 4), 2..12)
            .prop_flat_map(|t| { let n = t.len(); (Just(t), Just((0..n).collect::<Vec<_>>()).prop_shuffle()) }),
    ) {
        let times: Vec<Vec<f64>> = times.iter().map(|t| t.iter().map(|&x| f64::from(x)).collect()).collect();
        let parents = vec![None, None, Some(0), Some(2)];
        let plain = Regions { parents: parents.clone(), times: times.clone() };
        let permuted = Regions { parents, times: order.iter().map(|&i| times[i].clone()).collect() };
        let (a, b) = (plain.kinds(TAU), permuted.kinds(TAU));
        for i in 0..order.len() {
            for j in 0..i {
                prop_assert_eq!(b[i] == b[j], a[order[i]] == a[order[j]]);
            }
        }
        prop_assert_eq!(search(&plain, TAU), search(&permuted, TAU));
    }
}
