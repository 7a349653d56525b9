//! Parallel block vectors as a heat map: functions or source lines by number of threads (Kambadur et al.).

use super::super::canvas::{self, Anchor, Canvas, FAINT, Font, RULE};
use super::super::colour::{self, ZERO};
use super::super::scale::Scale;
use crate::fold::shorten;
use crate::imbalance::words;
use crate::number;
use threadtalk_crd::imbalance::pbv::Class;
use threadtalk_crd::imbalance::profile::model::Parallelism;
use threadtalk_crd::imbalance::profile::{Folded, fold};

/// Rows at most.
const ROWS: usize = 40;
const ROW: i32 = 17;
const LEFT: i32 = 262;
const TOP: i32 = 78;
const WIDTH: i32 = 512;
const RIGHT: i32 = 150;

/// The picture; none if nothing ran.
pub fn picture(parallelism: &Parallelism, by_line: bool) -> Option<String> {
    let all = fold(&parallelism.blocks, by_line);
    let rows = &all[..all.len().min(ROWS)];
    let levels = rows.iter().map(|r| r.of.counts.len()).max().filter(|&n| n > 0)? as i32;
    let scale = Scale::of(rows.iter().flat_map(|r| &r.of.counts).map(|&c| c as f64));
    let bottom = TOP + rows.len() as i32 * ROW;
    let size = ((LEFT + WIDTH + RIGHT) as u32, (bottom + 52) as u32);
    let what = if by_line { "source lines" } else { "functions" };
    let description = format!("{} {what} by executions of their blocks at 1 to {levels} threads", rows.len());
    Some(canvas::picture(size, "Parallel block vectors", &description, |canvas| {
        canvas.text(&format!("Parallel block vectors of {what}"), (20, 24), Anchor::Start, Font::new(16.0).bold());
        let counting = if parallelism.counting == Default::default() { "nominal" } else { "effective" };
        let more = if all.len() > rows.len() {
            format!("; the hottest {} of {}", rows.len(), all.len())
        } else {
            String::new()
        };
        let line = format!("executions of basic blocks while so many threads existed ({counting}){more}");
        canvas.text(&line, (20, 43), Anchor::Start, Font::new(11.0).colour(FAINT));
        let columns = Columns { levels };
        for (index, row) in (0..).zip(rows) {
            draw(canvas, &columns, scale, TOP + index * ROW, row);
        }
        columns.numbers(canvas, bottom);
        legend(canvas, scale, bottom);
        let heads = [(LEFT + WIDTH + 10, "class"), (LEFT + WIDTH + 74, "avg threads")];
        heads
            .into_iter()
            .for_each(|(x, text)| canvas.text(text, (x, TOP - 10), Anchor::Start, Font::new(11.0).colour(FAINT)));
    }))
}

struct Columns {
    levels: i32,
}

impl Columns {
    fn edge(&self, level: i32) -> i32 {
        LEFT + level * WIDTH / self.levels
    }

    fn numbers(&self, canvas: &mut Canvas, bottom: i32) {
        let step = ((self.levels * 26 + WIDTH - 1) / WIDTH).max(1);
        for level in (0..self.levels).step_by(step as usize) {
            let middle = (self.edge(level) + self.edge(level + 1)) / 2;
            canvas.text(&(level + 1).to_string(), (middle, bottom + 11), Anchor::Middle, Font::new(11.0).colour(FAINT));
        }
        canvas.text("threads", (LEFT + WIDTH / 2, bottom + 30), Anchor::Middle, Font::new(12.0));
    }
}

fn draw(canvas: &mut Canvas, columns: &Columns, scale: Scale, y: i32, row: &Folded) {
    let name = match row.line {
        Some(_) => format!("{} {}", words::place(row.file.as_deref(), row.line), row.function),
        None => row.function.clone(),
    };
    canvas.text(&shorten(&name, 36), (LEFT - 8, y + ROW / 2), Anchor::End, Font::new(11.0));
    canvas.fill((LEFT, y), (LEFT + WIDTH, y + ROW - 1), ZERO);
    for (level, &count) in (0..).zip(&row.of.counts) {
        if count > 0 {
            let colour = colour::of_level(colour::level(scale.share(count as f64)));
            canvas.fill((columns.edge(level), y), (columns.edge(level + 1), y + ROW - 1), colour);
        }
    }
    let class = match row.of.class {
        Class::Never => "never",
        Class::Serial => "serial",
        Class::Parallel => "parallel",
        Class::Mixed => "mixed",
    };
    let right = LEFT + WIDTH;
    canvas.text(class, (right + 10, y + ROW / 2), Anchor::Start, Font::new(11.0));
    if let Some(degree) = row.of.average_degree {
        canvas.text(&number::quantity(degree), (right + 138, y + ROW / 2), Anchor::End, Font::new(11.0));
    }
}

fn legend(canvas: &mut Canvas, scale: Scale, bottom: i32) {
    const BAR: i32 = 128;
    let y = bottom + 26;
    for step in 0..BAR {
        let colour = colour::of_level(colour::level(f64::from(step) / f64::from(BAR - 1)));
        canvas.fill((20 + step, y), (21 + step, y + 9), colour);
    }
    canvas.frame((20, y), (20 + BAR, y + 9), RULE);
    let ticks = scale.ticks();
    let ends = [ticks.first(), ticks.last()].map(|t| t.map_or(String::new(), |t| number::quantity(*t)));
    let log = if scale.is_log() { " (log)" } else { "" };
    let text = format!("{} to {}{log}", ends[0], ends[1]);
    canvas.text(&text, (20, bottom + 14), Anchor::Start, Font::new(10.0).colour(FAINT));
}
