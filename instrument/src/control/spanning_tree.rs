//! Which edges of a graph get a counter: those outside a spanning tree of greatest weight.
//!
//! What enters a node leaves it, so the counts of a tree's edges follow from the others', leaf by leaf. A tree of
//! greatest weight leaves the least weight to be counted (Knuth and Stevenson 1973; Ball and Larus, *Optimally
//! profiling and tracing programs*, 1994).

/// An edge between two nodes.
#[derive(Clone, Copy, Debug)]
pub struct TreeEdge {
    /// A node.
    pub from: usize,
    /// A node.
    pub to: usize,
    /// How often the edge is expected to be taken, times what a counter there costs.
    pub weight: f64,
    /// Whether it can have a counter.
    pub countable: bool,
}

/// The edges to count, in ascending order; `None` if edges without a place for a counter form a cycle.
pub fn counted(nodes: usize, edges: &[TreeEdge]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..edges.len()).collect();
    // What cannot be counted must be in the tree. Equal weights: the first.
    order.sort_by(|&a, &b| {
        let key = |e: &TreeEdge| (e.countable, std::cmp::Reverse(Weight(e.weight)));
        key(&edges[a]).cmp(&key(&edges[b])).then(a.cmp(&b))
    });
    let mut trees = Trees::new(nodes);
    let mut counted = Vec::new();
    for at in order {
        if !trees.join(edges[at].from, edges[at].to) {
            if !edges[at].countable {
                return None;
            }
            counted.push(at);
        }
    }
    counted.sort_unstable();
    Some(counted)
}

/// A weight that is compared as a number.
#[derive(Clone, Copy, Debug)]
struct Weight(f64);

impl PartialEq for Weight {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Weight {}

impl PartialOrd for Weight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Weight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Which nodes are connected.
struct Trees {
    parent: Vec<usize>,
}

impl Trees {
    fn new(nodes: usize) -> Self {
        Trees { parent: (0..nodes).collect() }
    }

    fn root(&mut self, mut node: usize) -> usize {
        while self.parent[node] != node {
            self.parent[node] = self.parent[self.parent[node]];
            node = self.parent[node];
        }
        node
    }

    /// Connects two nodes; false if they were connected.
    fn join(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a] = b;
        a != b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: usize, to: usize, weight: f64) -> TreeEdge {
        TreeEdge { from, to, weight, countable: true }
    }

    #[test]
    fn the_cheaper_way_round_is_counted() {
        // outside -> 0 -> {1, 2} -> 3 -> outside, with 2 rare.
        let edges =
            [edge(4, 0, 1.0), edge(0, 1, 0.9), edge(0, 2, 0.1), edge(1, 3, 0.9), edge(2, 3, 0.1), edge(3, 4, 1.0)];
        let counted = counted(5, &edges).unwrap();
        assert_eq!(counted.len(), edges.len() - 4);
        let weight: f64 = counted.iter().map(|&e| edges[e].weight).sum();
        assert!((weight - 1.0).abs() < 1e-9, "{counted:?}");
    }

    #[test]
    fn a_loop_to_itself_is_always_counted() {
        let edges = [edge(1, 0, 1.0), edge(0, 0, 1000.0), edge(0, 1, 1.0)];
        assert!(counted(2, &edges).unwrap().contains(&1));
    }

    #[test]
    fn edges_without_a_place_are_left_to_the_tree_unless_they_form_a_cycle() {
        let no_place = |from, to| TreeEdge { countable: false, ..edge(from, to, 0.0) };
        assert_eq!(counted(3, &[edge(0, 1, 9.0), no_place(0, 1), edge(1, 2, 1.0)]), Some(vec![0]));
        assert_eq!(counted(2, &[no_place(0, 1), no_place(1, 0)]), None);
    }
}
