//! Imbalance for the terminal.

use super::{View, counted, source, table, words};
use crate::names::short;
use crate::text::{Column, Paint, Style, Table};
use crate::{fold, label, number};
use std::fmt::Write;
use std::path::Path;
use threadtalk_crd::imbalance::pbv::Class;
use threadtalk_crd::imbalance::profile::fold as fold_blocks;
use threadtalk_crd::imbalance::profile::model::{Cause, Parallelism, Section, Similarity};

/// Regions that a section's work is in, by name.
const SECTION_REGIONS: usize = 3;
/// Characters of a heading that lists threads, at most.
pub const BARS: usize = 16;
/// Places of waiting that are listed.
const WAITS: usize = 8;

/// How much, how coloured, and what comes next.
pub struct Shape {
    /// Sections and regions at most.
    pub top: usize,
    /// Colours.
    pub style: Style,
    /// The next command, if there is one to name.
    pub next: Option<String>,
}

/// The whole analysis.
pub fn text(view: View, file: &Path, shape: &Shape) -> String {
    let (imbalance, paint) = (view.imbalance, shape.style);
    let mut out = String::new();
    let program = &view.report.program;
    let head = [
        ("program", program.name.clone()),
        ("profile", file.display().to_string()),
        ("compared", words::compared(imbalance)),
    ];
    for (name, value) in head {
        let _ = writeln!(out, "{} {value}", paint.faint(&format!("{name:<14}")));
    }
    if let Some(advice) = words::advice(imbalance) {
        let _ = writeln!(out, "{} {advice}", paint.loud("note          "));
    }
    out += &sections(view, shape);
    out += &regions(view, shape);
    if let Some(similarity) = &imbalance.similarity {
        out += &similar(view, similarity, paint);
    }
    if let Some(parallelism) = &imbalance.parallelism {
        out += &blocks(parallelism, shape);
    }
    out += &counted::text(view.imbalance, paint);
    out += &waits(view, paint);
    if let Some(next) = &shape.next {
        let _ = writeln!(out, "\n{} {next}", paint.faint("pictures and page:"));
    }
    out
}

fn sections(view: View, shape: &Shape) -> String {
    let (all, paint) = (&view.imbalance.sections, shape.style);
    if all.is_empty() {
        return format!("\n{}\n", paint.strong("No parallel section was recorded."));
    }
    let (told, silent) = words::told(view.imbalance);
    let shown = &told[..told.len().min(shape.top)];
    let title = format!("Parallel sections, by what balance could save ({} of {})", shown.len(), all.len());
    let mut out = format!("\n{}\n", paint.strong(&title));
    for (index, section) in shown.iter().enumerate() {
        out += &self::section(view, &shown[..index], section, paint);
    }
    if silent > 0 {
        let plural = if silent == 1 { "" } else { "s" };
        let _ = writeln!(out, "     {silent} section{plural} in which all threads did the same or nothing");
    }
    out
}

fn section(view: View, above: &[&Section], section: &Section, paint: Style) -> String {
    let mut out = String::new();
    let title = format!("{:>3}  {}", above.len() + 1, words::section(section));
    let (title, note) = (paint.strong(&title), words::note(section, view.imbalance, above));
    let _ = writeln!(out, "{title}  ({}{note})", words::instances(section));
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "     {} {value}", paint.faint(&format!("{name:<10}")));
    };
    let lost = number::seconds(section.imbalance_time);
    line("imbalance", &format!("{:.1} %, {lost}  {}", section.imbalance_percent, words::sparkline(&section.values)));
    if let Some(how) = words::evened_out(section) {
        line("", &how);
    }
    if let Some(why) = words::uninstrumented(section) {
        line("compared", why);
    }
    if section.kinds.len() > 1 {
        line("kinds", &words::kinds(section));
    }
    for share in section.regions.iter().take(SECTION_REGIONS) {
        line("work in", &region_of_section(view, share.region, share.share));
    }
    if let Some(how) = words::handed_out(section) {
        line("handed out", how);
    }
    if let Some(how) = words::taken(section) {
        line("taken", &how);
    }
    match words::without_cause(view.imbalance, section) {
        Some(why) => line("causes", &why),
        None => {
            let pooled = if section.pooled { ", instances pooled" } else { "" };
            line("causes", &format!("n = {} threads, m = {} predictors{pooled}", section.threads, section.predictors));
        }
    }
    for cause in section.causes.iter().filter(|c| c.important()) {
        out += &self::cause(cause, paint);
    }
    let others = section.causes.iter().filter(|c| !c.important()).count();
    if others > 0 {
        let _ = writeln!(out, "       {}", paint.faint(&format!("{others} more with a score of at most 0.1")));
    }
    out
}

