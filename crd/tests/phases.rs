//! Communication over time: sums are exact, cuts are where nobody reaches across, phases are what was planted.

mod profiles;

use profiles::{event, module, report};
use proptest::prelude::*;
use std::collections::BTreeMap;
use threadtalk_crd::Options;
use threadtalk_crd::model::{Phases, Report};
use threadtalk_profile::layout::PhaseEnd;
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Header, Phase, Thread};

type Cells = BTreeMap<(u32, u32), (u64, u64)>;

const THREADS: u32 = 4;

fn profile(events: &[(u32, u32, u64, u64)], phases: Vec<Phase>, duration: u64) -> Contents {
    Contents {
        header: Header { duration_ns: Some(duration), ..Header::default() },
        modules: vec![module(&[("f", None)])],
        threads: (0..THREADS).map(|id| Thread { id, ..Thread::default() }).collect(),
        events: events.iter().map(|(w, r, raw, rar)| event(1, *w, *r, *raw, *rar)).collect(),
        phases,
        ..Contents::default()
    }
}

fn found(contents: &Contents) -> (Report, Phases) {
    let report = report(contents, &Options::default());
    let phases = report.phases.clone().unwrap();
    (report, phases)
}

/// All phases' matrices together, by logical threads.
fn cells(phases: &[threadtalk_crd::model::Phase]) -> Cells {
    let mut sum = Cells::new();
    for p in phases {
        let name = |index: u32| p.threads[index as usize];
        for e in p.raw.entries() {
            sum.entry((name(e.writer), name(e.reader))).or_default().0 += e.value;
        }
        for e in p.rar.entries() {
            sum.entry((name(e.writer), name(e.reader))).or_default().1 += e.value;
        }
    }
    sum
}

prop_compose! {
    fn a_piece()(
        writer in 0..THREADS, step in 1..THREADS, from in 0..2000u64, length in 0..500u64, raw in 0..100u64, rar in 0..100u64,
        barrier in any::<bool>(), meeting in 0..6u64, coarse in any::<bool>(),
    ) -> Phase {
        let end = if barrier { PhaseEnd::Barrier } else { PhaseEnd::Slice };
        Phase { writer, reader: (writer + step) % THREADS, from_ns: from, to_ns: from + length, raw, rar, meeting, end, coarse }
    }
}

proptest! {
    /// Whatever the pieces are, also more of them than events: each pair's events are there, each once.
    #[test]
    fn sums_over_phases_are_the_totals(
        events in prop::collection::vec((0..THREADS, 1..THREADS, 0..500u64, 0..500u64), 0..20),
        pieces in prop::collection::vec(a_piece(), 1..60), duration in 0..4000u64,
    ) {
        let events: Vec<_> = events.into_iter().map(|(w, step, a, b)| (w, (w + step) % THREADS, a, b)).collect();
        let mut expected = Cells::new();
        for (w, r, raw, rar) in &events {
            let sum = expected.entry((*w, *r)).or_default();
            *sum = (sum.0 + raw, sum.1 + rar);
        }
        expected.retain(|_, sum| *sum != (0, 0));
        let (report, phases) = found(&profile(&events, pieces.clone(), duration));
        prop_assert_eq!(cells(&phases.phases), expected);
        let sums = phases.slices.iter().fold((0, 0), |sum, s| (sum.0 + s.raw, sum.1 + s.rar));
        prop_assert_eq!(sums, (report.program_total.total_raw(), report.program_total.total_rar()));
        prop_assert_eq!(phases.coarse, pieces.iter().any(|p| p.coarse));
        // In order, none inside another; each belongs to the phase around it.
        for pair in phases.slices.windows(2) {
            prop_assert!(pair[0].from_s <= pair[0].to_s && pair[0].to_s <= pair[1].from_s);
            prop_assert!(pair[1].phase == pair[0].phase || pair[1].phase == pair[0].phase + 1);
        }
        for slice in &phases.slices {
            let phase = &phases.phases[slice.phase];
            prop_assert!(phase.from_s <= slice.from_s && slice.to_s <= phase.to_s);
        }
        prop_assert!(phases.phases.iter().all(|p| p.pattern < phases.phases.len()));
    }

    /// Episodes between barriers at which all threads wait: every one keeps its own, however they lie in time.
    #[test]
    fn what_barriers_part_stays_apart(
        episodes in prop::collection::vec((1..300u64, prop::collection::vec((0..900u64, 0..40u64, 1..50u64), 3)), 1..30),
    ) {
        let (mut pieces, mut events, mut now) = (Vec::new(), Vec::new(), 0);
        let mut expected: Vec<(f64, u64)> = Vec::new();
        for (number, (work, threads)) in (1..).zip(&episodes) {
            // Threads leave the barrier one after the other, maybe when others have arrived at the next.
            let begin = now;
            let arrive = |leave: u64, late: u64| begin + leave + work + late;
            let end = threads.iter().map(|(leave, late, _)| arrive(*leave, *late)).max().unwrap();
            for (reader, (leave, late, raw)) in (1..).zip(threads) {
                pieces.push(Phase {
                    writer: 0, reader, from_ns: begin + leave, to_ns: arrive(*leave, *late), raw: *raw, rar: 0,
                    meeting: number,
                    end: PhaseEnd::Barrier, coarse: false,
                });
                events.push((0, reader, *raw, 0));
            }
            expected.push((end as f64 / 1e9, threads.iter().map(|t| t.2).sum()));
            now = end;
        }
        let (_, phases) = found(&profile(&events, pieces, now));
        prop_assert_eq!(phases.slices.len(), episodes.len());
        let mut barriers = phases.slices.iter().filter(|s| s.at_barrier).map(|s| s.to_s);
        let mut after = -1.0;
        for (end, raw) in expected {
            prop_assert_eq!(barriers.next(), Some(end));
            let inside = phases.slices.iter().filter(|s| s.from_s >= after && s.to_s <= end);
            prop_assert_eq!(inside.map(|s| s.raw).sum::<u64>(), raw);
            after = end;
        }
    }
}

