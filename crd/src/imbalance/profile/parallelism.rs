//! Parallel block vectors of the program (Kambadur et al.).

use std::collections::BTreeMap;

use super::super::pbv::{self, Class, Classified};
use super::model::{AnomalousRegion, BlockRow, Parallelism, known};
use super::observed::{Counting, Observed};

/// Vectors of all blocks; none without control flow.
pub fn parallelism(observed: &Observed) -> Option<Parallelism> {
    if observed.blocks.is_empty() || observed.by_level.is_empty() {
        return None;
    }
    let mut vectors: Vec<Vec<u64>> = vec![Vec::new(); observed.blocks.len()];
    for (level, executions) in &observed.by_level {
        // While a thread runs there is one.
        let at = (*level).max(1) as usize - 1;
        for &(block, count) in executions {
            let vector = &mut vectors[block as usize];
            vector.resize(vector.len().max(at + 1), 0);
            vector[at] = vector[at].saturating_add(count);
        }
    }
    let contents = observed.blocks.iter().map(|b| &b.contents);
    let mix = pbv::mix(vectors.iter().map(|v| &v[..]).zip(contents));
    let totals = |side: fn(&[u64]) -> u64| -> Vec<u64> { vectors.iter().map(|v| side(v)).filter(|&n| n > 0).collect() };
    let serial = pbv::curve(&totals(|v| v.first().copied().unwrap_or(0)));
    let parallel = pbv::curve(&totals(|v| v.iter().skip(1).sum()));
    let mut weighted = (0.0, 0.0);
    for (index, vector) in (0u32..).zip(&vectors) {
        let each = observed.instructions(index) as f64;
        for (at, &count) in vector.iter().enumerate() {
            weighted.0 += each * count as f64 * (at + 1) as f64;
            weighted.1 += each * count as f64;
        }
    }
    let mut time: BTreeMap<&'static str, BTreeMap<u32, f64>> = BTreeMap::new();
    for level in &observed.levels {
        let name = if level.counting == Counting::Nominal { "nominal" } else { "effective" };
        *time.entry(name).or_default().entry(level.threads).or_default() += level.ns as f64 * 1e-9;
    }
    Some(Parallelism {
        counting: observed.counting,
        opcode_mix: mix.classes.iter().map(|(&class, mix)| (class, mix.shares.clone())).collect(),
        anomalous: anomalous(observed, &vectors),
        hot_spots: BTreeMap::from([("serial", serial), ("parallel", parallel)]),
        average_degree: (weighted.1 > 0.0).then(|| weighted.0 / weighted.1),
        time,
        classes: mix.classes,
        blocks: rows(observed, vectors),
    })
}

fn rows(observed: &Observed, vectors: Vec<Vec<u64>>) -> Vec<BlockRow> {
    let row = |(block, counts): (&super::observed::Block, Vec<u64>)| {
        let Classified { class, counts, average_degree } = Classified::new(counts);
        BlockRow {
            function: observed.functions[block.function as usize].name.clone(),
            file: block.file.clone(),
            line: known(block.line),
            end_line: known(block.end_line),
            region: block.region,
            class,
            counts,
            average_degree,
        }
    };
    observed.blocks.iter().zip(vectors).map(row).collect()
}

fn anomalous(observed: &Observed, vectors: &[Vec<u64>]) -> Vec<AnomalousRegion> {
    let mut by_region: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for (block, vector) in observed.blocks.iter().zip(vectors) {
        let sum = by_region.entry(block.region).or_default();
        sum.resize(sum.len().max(vector.len()), 0);
        sum.iter_mut().zip(vector).for_each(|(s, v)| *s = s.saturating_add(*v));
    }
    let of = |(region, counts): (u32, Vec<u64>)| {
        let found = pbv::anomaly(&counts)?;
        let of = &observed.regions[region as usize];
        Some(AnomalousRegion {
            region,
            name: of.name.clone(),
            file: of.at.file.clone(),
            line: of.at.line,
            serial: found.serial,
            parallel: found.parallel,
        })
    };
    by_region.into_iter().filter_map(of).collect()
}

/// Vectors of the blocks of one function or line, added up; the hottest first.
pub fn fold(blocks: &[BlockRow], by_line: bool) -> Vec<Folded> {
    type Place<'a> = (&'a str, Option<&'a str>, Option<u32>);
    let mut folded: BTreeMap<Place, Vec<u64>> = BTreeMap::new();
    for block in blocks.iter().filter(|b| b.class != Class::Never) {
        let line = block.line.filter(|_| by_line);
        let sum = folded.entry((&block.function, block.file.as_deref(), line)).or_default();
        sum.resize(sum.len().max(block.counts.len()), 0);
        sum.iter_mut().zip(&block.counts).for_each(|(s, v)| *s = s.saturating_add(*v));
    }
    let mut rows: Vec<Folded> = folded
        .into_iter()
        .map(|((function, file, line), counts)| Folded {
            function: function.to_owned(),
            file: file.map(str::to_owned),
            line,
            of: Classified::new(counts),
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.of.counts.iter().sum::<u64>()));
    rows
}

/// A function or a line with the vectors of its blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Folded {
    /// Function.
    pub function: String,
    /// File.
    pub file: Option<String>,
    /// Line; none for a whole function, or unknown.
    pub line: Option<u32>,
    /// Their sum.
    pub of: Classified,
}
