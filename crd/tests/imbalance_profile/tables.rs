//! Regions, calls, kinds and block vectors.

use super::of;
use super::program::*;
use threadtalk_abi::module::RegionKind;
use threadtalk_crd::imbalance::pbv::Class;
use threadtalk_crd::imbalance::profile::observed::*;
use threadtalk_crd::imbalance::profile::{MOST_THREADS, fold};

const MS: u64 = 1_000_000;

fn node(thread: u32, id: u32, parent: u32, region: u32, ms: u64) -> Node {
    Node { thread, id, parent, region, visits: 1, wall_ns: 2 * ms * MS, cpu_ns: ms * MS }
}

/// DeRose et al., section 3: F1 calls G1 on even threads and G2 on odd ones, each for 9 ms; F1 itself takes 1 ms.
fn halves() -> Observed {
    let mut o = empty();
    for name in ["F1", "G1", "G2"] {
        o.regions.push(region(RegionKind::Function, name, 10, Some(0)));
    }
    o.threads = (0..4).collect();
    o.nodes =
        (0..4).flat_map(|t| [node(t, 2 * t + 1, 0, 1, 10), node(t, 2 * t + 2, 2 * t + 1, 2 + t % 2, 9)]).collect();
    o.parts = (0..4).map(|t| Part { cpu_ns: 10 * MS, ..part(t, 0, &[]) }).collect();
    o
}

#[test]
fn halves_of_a_balanced_whole_are_unbalanced_by_themselves() {
    let result = of(&halves());
    let call = |region: u32| result.calls.iter().find(|c| c.region == region).unwrap();
    let percent = |f: &threadtalk_crd::imbalance::profile::model::Figures| f.spread.imbalance.imbalance_percent;
    assert_eq!(percent(&call(1).inclusive["cpu"]), 0.0);
    assert_eq!(percent(&call(1).exclusive["cpu"]), 0.0);
    assert!((call(1).exclusive["cpu"].spread.avg - 0.001).abs() < 1e-12);
    // Half of four threads have 9 ms, the others none: 100 * 4.5 / 9 * 4 / 3.
    assert!((percent(&call(2).exclusive["cpu"]) - 200.0 / 3.0).abs() < 1e-9);
    assert_eq!((call(2).exclusive["cpu"].spread.max_thread, call(3).exclusive["cpu"].spread.max_thread), (0, 1));
    assert_eq!(call(2).parent, Some(0));
    let region = |id: u32| result.regions.iter().find(|r| r.id == id).unwrap();
    assert!((percent(&region(2).exclusive["time"]) - 200.0 / 3.0).abs() < 1e-9);
    assert_eq!(region(2).team, [0, 1, 2, 3]);
    // G1 and G2 are not inside F1 in the source; the program is around all.
    assert_eq!(region(1).inclusive["cpu"], region(1).exclusive["cpu"]);
    assert!((region(0).inclusive["cpu"].spread.avg - 0.010).abs() < 1e-12);
    assert!(!region(0).exclusive.contains_key("cpu"));
}

#[test]
fn kinds_of_threads_and_the_call_that_tells_them_apart() {
    let mut o = halves();
    o.visits = vec![(0, 2, 5), (2, 2, 5), (1, 3, 5), (3, 3, 5)];
    let found = of(&o).similarity.unwrap();
    assert_eq!((found.by, found.severity), ("cpu", Some(0.0)), "the outermost region is the same in all");
    assert_eq!(found.kinds, [[0, 1, 2, 3]]);
    // Now F1 is gone between: G1 and G2 are outermost.
    o.nodes.iter_mut().for_each(|n| n.parent = 0);
    o.nodes.retain(|n| n.region != 1);
    let found = of(&o).similarity.unwrap();
    assert_eq!(found.kinds, [[0, 2], [1, 3]]);
    // Without either the others still tell the kinds apart; only both together do not.
    assert!(found.ccr.is_empty());
    assert_eq!((found.groups, found.cccr), (vec![vec![2, 3]], vec![2, 3]));
    assert_eq!(found.decision_table.rows.len(), 4);
    assert!(found.decision_table.attributes.iter().any(|a| a == "calls in G1 #2"));
    assert!(found.left_out.is_empty() && found.reducts.chosen.len() == 1);
}

#[test]
fn of_very_many_threads_those_are_compared_that_did_most() {
    let mut o = halves();
    // Each tenth takes 20 ms, the others 10 ms, and those from 1000 on 1 ms.
    let ms = |t: u32| if t >= 1000 { 1 } else { 10 + 10 * u64::from(t.is_multiple_of(10)) };
    o.threads = (0..2000).collect();
    o.nodes = (0..2000).map(|t| node(t, t + 1, 0, 1, ms(t))).collect();
    o.parts = (0..2000).map(|t| Part { cpu_ns: ms(t) * MS, ..part(t, 0, &[]) }).collect();
    let found = of(&o).similarity.unwrap();
    assert_eq!(found.not_compared, 2000 - MOST_THREADS);
    let (long, others): (Vec<u32>, Vec<u32>) = (0..1000).partition(|t: &u32| t.is_multiple_of(10));
    let others: Vec<u32> = others.into_iter().take(MOST_THREADS - long.len()).collect();
    assert_eq!(found.kinds, [long, others]);
    assert_eq!(of(&halves()).similarity.unwrap().not_compared, 0);
}

