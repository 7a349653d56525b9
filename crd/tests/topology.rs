//! Topologies: as the kernel describes them and as users do.

use proptest::prelude::*;
use std::fs;
use std::path::Path;
use threadtalk_crd::machine::{LevelKind, Topology, format_cpus, parse_cpus, parse_topology, read_topology};

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("{text}\n")).unwrap();
}

fn cpu(root: &Path, cpu: u32, package: &str, core: &str, caches: &[(u8, &str, &str)]) {
    let folder = root.join(format!("cpu/cpu{cpu}"));
    write(&folder.join("topology/package_cpus_list"), package);
    write(&folder.join("topology/die_cpus_list"), package);
    write(&folder.join("topology/core_cpus_list"), core);
    for (index, (level, kind, cpus)) in caches.iter().enumerate() {
        let folder = folder.join(format!("cache/index{index}"));
        write(&folder.join("level"), &level.to_string());
        write(&folder.join("type"), kind);
        write(&folder.join("shared_cpu_list"), cpus);
    }
}

fn read(root: &Path, allowed: Option<&[u32]>) -> Topology {
    read_topology(&root.join("cpu"), &root.join("node"), allowed).unwrap()
}

fn levels(topology: &Topology) -> Vec<(LevelKind, usize, u32)> {
    topology.levels().iter().map(|level| (level.kind, level.len(), level.distance)).collect()
}

/// Two packages, each a memory node with one shared cache, two cores of two hardware threads: siblings are n and n + 4.
fn two_packages(root: &Path) {
    for n in 0..8 {
        let package = ["0,1,4,5", "2-3,6-7"][(n % 4 / 2) as usize];
        let core = format!("{},{}", n % 4, n % 4 + 4);
        let caches = [(1, "Data", &*core), (1, "Instruction", "0-7"), (2, "Unified", &*core), (3, "Unified", package)];
        cpu(root, n, package, &core, &caches);
    }
    write(&root.join("node/node0/cpulist"), "0-1,4-5");
    write(&root.join("node/node1/cpulist"), "2-3,6-7");
    // Memory without processors.
    write(&root.join("node/node2/cpulist"), "");
}

#[test]
fn the_kernels_groups_become_a_tree() {
    let folder = tempfile::tempdir().unwrap();
    two_packages(folder.path());
    let topology = read(folder.path(), None);
    assert_eq!(topology.cpus(), [0, 4, 1, 5, 2, 6, 3, 7]);
    let expected = [(LevelKind::Cache(3), 2, 4), (LevelKind::Core, 4, 2), (LevelKind::Thread, 8, 1)];
    assert_eq!(levels(&topology), expected);
    assert_eq!(topology.cores(), [0, 0, 1, 1, 2, 2, 3, 3]);
    assert_eq!([0, 1, 2, 4].map(|other| topology.distance(0, other)), [0, 1, 2, 4]);
    // An offline processor has a folder and nothing in it.
    fs::create_dir_all(folder.path().join("cpu/cpu8")).unwrap();
    assert_eq!(read(folder.path(), None), topology);
}

#[test]
fn only_processors_that_may_be_used() {
    let folder = tempfile::tempdir().unwrap();
    two_packages(folder.path());
    let one_package = read(folder.path(), Some(&[0, 4, 1, 99]));
    assert_eq!(one_package.cpus(), [0, 4, 1]);
    assert_eq!(levels(&one_package), [(LevelKind::Core, 2, 2), (LevelKind::Thread, 3, 1)]);
    let alone = read(folder.path(), Some(&[6]));
    assert_eq!((alone.cpus(), levels(&alone), alone.cores()), (&[6][..], vec![], vec![0]));
    let error = read_topology(&folder.path().join("cpu"), Path::new("/nowhere"), Some(&[])).unwrap_err().to_string();
    assert!(error.ends_with("cpu names no processor; describe the topology in a file instead"), "{error}");
}

#[test]
fn old_kernels_and_virtual_machines() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..4 {
        let topology = folder.path().join(format!("cpu/cpu{n}/topology"));
        write(&topology.join("core_siblings_list"), "0-3");
        write(&topology.join("thread_siblings_list"), ["0,2", "1,3"][n % 2]);
    }
    let topology = read(folder.path(), None);
    assert_eq!(topology.cpus(), [0, 2, 1, 3]);
    assert_eq!(levels(&topology), [(LevelKind::Core, 2, 2), (LevelKind::Thread, 4, 1)]);
}

