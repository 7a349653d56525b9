//! What the fake runtime prints about control flow, and the slow way to derive all counts: as long as some block has
//! one unknown edge, what enters it leaves it.

use std::collections::{BTreeMap, HashMap};

/// A function's counts.
#[derive(Debug, Default)]
pub struct Counts {
    /// By block, from the counters of edges.
    pub derived: Vec<u64>,
    /// By block, from its own counter.
    pub own: Vec<u64>,
    /// Calls of the function.
    pub entries: u64,
    /// Flags and name of the functions that it calls.
    pub calls: Vec<(u32, String)>,
    /// It has no counters.
    pub uncounted: bool,
}

#[derive(Default)]
struct Function {
    name: String,
    flags: u32,
    works: Vec<u32>,
    edges: Vec<(i64, i64, usize)>,
    calls: Vec<(u32, String)>,
}

/// By function. Those of one name are told apart by a number.
pub fn counts(text: &str) -> BTreeMap<String, Counts> {
    let mut functions: Vec<Function> = Vec::new();
    let mut counters = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |i: usize| words[i].parse::<i64>().expect("a number");
        match words[0] {
            "function" => {
                let flags = number(2) as u32;
                functions.push(Function { name: words[1].into(), flags, ..Function::default() });
            }
            "block" => functions.last_mut().unwrap().works.push(number(1) as u32),
            "edge" => functions.last_mut().unwrap().edges.push((number(1), number(2), number(3) as usize)),
            "call" => functions.last_mut().unwrap().calls.push((number(2) as u32, words[3].into())),
            "counter" => counters.push(number(1) as u64),
            _ => {}
        }
    }
    let mut next = 0;
    let mut all = BTreeMap::new();
    for function in functions {
        next += function.edges.iter().filter(|e| e.2 > 0).count();
        let blocks = function.works.len();
        let known = function.edges.iter().map(|e| e.2.checked_sub(1).map(|c| counters[c] as i128)).collect();
        let edges = solve(&function.edges, known);
        let derived = (0..blocks as i64)
            .map(|b| function.edges.iter().zip(&edges).filter(|(e, _)| e.1 == b).map(|(_, n)| *n).sum::<i128>() as u64);
        let mut counts = Counts {
            derived: derived.collect(),
            own: counters[next..next + blocks].to_vec(),
            entries: function.edges.iter().zip(&edges).filter(|(e, _)| e.0 == -1).map(|(_, n)| *n as u64).sum(),
            calls: function.calls,
            uncounted: function.flags & 2 != 0,
        };
        next += blocks;
        // The block that stands for computed branches has no code, so no counter of its own.
        if function.works.last() == Some(&0) && counts.own.last() == Some(&0) {
            counts.derived.pop();
            counts.own.pop();
        }
        let mut name = function.name;
        while all.contains_key(&name) {
            name.push('\'');
        }
        all.insert(name, counts);
    }
    assert_eq!(next, counters.len(), "counters that belong to no function");
    all
}

fn solve(edges: &[(i64, i64, usize)], mut known: Vec<Option<i128>>) -> Vec<i128> {
    let mut at: HashMap<i64, Vec<usize>> = HashMap::new();
    for (i, e) in edges.iter().enumerate() {
        at.entry(e.0).or_default().push(i);
        if e.1 != e.0 {
            at.entry(e.1).or_default().push(i);
        }
    }
    loop {
        let mut changed = false;
        for (node, around) in &at {
            let unknown: Vec<usize> = around.iter().copied().filter(|&i| known[i].is_none()).collect();
            let [missing] = unknown[..] else { continue };
            let balance = |i: usize| {
                let (from, to, _) = edges[i];
                known[i].unwrap_or(0) * (i128::from(to == *node) - i128::from(from == *node))
            };
            let surplus: i128 = around.iter().map(|&i| balance(i)).sum();
            known[missing] = Some(if edges[missing].0 == *node { surplus } else { -surplus });
            changed = true;
        }
        if !changed {
            return known.into_iter().map(|n| n.expect("the counters determine all edges")).collect();
        }
    }
}
