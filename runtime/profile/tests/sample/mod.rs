//! A small profile with something in every table.
#![allow(dead_code)] // each test uses a part

use threadtalk_abi::control::{call_flags, edge_flags, function_flags};
use threadtalk_abi::module::{ModuleBases, RegionKind, site_flags};
use threadtalk_profile::layout::{
    Accuracy, BlockedKind, CODE_SITE, CountKind, CrdMode, InstanceKind, LevelKind, PhaseEnd, SignatureMode,
    event_flags, instance_flags,
};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{
    Block, Blocked, Call, Code, Count, Edge, Event, Function, Header, Histogram, Instance, Level, Module, Node, Phase,
    PrivateBytes, Region, Site, State, Thread, Trace, UserRegion, Visit,
};

/// Two modules, three threads, a user region.
pub fn contents() -> Contents {
    Contents {
        header: Header {
            pid: 4711,
            signature_mode: SignatureMode::Hashed,
            crd_mode: CrdMode::Auto,
            state: State::Normal,
            start_unix_ns: 1_700_000_000_000_000_000,
            duration_ns: Some(2_500_000_000),
            cpu_ns: Some(4_000_000_000),
            exit_status: Some(0),
            lineless_values: 3,
            accuracy: Accuracy {
                signature_budget: 256 << 20,
                signature_mapped: 4 << 20,
                chunks: 64,
                events_checked: 1000,
                states: 12,
                threads: 3,
                ..Accuracy::default()
            },
            ..Header::default()
        },
        meta: vec![
            ("executable".into(), "/usr/bin/lu".into()),
            ("arguments".into(), "./lu\x1f-n64\x1f".into()),
            ("empty".into(), String::new()),
        ],
        modules: vec![
            module("lu.c", 1, 1, "bmod"),
            // A gap in the numbers: a module that never finished registering.
            module("main.c", 10, 20, "main"),
        ],
        threads: threads(),
        events: vec![
            event(0, 1, [1, 2], 100, 700, event_flags::SERIAL),
            event(1, 2, [2, 2], 50, 0, 0),
            event(2, 0, [0, 11], 3, 9, event_flags::SYNC),
        ],
        visits: vec![Visit { thread: 1, region: 1, count: 5 }, Visit { thread: 2, region: 2, count: 6 }],
        traces: vec![Trace {
            reader: 1,
            writer: 0,
            region: 2,
            is_sampled: true,
            makes_up: true,
            exact_usages: 40,
            exact_elements: 10,
            samples: 7,
            abandoned: 1,
            distinct: Histogram::of([0, 0, 1, 5, 5, 100, 1000]),
            index: Histogram::of([1, 1, 2, 9, 8, 300, 4000]),
            sampled: Histogram::of_buckets([(60, 512), (61, 1024)]),
            begun: Histogram::of_buckets([(1, 9000), (17, 640_000)]),
            open: Histogram::of_buckets([(1, 9000), (17, 320_000)]),
        }],
        private_bytes: vec![PrivateBytes { region: 1, writer: 1, bytes: 4096 }],
        user_regions: vec![
            UserRegion { id: u32::MAX, parent: None, name: "factorise".into() },
            UserRegion { id: u32::MAX - 1, parent: Some(u32::MAX), name: "inner".into() },
        ],
        counts: vec![
            Count { part: 0, thread: 1, id: 1, kind: CountKind::Edge, level: 2, count: 900 },
            Count { part: 1, thread: 1, id: 1, kind: CountKind::Edge, level: 0, count: 400 },
            Count { part: 0, thread: 2, id: 10, kind: CountKind::LastLevelMiss, level: 0, count: 7 },
        ],
        nodes: vec![
            Node { thread: 1, id: 1, parent: None, region: 1, visits: 1, wall_ns: 5000, cpu_ns: 4000 },
            Node { thread: 2, id: 2, parent: None, region: 20, visits: 2, wall_ns: 800, cpu_ns: 800 },
            Node { thread: 1, id: 3, parent: Some(1), region: 2, visits: 3, wall_ns: 700, cpu_ns: 600 },
        ],
        instances: vec![instance(1, 1, InstanceKind::Barrier, 0), instance(2, 2, InstanceKind::OmpParallel, CODE_SITE)],
        blocked: vec![
            Blocked { thread: 1, site: 10, kind: BlockedKind::Join, count: 1, wall_ns: 1_000_000 },
            Blocked { thread: 2, site: CODE_SITE, kind: BlockedKind::OmpIdle, count: 3, wall_ns: 70 },
        ],
        levels: vec![
            Level { level: 1, kind: LevelKind::Nominal, ns: 500_000_000 },
            Level { level: 3, kind: LevelKind::Effective, ns: 1_500_000_000 },
        ],
        code: vec![Code { id: 0, address: 0x1139, function: "main".into(), file: "/usr/bin/lu".into() }],
        phases: vec![
            Phase {
                writer: 0,
                reader: 1,
                from_ns: 5,
                to_ns: 900,
                raw: 60,
                rar: 0,
                meeting: 1 << 40,
                end: PhaseEnd::Barrier,
                coarse: false,
            },
            Phase {
                writer: 0,
                reader: 1,
                from_ns: 910,
                to_ns: 990,
                raw: 2,
                rar: 7,
                meeting: 0,
                end: PhaseEnd::Slice,
                coarse: true,
            },
        ],
        ..Contents::default()
    }
}

