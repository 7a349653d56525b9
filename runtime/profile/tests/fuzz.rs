//! Random changes to valid profiles: the decoder answers with tables or an error, never with a panic, and takes no more
//! memory than the file's size allows.
//!
//! ```text
//! THREADTALK_FUZZ_SECONDS=60 cargo test -p threadtalk-profile --test fuzz -- --ignored --nocapture
//! ```
//!
//! prints its seed; `THREADTALK_FUZZ_SEED` repeats a run. Works on the stable toolchain: mutations know the layout
//! (fields of block headers and tables, lengths, page numbers, whole blocks), since blind ones rarely get past the
//! first check.

mod sample;

use std::env;
use std::mem::size_of;
use std::panic::catch_unwind;
use std::time::{Duration, Instant, SystemTime};
use threadtalk_profile::layout::{BlockHeader, FileHeader, UNIT};
use threadtalk_profile::write::Contents;
use threadtalk_profile::{Profile, State};

/// Steele, Lea, Flood 2014: SplitMix64. One line of state, so that a seed says all.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// Numbers at which lengths and indices go wrong.
    fn interesting(&mut self) -> u64 {
        const EDGES: [u64; 12] = [
            0,
            1,
            2,
            UNIT - 1,
            UNIT,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            1 << 32,
            1 << 47,
            u64::MAX / 2 + 1,
            u64::MAX,
        ];
        match self.below(3) {
            0 => EDGES[self.below(EDGES.len())],
            1 => self.next() % 300,
            _ => self.next(),
        }
    }
}

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let units = bytes.len() / UNIT as usize;
    let start_of = |unit: usize| unit * UNIT as usize;
    match random.below(8) {
        // A field of a header or of the tables behind it.
        0..=3 => {
            let unit = random.below(units);
            let reach = if unit == 0 { size_of::<FileHeader>() } else { size_of::<BlockHeader>() + 900 };
            let width = [1, 2, 4, 8][random.below(4)];
            let at = start_of(unit) + random.below(reach) / width * width;
            let value = random.interesting().to_le_bytes();
            if at + width <= bytes.len() {
                bytes[at..at + width].copy_from_slice(&value[..width]);
            }
        }
        4 if !bytes.is_empty() => {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        5 => bytes.truncate(random.below(bytes.len() + 1)),
        6 if units > 1 => {
            let (from, to) = (start_of(random.below(units)), start_of(random.below(units)));
            bytes.copy_within(from..from + UNIT as usize, to);
        }
        _ => {
            let length = random.below(2 * UNIT as usize);
            let fill = [0, 0xff][random.below(2)];
            bytes.resize(bytes.len() + length, fill);
        }
    }
}

/// Decodes everything; true if the profile was taken for valid.
fn decode(bytes: &[u8]) -> bool {
    match Profile::from_bytes(bytes) {
        Ok(profile) => {
            let contents = Contents::from(&profile);
            let held = contents.events.len()
                + contents.visits.len()
                + contents.threads.len()
                + contents.traces.len()
                + contents.phases.len();
            let held = held + contents.counts.len() + contents.nodes.len() + contents.instances.len();
            let held = held + contents.blocked.len() + contents.levels.len() + contents.code.len();
            assert!(held <= bytes.len() / 8, "{held} records from {} bytes", bytes.len());
            for number in [0, 1, 2, 10, 21, u32::MAX] {
                let _ = (profile.site(number), profile.region(number));
            }
            true
        }
        Err(error) => {
            assert!(!error.to_string().contains('\n'));
            false
        }
    }
}

fn fuzz(seed: u64, duration: Duration) {
    let seeds = [State::Running, State::Normal].map(|state| {
        let mut contents = sample::contents();
        contents.header.state = state;
        contents.encode()
    });
    let begin = Instant::now();
    let (mut runs, mut valid) = (0u64, 0u64);
    while begin.elapsed() < duration {
        let mut random = Random(seed.wrapping_add(runs));
        // Most without checksums, which would hide everything else.
        let mut bytes = seeds[usize::from(random.below(8) == 0)].clone();
        for _ in 0..=random.below(4) {
            mutate(&mut bytes, &mut random);
        }
        match catch_unwind(|| decode(&bytes)) {
            Ok(is_valid) => valid += u64::from(is_valid),
            Err(_) => panic!(
                "input {runs} of seed {seed} (THREADTALK_FUZZ_SEED={}) makes the decoder panic",
                seed.wrapping_add(runs)
            ),
        }
        runs += 1;
    }
    println!("seed {seed}: {runs} inputs, {valid} of them valid");
    assert!(valid < runs, "no mutation was noticed");
}

#[test]
fn a_second_of_mutations() {
    fuzz(20_180_813, Duration::from_secs(1));
}

#[test]
#[ignore = "as long as THREADTALK_FUZZ_SECONDS says"]
fn mutations() {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse().ok());
    let now = || SystemTime::UNIX_EPOCH.elapsed().map_or(0, |d| d.as_nanos() as u64);
    let seed = number("THREADTALK_FUZZ_SEED").unwrap_or_else(now);
    println!("THREADTALK_FUZZ_SEED={seed}");
    fuzz(seed, Duration::from_secs(number("THREADTALK_FUZZ_SECONDS").unwrap_or(10)));
}
