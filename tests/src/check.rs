//! Running a program as its comments say and comparing its report with them.

use crate::compile::{Compiler, compile_with};
use crate::distribution::Distribution;
use crate::execute::{Finished, Run};
use crate::expectation::{Check, Expectation, Part, Relation, Subject};
use crate::formula::Names;
use crate::report::Report;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// How many wrong numbers a message lists.
const SHOWN: usize = 12;

/// Compiles the program at `level`, runs it as often as it says and returns what is wrong.
pub fn check(tool: &Distribution, expectation: &Expectation, level: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let program = folder.path().join("program");
    compile_at(tool, expectation, level, "", &program)?;
    let mut first: Option<Report> = None;
    for run in 1..=expectation.runs {
        let profile = folder.path().join(format!("{run}.ttp"));
        // Every other run goes without `threadtalk run`: the program alone writes the same profile.
        let report =
            profiled(tool, expectation, &program, &profile, run % 2 == 0).map_err(|e| format!("run {run}: {e}"))?;
        compare(expectation, &report).map_err(|e| format!("run {run}: {e}"))?;
        match &first {
            None => first = Some(report),
            Some(first) if first.counts() != report.counts() => {
                let differing = first.counts().into_iter().zip(report.counts()).find(|(a, b)| a != b);
                return Err(format!("run {run} differs from run 1: {differing:?}"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// The report of the program compiled at `level` with `pass_options` and run once with exact cells. It is as the
/// program expects, but need not be the same in another run if the program runs only once ([`Expectation::runs`]).
pub fn exact_report(
    tool: &Distribution,
    expectation: &Expectation,
    level: &str,
    pass_options: &str,
) -> Result<Report, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let program = folder.path().join("program");
    compile_at(tool, expectation, level, pass_options, &program)?;
    let options = format!("{}:mode=exact", expectation.options);
    let exact = Expectation { options: options.trim_start_matches(':').to_owned(), ..expectation.clone() };
    let report = profiled(tool, &exact, &program, &folder.path().join("p.ttp"), true)?;
    compare(&exact, &report)?;
    Ok(report)
}

fn compile_at(
    tool: &Distribution,
    expectation: &Expectation,
    level: &str,
    pass_options: &str,
    program: &Path,
) -> Result<(), String> {
    let mut flags: Vec<OsString> = format!("-{level}").split(' ').map(OsString::from).collect();
    flags.extend(expectation.flags.iter().map(OsString::from));
    let compiled = compile_with(tool, Compiler::Instrumented, &expectation.source, program, &flags, pass_options)
        .map_err(|e| e.to_string())?;
    if !compiled.status.success() || !compiled.stderr.is_empty() {
        return Err(format!("compiling: {}:\n{}", compiled.ending(), compiled.stderr_text()));
    }
    Ok(())
}

fn profiled(
    tool: &Distribution,
    expectation: &Expectation,
    program: &Path,
    profile: &Path,
    alone: bool,
) -> Result<Report, String> {
    let mut command = if alone {
        let mut command = Command::new(program);
        command.env("THREADTALK_OUT", profile);
        command
    } else {
        let mut command = Command::new(tool.program("threadtalk"));
        command.arg("run").arg("-o").arg(profile).arg("--").arg(program).env_remove("THREADTALK_OUT");
        command
    };
    command.args(&expectation.args);
    command.current_dir(program.parent().unwrap_or(Path::new("/"))).env_remove("THREADTALK_OPTIONS");
    if !expectation.options.is_empty() {
        command.env("THREADTALK_OPTIONS", &expectation.options);
    }
    let done = Run::new(command).finish().map_err(|e| e.to_string())?;
    ended_as_expected(expectation, &done, alone)?;
    let report = Report::of(tool, profile)?;
    if report.ended() != expectation.ended {
        return Err(format!("the report says: ended {} instead of {}", report.ended(), expectation.ended));
    }
    Ok(report)
}

fn ended_as_expected(expectation: &Expectation, done: &Finished, alone: bool) -> Result<(), String> {
    // A parent that outlives the program can only tell of its signal by the shell's convention.
    let by_status = |signal: &str| Some(format!("exit {}", 128 + signal.parse::<i32>().ok()?));
    let told = expectation.ending.strip_prefix("signal ").and_then(by_status).filter(|_| !alone);
    if done.ending() != expectation.ending && Some(done.ending()) != told {
        return Err(format!("{} instead of {}: {}", done.ending(), expectation.ending, done.stderr_text()));
    }
    if done.stdout_text().trim_end() != expectation.stdout {
        return Err(format!("printed {:?} instead of {:?}", done.stdout_text(), expectation.stdout));
    }
    Ok(())
}

/// What of the report is not as expected.
pub fn compare(expectation: &Expectation, report: &Report) -> Result<(), String> {
    if report.threads() != expectation.threads {
        return Err(format!("{} threads instead of {}", report.threads(), expectation.threads));
    }
    let wrong: Vec<String> = expectation
        .checks
        .iter()
        .filter_map(|check| one(expectation, check, report).err().map(|why| format!("EXPECT {}\n{why}", check.text)))
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn one(expectation: &Expectation, check: &Check, report: &Report) -> Result<(), String> {
    let mut comparison = Comparison { check, names: expectation.names.clone(), wrong: Vec::new() };
    let line =
        |mark: &str| expectation.marks.get(mark).copied().ok_or_else(|| format!("the source has no mark /*@{mark}*/"));
    let file = expectation.source.file_name().and_then(|n| n.to_str()).unwrap_or("");
    match &check.subject {
        Subject::Matrix { matrix, part, region } => {
            let threads = expectation.threads;
            let key = match matrix.as_str() {
                // Synchronisation has no sum over the regions inside: the program's own matrices hold all of it.
                sync @ ("sync_raw" | "sync_rar") => sync.to_owned(),
                other if region.own => other.to_owned(),
                other => format!("total_{other}"),
            };
            let m = report.matrix(&report.select(region, &expectation.marks)?, &key, threads)?;
            match part {
                Part::Entries => {
                    for (w, row) in m.iter().enumerate() {
                        for (r, n) in row.iter().enumerate() {
                            comparison.number(Some(w), Some(r), *n)?;
                        }
                    }
                }
                Part::Rows => {
                    for (w, row) in m.iter().enumerate() {
                        comparison.number(Some(w), None, row.iter().sum())?;
                    }
                }
                Part::Columns => {
                    for r in 0..threads {
                        comparison.number(None, Some(r), m.iter().map(|row| row[r]).sum())?;
                    }
                }
                Part::Sum => comparison.number(None, None, m.iter().flatten().sum())?,
            }
        }
        Subject::Lines { matrix, writer, reader } => {
            let found = report.between_lines(matrix, file, line(writer)?, line(reader)?);
            comparison.number(None, None, found)?;
        }
        Subject::Object { matrix, kind, name, mark } => {
            let at = mark.as_deref().map(|mark| Ok::<_, String>((file, line(mark)?))).transpose()?;
            comparison.number(None, None, report.of_object(matrix, kind, name.as_deref(), at))?;
        }
        Subject::Number { path, region } => {
            let pointer = format!("/{}", path.replace('.', "/"));
            for region in report.select(region, &expectation.marks)? {
                let value = region.pointer(&pointer).ok_or_else(|| format!("the region has no {path}"))?;
                let value = value.as_f64().ok_or_else(|| format!("{path} is {value}"))?;
                if value.fract() != 0.0 {
                    return Err(format!("{path} is {value}, no integer"));
                }
                comparison.number(None, None, value as i64)?;
            }
        }
    }
    comparison.finish()
}

struct Comparison<'a> {
    check: &'a Check,
    names: Names,
    wrong: Vec<String>,
}

impl Comparison<'_> {
    fn number(&mut self, w: Option<usize>, r: Option<usize>, found: i64) -> Result<(), String> {
        for (name, value) in [("w", w), ("r", r)] {
            if let Some(value) = value {
                self.names.set(name, value as i64).map_err(|e| e.to_string())?;
            }
        }
        let expected = self.check.formula.value(&self.names).map_err(|e| e.to_string())?;
        let holds = match self.check.relation {
            Relation::Equal => found == expected,
            Relation::AtLeast => found >= expected,
            Relation::AtMost => found <= expected,
        };
        if !holds {
            let place = match (w, r) {
                (Some(w), Some(r)) => format!("[{w}][{r}]"),
                (Some(w), None) => format!("row {w}"),
                (None, Some(r)) => format!("column {r}"),
                (None, None) => "value".to_owned(),
            };
            self.wrong.push(format!("    {place}: {found}, expected {expected}"));
        }
        Ok(())
    }

    fn finish(self) -> Result<(), String> {
        if self.wrong.is_empty() {
            return Ok(());
        }
        let more = match self.wrong.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!("\n    and {more} more"),
        };
        Err(self.wrong[..self.wrong.len().min(SHOWN)].join("\n") + &more)
    }
}
