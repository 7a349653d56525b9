//! What `run` says at the end: ten lines at most, on standard error, with the next command.

use super::Launch;
use super::child::End;
use crate::text::{self, Shape, Style};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Profiles that are named one by one.
const NAMED: usize = 6;

/// Prints the summary. Standard error may be closed: then there is nobody to tell.
pub fn print(launch: &Launch, profiles: &[PathBuf], end: End) {
    let text = match profiles {
        [] => nothing_written(launch),
        [one] => of_one(one),
        several => of_several(several),
    };
    let mut lines = String::new();
    if let Some(signal) = end.signal() {
        let _ = writeln!(lines, "threadtalk: the program was killed by signal {signal}");
    }
    lines += &text;
    let _ = std::io::Write::write_all(&mut std::io::stderr(), lines.as_bytes());
}

fn nothing_written(launch: &Launch) -> String {
    let program = launch.program.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    format!(
        "threadtalk: no profile was written: {program}; compile and link it with threadtalk cc or c++ \
         (CC=threadtalk-cc), and see that it may write to the folder\n"
    )
}

fn of_one(file: &Path) -> String {
    let shown = relative(file);
    match crate::profile::analyse(file, None, None, false) {
        Ok(report) => {
            let next = format!("threadtalk report {} -o report", quoted(&shown));
            text::brief(&report, &shown, &Shape { top: 3, style: Style::of_stderr(), next: Some(next) })
        }
        Err(error) => format!("threadtalk: {error}\n"),
    }
}

fn of_several(files: &[PathBuf]) -> String {
    let mut text = format!("threadtalk: {} profiles were written, one for each process:\n", files.len());
    for file in files.iter().take(NAMED) {
        let _ = writeln!(text, "  {}", relative(file).display());
    }
    if files.len() > NAMED {
        let _ = writeln!(text, "  ... and {} more", files.len() - NAMED);
    }
    let _ = writeln!(text, "next: threadtalk report {}", quoted(&relative(&files[0])));
    text
}

/// Short where it can be.
fn relative(file: &Path) -> PathBuf {
    let folder = std::env::current_dir().unwrap_or_default();
    file.strip_prefix(&folder).map_or_else(|_| file.to_path_buf(), Path::to_path_buf)
}

/// As a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text.chars().all(|c| c.is_alphanumeric() || "/._-+,%@:=".contains(c));
    if plain && !text.is_empty() { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
