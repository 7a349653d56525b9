//! The comparison for the terminal.

use super::{View, table, words};
use crate::text::{Column, DEFINITION, Paint, Style, Table};
use crate::{fold, label, number};
use std::fmt::Write;
use std::path::Path;
use threadtalk_crd::compare::{Judged, Profile, Promised, SectionChange, Side, Verdict};
use threadtalk_crd::model::Lowers;

/// Regions without counterpart that are named.
const UNMATCHED: usize = 8;
/// Promises that are shown.
const PROMISES: usize = 12;

/// The whole comparison. `files`: where base and new were read from; `top`: regions at most.
pub fn text(view: View, files: [&Path; 2], top: usize, paint: Style) -> String {
    let comparison = view.comparison;
    let program = &comparison.program;
    let mut out = String::new();
    for (name, side, file) in [("base", &program.base, files[0]), ("new", &program.new, files[1])] {
        let _ = writeln!(out, "{} {}", paint.faint(&format!("{name:<14}")), profile(side, file));
    }
    let _ = writeln!(out, "{} {DEFINITION}", paint.faint("communication "));
    let noise = number::percent(comparison.noise);
    let reading = format!(
        "less RaW, shorter distances, fewer misses, lower H, B and imbalance are better; up to {noise} is noise"
    );
    let _ = writeln!(out, "{} {reading}", paint.faint("verdicts      "));
    for note in &comparison.notes {
        let _ = writeln!(out, "{} {note}", paint.loud("note          "));
    }
    let (base, new) = (&program.base.figures, &program.new.figures);
    let _ = writeln!(out, "\n{} {}", paint.strong("Program:"), word(&program.judged, paint));
    let mut figures =
        Table::new(vec![Column::left(""), Column::right("base"), Column::right("new"), Column::right("change")]);
    for row in table::figures(view.granule(), base, new) {
        figures.row(row.to_vec());
    }
    out += &figures.render(paint);
    out += &regions(view, top, paint);
    out += &sections(&comparison.sections, top, paint);
    out += &promises(&comparison.promises, paint);
    for (name, sides) in [("base", &comparison.unmatched.base), ("new", &comparison.unmatched.new)] {
        out += &unmatched(name, sides, paint);
    }
    out
}

fn profile(side: &Profile, file: &Path) -> String {
    // The arguments begin with the program as it was called.
    let what = side.arguments.as_deref().unwrap_or(&side.name);
    let threads = if side.threads == 1 { "1 thread".to_string() } else { format!("{} threads", side.threads) };
    format!("{}  ({threads}, {})", fold::shorten(what, 70), file.display())
}

fn word(judged: &Judged, paint: Style) -> String {
    let word = judged.verdict.word();
    if judged.verdict == Verdict::Worse { paint.loud(word) } else { paint.strong(word) }
}

fn regions(view: View, top: usize, paint: Style) -> String {
    let changes = &view.comparison.regions;
    if changes.is_empty() {
        return "\nNo region of both communicates.\n".to_string();
    }
    let shown = &changes[..changes.len().min(top)];
    let mut columns: Vec<Column> = table::HEADINGS[..9].iter().map(|title| Column::right(title)).collect();
    columns.extend([Column::left("verdict"), Column::left("region"), Column::left("where")]);
    let mut rows = Table::new(columns);
    for change in shown {
        let mut row = table::row(view, change).to_vec();
        row[9] = fold::shorten(&row[9], 36);
        row.insert(9, change.judged.verdict.word().to_string());
        rows.row(row);
    }
    let title = format!("Regions (own events; {} of {} that communicate)", shown.len(), changes.len());
    let mut out = format!("\n{}\n{}", paint.strong(&title), rows.render(paint));
    let judged = shown.iter().filter(|change| !change.judged.reasons.is_empty());
    for (index, change) in judged.enumerate() {
        if index == 0 {
            let _ = writeln!(out, "\n{}", paint.strong("What changed"));
        }
        let region = view.new_region(change);
        let (base, new) = (&change.base.figures, &change.new.figures);
        let reasons = words::reasons(view.granule(), &change.judged, base, new, view.comparison.noise);
        let place = format!("{} {}", fold::shorten(&label::name(region), 44), label::place(region));
        let _ = writeln!(out, "  {}: {}", place.trim_end(), word(&change.judged, paint));
        for reason in reasons.split("; ") {
            let _ = writeln!(out, "      {reason}");
        }
    }
    out
}

/// How evenly threads divide the work between meetings.
fn sections(changes: &[SectionChange], top: usize, paint: Style) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let shown = changes.len().min(top);
    let title = format!("Parallel sections (instructions of each thread; {shown} of {})", changes.len());
    let columns = table::SECTION_HEADINGS.iter().enumerate();
    let columns =
        columns.map(|(i, title)| if matches!(i, 0 | 2 | 4) { Column::right(title) } else { Column::left(title) });
    let mut rows = Table::new(columns.collect());
    changes[..shown].iter().for_each(|change| rows.row(table::section(change).to_vec()));
    format!("\n{}\n{}", paint.strong(&title), rows.render(paint))
}

/// What the suggestions for the base promise, and what became of it.
fn promises(promises: &[Promised], paint: Style) -> String {
    if promises.is_empty() {
        return String::new();
    }
    let shown = promises.len().min(PROMISES);
    let title = format!("What suggestions for base promise to lower ({shown} of {})", promises.len());
    let mut rows = Table::new(vec![
        Column::left("suggestion"),
        Column::left("figure"),
        Column::right("base"),
        Column::right("new"),
        Column::left("kept"),
        Column::left("in"),
    ]);
    for promise in &promises[..shown] {
        let value = |value: f64| match promise.lowers {
            Lowers::CrdMedian => number::bytes(value),
            _ => number::count(value.round() as u64),
        };
        rows.row(vec![
            promise.rule.clone(),
            promise.lowers.name(),
            value(promise.base),
            value(promise.new),
            match (promise.kept, promise.still_made) {
                (true, false) => "yes",
                (true, true) => "yes, more is suggested",
                (false, true) => "no, still suggested",
                (false, false) => "no",
            }
            .to_string(),
            fold::shorten(&promise.name, 44),
        ]);
    }
    format!("\n{}\n{}", paint.strong(&title), rows.render(paint))
}

/// Those that communicate by name, the others by number.
fn unmatched(name: &str, sides: &[Side], paint: Style) -> String {
    if sides.is_empty() {
        return String::new();
    }
    let named: Vec<_> = sides.iter().map(table::unmatched).filter_map(|(n, p, e)| Some((n, p, e?))).collect();
    let mut out = format!("\n{}\n", paint.strong(&format!("Only in {name}")));
    for (region, place, events) in named.iter().take(UNMATCHED) {
        let _ = writeln!(out, "  {}  {place}  {events}", fold::shorten(region, 44));
    }
    let others = sides.len() - named.len().min(UNMATCHED);
    let silent = sides.len() - named.len();
    if others > 0 {
        let _ = writeln!(out, "  {others} more, {silent} without communication (--format json lists all)");
    }
    out
}
