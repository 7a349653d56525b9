//! Reports with known contents, made without a profile.
#![allow(dead_code)] // each test file uses a part

use std::collections::BTreeMap;
use threadtalk_abi::module::RegionKind;
use threadtalk_crd::model::*;

/// Which threads talk, and how much: events from writer to reader.
pub type Pattern = fn(threads: u32, writer: u32, reader: u32) -> u64;

/// Each thread reads what its left neighbour wrote.
pub fn ring(threads: u32, writer: u32, reader: u32) -> u64 {
    if (writer + 1) % threads == reader { 1000 } else { 0 }
}

/// Neighbours on both sides, the far ends not.
pub fn halo(_: u32, writer: u32, reader: u32) -> u64 {
    if writer.abs_diff(reader) == 1 { 4096 + 64 * u64::from(writer) } else { 0 }
}

/// All with all, the more the nearer: over more than three powers of ten.
pub fn all_to_all(_: u32, writer: u32, reader: u32) -> u64 {
    match writer.abs_diff(reader) {
        0 => 0,
        distance => 2_000_000 / u64::from(distance).pow(3) + 1,
    }
}

/// The first thread hands data to all others.
pub fn master(_: u32, writer: u32, reader: u32) -> u64 {
    if writer == 0 && reader != 0 { 500 + u64::from(reader) * 3 } else { 0 }
}

fn matrix(threads: u32, value: impl Fn(u32, u32) -> u64) -> Matrix<u64> {
    let cells = (0..threads).flat_map(|writer| (0..threads).map(move |reader| (writer, reader)));
    let cells = cells.map(|(writer, reader)| Entry { writer, reader, value: value(writer, reader) });
    Matrix::new(threads as usize, cells.filter(|entry| entry.value > 0).collect())
}

fn distances(kind: Reading, scale: u64) -> Distances {
    let buckets: Vec<Bucket> = [
        (0, 1, 40.0),
        (3, 4, 25.0),
        (16, 18, 180.0),
        (18, 20, 320.0),
        (64, 72, 90.0),
        (4096, 4608, 300.0),
        (20480, 22528, 45.0),
    ]
    .map(|(lo, hi, count)| Bucket { lo: lo * scale, hi: (hi * scale).max(lo * scale + 1), count })
    .to_vec();
    let (median, p90, p99) = (18.0 * scale as f64, 4300.0 * scale as f64, 21000.0 * scale as f64);
    Distances {
        kind,
        count: buckets.iter().map(|bucket| bucket.count).sum(),
        median: Some(median),
        p90: Some(p90),
        p99: Some(p99),
        median_bytes: Some(median * 4.0),
        p90_bytes: Some(p90 * 4.0),
        p99_bytes: Some(p99 * 4.0),
        buckets,
    }
}

pub fn crd(scale: u64) -> Crd {
    let cutoff = |level, min_bytes, max_bytes, no_miss, definite_miss| Cutoff {
        level,
        min_bytes,
        max_bytes,
        no_miss,
        probable_miss: 1.0 - no_miss - definite_miss,
        definite_miss,
    };
    Crd {
        distinct: distances(Reading::Distinct, scale),
        index: distances(Reading::Index, scale + 1),
        method: Method::Exact,
        rate: 1.0,
        rank_error: 0.0,
        abandoned: 0,
        cutoffs: vec![
            cutoff(1, 20 << 10, 48 << 10, 0.955, 0.045),
            cutoff(2, 1 << 20, 2 << 20, 1.0, 0.0),
            cutoff(3, 30 << 20, 32 << 20, 1.0, 0.0),
        ],
    }
}

pub fn counts(threads: u32, pattern: Pattern) -> Counts {
    let raw = matrix(threads, |writer, reader| pattern(threads, writer, reader));
    let rar = matrix(threads, |writer, reader| match pattern(threads, writer, reader) {
        0 if writer == 1 && reader == 0 => 7,
        0 => 0,
        events => events * u64::from(1 + (writer * 3 + reader) % 5),
    });
    let carried_in = if raw.get(1, 0) == 0 { vec![[1, 0]] } else { Vec::new() };
    let sync = matrix(threads, |writer, reader| pattern(threads, writer, reader) / 50);
    let own = Measures {
        crr: Ratios::new(raw.clone(), rar.clone()),
        carried_in,
        homogeneity: 1.375,
        homogeneity_variants: Homogeneity { sample: 1.6, off_diagonal: 1.1, by_reader: 1.2, scaled: 540.0 },
        balance: 12.5,
        balance_by_reader: 25.0,
        threads_counted: threads as usize,
        private_bytes: 28 << 10,
        crd: Some(crd(1)),
    };
    let position = |line| Position { file: Some("src/solver/lu.c".into()), line: Some(line) };
    let lines = vec![
        Line { writer: position(12), reader: position(31), raw: raw.sum() / 2, rar: rar.sum() / 2 },
        Line { writer: Position { file: None, line: None }, reader: position(33), raw: raw.sum() / 4, rar: 12 },
    ];
    Counts {
        total_raw: raw.clone(),
        total_rar: rar.clone(),
        sync_raw: sync.clone(),
        sync_rar: sync,
        serial_raw: Matrix::default(),
        serial_rar: Matrix::default(),
        total_serial_raw: Matrix::default(),
        total_serial_rar: Matrix::default(),
        raw,
        rar,
        own,
        total: None,
        lines,
    }
}

