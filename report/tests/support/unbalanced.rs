//! A profile of a run that never was: eight workers meet at a barrier, and one of them takes a branch that the others
//! do not.
#![allow(dead_code)] // each test file uses a part

use threadtalk_abi::control::{call_flags, edge_flags};
use threadtalk_abi::module::{ModuleBases, RegionKind, site_flags};
use threadtalk_profile::layout::{BlockedKind, CountKind, CounterEvent, InstanceKind, LevelKind, instance_flags};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{
    Block, Blocked, Call, Count, Edge, Event, Function, Header, Instance, Level, Module, Node, Region, Site, Thread,
    Visit,
};

/// Workers.
pub const WORKERS: u32 = 8;
/// The one that takes the branch.
pub const SLOW: u32 = 3;
/// Iterations of each worker's loop.
const ROUNDS: u64 = 1000;

fn region(kind: RegionKind, name: &str, file: &str, line: u32, end_line: u32, parent: Option<u32>) -> Region {
    Region { kind, name: name.into(), file: file.into(), line, end_line, parent }
}

fn edge(from: Option<u32>, to: Option<u32>, counter: Option<u32>, line: u32, back: bool) -> Edge {
    Edge { from, to, counter, line, flags: if back { edge_flags::BACK } else { 0 } }
}

/// `main` creates the workers (line 30); `work` loops (line 10), and on some rounds goes into line 12.
fn module(file: &str, control: bool) -> Module {
    let block = |region, line, opcodes, reads| Block {
        region,
        file: file.into(),
        line,
        end_line: line,
        opcodes,
        reads,
        writes: 0,
    };
    let main = Function {
        region: 0,
        blocks: vec![block(0, 28, [2, 0, 3, 0, 1, 1, 2, 1], 2)],
        edges: vec![edge(None, Some(0), Some(0), 0, false), edge(Some(0), None, None, 0, false)],
        calls: vec![Call { block: 0, callee: "work".into(), flags: call_flags::FORK, line: 30 }],
        flags: 0,
    };
    // Entry, head of the loop, the branch taken, end of the loop, exit.
    let work = Function {
        region: 1,
        blocks: vec![
            block(1, 8, [1, 0, 2, 0, 0, 0, 1, 0], 1),
            block(2, 11, [2, 1, 2, 0, 1, 1, 0, 0], 2),
            block(2, 12, [4, 2, 0, 90, 0, 0, 1, 0], 4),
            block(2, 14, [1, 0, 1, 0, 1, 1, 0, 0], 1),
            block(1, 16, [0, 0, 0, 0, 0, 0, 1, 1], 0),
        ],
        edges: vec![
            edge(None, Some(0), Some(1), 0, false),
            edge(Some(0), Some(1), None, 10, false),
            edge(Some(1), Some(2), Some(2), 11, false),
            edge(Some(1), Some(3), None, 11, false),
            edge(Some(2), Some(3), None, 12, false),
            edge(Some(3), Some(1), Some(3), 10, true),
            edge(Some(3), Some(4), None, 10, false),
            edge(Some(4), None, None, 0, false),
        ],
        ..Function::default()
    };
    Module {
        bases: ModuleBases { site_base: 1, site_salt: 37, write_site_base: 1, region_base: 1, counter_base: 0 },
        name: file.into(),
        regions: vec![
            region(RegionKind::Function, "main", file, 25, 40, None),
            region(RegionKind::Function, "work", file, 6, 17, None),
            region(RegionKind::Loop, "work", file, 10, 15, Some(1)),
        ],
        sites: vec![
            Site { region: 0, file: file.into(), line: 30, flags: site_flags::CREATION },
            Site { region: 1, file: file.into(), line: 16, flags: site_flags::SYNC },
            Site { region: 2, file: file.into(), line: 11, flags: 0 },
        ],
        counters: if control { 4 } else { 0 },
        functions: if control { vec![main, work] } else { Vec::new() },
        ..Module::default()
    }
}

