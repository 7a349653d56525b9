use std::fs;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::{Options, Size, browser, synthetic};
use crate::build::{self, Compilers};
use crate::error::during;
use crate::statistics::Summary;
use crate::{Result, process};

/// What one format takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// What was reported.
    pub profile: Size,
    /// As `--format` takes it.
    pub format: String,
    /// User and system CPU time in seconds, the least of the rounds.
    pub cpu_s: f64,
    /// Largest resident set in bytes, which includes the mapped profile.
    pub peak_bytes: u64,
    /// Bytes that were written.
    pub written_bytes: u64,
    /// Milliseconds until a browser had built the page and its layout; only for pages.
    pub shown_ms: Option<f64>,
}

/// Writes the profiles and takes the times; `progress` hears of each step.
pub fn measure(options: &Options, compilers: &Compilers, mut progress: impl FnMut(&str)) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for size in &options.profiles {
        of_profile(*size, options, compilers, &mut progress, &mut rows)?;
    }
    Ok(rows)
}

fn of_profile(
    size: Size,
    options: &Options,
    compilers: &Compilers,
    progress: &mut impl FnMut(&str),
    rows: &mut Vec<Row>,
) -> Result<()> {
    let scratch = during(|| "creating a temporary folder".into(), tempfile::tempdir())?;
    let profile = build::profile(scratch.path());
    progress(&format!("making the profile of {} threads", size.threads));
    let bytes = synthetic(size.threads, size.regions, size.pairs).encode();
    during(|| format!("writing {}", profile.display()), fs::write(&profile, bytes))?;
    for format in ["json", "html"] {
        progress(&format!("reporting as {format}"));
        let (mut times, mut peak_bytes, mut written) = (Vec::new(), 0, String::new());
        for _ in 0..options.runs {
            let mut command = Command::new(compilers.threadtalk("threadtalk")?);
            command.arg("report").arg(&profile).args(["--format", format]);
            let run = process::run(command, scratch.path(), options.timeout)?;
            times.push(run.cpu_s);
            peak_bytes = run.peak_bytes.max(peak_bytes);
            written = run.stdout;
        }
        let mut shown = Vec::new();
        if let Some(program) = options.browser.as_deref().filter(|_| format == "html") {
            for _ in 0..options.runs {
                progress(&format!("showing the page in {}", program.display()));
                shown.push(browser::shown_ms(program, &written, scratch.path(), options.timeout)?);
            }
        }
        rows.push(Row {
            profile: size,
            format: format.into(),
            cpu_s: Summary::Minimum.of(&times).unwrap_or_default(),
            peak_bytes,
            written_bytes: written.len() as u64,
            shown_ms: Summary::Minimum.of(&shown),
        });
    }
    Ok(())
}
