//! Communication over time: how much in each slice of the run, and the matrix of each phase.

use super::canvas::{self, Anchor, Canvas, FAINT, Font, RULE};
use super::cells;
use super::colour;
use super::scale::Scale;
use crate::number;
use plotters::style::RGBColor;
use std::collections::BTreeMap;
use threadtalk_crd::model::{Phase, Phases, Report};

const WIDTH: i32 = 960;
const MARGIN: i32 = 22;
/// Where the timeline begins and ends.
const TIMELINE: (i32, i32) = (84, 160);
/// Side of a phase's matrix, roughly.
const SIDE: i32 = 132;
/// From one matrix to the next.
const STEP: (i32, i32) = (154, 204);
const COLUMNS: usize = 6;
/// Phases with a matrix: those with the most events.
const MOST: usize = 24;
/// Rows of a matrix: of more threads, neighbours are put together.
const ROWS: usize = 64;

/// Colours of patterns, safe for colour-blind readers (M. Okabe, K. Ito 2008); used again from the first on.
const PATTERNS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(120, 120, 120),
];

/// What a pattern is called: A, B, ... Z, A1, ...
pub fn name(pattern: usize) -> String {
    let letter = char::from(b'A' + (pattern % 26) as u8);
    if pattern < 26 { letter.to_string() } else { format!("{letter}{}", pattern / 26) }
}

/// The picture; none if nothing was recorded over time, or there was nothing.
pub fn picture(report: &Report) -> Option<String> {
    let phases = report.phases.as_ref()?;
    let (begin, end) = (phases.slices.first()?.from_s, phases.slices.last()?.to_s);
    let shown = busiest(phases);
    if shown.is_empty() || end <= begin {
        return None;
    }
    let rows = shown.len().div_ceil(COLUMNS) as i32;
    let height = TIMELINE.1 + 58 + rows * STEP.1;
    let title = format!("Communication over time: {}", report.program.name);
    let description = format!(
        "{} slices of {} in {} phases of {} patterns; a matrix for each phase, rows write and columns read.",
        phases.slices.len(),
        number::seconds(end - begin),
        phases.phases.len(),
        phases.phases.iter().map(|p| p.pattern + 1).max().unwrap_or(0)
    );
    Some(canvas::picture((WIDTH as u32, height as u32), &title, &description, |canvas| {
        canvas.text(&crate::fold::shorten(&title, 90), (MARGIN, 26), Anchor::Start, Font::new(18.0).bold());
        let threads = groups(&shown);
        let note = note(phases, shown.len(), threads.each);
        canvas.text(&note, (MARGIN, 47), Anchor::Start, Font::new(12.0).colour(FAINT));
        timeline(canvas, phases, (begin, end));
        for (index, (number, phase)) in shown.iter().enumerate() {
            let (column, row) = ((index % COLUMNS) as i32, (index / COLUMNS) as i32);
            let at = (MARGIN + column * STEP.0, TIMELINE.1 + 90 + row * STEP.1);
            matrix(canvas, *number, phase, &threads, at);
        }
    }))
}

/// The phases with the most events, by time, with their numbers.
fn busiest(phases: &Phases) -> Vec<(usize, &Phase)> {
    let mut shown: Vec<(usize, &Phase)> = phases.phases.iter().enumerate().filter(|(_, p)| events(p) > 0).collect();
    shown.sort_by_key(|(_, p)| std::cmp::Reverse(events(p)));
    shown.truncate(MOST);
    shown.sort_by_key(|(number, _)| *number);
    shown
}

fn events(phase: &Phase) -> u64 {
    phase.raw.sum().saturating_add(phase.rar.sum())
}

fn note(phases: &Phases, shown: usize, each: usize) -> String {
    let mut note = format!("{} phases: neighbouring slices in which the same threads talk alike", phases.phases.len());
    if shown < phases.phases.len() {
        note += &format!("; matrices of the {shown} with the most events");
    }
    note += "; rows write, columns read";
    if each > 1 {
        note += &format!(", {each} threads each");
    }
    note += "; the darkest cell is a phase's largest";
    if phases.coarse {
        note += "; some slices are longer than asked for: phases_bytes was used up";
    }
    note
}

