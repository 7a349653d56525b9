//! Discernibility matrices (Liu et al., section 4.1; Skowron and Rauszer).

use super::DecisionTable;

/// What two rows differ in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// They have the same decision (the paper's 0).
    Same,
    /// Their decisions differ and no attribute does (the paper's -1).
    Inconsistent,
    /// Their decisions differ, and so do these attributes, ascending.
    Attributes(Vec<usize>),
}

/// The upper triangle without the diagonal: `result[i][j - i - 1]` belongs to the rows `i` and `j`, `i < j`.
pub fn discernibility(table: &DecisionTable) -> Vec<Vec<Cell>> {
    let cell = |i: usize, j: usize| {
        if table.decisions[i] == table.decisions[j] {
            return Cell::Same;
        }
        let (a, b) = (&table.rows[i], &table.rows[j]);
        let differing: Vec<usize> = (0..a.len()).filter(|&k| a[k] != b[k]).collect();
        if differing.is_empty() { Cell::Inconsistent } else { Cell::Attributes(differing) }
    };
    let n = table.rows.len();
    (0..n).map(|i| (i + 1..n).map(|j| cell(i, j)).collect()).collect()
}
