//! Reuse distances of both over each other, on one axis with the caches.

use super::super::canvas::{self, Anchor, Canvas, FAINT, Font, INK};
use super::super::histogram::{self, Axis, LEFT, PLOT_HEIGHT, PLOT_WIDTH, RIGHT};
use super::{BASE, NEW, Of, names};
use crate::{label, number};
use plotters::style::RGBColor;
use threadtalk_crd::model::{Crd, Cutoff};

/// Where the cutoffs' names begin.
const HEAD: i32 = 116;

struct Side<'a> {
    name: &'a str,
    crd: Option<&'a Crd>,
    colour: RGBColor,
}

/// The histograms of a region. None if neither side has a distance.
pub fn picture(base: Of, new: Of) -> Option<String> {
    fn of<'a>(of: &Of<'a>) -> Option<&'a Crd> {
        of.region.counts.as_deref()?.own.crd.as_ref().filter(|crd| crd.distinct.count > 0.0)
    }
    let sides = [Side { name: "base", crd: of(&base), colour: BASE }, Side { name: "new", crd: of(&new), colour: NEW }];
    let crds: Vec<&Crd> = sides.iter().filter_map(|side| side.crd).collect();
    let main = *crds.last()?;
    let axis = Axis::new(&crds, f64::from(new.report.options.granule.max(1)));
    let rows = main.cutoffs.len() as i32;
    let top = HEAD + rows * 15;
    let table = top + PLOT_HEIGHT + 74;
    let size = ((LEFT + PLOT_WIDTH + RIGHT) as u32, (table + rows * 18 + 34) as u32);
    let title = format!("Communication reuse distance, base and new: {}", label::title(new.report, new.region));
    let median = |side: &Side| side.crd.and_then(|crd| crd.distinct.median_bytes).map_or("-".into(), number::bytes);
    let description =
        format!("Histograms of base, median {}, and new, median {}.", median(&sides[0]), median(&sides[1]));
    Some(canvas::picture(size, &title, &description, |canvas| {
        let name = crate::fold::shorten(&label::title(new.report, new.region), 50);
        canvas.text(&format!("Reuse distance: {name}"), (LEFT, 26), Anchor::Start, Font::new(18.0).bold());
        names(canvas, LEFT, 48, &base, &new);
        legend(canvas, &sides);
        histogram::frame(canvas, &axis, top);
        histogram::cutoffs(canvas, &axis, main, top);
        bars(canvas, &axis, &sides, top);
        shares(canvas, &sides, main, table);
        other_minima(canvas, &axis, &sides[0], main, top, size.1 as i32 - 12);
    }))
}

fn legend(canvas: &mut Canvas, sides: &[Side; 2]) {
    let mut x = LEFT;
    for side in sides {
        canvas.fill((x, 80), (x + 12, 92), side.colour);
        let bytes = |value: Option<f64>| value.map_or("-".to_string(), number::bytes);
        let text = match side.crd.map(|crd| &crd.distinct) {
            Some(distinct) => format!(
                "{}: {} distances, median {}, p90 {}",
                side.name,
                number::count(distinct.count.round() as u64),
                bytes(distinct.median_bytes),
                bytes(distinct.p90_bytes)
            ),
            None => format!("{}: no distances", side.name),
        };
        let font = Font::new(12.0);
        canvas.text(&text, (x + 18, 86), Anchor::Start, font);
        x += 18 + font.width(&text) + 14;
    }
}

fn bars(canvas: &mut Canvas, axis: &Axis, sides: &[Side; 2], top: i32) {
    let shares = sides.each_ref().map(|side| side.crd.map(|crd| histogram::octaves(crd, axis.slots)));
    let peak = shares.iter().flatten().flatten().copied().fold(0.0, f64::max);
    let full = histogram::share_axis(canvas, peak, top);
    // The base wide and pale, the new one narrow in front of it: both are seen at any heights.
    let looks = [((2, 1), 0.5), ((10, 9), 0.92)];
    for ((side, shares), (inset, opacity)) in sides.iter().zip(&shares).zip(looks) {
        let Some(shares) = shares else { continue };
        histogram::columns(canvas, axis, shares, full, top, inset, (side.colour, opacity));
    }
    let bottom = top + PLOT_HEIGHT;
    canvas.line(&[(LEFT, bottom), (LEFT + PLOT_WIDTH, bottom)], INK, 1);
    for side in sides {
        let Some(crd) = side.crd else { continue };
        histogram::cumulative(canvas, axis, crd, top, side.colour);
        let Some(median) = crd.distinct.median else { continue };
        let x = if median < 1.0 { (axis.x(0.0) + axis.x(1.0)) / 2 } else { axis.x(median) };
        canvas.line(&[(x, top), (x, bottom)], side.colour, 2);
        canvas.polygon(&[(x - 5, bottom + 1), (x + 5, bottom + 1), (x, bottom - 7)], side.colour);
    }
}

fn parts(cutoff: &Cutoff) -> [f64; 3] {
    [cutoff.no_miss, cutoff.probable_miss, cutoff.definite_miss]
}

/// Where misses become possible in base, if that is elsewhere: threads may have more or less for themselves.
fn other_minima(canvas: &mut Canvas, axis: &Axis, base: &Side, main: &Crd, top: i32, foot: i32) {
    let cutoffs = base.crd.iter().flat_map(|crd| &crd.cutoffs);
    let others: Vec<i32> = cutoffs
        .filter(|cutoff| main.cutoffs.iter().any(|m| m.level == cutoff.level && m.min_bytes != cutoff.min_bytes))
        .map(|cutoff| axis.x_of_bytes(cutoff.min_bytes))
        .collect();
    for x in &others {
        for dash in (top..top + PLOT_HEIGHT).step_by(8) {
            canvas.line(&[(*x, dash), (*x, (dash + 4).min(top + PLOT_HEIGHT))], base.colour, 1);
        }
    }
    if !others.is_empty() {
        let text =
            "Bands in which a miss is possible are those of new; a grey dashed line is where one begins in base.";
        canvas.text(text, (LEFT, foot), Anchor::Start, Font::new(11.0).colour(FAINT));
    }
}

/// What the cutoffs mean for both, one line a level.
fn shares(canvas: &mut Canvas, sides: &[Side; 2], main: &Crd, top: i32) {
    let font = Font::new(12.0);
    for (row, level) in (0..).zip(main.cutoffs.iter().map(|cutoff| cutoff.level)) {
        let y = top + 14 + row * 18;
        let colour = histogram::level_colour(level);
        canvas.text(&format!("L{level}"), (LEFT, y), Anchor::Start, font.colour(colour).bold());
        for (column, name) in (0..).zip(["no capacity miss", "miss possible", "miss for certain"]) {
            let x = LEFT + 28 + column * 252;
            let value = |side: &Side| {
                let cutoff = side.crd.and_then(|crd| crd.cutoffs.iter().find(|cutoff| cutoff.level == level));
                cutoff.map_or("-".to_string(), |cutoff| number::percent(parts(cutoff)[column as usize]))
            };
            let text = format!("{} \u{2192} {}", value(&sides[0]), value(&sides[1]));
            canvas.text(&text, (x + 130, y), Anchor::End, font.bold());
            canvas.text(name, (x + 138, y), Anchor::Start, font.colour(FAINT));
        }
    }
}
