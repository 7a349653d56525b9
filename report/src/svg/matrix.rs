//! Communication, reuse and their ratio side by side, with what they say in numbers above.

use super::axis::Axis;
use super::canvas::{self, Anchor, Canvas, FAINT, Font, INK, RULE};
use super::cells;
use super::colour;
use super::scale::Scale;
use crate::fold::{Cell, Grid};
use crate::summary::Summary;
use crate::{label, number};
use plotters::style::{RGBColor, WHITE};
use std::fmt::Write;
use threadtalk_crd::model::{Region, Report};

/// Side of a matrix, roughly.
const SIDE: i32 = 300;
/// Left and right margin.
const MARGIN: i32 = 22;
/// Where the matrices begin.
const TOP: i32 = 154;
/// Room right of a matrix: gap, colour bar, its numbers.
const BAR: i32 = 104;
/// Matrices up to this size show numbers in their cells.
const WITH_NUMBERS: usize = 8;
/// Matrices up to this size show lines between their cells.
const WITH_LINES: usize = 40;

/// One of the matrices.
#[derive(Clone, Copy)]
pub struct Panel<'a> {
    /// Above it.
    pub title: &'a str,
    /// Below the title.
    pub subtitle: &'a str,
    /// What a cell shows.
    pub value: fn(&Cell) -> f64,
    /// How it is written.
    pub format: fn(f64) -> String,
    /// Whether reuse of what came in another region is marked.
    pub marked: bool,
}

/// Communication, reuse, and their ratio.
pub const PANELS: [Panel; 3] = [
    Panel {
        title: "Communication (RaW)",
        subtitle: "first reads of what another thread wrote",
        value: |cell| cell.raw as f64,
        format: |value| number::count(value.round() as u64),
        marked: false,
    },
    Panel {
        title: "Reuse (RaR)",
        subtitle: "further reads of the same value",
        value: |cell| cell.rar as f64,
        format: |value| number::count(value.round() as u64),
        marked: false,
    },
    Panel {
        title: "Reuse per communication (CRR)",
        subtitle: "CRR = RaR / RaW",
        value: Cell::crr,
        format: number::quantity,
        marked: true,
    },
];

/// The three matrices of a region: its own events, or everything if it is the program. None without events.
pub fn picture(report: &Report, region: &Region) -> Option<String> {
    let counts = region.counts.as_deref()?;
    let grid = Grid::own(region, &report.threads).filter(|grid| !grid.cells.is_empty())?;
    let side = cell_side(grid.size());
    let matrix = side * grid.size() as i32;
    let ids: Vec<String> =
        grid.labels.iter().map(|label| label.split(' ').next().unwrap_or(label).to_string()).collect();
    let (named, plain) = (Axis::new(&grid.labels), Axis::new(if grid.note.is_some() { &grid.labels } else { &ids }));
    let depth = named.depth(side).max(plain.depth(side));
    let foot = if grid.cells.iter().any(|cell| cell.is_carried_in()) { 46 } else { 26 };
    let lefts = [&named, &plain, &plain].map(|axis| MARGIN + axis.extent(side));
    let width = lefts.iter().sum::<i32>() + 3 * (matrix + BAR) + MARGIN;
    let height = TOP + matrix.max(200) + depth + foot;
    let title = format!("Thread communication: {}", label::title(report, region));
    let description = format!(
        "Matrices of {} threads, rows write and columns read: {} true communications, {} reuses.",
        region.threads.len(),
        counts.raw.sum(),
        counts.rar.sum()
    );
    let size = (width as u32, height as u32);
    Some(canvas::picture(size, &title, &description, |canvas| {
        head(canvas, report, region, &grid);
        let mut x = 0;
        for (index, panel) in PANELS.iter().enumerate() {
            let axis = if index == 0 { &named } else { &plain };
            x += lefts[index];
            let scale = Scale::of(grid.cells.iter().map(panel.value));
            draw(canvas, panel, &grid, scale, axis, (x, TOP), side);
            bar(canvas, panel, scale, (x + matrix + 14, TOP), matrix.max(180));
            x += matrix + BAR;
        }
        explain_dots(canvas, &grid, (MARGIN, height - 14));
    }))
}

