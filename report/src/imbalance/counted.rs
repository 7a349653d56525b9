//! What the processor and the kernel counted of each thread, as a table.

use super::table;
use crate::number;
use crate::text::{Column, Paint, Style, Table};
use threadtalk_crd::imbalance::profile::model::Imbalance;

/// The table for the terminal; empty if nothing was counted.
pub fn text(imbalance: &Imbalance, paint: Style) -> String {
    if imbalance.counters.is_empty() {
        return String::new();
    }
    let mut lines = Table::new(vec![
        Column::right("avg"),
        Column::right("Imb. %"),
        Column::right("min (thread)"),
        Column::right("median"),
        Column::right("max"),
        Column::left("event"),
    ]);
    for (event, figures) in &imbalance.counters {
        let spread = &figures.spread;
        let at = |value: f64, thread: usize| format!("{} ({thread})", number::quantity(value));
        lines.row(vec![
            number::quantity(spread.avg),
            table::percent(figures),
            at(spread.min, spread.min_thread),
            at(spread.median, spread.median_thread),
            at(spread.max, spread.max_thread),
            if *event == "task-clock" { "task-clock (ns)".to_owned() } else { (*event).to_owned() },
        ]);
    }
    let mut title = "Counted by the processor and the kernel (per thread, the whole run)".to_owned();
    if let Some(share) = imbalance.counted_share {
        title += &format!(", {} of the time and scaled up", number::percent(share));
    }
    format!("\n{}\n{}", paint.strong(&title), lines.render(paint))
}
