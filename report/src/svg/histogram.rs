//! How far apart the uses of received data are, in bytes touched meanwhile, against the caches that would hold it.
//!
//! Distances are grouped by powers of two: one bar an octave, equally wide on the logarithmic axis; a
//! distance of 0 (at once) has a place of its own at the left. The cumulative line uses the fine buckets.

use super::canvas::{self, Anchor, Canvas, FAINT, Font, INK, RULE};
use crate::{label, number};
use plotters::style::RGBColor;
use threadtalk_crd::model::{Crd, Cutoff, Region, Report};

/// Left margin.
pub const LEFT: i32 = 64;
/// Right margin.
pub const RIGHT: i32 = 62;
/// Width of the plot.
pub const PLOT_WIDTH: i32 = 720;
/// Height of the plot.
pub const PLOT_HEIGHT: i32 = 240;
/// Bars of the histogram.
pub const BARS: RGBColor = RGBColor(59, 128, 158);
/// Beyond this part, which 738 samples have, the picture says how far ranks may be off.
const UNSURE: f64 = 0.05;
const CUMULATIVE: RGBColor = RGBColor(26, 26, 30);
const MEDIAN: RGBColor = RGBColor(160, 30, 90);
/// One colour for each cache level, nearest first.
const LEVELS: [RGBColor; 4] =
    [RGBColor(196, 92, 12), RGBColor(120, 80, 170), RGBColor(20, 120, 70), RGBColor(110, 110, 120)];

/// The colour of a cache level.
pub fn level_colour(level: u8) -> RGBColor {
    LEVELS[usize::from(level.max(1) - 1).min(LEVELS.len() - 1)]
}

/// Where distances lie on the axis.
pub struct Axis {
    granule: f64,
    /// Octaves, the place of 0 included.
    pub slots: u32,
}

impl Axis {
    /// An axis for all distances and caches of these.
    pub fn new(crds: &[&Crd], granule: f64) -> Self {
        let furthest = |crd: &&Crd| crd.distinct.buckets.last().map_or(1, |bucket| bucket.hi.max(2) - 1) as f64;
        let caches = crds.iter().flat_map(|crd| &crd.cutoffs).map(|cutoff| cutoff.max_bytes as f64 / granule);
        let end = caches.chain(crds.iter().map(furthest)).fold(16.0, f64::max);
        Self { granule, slots: (end.log2().floor() as u32 + 2).min(66) }
    }

    /// Pixels from the left for a distance in elements; 0 to 1 is the place of 0.
    pub fn x(&self, distance: f64) -> i32 {
        let position = if distance < 1.0 { distance.max(0.0) } else { 1.0 + distance.log2() };
        LEFT + (position / f64::from(self.slots) * f64::from(PLOT_WIDTH)).round() as i32
    }

    /// Pixels from the left for a distance in bytes.
    pub fn x_of_bytes(&self, bytes: u64) -> i32 {
        self.x(bytes as f64 / self.granule)
    }
}

/// The histogram of a region. None without distances.
pub fn picture(report: &Report, region: &Region) -> Option<String> {
    let counts = region.counts.as_deref()?;
    let crd = counts.own.crd.as_ref().filter(|crd| crd.distinct.count > 0.0)?;
    let axis = Axis::new(&[crd], f64::from(report.options.granule.max(1)));
    let rows = crd.cutoffs.len() as i32;
    // Room above the plot for the names of the cutoffs, each on a line of its own, so that no line crosses a name.
    let top = 92 + rows * 15;
    let table = top + PLOT_HEIGHT + 74;
    let height = table + rows * 18 + 34;
    let width = LEFT + PLOT_WIDTH + RIGHT;
    let title = format!("Communication reuse distance: {}", label::title(report, region));
    let description = format!(
        "Histogram of {} distances, median {} bytes.",
        crd.distinct.count,
        crd.distinct.median_bytes.unwrap_or_default()
    );
    Some(canvas::picture((width as u32, height as u32), &title, &description, |canvas| {
        head(canvas, report, region, crd);
        frame(canvas, &axis, top);
        cutoffs(canvas, &axis, crd, top);
        bars(canvas, &axis, crd, top);
        median(canvas, &axis, crd, top);
        shares(canvas, &crd.cutoffs, table);
    }))
}

