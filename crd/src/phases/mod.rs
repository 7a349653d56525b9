//! Communication over time: which pairs of threads talk when.
//!
//! A profile has for each thread what it read of each other one from one moment to another ([`pieces`]). The run is cut
//! where no such piece reaches across, which is where threads waited for each other, and between such cuts into slices
//! of equal length ([`slices`]). Neighbouring slices with like matrices make a phase, like phases a pattern
//! ([`patterns`]).

mod patterns;
mod pieces;
mod slices;

use std::collections::BTreeMap;
use threadtalk_profile::Profile;

use crate::model::{Entry, Matrix, Phase, Phases, Slice};
use patterns::SIMILARITY;

/// (writer, reader) to (RaW, RaR); logical threads.
type Cells = BTreeMap<(u32, u32), (u64, u64)>;

/// Phases of a run; none if the profile has no records of them: they were switched off, or the run was shorter than a
/// slice.
pub fn analyse(profile: &Profile) -> Option<Phases> {
    profile.phases().next()?;
    let coarse = profile.phases().any(|p| p.coarse);
    let cut = slices::cut(&pieces::of(profile));
    let phase_of = patterns::neighbours(&cut);
    let slices: Vec<Slice> = (cut.iter().zip(&phase_of))
        .map(|(slice, phase)| Slice {
            from_s: seconds(slice.from),
            to_s: seconds(slice.to),
            raw: sum(&slice.cells, |c| c.0),
            rar: sum(&slice.cells, |c| c.1),
            at_barrier: slice.at_barrier,
            phase: *phase,
        })
        .collect();
    let members = (0..phase_of.last().map_or(0, |last| last + 1)).map(|phase| {
        let first = phase_of.partition_point(|p| *p < phase);
        &cut[first..phase_of.partition_point(|p| *p <= phase)]
    });
    let cells: Vec<Cells> = members.clone().map(patterns::total).collect();
    let patterns = patterns::patterns(&cells);
    let phases = members.zip(&cells).zip(patterns).map(|((slices, cells), pattern)| {
        let threads = threads(cells);
        Phase {
            pattern,
            from_s: slices.first().map_or(0.0, |s| seconds(s.from)),
            to_s: slices.last().map_or(0.0, |s| seconds(s.to)),
            raw: matrix(cells, &threads, |c| c.0),
            rar: matrix(cells, &threads, |c| c.1),
            threads,
        }
    });
    let phases = phases.collect();
    Some(Phases { similarity: SIMILARITY, coarse, slices, phases })
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn sum(cells: &Cells, of: fn(&(u64, u64)) -> u64) -> u64 {
    cells.values().fold(0, |sum, c| sum.saturating_add(of(c)))
}

fn threads(cells: &Cells) -> Vec<u32> {
    let mut threads: Vec<u32> = cells.keys().flat_map(|(writer, reader)| [*writer, *reader]).collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}

fn matrix(cells: &Cells, threads: &[u32], of: fn(&(u64, u64)) -> u64) -> Matrix<u64> {
    let index = |thread: u32| threads.partition_point(|t| *t < thread) as u32;
    let entry = |(pair, value): (&(u32, u32), &(u64, u64))| Entry {
        writer: index(pair.0),
        reader: index(pair.1),
        value: of(value),
    };
    Matrix::new(threads.len(), cells.iter().map(entry).collect())
}
