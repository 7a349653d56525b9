//! Counts that follow from those of some edges, against walks through random graphs.

use proptest::prelude::*;
use threadtalk_crd::imbalance::flow::{Ends, Flow};

/// A graph in which every block is reached from the entry (0) and reaches the outside, with extra edges anywhere: the
/// ends of each edge, outside = `blocks`.
fn graph() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (1usize..12).prop_flat_map(|blocks| {
        let ways_in = proptest::collection::vec(any::<u32>(), blocks);
        let extra = proptest::collection::vec((0..blocks, 0..=blocks), 0..12);
        (ways_in, extra).prop_map(move |(ways_in, extra)| {
            let mut edges = vec![(blocks, 0)];
            // Each block is entered from an earlier one; all can leave.
            edges.extend((1..blocks).map(|b| (ways_in[b] as usize % b, b)));
            edges.extend((0..blocks).map(|b| (b, blocks)));
            edges.extend(extra);
            (blocks, edges)
        })
    })
}

fn find(parents: &mut [usize], mut at: usize) -> usize {
    while parents[at] != at {
        at = parents[at];
    }
    at
}

/// Edges outside of a spanning tree that takes them in this order.
fn counted(blocks: usize, edges: &[(usize, usize)], order: &[usize]) -> Vec<bool> {
    let mut parents: Vec<usize> = (0..=blocks).collect();
    let mut counted = vec![true; edges.len()];
    for &edge in order {
        let (a, b) = (find(&mut parents, edges[edge].0), find(&mut parents, edges[edge].1));
        if a != b {
            parents[a] = b;
            counted[edge] = false;
        }
    }
    counted
}

/// Counts of the edges on walks from outside to outside; each step takes the edge that `choices` says, and in the end
/// the way out.
fn walk(blocks: usize, edges: &[(usize, usize)], choices: &[u8]) -> Vec<u64> {
    let mut counts = vec![0; edges.len()];
    let mut at = blocks;
    let mut choices = choices.iter();
    loop {
        let ways: Vec<usize> = (0..edges.len()).filter(|&e| edges[e].0 == at).collect();
        let out = || ways.iter().copied().find(|&e| edges[e].1 == blocks);
        let edge = match choices.next() {
            Some(&choice) => ways[choice as usize % ways.len()],
            None if at == blocks => return counts,
            None => out().unwrap(),
        };
        counts[edge] += 1;
        at = edges[edge].1;
    }
}

fn ends(blocks: usize, edges: &[(usize, usize)], counted: &[bool]) -> Vec<Ends> {
    let inside = |b: usize| (b < blocks).then_some(b as u32);
    edges.iter().zip(counted).map(|(&(from, to), &counted)| (inside(from), inside(to), counted)).collect()
}

proptest! {
    #[test]
    fn any_spanning_tree_gives_what_was_walked(
        (blocks, edges) in graph(),
        choices in proptest::collection::vec(any::<u8>(), 0..200),
        keys in proptest::collection::vec(any::<u32>(), 40),
    ) {
        let walked = walk(blocks, &edges, &choices);
        let mut order: Vec<usize> = (0..edges.len()).collect();
        order.sort_by_key(|&e| (keys[e % keys.len()], e));
        let counted = counted(blocks, &edges, &order);
        prop_assert_eq!(counted.iter().filter(|c| !**c).count(), blocks, "a tree over the blocks and the outside");
        let mut counts: Vec<u64> = walked.iter().zip(&counted).map(|(&n, &c)| if c { n } else { 77 }).collect();
        Flow::new(blocks, &ends(blocks, &edges, &counted)).complete(&mut counts);
        prop_assert_eq!(counts, walked);
    }
}

#[test]
fn a_thread_that_is_still_inside_counts_as_if_it_had_left() {
    // Entry, a loop around block 1, out. Counters: on the back edge and on the way in.
    let edges = [(None, Some(0), true), (Some(0), Some(1), false), (Some(1), Some(1), true), (Some(1), None, false)];
    let mut counts = [1, 0, 40, 0];
    Flow::new(2, &edges).complete(&mut counts);
    assert_eq!(counts, [1, 1, 40, 1]);
}

#[test]
fn what_began_before_is_not_less_than_nothing() {
    // The section begins in block 0: nothing entered, but block 1 was entered twice through the counted edge.
    let edges = [(None, Some(0), false), (Some(0), Some(1), true), (Some(0), None, true), (Some(1), None, false)];
    let mut counts = [9, 2, 0, 9];
    Flow::new(2, &edges).complete(&mut counts);
    assert_eq!(counts, [2, 2, 0, 2]);
    let edges = [(None, Some(0), true), (Some(0), Some(1), true), (Some(0), None, false), (Some(1), None, false)];
    let mut counts = [0, 2, 9, 9];
    Flow::new(2, &edges).complete(&mut counts);
    assert_eq!(counts, [0, 2, 0, 2]);
}

#[test]
fn a_ring_without_a_counter_says_nothing_and_harms_nothing() {
    let edges = [(None, Some(0), true), (Some(0), Some(1), false), (Some(1), Some(0), false), (Some(0), None, false)];
    let mut counts = [5, 0, 0, 0];
    Flow::new(2, &edges).complete(&mut counts);
    assert_eq!(counts[0], 5);
}