fn piece(writer: u32, reader: u32, from_ns: u64, to_ns: u64, raw: u64) -> Phase {
    Phase { writer, reader, from_ns, to_ns, raw, rar: 0, meeting: 0, end: PhaseEnd::Barrier, coarse: false }
}

#[test]
fn two_planted_phases_and_the_first_again() {
    let ring = |from, to| (0..4).map(move |t| piece(t, (t + 1) % 4, from + u64::from(t), to, 100));
    let star = |from, to| (1..4).map(move |t| piece(0, t, from + u64::from(t), to, 70));
    let pieces: Vec<Phase> = ring(0, 1000).chain(star(1000, 1500)).chain(ring(1500, 2600)).collect();
    let events: Vec<_> = (0..4).map(|t| (t, (t + 1) % 4, 200, 0)).chain((1..4).map(|t| (0, t, 70, 0))).collect();
    let (_, phases) = found(&profile(&events, pieces, 2600));
    let told: Vec<_> = phases.phases.iter().map(|p| (p.pattern, p.to_s * 1e9)).collect();
    assert_eq!(told, [(0, 1000.0), (1, 1500.0), (0, 2600.0)]);
    assert_eq!(phases.phases[0].raw.dense(), [[0, 100, 0, 0], [0, 0, 100, 0], [0, 0, 0, 100], [100, 0, 0, 0]]);
    assert_eq!(phases.phases[1].raw.dense(), [[0, 70, 70, 70], [0; 4], [0; 4], [0; 4]]);
}

#[test]
fn what_was_counted_after_the_last_record_is_the_end_of_the_thread() {
    let mut contents = profile(&[(0, 1, 10, 4)], vec![piece(0, 1, 100, 200, 7)], 1000);
    (contents.threads[1].ended, contents.threads[1].end_ns) = (true, Some(600));
    let (_, phases) = found(&contents);
    let late: (u64, u64) = phases
        .slices
        .iter()
        .filter(|s| s.from_s >= 200e-9)
        .map(|s| (s.raw, s.rar))
        .fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    assert_eq!(late, (3, 4));
    assert_eq!(phases.slices.last().unwrap().to_s, 600e-9);
    // A thread that was alive at the end has until then, and one of a process that was killed until the last that is
    // known.
    contents.threads[1].end_ns = None;
    contents.threads[1].ended = false;
    assert_eq!(found(&contents).1.slices.last().unwrap().to_s, 1000e-9);
    contents.header.duration_ns = None;
    assert_eq!(found(&contents).1.slices.last().unwrap().to_s, 200e-9);
}

#[test]
fn a_piece_in_several_slices_is_spread_evenly() {
    // Pieces that hang together, two of one reader: 128 units in 64 slices of 2.
    let pieces = vec![piece(0, 1, 0, 128, 64), piece(0, 2, 0, 4, 6), piece(0, 2, 126, 128, 0)];
    let (_, phases) = found(&profile(&[(0, 1, 64, 0), (0, 2, 6, 0)], pieces, 128));
    let raw: Vec<u64> = phases.slices.iter().map(|s| s.raw).collect();
    assert_eq!(raw.len(), 64);
    assert_eq!(raw[..3], [4, 4, 1]);
    assert!(raw[2..].iter().all(|n| *n == 1));
}

#[test]
fn thousands_of_barriers_become_fewer_cuts() {
    let pieces: Vec<Phase> = (0..20_000).map(|i| piece(0, 1 + (i % 3) as u32, i * 10, i * 10 + 9, 1)).collect();
    let events: Vec<_> = (1..4).map(|r| (0, r, 20_000 / 3 + 1, 0)).collect();
    let (report, phases) = found(&profile(&events, pieces, 200_000));
    assert!(phases.slices.len() <= 4096 + 64 + 1, "{}", phases.slices.len());
    assert_eq!(phases.slices.iter().map(|s| s.raw).sum::<u64>(), report.program_total.total_raw());
}

#[test]
fn a_profile_without_records_has_no_phases() {
    assert_eq!(report(&profile(&[(0, 1, 3, 0)], Vec::new(), 10), &Options::default()).phases, None);
}
