//! Profiles whose numbers make no sense but that no check of the decoder can tell from others: the analysis ends
//! without a panic.

mod profiles;

use profiles::{event, module};
use threadtalk_crd::machine::Cache;
use threadtalk_crd::{Options, analyse};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Header, Histogram, PrivateBytes, Profile, State, Thread, Trace, UserRegion, Visit};

fn contents() -> Contents {
    let histogram = || Histogram::of([0, 1, 2, 40, 500, 60_000]);
    let trace = |region| Trace {
        writer: 0,
        reader: 1,
        region,
        samples: 6,
        abandoned: 1,
        exact_usages: 7,
        distinct: histogram(),
        index: histogram(),
        sampled: histogram(),
        ..Trace::default()
    };
    Contents {
        header: Header { state: State::Running, ..Header::default() },
        modules: vec![module(&[("_ZN1a1bEv", None), ("_ZN1a1bEv", Some(0)), ("c", None)])],
        threads: (0..4).map(|id| Thread { id, ..Thread::default() }).collect(),
        events: (0..40).map(|i| event(i % 4, i % 3, i % 3 + 1, u64::from(i), 3)).collect(),
        visits: (0..9).map(|i| Visit { thread: i % 4, region: i % 3, count: 2 }).collect(),
        traces: (0..4).map(trace).collect(),
        private_bytes: (0..4).map(|i| PrivateBytes { region: i, writer: i, bytes: 100 }).collect(),
        user_regions: vec![UserRegion { id: u32::MAX - 1, parent: None, name: "phase".into() }],
        ..Contents::default()
    }
}

/// xorshift64: the same changes in every run.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn changed_words_do_not_stop_the_analysis() {
    let bytes = contents().encode();
    let used: Vec<usize> = (0..bytes.len()).step_by(4).filter(|at| bytes[*at..*at + 4] != [0; 4]).collect();
    let caches = vec![Cache { level: 1, bytes: 1024, shared_by: 2 }];
    let options = Options { caches, ..Options::default() };
    let mut random = 0x2018_0813;
    let mut analysed = 0;
    for _ in 0..4000 {
        let mut changed = bytes.clone();
        for _ in 0..=next(&mut random) % 3 {
            let at = used[(next(&mut random) % used.len() as u64) as usize];
            let value = match next(&mut random) % 4 {
                0 => u32::MAX - (next(&mut random) % 3) as u32,
                1 => 1 << (next(&mut random) % 32),
                2 => (next(&mut random) % 50) as u32,
                _ => next(&mut random) as u32,
            };
            changed[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        if let Ok(profile) = Profile::from_bytes(&changed) {
            let report = analyse(&profile, &options);
            assert!(!report.regions.is_empty());
            analysed += 1;
        }
    }
    assert!(analysed > 1000, "only {analysed} of the changed profiles passed the decoder");
}
