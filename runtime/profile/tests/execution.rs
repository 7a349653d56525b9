//! Counts, call trees, instances and waiting of any shape come back as they were written.

use proptest::prelude::*;
use threadtalk_profile::layout::{BlockedKind, CountKind, CounterEvent, InstanceKind, LevelKind, NO_THREAD};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Blocked, Code, Count, Instance, Level, Node, Profile};

fn count() -> impl Strategy<Value = Count> {
    (any::<[u32; 3]>(), prop::sample::select(CountKind::ALL), any::<u16>(), any::<u64>()).prop_map(
        |([part, thread, id], kind, level, count)| {
            let id = if kind == CountKind::Counter { id % CounterEvent::ALL.len() as u32 } else { id };
            Count { part, thread, id, kind, level, count }
        },
    )
}

/// Trees of several threads, mixed as threads run.
fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let node = (0..4u32, any::<prop::sample::Index>(), any::<u32>(), any::<[u64; 3]>());
    prop::collection::vec(node, 0..60).prop_map(|drawn| {
        let mut nodes: Vec<Node> = Vec::new();
        for ((thread, parent, region, [visits, wall_ns, cpu_ns]), id) in drawn.into_iter().zip(1..) {
            let own: Vec<_> = nodes.iter().filter(|n| n.thread == thread).map(|n| n.id).collect();
            let parent = [0].iter().chain(&own).nth(parent.index(own.len() + 1)).copied().filter(|p| *p != 0);
            nodes.push(Node { thread, id, parent, region, visits, wall_ns, cpu_ns });
        }
        nodes
    })
}

fn instance() -> impl Strategy<Value = Instance> {
    (
        any::<[u32; 4]>(),
        1..=u32::MAX,
        prop::sample::select(InstanceKind::ALL),
        any::<u16>(),
        any::<[u64; 6]>(),
        1..=u64::MAX,
    )
        .prop_map(
            |([thread, team, begin_site, end_site], number, kind, flags, [key, ordinal, a, b, c, cpu_ns], weight)| {
                let mut times = [a, b, c];
                times.sort_unstable();
                let [begin_ns, arrive_ns, release_ns] = times;
                Instance {
                    number,
                    thread,
                    kind,
                    flags,
                    team,
                    begin_site,
                    end_site,
                    key,
                    ordinal,
                    begin_ns,
                    arrive_ns,
                    release_ns,
                    cpu_ns,
                    weight,
                }
            },
        )
}

fn blocked() -> impl Strategy<Value = Blocked> {
    (0..NO_THREAD, any::<u32>(), prop::sample::select(BlockedKind::ALL), any::<[u64; 2]>())
        .prop_map(|(thread, site, kind, [count, wall_ns])| Blocked { thread, site, kind, count, wall_ns })
}

fn level() -> impl Strategy<Value = Level> {
    (any::<u32>(), prop::sample::select(LevelKind::ALL), any::<u64>()).prop_map(|(level, kind, ns)| Level {
        level,
        kind,
        ns,
    })
}

fn code() -> impl Strategy<Value = Code> {
    (0..1u32 << 31, any::<u64>(), "[a-z_]{0,112}", "[a-z/]{0,128}").prop_map(|(id, address, function, file)| Code {
        id,
        address,
        function,
        file,
    })
}

proptest! {
    #[test]
    fn any_execution_comes_back(
        counts in prop::collection::vec(count(), 0..100),
        nodes in nodes(),
        instances in prop::collection::vec(instance(), 0..40),
        blocked in prop::collection::vec(blocked(), 0..40),
        levels in prop::collection::vec(level(), 0..20),
        code in prop::collection::vec(code(), 0..5),
    ) {
        let contents = Contents { counts, nodes, instances, blocked, levels, code, ..Contents::default() };
        let profile = Profile::from_bytes(&contents.encode());
        prop_assert_eq!(Contents::from(&profile.unwrap()), contents);
    }
}

#[test]
fn every_number_is_its_own_kind_and_the_next_is_none() {
    for (n, kind) in CountKind::ALL.iter().enumerate() {
        assert_eq!(CountKind::from_number(n as u16), Some(*kind));
    }
    assert_eq!(CountKind::from_number(CountKind::ALL.len() as u16), None);
    assert_eq!(CounterEvent::from_number(CounterEvent::ALL.len() as u32), None);
    assert_eq!(BlockedKind::from_number(BlockedKind::ALL.len() as u16), None);
    assert_eq!(InstanceKind::from_number(InstanceKind::ALL.len() as u16), None);
    assert_eq!(LevelKind::from_number(LevelKind::ALL.len() as u32), None);
}
