//! Values that pass through cache lines in which false sharing was found: the lines travel for these anyhow.

use std::collections::{BTreeMap, BTreeSet};
use threadtalk_profile::{Profile, Stride};

use crate::constructs::Constructs;
use crate::lines::Positions;
use crate::model::Position;
use crate::objects::strides;
use crate::regions::{RegionId, Tree};

/// Who reads, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reader {
    region: RegionId,
    /// Where that runs: what is inlined runs where the loop does that it was inlined into.
    running: RegionId,
    /// Goes through memory step by step.
    steps: bool,
    /// The bit of the thread, as in [`threadtalk_profile::SharedLines::threads`].
    thread: u64,
}

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reads {
    /// True communication, without what was written while one thread existed.
    passed: u64,
    /// That and reuse, whenever it was written.
    all: u64,
}

/// A line and its region: what makes threads may stand in the line that they run.
type Line = (Position, Option<RegionId>);

/// What was read of what lines with a finding wrote.
pub struct Values<'a> {
    constructs: &'a Constructs<'a>,
    read: BTreeMap<Line, BTreeMap<Reader, Reads>>,
    /// What the constructs said of two regions.
    met: BTreeMap<[RegionId; 2], bool>,
}

/// One of the two lines of a finding.
#[derive(Clone, Copy)]
pub struct Side<'p> {
    /// The line.
    pub position: &'p Position,
    /// Its region; none if unknown.
    pub region: Option<RegionId>,
    /// Where that runs.
    pub running: Option<RegionId>,
    /// Goes through memory step by step.
    pub steps: bool,
}

impl Side<'_> {
    fn line(&self) -> Line {
        (self.position.clone(), self.region)
    }
}

impl<'a> Values<'a> {
    /// Those of a profile.
    pub fn of(profile: &Profile, tree: &Tree, positions: &Positions, constructs: &'a Constructs<'a>) -> Self {
        let sites = profile.shared_lines().flat_map(|found| [found.site, found.other_site]);
        let line = |site| -> Line { (positions.at(site), tree.of_site(profile, site)) };
        let lines: BTreeSet<Line> = sites.map(line).collect();
        let mut read: BTreeMap<Line, BTreeMap<Reader, Reads>> = BTreeMap::new();
        let mut known: BTreeMap<u32, Option<Line>> = BTreeMap::new();
        for event in profile.events() {
            let of_line = || Some(line(event.writer_site)).filter(|line| lines.contains(line));
            let Some(writer) = known.entry(event.writer_site).or_insert_with(of_line) else { continue };
            let Some(region) = tree.of_site(profile, event.reader_site) else { continue };
            let running = profile.caller_loop(event.reader_site).map_or(region, |caller| tree.node(caller));
            let steps = goes_by_steps(profile, event.reader_site);
            let reader = Reader { region, running, steps, thread: bit(event.reader) };
            let sum = read.entry(writer.clone()).or_default().entry(reader).or_default();
            sum.passed = sum.passed.saturating_add(if event.is_serial() { 0 } else { event.raw });
            sum.all = sum.all.saturating_add(event.raw).saturating_add(event.rar);
        }
        Self { constructs, read, met: BTreeMap::new() }
    }

    /// Whether threads may be in two regions at once, as far as is known.
    pub fn may_meet(&mut self, regions: [Option<RegionId>; 2]) -> bool {
        let [Some(a), Some(b)] = regions else { return true };
        *self.met.entry([a, b]).or_insert_with(|| self.constructs.may_meet([a, b]))
    }

    /// Values that one of two lines wrote and that are the reason why the cache line comes: read in the region of
    /// either, wherever in it that was, or by one of the threads that write there, in whatever function, unless that
    /// is another step of the program. Who finds a place in a table of hashes and fills it in another function, and
    /// who takes turns with another thread at a list of records, a loop over one member after the other, fetches the
    /// lines for the values. Who only looks at results in the end, as `main` does, is none of the threads that write.
    /// Nor does it count where threads write at one line, step by step, what they read step by step elsewhere: that is
    /// after a barrier, and before it the lines were taken away write by write.
    pub fn passed(&mut self, sides: [Side<'_>; 2], threads: u64) -> u64 {
        let regions = sides.map(|side| side.region);
        let of_one_line = sides[0].line() == sides[1].line();
        let mut sum = 0u64;
        for side in sides.into_iter().take(if of_one_line { 1 } else { 2 }) {
            let read: Vec<(Reader, u64)> = self.read.get(&side.line()).map_or_else(Vec::new, |read| {
                read.iter().filter(|(_, reads)| reads.passed > 0).map(|(r, reads)| (*r, reads.passed)).collect()
            });
            for (reader, passed) in read {
                let is_one = regions.contains(&Some(reader.region))
                    || reader.thread & threads != 0
                        && !(of_one_line && side.steps && reader.steps)
                        && self.may_meet([side.running, Some(reader.running)]);
                sum = sum.saturating_add(if is_one { passed } else { 0 });
            }
        }
        sum
    }

    /// How often threads read what a line wrote while another one may be in a region: all reads of a value of another
    /// thread are counted. None if a thread is not known to read it.
    pub fn read_beside(&mut self, of: Side<'_>, thread: u32, running: RegionId) -> Option<(bool, u64)> {
        let read: Vec<(Reader, u64)> = self.read.get(&of.line())?.iter().map(|(r, reads)| (*r, reads.all)).collect();
        read.iter().find(|(reader, _)| reader.thread == bit(thread))?;
        let (mut meets, mut sum) = (false, 0u64);
        for (reader, reads) in read {
            if self.may_meet([Some(running), Some(reader.running)]) {
                meets |= reader.thread == bit(thread);
                sum = sum.saturating_add(reads);
            }
        }
        Some((meets, sum))
    }
}

/// Whether a site goes through memory in its innermost loop, by the same step each time.
pub fn goes_by_steps(profile: &Profile, site: u32) -> bool {
    !matches!(strides(profile, site).0, Stride::None | Stride::Bytes(0))
}

/// Threads are told apart modulo 64.
fn bit(thread: u32) -> u64 {
    1 << (thread % 64)
}
