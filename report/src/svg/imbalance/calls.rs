//! The call graph with load balance boxes (DeRose et al., Figure 3): a box is as high as the largest time of a thread
//! in the function itself and as wide as the largest time in what it calls; in it a bar on the left up to the average,
//! one on the right up to the minimum, and the rest is imbalance.

use super::super::canvas::{self, Anchor, Canvas, FAINT, Font, RULE};
use super::{AVERAGE, EXCESS, MINIMUM};
use crate::fold::shorten;
use crate::number;
use std::collections::BTreeSet;
use threadtalk_crd::imbalance::profile::model::{CallNode, Figures};

/// Boxes at most.
const BOXES: usize = 40;
const LEFT: i32 = 24;
const TOP: i32 = 74;
/// From one depth to the next.
const COLUMN: i32 = 216;
const WIDEST: f64 = 120.0;
const HIGHEST: f64 = 96.0;
/// Of a function that takes no time itself.
const LOWEST: f64 = 6.0;
/// For the two lines of text below a box.
const CAPTION: i32 = 34;
const GAP: i32 = 14;

struct Placed {
    node: usize,
    x: i32,
    y: i32,
    width: i32,
    height: i32,
}

/// The picture; none without times. `name`: what a node is called.
pub fn picture(nodes: &[CallNode], name: &dyn Fn(&CallNode) -> String) -> Option<String> {
    let metric = ["cpu", "time"].into_iter().find(|m| nodes.iter().any(|n| n.inclusive.contains_key(m)))?;
    let own = |node: usize| nodes[node].exclusive.get(metric);
    let all = |node: usize| nodes[node].inclusive.get(metric);
    let max = |f: Option<&Figures>| f.map_or(0.0, |f| f.spread.max);
    let kept = kept(nodes, &|node| max(all(node)));
    let most_own = kept.iter().map(|&n| max(own(n))).fold(f64::MIN_POSITIVE, f64::max);
    let below = |node: usize| (max(all(node)) - max(own(node))).max(0.0);
    let most_below = kept.iter().map(|&n| below(n)).fold(f64::MIN_POSITIVE, f64::max);
    let size_of = |node: usize| {
        let width = 44.0 + below(node) / most_below * (WIDEST - 44.0);
        let height = LOWEST + max(own(node)) / most_own * (HIGHEST - LOWEST);
        (width.round() as i32, height.round() as i32)
    };
    let mut placed: Vec<Placed> = Vec::new();
    let mut bottom = TOP;
    for &root in kept.iter().filter(|&&n| nodes[n].parent.is_none()) {
        bottom = place(nodes, &kept, &size_of, root, 0, bottom, &mut placed);
    }
    let right = placed.iter().map(|p| p.x).max()? + COLUMN;
    let size = (right.max(560) as u32, (bottom + 16) as u32);
    let unit = if metric == "cpu" { "CPU time" } else { "time" };
    let description = format!("{} calls with {unit} of their own and of what they call", placed.len());
    Some(canvas::picture(size, "Call graph with load balance", &description, |canvas| {
        canvas.text("Call graph", (LEFT, 24), Anchor::Start, Font::new(16.0).bold());
        let left_out = nodes.len() - kept.len();
        let more = if left_out > 0 { format!("; {left_out} smaller calls left out") } else { String::new() };
        let line = format!("height: {unit} in the function itself, width: in what it calls{more}");
        canvas.text(&line, (LEFT, 42), Anchor::Start, Font::new(11.0).colour(FAINT));
        legend(canvas);
        for p in &placed {
            let parent = nodes[p.node].parent.and_then(|parent| placed.iter().find(|q| q.node == parent));
            if let Some(q) = parent {
                let (from, to) = ((q.x + q.width, q.y + q.height / 2), (p.x, p.y + p.height / 2));
                let middle = to.0 - 20;
                canvas.line(&[from, (middle, from.1), (middle, to.1), to], RULE, 1);
            }
        }
        for p in &placed {
            draw(canvas, p, own(p.node));
            let caption = p.y + p.height + 10;
            canvas.text(&shorten(&name(&nodes[p.node]), 30), (p.x, caption), Anchor::Start, Font::new(11.0));
            let percent = own(p.node).map_or(0.0, |f| f.spread.imbalance.imbalance_percent);
            let line = format!("{}, imbalance {percent:.1} %", number::seconds(max(own(p.node))));
            canvas.text(&line, (p.x, caption + 13), Anchor::Start, Font::new(10.0).colour(FAINT));
        }
    }))
}

/// The nodes with the most time, with all that call them.
fn kept(nodes: &[CallNode], time: &dyn Fn(usize) -> f64) -> BTreeSet<usize> {
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&n| time(n) > 0.0).collect();
    order.sort_by(|&a, &b| time(b).total_cmp(&time(a)).then(a.cmp(&b)));
    let mut kept = BTreeSet::new();
    for node in order {
        let way: Vec<usize> = std::iter::successors(Some(node), |&n| nodes[n].parent).collect();
        let new = way.iter().filter(|n| !kept.contains(*n)).count();
        if kept.len() + new <= BOXES {
            kept.extend(way);
        }
    }
    kept
}

/// Places a node at `top` with what it calls to the right of it, and gives where the next may begin.
fn place(
    nodes: &[CallNode],
    kept: &BTreeSet<usize>,
    size: &dyn Fn(usize) -> (i32, i32),
    node: usize,
    depth: i32,
    top: i32,
    placed: &mut Vec<Placed>,
) -> i32 {
    let (width, height) = size(node);
    placed.push(Placed { node, x: LEFT + depth * COLUMN, y: top, width, height });
    let mut below = top;
    for &callee in kept.iter().filter(|&&n| nodes[n].parent == Some(node)) {
        below = place(nodes, kept, size, callee, depth + 1, below, placed);
    }
    below.max(top + height + CAPTION + GAP)
}

fn draw(canvas: &mut Canvas, p: &Placed, own: Option<&Figures>) {
    let (from, to) = ((p.x, p.y), (p.x + p.width, p.y + p.height));
    let Some(figures) = own else {
        canvas.frame(from, to, RULE);
        return;
    };
    canvas.fill(from, to, EXCESS);
    let part = |value: f64| (f64::from(p.height) * value / figures.spread.max).round() as i32;
    let middle = p.x + p.width / 2;
    canvas.fill((p.x, to.1 - part(figures.spread.avg)), (middle, to.1), AVERAGE);
    canvas.fill((middle, to.1 - part(figures.spread.min)), to, MINIMUM);
    canvas.frame(from, to, FAINT);
}

fn legend(canvas: &mut Canvas) {
    let mut x = LEFT;
    for (colour, text) in [(AVERAGE, "average"), (MINIMUM, "minimum"), (EXCESS, "up to the maximum: imbalance")] {
        canvas.fill((x, 53), (x + 11, 64), colour);
        canvas.text(text, (x + 16, 59), Anchor::Start, Font::new(11.0));
        x += 26 + Font::new(11.0).width(text);
    }
}
