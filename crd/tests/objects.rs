//! Objects and false sharing of a region, held against sums that are made one event at a time.

mod profiles;

use profiles::{event, module, report};
use proptest::prelude::*;
use std::collections::BTreeMap;
use threadtalk_abi::module::{ObjectKind, site_flags};
use threadtalk_crd::Options;
use threadtalk_crd::model::Memory;
use threadtalk_profile::layout::shared_line_flags::OTHER_READS;
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Event, ObjectEvents, SharedLines, SiteAccess, Stride, WrittenSite};

const SITES: u32 = 6;

/// What tells objects apart: kind, name, file, line.
type Identity = (Memory, String, Option<String>, Option<u32>);

fn access() -> impl Strategy<Value = SiteAccess> {
    (0..4u32, prop::sample::select(vec!["", "grid", "grid[].x", "rows", "sum", "this", "__tmp", "this->sum"]), 0..3u32)
        .prop_map(|(kind, object, line)| SiteAccess {
            kind: ObjectKind::from_number(kind).unwrap(),
            object: object.into(),
            file: if line == 0 { "".into() } else { "a.h".into() },
            line,
            stride: Stride::None,
            outer_stride: Stride::None,
        })
}

prop_compose! {
    fn a_profile()(
        accesses in prop::collection::vec(access(), SITES as usize),
        events in prop::collection::vec((1..=SITES, 1..=SITES, 0..3u32, 0..1000u64, 0..1000u64), 0..30),
        samples in prop::collection::vec(((1..=SITES, 0..=SITES, 0..=SITES), 0..4u64, 0..4u64), 0..12),
        shared in prop::collection::vec((1..=SITES, 1..=SITES, 0..=SITES, any::<bool>(), 1..100u64), 0..8),
        written in prop::collection::vec((1..=SITES, 0..100u64), 0..8),
        calls in prop::collection::vec(any::<bool>(), SITES as usize),
    ) -> Contents {
        let mut module = module(&[("f", None), ("f", Some(0)), ("g", None), ("g", Some(2)), ("g", Some(3)), ("h", None)]);
        module.accesses = accesses;
        for (site, is_call) in module.sites.iter_mut().zip(calls) {
            site.flags = if is_call { site_flags::LIBRARY } else { 0 };
        }
        let events = events.into_iter().map(|(reader_site, writer_site, reader, raw, rar)| Event {
            writer_site, ..event(reader_site, reader + 1, reader, raw, rar)
        });
        let lines = shared.into_iter().map(|(site, other_site, allocation_site, reads, lines)| SharedLines {
            site, other_site, allocation_site, lines, thread: 0, other_thread: 1, threads: 3,
            flags: if reads { OTHER_READS } else { 0 }, address: 0,
        });
        let sample = |((reader_site, writer_site, allocation_site), raw, rar)| ObjectEvents {
            reader_site, writer_site, allocation_site, raw, rar,
        };
        Contents {
            modules: vec![module],
            events: events.collect(),
            object_events: samples.into_iter().map(sample).collect(),
            shared_lines: lines.collect(),
            written_sites: written.into_iter().map(|(site, lines)| WrittenSite { site, lines, ..WrittenSite::default() }).collect(),
            ..Contents::default()
        }
    }
}

fn given<T: Default + PartialEq>(value: T) -> Option<T> {
    Some(value).filter(|v| *v != T::default())
}

/// The object at a site, as the compiler names it.
fn named(contents: &Contents, site: u32) -> Identity {
    let access = &contents.modules[0].accesses[site as usize - 1];
    let kind = match access.kind {
        ObjectKind::Global => Memory::Global,
        ObjectKind::Stack => Memory::Stack,
        ObjectKind::Pointer => Memory::Pointer,
        ObjectKind::Unknown => Memory::Unknown,
    };
    let declared = declaration(contents, access).unwrap_or((access.file.to_string(), access.line));
    (kind, access.object.to_string(), given(declared.0), given(declared.1))
}

/// Where a global variable is that this module knows as `extern`, if the others agree.
fn declaration(contents: &Contents, access: &SiteAccess) -> Option<(String, u32)> {
    let variable = |access: &SiteAccess| {
        access.object.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    };
    if access.kind != ObjectKind::Global || access.object.is_empty() || !access.file.is_empty() {
        return None;
    }
    let alike = contents.modules[0].accesses.iter().filter(|other| other.kind == ObjectKind::Global);
    let alike = alike.filter(|other| variable(other) == variable(access) && !other.file.is_empty());
    let places: Vec<_> = alike.map(|other| (other.file.to_string(), other.line)).collect();
    places.first().filter(|first| places.iter().all(|place| place == *first)).cloned()
}

fn is_variable(object: &Identity) -> bool {
    matches!(object.0, Memory::Global | Memory::Stack) && !object.1.is_empty()
}

/// The variable that a site writes. A call of the C library may name what it reads.
fn written(contents: &Contents, site: u32) -> Option<Identity> {
    let is_call = contents.modules[0].sites[site as usize - 1].flags & site_flags::LIBRARY != 0;
    Some(named(contents, site)).filter(|object| !is_call && is_variable(object))
}

/// Of the names that are drawn.
fn tells(name: &str) -> bool {
    !["", "this", "__tmp"].contains(&name)
}

