//! Lines that start a program with its threads where the plan says.

use serde::Serialize;

use crate::machine::format_cpus;

/// Settings and arguments, without the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Launch {
    /// `OMP_PLACES`: a place for each thread of an OpenMP team, in the order of their numbers. Wants
    /// [`Launch::omp_proc_bind`].
    pub omp_places: String,
    /// `OMP_PROC_BIND`: thread `i` of the first team takes place `i`.
    pub omp_proc_bind: &'static str,
    /// `GOMP_CPU_AFFINITY`, which both libgomp and libomp read.
    pub gomp_cpu_affinity: String,
    /// Argument of `taskset -c`: keeps all threads to the processors of the plan; which thread runs where is left open.
    pub taskset: String,
    /// Argument of `threadtalk run --bind`, also for threads that OpenMP knows nothing of.
    pub bind: String,
}

impl Launch {
    /// For threads whose processors, by the operating system's numbers, these are.
    pub fn new(cpus: &[u32]) -> Self {
        let mut used = cpus.to_vec();
        used.sort_unstable();
        used.dedup();
        let join = |wrap: fn(&u32) -> String, by: &str| cpus.iter().map(wrap).collect::<Vec<_>>().join(by);
        Self {
            omp_places: join(|cpu| format!("{{{cpu}}}"), ","),
            omp_proc_bind: "close",
            gomp_cpu_affinity: join(u32::to_string, " "),
            taskset: format_cpus(&used),
            bind: format_cpus(cpus),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_in_the_syntax_of_its_reader() {
        let launch = Launch::new(&[3, 0, 1, 2, 3]);
        assert_eq!(launch.omp_places, "{3},{0},{1},{2},{3}");
        assert_eq!(launch.gomp_cpu_affinity, "3 0 1 2 3");
        assert_eq!((launch.taskset.as_str(), launch.bind.as_str()), ("0-3", "3,0-3"));
    }
}