fn timeline(canvas: &mut Canvas, phases: &Phases, (begin, end): (f64, f64)) {
    let (left, right) = (MARGIN, WIDTH - MARGIN);
    let (top, bottom) = TIMELINE;
    let x = |time: f64| left + ((time - begin) / (end - begin) * f64::from(right - left)).round() as i32;
    let faint = Font::new(11.0).colour(FAINT);
    // Slices that fall on one pixel are drawn as one: a pixel's height is the rate over all of them.
    let mut columns: BTreeMap<(i32, i32), (f64, f64, usize)> = BTreeMap::new();
    for slice in &phases.slices {
        let (from, to) = (x(slice.from_s), x(slice.to_s).max(x(slice.from_s) + 1));
        let pattern = phases.phases.get(slice.phase).map_or(0, |p| p.pattern);
        let column = columns.entry((from, to)).or_insert((0.0, 0.0, pattern));
        column.0 += slice.raw as f64 + slice.rar as f64;
        column.1 += slice.to_s - slice.from_s;
    }
    let rate = |column: &(f64, f64, usize)| column.0 / column.1.max(1e-9);
    let most = columns.values().map(rate).fold(0.0, f64::max);
    canvas.text("events per second", (left, top - 12), Anchor::Start, faint);
    let most_text = number::quantity(most.round());
    canvas.text(&most_text, (right, top - 12), Anchor::End, faint);
    for ((from, to), column) in &columns {
        let height = (rate(column) / most.max(1e-9) * f64::from(bottom - top)).round() as i32;
        if column.0 > 0.0 {
            canvas.fill((*from, bottom - height.max(1)), (*to, bottom), pattern_colour(column.2));
        }
    }
    canvas.line(&[(left, bottom), (right, bottom)], RULE, 1);
    for part in 0..=4 {
        let time = begin + (end - begin) * f64::from(part) / 4.0;
        let anchor = [Anchor::Start, Anchor::Middle, Anchor::Middle, Anchor::Middle, Anchor::End][part as usize];
        canvas.line(&[(x(time), bottom), (x(time), bottom + 4)], RULE, 1);
        canvas.text(&number::seconds(time), (x(time), bottom + 14), anchor, faint);
    }
}

fn pattern_colour(pattern: usize) -> RGBColor {
    PATTERNS[pattern % PATTERNS.len()]
}

/// Row of each thread: the same in all matrices, so that they can be compared by eye.
struct Groups {
    row: BTreeMap<u32, u32>,
    rows: usize,
    each: usize,
}

fn groups(shown: &[(usize, &Phase)]) -> Groups {
    let mut ids: Vec<u32> = shown.iter().flat_map(|(_, p)| &p.threads).copied().collect();
    ids.sort_unstable();
    ids.dedup();
    let each = ids.len().div_ceil(ROWS).max(1);
    let row = ids.iter().enumerate().map(|(i, id)| (*id, (i / each) as u32)).collect();
    Groups { row, rows: ids.len().div_ceil(each), each }
}

fn matrix(canvas: &mut Canvas, number: usize, phase: &Phase, groups: &Groups, (x, y): (i32, i32)) {
    let side = (SIDE / groups.rows.max(1) as i32).max(2);
    let size = side * groups.rows as i32;
    let mut sums: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for entry in phase.raw.entries().iter().chain(phase.rar.entries()) {
        let row = |index: u32| groups.row.get(&phase.threads[index as usize]).copied().unwrap_or(0);
        let sum = sums.entry((row(entry.writer), row(entry.reader))).or_default();
        *sum = sum.saturating_add(entry.value);
    }
    let colour = pattern_colour(phase.pattern);
    let heading = format!("{} {}", number + 1, name(phase.pattern));
    canvas.fill((x, y - 36), (x + 9, y - 27), colour);
    canvas.text(&heading, (x + 14, y - 31), Anchor::Start, Font::new(12.0).bold());
    let length = number::seconds(phase.to_s - phase.from_s);
    canvas.text(
        &format!("{} for {length}", number::seconds(phase.from_s)),
        (x, y - 13),
        Anchor::Start,
        Font::new(11.0).colour(FAINT),
    );
    let scale = Scale::of(sums.values().map(|sum| *sum as f64));
    let coloured: Vec<cells::Coloured> = sums
        .iter()
        .map(|((writer, reader), sum)| (*reader, *writer, colour::level(scale.share(*sum as f64))))
        .collect();
    canvas.fill((x, y), (x + size, y + size), colour::ZERO);
    canvas.overlay(&cells::group(&coloured, (x, y), side));
    canvas.frame((x - 1, y - 1), (x + size, y + size), RULE);
    let foot = format!("RaW {}, RaR {}", number::count(phase.raw.sum()), number::count(phase.rar.sum()));
    canvas.text(&foot, (x, y + size + 12), Anchor::Start, Font::new(11.0).colour(FAINT));
}
