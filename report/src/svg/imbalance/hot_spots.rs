//! How few blocks make up most of the executions, of the serial and of the parallel ones (Kambadur et al., Figure 11).

use super::super::canvas::{self, Anchor, Canvas, FAINT, Font, RULE};
use super::{AVERAGE, EXCESS};
use plotters::style::RGBColor;
use threadtalk_crd::imbalance::pbv::Point;
use threadtalk_crd::imbalance::profile::model::Parallelism;

const LEFT: i32 = 66;
const TOP: i32 = 64;
const SIDE: (i32, i32) = (420, 240);

/// The picture; none if nothing ran.
pub fn picture(parallelism: &Parallelism) -> Option<String> {
    let curves: Vec<(&str, &[Point], RGBColor)> = [("serial", EXCESS), ("parallel", AVERAGE)]
        .into_iter()
        .filter_map(|(side, colour)| Some((side, parallelism.hot_spots.get(side)?.as_slice(), colour)))
        .filter(|(_, points, _)| !points.is_empty())
        .collect();
    if curves.is_empty() {
        return None;
    }
    let size = ((LEFT + SIDE.0 + 30) as u32, (TOP + SIDE.1 + 54) as u32);
    let described: Vec<String> =
        curves.iter().map(|(side, points, _)| format!("{} {side} blocks", points.len())).collect();
    Some(canvas::picture(size, "Hot spots", &described.join(", "), |canvas| {
        canvas.text("Hot spots", (20, 24), Anchor::Start, Font::new(16.0).bold());
        frame(canvas);
        let mut x = LEFT;
        for (side, points, colour) in &curves {
            let at = |p: &Point| (LEFT + (p.blocks * f64::from(SIDE.0)).round() as i32, y(p.executions));
            let line: Vec<(i32, i32)> = std::iter::once((LEFT, y(0.0))).chain(points.iter().map(at)).collect();
            canvas.line(&line, *colour, 2);
            canvas.fill((x, 40), (x + 14, 44), *colour);
            let plural = if points.len() == 1 { "" } else { "s" };
            let name = if *side == "serial" { "one thread" } else { "more threads" };
            let text = format!("with {name}: {} block{plural}", points.len());
            canvas.text(&text, (x + 20, 42), Anchor::Start, Font::new(11.0));
            x += 34 + Font::new(11.0).width(&text);
        }
    }))
}

fn y(share: f64) -> i32 {
    TOP + SIDE.1 - (share * f64::from(SIDE.1)).round() as i32
}

fn frame(canvas: &mut Canvas) {
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (x, level) = (LEFT + (share * f64::from(SIDE.0)) as i32, y(share));
        canvas.line(&[(LEFT, level), (LEFT + SIDE.0, level)], RULE, 1);
        let label = format!("{:.0} %", share * 100.0);
        canvas.text(&label, (LEFT - 6, level), Anchor::End, Font::new(11.0).colour(FAINT));
        canvas.text(&label, (x, TOP + SIDE.1 + 12), Anchor::Middle, Font::new(11.0).colour(FAINT));
    }
    let below = (LEFT + SIDE.0 / 2, TOP + SIDE.1 + 32);
    canvas.text("of the blocks, the hottest first", below, Anchor::Middle, Font::new(12.0));
    let beside = (14, TOP + SIDE.1 / 2);
    canvas.text("of the executions", beside, Anchor::Middle, Font::new(12.0).upwards());
}