/// One story: where the section's work is, how parallel, and what the threads tell each other there.
fn region_of_section(view: View, id: u32, share: f64) -> String {
    let (name, place) = view.called(id);
    let mut text = format!("{} {place}: {}", fold::shorten(&name, 40), number::percent(share));
    if let Some(degree) = degree(view, id) {
        let _ = write!(text, ", {} threads on average", number::quantity(degree));
    }
    if let Some(counts) = view.region(id).and_then(|r| r.counts.as_deref()) {
        let _ = write!(text, "; RaW {}, RaR {}", number::count(counts.raw.sum()), number::count(counts.rar.sum()));
        if let Some(median) = counts.own.crd.as_ref().and_then(|crd| crd.distinct.median_bytes) {
            let _ = write!(text, ", CRD median {}", number::bytes(median));
        }
    }
    text
}

/// Mean number of threads over the executions of a region's own blocks.
pub fn degree(view: View, id: u32) -> Option<f64> {
    let blocks = view.imbalance.parallelism.as_ref()?.blocks.iter().filter(|b| b.region == id);
    let (mut weighted, mut all) = (0.0, 0.0);
    for (at, count) in blocks.flat_map(|b| b.counts.iter().enumerate()) {
        weighted += (at + 1) as f64 * *count as f64;
        all += *count as f64;
    }
    (all > 0.0).then(|| weighted / all)
}

fn cause(cause: &Cause, paint: Style) -> String {
    let place = words::place(cause.file.as_deref(), cause.line);
    let what = format!("{place} in {}", short(&cause.function));
    let mut out = format!(
        "     {}  {}  {}, {}  {}\n",
        paint.loud(&format!("{:.2}", cause.score)),
        paint.strong(&what),
        words::kind(cause),
        words::probability(cause.p),
        words::sparkline(&cause.counts)
    );
    if let Some(others) = words::alike(cause) {
        let _ = writeln!(out, "          {}", paint.faint(&others));
    }
    for (number, text) in source::around(cause.file.as_deref(), cause.line) {
        let here = cause.line == Some(number);
        let line = format!("          {} {number:>5}  {}", if here { ">" } else { " " }, fold::shorten(&text, 96));
        let _ = writeln!(out, "{}", if here { line } else { paint.faint(&line) });
    }
    out
}

fn regions(view: View, shape: &Shape) -> String {
    let metric = table::metric(view.imbalance);
    let rows = table::worst(view, metric, shape.top);
    if rows.is_empty() {
        return String::new();
    }
    let (paint, unit) = (shape.style, words::unit(metric));
    let threads = table::threads(&rows);
    let shares = format!("{} %", words::metric(metric));
    let mut columns = vec![
        Column::right(&shares),
        Column::right("avg"),
        Column::right("Imb. Time"),
        Column::right("Imb. Time %"),
        Column::right("with inner"),
    ];
    let calls = rows.iter().any(|r| r.region.exclusive.contains_key("calls"));
    if calls {
        columns.push(Column::right("calls"));
    }
    columns.extend([
        Column::right("min (thread)"),
        Column::right("median"),
        Column::right("max"),
        Column::left(&format!("threads {}", fold::shorten(&words::threads(&threads), BARS))),
    ]);
    columns.extend([Column::left("region"), Column::left("where")]);
    let mut lines = Table::new(columns);
    for row in &rows {
        let spread = &row.figures.spread;
        let (name, place) = view.called(row.region.id);
        let at = |value: f64, thread: usize| format!("{} ({thread})", unit.write(value));
        let mut fields = vec![
            number::percent(row.share),
            unit.write(spread.avg),
            unit.write(spread.imbalance.imbalance_time),
            table::percent(row.figures),
            table::percent(row.inclusive),
        ];
        if calls {
            let sum = row.region.exclusive.get("calls").map(|f| f.values.iter().sum::<f64>() as u64);
            fields.push(sum.map_or("-".to_owned(), number::count));
        }
        fields.extend([
            at(spread.min, spread.min_thread),
            at(spread.median, spread.median_thread),
            at(spread.max, spread.max_thread),
            words::sparkline(&table::values(row, &threads)),
            fold::shorten(&name, 36),
            place,
        ]);
        lines.row(fields);
    }
    let title = format!("Regions by imbalance of {} ({} {})", words::metric(metric), unit.name(), "per thread");
    format!("\n{}\n{}", paint.strong(&title), lines.render(paint))
}

