//! What the encoder writes the decoder reads.

mod sample;

use proptest::prelude::*;
use threadtalk_abi::module::{ModuleBases, NO_STRIDE, ObjectKind, RegionKind, VARIABLE_STRIDE};
use threadtalk_profile::buckets::BUCKETS;
use threadtalk_profile::layout::{LENGTHS, NO_THREAD, UNIT};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{
    Allocations, Block, Call, Edge, Event, Function, Header, Histogram, Module, ObjectEvents, PrivateBytes, Profile,
    Region, SharedLines, Site, SiteAccess, State, Stride, Thread, Trace, Visit, WrittenSite,
};

fn read(contents: &Contents) -> Contents {
    Contents::from(&Profile::from_bytes(&contents.encode()).unwrap())
}

#[test]
fn the_sample_comes_back() {
    assert_eq!(read(&sample::contents()), sample::contents());
}

#[test]
fn a_profile_of_nothing_comes_back() {
    assert_eq!(read(&Contents::default()), Contents::default());
}

#[test]
fn global_numbers_find_their_tables() {
    let profile = Profile::from_bytes(&sample::contents().encode()).unwrap();
    assert_eq!(profile.site(2).unwrap().line, 25);
    assert_eq!(&*profile.site(10).unwrap().file, "main.c");
    assert_eq!(&*profile.region(21).unwrap().name, "main");
    for unknown in [0, 3, 9, 12, u32::MAX] {
        assert_eq!(profile.site(unknown), None);
    }
    for unknown in [0, 3, 19, 22, u32::MAX] {
        assert_eq!(profile.region(unknown), None);
    }
}

#[test]
fn long_names_are_cut_at_a_character() {
    let name = "ä".repeat(20);
    let contents = Contents { threads: vec![Thread { name, ..Thread::default() }], ..Contents::default() };
    assert_eq!(read(&contents).threads[0].name, "ä".repeat(16));
    let name = format!("a{}", "ä".repeat(20));
    let contents = Contents { threads: vec![Thread { name, ..Thread::default() }], ..Contents::default() };
    assert_eq!(read(&contents).threads[0].name, format!("a{}", "ä".repeat(15)));
}

fn event() -> impl Strategy<Value = Event> {
    (0..NO_THREAD, 0..NO_THREAD, any::<[u32; 5]>(), any::<[u64; 2]>())
        .prop_filter("two threads", |(writer, reader, ..)| writer != reader)
        .prop_map(|(writer, reader, [writer_site, reader_site, region, context, flags], [raw, rar])| Event {
            writer,
            reader,
            writer_site,
            reader_site,
            region,
            context,
            flags,
            raw,
            rar,
        })
}

fn histogram() -> impl Strategy<Value = Histogram> {
    prop::collection::vec((0..BUCKETS as u16, any::<u64>()), 0..40).prop_map(Histogram::of_buckets)
}

fn trace() -> impl Strategy<Value = Trace> {
    let lengths = || prop::collection::vec((0..LENGTHS as u16, any::<u64>()), 0..9).prop_map(Histogram::of_buckets);
    let histograms = (histogram(), histogram(), histogram(), lengths(), lengths());
    let samples = prop_oneof![Just(0), any::<u64>()];
    (event(), any::<[u64; 3]>(), samples, any::<[bool; 2]>(), histograms).prop_map(
        |(e, [exact_usages, exact_elements, abandoned], samples, [is_sampled, makes_up], histograms)| Trace {
            reader: e.reader,
            writer: e.writer,
            region: e.region,
            is_sampled,
            makes_up,
            exact_usages,
            exact_elements,
            samples,
            abandoned,
            distinct: histograms.0,
            index: histograms.1,
            sampled: histograms.2,
            begun: histograms.3,
            open: histograms.4,
        },
    )
}

