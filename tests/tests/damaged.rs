//! Files that are no profile, or no whole one: every command says in one line what is wrong with which file, and fails
//! with status 1.

use threadtalk_tests::scene::Scene;

fn with_profile() -> (Scene, Vec<u8>) {
    let scene = Scene::with("hand_over.c", &[]);
    scene.profile("whole.ttp");
    let bytes = std::fs::read(scene.path("whole.ttp")).expect("the program wrote its profile");
    (scene, bytes)
}

/// Both commands that read a profile and nothing else must refuse `name` with one line that contains the file and
/// `told`.
fn refused(scene: &Scene, name: &str, told: &str) {
    for arguments in [&["report", name][..], &["validate", name]] {
        let done = scene.threadtalk(arguments);
        let line = done.stderr_text();
        assert_eq!(done.ending(), "exit 1", "{arguments:?}: {line}");
        assert_eq!(line.lines().count(), 1, "{arguments:?}: {line}");
        assert!(line.contains(name), "{arguments:?} does not name the file: {line}");
        assert!(line.contains(told), "{arguments:?} does not say `{told}`: {line}");
        assert!(done.stdout.is_empty(), "{arguments:?} printed {}", done.stdout_text());
    }
}

#[test]
fn missing_empty_and_foreign_files() {
    let scene = Scene::new();
    refused(&scene, "missing.ttp", "No such file");
    std::fs::write(scene.path("empty.ttp"), b"").unwrap();
    refused(&scene, "empty.ttp", "empty");
    std::fs::write(scene.path("text.ttp"), "not a profile, but long enough to be one. ".repeat(5000)).unwrap();
    refused(&scene, "text.ttp", "not a threadtalk profile");
    std::fs::create_dir(scene.path("folder.ttp")).unwrap();
    refused(&scene, "folder.ttp", "not a threadtalk profile");
    refused(&scene, "/dev/null", "not a threadtalk profile");
}

#[test]
fn newer_older_and_foreign_order_are_told_apart() {
    let (scene, bytes) = with_profile();
    let mut newer = bytes.clone();
    newer[8..12].copy_from_slice(&99_u32.to_le_bytes());
    std::fs::write(scene.path("newer.ttp"), newer).unwrap();
    refused(&scene, "newer.ttp", "version 99, which is too new");
    let mut older = bytes.clone();
    older[8..12].copy_from_slice(&0_u32.to_le_bytes());
    std::fs::write(scene.path("older.ttp"), older).unwrap();
    refused(&scene, "older.ttp", "version 0, which is too old");
    let mut swapped = bytes;
    swapped[12..16].reverse();
    std::fs::write(scene.path("swapped.ttp"), swapped).unwrap();
    refused(&scene, "swapped.ttp", "order");
}

#[test]
fn a_cut_file_is_refused_or_told_to_be_cut_and_never_a_panic() {
    let (scene, bytes) = with_profile();
    for cut in [1, 7, 8, 40, 200, 4096, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(scene.path("cut.ttp"), &bytes[..cut]).unwrap();
        let done = scene.threadtalk(&["report", "cut.ttp", "--format", "json"]);
        let line = done.stderr_text();
        assert!(!line.contains("panicked"), "cut at {cut}: {line}");
        assert!(done.ending() == "exit 1" || done.ending() == "exit 0", "cut at {cut}: {}: {line}", done.ending());
        assert!(done.ending() == "exit 0" || line.contains("cut.ttp"), "cut at {cut}: {line}");
        // A file that ends inside its header holds nothing to report.
        assert!(cut > 200 || done.ending() == "exit 1", "cut at {cut}: accepted");
    }
}

#[test]
fn a_flipped_byte_is_found_by_the_checksums_or_harmless() {
    let (scene, bytes) = with_profile();
    let mut found = 0;
    for k in 0..40 {
        let mut damaged = bytes.clone();
        // Spread over the file, which is far larger than 40 bytes, at odd places.
        let place = (bytes.len() / 40) * k + 131;
        damaged[place] ^= 0x55;
        std::fs::write(scene.path("flipped.ttp"), &damaged).unwrap();
        let done = scene.threadtalk(&["validate", "flipped.ttp"]);
        assert!(!done.stderr_text().contains("panicked"), "byte {place}: {}", done.stderr_text());
        assert!(["exit 0", "exit 1"].contains(&done.ending().as_str()), "byte {place}: {}", done.ending());
        found += usize::from(done.ending() == "exit 1");
    }
    let mut damaged = bytes.clone();
    let name = bytes.windows(4).rposition(|w| w == b"take").expect("the function's name is in the tables");
    damaged[name] ^= 0x20;
    std::fs::write(scene.path("name.ttp"), damaged).unwrap();
    let done = scene.threadtalk(&["validate", "name.ttp"]);
    assert_eq!(done.ending(), "exit 1", "a changed string passes; {found} of 40 other changes were found");
    assert!(done.stderr_text().contains("checksum"), "{}", done.stderr_text());
}

#[test]
fn usage_errors_are_status_2_in_one_line() {
    let scene = Scene::new();
    for arguments in [&["report"][..], &["report", "x.ttp", "--format", "pdf"], &["raport", "x.ttp"], &[]] {
        let done = scene.threadtalk(arguments);
        assert_eq!(done.ending(), "exit 2", "{arguments:?}: {}", done.stderr_text());
        assert!(!done.stderr_text().is_empty(), "{arguments:?}");
    }
}

#[test]
fn run_tells_its_own_errors_from_the_programs() {
    let scene = Scene::new();
    let usage = scene.threadtalk(&["run"]);
    assert_eq!(usage.ending(), "exit 125", "{}", usage.stderr_text());
    let missing = scene.threadtalk(&["run", "--", "./missing"]);
    assert_eq!(missing.ending(), "exit 127", "{}", missing.stderr_text());
    assert!(missing.stderr_text().contains("./missing"), "{}", missing.stderr_text());
    std::fs::write(scene.path("no-program"), "text").unwrap();
    let refused = scene.threadtalk(&["run", "--", "./no-program"]);
    assert_eq!(refused.ending(), "exit 126", "{}", refused.stderr_text());
}
