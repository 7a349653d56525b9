//! All counts of a control flow graph from those of some of its edges.
//!
//! Only edges outside a spanning tree have counters (Knuth and Stevenson 1973): what enters a block also leaves it, so
//! a block with one unknown edge gives that edge, and a tree always has a block with one. The world outside the
//! function is the root: its own balance is not needed. That makes the result exact for calls that returned, and where
//! a thread is still inside (its part of a section ended there) it counts as if it had left from there.

/// Which edge follows from which others, in the order in which they can be computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    steps: Vec<Step>,
}

/// An edge's count is the sum of those that `add` less those that do not.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    edge: usize,
    terms: Vec<(usize, bool)>,
}

/// An edge as far as its flow goes: from block, to block (none = outside the function), has a counter.
pub type Ends = (Option<u32>, Option<u32>, bool);

impl Flow {
    /// How the edges without counters follow from the others. Edges without counters in a ring, which no compiler
    /// leaves, follow from nothing and count as never taken.
    pub fn new(blocks: usize, edges: &[Ends]) -> Flow {
        let mut at: Vec<Vec<(usize, bool)>> = vec![Vec::new(); blocks];
        let mut unknown = vec![0usize; blocks];
        for (index, &(from, to, counted)) in edges.iter().enumerate() {
            // What leaves a block for itself is in neither sum.
            if from == to {
                continue;
            }
            for (block, enters) in [(from, false), (to, true)] {
                let Some(block) = block else { continue };
                at[block as usize].push((index, enters));
                unknown[block as usize] += usize::from(!counted);
            }
        }
        let mut found: Vec<bool> = edges.iter().map(|e| e.2).collect();
        let mut ready: Vec<usize> = (0..blocks).filter(|&b| unknown[b] == 1).collect();
        let mut steps = Vec::new();
        while let Some(block) = ready.pop() {
            let Some(&(edge, enters)) = at[block].iter().find(|(e, _)| !found[*e]) else { continue };
            // What enters is what leaves: the others of its own side are taken away, those of the other side added.
            let terms = at[block].iter().filter(|(e, _)| *e != edge).map(|&(e, other)| (e, other != enters)).collect();
            steps.push(Step { edge, terms });
            found[edge] = true;
            for block in [edges[edge].0, edges[edge].1].into_iter().flatten() {
                unknown[block as usize] -= 1;
                if unknown[block as usize] == 1 {
                    ready.push(block as usize);
                }
            }
        }
        Flow { steps }
    }

    /// Fills in the edges without counters. `counts`: of each edge; what stands at those is not looked at. A count that
    /// comes out below zero, where a part of a run begins or ends inside, is 0.
    pub fn complete(&self, counts: &mut [u64]) {
        let mut signed: Vec<i64> = counts.iter().map(|&c| i64::try_from(c).unwrap_or(i64::MAX)).collect();
        for step in &self.steps {
            let term = |&(edge, adds): &(usize, bool)| if adds { signed[edge] } else { signed[edge].saturating_neg() };
            signed[step.edge] = step.terms.iter().map(term).fold(0, i64::saturating_add);
        }
        for step in &self.steps {
            counts[step.edge] = signed[step.edge].max(0) as u64;
        }
    }
}
