//! Several profiles as one: the ranks of a job side by side, or runs of one program added up.
//!
//! Numbers of sites, regions and threads are those of their own profile, so all are given out anew: equal modules
//! become one, user regions of the same path become one, threads become new ones ([`How::Ranks`]) or the ones of the
//! same number ([`How::Sum`]). No count is lost or made: each total of the result is the sum of the parts' totals,
//! whatever their order.

mod execution;
mod header;
mod numbers;
mod objects;
mod sums;
mod threads;

use self::numbers::{Regions, Sites, Source};
use crate::write::Contents;

/// Key in the meta data: number of profiles that were merged as ranks.
pub const RANKS: &str = "merged.ranks";
/// Key in the meta data: number of runs that were added up.
pub const RUNS: &str = "merged.runs";
/// Beginning of the keys that name the parts: `merged.part.0`, ...
pub const PART: &str = "merged.part.";

/// What the threads of the parts have to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Nothing: each part is a process of its own. Its threads get numbers after those of the parts before, and names
    /// that begin with `r` and the number of the part.
    Ranks,
    /// Each part is a run of the same program: threads of the same number are the same.
    Sum,
}

/// A profile and what it is called in messages and in the result.
#[derive(Clone, Debug)]
pub struct Part {
    /// File name, or whatever tells it from the others. Without NUL.
    pub name: String,
    /// Its tables.
    pub contents: Contents,
}

/// Why profiles do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// There is nothing to merge.
    #[error("no profile to merge")]
    Nothing,
    /// Elements of different sizes: an event here is not an event there.
    #[error("{first} counts elements of {expected} bytes, {name} elements of {found}: record both with one version")]
    Granule {
        /// The first part.
        first: String,
        /// Its size of an element.
        expected: u32,
        /// The part that differs.
        name: String,
        /// Its size of an element.
        found: u32,
    },
    /// Runs of one program have as many bits for lines: these are of different programs, or of one with other options.
    #[error(
        "{first} has {expected} bits for lines, {name} has {found}, so these are not runs of one program with the same options: \
         merge them as ranks"
    )]
    SiteBits {
        /// The first part.
        first: String,
        /// Its bits.
        expected: u32,
        /// The part that differs.
        name: String,
        /// Its bits.
        found: u32,
    },
    /// Numbers have 32 bits.
    #[error("{what} of all parts together do not fit into 32 bits: merge fewer profiles")]
    TooMany {
        /// Lines, regions or threads.
        what: &'static str,
    },
}

/// Merges profiles. The order of the parts gives the numbers of ranks and threads and changes nothing else.
pub fn merge(parts: &[Part], how: How) -> Result<Contents, MergeError> {
    header::check(parts, how)?;
    let mut sites = Sites::default();
    let modules: Vec<_> = parts.iter().map(|p| sites.add(&p.contents.modules)).collect::<Result<_, _>>()?;
    let mut regions = Regions::new(sites.next_region());
    let user: Vec<_> = parts.iter().map(|p| regions.add(&p.contents.user_regions)).collect::<Result<_, _>>()?;
    let threads = threads::number(parts, how)?;
    let mut places = execution::Places::default();
    let code: Vec<_> = parts.iter().map(|p| places.add(&p.contents.code)).collect();
    let sources: Vec<Source<'_>> = (parts.iter().zip(modules).zip(user).zip(code).zip(&threads))
        .zip(header::delays(parts, how))
        .map(|(((((part, modules), user), code), threads), delay)| {
            let contents = &part.contents;
            Source { contents, modules, user, code, threads, delay }
        })
        .collect();
    // Every table is named: one that is added to the format must be merged, too.
    Ok(Contents {
        header: header::merge(parts, how),
        meta: header::meta(parts, how),
        modules: sites.modules,
        threads: threads::merge(&sources, how),
        events: sums::events(&sources),
        visits: sums::visits(&sources),
        traces: sums::traces(&sources),
        private_bytes: sums::private_bytes(&sources),
        user_regions: regions.user,
        counts: execution::counts(&sources),
        nodes: execution::nodes(&sources),
        instances: execution::instances(&sources),
        blocked: execution::blocked(&sources),
        levels: execution::levels(&sources),
        code: places.code,
        phases: sums::phases(&sources, how),
        allocations: objects::allocations(&sources),
        object_events: objects::object_events(&sources),
        shared_lines: objects::shared_lines(&sources),
        written_sites: objects::written_sites(&sources, |c| &c.written_sites),
        serial_sites: objects::written_sites(&sources, |c| &c.serial_sites),
    })
}
