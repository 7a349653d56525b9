//! Reuse distances of a region over input sizes or threads, against the caches: figure 9 of ICPP'18 for any number of
//! sizes, with the law of growth drawn on to where it crosses a cutoff.

use super::canvas::{self, Anchor, Canvas, FAINT, Font, INK, RULE};
use super::histogram::level_colour;
use crate::number;
use crate::scale::words;
use plotters::style::RGBColor;
use threadtalk_crd::scaling::{Bound, Growth, RegionScaling, Scaling, Seen};

const LEFT: i32 = 84;
const WIDTH: i32 = 600;
const RIGHT: i32 = 96;
const TOP: i32 = 92;
const HEIGHT: i32 = 300;
const MEDIAN: RGBColor = RGBColor(37, 89, 168);
const P90: RGBColor = RGBColor(96, 96, 104);
/// Steps of a curve.
const STEPS: i32 = 120;
/// How far beyond the largest size the axis may go.
const REACH: f64 = 64.0;

/// Both axes, logarithmic.
struct Axes {
    x: (f64, f64),
    y: (f64, f64),
}

impl Axes {
    fn new(scaling: &Scaling, region: &RegionScaling) -> Option<Self> {
        let (first, last) = (scaling.sizes.first()?, scaling.sizes.last()?);
        let beyond = region.crossings.iter().chain(&region.p90_crossings).filter(|c| c.seen == Seen::Predicted);
        let beyond = beyond.filter_map(|crossing| crossing.at).filter(|at| *at <= last * REACH);
        let right = beyond.map(|at| at * 1.15).fold(*last, f64::max);
        let values =
            [&region.crd_median, &region.crd_p90].into_iter().flat_map(|growth| growth.values.iter().flatten());
        let caches = region.cutoffs.iter().map(|series| series.max_bytes as f64);
        let all: Vec<f64> = values.copied().chain(caches).map(|bytes| bytes.max(1.0)).collect();
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().copied().fold(1.0, f64::max);
        Some(Self { x: (*first, right), y: ((low / 2.0).max(1.0), high * 2.0) })
    }

    fn x(&self, n: f64) -> i32 {
        LEFT + (f64::from(WIDTH) * (n / self.x.0).ln() / (self.x.1 / self.x.0).ln()).round() as i32
    }

    fn y(&self, bytes: f64) -> i32 {
        let share = (bytes.max(self.y.0) / self.y.0).ln() / (self.y.1 / self.y.0).ln();
        TOP + HEIGHT - (f64::from(HEIGHT) * share.min(1.0)).round() as i32
    }
}

/// The picture of a region. None if it has no reuse distances at all.
pub fn picture(scaling: &Scaling, region: &RegionScaling) -> Option<String> {
    region.crd_median.values.iter().flatten().next()?;
    let axes = Axes::new(scaling, region)?;
    let name = words::title(scaling, region);
    let title = format!("Communication reuse distance by {}: {name}", scaling.axis);
    let description = format!("Median: {}. p90: {}.", words::law(&region.crd_median), words::law(&region.crd_p90));
    let rows = (region.crossings.len().div_ceil(2) + usize::from(shared(region))) as i32;
    let size = ((LEFT + WIDTH + RIGHT) as u32, (TOP + HEIGHT + 78 + rows * 18) as u32);
    Some(canvas::picture(size, &title, &description, |canvas| {
        let heading = format!("Reuse distance by {}: {}", scaling.axis, crate::fold::shorten(&name, 44));
        canvas.text(&heading, (LEFT, 26), Anchor::Start, Font::new(18.0).bold());
        for (row, (what, growth, colour)) in
            (0..).zip([("median", &region.crd_median, MEDIAN), ("p90", &region.crd_p90, P90)])
        {
            let y = 50 + row * 18;
            canvas.fill((LEFT, y - 6), (LEFT + 12, y + 6), colour);
            let text = format!("{what}: {}", words::law(growth));
            canvas.text(&text, (LEFT + 18, y), Anchor::Start, Font::new(12.0));
        }
        frame(canvas, scaling, &axes);
        cutoffs(canvas, scaling, region, &axes);
        series(canvas, scaling, &region.crd_median, &axes, MEDIAN);
        series(canvas, scaling, &region.crd_p90, &axes, P90);
        crossings(canvas, region);
    }))
}

