//! Threads that are made at one place, told apart by what they run.

use super::of;
use super::program::*;
use threadtalk_crd::imbalance::profile::model::Section;
use threadtalk_crd::imbalance::profile::observed::*;

/// Functions by their numbers and, plus 1, their regions: each of one block of 10 instructions.
const ENTRY: u32 = 0;
const WORK: u32 = 1;
const READ: u32 = 2;

/// A program in which `entry` calls through a pointer.
fn program() -> Observed {
    let mut o = empty();
    for name in ["entry", "work", "read"] {
        function(&mut o, name, &[(4, 10)], &[(OUT, 0, 0), (0, OUT, 0)]);
    }
    o.calls = vec![Call { block: ENTRY, line: 4, callee: Callee::Unknown }];
    o
}

/// A thread of instance `of`, made in line 1, that executed `times` the function that `entry` calls.
fn thread(o: &mut Observed, id: u32, of: u64, (runs, times): (u32, u64)) {
    o.threads.push(id);
    let node = |node, parent, function: u32| Node {
        thread: id,
        id: node,
        parent,
        region: function + 1,
        visits: 1,
        wall_ns: 100 - u64::from(node),
        cpu_ns: 50,
    };
    o.nodes.extend([node(1, 0, ENTRY), node(2, 1, runs)]);
    o.parts.push(Part { kind: "join", cpu_ns: 50, ..part(id, of, &counts(runs, times)) });
}

fn counts(runs: u32, times: u64) -> Vec<u64> {
    let mut counts = vec![1, 1, 0, 0, 0, 0];
    counts[2 * runs as usize..][..2].fill(times);
    counts
}

/// What the threads of each section run, and who they are.
fn teams(sections: &[Section]) -> Vec<(Vec<&str>, Option<Vec<u32>>)> {
    let mut teams: Vec<_> =
        sections.iter().map(|s| (s.runs.iter().map(|name| &**name).collect(), s.team.clone())).collect();
    teams.sort();
    teams
}

#[test]
fn a_team_is_of_threads_that_run_the_same() {
    let mut o = program();
    for id in 1..4 {
        thread(&mut o, id, 0, (WORK, 1000));
    }
    thread(&mut o, 4, 0, (READ, 1));
    let sections = of(&o).sections;
    assert_eq!(teams(&sections), [(vec!["read"], Some(vec![4])), (vec!["work"], Some(vec![1, 2, 3]))]);
    assert!(sections.iter().all(|s| s.imbalance_percent == 0.0), "{sections:#?}");
}

#[test]
fn single_threads_that_run_several_things_are_one_team() {
    let mut o = program();
    thread(&mut o, 1, 0, (WORK, 1000));
    thread(&mut o, 2, 0, (READ, 1));
    let sections = of(&o).sections;
    assert_eq!(teams(&sections), [(vec![], Some(vec![1, 2]))]);
    assert!(sections[0].imbalance_percent > 90.0);
}

#[test]
fn who_creates_threads_and_does_the_work_of_some_is_one_of_them() {
    let mut o = program();
    thread(&mut o, 1, 0, (WORK, 1000));
    thread(&mut o, 2, 0, (READ, 1));
    // Thread 0 has `work` in its own function: a loop of that there is a block of the same region.
    let leader = function(&mut o, "leader", &[(20, 1)], &[(OUT, 0, 0), (0, OUT, 0)]);
    o.blocks[leader as usize].region = WORK + 1;
    o.threads.insert(0, 0);
    o.parts.push(Part { kind: "join", creator: true, ..part(0, 0, &[0, 0, 0, 0, 0, 0, 10_000, 10_000]) });
    let sections = of(&o).sections;
    assert_eq!(teams(&sections), [(vec!["read"], Some(vec![2])), (vec!["work"], Some(vec![0, 1]))]);
}

#[test]
fn instances_whose_threads_run_something_else_are_not_added_up() {
    let mut o = program();
    for (instance, runs) in [(0, WORK), (1, READ), (2, WORK)] {
        for id in 0..2 {
            thread(&mut o, 1 + 2 * instance as u32 + id, instance, (runs, 1000 * (1 + u64::from(id))));
        }
    }
    let sections = of(&o).sections;
    let mut told: Vec<(&str, u64)> = sections.iter().map(|s| (&*s.runs[0], s.instances)).collect();
    told.sort();
    assert_eq!(told, [("read", 1), ("work", 2)]);
    // Of one thread nothing is known: it may be any of them.
    o.nodes.retain(|node| node.thread != 3);
    assert_eq!(of(&o).sections.iter().map(|s| (s.runs.len(), s.instances)).collect::<Vec<_>>(), [(0, 3)]);
}

#[test]
fn tasks_that_a_thread_takes_in_a_loop_are_not_what_it_runs() {
    let mut o = program();
    o.edges[1] = FlowEdge { from: Some(0), to: Some(0), line: 4, back: true };
    thread(&mut o, 1, 0, (WORK, 1000));
    thread(&mut o, 2, 0, (WORK, 1000));
    thread(&mut o, 3, 0, (READ, 1));
    assert_eq!(teams(&of(&o).sections), [(vec![], Some(vec![1, 2, 3]))]);
}

#[test]
fn a_report_at_the_end_is_not_what_a_thread_runs() {
    let mut o = program();
    for (id, report) in [(1, READ), (2, READ), (3, READ + 1), (4, READ + 1)] {
        thread(&mut o, id, 0, (WORK, 1000));
        let last = Node { thread: id, id: 3, parent: 1, region: report + 1, visits: 1, wall_ns: 10, cpu_ns: 10 };
        o.nodes.push(last);
    }
    function(&mut o, "read more", &[(4, 10)], &[(OUT, 0, 0), (0, OUT, 0)]);
    // What takes most of the time is called by name, and the report through the pointer.
    o.calls.push(Call { block: ENTRY, line: 5, callee: Callee::Function(WORK) });
    assert_eq!(of(&o).sections.len(), 1);
    o.calls.pop();
    assert_eq!(of(&o).sections.len(), 1, "called both through pointers, neither is all that it is there for");
}
