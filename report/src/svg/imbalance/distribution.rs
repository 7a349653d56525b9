//! Values of the threads with their minimum, mean, maximum and one-sigma marks (DeRose et al., Figure 5).

use super::super::canvas::{self, Anchor, Canvas, FAINT, Font, INK, RULE};
use super::{AVERAGE, EXCESS};
use crate::fold::shorten;
use crate::imbalance::words::Unit;
use crate::number;
use threadtalk_crd::imbalance::craypat::{Spread, spread};

const LEFT: i32 = 84;
const TOP: i32 = 62;
const HEIGHT: i32 = 180;
const WIDTH: i32 = 576;
const RIGHT: i32 = 112;

/// Values of threads.
pub struct Bars<'a> {
    /// What of.
    pub title: &'a str,
    /// Logical ids.
    pub threads: &'a [u32],
    /// Value of each.
    pub values: &'a [f64],
    /// What they count.
    pub unit: Unit,
    /// Of sums over several instances: how many, and the imbalance percentage in the mean of the instances.
    pub instances: Option<(u64, f64)>,
}

/// The picture.
pub fn picture(bars: &Bars) -> String {
    let size = ((LEFT + WIDTH + RIGHT) as u32, (TOP + HEIGHT + 58) as u32);
    let spread = spread(bars.values);
    let description = spread.as_ref().map_or_else(String::new, |s| {
        let write = |v| bars.unit.write(v);
        format!(
            "{} threads, minimum {}, mean {}, maximum {}",
            bars.values.len(),
            write(s.min),
            write(s.avg),
            write(s.max)
        )
    });
    canvas::picture(size, &format!("Threads of {}", bars.title), &description, |canvas| {
        canvas.text(&shorten(bars.title, 72), (LEFT, 24), Anchor::Start, Font::new(16.0).bold());
        let Some(spread) = spread else { return };
        let lost = spread.imbalance;
        let unit = bars.unit.name();
        let line = match bars.instances {
            Some((count, percent)) => {
                format!(
                    "{unit} per thread, sums of {} instances; imbalance {percent:.1} % instance by instance",
                    number::count(count)
                )
            }
            None => format!(
                "{unit} per thread; imbalance {:.1} %, {} above the mean",
                lost.imbalance_percent,
                bars.unit.write(lost.imbalance_time)
            ),
        };
        canvas.text(&line, (LEFT, 44), Anchor::Start, Font::new(12.0).colour(FAINT));
        draw(canvas, bars, &spread);
        marks(canvas, bars, &spread);
    })
}

fn y(value: f64, max: f64) -> i32 {
    TOP + HEIGHT - if max > 0.0 { (value.clamp(0.0, max) / max * f64::from(HEIGHT)).round() as i32 } else { 0 }
}

fn draw(canvas: &mut Canvas, bars: &Bars, spread: &Spread) {
    let base = TOP + HEIGHT;
    let count = bars.values.len() as i32;
    let edge = |index: i32| LEFT + index * WIDTH / count;
    let gap = if WIDTH / count > 6 { 2 } else { 0 };
    for (index, &value) in (0..).zip(bars.values) {
        let (from, to) = (edge(index), (edge(index + 1) - gap).max(edge(index) + 1));
        let top = y(value, spread.max);
        let mean = y(spread.avg, spread.max);
        canvas.fill((from, top.max(mean)), (to, base), AVERAGE);
        if top < mean {
            canvas.fill((from, top), (to, mean), EXCESS);
        }
    }
    canvas.line(&[(LEFT, base), (LEFT + WIDTH, base)], RULE, 1);
    // Numbers at as many threads as there is room for.
    let step = ((count * 30 + WIDTH - 1) / WIDTH).max(1);
    for index in (0..count).step_by(step as usize) {
        let middle = (edge(index) + edge(index + 1) - gap) / 2;
        let id = bars.threads.get(index as usize).map_or_else(|| index.to_string(), u32::to_string);
        canvas.text(&id, (middle, base + 12), Anchor::Middle, Font::new(11.0).colour(FAINT));
    }
    canvas.text("thread", (LEFT + WIDTH / 2, base + 32), Anchor::Middle, Font::new(12.0));
}

/// Minimum, mean and maximum as lines with names, one sigma around the mean as a bar beside them.
fn marks(canvas: &mut Canvas, bars: &Bars, spread: &Spread) {
    let right = LEFT + WIDTH;
    let mut taken: Vec<i32> = Vec::new();
    for (name, value) in [("max", spread.max), ("mean", spread.avg), ("min", spread.min)] {
        let at = y(value, spread.max);
        canvas.line(&[(LEFT, at), (right, at)], INK, 1);
        // Names keep their distance.
        let mut text = at;
        while taken.iter().any(|t| (t - text).abs() < 13) {
            text += 1;
        }
        taken.push(text);
        let label = format!("{name} {}", bars.unit.write(value));
        canvas.text(&label, (right + 18, text), Anchor::Start, Font::new(11.0));
    }
    let (above, below) = (y(spread.avg + spread.sigma, spread.max), y(spread.avg - spread.sigma, spread.max));
    canvas.line(&[(LEFT - 12, above), (LEFT - 12, below)], INK, 2);
    for at in [above, below] {
        canvas.line(&[(LEFT - 16, at), (LEFT - 8, at)], INK, 2);
    }
    let sigma = format!("\u{b1} {}", bars.unit.write(spread.sigma));
    canvas.text(&sigma, (LEFT - 20, (above + below) / 2), Anchor::End, Font::new(11.0));
}