/// Regions of a list in one line.
const NAMED: usize = 4;
/// Critical regions, one in a line.
const CRITICAL: usize = 24;

fn similar(view: View, similarity: &Similarity, paint: Style) -> String {
    let by = words::compared_in_kinds(similarity);
    let mut out = format!("\n{}\n", paint.strong(&format!("Similarity of the threads, by {by}")));
    for (number, kind) in similarity.kinds.iter().enumerate() {
        let _ = writeln!(out, "  kind {number}: {}", words::threads(kind));
    }
    let severity = similarity.severity.map_or("without bound: a thread did nothing".to_owned(), |s| format!("{s:.6}"));
    let _ = writeln!(out, "  dissimilarity severity: {severity}");
    if similarity.kinds.len() < 2 {
        return out;
    }
    let name = |region: usize| {
        let (name, place) = view.called(region as u32);
        format!("{name} {place}").trim_end().to_owned()
    };
    let names = |regions: &[usize]| label::first_of(regions, NAMED, |region| name(*region));
    if !similarity.cccr.is_empty() {
        let _ = writeln!(out, "  CCCR: {}", names(&similarity.cccr));
    }
    for ccr in similarity.ccr.iter().take(CRITICAL) {
        let core = if ccr.core { " & CCCR" } else { "" };
        let _ = writeln!(out, "  {}{} ({}-CCR{core})", "  ".repeat(ccr.level), name(ccr.region), ccr.level);
    }
    if similarity.ccr.len() > CRITICAL {
        let _ = writeln!(out, "  {} more (--format json lists all)", similarity.ccr.len() - CRITICAL);
    }
    for group in &similarity.groups {
        let _ = writeln!(out, "    only together: {}", names(group));
    }
    let table = &similarity.decision_table;
    if table.attributes.is_empty() {
        return out;
    }
    let columns = (1..=table.attributes.len()).map(|i| Column::right(&format!("a{i}")));
    let columns = std::iter::once(Column::right("thread")).chain(columns).chain([Column::right("D")]);
    let mut lines = Table::new(columns.collect());
    let mut ids: Vec<u32> = similarity.kinds.iter().flatten().copied().collect();
    ids.sort_unstable();
    for ((id, row), decision) in ids.iter().zip(&table.rows).zip(&table.decisions).take(16) {
        let codes = row.iter().map(usize::to_string);
        lines.row(std::iter::once(id.to_string()).chain(codes).chain([decision.to_string()]).collect());
    }
    out += &lines.render(paint);
    if ids.len() > 16 {
        let _ = writeln!(out, "  {} more threads (--format json lists all)", ids.len() - 16);
    }
    for (index, attribute) in table.attributes.iter().enumerate() {
        let _ = writeln!(out, "  a{} {}", index + 1, words::attribute(attribute));
    }
    let named = |&of: &usize| words::attribute(&table.attributes[of]);
    let attributes = |set: &[usize]| set.iter().map(named).collect::<Vec<_>>().join(", ");
    let reducts = &similarity.reducts;
    let core = if reducts.core.is_empty() { "none".to_owned() } else { attributes(&reducts.core) };
    let _ = writeln!(out, "  core: {core}; the kinds differ by: {}", attributes(&reducts.chosen));
    if reducts.inconsistent > 0 {
        let _ = writeln!(out, "  {} pairs of threads of different kinds differ in none of these", reducts.inconsistent);
    }
    if !similarity.left_out.is_empty() {
        let left_out: Vec<_> = similarity.left_out.iter().map(|of| words::attribute(of)).collect();
        let _ = writeln!(out, "  left out, as they differ least: {}", left_out.join(", "));
    }
    out
}