/// Functions of a module with `regions` regions. Each edge may have a counter; the module has as many as edges do.
fn functions(regions: usize) -> impl Strategy<Value = Vec<Function>> {
    let block = (0..regions as u32, "[a-z/]{0,8}", any::<[u32; 2]>(), any::<[u16; 10]>());
    let edge = (any::<[prop::sample::Index; 2]>(), any::<[bool; 3]>(), any::<[u32; 2]>());
    let call = (any::<prop::sample::Index>(), "\\PC{0,8}", any::<[u32; 2]>());
    let function = (
        (0..regions as u32, any::<u32>()),
        prop::collection::vec(block, 1..5),
        prop::collection::vec(edge, 0..8),
        prop::collection::vec(call, 0..4),
    );
    prop::collection::vec(function, 0..4).prop_map(|functions| {
        let mut counters = 0..;
        let functions = functions.into_iter().map(|((region, flags), blocks, edges, calls)| {
            let count = blocks.len();
            let node = |index: &prop::sample::Index, is_block: bool| is_block.then(|| index.index(count) as u32);
            Function {
                region,
                flags,
                blocks: (blocks.into_iter())
                    .map(|(region, file, [line, end_line], n)| Block {
                        region,
                        file: file.as_str().into(),
                        line,
                        end_line,
                        opcodes: n[..8].try_into().unwrap(),
                        reads: n[8],
                        writes: n[9],
                    })
                    .collect(),
                edges: (edges.iter())
                    .map(|([from, to], [inside, ends, counted], [line, flags])| Edge {
                        from: node(from, *inside || *ends),
                        to: node(to, *inside || !*ends),
                        counter: counted.then(|| counters.next().unwrap()),
                        line: *line,
                        flags: *flags,
                    })
                    .collect(),
                calls: (calls.into_iter())
                    .map(|(block, callee, [flags, line])| Call {
                        block: block.index(count) as u32,
                        callee: callee.as_str().into(),
                        flags,
                        line,
                    })
                    .collect(),
            }
        });
        functions.collect()
    })
}

fn stride() -> impl Strategy<Value = Stride> {
    let bytes = any::<i32>().prop_filter("a number of bytes", |b| ![NO_STRIDE, VARIABLE_STRIDE].contains(b));
    prop_oneof![Just(Stride::None), Just(Stride::Variable), bytes.prop_map(Stride::Bytes)]
}

fn access() -> impl Strategy<Value = SiteAccess> {
    (0..4u32, "[a-z>-]{0,8}", "[a-z/]{0,8}", any::<u32>(), stride(), stride()).prop_map(
        |(kind, object, file, line, stride, outer_stride)| SiteAccess {
            kind: ObjectKind::from_number(kind).unwrap(),
            object: object.as_str().into(),
            file: file.as_str().into(),
            line,
            stride,
            outer_stride,
        },
    )
}

fn module_with_accesses() -> impl Strategy<Value = Module> {
    module().prop_flat_map(|module| {
        let sites = module.sites.len();
        let accesses = prop_oneof![Just(vec![]), prop::collection::vec(access(), sites)];
        let regions = module.regions.len() as u32;
        let loops = prop_oneof![Just(vec![]), prop::collection::vec(prop::option::of(0..regions), sites)];
        (accesses, loops).prop_map(move |(accesses, caller_loops)| Module { accesses, caller_loops, ..module.clone() })
    })
}

fn module() -> impl Strategy<Value = Module> {
    plain_module().prop_flat_map(|module| {
        functions(module.regions.len()).prop_map(move |functions| {
            let counters = functions.iter().flat_map(|f| &f.edges).filter(|e| e.counter.is_some()).count() as u32;
            Module { functions, counters, ..module.clone() }
        })
    })
}

fn plain_module() -> impl Strategy<Value = Module> {
    let region = ("\\PC{0,8}", "[a-z/]{0,8}", any::<[u32; 2]>(), 0..16u16, any::<prop::sample::Index>());
    let site = (any::<prop::sample::Index>(), "[a-z/]{0,8}", any::<[u32; 2]>());
    (prop::collection::vec(region, 1..10), prop::collection::vec(site, 0..20)).prop_map(|(regions, sites)| Module {
        bases: ModuleBases { site_base: 1, site_salt: 37, write_site_base: 1, region_base: 1, counter_base: 7 },
        name: "m.c".into(),
        sites: sites
            .into_iter()
            .map(|(region, file, [line, flags])| Site {
                region: region.index(regions.len()) as u32,
                file: file.as_str().into(),
                line,
                flags,
            })
            .collect(),
        regions: regions
            .iter()
            .enumerate()
            .map(|(i, (name, file, [line, end_line], kind, parent))| Region {
                kind: RegionKind::from_number(*kind).unwrap(),
                name: name.as_str().into(),
                file: file.as_str().into(),
                line: *line,
                end_line: *end_line,
                // Before or after its children, but never in a circle.
                parent: (i > 0).then(|| parent.index(i) as u32),
            })
            .collect(),
        ..Module::default()
    })
}