pub fn region(id: u32, kind: RegionKind, name: &str, threads: u32, counts: Option<Counts>) -> Region {
    Region {
        id,
        kind,
        name: name.to_string(),
        symbol: None,
        file: Some("src/solver/lu.c".into()),
        line: Some(10 * id + 1),
        end_line: Some(10 * id + 9),
        called_at: Vec::new(),
        parent: (id > 0).then_some(0),
        visits: 17,
        threads: (0..threads).collect(),
        visits_by_thread: vec![17 / u64::from(threads.max(1)); threads as usize],
        counts: counts.map(Box::new),
        objects: Vec::new(),
        false_sharing: Vec::new(),
        suggestions: Vec::new(),
    }
}

pub fn thread(id: u32, name: &str) -> Thread {
    let created = (id > 0).then(|| Position { file: Some("src/main.c".into()), line: Some(77) });
    Thread {
        id,
        name: name.to_string(),
        created_by: (id > 0).then_some(0),
        created_at: created,
        start_s: 0.001 * f64::from(id),
        end_s: Some(1.2),
        cpu_s: Some(1.1),
        tid: 4000 + u64::from(id),
        openmp: false,
        overflow: false,
    }
}

/// A report of `threads` threads whose busiest region has this pattern.
pub fn report(threads: u32, pattern: Pattern) -> Report {
    let small: Pattern = ring;
    let regions = vec![
        region(0, RegionKind::Program, "lu", threads, None),
        region(1, RegionKind::Function, "main", threads, Some(counts(threads, master))),
        region(2, RegionKind::Function, "bmod", threads, Some(counts(threads, pattern))),
        region(3, RegionKind::Loop, "bmod", threads, Some(counts(threads, small))),
        region(4, RegionKind::Function, "<script>alert('x')</script> & \"co\"", 0, None),
    ];
    let mut program_total = region(0, RegionKind::Program, "lu", threads, Some(counts(threads, pattern)));
    (program_total.file, program_total.line, program_total.end_line) = (None, None, None);
    Report {
        schema: SCHEMA,
        program: Program {
            name: "lu".to_string(),
            pid: 4242,
            start_unix_s: 1_700_000_000.25,
            duration_s: Some(1.24),
            cpu_s: Some(2.31),
            exit_status: Some(0),
            modules: vec!["src/solver/lu.c".to_string()],
            meta: BTreeMap::new(),
        },
        ended: Ended::Normally,
        options: Recording { granule: 4, signature_bytes: 256 << 20, mode: "hashed", crd: "auto", hide_serial: false },
        accuracy: Accuracy {
            estimated_false_rate: 0.000_03,
            occupied: Some(0.12),
            dropped: 0,
            dropped_reentrant: 0,
            dropped_full: 0,
            signature_mapped: 32 << 20,
            chunks: 512,
            chunks_aliased: 0,
            events_checked: 100_000,
            events_suspect: 3,
            states_exhausted: 0,
            threads_overflowed: 0,
            modules_without_lines: 0,
            lineless_values: 0,
            crd_budget_reached: 0,
            records_budget_reached: 0,
            dropped_budget: 0,
        },
        threads: (0..threads).map(|id| thread(id, if id == 0 { "main" } else { "worker" })).collect(),
        caches: vec![
            Cache { level: 1, bytes: 48 << 10, shared_by: 2 },
            Cache { level: 2, bytes: 2 << 20, shared_by: 2 },
            Cache { level: 3, bytes: 32 << 20, shared_by: 16 },
        ],
        regions,
        program_total,
        phases: None,
        sections: None,
    }
}

/// Three phases of two patterns over 4 s, in eight slices.
pub fn phases(threads: u32) -> Phases {
    let phase = |pattern, from_s, to_s, of: Pattern| Phase {
        pattern,
        from_s,
        to_s,
        threads: (0..threads).collect(),
        raw: matrix(threads, |w, r| of(threads, w, r)),
        rar: matrix(threads, |w, r| 3 * of(threads, w, r)),
    };
    let phases = vec![phase(0, 0.0, 1.0, ring), phase(1, 1.0, 2.5, master), phase(0, 2.5, 4.0, ring)];
    let phase_of = [0, 0, 1, 1, 1, 2, 2, 2];
    let slice = |(i, phase): (usize, &usize)| {
        let raw = phases[*phase].raw.sum() / phase_of.iter().filter(|p| *p == phase).count() as u64;
        let from_s = i as f64 / 2.0;
        Slice { from_s, to_s: from_s + 0.5, raw, rar: 3 * raw, at_barrier: i == 4, phase: *phase }
    };
    Phases { similarity: 0.9, coarse: false, slices: phase_of.iter().enumerate().map(slice).collect(), phases }
}