/// Counters of a worker in one instance: entries of `work`, the branch, the loop's way back.
fn counts(part: u32, thread: u32, level: u16) -> Vec<Count> {
    let taken = if thread == SLOW { ROUNDS } else { 0 };
    let count = |id, count| Count { part, thread, id, kind: CountKind::Edge, level, count };
    vec![count(1, 1), count(2, taken), count(3, ROUNDS - 1)]
}

fn nodes(thread: u32, cpu_ns: u64) -> Vec<Node> {
    let node = |id, parent: Option<u32>, region, cpu_ns: u64| Node {
        thread,
        id: 2 * thread + id,
        parent: parent.map(|p| 2 * thread + p),
        region,
        visits: 1,
        wall_ns: cpu_ns * 2,
        cpu_ns,
    };
    if thread == 0 {
        return vec![node(1, None, 1, cpu_ns)];
    }
    vec![node(1, None, 2, cpu_ns), node(2, Some(1), 3, cpu_ns - cpu_ns / 20)]
}

/// The profile; without `control` as the memory instrumentation alone leaves it.
pub fn contents(file: &str, control: bool) -> Contents {
    let mut contents = Contents {
        header: Header { duration_ns: Some(140_000_000), exit_status: Some(0), ..Header::default() },
        meta: vec![("arguments".into(), "./work\u{1f}8".into()), ("executable".into(), "/tmp/work".into())],
        modules: vec![module(file, control)],
        ..Contents::default()
    };
    for thread in 0..=WORKERS {
        let cpu_ns = match thread {
            0 => 2_000_000,
            SLOW => 105_000_000,
            _ => 11_000_000 + u64::from(thread) * 50_000,
        };
        contents.threads.push(Thread {
            id: thread,
            creator: (thread > 0).then_some(0),
            creation_site: u32::from(thread > 0),
            ended: true,
            end_ns: Some(130_000_000),
            cpu_ns: Some(cpu_ns),
            ..Thread::default()
        });
        contents.nodes.extend(nodes(thread, cpu_ns));
        if thread == 0 {
            if control {
                contents.counts.push(Count { thread, id: 0, level: 1, count: 1, ..Count::default() });
            }
            continue;
        }
        contents.visits.push(Visit { thread, region: 2, count: 1 });
        contents.instances.push(Instance {
            number: thread,
            thread,
            kind: InstanceKind::Barrier,
            flags: if control { instance_flags::COUNTED } else { 0 },
            team: WORKERS,
            begin_site: 1,
            end_site: 2,
            key: 0x1000,
            ordinal: 0,
            begin_ns: 10_000_000,
            arrive_ns: 10_000_000 + cpu_ns,
            release_ns: 115_000_000 + 10_000_000,
            cpu_ns,
            weight: 1,
        });
        if thread != SLOW {
            let waited = 115_000_000 - cpu_ns;
            contents.blocked.push(Blocked { thread, site: 2, kind: BlockedKind::Barrier, count: 1, wall_ns: waited });
        }
        if control {
            contents.counts.extend([thread, 0].map(|part| Count {
                part,
                thread,
                id: CounterEvent::PageFaults as u32,
                kind: CountKind::Counter,
                count: if thread == SLOW { 900 } else { 100 },
                level: 0,
            }));
            contents.counts.extend(counts(thread, thread, 0));
            contents.counts.extend(counts(0, thread, WORKERS as u16 + 1));
        }
        contents.events.push(Event {
            writer: thread,
            reader: thread % WORKERS + 1,
            writer_site: 3,
            reader_site: 3,
            region: 3,
            raw: 40,
            rar: 400,
            ..Event::default()
        });
    }
    contents.levels = vec![
        Level { level: 1, kind: LevelKind::Nominal, ns: 15_000_000 },
        Level { level: WORKERS + 1, kind: LevelKind::Nominal, ns: 125_000_000 },
    ];
    contents
}

/// Its source.
pub fn source() -> String {
    let mut lines: Vec<String> = (1..=40).map(|n| format!("// line {n}")).collect();
    lines[9] = "    for (int i = 0; i < rounds; i++) {".into();
    lines[10] = "        if (owner(i, thread) == 3) {".into();
    lines[11] = "            expensive(i);".into();
    lines.join("\n")
}
