use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Difference, Options, determined, difference};
use crate::Result;
use crate::build::{Compilers, Tool};
use crate::error::during;
use crate::kernels::Kernel;
use crate::process;
use crate::report::Report;

/// What is compared with. With the default budget for distances a quarter of those of `cg` and a third of a sort's were
/// followed, and the others sampled.
const EXACT: &str = "mode=exact:crd=exact:crd_bytes=4G";

/// One kernel with one budget.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Kernel.
    pub kernel: String,
    /// Budget of the hashed signature.
    pub budget: String,
    /// The share of false events that the report allowed for.
    pub estimate: f64,
    /// Hashed, reuse distances `auto`, against exact.
    pub error: Difference,
    /// Of that, what is wrong in entries in which all exact runs agree, as a share of all events.
    pub determined: f64,
    /// Those two of three exact runs that differ most.
    pub noise: Difference,
}

impl Row {
    /// Whether the estimate covers what is made up and what is missing where exact runs agree.
    ///
    /// Three runs may agree by chance, so twice the measured variation is allowed for, and one event in 100 000.
    pub fn covered(&self) -> bool {
        self.determined <= self.estimate + 2.0 * self.noise.wrong() + 1e-5
    }
}

/// Compiles, profiles and compares everything; `progress` hears of each step.
pub fn measure(options: &Options, compilers: &Compilers, mut progress: impl FnMut(&str)) -> Result<Vec<Row>> {
    let scratch = during(|| "creating a temporary folder".into(), tempfile::tempdir())?;
    let mut rows = Vec::new();
    for &kernel in &options.kernels {
        let program = scratch.path().join(kernel.name);
        let bench = Bench { kernel, options, compilers, scratch: scratch.path(), program: &program };
        progress(&format!("profiling {} exactly", kernel.name));
        let command = compilers.command(kernel, Tool::Threadtalk, false, &program)?;
        process::run(command, scratch.path(), options.timeout)?;
        let exact = [bench.profile(EXACT)?, bench.profile(EXACT)?, bench.profile(EXACT)?];
        let pairs = [(1, 0), (2, 0), (2, 1)].map(|(found, other)| difference(&exact[found], &exact[other]));
        let noise = pairs.into_iter().max_by(|a, b| a.wrong().total_cmp(&b.wrong())).unwrap_or_default();
        for budget in &options.budgets {
            progress(&format!("profiling {} with {budget} of signatures", kernel.name));
            let hashed = bench.profile(&format!("mode=hashed:crd=auto:signature_bytes={budget}"))?;
            rows.push(Row {
                kernel: kernel.name.into(),
                budget: budget.clone(),
                estimate: hashed.accuracy.estimated_false_rate,
                error: difference(&hashed, &exact[0]),
                determined: determined::wrong(&hashed, &exact),
                noise,
            });
        }
    }
    Ok(rows)
}

struct Bench<'a> {
    kernel: &'static Kernel,
    options: &'a Options,
    compilers: &'a Compilers,
    scratch: &'a Path,
    program: &'a Path,
}

impl Bench<'_> {
    fn profile(&self, runtime_options: &str) -> Result<Report> {
        let mut command = Tool::Threadtalk.command(self.program, self.scratch);
        command.env("THREADTALK_OPTIONS", runtime_options);
        command.args(["-t", &self.options.threads.to_string()]);
        command.args(self.kernel.arguments(!self.options.full));
        process::run(command, self.scratch, self.options.timeout)?;
        let what = || format!("the report of {} with {runtime_options}", self.kernel.name);
        Report::take(self.compilers, self.scratch, self.options.timeout, what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_own_variation_is_no_error_of_the_tool() {
        let row = |estimate, determined, missing| Row {
            kernel: "lu".into(),
            budget: "1M".into(),
            estimate,
            error: Difference { missing: 0.5, ..Difference::default() },
            determined,
            noise: Difference { missing, ..Difference::default() },
        };
        assert!(row(0.0, 0.01, 0.008).covered());
        assert!(row(0.02, 0.01, 0.0).covered());
        assert!(!row(0.0, 0.01, 0.0).covered());
    }
}