/// What a sample says an event of a reading site is about.
fn sampled(contents: &Contents, reader_site: u32, sample: &ObjectEvents) -> Identity {
    let through = named(contents, reader_site);
    if sample.allocation_site == 0 {
        return through;
    }
    let receiver = named(contents, sample.allocation_site);
    if is_variable(&receiver) {
        return receiver;
    }
    let site = &contents.modules[0].sites[sample.allocation_site as usize - 1];
    let name = [receiver.1, through.1].into_iter().find(|name| tells(name)).unwrap_or_else(|| "block".to_owned());
    (Memory::Heap, name, Some(site.file.to_string()), Some(site.line))
}

/// The parts by object of an event's counts of one kind, as real numbers, which add up to 1.
fn parts(contents: &Contents, event: &Event, weight: [fn(&ObjectEvents) -> u64; 2]) -> Vec<(Identity, f64)> {
    let own = named(contents, event.reader_site);
    if is_variable(&own) {
        return vec![(own, 1.0)];
    }
    if let Some(written) = written(contents, event.writer_site) {
        return vec![(written, 1.0)];
    }
    // From those that know most about the event to those that know least.
    let (reader, writer) = (event.reader_site, event.writer_site);
    let found = |s: &ObjectEvents| s.allocation_site != 0;
    let of_pair = |s: &ObjectEvents| s.reader_site == reader && s.writer_site == writer;
    let of_writer = |s: &ObjectEvents| found(s) && s.writer_site == writer && writer != 0;
    let of_reader = |s: &ObjectEvents| found(s) && s.reader_site == reader;
    let groups: [&dyn Fn(&ObjectEvents) -> bool; 3] = [&of_pair, &of_writer, &of_reader];
    for group in groups {
        for weight in weight {
            let samples: Vec<_> = contents.object_events.iter().filter(|s| group(s) && weight(s) > 0).collect();
            let sum = samples.iter().map(|s| weight(s)).sum::<u64>() as f64;
            if sum > 0.0 {
                return samples.iter().map(|s| (sampled(contents, reader, s), weight(s) as f64 / sum)).collect();
            }
        }
    }
    vec![(own, 1.0)]
}

proptest! {
    #[test]
    fn objects_share_the_events_of_their_region(contents in a_profile()) {
        let report = report(&contents, &Options::default());
        for region in &report.regions[1..] {
            let events: Vec<&Event> = contents.events.iter().filter(|e| e.region == region.id).collect();
            let mut expected: BTreeMap<Identity, [f64; 2]> = BTreeMap::new();
            for e in &events {
                for (object, part) in parts(&contents, e, [|s| s.raw, |s| s.rar]) {
                    expected.entry(object).or_default()[0] += part * e.raw as f64;
                }
                for (object, part) in parts(&contents, e, [|s| s.rar, |s| s.raw]) {
                    expected.entry(object).or_default()[1] += part * e.rar as f64;
                }
            }
            // Each event is divided into whole numbers: none is off by more than 1.
            let tolerance = events.len() as f64 + 1e-6;
            for object in &region.objects {
                let key = (object.kind, object.name.to_string(), object.file.as_ref().map(|f| f.to_string()), object.line);
                let [raw, rar] = expected.remove(&key).unwrap_or([f64::INFINITY; 2]);
                prop_assert!((object.raw as f64 - raw).abs() <= tolerance, "{key:?}: {} for {raw}", object.raw);
                prop_assert!((object.rar as f64 - rar).abs() <= tolerance, "{key:?}: {} for {rar}", object.rar);
            }
            // What is left out has nothing.
            for (key, [raw, rar]) in expected {
                prop_assert!(raw <= tolerance && rar <= tolerance, "{key:?}: {raw} {rar}");
            }
            let sum = |of: fn(&Event) -> u64| events.iter().map(|e| of(e)).sum::<u64>();
            prop_assert_eq!(region.objects.iter().map(|o| o.raw).sum::<u64>(), sum(|e| e.raw));
            prop_assert_eq!(region.objects.iter().map(|o| o.rar).sum::<u64>(), sum(|e| e.rar));
        }
    }

    #[test]
    fn shared_lines_belong_to_the_region_that_writes(contents in a_profile()) {
        let report = report(&contents, &Options::default());
        for region in &report.regions[1..] {
            let mut expected: Vec<_> = contents.shared_lines.iter().filter(|l| l.site == region.id).map(|l| {
                let written: u64 = contents.written_sites.iter().filter(|w| w.site == l.site).map(|w| w.lines).sum();
                let name = |site: u32| if site == 0 { String::new() } else { named(&contents, site).1 };
                let names = [l.site, l.other_site, l.allocation_site].map(name);
                let object = names.into_iter().find(|n| tells(n)).unwrap_or_default();
                (l.lines, written.max(l.lines), object, l.flags & OTHER_READS != 0, l.other_site * 10 + 1)
            }).collect();
            let mut found: Vec<_> = region.false_sharing.iter().map(|f| {
                (f.lines, f.of_lines, f.object.to_string(), f.other_reads, f.other.line.unwrap_or(0))
            }).collect();
            let largest_first: Vec<u64> = found.iter().map(|f| f.0).collect();
            prop_assert!(largest_first.is_sorted_by(|a, b| a >= b));
            expected.sort();
            found.sort();
            prop_assert_eq!(found, expected);
        }
    }
}
