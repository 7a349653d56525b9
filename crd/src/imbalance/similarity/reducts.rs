//! Core and reducts (Liu et al., section 4.1, steps 1 to 3): the attributes without which some kinds cannot be told
//! apart, and the smallest sets that tell all of them apart that any attributes can.
//!
//! The reducts are the prime implicants of the discernibility function. With at most [`MAX_ATTRIBUTES`] attributes all
//! sets are tried at once: a set misses a cell if its complement holds the cell whole, and which sets hold a cell whole
//! is found by handing it on from each set to the sets with one attribute more.

use serde::Serialize;
use std::cmp::Reverse;

use super::{Cell, TooManyAttributes};

/// Attributes over which all reducts are searched: 2^20 sets are 1 MiB and some ten milliseconds.
pub const MAX_ATTRIBUTES: usize = 20;

/// Core, reducts and the one to report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reducts {
    /// Attributes that every reduct has.
    pub core: Vec<usize>,
    /// All reducts, smaller ones first.
    pub reducts: Vec<Vec<usize>>,
    /// The smallest one; of several the one whose attributes are in the most cells, then the first.
    pub chosen: Vec<usize>,
    /// Pairs of threads of different kinds that no attribute tells apart.
    pub inconsistent: usize,
}

/// Core and reducts of a discernibility matrix over `attributes` attributes.
///
/// # Errors
/// More than [`MAX_ATTRIBUTES`] attributes.
pub fn reducts(matrix: &[Vec<Cell>], attributes: usize) -> Result<Reducts, TooManyAttributes> {
    if attributes > MAX_ATTRIBUTES {
        return Err(TooManyAttributes { attributes });
    }
    let cells: Vec<&Vec<usize>> = matrix
        .iter()
        .flatten()
        .filter_map(|cell| if let Cell::Attributes(set) = cell { Some(set) } else { None })
        .collect();
    let mut core: Vec<usize> = cells.iter().filter(|set| set.len() == 1).map(|set| set[0]).collect();
    core.sort_unstable();
    core.dedup();
    let mut reducts = minimal_hitting_sets(&cells, attributes);
    reducts.sort_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
    let frequency =
        |set: &Vec<usize>| -> usize { set.iter().map(|a| cells.iter().filter(|cell| cell.contains(a)).count()).sum() };
    let smallest = reducts.iter().take_while(|set| set.len() == reducts[0].len());
    let chosen = smallest.min_by_key(|set| Reverse(frequency(set))).cloned().unwrap_or_default();
    let inconsistent = matrix.iter().flatten().filter(|cell| **cell == Cell::Inconsistent).count();
    Ok(Reducts { core, reducts, chosen, inconsistent })
}

fn minimal_hitting_sets(cells: &[&Vec<usize>], attributes: usize) -> Vec<Vec<usize>> {
    let all = (1usize << attributes) - 1;
    let mut holds_a_cell = vec![false; all + 1];
    for cell in cells {
        holds_a_cell[cell.iter().map(|a| 1 << a).sum::<usize>()] = true;
    }
    for bit in (0..attributes).map(|a| 1 << a) {
        for set in (0..=all).filter(|set| set & bit != 0) {
            holds_a_cell[set] |= holds_a_cell[set & !bit];
        }
    }
    let hits = |set: usize| !holds_a_cell[all & !set];
    let members = |set: usize| (0..attributes).filter(move |a| set >> a & 1 == 1);
    (0..=all)
        .filter(|&set| hits(set) && members(set).all(|a| !hits(set & !(1 << a))))
        .map(|set| members(set).collect())
        .collect()
}