fn blocks(parallelism: &Parallelism, shape: &Shape) -> String {
    let paint = shape.style;
    let counting = if parallelism.counting == Default::default() { "nominal" } else { "effective" };
    let degree = parallelism.average_degree.map_or("-".to_owned(), number::quantity);
    let title =
        format!("Basic blocks by number of threads ({counting}); {degree} threads on average over all instructions");
    let mut out = format!("\n{}\n", paint.strong(&title));
    let names = ["class", "blocks", "executions", "instructions", "loads", "stores", "most common instructions"];
    let align = |(i, name): (usize, &&str)| if i == 0 || i == 6 { Column::left(name) } else { Column::right(name) };
    let mut lines = Table::new(names.iter().enumerate().map(align).collect());
    for (class, mix) in &parallelism.classes {
        let mut shares: Vec<(String, f64)> =
            mix.shares.iter().map(|(c, s)| (words::category(*c).to_owned(), *s)).filter(|(_, s)| *s > 0.0).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        let shares: Vec<String> = shares.iter().take(4).map(|(c, s)| format!("{c} {}", number::percent(*s))).collect();
        lines.row(vec![
            format!("{class:?}").to_lowercase(),
            number::count(mix.blocks),
            number::count(mix.executions),
            number::count(mix.instructions),
            number::count(mix.loads),
            number::count(mix.stores),
            shares.join(", "),
        ]);
    }
    out += &lines.render(paint);
    for side in ["serial", "parallel"] {
        let curve = &parallelism.hot_spots[side];
        if let Some(point) = curve.iter().find(|p| p.executions >= 0.9) {
            let blocks = (point.blocks * curve.len() as f64).round();
            let _ = writeln!(out, "  {blocks} of {} {side} blocks make up 90 % of the {side} executions", curve.len());
        }
    }
    let names = ["executions", "class", "threads", "at 1, 2, ... threads", "line", "function"];
    let align = |(i, name): (usize, &&str)| if i == 0 || i == 2 { Column::right(name) } else { Column::left(name) };
    let mut lines = Table::new(names.iter().enumerate().map(align).collect());
    for row in fold_blocks(&parallelism.blocks, true).iter().filter(|r| r.of.class != Class::Never).take(shape.top) {
        let counts: Vec<f64> = row.of.counts.iter().map(|&c| c as f64).collect();
        lines.row(vec![
            number::count(row.of.counts.iter().sum()),
            format!("{:?}", row.of.class).to_lowercase(),
            row.of.average_degree.map_or("-".to_owned(), number::quantity),
            words::sparkline(&counts),
            words::place(row.file.as_deref(), row.line),
            fold::shorten(&short(&row.function), 40),
        ]);
    }
    out += &lines.render(paint);
    for a in &parallelism.anomalous {
        let place = words::place(a.file.as_deref(), a.line);
        let (serial, parallel) = (number::count(a.serial), number::count(a.parallel));
        let _ = writeln!(
            out,
            "  {} {} {place}: {serial} executions serial, {parallel} parallel",
            paint.loud("anomalous:"),
            short(&a.name)
        );
    }
    out
}

fn waits(view: View, paint: Style) -> String {
    let all = &view.imbalance.waits;
    if all.is_empty() {
        return String::new();
    }
    let mut lines = Table::new(vec![
        Column::right("waited"),
        Column::right("times"),
        Column::left("for"),
        Column::left("where"),
        Column::left("function"),
        Column::left("threads"),
    ]);
    for wait in all.iter().take(WAITS) {
        lines.row(vec![
            number::seconds(wait.seconds),
            number::count(wait.count),
            wait.kind.replace('_', " "),
            words::place(wait.file.as_deref().map(label::base), wait.line),
            fold::shorten(&short(&wait.function), 36),
            words::threads(&wait.threads),
        ]);
    }
    let title = format!("Waiting, all threads together ({} of {} places)", all.len().min(WAITS), all.len());
    format!("\n{}\n{}", paint.strong(&title), lines.render(paint))
}