fn instance(number: u32, thread: u32, kind: InstanceKind, begin_site: u32) -> Instance {
    Instance {
        number,
        thread,
        kind,
        flags: instance_flags::COUNTED,
        team: 2,
        begin_site,
        end_site: 11,
        key: 0xdead_beef,
        ordinal: 3,
        begin_ns: 1000,
        arrive_ns: 2000,
        release_ns: 2500,
        cpu_ns: 900,
        weight: 4,
    }
}

fn module(file: &str, site_base: u32, region_base: u32, function: &str) -> Module {
    let region = |kind, line, end_line, parent| Region {
        kind,
        name: function.into(),
        file: file.into(),
        line,
        end_line,
        parent,
    };
    Module {
        bases: ModuleBases {
            site_base,
            site_salt: site_base * 37,
            write_site_base: site_base,
            region_base,
            counter_base: site_base * 5,
        },
        name: file.into(),
        regions: vec![region(RegionKind::Function, 10, 40, None), region(RegionKind::Loop, 20, 30, Some(0))],
        sites: vec![
            Site { region: 0, file: file.into(), line: 12, flags: 0 },
            Site { region: 1, file: file.into(), line: 25, flags: site_flags::ATOMIC },
        ],
        accesses: vec![],
        caller_loops: vec![],
        counters: 2,
        functions: vec![counted_loop(file), Function { blocks: vec![block(file, 0, 35)], ..Function::default() }],
    }
}

/// Entry, a loop of one block that calls, a return.
fn counted_loop(file: &str) -> Function {
    let edge = |from, to, counter, flags| Edge { from, to, counter, line: 20, flags };
    Function {
        region: 0,
        flags: function_flags::TIMED,
        blocks: vec![block(file, 0, 10), block(file, 1, 20), block(file, 0, 40)],
        edges: vec![
            edge(None, Some(0), Some(0), 0),
            edge(Some(0), Some(1), None, 0),
            edge(Some(1), Some(1), Some(1), edge_flags::BACK),
            edge(Some(1), Some(2), None, 0),
            edge(Some(1), None, None, edge_flags::ABNORMAL),
            edge(Some(2), None, None, 0),
        ],
        calls: vec![
            Call { block: 1, callee: "helper".into(), flags: call_flags::FORK, line: 21 },
            Call { block: 1, callee: "".into(), flags: call_flags::INDIRECT, line: 22 },
        ],
    }
}

fn block(file: &str, region: u32, line: u32) -> Block {
    let opcodes = [3, 1, 4, 1, 5, 9, 2, 6];
    Block { region, file: file.into(), line, end_line: line + 4, opcodes, reads: 2, writes: 1 }
}

fn threads() -> Vec<Thread> {
    let worker = |id, name: &str| Thread {
        id,
        creator: Some(0),
        creation_site: 10,
        ended: true,
        openmp: id == 2,
        overflow: false,
        start_ns: 1000,
        end_ns: Some(2_000_000_000),
        cpu_ns: Some(1_500_000_000),
        tid: 4711 + u64::from(id),
        name: name.into(),
    };
    let main = Thread { tid: 4711, name: "main".into(), ..Thread::default() };
    vec![main, worker(1, "worker"), worker(2, "")]
}

fn event(writer: u32, reader: u32, sites: [u32; 2], raw: u64, rar: u64, flags: u32) -> Event {
    let [writer_site, reader_site] = sites;
    Event { writer, reader, writer_site, reader_site, region: 2, context: u32::MAX, flags, raw, rar }
}
