//! What to change, for the terminal.

use super::{Paint, Style};
use crate::label;
use std::fmt::Write;
use threadtalk_crd::model::{Means, Memory, Object, Region, Report, Suggestion, SuggestionKind};

/// Suggestions in the summary.
const SUGGESTIONS: usize = 8;
/// Of them, at most so many of one rule.
const OF_A_RULE: usize = 3;
/// Regions of a rule's other suggestions that are named.
const NAMED: usize = 8;
/// Objects in the summary.
const OBJECTS: usize = 6;
/// Columns of a line of text.
const WIDTH: usize = 100;

/// The suggestions of the regions with the most communication first; nothing if there are none. Those of one rule say
/// nearly the same, so that after the first few only their regions are named.
pub fn suggestions(report: &Report, paint: Style) -> String {
    let mut regions: Vec<&Region> = report.regions.iter().filter(|r| !r.suggestions.is_empty()).collect();
    let events = |r: &&Region| r.counts.as_ref().map_or(0, |c| c.raw.sum().saturating_add(c.rar.sum()));
    regions.sort_by_key(|r| std::cmp::Reverse(events(r)));
    let all = regions.iter().flat_map(|r| r.suggestions.iter().map(move |s| (*r, s)));
    let mut in_full: Vec<(&Region, &Suggestion)> = Vec::new();
    let mut in_short: Vec<(&str, Vec<&Region>)> = Vec::new();
    for (region, suggestion) in all {
        let of_rule = in_full.iter().filter(|(_, other)| other.rule == suggestion.rule).count();
        if in_full.len() < SUGGESTIONS && of_rule < OF_A_RULE {
            in_full.push((region, suggestion));
        } else if let Some((_, regions)) = in_short.iter_mut().find(|(rule, _)| *rule == suggestion.rule) {
            regions.push(region);
        } else {
            in_short.push((&suggestion.rule, vec![region]));
        }
    }
    if in_full.is_empty() {
        return String::new();
    }
    let count = in_full.len() + in_short.iter().map(|(_, regions)| regions.len()).sum::<usize>();
    let mut out = format!("\n{}\n", paint.strong(&format!("What to change ({} of {count})", in_full.len())));
    for (region, suggestion) in in_full {
        let _ = writeln!(out, "* {}  [{}]", label::located(region), category(suggestion));
        indented(&mut out, &suggestion.text);
    }
    for (rule, regions) in in_short {
        let _ = writeln!(out, "* {rule} also in");
        indented(&mut out, &label::first_of(&regions, NAMED, |region| label::located(region)));
    }
    out
}

/// The cell of the matrix of optimisations that a suggestion stands in.
pub fn category(suggestion: &Suggestion) -> String {
    let kind = match suggestion.kind {
        SuggestionKind::Data => "data affinity",
        SuggestionKind::Thread => "thread affinity",
    };
    let means = match suggestion.means {
        Means::Code => "code",
        Means::RunTime => "run time",
    };
    format!("{}: {kind}, {means}", suggestion.rule)
}

/// The objects that the whole program communicates through; nothing if none is known.
pub fn objects(report: &Report, paint: Style) -> String {
    let objects: Vec<&Object> = report.program_total.objects.iter().filter(|o| !o.name.is_empty()).collect();
    if objects.is_empty() {
        return String::new();
    }
    let title = "Objects that threads communicate through (whole program; share of RaW + RaR, estimated where one line \
                 reads several)";
    let mut out = format!("\n{}\n", paint.strong(title));
    for object in objects.iter().take(OBJECTS) {
        let place = match (&object.file, object.line) {
            (Some(file), Some(line)) => format!(", {}:{line}", file.rsplit('/').next().unwrap_or(file)),
            _ => String::new(),
        };
        let share = crate::number::percent(object.share);
        let kind = match object.kind {
            Memory::Pointer => "through this pointer".to_owned(),
            kind => format!("{kind:?}").to_lowercase(),
        };
        let _ = writeln!(out, "{share:>8}  {} ({kind}{place})", object.name);
    }
    out
}

fn indented(out: &mut String, text: &str) {
    for line in wrap(text) {
        let _ = writeln!(out, "    {line}");
    }
}

fn wrap(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_end_between_words() {
        let text = "word ".repeat(45);
        let lines = wrap(&text);
        assert_eq!(lines.iter().map(|l| l.split(' ').count()).collect::<Vec<_>>(), [20, 20, 5]);
        assert!(wrap("").is_empty());
    }
}
