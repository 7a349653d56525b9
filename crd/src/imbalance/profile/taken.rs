//! Work that the threads of a section take themselves, piece by piece, from a counter.
//!
//! Which pieces there were is not recorded, unlike those of OpenMP (`handed_out`). Who took how many is up to the
//! scheduler, all the more on a machine with fewer processors than threads, where those that run first take all. So
//! where there were many for each thread, that the threads did not do the same says nothing about the program.

use super::instances::Instance;
use super::model::{Taken, known};
use super::observed::{Observed, SiteOf};

/// Pieces for each thread of an instance from which on no thread has to wait long for another one's last piece.
const MANY: f64 = 10.0;

/// The counter from which the threads of these instances took most pieces, if they were many.
pub fn taken(observed: &Observed, instances: &[&Instance]) -> Option<Taken> {
    let threads: f64 = instances.iter().map(|i| i.parts[0].weight * i.parts.len() as f64).sum();
    let counters = observed.counters_of_work.iter().map(|counter| (counter, pieces(observed, instances, counter)));
    let (counter, pieces) = counters.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (pieces >= MANY * threads).then(|| Taken {
        file: counter.at.file.clone(),
        line: known(counter.at.line),
        pieces: pieces.round() as u64,
    })
}

/// How often threads added to a counter: of several blocks with a store at its line, the one that was executed
/// most.
fn pieces(observed: &Observed, instances: &[&Instance], counter: &SiteOf) -> f64 {
    let is_at = |&block: &u32| {
        let of = &observed.blocks[block as usize];
        of.region == counter.region && of.stores_at(&counter.at.file, counter.at.line)
    };
    let mut most = 0.0_f64;
    for block in (0..observed.blocks.len() as u32).filter(is_at) {
        let of_instance = |i: &&Instance| {
            let of_thread = |executions: &Vec<(u32, u64)>| {
                executions.binary_search_by_key(&block, |(of, _)| *of).map_or(0, |at| executions[at].1)
            };
            i.parts[0].weight * i.executions.iter().map(of_thread).sum::<u64>() as f64
        };
        most = most.max(instances.iter().map(of_instance).sum());
    }
    most
}
