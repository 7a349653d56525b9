//! Edge counts of a made-up program: a main loop with branches that fall by chance, alike in all threads, and planted
//! causes.

use super::random::Random;
use threadtalk_crd::imbalance::lime::{Edge, HardwareEvent, Kind, Section};

/// Iterations of the main loop.
const ITERATIONS: u32 = 1000;

/// Instructions of a random branch, and of an iteration beside them.
const BRANCH_WORK: f64 = 3.0;
const ITERATION_WORK: f64 = 50.0;

/// What is planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// An if that one thread takes.
    If,
    /// A loop with unequal counts.
    Loop,
    /// Blocks owned by `(I + J) % P`, 15 by 15, as in the paper's LU.
    Owner,
    /// A recursive walk of unequal trees.
    Walk,
    /// A load that misses more often in some threads.
    Misses,
    /// An if that one thread takes, and a loop with unequal counts.
    Two,
    /// Nothing.
    Nothing,
}

pub const PLANTS: [Plant; 7] =
    [Plant::If, Plant::Loop, Plant::Owner, Plant::Walk, Plant::Misses, Plant::Two, Plant::Nothing];

/// A section under construction.
struct Program {
    threads: usize,
    section: Section,
    next_node: u32,
    planted: Vec<(Kind, u32)>,
}

impl Program {
    fn node(&mut self) -> u32 {
        self.next_node += 1;
        self.next_node
    }

    fn edge(&mut self, from: u32, to: u32, back: bool, counts: Vec<f64>) {
        self.section.edges.push(Edge { from, to, back, counts });
    }

    fn work(&mut self, counts: &[f64], each: f64) {
        self.section.dependent.iter_mut().zip(counts).for_each(|(t, c)| *t += c * each);
    }

    /// `at` branches to `taken` or directly to the node that is returned.
    fn branch(&mut self, at: u32, taken: u32, times: f64, counts: &[f64]) -> u32 {
        let after = self.node();
        self.edge(at, taken, false, counts.to_vec());
        self.edge(at, after, false, counts.iter().map(|c| times - c).collect());
        after
    }

    fn if_of_one(&mut self, random: &mut Random, at: u32, amount: f64) -> u32 {
        let it = random.below(self.threads);
        let counts: Vec<f64> = (0..self.threads).map(|t| f64::from(u8::from(t == it))).collect();
        let (inside, body) = (self.node(), self.node());
        let after = self.branch(at, inside, 1.0, &counts);
        let rounds: Vec<f64> = counts.iter().map(|c| c * amount).collect();
        self.edge(inside, body, false, rounds.clone());
        self.edge(body, inside, true, rounds.clone());
        self.edge(inside, after, false, counts);
        self.work(&rounds, 5.0);
        self.planted.push((Kind::ControlFlow, at));
        after
    }

    fn unequal_loop(&mut self, random: &mut Random, from: u32, amount: f64) -> u32 {
        let rounds: Vec<f64> = (0..self.threads).map(|_| (amount * random.unit()).round()).collect();
        let (header, body, after) = (self.node(), self.node(), self.node());
        let ones = vec![1.0; self.threads];
        self.edge(from, header, false, ones.clone());
        self.edge(header, body, false, rounds.clone());
        self.edge(body, header, true, rounds.clone());
        self.edge(header, after, false, ones);
        self.work(&rounds, 5.0);
        self.planted.push((Kind::ControlFlow, header));
        after
    }

    fn owner(&mut self, at: u32, amount: f64) -> u32 {
        let mut blocks = vec![0.0; self.threads];
        let sums = (1..=15).flat_map(|i| (1..=15).map(move |j| i + j));
        sums.for_each(|sum| blocks[sum % self.threads] += 1.0);
        let inside = self.node();
        let after = self.branch(at, inside, 225.0, &blocks);
        self.edge(inside, after, false, blocks.clone());
        self.work(&blocks, amount);
        self.planted.push((Kind::ControlFlow, at));
        after
    }

    fn walk(&mut self, random: &mut Random, from: u32, amount: f64) -> u32 {
        let nodes: Vec<f64> = (0..self.threads).map(|_| 2.0 + (amount * random.unit()).round()).collect();
        let (walk, inside, after) = (self.node(), self.node(), self.node());
        let ones = vec![1.0; self.threads];
        self.edge(from, walk, false, ones.clone());
        self.edge(walk, inside, false, nodes.clone());
        self.edge(inside, walk, true, nodes.iter().map(|n| n - 1.0).collect());
        self.edge(inside, after, false, ones);
        self.work(&nodes, 5.0);
        self.planted.push((Kind::ControlFlow, walk));
        after
    }

    fn misses(&mut self, random: &mut Random, executed: f64, amount: f64) {
        let counts: Vec<f64> = (0..self.threads).map(|_| (amount * random.unit()).round()).collect();
        self.work(&counts, 5.0);
        self.planted.push((Kind::Hardware, 1));
        let superiors = vec![vec![executed; self.threads]];
        self.section.hardware.push(HardwareEvent { id: 1, counts, superiors });
    }
}

/// A section of `threads` threads with `branches` random branches, and what was planted.
pub fn section(seed: u64, threads: usize, branches: usize, plant: Plant) -> (Section, Vec<(Kind, u32)>) {
    let mut random = Random(seed);
    let section = Section { dependent: vec![0.0; threads], ..Section::default() };
    let mut p = Program { threads, section, next_node: 0, planted: Vec::new() };
    let all = vec![f64::from(ITERATIONS); threads];
    let ones = vec![1.0; threads];
    let (entry, header) = (p.node(), p.node());
    p.edge(entry, header, false, ones.clone());
    p.work(&all, ITERATION_WORK);
    let mut at = p.node();
    p.edge(header, at, false, all.clone());
    for id in 0..branches as u32 {
        let counts: Vec<f64> = (0..threads).map(|_| random.heads(ITERATIONS)).collect();
        let inside = p.node();
        let after = p.branch(at, inside, f64::from(ITERATIONS), &counts);
        p.edge(inside, after, false, counts.clone());
        p.work(&counts, BRANCH_WORK);
        // Its load misses the cache in every eighth execution.
        let missed = counts.iter().map(|c| c / 8.0).collect();
        p.section.hardware.push(HardwareEvent { id: 1000 + id, counts: missed, superiors: vec![counts] });
        at = after;
    }
    p.edge(at, header, true, all);
    let after = p.node();
    p.edge(header, after, false, ones);
    // The work of the main loop, about: what is planted takes up to as long.
    let amount = f64::from(ITERATIONS) * (ITERATION_WORK + BRANCH_WORK * branches as f64 / 2.0) / 5.0;
    match plant {
        Plant::If => {
            p.if_of_one(&mut random, after, amount);
        }
        Plant::Loop => {
            p.unequal_loop(&mut random, after, amount);
        }
        Plant::Owner => {
            p.owner(after, amount);
        }
        Plant::Walk => {
            p.walk(&mut random, after, amount);
        }
        Plant::Misses => p.misses(&mut random, 2.0 * amount, amount),
        Plant::Two => {
            // Of the same deviation over the threads: that of a single one is sqrt(n - 1) / n, of a uniform count
            // sqrt(1 / 12).
            let n = threads as f64;
            let at = p.if_of_one(&mut random, after, (amount * n / (12.0 * (n - 1.0)).sqrt()).round());
            p.unequal_loop(&mut random, at, amount);
        }
        Plant::Nothing => {}
    }
    (p.section, p.planted)
}
