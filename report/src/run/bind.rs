//! `run --bind`: on which processor each thread of the program shall run.
//!
//! The runtime in the program binds its threads, by their logical numbers, which is the same for pthreads, C++ and
//! OpenMP. An OpenMP runtime that bound them too would undo that at each parallel region, so it is told not to:
//! [`environment`].

use crate::error::{Error, Result};
use crate::placement;
use crate::profile;
use std::ffi::OsString;
use std::path::Path;
use threadtalk_crd::machine::{format_cpus, parse_cpus};
use threadtalk_crd::placement::SCHEMA;
use threadtalk_profile::layout::FILE_MAGIC;

/// Processors of thread 0, 1, 2 and so on: `3,0-2`, a plan that `threadtalk map` wrote, or a profile, whose threads are
/// then mapped to this machine.
pub fn processors(what: &str) -> Result<Vec<u32>> {
    let list = match parse_cpus(what) {
        Some(list) => list,
        None => of_file(Path::new(what))?,
    };
    let Some(allowed) = placement::allowed_cpus() else { return Ok(list) };
    match list.iter().position(|cpu| !allowed.contains(cpu)) {
        None => Ok(list),
        Some(thread) => Err(Error::usage(
            format!("processor {} (of thread {thread}) is none that this process may use", list[thread]),
            what,
            format!("choose from {}, for example by threadtalk map on this machine", format_cpus(&allowed)),
        )),
    }
}

fn of_file(path: &Path) -> Result<Vec<u32>> {
    let contents = std::fs::read(path).map_err(|e| Error::file("read the plan", path, &e))?;
    let list = if contents.starts_with(&FILE_MAGIC) {
        let machine = placement::topology(None)?;
        let report = profile::analyse(path, None, None, false)?;
        Some(threadtalk_crd::placement::map(&report, &machine.topology, &machine.name).bind)
    } else {
        of_plan(&contents)
    };
    list.filter(|list| !list.is_empty()).ok_or_else(|| {
        let advice = "it is neither a list of processors, a plan of threadtalk map -o, nor a profile with threads";
        Error::File { action: "bind by", path: path.to_path_buf(), advice: advice.to_string() }
    })
}

fn of_plan(contents: &[u8]) -> Option<Vec<u32>> {
    let plan: serde_json::Value = serde_json::from_slice(contents).ok()?;
    plan["schema"].as_str().filter(|schema| *schema == SCHEMA)?;
    plan["bind"].as_array()?.iter().map(|cpu| cpu.as_u64()?.try_into().ok()).collect()
}

/// Settings with which OpenMP runtimes leave threads where they are; none: taken out of the environment.
///
/// libgomp binds nothing without the first three. LLVM's libomp gives its workers the mask of the whole process when
/// they begin even so, unless `KMP_AFFINITY=disabled` makes it leave masks alone; with that, it warns of an
/// `OMP_PROC_BIND`.
pub fn environment() -> Vec<(&'static str, Option<OsString>)> {
    vec![
        ("OMP_PROC_BIND", None),
        ("OMP_PLACES", None),
        ("GOMP_CPU_AFFINITY", None),
        ("KMP_AFFINITY", Some("disabled".into())),
    ]
}