fn head(canvas: &mut Canvas, report: &Report, region: &Region, crd: &Crd) {
    let name = crate::fold::shorten(&label::title(report, region), 50);
    canvas.text(&format!("Reuse distance: {name}"), (LEFT, 26), Anchor::Start, Font::new(18.0).bold());
    let bytes = |value: Option<f64>| value.map_or("-".to_string(), number::bytes);
    let distinct = &crd.distinct;
    let mut line = format!(
        "{} distances  \u{b7}  median {}  \u{b7}  p90 {}  \u{b7}  p99 {}",
        number::count(distinct.count.round() as u64),
        bytes(distinct.median_bytes),
        bytes(distinct.p90_bytes),
        bytes(distinct.p99_bytes)
    );
    if crd.rate < 1.0 {
        line += &format!("  \u{b7}  estimated from {} of the uses", number::percent(crd.rate));
    }
    if crd.rank_error > UNSURE {
        line += &format!(" (ranks \u{b1} {})", number::percent(crd.rank_error));
    }
    canvas.text(&line, (LEFT, 50), Anchor::Start, Font::new(12.5).colour(INK));
    let place = label::place(region);
    canvas.text(&place, (LEFT, 69), Anchor::Start, Font::new(11.0).colour(FAINT));
}

/// Scales and their names.
pub fn frame(canvas: &mut Canvas, axis: &Axis, top: i32) {
    let bottom = top + PLOT_HEIGHT;
    let faint = Font::new(11.0).colour(FAINT);
    canvas.text("0", ((axis.x(0.0) + axis.x(1.0)) / 2, bottom + 13), Anchor::Middle, faint);
    let step = (axis.slots as usize).div_ceil(13).max(1);
    // The first octaves have no room for a number beside that of 0.
    for octave in (step as u32..axis.slots - 1).step_by(step) {
        let distance = 2f64.powi(octave as i32);
        let x = axis.x(distance);
        canvas.line(&[(x, bottom), (x, bottom + 5)], RULE, 1);
        canvas.text(&number::bytes(distance * axis.granule), (x, bottom + 13), Anchor::Middle, faint);
        canvas.text(&elements(octave), (x, bottom + 28), Anchor::Middle, Font::new(9.5).colour(FAINT));
    }
    let label = "distance: different data used between two uses of the same element, in bytes (small: in elements)";
    canvas.text(label, (LEFT + PLOT_WIDTH / 2, bottom + 48), Anchor::Middle, faint);
    canvas.text("share of distances", (16, top + PLOT_HEIGHT / 2), Anchor::Middle, faint.upwards());
    let right = LEFT + PLOT_WIDTH;
    canvas.text("cumulative", (right + 50, top + PLOT_HEIGHT / 2), Anchor::Middle, faint.upwards());
    for quarter in 0..=4 {
        let y = bottom - quarter * PLOT_HEIGHT / 4;
        canvas.text(&format!("{} %", quarter * 25), (right + 6, y), Anchor::Start, faint);
    }
}

fn elements(octave: u32) -> String {
    let units = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    format!("{}{}", 1u64 << (octave % 10), units[(octave / 10) as usize])
}

/// Shares by octave: index 0 is distance 0, index i is 2^(i-1) up to 2^i.
pub fn octaves(crd: &Crd, slots: u32) -> Vec<f64> {
    let mut shares = vec![0.0; slots as usize];
    for bucket in &crd.distinct.buckets {
        let slot = if bucket.lo == 0 { 0 } else { bucket.lo.ilog2() as usize + 1 };
        shares[slot.min(slots as usize - 1)] += bucket.count / crd.distinct.count;
    }
    shares
}

fn bars(canvas: &mut Canvas, axis: &Axis, crd: &Crd, top: i32) {
    let shares = octaves(crd, axis.slots);
    let full = share_axis(canvas, shares.iter().copied().fold(0.0, f64::max), top);
    columns(canvas, axis, &shares, full, top, (2, 1), (BARS, 0.88));
    let bottom = top + PLOT_HEIGHT;
    canvas.line(&[(LEFT, bottom), (LEFT + PLOT_WIDTH, bottom)], INK, 1);
    cumulative(canvas, axis, crd, top, CUMULATIVE);
}

/// Numbers of the axis of shares; gives the share at its upper end.
pub fn share_axis(canvas: &mut Canvas, peak: f64, top: i32) -> f64 {
    let bottom = top + PLOT_HEIGHT;
    let full = [0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8, 1.0].into_iter().find(|full| *full >= peak).unwrap_or(1.0);
    for quarter in 0..=4 {
        let y = bottom - quarter * PLOT_HEIGHT / 4;
        let share = format!("{} %", number::quantity(full * 25.0 * f64::from(quarter)));
        canvas.text(&share, (LEFT - 6, y), Anchor::End, Font::new(11.0).colour(FAINT));
    }
    full
}

