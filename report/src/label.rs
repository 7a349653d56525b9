//! How regions are called in text, pictures and file names.

use crate::names::short;
use threadtalk_abi::module::RegionKind;
use threadtalk_crd::model::{Position, Region, Report};

/// `bmod`, `loop in bmod`, `omp for in main`. Of long names without what is in their brackets.
pub fn name(region: &Region) -> String {
    match region.kind {
        RegionKind::Program if region.name.is_empty() => "program".to_string(),
        RegionKind::Program => region.name.clone(),
        kind => called(kind.name(), &region.name),
    }
}

/// [`name`] of a region of which only the kind's name, as in JSON, and its own are at hand. Not for whole programs.
pub fn called(kind: &str, name: &str) -> String {
    let name = short(name);
    match kind {
        _ if name.is_empty() => kind.replace('_', " "),
        "function" | "user" => name.into_owned(),
        _ => format!("{} in {name}", kind.replace('_', " ")),
    }
}

/// [`name`] and [`place`]: `loop in bmod lu.c:650-667`.
pub fn located(region: &Region) -> String {
    format!("{} {}", name(region), place(region)).trim_end().to_owned()
}

/// The first names of some, and how many more there are: `a, b and 3 more`.
pub fn first_of<T>(all: &[T], most: usize, name: impl Fn(&T) -> String) -> String {
    let first: Vec<String> = all.iter().take(most).map(name).collect();
    match all.len() - first.len() {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// The region in a heading, where the program is called by its own name.
pub fn title(report: &Report, region: &Region) -> String {
    match region.kind {
        RegionKind::Program => report.program.name.clone(),
        _ => name(region),
    }
}

/// `lu.c:650-667`, `lu.c:650`, `lu.c`, or nothing; of a library's function also for whom it is, `, for sort.cpp:12`.
pub fn place(region: &Region) -> String {
    let Some(file) = &region.file else { return String::new() };
    let own = match (region.line, region.end_line) {
        (Some(line), Some(end)) if end > line => format!("{}:{line}-{end}", base(file)),
        (Some(line), _) => format!("{}:{line}", base(file)),
        _ => base(file).to_string(),
    };
    if region.called_at.is_empty() {
        return own;
    }
    let callers: Vec<String> = region.called_at.iter().map(position).collect();
    format!("{own}, for {}", callers.join(", "))
}

/// `lu.c:650`, or `?` where the compiler left no line.
pub fn position(position: &Position) -> String {
    match (&position.file, position.line) {
        (Some(file), Some(line)) => format!("{}:{line}", base(file)),
        (Some(file), None) => format!("{}:?", base(file)),
        _ => "?".to_string(),
    }
}

/// The last part of a path.
pub fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The region in a file name: letters, digits and a few signs that no shell minds.
pub fn file_name(region: &Region) -> String {
    let mut safe = String::new();
    for character in name(region).chars().take(48) {
        let kept = character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '+');
        match kept {
            true => safe.push(character),
            false if !safe.ends_with('-') => safe.push('-'),
            false => {}
        }
    }
    format!("{:04}-{}", region.id, safe.trim_matches(['-', '.']))
}
