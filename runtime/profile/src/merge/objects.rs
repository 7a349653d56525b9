//! Allocations and what is known of cache lines.

use super::numbers::Source;
use super::sums::{raise, sum};
use crate::tables::{Allocations, ObjectEvents, SharedLines, WrittenSite};
use crate::write::Contents;

pub fn allocations(sources: &[Source<'_>]) -> Vec<Allocations> {
    let moved = |s: &Source<'_>, a: &Allocations| Allocations { site: s.site(a.site), ..*a };
    let all = sources.iter().flat_map(|s| s.contents.allocations.iter().map(move |a| moved(s, a)));
    sum(all.map(|a| (a.site, a)), |sum, a| {
        raise(&mut sum.blocks, a.blocks);
        raise(&mut sum.bytes, a.bytes);
    })
}

pub fn object_events(sources: &[Source<'_>]) -> Vec<ObjectEvents> {
    let moved = |s: &Source<'_>, o: &ObjectEvents| ObjectEvents {
        reader_site: s.site(o.reader_site),
        writer_site: s.site(o.writer_site),
        allocation_site: s.site(o.allocation_site),
        ..*o
    };
    let all = sources.iter().flat_map(|s| s.contents.object_events.iter().map(move |o| moved(s, o)));
    sum(all.map(|o| ((o.reader_site, o.writer_site, o.allocation_site), o)), |sum, o| {
        raise(&mut sum.raw, o.raw);
        raise(&mut sum.rar, o.rar);
    })
}

/// The example stays that of the first part that has one.
pub fn shared_lines(sources: &[Source<'_>]) -> Vec<SharedLines> {
    let moved = |s: &Source<'_>, l: &SharedLines| SharedLines {
        site: s.site(l.site),
        other_site: s.site(l.other_site),
        thread: s.threads.of(l.thread),
        other_thread: s.threads.of(l.other_thread),
        allocation_site: s.site(l.allocation_site),
        // Threads beyond 63 cannot be told from those that share their bit, and stay with them.
        threads: (0..64).filter(|t| l.threads >> t & 1 != 0).fold(0, |bits, t| bits | 1 << (s.threads.of(t) % 64)),
        ..*l
    };
    let all = sources.iter().flat_map(|s| s.contents.shared_lines.iter().map(move |l| moved(s, l)));
    sum(all.map(|l| ((l.site, l.other_site, l.flags, l.allocation_site), l)), |sum, l| {
        raise(&mut sum.lines, l.lines);
        sum.threads |= l.threads;
    })
}

/// Those that `of` picks of each part.
pub fn written_sites(sources: &[Source<'_>], of: fn(&Contents) -> &[WrittenSite]) -> Vec<WrittenSite> {
    let moved = |s: &Source<'_>, w: &WrittenSite| WrittenSite { site: s.site(w.site), ..*w };
    let all = sources.iter().flat_map(|s| of(s.contents).iter().map(move |w| moved(s, w)));
    sum(all.map(|w| (w.site, w)), |sum, w| {
        raise(&mut sum.lines, w.lines);
        raise(&mut sum.elements, w.elements);
        raise(&mut sum.read, w.read);
        raise(&mut sum.readers, w.readers);
    })
}

#[cfg(test)]
mod tests {
    use super::super::{How, Part, merge};
    use crate::tables::{Allocations, Module, ObjectEvents, Region, SharedLines, Site, Thread, WrittenSite};
    use crate::write::Contents;
    use threadtalk_abi::module::{ModuleBases, RegionKind};

    /// A module of three sites whose first has the number `base`.
    fn module(name: &str, base: u32) -> Module {
        let region = Region {
            kind: RegionKind::Function,
            name: name.into(),
            file: name.into(),
            line: 1,
            end_line: 9,
            parent: None,
        };
        Module {
            bases: ModuleBases { site_base: base, write_site_base: base, region_base: base, ..ModuleBases::default() },
            name: name.into(),
            sites: (1..4).map(|line| Site { region: 0, file: name.into(), line, flags: 0 }).collect(),
            regions: vec![region],
            ..Module::default()
        }
    }

    /// Records about the site at `base` and the two after it, `n` times as large as those of 1.
    fn part(name: &str, base: u32, n: u64) -> Part {
        let thread = |id| Thread { id, ..Thread::default() };
        let contents = Contents {
            modules: vec![module("a.c", base)],
            threads: (0..3).map(thread).collect(),
            allocations: vec![Allocations { site: base, blocks: n, bytes: n.saturating_mul(10) }],
            object_events: vec![
                ObjectEvents { reader_site: base + 1, writer_site: base, allocation_site: base, raw: n, rar: 4 * n },
                ObjectEvents { reader_site: base + 2, writer_site: 0, allocation_site: 0, raw: 2 * n, rar: n },
            ],
            shared_lines: vec![SharedLines {
                site: base + 1,
                other_site: base + 2,
                thread: 1,
                other_thread: 2,
                allocation_site: base,
                flags: 1,
                lines: n,
                address: n.saturating_mul(64),
                threads: 0b110,
            }],
            written_sites: vec![WrittenSite { site: base + 2, lines: n, elements: 2 * n, read: 3 * n, readers: 4 * n }],
            serial_sites: vec![WrittenSite { site: base, lines: n, elements: 4 * n, read: 2 * n, readers: 3 * n }],
            ..Contents::default()
        };
        Part { name: name.into(), contents }
    }

    #[test]
    fn records_of_the_same_lines_add_up_whatever_their_numbers_were() {
        let merged = merge(&[part("first", 1, 1), part("second", 50, 4)], How::Sum).unwrap();
        let [site, next, last] = [1, 2, 3].map(|line| {
            let base = merged.modules[0].bases.site_base;
            base + merged.modules[0].sites.iter().position(|s| s.line == line).unwrap() as u32
        });
        assert_eq!(merged.modules.len(), 1);
        assert_eq!(merged.allocations, [Allocations { site, blocks: 5, bytes: 50 }]);
        let sampled = |(reader_site, writer_site, allocation_site), raw, rar| ObjectEvents {
            reader_site,
            writer_site,
            allocation_site,
            raw,
            rar,
        };
        assert_eq!(merged.object_events, [sampled((next, site, site), 5, 20), sampled((last, 0, 0), 10, 5)]);
        let lines = &merged.shared_lines[0];
        assert_eq!((merged.shared_lines.len(), lines.site, lines.other_site), (1, next, last));
        // The example is the first part's.
        assert_eq!((lines.lines, lines.threads, lines.allocation_site, lines.address), (5, 0b110, site, 64));
        assert_eq!(merged.written_sites, [WrittenSite { site: last, lines: 5, elements: 10, read: 15, readers: 20 }]);
        assert_eq!(merged.serial_sites, [WrittenSite { site, lines: 5, elements: 20, read: 10, readers: 15 }]);
    }

    #[test]
    fn threads_of_ranks_stay_apart() {
        let merged = merge(&[part("first", 1, 1), part("second", 50, 4)], How::Ranks).unwrap();
        assert_eq!(merged.shared_lines[0].threads, 0b110_110);
        assert_eq!(merged.shared_lines[0].lines, 5);
    }

    #[test]
    fn sums_of_damaged_records_end_at_the_largest_number() {
        let merged = merge(&[part("first", 1, u64::MAX / 4), part("second", 50, u64::MAX / 4)], How::Sum).unwrap();
        assert_eq!(merged.written_sites[0].readers, u64::MAX);
    }
}