fn frame(canvas: &mut Canvas, scaling: &Scaling, axes: &Axes) {
    let bottom = TOP + HEIGHT;
    canvas.frame((LEFT, TOP), (LEFT + WIDTH, bottom), RULE);
    let font = Font::new(11.0).colour(FAINT);
    let mut free = i32::MIN;
    for n in scaling.sizes.iter().copied().chain([axes.x.1]) {
        let (x, text) = (axes.x(n), number::quantity(n));
        canvas.line(&[(x, bottom), (x, bottom + 4)], RULE, 1);
        let half = font.width(&text) / 2;
        if x - half > free {
            canvas.text(&text, (x, bottom + 14), Anchor::Middle, font);
            free = x + half + 4;
        }
    }
    canvas.text(&scaling.axis, (LEFT + WIDTH / 2, bottom + 34), Anchor::Middle, font);
    // Powers of two, a few of them.
    let octaves = (axes.y.1 / axes.y.0).log2();
    let step = if octaves > 24.0 { 4 } else { 2 };
    let first = axes.y.0.log2().ceil() as i32;
    for power in (first..=axes.y.1.log2() as i32).filter(|power| power.rem_euclid(step) == 0) {
        let y = axes.y(2f64.powi(power));
        canvas.line(&[(LEFT - 4, y), (LEFT, y)], RULE, 1);
        canvas.text(&number::bytes(2f64.powi(power)), (LEFT - 8, y), Anchor::End, font);
    }
}

fn cutoffs(canvas: &mut Canvas, scaling: &Scaling, region: &RegionScaling, axes: &Axes) {
    for cache in &region.cutoffs {
        let (colour, y) = (level_colour(cache.level), axes.y(cache.max_bytes as f64));
        canvas.line(&[(LEFT, y), (LEFT + WIDTH, y)], colour, 2);
        let text = format!("L{} {}", cache.level, number::bytes(cache.max_bytes as f64));
        canvas.text(&text, (LEFT + WIDTH + 6, y), Anchor::Start, Font::new(12.0).colour(colour).bold());
        let below = scaling
            .sizes
            .iter()
            .zip(&cache.min_bytes)
            .filter_map(|(n, min)| Some((axes.x(*n), axes.y((*min)? as f64))));
        let below: Vec<(i32, i32)> = below.collect();
        dashed(canvas, &below, colour);
    }
}

fn dashed(canvas: &mut Canvas, points: &[(i32, i32)], colour: RGBColor) {
    for pair in points.windows(2) {
        let (dx, dy) = (f64::from(pair[1].0 - pair[0].0), f64::from(pair[1].1 - pair[0].1));
        let pieces = (dx.hypot(dy) / 8.0).ceil().max(1.0);
        let at = |share: f64| (pair[0].0 + (dx * share).round() as i32, pair[0].1 + (dy * share).round() as i32);
        for piece in 0..pieces as i32 {
            let begin = f64::from(piece) / pieces;
            canvas.line(&[at(begin), at(begin + 0.5 / pieces)], colour, 1);
        }
    }
}

fn series(canvas: &mut Canvas, scaling: &Scaling, growth: &Growth, axes: &Axes, colour: RGBColor) {
    if let Some(law) = growth.law {
        let n = |step: i32| axes.x.0 * (axes.x.1 / axes.x.0).powf(f64::from(step) / f64::from(STEPS));
        let point = |step: i32| (axes.x(n(step)), axes.y(law.at(n(step)).max(0.0)));
        let last = scaling.sizes.last().copied().unwrap_or(axes.x.1);
        let measured: Vec<(i32, i32)> = (0..=STEPS).filter(|step| n(*step) <= last * 1.001).map(point).collect();
        canvas.line(&measured, colour, 2);
        let within = |step: &i32| law.at(n(*step)) <= axes.y.1;
        let beyond: Vec<(i32, i32)> = (measured.len() as i32 - 1..=STEPS).take_while(within).map(point).collect();
        dashed(canvas, &beyond, colour);
    }
    for (n, value) in scaling.sizes.iter().zip(&growth.values) {
        let Some(value) = value else { continue };
        let (x, y) = (axes.x(*n), axes.y(*value));
        canvas.fill((x - 4, y - 4), (x + 4, y + 4), colour);
    }
}

/// Whether part of a cache's size is taken by what its threads keep there for themselves: the broken lines.
fn shared(region: &RegionScaling) -> bool {
    region.cutoffs.iter().any(|cache| cache.min_bytes.iter().flatten().any(|min| *min < cache.max_bytes))
}

/// Where the median crosses, in two columns: possible and certain misses.
fn crossings(canvas: &mut Canvas, region: &RegionScaling) {
    let top = TOP + HEIGHT + 60;
    for (at, crossing) in (0..).zip(&region.crossings) {
        let (x, y) = (LEFT + (at % 2) * 330, top + at / 2 * 18);
        let what = match crossing.cutoff {
            Bound::Min => "misses possible",
            Bound::Max => "misses certain",
        };
        let level = format!("L{}", crossing.level);
        let font = Font::new(12.0);
        canvas.text(&level, (x, y), Anchor::Start, font.colour(level_colour(crossing.level)).bold());
        let text = format!("{what} {}", words::crossing(crossing));
        canvas.text(&text, (x + 28, y), Anchor::Start, font.colour(INK));
    }
    if shared(region) {
        let y = top + region.crossings.len().div_ceil(2) as i32 * 18;
        let text = "broken lines: the size less the private data of the threads that share the cache; \
                    from there on misses are possible";
        canvas.text(text, (LEFT, y), Anchor::Start, Font::new(11.0).colour(FAINT));
    }
}