/// Side of a cell. Whole pixels, so that no cell is wider than its neighbour.
pub fn cell_side(size: usize) -> i32 {
    let size = size.max(1) as i32;
    (SIDE / size).clamp(2, 110).max(if size > 100 { (SIDE + size - 1) / size } else { 2 })
}

fn head(canvas: &mut Canvas, report: &Report, region: &Region, grid: &Grid) {
    let Some(counts) = region.counts.as_deref() else { return };
    let name = crate::fold::shorten(&label::title(report, region), 90);
    canvas.text(&name, (MARGIN, 26), Anchor::Start, Font::new(18.0).bold());
    let mut place = label::place(region);
    if region.parent.is_some() {
        let separator = if place.is_empty() { "" } else { "  \u{b7}  " };
        let _ = write!(place, "{separator}{}", report.program.name);
    } else {
        place = "the whole program".to_string();
    }
    let _ = write!(place, "  \u{b7}  {} threads", region.threads.len());
    if let Some(note) = &grid.note {
        let _ = write!(place, "  \u{b7}  {note}");
    }
    canvas.text(&place, (MARGIN, 47), Anchor::Start, Font::new(12.0).colour(FAINT));
    let Summary { raw, rar, crr, sync, homogeneity, balance } = Summary::of(counts);
    let figures = [
        ("Homogeneity", homogeneity),
        ("Balance", balance),
        ("RaW", raw),
        ("RaR", rar),
        ("RaR / RaW", crr),
        ("Synchronisation", format!("{sync} of RaW")),
    ];
    let mut x = MARGIN;
    let (faint, strong) = (Font::new(11.0).colour(FAINT), Font::new(15.0).bold());
    for (name, value) in figures {
        canvas.text(name, (x, 69), Anchor::Start, faint);
        canvas.text(&value, (x, 87), Anchor::Start, strong);
        x += faint.width(name).max(strong.width(&value)) + 20;
    }
}

/// A matrix with its names and titles, its upper left corner at `at`.
pub fn draw(canvas: &mut Canvas, panel: &Panel, grid: &Grid, scale: Scale, axis: &Axis, at: (i32, i32), side: i32) {
    let matrix = side * grid.size() as i32;
    let (left, top) = at;
    let (right, bottom) = (left + matrix, top + matrix);
    canvas.text(panel.title, (left, top - 29), Anchor::Start, Font::new(13.0).bold());
    let subtitle =
        if scale.is_log() { format!("{} \u{b7} log scale", panel.subtitle) } else { panel.subtitle.to_string() };
    canvas.text(&subtitle, (left, top - 12), Anchor::Start, Font::new(11.0).colour(FAINT));
    canvas.fill(at, (right, bottom), colour::ZERO);
    let coloured: Vec<cells::Coloured> = grid
        .cells
        .iter()
        .filter(|cell| (panel.value)(cell) > 0.0)
        .map(|cell| (cell.reader, cell.writer, colour::level(scale.share((panel.value)(cell)))))
        .collect();
    canvas.overlay(&cells::group(&coloured, at, side));
    if grid.size() <= WITH_LINES {
        canvas.overlay(&lines(grid.size() as i32, at, side));
    }
    if grid.size() <= WITH_NUMBERS && side >= 34 {
        canvas.overlay(&numbers(panel, grid, scale, at, side));
    }
    if panel.marked && grid.size() <= WITH_LINES && grid.cells.iter().any(|cell| cell.is_carried_in()) {
        canvas.overlay(&carried_in(grid, at, side));
    }
    canvas.frame((left - 1, top - 1), (right, bottom), RULE);
    axis.rows(canvas, at, side);
    axis.columns(canvas, (left, bottom), side);
    let faint = Font::new(11.0).colour(FAINT);
    canvas.text("reading thread", (left + matrix / 2, bottom + axis.depth(side) + 8), Anchor::Middle, faint);
    canvas.text("writing thread", (left - axis.extent(side) - 8, top + matrix / 2), Anchor::Middle, faint.upwards());
}

