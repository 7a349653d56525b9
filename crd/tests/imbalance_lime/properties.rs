use super::random::Random;
use super::synthetic::{PLANTS, section};
use proptest::prelude::*;
use threadtalk_crd::imbalance::lime::{Analysis, Edge, HardwareEvent, Kind, Options, Section, analyse};

fn ranking(result: &Analysis) -> Vec<(Kind, u32, f64)> {
    result.causes.iter().map(|c| (c.kind, c.location, c.score)).collect()
}

/// The same causes with the same scores; the order of those whose scores differ by rounding only is free.
fn same(a: &Analysis, b: &Analysis) -> Result<(), TestCaseError> {
    let (mut a, mut b) = (ranking(a), ranking(b));
    prop_assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(&b) {
        prop_assert!((x.2 - y.2).abs() < 1e-7, "{x:?} {y:?}");
    }
    a.sort_by_key(|c| (c.0, c.1));
    b.sort_by_key(|c| (c.0, c.1));
    for (x, y) in a.iter().zip(&b) {
        prop_assert!((x.0, x.1) == (y.0, y.1) && (x.2 - y.2).abs() < 1e-7, "{x:?} {y:?}");
    }
    Ok(())
}

fn planted() -> impl Strategy<Value = (Section, Random)> {
    let threads = prop::sample::select(vec![5usize, 8, 16, 33]);
    (any::<u64>(), threads, 0usize..12, prop::sample::select(PLANTS.to_vec()))
        .prop_map(|(seed, n, branches, plant)| (section(seed, n, branches, plant).0, Random(seed)))
}

fn permuted(v: &[f64], order: &[usize]) -> Vec<f64> {
    order.iter().map(|&i| v[i]).collect()
}

proptest! {
    #[test]
    fn units_do_not_matter((section, mut random) in planted()) {
        let before = analyse(&section, &Options::default());
        let mut scaled = section.clone();
        let mut scale = |v: &mut Vec<f64>| {
            let factor = [1e-9, 0.3, 7.0, 1e6][random.below(4)];
            v.iter_mut().for_each(|x| *x *= factor);
        };
        scale(&mut scaled.dependent);
        scaled.edges.iter_mut().for_each(|e| scale(&mut e.counts));
        for event in &mut scaled.hardware {
            scale(&mut event.counts);
            event.superiors.iter_mut().for_each(&mut scale);
        }
        same(&before, &analyse(&scaled, &Options::default()))?;
    }

    #[test]
    fn the_order_of_threads_does_not_matter((section, mut random) in planted()) {
        let mut order: Vec<usize> = (0..section.dependent.len()).collect();
        for i in (1..order.len()).rev() {
            order.swap(i, random.below(i + 1));
        }
        let edges = section.edges.iter().map(|e| Edge { counts: permuted(&e.counts, &order), ..*e });
        let hardware = section.hardware.iter().map(|h| HardwareEvent {
            id: h.id,
            counts: permuted(&h.counts, &order),
            superiors: h.superiors.iter().map(|s| permuted(s, &order)).collect(),
        });
        let dependent = permuted(&section.dependent, &order);
        let other = Section { dependent, edges: edges.collect(), hardware: hardware.collect() };
        same(&analyse(&section, &Options::default()), &analyse(&other, &Options::default()))?;
    }

    #[test]
    fn a_constant_event_changes_nothing((section, mut random) in planted()) {
        let before = analyse(&section, &Options::default());
        let mut more = section.clone();
        let n = more.dependent.len();
        let node = random.below(60) as u32;
        more.edges.push(Edge { from: 900, to: 901 + node, back: false, counts: vec![random.below(9) as f64; n] });
        let superior = (0..n).map(|i| i as f64).collect();
        more.hardware.push(HardwareEvent { id: 77, counts: vec![5.0; n], superiors: vec![superior] });
        let after = analyse(&more, &Options::default());
        prop_assert_eq!(ranking(&before), ranking(&after));
        prop_assert_eq!(before.entered, after.entered);
    }

    #[test]
    fn the_same_input_gives_the_same_bytes((section, _) in planted()) {
        let text = || serde_json::to_string(&analyse(&section, &Options::default())).unwrap();
        prop_assert_eq!(text(), text());
    }
}
