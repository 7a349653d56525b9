//! The comparison for the terminal.

use super::{View, table, words};
use crate::text::{Column, DEFINITION, Paint, Style, Table};
use crate::{fold, label, number};
use std::fmt::Write;
use std::path::Path;
use threadtalk_crd::compare::{Judged, Profile, RegionChange, SectionChange, Side, Verdict};

/// Regions without counterpart that are named.
const UNMATCHED: usize = 8;
/// Promises that are shown.
const PROMISES: usize = 12;
/// Suggestions that were followed, with the verdict.
const FOLLOWED: usize = 3;

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
    let better = "less RaW, shorter distances, fewer misses, lower H, B and imbalance are better";
    let _ = writeln!(out, "{} {better}", paint.faint("verdicts      "));
    let none = format!("changes up to {noise}; two runs of one program show what --noise should be");
    let _ = writeln!(out, "{} {none}", paint.faint("noise         "));
    for note in &comparison.notes {
        let _ = writeln!(out, "{} {note}", paint.loud("note          "));
    }
    let (base, new) = (&program.base.figures, &program.new.figures);
    let _ = writeln!(out, "\n{} {}", paint.strong("Program:"), word(&program.judged, paint));
    let mut columns = vec![Column::left("")];
    columns.extend(table::FIGURE_HEADINGS[..3].iter().map(|title| Column::right(title)));
    columns.push(Column::left(table::FIGURE_HEADINGS[3]));
    let mut figures = Table::new(columns);
    for row in table::figures(view, base, new, &program.judged) {
        figures.row(row.to_vec());
    }
    out += &figures.render(paint);
    let followed = table::followed(view);
    if !followed.is_empty() {
        let which = label::first_of(&followed, FOLLOWED, String::clone);
        let _ = writeln!(out, "  {} {which}", paint.strong("followed:"));
    }
    out += &regions(view, top, paint);
    out += &sections(&comparison.sections, top, paint);
    out += &promises(view, paint);
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
    let was = |change: &RegionChange| view.formerly(change).map_or(String::new(), |old| format!(", was {old}"));
    // Variants are often files beside each other, of which all regions are in another file.
    let is_told = |change: &&RegionChange| !change.judged.reasons.is_empty() || change.base.name != change.new.name;
    let judged = shown.iter().filter(is_told);
    for (index, change) in judged.enumerate() {
        if index == 0 {
            let _ = writeln!(out, "\n{}", paint.strong("What changed"));
        }
        let region = view.new_region(change);
        let (base, new) = (&change.base.figures, &change.new.figures);
        let reasons = words::reasons(view.granule(), &change.judged, base, new, view.comparison.noise);
        let place = format!("{} {}", fold::shorten(&label::name(region), 44), label::place(region));
        let _ = writeln!(out, "  {}{}: {}", place.trim_end(), was(change), word(&change.judged, paint));
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
    let title = format!(
        "Parallel sections (instructions of each thread; 0 % also where work is taken as threads go; {shown} of {})",
        changes.len()
    );
    let columns = table::SECTION_HEADINGS.iter().enumerate();
    let columns =
        columns.map(|(i, title)| if matches!(i, 0 | 2 | 4) { Column::right(title) } else { Column::left(title) });
    let mut rows = Table::new(columns.collect());
    changes[..shown].iter().for_each(|change| rows.row(table::section(change).to_vec()));
    format!("\n{}\n{}", paint.strong(&title), rows.render(paint))
}

/// What the suggestions for the base promise, and what became of it.
fn promises(view: View, paint: Style) -> String {
    let promises = &view.comparison.promises;
    if promises.is_empty() {
        return String::new();
    }
    let shown = promises.len().min(PROMISES);
    let title = format!("What suggestions for base promise to lower ({shown} of {})", promises.len());
    let columns = table::PROMISE_HEADINGS.iter().enumerate();
    let columns = columns.map(|(i, title)| if matches!(i, 2 | 3) { Column::right(title) } else { Column::left(title) });
    let mut rows = Table::new(columns.collect());
    for promise in &promises[..shown] {
        let mut row = table::promise(view, promise).to_vec();
        row[5] = fold::shorten(&row[5], 60);
        rows.row(row);
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