#[test]
fn threads_that_ran_for_less_than_a_tick_are_compared_by_work() {
    let mut o = halves();
    branch(&mut o);
    let block = o.blocks.len() as u32 - 3;
    o.by_thread = [1, 1, 9, 1].map(|times| vec![(block, times)]).into();
    assert_eq!(of(&o).similarity.unwrap().by, "cpu");
    o.nodes.iter_mut().for_each(|n| n.cpu_ns /= 1_000_000_000);
    let found = of(&o).similarity.unwrap();
    assert_eq!((found.by, found.kinds), ("work", vec![vec![0, 1, 3], vec![2]]));
}

#[test]
fn work_accesses_misses_calls_and_communication_of_a_region() {
    let mut o = empty();
    branch(&mut o);
    o.regions.push(region(RegionKind::Loop, "worker", 5, Some(1)));
    o.blocks[1].region = 2;
    o.threads = vec![0, 1];
    o.by_thread = vec![vec![(0, 10), (1, 4), (2, 10)], vec![(0, 10), (2, 10)]];
    o.visits = vec![(0, 1, 3), (1, 1, 1)];
    o.communication = vec![(1, 2, 6)];
    o.sites = vec![SiteOf { at: spot(6), region: 2 }];
    let miss = |kind, count| SiteEvent { kind, site: 0, count };
    o.events = vec![(0, miss(EventKind::FirstLevelMiss, 7)), (0, miss(EventKind::LastLevelMiss, 5))];
    o.parts = (0..2).map(|t| part(t, 0, &[])).collect();
    let result = of(&o);
    let values = |id: u32, metric: &str| {
        let region = result.regions.iter().find(|r| r.id == id).unwrap();
        let of = |m: &threadtalk_crd::imbalance::profile::model::Metrics| m.get(metric).map(|f| f.values.clone());
        (of(&region.exclusive), of(&region.inclusive))
    };
    assert_eq!(values(1, "work"), (Some(vec![110.0, 110.0]), Some(vec![510.0, 110.0])));
    assert_eq!(values(2, "work"), (Some(vec![400.0, 0.0]), Some(vec![400.0, 0.0])));
    assert_eq!(values(1, "accesses").0, Some(vec![20.0, 20.0]));
    assert_eq!(values(2, "misses").0, Some(vec![7.0, 0.0]));
    assert_eq!(values(1, "calls").0, Some(vec![3.0, 1.0]));
    assert_eq!(values(2, "communication").0, Some(vec![0.0, 6.0]));
    assert_eq!(values(1, "communication"), (None, Some(vec![0.0, 6.0])));
}

#[test]
fn blocks_by_number_of_threads() {
    let mut o = empty();
    branch(&mut o);
    o.threads = vec![0];
    o.by_thread = vec![vec![(0, 1)]];
    // Block 1 only ever runs beside others; block 2 nearly so.
    o.by_level = vec![(1, vec![(0, 8), (2, 1)]), (4, vec![(1, 50), (2, 199)])];
    o.levels = vec![LevelTime { counting: Counting::Nominal, threads: 4, ns: 3_000_000_000 }];
    let found = of(&o).parallelism.unwrap();
    let classes: Vec<Class> = found.blocks.iter().map(|b| b.class).collect();
    assert_eq!(classes, [Class::Serial, Class::Parallel, Class::Mixed]);
    assert_eq!(found.blocks[1].counts, [0, 0, 0, 50]);
    assert_eq!(found.blocks[2].average_degree, Some((1.0 + 4.0 * 199.0) / 200.0));
    // 8 * 10 + 1 instructions with one thread, 50 * 100 + 199 with four.
    assert!((found.average_degree.unwrap() - (81.0 + 4.0 * 5199.0) / 5280.0).abs() < 1e-12);
    assert_eq!(found.hot_spots["serial"].len(), 2);
    assert_eq!(found.time["nominal"][&4], 3.0);
    assert!(found.anomalous.is_empty(), "9 of 258 executions are more than one in a hundred");
    let functions = fold(&found.blocks, false);
    assert_eq!((functions.len(), &functions[0].of.counts[..]), (1, &[9, 0, 0, 249][..]));
    assert_eq!(fold(&found.blocks, true)[0].line, Some(8));
    o.by_level[0].1 = vec![(0, 1)];
    let found = of(&o).parallelism.unwrap();
    assert_eq!((found.anomalous[0].region, found.anomalous[0].serial, found.anomalous[0].parallel), (1, 1, 249));
}

#[test]
fn waiting_in_one_place_is_one() {
    let mut o = empty();
    let wait = |thread, ms| Wait { thread, at: spot(31), kind: "mutex", count: 2, wall_ns: ms * MS };
    o.waits = vec![wait(1, 5), wait(2, 7), Wait { at: spot(40), ..wait(1, 1) }, wait(2, 3)];
    let waits = of(&o).waits;
    assert_eq!((waits.len(), waits[0].line, waits[0].count, &waits[0].threads[..]), (2, Some(31), 6, &[1, 2][..]));
    assert!((waits[0].seconds - 0.015).abs() < 1e-12);
}
