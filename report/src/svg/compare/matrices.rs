//! Reuse per communication of both, unless there is no reuse, and communication of both, each pair on one scale.

use super::super::axis::Axis;
use super::super::canvas::{self, Anchor, Canvas, Font};
use super::super::matrix::{self, PANELS, Panel};
use super::super::scale::Scale;
use super::{Of, names};
use crate::fold::Grid;
use crate::summary::Summary;
use crate::{label, number};
use threadtalk_crd::model::Counts;

/// Left and right margin.
const MARGIN: i32 = 22;
/// Where the first row of matrices begins.
const TOP: i32 = 138;
/// Room above the second row for its titles.
const BETWEEN: i32 = 62;
/// Gap right of each matrix.
const GAP: i32 = 40;
/// Colour bar and its numbers.
const BAR: i32 = 96;
/// Room below a row for its axis.
const FOOT: i32 = 30;

/// The matrices of a region's own events. None if neither side has any.
pub fn picture(base: Of, new: Of) -> Option<String> {
    let grid = |of: &Of| Grid::own(of.region, &of.report.threads).filter(|grid| !grid.cells.is_empty());
    let grids = [grid(&base), grid(&new)];
    if grids.iter().all(Option::is_none) {
        return None;
    }
    let sides = grids.each_ref().map(|grid| grid.as_ref().map_or(0, |grid| matrix::cell_side(grid.size())));
    let axes = grids.each_ref().map(|grid| grid.as_ref().map(|grid| Axis::new(&grid.labels)));
    let extent = |i: usize| axes[i].as_ref().map_or(0, |axis| axis.extent(sides[i])).max(20);
    let depth = |i: usize| axes[i].as_ref().map_or(0, |axis| axis.depth(sides[i]));
    // A side without events still needs room to say so; titles need some, too.
    let width = |i: usize| grids[i].as_ref().map_or(0, |grid| sides[i] * grid.size() as i32).max(290);
    let tall = |i: usize| grids[i].as_ref().map_or(0, |grid| sides[i] * grid.size() as i32);
    let row = tall(0).max(tall(1)).max(180) + depth(0).max(depth(1)) + FOOT;
    let lefts = [MARGIN + extent(0), MARGIN + extent(0) + width(0) + GAP + extent(1)];
    let full_width = (lefts[1] + width(1) + BAR + MARGIN).max(640);
    let cells = || grids.iter().flatten().flat_map(|grid| &grid.cells);
    let is_reused = cells().any(|cell| cell.rar > 0);
    let panels: [(&Panel, Subtitle); 2] = [(&PANELS[2], evenness), (&PANELS[0], sums)];
    let panels = if is_reused { &panels[..] } else { &panels[1..] };
    let height = TOP + panels.len() as i32 * (row + BETWEEN) - BETWEEN + 16;
    let title = format!("Thread communication, base and new: {}", label::title(new.report, new.region));
    let what = if is_reused { "Reuse per communication and communication" } else { "Communication" };
    let description = format!("{what}, base left, new right, rows write and columns read.");
    Some(canvas::picture((full_width as u32, height as u32), &title, &description, |canvas| {
        let name = crate::fold::shorten(&label::title(new.report, new.region), 60);
        canvas.text(&name, (MARGIN, 26), Anchor::Start, Font::new(18.0).bold());
        names(canvas, MARGIN, 50, &base, &new);
        for (index, (panel, subtitle)) in panels.iter().enumerate() {
            let top = TOP + index as i32 * (row + BETWEEN);
            let scale = Scale::of(cells().map(panel.value));
            for (i, side) in [&base, &new].into_iter().enumerate() {
                let words = side.region.counts.as_deref().map_or_else(String::new, subtitle);
                let title = format!("{}: {}", ["base", "new"][i], panel.title);
                let panel = Panel { title: &title, subtitle: &words, ..**panel };
                match (&grids[i], &axes[i]) {
                    (Some(grid), Some(axis)) => {
                        matrix::draw(canvas, &panel, grid, scale, axis, (lefts[i], top), sides[i]);
                    }
                    _ => silent(canvas, &title, (lefts[i], top)),
                }
            }
            matrix::bar(canvas, panel, scale, (lefts[1] + width(1) + 14, top), (row - FOOT - depth(1)).max(180));
        }
        if let Some(grid) = grids.iter().flatten().find(|grid| grid.cells.iter().any(|cell| cell.is_carried_in())) {
            matrix::explain_dots(canvas, grid, (MARGIN, height - 12));
        }
    }))
}

/// What a matrix says in numbers.
type Subtitle = fn(&Counts) -> String;

fn evenness(counts: &Counts) -> String {
    let Summary { homogeneity, balance, .. } = Summary::of(counts);
    format!("homogeneity {homogeneity}, balance {balance}")
}

fn sums(counts: &Counts) -> String {
    format!("RaW {}, RaR {}", number::count(counts.raw.sum()), number::count(counts.rar.sum()))
}

fn silent(canvas: &mut Canvas, title: &str, (left, top): (i32, i32)) {
    canvas.text(title, (left, top - 29), Anchor::Start, Font::new(13.0).bold());
    canvas.text("no communication", (left, top + 20), Anchor::Start, Font::new(12.0));
}
