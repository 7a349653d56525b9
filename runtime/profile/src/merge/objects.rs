//! Allocations and what is known of cache lines.

use super::numbers::Source;
use super::sums::{raise, sum};
use crate::tables::{Allocations, ObjectEvents, SharedLines, WrittenSite};

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
        allocation_site: s.site(o.allocation_site),
        raw: o.raw,
    };
    let all = sources.iter().flat_map(|s| s.contents.object_events.iter().map(move |o| moved(s, o)));
    sum(all.map(|o| ((o.reader_site, o.allocation_site), o)), |sum, o| raise(&mut sum.raw, o.raw))
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

pub fn written_sites(sources: &[Source<'_>]) -> Vec<WrittenSite> {
    let moved = |s: &Source<'_>, w: &WrittenSite| WrittenSite { site: s.site(w.site), ..*w };
    let all = sources.iter().flat_map(|s| s.contents.written_sites.iter().map(move |w| moved(s, w)));
    sum(all.map(|w| (w.site, w)), |sum, w| {
        raise(&mut sum.lines, w.lines);
        raise(&mut sum.elements, w.elements);
        raise(&mut sum.read, w.read);
        raise(&mut sum.readers, w.readers);
    })
}
