//! Merged profiles: nothing is lost, nothing is made, and the order of the parts says nothing.

mod profiles;

use profiles::{event, module, report};
use proptest::prelude::*;
use std::collections::BTreeMap;
use threadtalk_crd::Options;
use threadtalk_crd::model::{Region, Report};
use threadtalk_profile::layout::{CODE_SITE, CountKind};
use threadtalk_profile::merge::{How, MergeError, PART, Part, RANKS, merge};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{
    Blocked, Code, Count, Event, Header, Histogram, Instance, Level, Module, Node, PrivateBytes, Profile, State,
    Thread, Trace, UserRegion, Visit,
};

/// One of three modules, of which several parts may have the same, at numbers that are the part's own.
fn a_module(which: usize, base: u32) -> Module {
    let regions: [&[(&str, Option<u32>)]; 3] =
        [&[("f", None), ("f", Some(0))], &[("g", None)], &[("h", None), ("h", Some(0)), ("i", None)]];
    let mut module = module(regions[which]);
    module.name = format!("{which}.c").as_str().into();
    module.regions.iter_mut().for_each(|r| r.file = std::sync::Arc::clone(&module.name));
    module.sites.iter_mut().for_each(|s| s.file = std::sync::Arc::clone(&module.name));
    (module.bases.site_base, module.bases.write_site_base, module.bases.region_base) = (base, base, base);
    module
}

const THREADS: u32 = 4;

prop_compose! {
    /// A profile with modules in any order and gaps between their numbers.
    fn a_profile()(
        order in Just([0, 1, 2]).prop_shuffle(), gap in 0..20u32, modules in 1..=3usize,
        events in prop::collection::vec((0..THREADS, 1..THREADS, any::<[prop::sample::Index; 2]>(), 0..100u64, 0..100u64, 0..4u32), 0..40),
        start in 0..1000u64, named in any::<bool>(), cpu in prop::option::of(1..1000u64), status in 0..3i64,
        distances in prop::collection::vec(0..1000u64, 0..20),
    ) -> Contents {
        let mut base = 1;
        let modules: Vec<Module> = order[..modules].iter().map(|which| {
            let module = a_module(*which, base);
            base += module.regions.len() as u32 + gap;
            module
        }).collect();
        let numbers: Vec<u32> =
            modules.iter().flat_map(|m| m.bases.site_base..m.bases.site_base + m.sites.len() as u32).collect();
        let events: Vec<Event> = events.into_iter().map(|(writer, step, sites, raw, rar, flags)| {
            let reader = (writer + step) % THREADS;
            let [written, read] = sites.map(|i| *i.get(&numbers));
            let context = if named { u32::MAX - 2 } else { 0 };
            Event { writer_site: written, flags, context, ..event(read, writer, reader, raw, rar) }
        }).collect();
        let name = |id| if id == 0 { String::new() } else { format!("w{id}") };
        let thread = |id: u32| Thread { id, name: name(id), start_ns: 5 * u64::from(id), ..Thread::default() };
        let trace = |e: &Event| Trace {
            reader: e.reader, writer: e.writer, region: e.region, exact_usages: 1 + distances.len() as u64,
            distinct: Histogram::of(distances.clone()), index: Histogram::of(distances.iter().map(|d| d + 1)),
            ..Trace::default()
        };
        Contents {
            header: Header { start_unix_ns: start, duration_ns: Some(500), cpu_ns: cpu, exit_status: Some(status), ..Header::default() },
            threads: (0..THREADS).map(thread).collect(),
            visits: events.iter().map(|e| Visit { thread: e.reader, region: e.region, count: e.raw + 1 }).collect(),
            private_bytes: events.iter().map(|e| PrivateBytes { region: e.region, writer: e.writer, bytes: e.rar }).collect(),
            traces: events.iter().map(trace).collect(),
            user_regions: if named {
                vec![
                    UserRegion { id: u32::MAX - 1, parent: None, name: "solve".into() },
                    UserRegion { id: u32::MAX - 2, parent: Some(u32::MAX - 1), name: "inner".into() },
                ]
            } else { Vec::new() },
            meta: vec![("executable".into(), "/opt/solver".into()), ("pid".into(), start.to_string())],
            events, modules, ..Contents::default()
        }
    }
}

fn parts(contents: &[Contents]) -> Vec<Part> {
    let part = |(i, c): (usize, &Contents)| Part { name: format!("{i}.ttp"), contents: c.clone() };
    contents.iter().enumerate().map(part).collect()
}

/// What a report says, by names instead of numbers; `rank` gives the name of a part's thread its place among all.
type Said = BTreeMap<(String, String, String), (u64, u64)>;