#[test]
fn what_the_kernel_cannot_mean_is_named() {
    let folder = tempfile::tempdir().unwrap();
    two_packages(folder.path());
    let message = || {
        let error = read_topology(&folder.path().join("cpu"), &folder.path().join("node"), None).unwrap_err();
        error.to_string()
    };
    for (file, text, words) in [
        ("cpu/cpu3/topology/core_cpus_list", "3-1", "core_cpus_list holds `3-1`, which is no list of processors"),
        ("cpu/cpu3/cache/index0/level", "one", "level holds `one`, which is no cache level"),
        ("node/node1/cpulist", "all", "cpulist holds `all`, which is no list of processors"),
    ] {
        let path = folder.path().join(file);
        let before = fs::read_to_string(&path).unwrap();
        write(&path, text);
        assert!(message().contains(words), "{}", message());
        fs::write(&path, before).unwrap();
    }
    fs::remove_file(folder.path().join("cpu/cpu0/cache/index0/type")).unwrap();
    assert!(message().starts_with("cannot read "), "{}", message());
}

#[test]
fn described_levels_numbers_and_distances() {
    let text = "# a machine\npackage 2 distance=12 # sockets\n\nL3 2 distance=4\ncore 2 distance=4\ncpus 0-3,8-11\n";
    let topology = parse_topology(text).unwrap();
    assert_eq!(topology.cpus(), [0, 1, 2, 3, 8, 9, 10, 11]);
    let expected = [(LevelKind::Package, 2, 12), (LevelKind::Cache(3), 4, 4), (LevelKind::Core, 8, 4)];
    assert_eq!(levels(&topology), expected);
    // A level of one splits nothing.
    assert_eq!(levels(&parse_topology("package 1\nnode 2\nthread 1").unwrap()), [(LevelKind::Node, 2, 1)]);
    let threads = parse_topology("thread 4").unwrap();
    assert_eq!(threads.cores(), [0; 4]);
}

#[test]
fn mistakes_are_named_with_their_line() {
    for (text, words) in [
        ("# nothing\n", "it names no level: write one on each line"),
        ("cpus 0-3", "it names no level"),
        ("socket 2", "line 1: `socket` is no level: write package, node, die, L1 to L9, core, thread, or cpus"),
        ("L0 2", "line 1: `L0` is no level"),
        ("core 2\ncore 2", "line 2: `core` comes twice"),
        ("thread 2\n\ncore 2", "line 3: `core` comes after `thread`"),
        ("core", "line 1: `` is no number of groups"),
        ("core 0", "line 1: `0` is no number of groups"),
        ("node 100\ncore 100", "line 2: more than 8192 processors"),
        ("core 2 far=1", "line 1: `far=1` is not understood: only distance=N"),
        ("core 2 distance=0", "line 1: `distance=0` is not understood"),
        ("core 2 distance=1 2", "line 1: `2` is not understood"),
        ("node 2 distance=3\ncore 2", "line 2: no distance: state it for all levels or for none"),
        ("node 2 distance=3\ncore 2 distance=4", "line 2: distance 4 is larger than that of the level around it (3)"),
        ("core 4\ncpus 0-2", "line 2: `0-2` is no list of 4 different processors"),
        ("core 2\ncpus 1,1", "line 2: `1,1` is no list of 2 different processors"),
        ("core 2\ncpus 0,9999", "line 2: `0,9999` is no list"),
        ("core 2\ncpus 0,+1", "line 2: `0,+1` is no list"),
    ] {
        let message = parse_topology(text).unwrap_err().to_string();
        assert!(message.starts_with(words), "{text:?}: {message}");
    }
}

proptest! {
    #[test]
    fn distances_are_those_of_a_tree(counts in prop::collection::vec(1usize..4, 1..5)) {
        const KINDS: [&str; 5] = ["package", "node", "L3", "core", "thread"];
        let text: String = counts.iter().zip(KINDS).map(|(count, kind)| format!("{kind} {count}\n")).collect();
        let topology = parse_topology(&text).unwrap();
        let all = 0..topology.cpus().len();
        prop_assert_eq!(all.len(), counts.iter().product::<usize>());
        for a in all.clone() {
            for b in all.clone() {
                prop_assert_eq!(topology.distance(a, b), topology.distance(b, a));
                prop_assert_eq!(topology.distance(a, b) == 0, a == b);
                for c in all.clone() {
                    prop_assert!(topology.distance(a, c) <= topology.distance(a, b).max(topology.distance(b, c)));
                }
            }
        }
    }

    #[test]
    fn lists_are_read_as_they_are_written(cpus in prop::collection::vec(0u32..8192, 1..40)) {
        let list = format_cpus(&cpus);
        prop_assert_eq!(parse_cpus(&list), Some(cpus));
    }

    #[test]
    fn no_text_makes_it_panic(text in "(package|core|thread|cpus|distance=|[0-9]{1,4}|[ \n#=,-]){0,20}") {
        if let Ok(topology) = parse_topology(&text) {
            prop_assert!(!topology.cpus().is_empty());
        }
    }
}
