//! Profiles made for tests.
#![allow(dead_code)] // each test uses a part

use threadtalk_abi::module::{ModuleBases, RegionKind};
use threadtalk_crd::model::{Counts, Region as Result, Report};
use threadtalk_crd::{Options, analyse};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Event, Module, Profile, Region, Site};

/// The analysis of tables.
pub fn report(contents: &Contents, options: &Options) -> Report {
    analyse(&Profile::from_bytes(&contents.encode()).unwrap(), options)
}

/// The counts of a region that has events.
pub fn counts(region: &Result) -> &Counts {
    region.counts.as_deref().unwrap()
}

/// The region of a name.
pub fn named<'a>(report: &'a Report, name: &str) -> &'a Result {
    report.regions.iter().find(|r| r.name == name).unwrap()
}

/// Functions and what lies in them: (name, index of the enclosing region). Region `i` has the line `10 * (i + 1)` and
/// the one site `i + 1` in it; global numbers are `i + 1`.
pub fn module(regions: &[(&str, Option<u32>)]) -> Module {
    let line = |i: usize| 10 * (i as u32 + 1);
    Module {
        bases: ModuleBases { site_base: 1, site_salt: 37, write_site_base: 1, region_base: 1, counter_base: 0 },
        name: "a.c".into(),
        regions: (regions.iter().enumerate())
            .map(|(i, (name, parent))| Region {
                kind: if parent.is_some() { RegionKind::Loop } else { RegionKind::Function },
                name: (*name).into(),
                file: "a.c".into(),
                line: line(i),
                end_line: line(i) + 9,
                parent: *parent,
            })
            .collect(),
        sites: (0..regions.len())
            .map(|i| Site { region: i as u32, file: "a.c".into(), line: line(i) + 1, flags: 0 })
            .collect(),
        ..Module::default()
    }
}

/// An event in a region of [`module`].
pub fn event(region: u32, writer: u32, reader: u32, raw: u64, rar: u64) -> Event {
    Event { writer, reader, writer_site: region, reader_site: region, region, raw, rar, ..Event::default() }
}
