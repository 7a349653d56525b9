//! The topology as Linux describes it.

use std::collections::BTreeMap;
use std::path::Path;

use super::super::cpus::parse_cpus;
use super::super::sysfs::{SysfsError, folders, text, unexpected};
use super::{LevelKind, Topology, doubling};

/// Where Linux describes memory nodes.
pub const SYSFS_NODE: &str = "/sys/devices/system/node";

/// First processor of the group of each processor, by kind.
type Groups = BTreeMap<LevelKind, BTreeMap<u32, u32>>;

/// The topology of the processors described under `cpu_root` ([`super::super::SYSFS_CPU`]) and `node_root`
/// ([`SYSFS_NODE`]; a kernel without memory nodes has none). Only `allowed` ones if given: those that this process may
/// use.
///
/// Each level outwards has twice the distance of the one inside it. Where Linux has two kinds for the same groups (a
/// package that is a memory node and shares a cache) the level has the name of the innermost, which says most.
pub fn read_topology(cpu_root: &Path, node_root: &Path, allowed: Option<&[u32]>) -> Result<Topology, SysfsError> {
    let mut groups = Groups::new();
    let mut cpus = Vec::new();
    for folder in folders(cpu_root, "cpu")? {
        let number = folder.file_name().and_then(|n| n.to_str()).and_then(|n| n[3..].parse::<u32>().ok());
        let Some(cpu) = number.filter(|cpu| allowed.is_none_or(|allowed| allowed.contains(cpu))) else { continue };
        // A processor that is offline has neither folder.
        let (topology, caches) = (folder.join("topology"), folder.join("cache"));
        if !topology.is_dir() && !caches.is_dir() {
            continue;
        }
        cpus.push(cpu);
        let named = [
            (LevelKind::Package, ["package_cpus_list", "core_siblings_list"]),
            (LevelKind::Die, ["die_cpus_list", "die_cpus_list"]),
            (LevelKind::Core, ["core_cpus_list", "thread_siblings_list"]),
        ];
        for (kind, names) in named {
            // The second name is the one of kernels before 5.3.
            if let Some(name) = names.into_iter().find(|name| topology.join(name).is_file()) {
                put(&mut groups, kind, cpu, &topology, name)?;
            }
        }
        if caches.is_dir() {
            for index in folders(&caches, "index")? {
                if text(&index, "type")?.1 != "Instruction" {
                    let level = text(&index, "level")?;
                    let level = level.1.parse().map_err(|_| unexpected(level, "cache level"))?;
                    put(&mut groups, LevelKind::Cache(level), cpu, &index, "shared_cpu_list")?;
                }
            }
        }
    }
    if cpus.is_empty() {
        return Err(SysfsError::NoProcessor { root: cpu_root.to_owned() });
    }
    cpus.sort_unstable();
    if node_root.is_dir() {
        for node in folders(node_root, "node")? {
            let list = text(&node, "cpulist")?;
            // A node of memory only.
            if list.1.is_empty() {
                continue;
            }
            let members = parse_cpus(&list.1).ok_or_else(|| unexpected(list, "list of processors"))?;
            let first = members.iter().min().copied().unwrap_or_default();
            groups.entry(LevelKind::Node).or_default().extend(members.into_iter().map(|cpu| (cpu, first)));
        }
    }
    Ok(build(cpus, groups))
}

fn put(groups: &mut Groups, kind: LevelKind, cpu: u32, folder: &Path, name: &str) -> Result<(), SysfsError> {
    let list = text(folder, name)?;
    let members = parse_cpus(&list.1).ok_or_else(|| unexpected(list, "list of processors"))?;
    let first = members.into_iter().min().unwrap_or(cpu);
    groups.entry(kind).or_default().insert(cpu, first);
    Ok(())
}

fn build(cpus: Vec<u32>, groups: Groups) -> Topology {
    let mut labels: Vec<(LevelKind, Vec<u32>)> = groups
        .into_iter()
        .map(|(kind, of)| (kind, cpus.iter().map(|cpu| of.get(cpu).copied().unwrap_or(*cpu)).collect()))
        .collect();
    // Fewer groups are further outside: a memory node may hold several packages, or be a part of one. Where two kinds
    // have as many groups, the nearer to the core comes first and takes the level; of caches the larger level is
    // further out.
    let distinct = |of: &[u32]| {
        let mut of = of.to_vec();
        of.sort_unstable();
        of.dedup();
        of.len()
    };
    let nearness = |kind: LevelKind| match kind {
        LevelKind::Cache(level) => (LevelKind::Cache(0), u8::MAX - level),
        other => (other, 0),
    };
    labels.sort_by_key(|(kind, of)| (distinct(of), std::cmp::Reverse(nearness(*kind))));
    // The level of one processor each has a name of its own, which depends on whether cores have several.
    let shares_core = labels.iter().any(|(kind, of)| *kind == LevelKind::Core && distinct(of) < cpus.len());
    labels.retain(|(_, of)| distinct(of) < cpus.len());
    let innermost = if shares_core { LevelKind::Thread } else { LevelKind::Core };
    Topology::new(cpus, labels, innermost, doubling)
}