fn key(r: &Region) -> String {
    format!("{} {} {:?} {:?}", r.kind.name(), r.name, r.file, r.line)
}

fn said(report: &Report, rename: impl Fn(&str) -> String) -> Said {
    let name = |region: &Region, index: u32| {
        let id = region.threads[index as usize];
        rename(&report.threads.iter().find(|t| t.id == id).unwrap().name)
    };
    let mut said = Said::new();
    for region in &report.regions {
        let Some(counts) = &region.counts else { continue };
        for (matrix, is_rar) in [(&counts.raw, false), (&counts.rar, true)] {
            for e in matrix.entries() {
                let pair = (key(region), name(region, e.writer), name(region, e.reader));
                let sum = said.entry(pair).or_default();
                if is_rar { sum.1 += e.value } else { sum.0 += e.value }
            }
        }
    }
    said
}

proptest! {
    /// Rank `r` of the merged report says what its own report says.
    #[test]
    fn each_rank_keeps_what_it_had(contents in prop::collection::vec(a_profile(), 1..4)) {
        let merged = report(&merge(&parts(&contents), How::Ranks).unwrap(), &Options::default());
        let mut expected = Said::new();
        for (rank, part) in contents.iter().enumerate() {
            expected.extend(said(&report(part, &Options::default()), |name| format!("r{rank} {name}")));
        }
        prop_assert_eq!(said(&merged, str::to_owned), expected);
        prop_assert_eq!(merged.program.meta.get(RANKS), Some(&contents.len().to_string()));
    }

    /// Runs add up: by pair of thread numbers and region.
    #[test]
    fn sums_are_the_sums_of_the_parts(contents in prop::collection::vec(a_profile(), 1..4)) {
        let merged = report(&merge(&parts(&contents), How::Sum).unwrap(), &Options::default());
        let mut expected = Said::new();
        for part in &contents {
            for (pair, (raw, rar)) in said(&report(part, &Options::default()), str::to_owned) {
                let sum = expected.entry(pair).or_default();
                *sum = (sum.0 + raw, sum.1 + rar);
            }
        }
        prop_assert_eq!(said(&merged, str::to_owned), expected);
    }

    #[test]
    fn totals_of_every_table_are_kept(contents in prop::collection::vec(a_profile(), 1..4), sum in any::<bool>()) {
        let merged = merge(&parts(&contents), if sum { How::Sum } else { How::Ranks }).unwrap();
        let total = |of: fn(&Contents) -> u64| contents.iter().map(of).sum::<u64>();
        let tables: [fn(&Contents) -> u64; 6] = [
            |c| c.events.iter().map(|e| e.raw).sum(),
            |c| c.events.iter().map(|e| e.rar).sum(),
            |c| c.visits.iter().map(|v| v.count).sum(),
            |c| c.private_bytes.iter().map(|p| p.bytes).sum(),
            |c| c.traces.iter().map(|t| t.exact_usages + t.distinct.count()).sum(),
            |c| c.traces.iter().flat_map(|t| t.index.buckets()).map(|(b, n)| u64::from(*b) * n).sum(),
        ];
        for table in tables {
            prop_assert_eq!(table(&merged), total(table));
        }
        let back = Contents::from(&Profile::from_bytes(&merged.encode()).unwrap());
        prop_assert_eq!(back, merged);
    }

    /// Another order permutes the ranks and changes nothing else.
    #[test]
    fn the_order_of_the_parts_says_nothing(
        contents in prop::collection::vec(a_profile(), 3), order in Just([0usize, 1, 2]).prop_shuffle(),
    ) {
        let shuffled: Vec<Contents> = order.iter().map(|i| contents[*i].clone()).collect();
        for how in [How::Ranks, How::Sum] {
            let (a, b) = (merge(&parts(&contents), how).unwrap(), merge(&parts(&shuffled), how).unwrap());
            prop_assert_eq!(&a.header, &b.header);
            let own = |c: &Contents| c.meta.iter().filter(|(k, _)| !k.starts_with(PART)).cloned().collect::<Vec<_>>();
            prop_assert_eq!(own(&a), own(&b));
            // Rank 0 of the second is rank order[0] of the first.
            let rename = |name: &str| match how {
                How::Sum => name.to_owned(),
                How::Ranks => {
                    let (rank, rest) = name[1..].split_once(' ').unwrap();
                    format!("r{} {rest}", order[rank.parse::<usize>().unwrap()])
                }
            };
            let (a, b) = (report(&a, &Options::default()), report(&b, &Options::default()));
            prop_assert_eq!(said(&a, str::to_owned), said(&b, rename));
            prop_assert_eq!(&a.program_total.counts.as_ref().map(|c| c.lines.len()),
                &b.program_total.counts.as_ref().map(|c| c.lines.len()));
        }
    }
}

