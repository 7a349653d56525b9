//! The pictures, byte for byte against golden ones. `THREADTALK_BLESS=1` replaces these: look at the new ones.

#[path = "support/example.rs"]
mod example;

use example::{all_to_all, halo, master, report, ring};
use std::path::PathBuf;
use threadtalk::svg;

#[track_caller]
fn check(name: &str, picture: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("THREADTALK_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, picture).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == picture, "{name} changed; if that is meant, run with THREADTALK_BLESS=1 and look at it");
}

fn picture(pictures: &[(String, String)], name: &str) -> String {
    pictures.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no {name}")).1.clone()
}

#[test]
fn matrices_of_2_to_64_threads() {
    for (threads, pattern, name) in [
        (2, ring as example::Pattern, "ring"),
        (4, halo, "halo"),
        (16, all_to_all, "all"),
        (64, halo, "halo"),
        (40, master, "master"),
    ] {
        let pictures = svg::all(&report(threads, pattern), 9);
        check(&format!("matrix-{threads}-{name}.svg"), &picture(&pictures, "matrix-0002-bmod.svg"));
    }
}

#[test]
fn distances_against_the_caches() {
    check("crd.svg", &picture(&svg::all(&report(4, ring), 9), "crd-0002-bmod.svg"));
}

#[test]
fn distances_from_few_samples_say_how_far_ranks_may_be_off() {
    let line = |rank_error: f64| {
        let mut report = report(4, ring);
        for region in &mut report.regions {
            if let Some(counts) = &mut region.counts {
                let crd = counts.own.crd.as_mut().unwrap();
                (crd.rate, crd.rank_error) = (0.02, rank_error);
            }
        }
        let picture = picture(&svg::all(&report, 9), "crd-0002-bmod.svg");
        picture.lines().find(|line| line.contains("estimated from")).unwrap().to_owned()
    };
    assert!(line(0.12).contains("estimated from 2 % of the uses (ranks \u{b1} 12 %)"), "{}", line(0.12));
    assert!(!line(0.04).contains("ranks"), "{}", line(0.04));
}

#[test]
fn a_matrix_of_256_threads_is_small() {
    let pictures = svg::all(&report(256, all_to_all), 1);
    let size = picture(&pictures, "matrix-program.svg").len();
    assert!(size < 2_000_000, "{size} bytes");
}

#[test]
fn phases_over_time() {
    for threads in [4, 200] {
        let mut report = report(threads.min(4), ring);
        report.phases = Some(example::phases(threads));
        check(&format!("phases-{threads}.svg"), &picture(&svg::all(&report, 1), "phases.svg"));
    }
    assert!(svg::all(&report(4, ring), 1).iter().all(|(name, _)| name != "phases.svg"));
}
