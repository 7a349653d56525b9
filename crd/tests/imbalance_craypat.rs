//! CrayPat's metrics on the numbers that the paper prints.

use threadtalk_crd::imbalance::craypat::{Node, imbalance, imbalance_of, spread, tree};

/// Function, average, imbalance time, printed percentage (Figure 1; 48 processing elements).
const FIGURE_1: [(&str, f64, f64, f64); 13] = [
    ("sweep_", 2.568997, 0.126365, 4.8),
    ("source_", 0.047655, 0.001252, 2.6),
    ("flux_err_", 0.008992, 0.000212, 2.4),
    ("snd_real_", 0.007960, 0.000940, 10.8),
    ("MAIN_", 0.003182, 0.001944, 38.7),
    ("rcv_real_", 0.002816, 0.000591, 17.7),
    ("inner_", 0.001637, 0.039748, 98.1),
    ("initialize_", 0.001386, 0.000055, 3.9),
    ("mpi_recv_", 0.812923, 0.232522, 22.7),
    ("mpi_allreduce_", 0.129678, 0.125148, 50.2),
    ("mpi_send_", 0.059340, 0.010950, 15.9),
    ("mpi_bcast_", 0.007631, 0.000221, 2.9),
    ("mpi_barrier_", 0.007423, 0.000347, 4.6),
];

#[test]
fn percentages_of_figure_1() {
    for (name, average, time, printed) in FIGURE_1 {
        // The inputs are rounded to 6 decimals: the printed percentage must lie between those of the extremes.
        let percent = |half: f64| imbalance_of(average - half, average + time, 48).imbalance_percent;
        let (low, high) = (percent(-5e-7), percent(5e-7));
        let slack = 100.0 * 5e-7 / (average + time) + 0.05;
        assert!(low - slack <= printed && printed <= high + slack, "{name}: {low} to {high}, printed {printed}");
        let exact = imbalance_of(average, average + time, 48);
        assert!((exact.imbalance_time - time).abs() < 1e-12);
    }
}

#[test]
fn maxima_of_figure_2_are_average_plus_imbalance_of_figure_1() {
    let maxima = [("sweep_", 2.695363), ("mpi_recv_", 1.045446), ("mpi_allreduce_", 0.254826), ("mpi_send_", 0.070290)];
    for (name, maximum) in maxima {
        let (_, average, time, _) = FIGURE_1.iter().find(|row| row.0 == name).unwrap();
        assert!((average + time - maximum).abs() <= 1.5e-6, "{name}");
    }
}

#[test]
fn limits() {
    let both = |values: &[f64]| (imbalance(values).imbalance_time, imbalance(values).imbalance_percent);
    assert_eq!(both(&[1.0; 4]), (0.0, 0.0));
    assert_eq!(both(&[4.0, 0.0, 0.0, 0.0]), (3.0, 100.0));
    assert_eq!(both(&[5.0]), (0.0, 0.0));
    assert_eq!(both(&[0.0, 0.0]), (0.0, 0.0));
    assert_eq!(both(&[]), (0.0, 0.0));
    // A third of 0.1 + 0.1 + 0.1 is above 0.1.
    assert_eq!(both(&[0.1; 3]), (0.0, 0.0));
}

#[test]
fn extremes_name_the_lowest_thread_and_the_median_has_one() {
    let s = spread(&[3.0, 9.0, 1.0, 1.0, 9.0, 4.0]).unwrap();
    assert_eq!((s.min, s.min_thread, s.median, s.median_thread, s.max, s.max_thread), (1.0, 2, 3.0, 0, 9.0, 1));
    assert_eq!(s.avg, 4.5);
    assert!((s.sigma - (67.5f64 / 6.0).sqrt()).abs() < 1e-12);
    assert_eq!(spread(&[]), None);
}

/// The paper's `F1` that calls `G1` on odd and `G2` on even ranks.
#[test]
fn halves_are_unbalanced_and_the_whole_is_not() {
    let node = |parent, own: [f64; 4]| Node { parent, own: own.to_vec() };
    let nodes = [node(Some(2), [0.0, 8.0, 0.0, 8.0]), node(Some(2), [8.0, 0.0, 8.0, 0.0]), node(None, [1.0; 4])];
    let [g1, g2, f1] = &tree(&nodes)[..] else { panic!("three nodes") };
    for half in [g1, g2] {
        assert_eq!(half.exclusive.imbalance.imbalance_time, 4.0);
        assert!((half.inclusive.imbalance.imbalance_percent - 200.0 / 3.0).abs() < 1e-12);
    }
    assert_eq!(f1.inclusive.imbalance.imbalance_percent, 0.0);
    assert_eq!((f1.exclusive.avg, f1.inclusive.avg), (1.0, 9.0));
}

#[test]
fn absent_threads_count_with_zero_and_a_ring_of_parents_adds_nothing_twice() {
    let nodes = [Node { parent: None, own: vec![2.0, 2.0] }, Node { parent: Some(0), own: vec![4.0] }];
    let both = tree(&nodes);
    assert_eq!(both[1].exclusive.imbalance.imbalance_percent, 100.0);
    assert_eq!((both[0].inclusive.max, both[0].inclusive.min), (6.0, 2.0));
    let ring = [Node { parent: Some(1), own: vec![1.0] }, Node { parent: Some(0), own: vec![5.0] }];
    let both = tree(&ring);
    assert_eq!((both[0].inclusive.max, both[1].inclusive.max), (1.0, 5.0));
}

#[test]
fn serialised_as_the_interface_names_it() {
    let json = serde_json::to_value(spread(&[4.0, 0.0]).unwrap()).unwrap();
    for key in ["avg", "min", "max", "min_thread", "max_thread", "imbalance_percent", "imbalance_time"] {
        assert!(json.get(key).is_some_and(|v| v.is_number()), "{key}");
    }
}