fn object_events((numbers, counts): &([u32; 6], [u64; 3])) -> ObjectEvents {
    ObjectEvents {
        reader_site: numbers[0],
        writer_site: numbers[1],
        allocation_site: numbers[2],
        raw: counts[0],
        rar: counts[1],
    }
}

fn written_site((numbers, counts): &([u32; 6], [u64; 3])) -> WrittenSite {
    let [lines, elements, read] = *counts;
    WrittenSite { site: numbers[0], lines, elements, read, readers: counts[0] ^ counts[2] }
}

fn shared_lines((numbers, counts): &([u32; 6], [u64; 3])) -> SharedLines {
    let [site, other_site, thread, other_thread, allocation_site, flags] = *numbers;
    let [lines, address, threads] = *counts;
    SharedLines { site, other_site, thread, other_thread, allocation_site, flags, lines, address, threads }
}

#[test]
fn accesses_are_found_by_their_sites_number() {
    let mut contents = sample::contents();
    let access = |object: &str, stride| SiteAccess {
        kind: ObjectKind::Global,
        object: object.into(),
        file: "lu.h".into(),
        line: 7,
        stride,
        outer_stride: Stride::Variable,
    };
    contents.modules[0].accesses = vec![access("grid", Stride::Bytes(-8)), access("flag", Stride::None)];
    let profile = Profile::from_bytes(&contents.encode()).unwrap();
    assert_eq!(profile.access(2), Some(&access("flag", Stride::None)));
    assert_eq!(profile.access(1).unwrap().stride, Stride::Bytes(-8));
    // The second module tells nothing, and 3 is no site.
    assert_eq!((profile.access(10), profile.access(3), profile.access(0)), (None, None, None));
}

#[test]
fn loops_of_callers_are_found_by_their_sites_number() {
    let mut contents = sample::contents();
    contents.modules[0].caller_loops = vec![None, Some(1)];
    let profile = Profile::from_bytes(&contents.encode()).unwrap();
    let base = contents.modules[0].bases.region_base;
    assert_eq!((profile.caller_loop(1), profile.caller_loop(2)), (None, Some(base + 1)));
    assert_eq!((profile.caller_loop(10), profile.caller_loop(3), profile.caller_loop(0)), (None, None, None));
}

proptest! {
    #[test]
    fn any_tables_come_back(
        module in module_with_accesses(),
        events in prop::collection::vec(event(), 0..300),
        traces in prop::collection::vec(trace(), 0..20),
        visits in prop::collection::vec(any::<[u32; 3]>(), 0..50),
        lines in prop::collection::vec(any::<([u32; 6], [u64; 3])>(), 0..20),
        running in any::<bool>(),
    ) {
        let visit = |[thread, region, count]: [u32; 3]| Visit { thread, region, count: count.into() };
        let bytes = |[region, writer, bytes]: [u32; 3]| PrivateBytes { region, writer, bytes: bytes.into() };
        let contents = Contents {
            header: Header { state: if running { State::Running } else { State::Exec }, ..Header::default() },
            modules: vec![module],
            private_bytes: visits.iter().copied().map(bytes).collect(),
            visits: visits.into_iter().map(visit).collect(),
            events,
            traces,
            allocations: lines.iter().map(|(n, m)| Allocations { site: n[0], blocks: m[0], bytes: m[1] }).collect(),
            object_events: lines.iter().map(object_events).collect(),
            written_sites: lines.iter().map(written_site).collect(),
            serial_sites: lines.iter().rev().map(written_site).collect(),
            shared_lines: lines.iter().map(shared_lines).collect(),
            ..Contents::default()
        };
        prop_assert_eq!(contents.encode().len() as u64 % UNIT, 0);
        let profile = Profile::from_bytes(&contents.encode()).unwrap();
        let sampled = contents.traces.iter().filter(|trace| trace.samples > 0).cloned();
        prop_assert_eq!(profile.sampled_traces().collect::<Vec<_>>(), sampled.collect::<Vec<_>>());
        prop_assert_eq!(read(&contents), contents);
    }
}
