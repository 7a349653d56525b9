//! Pairs of lines: which line wrote what which line read.

use std::collections::HashMap;
use threadtalk_profile::{Module, Profile, Site};

use crate::callers::Callers;
use crate::model::{Line, Position};
use crate::sites::SiteCount;

/// Number of a position: its rank among all, so that numbers and positions have one order. 0 = unknown.
type PositionId = u32;

/// All positions that sites of a profile have.
pub struct Positions {
    positions: Vec<Position>,
    /// First global site of each module and the positions of its sites, ascending.
    modules: Vec<(u32, Vec<PositionId>)>,
}

/// Events of a pair of positions.
#[derive(Clone, Copy)]
pub struct PairCount {
    writer: PositionId,
    reader: PositionId,
    raw: u64,
    rar: u64,
}

impl Positions {
    /// The positions of a profile: those of sites in functions of a library are the lines that call them, where each
    /// function has one such line.
    pub fn new(profile: &Profile, callers: &Callers) -> Self {
        let of_site = |module: &Module, site: &Site| {
            callers.only(module, site.region).cloned().unwrap_or_else(|| Position::new(&site.file, site.line))
        };
        let unknown = Position { file: None, line: None };
        let mut known: HashMap<Position, PositionId> = HashMap::from([(unknown, 0)]);
        let sites = profile.modules().iter().flat_map(|m| m.sites.iter().map(move |site| (m, site)));
        known.extend(sites.map(|(module, site)| (of_site(module, site), 0)));
        let mut positions: Vec<Position> = known.keys().cloned().collect();
        positions.sort();
        for (rank, p) in (0..).zip(&positions) {
            known.insert(p.clone(), rank);
        }
        let modules = profile.modules().iter().map(|m| {
            let ranks = m.sites.iter().map(|site| known[&of_site(m, site)]).collect();
            (m.bases.site_base, ranks)
        });
        Self { modules: modules.collect(), positions }
    }

    fn of_site(&self, site: u32) -> PositionId {
        let after = self.modules.partition_point(|(base, _)| *base <= site);
        let module = after.checked_sub(1).map(|at| &self.modules[at]);
        module.and_then(|(base, ranks)| ranks.get((site - base) as usize).copied()).unwrap_or(0)
    }

    /// The position of a site.
    pub fn at(&self, site: u32) -> Position {
        self.positions[self.of_site(site) as usize].clone()
    }

    /// Events by pair of positions, each pair once.
    pub fn count(&self, sums: &[SiteCount]) -> Vec<PairCount> {
        let pairs = sums.iter().map(|sum| PairCount {
            writer: self.of_site(sum.writer),
            reader: self.of_site(sum.reader),
            raw: sum.raw,
            rar: sum.rar,
        });
        fold(pairs.collect())
    }

    /// The pairs with their positions, those with the most true communication first.
    pub fn describe(&self, mut pairs: Vec<PairCount>) -> Vec<Line> {
        pairs.sort_unstable_by_key(|p| (std::cmp::Reverse((p.raw, p.rar)), p.writer, p.reader));
        let position = |id: PositionId| self.positions[id as usize].clone();
        let line =
            |p: PairCount| Line { writer: position(p.writer), reader: position(p.reader), raw: p.raw, rar: p.rar };
        pairs.into_iter().map(line).collect()
    }
}

/// Adds up pairs that occur more than once.
pub fn fold(mut pairs: Vec<PairCount>) -> Vec<PairCount> {
    pairs.sort_unstable_by_key(|p| (p.writer, p.reader));
    pairs.dedup_by(|next, kept| {
        let same = (next.writer, next.reader) == (kept.writer, kept.reader);
        if same {
            kept.raw = kept.raw.saturating_add(next.raw);
            kept.rar = kept.rar.saturating_add(next.rar);
        }
        same
    });
    pairs
}