/// A bar for each octave, `inset` pixels from its ends.
pub fn columns(
    canvas: &mut Canvas,
    axis: &Axis,
    shares: &[f64],
    full: f64,
    top: i32,
    inset: (i32, i32),
    (colour, opacity): (RGBColor, f64),
) {
    let bottom = top + PLOT_HEIGHT;
    for (slot, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        let from = if slot == 0 { 0.0 } else { 2f64.powi(slot as i32 - 1) };
        let to = 2f64.powi(slot as i32);
        // What is there is seen: at least one pixel.
        let height = ((share / full * f64::from(PLOT_HEIGHT)).round() as i32).max(1);
        canvas.shade((axis.x(from) + inset.0, bottom - height), (axis.x(to) - inset.1, bottom), colour, opacity);
    }
}

/// The share of distances up to each.
pub fn cumulative(canvas: &mut Canvas, axis: &Axis, crd: &Crd, top: i32, colour: RGBColor) {
    let bottom = top + PLOT_HEIGHT;
    let mut points = vec![(LEFT, bottom)];
    let mut sum = 0.0;
    for bucket in &crd.distinct.buckets {
        let y = |sum: f64| bottom - (sum / crd.distinct.count * f64::from(PLOT_HEIGHT)).round() as i32;
        points.push((axis.x(bucket.lo as f64), y(sum)));
        sum += bucket.count;
        points.push((axis.x(bucket.hi as f64), y(sum)));
    }
    points.push((LEFT + PLOT_WIDTH, top));
    points.dedup();
    canvas.line(&points, colour, 1);
}

/// For each level the band in which a miss is possible, and the line beyond which it is certain.
pub fn cutoffs(canvas: &mut Canvas, axis: &Axis, crd: &Crd, top: i32) {
    let bottom = top + PLOT_HEIGHT;
    for (row, cutoff) in (0..).zip(&crd.cutoffs) {
        let colour = level_colour(cutoff.level);
        let (min, max) = (axis.x_of_bytes(cutoff.min_bytes), axis.x_of_bytes(cutoff.max_bytes));
        let y = top - 10 - row * 15;
        canvas.shade((min, top), (max, bottom), colour, 0.08);
        canvas.line(&[(max, y + 4), (max, bottom)], colour, 1);
        for dash in (top..bottom).step_by(8).filter(|_| min < max) {
            canvas.line(&[(min, dash), (min, (dash + 4).min(bottom))], colour, 1);
        }
        let text = match cutoff.min_bytes {
            same if same == cutoff.max_bytes => format!("L{} {}", cutoff.level, number::bytes(cutoff.max_bytes as f64)),
            _ => format!(
                "L{} {} \u{2026} {}",
                cutoff.level,
                number::bytes(cutoff.min_bytes as f64),
                number::bytes(cutoff.max_bytes as f64)
            ),
        };
        let font = Font::new(11.0).colour(colour).bold();
        let fits = max - font.width(&text) - 6 > LEFT;
        let (at, anchor) = if fits { (max - 5, Anchor::End) } else { (max + 5, Anchor::Start) };
        canvas.text(&text, (at, y), anchor, font);
    }
}

fn median(canvas: &mut Canvas, axis: &Axis, crd: &Crd, top: i32) {
    let Some(median) = crd.distinct.median else { return };
    let bottom = top + PLOT_HEIGHT;
    let x = if median < 1.0 { (axis.x(0.0) + axis.x(1.0)) / 2 } else { axis.x(median) };
    canvas.line(&[(x, top), (x, bottom)], MEDIAN, 2);
    canvas.polygon(&[(x - 5, bottom + 1), (x + 5, bottom + 1), (x, bottom - 7)], MEDIAN);
    let text = format!("median {}", number::bytes(crd.distinct.median_bytes.unwrap_or_default()));
    let font = Font::new(11.0).colour(MEDIAN).bold();
    let fits = x + font.width(&text) + 8 < LEFT + PLOT_WIDTH;
    let (at, anchor) = if fits { (x + 6, Anchor::Start) } else { (x - 6, Anchor::End) };
    canvas.text(&text, (at, top + 12), anchor, font);
}

/// What the cutoffs mean for the distances, one line a level.
fn shares(canvas: &mut Canvas, cutoffs: &[Cutoff], top: i32) {
    let font = Font::new(12.0);
    for (row, cutoff) in (0..).zip(cutoffs) {
        let y = top + 14 + row * 18;
        let colour = level_colour(cutoff.level);
        canvas.text(&format!("L{}", cutoff.level), (LEFT, y), Anchor::Start, font.colour(colour).bold());
        let parts = [
            ("no capacity miss", cutoff.no_miss),
            ("miss possible", cutoff.probable_miss),
            ("miss for certain", cutoff.definite_miss),
        ];
        for (column, (name, share)) in (0..).zip(parts) {
            let x = LEFT + 40 + column * 220;
            canvas.text(&number::percent(share), (x + 62, y), Anchor::End, font.bold());
            canvas.text(name, (x + 70, y), Anchor::Start, font.colour(FAINT));
        }
    }
}
