//! The scalability analysis for the terminal.

use super::words;
use crate::text::{Column, Paint, Style, Table};
use crate::{fold, number};
use std::fmt::Write;
use threadtalk_crd::scaling::{Bound, Growth, RegionScaling, Scaling};

/// The whole analysis, with `top` regions at most.
pub fn text(scaling: &Scaling, top: usize, paint: Style) -> String {
    let mut out = String::new();
    let sizes: Vec<String> = scaling.sizes.iter().map(|n| number::quantity(*n)).collect();
    let _ = writeln!(out, "{} {}", paint.faint("program  "), scaling.program);
    let _ = writeln!(out, "{} {}: {}", paint.faint("n        "), scaling.axis, sizes.join(", "));
    for note in &scaling.notes {
        let _ = writeln!(out, "{} {note}", paint.loud("note     "));
    }
    let _ = writeln!(out, "\n{}", paint.strong("Program (all events)"));
    out += &figures(&scaling.total, paint);
    let shown = &scaling.regions[..scaling.regions.len().min(top)];
    if shown.is_empty() {
        out += "\nNo region communicates.\n";
        return out;
    }
    let mut columns = vec![Column::left("RaW"), Column::left("RaR"), Column::left("median CRD")];
    let levels: Vec<u8> = scaling.caches.iter().map(|cache| cache.level).collect();
    columns.extend(levels.iter().map(|level| Column::left(&format!("L{level} misses"))));
    columns.extend([Column::left("region"), Column::left("where")]);
    let mut table = Table::new(columns);
    for region in shown {
        let mut row: Vec<String> = [&region.raw, &region.rar, &region.crd_median].map(words::law).to_vec();
        row.extend(levels.iter().map(|level| certain(region, *level)));
        row.push(fold::shorten(&words::title(scaling, region), 36));
        row.push(words::place(region));
        table.row(row);
    }
    let title =
        format!("Regions, those that outgrow the caches first in front ({} of {})", shown.len(), scaling.regions.len());
    let _ = write!(out, "\n{}\n{}", paint.strong(&title), table.render(paint));
    out
}

fn certain(region: &RegionScaling, level: u8) -> String {
    let found = region.crossings.iter().find(|c| c.level == level && c.cutoff == Bound::Max);
    found.map_or("-".to_string(), words::crossing)
}

fn figures(region: &RegionScaling, paint: Style) -> String {
    let columns = vec![Column::left(""), Column::right("smallest"), Column::right("largest"), Column::left("grows")];
    let mut table = Table::new(columns);
    let count = |value: f64| number::count(value.round() as u64);
    let mut row = |title: &str, growth: &Growth, shown: &dyn Fn(f64) -> String| {
        let end = |value: Option<&Option<f64>>| value.copied().flatten().map_or("-".to_string(), shown);
        let ends = [end(growth.values.first()), end(growth.values.last())];
        table.row([title.to_string()].into_iter().chain(ends).chain([words::law(growth)]).collect());
    };
    row("RaW", &region.raw, &count);
    row("RaR", &region.rar, &count);
    row("median CRD", &region.crd_median, &number::bytes);
    row("p90 CRD", &region.crd_p90, &number::bytes);
    table.render(paint)
}
