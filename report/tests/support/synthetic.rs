//! Profiles of runs that never were: a solver with an update loop, a halo exchange and a queue.
#![allow(dead_code)] // each test file uses a part

use std::sync::Arc;
use threadtalk_abi::module::{ModuleBases, RegionKind, site_flags};
use threadtalk_profile::layout::{CrdMode, SignatureMode, event_flags};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Event, Header, Histogram, Module, PrivateBytes, Region, Site, State, Thread, Trace, Visit};

/// Where the sources of the solver are said to be.
pub const FILE: &str = "solver.c";

fn region(kind: RegionKind, name: &str, file: &str, line: u32, end_line: u32, parent: Option<u32>) -> Region {
    Region { kind, name: name.into(), file: file.into(), line, end_line, parent }
}

fn site(region: u32, file: &str, line: u32, flags: u32) -> Site {
    Site { region, file: file.into(), line, flags }
}

fn module(file: &str, extra: u32) -> Module {
    let mut regions = vec![
        region(RegionKind::Function, "main", file, 60, 96, None),
        region(RegionKind::Function, "_ZN6solver6updateEi", file, 10, 34, None),
        region(RegionKind::Loop, "_ZN6solver6updateEi", file, 14, 30, Some(1)),
        region(RegionKind::Function, "exchange_halo", file, 36, 50, None),
        region(RegionKind::OmpParallel, "main", file, 70, 90, Some(0)),
        region(RegionKind::Function, "never<called> & \"quoted\"", file, 100, 110, None),
    ];
    for index in 0..extra {
        regions.push(region(RegionKind::Loop, &format!("generated_{index}"), file, 200 + index, 210 + index, None));
    }
    let mut sites = vec![
        site(0, file, 65, 0),
        site(2, file, 17, 0),
        site(2, file, 18, 0),
        site(3, file, 40, 0),
        site(3, file, 44, site_flags::ATOMIC),
        site(4, file, 75, site_flags::CREATION),
    ];
    sites.extend((0..extra).map(|index| site(6 + index, file, 200 + index, 0)));
    let bases = ModuleBases { site_base: 1, site_salt: 37, write_site_base: 1, region_base: 1, counter_base: 0 };
    Module { bases, name: Arc::from(file), regions, sites, ..Module::default() }
}

fn event(writer: u32, reader: u32, sites: (u32, u32), region: u32, raw: u64, rar: u64, flags: u32) -> Event {
    Event { writer, reader, writer_site: sites.0, reader_site: sites.1, region, context: 0, flags, raw, rar }
}

/// A trace with a hump near and one far away.
fn trace(writer: u32, reader: u32, region: u32) -> Trace {
    let near = (0..900u64).map(|i| 40 + i % 23);
    let far = (0..160u64).map(|i| 9_000 + 97 * (i % 31));
    let distances: Vec<u64> = near.chain(far).chain([0; 50]).collect();
    Trace {
        writer,
        reader,
        region,
        exact_usages: distances.len() as u64 + 64,
        exact_elements: 64,
        index: Histogram::of(distances.iter().map(|d| d * 3 + 1)),
        distinct: Histogram::of(distances),
        ..Trace::default()
    }
}

fn thread(id: u32) -> Thread {
    Thread {
        id,
        creator: (id > 0).then_some(0),
        creation_site: if id > 0 { 6 } else { 0 },
        ended: true,
        start_ns: u64::from(id) * 1_000_000,
        end_ns: Some(1_240_000_000),
        cpu_ns: Some(1_100_000_000),
        tid: 4242 + u64::from(id),
        name: if id == 0 { "main".into() } else { format!("worker {id}") },
        ..Thread::default()
    }
}

/// The records of a run with `threads` threads, with `extra` further regions that each have one event.
pub fn contents(threads: u32, extra: u32) -> Contents {
    let mut contents = Contents {
        header: Header {
            pid: 4242,
            signature_mode: SignatureMode::Hashed,
            crd_mode: CrdMode::Auto,
            state: State::Normal,
            start_unix_ns: 1_700_000_000_000_000_000,
            duration_ns: Some(1_240_000_000),
            cpu_ns: Some(2_310_000_000),
            exit_status: Some(0),
            ..Header::default()
        },
        meta: vec![("program".into(), "solver".into()), ("executable".into(), "/opt/solver".into())],
        modules: vec![module(FILE, extra)],
        threads: (0..threads).map(thread).collect(),
        ..Contents::default()
    };
    contents.header.accuracy.signature_budget = 256 << 20;
    contents.header.accuracy.signature_mapped = 24 << 20;
    contents.header.accuracy.threads = u64::from(threads);
    for reader in 0..threads {
        contents.visits.push(Visit { thread: reader, region: 2, count: 100 });
        contents.visits.push(Visit { thread: reader, region: 4, count: 100 });
        contents.private_bytes.push(PrivateBytes { region: 3, writer: reader, bytes: 12 << 10 });
        for writer in (0..threads).filter(|writer| *writer != reader) {
            let distance = u64::from(writer.abs_diff(reader));
            contents.events.push(event(
                writer,
                reader,
                (2, 3),
                3,
                40_000 / distance + 3,
                90_000 / distance + u64::from(reader),
                0,
            ));
            if distance == 1 {
                contents.events.push(event(writer, reader, (3, 4), 4, 6_400, 800 * u64::from(writer % 4), 0));
                contents.events.push(event(writer, reader, (4, 5), 4, 100, 30, event_flags::SYNC));
                contents.traces.push(trace(writer, reader, 3));
            }
        }
        if reader > 0 {
            contents.events.push(event(0, reader, (1, 2), 3, 5_000, 25_000, event_flags::SERIAL));
        }
    }
    for index in 0..extra {
        let (writer, reader) = (index % threads, (index + 1) % threads);
        contents.events.push(event(writer, reader, (1, 7 + index), 7 + index, u64::from(index) + 1, 2, 0));
    }
    contents
}

/// The bytes of that profile.
pub fn profile(threads: u32) -> Vec<u8> {
    contents(threads, 0).encode()
}