fn one(header: Header) -> Contents {
    Contents {
        header,
        modules: vec![module(&[("f", None)])],
        events: vec![event(1, 0, 1, 3, 4)],
        ..Contents::default()
    }
}

#[test]
fn equal_modules_become_one_and_others_do_not() {
    let mut other = one(Header::default());
    other.modules[0].sites[0].line += 1;
    let merged = merge(&parts(&[one(Header::default()), other, one(Header::default())]), How::Ranks).unwrap();
    assert_eq!(merged.modules.len(), 2);
    assert_eq!(merged.modules.iter().map(|m| m.bases.site_base).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(
        merged.events.iter().map(|e| (e.writer, e.reader, e.reader_site)).collect::<Vec<_>>(),
        [(0, 1, 1), (2, 3, 2), (4, 5, 1)]
    );
}

#[test]
fn numbers_that_nobody_has_are_unknown() {
    let mut contents = one(Header::default());
    (contents.events[0].writer_site, contents.events[0].reader_site, contents.events[0].region) = (9, 2, 77);
    let merged = merge(&parts(&[contents]), How::Ranks).unwrap();
    let e = merged.events[0];
    assert_eq!((e.writer_site, e.reader_site, e.region, e.raw), (0, 0, 0, 3));
}

#[test]
fn ranks_share_a_clock() {
    let start = |start_unix_ns, duration| Header { start_unix_ns, duration_ns: Some(duration), ..Header::default() };
    let mut late = one(start(1_000, 50));
    late.threads = vec![Thread { id: 1, start_ns: 7, end_ns: Some(9), ended: true, ..Thread::default() }];
    let contents = [late, one(start(900, 60))];
    let merged = merge(&parts(&contents), How::Ranks).unwrap();
    assert_eq!((merged.header.start_unix_ns, merged.header.duration_ns), (900, Some(150)));
    assert_eq!((merged.threads[0].start_ns, merged.threads[0].end_ns), (107, Some(109)));
    // Runs of one program have each their own clock.
    let merged = merge(&parts(&contents), How::Sum).unwrap();
    assert_eq!((merged.header.duration_ns, merged.threads[0].start_ns), (Some(60), 7));
}

#[test]
fn one_part_that_did_not_end_well_shows() {
    let with = |state| one(Header { state, ..Header::default() });
    let state = |states: &[State]| {
        let contents: Vec<_> = states.iter().map(|s| with(*s)).collect();
        merge(&parts(&contents), How::Ranks).unwrap().header.state
    };
    assert_eq!(state(&[State::Normal, State::Normal]), State::Normal);
    assert_eq!(state(&[State::Normal, State::Running]), State::Abrupt);
    assert_eq!(state(&[State::Exec, State::Normal]), State::Exec);
}

#[test]
fn profiles_that_do_not_fit() {
    assert_eq!(merge(&[], How::Sum).unwrap_err().to_string(), "no profile to merge");
    let granule = [4, 8].map(|granule| one(Header { granule, ..Header::default() }));
    assert_eq!(
        merge(&parts(&granule), How::Ranks).unwrap_err().to_string(),
        "0.ttp counts elements of 4 bytes, 1.ttp elements of 8: record both with one version"
    );
    let bits = [16, 18].map(|site_bits| one(Header { site_bits, ..Header::default() }));
    assert_eq!(
        merge(&parts(&bits), How::Sum).unwrap_err().to_string(),
        "0.ttp has 16 bits for lines, 1.ttp has 18, so these are not runs of one program with the same options: \
         merge them as ranks"
    );
    // Ranks may be different programs.
    assert_eq!(merge(&parts(&bits), How::Ranks).unwrap().header.site_bits, 18);
    assert_eq!(
        MergeError::TooMany { what: "lines" }.to_string(),
        "lines of all parts together do not fit into 32 bits: merge fewer profiles"
    );
}

/// A part with something in each table about execution.
fn executed() -> Contents {
    let mut contents = one(Header { start_unix_ns: 100, ..Header::default() });
    contents.modules[0].counters = 2;
    contents.modules[0].bases.counter_base = 7;
    contents.counts = vec![
        Count { part: 0, thread: 1, id: 8, kind: CountKind::Edge, level: 1, count: 5 },
        Count { part: 3, thread: 1, id: 1, kind: CountKind::CacheAccess, level: 0, count: 6 },
        Count { part: 0, thread: 1, id: 99, kind: CountKind::Edge, level: 1, count: 1000 },
        Count { part: 4, thread: 1, id: 8, kind: CountKind::Edge, level: 1, count: 1000 },
    ];
    let node = |id, parent, region| Node { thread: 1, id, parent, region, visits: 1, wall_ns: 10, cpu_ns: 9 };
    contents.nodes = vec![node(5, None, 1), node(6, Some(5), 1), node(9, None, 0)];
    contents.instances = vec![Instance {
        number: 3,
        thread: 1,
        begin_site: CODE_SITE | 4,
        key: 0xabc,
        begin_ns: 1,
        arrive_ns: 2,
        release_ns: 3,
        weight: 1,
        ..Instance::default()
    }];
    contents.blocked = vec![Blocked { thread: 1, site: CODE_SITE | 4, count: 2, wall_ns: 30, ..Blocked::default() }];
    contents.levels = vec![Level { level: 2, ns: 40, ..Level::default() }];
    contents.code = vec![Code { id: 4, address: 77, function: "wait".into(), file: "/lib/x.so".into() }];
    contents
}

#[test]
fn execution_of_ranks_stays_apart() {
    let mut late = executed();
    late.header.start_unix_ns = 150;
    let merged = merge(&parts(&[executed(), late]), How::Ranks).unwrap();
    // Counts of counters and instances that are not there would be those of others.
    let counts: Vec<_> = merged.counts.iter().map(|c| (c.part, c.thread, c.id, c.count)).collect();
    assert_eq!(counts, [(0, 1, 2, 5), (0, 3, 2, 5), (1, 1, 1, 6), (2, 3, 1, 6)]);
    let nodes: Vec<_> = merged.nodes.iter().map(|n| (n.thread, n.id, n.parent, n.wall_ns)).collect();
    assert_eq!(
        nodes,
        [
            (1, 1, None, 10),
            (1, 2, Some(1), 10),
            (1, 3, None, 10),
            (3, 4, None, 10),
            (3, 5, Some(4), 10),
            (3, 6, None, 10)
        ]
    );
    let instances: Vec<_> =
        merged.instances.iter().map(|i| (i.number, i.key, i.begin_site, i.begin_ns, i.release_ns)).collect();
    assert_eq!(instances, [(1, 0, CODE_SITE, 1, 3), (2, 1, CODE_SITE, 51, 53)]);
    assert_eq!(
        merged.blocked.iter().map(|b| (b.thread, b.site, b.wall_ns)).collect::<Vec<_>>(),
        [(1, CODE_SITE, 30), (3, CODE_SITE, 30)]
    );
    assert_eq!((merged.levels[0].ns, merged.code.len(), merged.code[0].id), (80, 1, 0));
    let back = Contents::from(&Profile::from_bytes(&merged.encode()).unwrap());
    assert_eq!(back, merged);
}

#[test]
fn execution_of_runs_adds_up() {
    let merged = merge(&parts(&[executed(), executed()]), How::Sum).unwrap();
    let counts: Vec<_> = merged.counts.iter().map(|c| (c.part, c.thread, c.id, c.count)).collect();
    assert_eq!(counts, [(0, 1, 2, 10), (1, 1, 1, 6), (2, 1, 1, 6)]);
    let nodes: Vec<_> = merged.nodes.iter().map(|n| (n.id, n.parent, n.visits, n.cpu_ns)).collect();
    assert_eq!(nodes, [(1, None, 2, 18), (2, Some(1), 2, 18), (3, None, 2, 18)]);
    assert_eq!(merged.blocked.iter().map(|b| (b.count, b.wall_ns)).collect::<Vec<_>>(), [(4, 60)]);
    assert_eq!(merged.instances.len(), 2);
}

/// A pair and region may have several records, of different times of a run.
#[test]
fn times_of_a_trace_stay_apart() {
    let run = |intervals: &[u64]| {
        let trace = |d: &u64| Trace {
            writer: 0,
            reader: 1,
            region: 1,
            is_sampled: true,
            samples: 1,
            sampled: Histogram::of([*d]),
            ..Trace::default()
        };
        let threads = (0..2).map(|id| Thread { id, ..Thread::default() }).collect();
        Contents {
            modules: vec![module(&[("f", None)])],
            threads,
            traces: intervals.iter().map(trace).collect(),
            ..Contents::default()
        }
    };
    let two = [run(&[8, 3]), run(&[8, 3, 1])];
    let found = |how| -> Vec<(u64, Vec<(u16, u64)>)> {
        let merged = merge(&parts(&two), how).unwrap();
        merged.traces.iter().map(|t| (t.samples, t.sampled.buckets().to_vec())).collect()
    };
    assert_eq!(found(How::Sum), [(2, vec![(8, 2)]), (2, vec![(3, 2)]), (1, vec![(1, 1)])]);
    assert_eq!(found(How::Ranks), [8, 3, 8, 3, 1].map(|bucket| (1, vec![(bucket, 1)])));
}
