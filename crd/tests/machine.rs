//! Caches as the kernel describes them.

use std::fs;
use std::path::Path;
use threadtalk_crd::machine::{Cache, read};

fn cache(root: &Path, cpu: u32, index: u32, level: &str, kind: &str, size: &str, cpus: &str) {
    let folder = root.join(format!("cpu{cpu}/cache/index{index}"));
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", cpus)] {
        fs::write(folder.join(name), format!("{text}\n")).unwrap();
    }
}

#[test]
fn data_caches_by_level() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for cpu in 0..2 {
        cache(root, cpu, 0, "1", "Data", "48K", "0-1");
        cache(root, cpu, 1, "1", "Instruction", "32K", "0-1");
        cache(root, cpu, 2, "2", "Unified", "2048K", "0-1");
        cache(root, cpu, 3, "3", "Unified", "32768K", "0-3,8,10-11");
    }
    // A small core: the smaller cache counts, whoever comes first.
    cache(root, 2, 0, "1", "Data", "32K", "2");
    fs::create_dir_all(root.join("cpu3")).unwrap();
    fs::create_dir_all(root.join("cpufreq/cache")).unwrap();
    fs::create_dir_all(root.join("cpu0/cache/power")).unwrap();
    let cache = |level, bytes, shared_by| Cache { level, bytes, shared_by };
    assert_eq!(read(root).unwrap(), [cache(1, 32 << 10, 1), cache(2, 2 << 20, 2), cache(3, 32 << 20, 7)]);
}

#[test]
fn what_is_wrong_is_named() {
    let message = |root: &Path| read(root).unwrap_err().to_string();
    let nowhere = message(Path::new("/nowhere"));
    assert!(nowhere.starts_with("cannot read /nowhere: No such file"), "{nowhere}");
    assert!(nowhere.ends_with("describe the caches instead, for example 32K,1M,32M:shared=8"));

    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    assert!(message(root).contains("names no data cache"), "{}", message(root));
    for (level, size, cpus, what) in [
        ("one", "1K", "0", "level holds `one`, which is no cache level"),
        ("1", "huge", "0", "size holds `huge`, which is no size"),
        ("1", "1K", "3-1", "shared_cpu_list holds `3-1`, which is no list of processors"),
        ("1", "1K", "", "shared_cpu_list holds ``, which is no list of processors"),
        ("1", "1K", "0-4294967295", "which is no list of processors"),
    ] {
        cache(root, 0, 0, level, "Data", size, cpus);
        assert!(message(root).contains(what), "{}", message(root));
    }
    fs::remove_file(root.join("cpu0/cache/index0/type")).unwrap();
    assert!(message(root).starts_with(&format!("cannot read {}", root.join("cpu0/cache/index0/type").display())));
}