fn lines(size: i32, (x, y): (i32, i32), side: i32) -> String {
    let end = size * side;
    let mut data = String::new();
    for i in 1..size {
        let at = i * side;
        let _ = write!(data, "M{at} 0V{end}M0 {at}H{end}");
    }
    let width = if side > 16 { 1.0 } else { 0.5 };
    format!(
        "<path transform=\"translate({x} {y})\" stroke=\"#FFFFFF\" stroke-width=\"{width}\" fill=\"none\" \
         d=\"{data}\"/>"
    )
}

fn numbers(panel: &Panel, grid: &Grid, scale: Scale, (x, y): (i32, i32), side: i32) -> String {
    let size = if side > 60 { 13 } else { 10 };
    let mut svg = format!("<g font-family=\"sans-serif\" font-size=\"{size}\" text-anchor=\"middle\">\n");
    for cell in grid.cells.iter().filter(|cell| (panel.value)(cell) > 0.0) {
        let value = (panel.value)(cell);
        let ground = colour::of_level(colour::level(scale.share(value)));
        let ink = colour::hex(if colour::is_light(ground) { INK } else { WHITE });
        let (cx, cy) = (x + cell.reader as i32 * side + side / 2, y + cell.writer as i32 * side + side / 2);
        let _ =
            writeln!(svg, "<text x=\"{cx}\" y=\"{cy}\" dy=\"0.36em\" fill=\"{ink}\">{}</text>", (panel.format)(value));
    }
    svg.push_str("</g>");
    svg
}

/// A dot marks reuse of what was received in another region: its ratio has no communication under it.
fn carried_in(grid: &Grid, (x, y): (i32, i32), side: i32) -> String {
    let radius = (side / 10).clamp(1, 5);
    let inset = radius + (side / 12).max(1);
    let mut svg = String::from("<g fill=\"#FFFFFF\" stroke=\"#1A1A1E\" stroke-width=\"0.7\">\n");
    for cell in grid.cells.iter().filter(|cell| cell.is_carried_in()) {
        let (cx, cy) = (x + (cell.reader as i32 + 1) * side - inset, y + cell.writer as i32 * side + inset);
        let _ = writeln!(svg, "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"{radius}\"/>");
    }
    svg.push_str("</g>");
    svg
}

/// The colour bar of a scale.
pub fn bar(canvas: &mut Canvas, panel: &Panel, scale: Scale, (x, y): (i32, i32), height: i32) {
    const WIDTH: i32 = 14;
    let font = Font::new(11.0);
    // The lowest part shows the ground: no event is not the same as few.
    let height = height - 26;
    let levels = colour::LEVELS as i32;
    for level in 0..levels {
        let (from, to) = (y + height - (level + 1) * height / levels, y + height - level * height / levels);
        canvas.fill((x, from), (x + WIDTH, to), colour::of_level(level as usize));
    }
    canvas.frame((x, y), (x + WIDTH, y + height), RULE);
    for tick in scale.ticks().into_iter().filter(|tick| *tick > 0.0) {
        let at = y + ((1.0 - scale.share(tick)) * f64::from(height)).round() as i32;
        canvas.line(&[(x + WIDTH, at), (x + WIDTH + 4, at)], RULE, 1);
        canvas.text(&(panel.format)(tick), (x + WIDTH + 8, at), Anchor::Start, font);
    }
    let zero = y + height + 12;
    canvas.fill((x, zero), (x + WIDTH, zero + 14), colour::ZERO);
    canvas.frame((x, zero), (x + WIDTH, zero + 14), RULE);
    canvas.text("none", (x + WIDTH + 8, zero + 7), Anchor::Start, font.colour(FAINT));
}

/// What the marks mean, if there is one.
pub fn explain_dots(canvas: &mut Canvas, grid: &Grid, at: (i32, i32)) {
    if grid.cells.iter().any(|cell| cell.is_carried_in()) {
        let mark = if grid.size() <= WITH_LINES { "Dots: " } else { "Some cells: " };
        let text = format!("{mark}reuse of data received in another region, shown as RaR / max(RaW, 1).");
        canvas.text(&text, at, Anchor::Start, Font::new(11.0).colour(RGBColor(104, 104, 112)));
    }
}
