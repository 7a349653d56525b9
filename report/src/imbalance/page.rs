//! Imbalance as a page without a script, and as a part of the report's page.

use super::{View, calls_picture, section_picture, source, table, text, words};
use crate::html::{Still, fill};
use crate::names::short;
use crate::svg::{escape, imbalance as figures};
use crate::{fold, label, number};
use std::fmt::Write;
use threadtalk_crd::imbalance::profile::model::{Cause, Parallelism, Section, Similarity};

const BODY: &str = include_str!("../../assets/imbalance.html");
/// Looks of the parts below, here and in the report's page.
pub const STYLE: &str = include_str!("../../assets/imbalance.css");

/// Threads in the decision table.
const ROWS: usize = 64;

/// The page. Pictures for the first `top` sections.
pub fn page(view: View, top: usize) -> String {
    let program = &view.report.program;
    let body = fill(BODY, |name, page| match name {
        "parts" => *page += &part(view, top),
        other => unreachable!("the template asks for {other}"),
    });
    Still {
        title: &format!("Imbalance of {} - threadtalk", program.name),
        heading: &format!("Imbalance of {}", escape(&program.name)),
        run: &escape(program.meta.get("arguments").map_or("", String::as_str)),
        style: STYLE,
        body: &body,
    }
    .page()
}

/// All cards of the page; nothing if nothing was recorded.
pub fn part(view: View, top: usize) -> String {
    if view.is_empty() {
        return String::new();
    }
    let imbalance = view.imbalance;
    let mut out = String::new();
    let advice = words::advice(imbalance).map(|a| format!("<p class=\"hint\">{}</p>", escape(a))).unwrap_or_default();
    let (sections, silent) = words::told(imbalance);
    let shown = sections.len().min(top);
    let count = if shown < sections.len() { format!("{shown} of {}", sections.len()) } else { shown.to_string() };
    let _ = write!(
        out,
        "<section class=\"card imbalance\" id=\"imbalance\"><h2>Imbalance: parallel sections</h2> \
         <span class=\"muted\">{count}, by what balance could save. Compared: {}</span>{advice}",
        escape(&words::compared(imbalance))
    );
    if imbalance.sections.is_empty() {
        out += "<p>No parallel section was recorded.</p>";
    }
    for (index, section) in sections.iter().take(top).enumerate() {
        out += &self::section(view, &sections[..index], section);
    }
    if silent > 0 {
        let _ = write!(out, "<p class=\"muted\">Sections in which all threads did the same or nothing: {silent}.</p>");
    }
    out += "</section>";
    out += &regions(view, top);
    if let Some(picture) = calls_picture(view) {
        let _ = write!(out, "<section class=\"card imbalance\"><h2>Calls</h2><figure>{picture}</figure></section>");
    }
    out += &imbalance.similarity.as_ref().map(|s| similar(view, s)).unwrap_or_default();
    out += &imbalance.parallelism.as_ref().map(blocks).unwrap_or_default();
    out + &waits(view)
}

fn section(view: View, above: &[&Section], section: &Section) -> String {
    let open = if above.is_empty() { " open" } else { "" };
    let lost = number::seconds(section.imbalance_time);
    let mut out = format!(
        "<details class=\"section\"{open}><summary><b>{}</b> <span class=\"muted\">{}</span> \
         <b class=\"lost\">{:.1} %, {lost}</b> {}</summary>",
        escape(&words::section(section)),
        escape(&format!("{}{}", words::instances(section), words::note(section, view.imbalance, above))),
        section.imbalance_percent,
        figures::spark(&section.values)
    );
    let important: Vec<&Cause> = section.causes.iter().filter(|c| c.important()).collect();
    if let Some(how) = words::evened_out(section) {
        let _ = write!(out, "<p class=\"muted\">{}.</p>", escape(&how));
    }
    if let Some(why) = words::uninstrumented(section) {
        let _ = write!(out, "<p class=\"muted\">Compared: {}.</p>", escape(why));
    }
    if let Some(how) = words::handed_out(section) {
        let _ = write!(out, "<p class=\"muted\">Handed out: {}.</p>", escape(how));
    }
    if let Some(how) = words::taken(section) {
        let _ = write!(out, "<p class=\"muted\">Taken: {}.</p>", escape(&how));
    }
    match words::without_cause(view.imbalance, section) {
        Some(why) => out += &format!("<p class=\"muted\">Causes: {}.</p>", escape(&why)),
        None => {
            let pooled = if section.pooled { ", instances pooled" } else { "" };
            let _ = write!(
                out,
                "<p class=\"muted\">Causes, of {} threads and {} predictors{pooled}:</p>",
                section.threads, section.predictors
            );
        }
    }
    important.iter().for_each(|cause| out += &self::cause(cause));
    let others = section.causes.len() - important.len();
    if others > 0 {
        let _ = write!(out, "<p class=\"muted\">{others} more with a score of at most 0.1.</p>");
    }
    if section.kinds.len() > 1 {
        let _ = write!(out, "<p>Kinds of threads: {}</p>", escape(&words::kinds(section)));
    }
    if !section.regions.is_empty() {
        out += "<table class=\"figures\"><thead><tr><th class=\"word\">Work in</th><th class=\"word\">where</th>\
                <th>share</th><th>threads on average</th><th>RaW</th><th>RaR</th><th>CRD median</th></tr></thead><tbody>";
    }
    for share in section.regions.iter().take(6) {
        let (name, place) = view.called(share.region);
        let counts = view.region(share.region).and_then(|r| r.counts.as_deref());
        let sum = |n: Option<u64>| n.map_or("-".to_owned(), number::count);
        let crd = counts.and_then(|c| c.own.crd.as_ref()).and_then(|crd| crd.distinct.median_bytes);
        let _ = write!(
            out,
            "<tr><td class=\"word\">{}</td><td class=\"word\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&name),
            escape(&place),
            number::percent(share.share),
            text::degree(view, share.region).map_or("-".to_owned(), number::quantity),
            sum(counts.map(|c| c.raw.sum())),
            sum(counts.map(|c| c.rar.sum())),
            crd.map_or("-".to_owned(), number::bytes)
        );
    }
    if !section.regions.is_empty() {
        out += "</tbody></table>";
    }
    out + &format!("<figure>{}</figure></details>", section_picture(view, section))
}

fn cause(cause: &Cause) -> String {
    let place = words::place(cause.file.as_deref(), cause.line);
    let mut out = format!(
        "<div class=\"cause\"><b class=\"score\">{:.2}</b> <b>{}</b> in {} <span class=\"muted\">{}, {}</span> {}",
        cause.score,
        escape(&place),
        escape(&short(&cause.function)),
        words::kind(cause),
        words::probability(cause.p).replace('<', "&lt;"),
        figures::spark(&cause.counts)
    );
    if let Some(others) = words::alike(cause) {
        let _ = write!(out, "<div class=\"muted\">{}</div>", escape(&others));
    }
    let lines = source::around(cause.file.as_deref(), cause.line);
    if !lines.is_empty() {
        out += "<pre>";
        for (number, text) in lines {
            let (open, close) = if cause.line == Some(number) { ("<mark>", "</mark>") } else { ("", "") };
            let _ = writeln!(out, "{open}{number:>5}  {}{close}", escape(&text));
        }
        out += "</pre>";
    }
    out + "</div>"
}

/// One table for each metric, in groups.
fn regions(view: View, top: usize) -> String {
    let metrics = table::metrics(view.imbalance);
    if metrics.is_empty() {
        return String::new();
    }
    let mut out = "<section class=\"card imbalance\"><h2>Imbalance of regions</h2> <span class=\"muted\">by function \
                   group and function; in the region itself, and with the regions inside it</span>"
        .to_owned();
    let default = table::metric(view.imbalance);
    for metric in metrics {
        let rows = table::worst(view, metric, top);
        let (unit, threads) = (words::unit(metric), table::threads(&rows));
        let open = if metric == default { " open" } else { "" };
        let _ = write!(
            out,
            "<details{open}><summary><b>{}</b> <span class=\"muted\">{} per thread</span></summary>\
             <div class=\"scroll\"><table><thead><tr><th>share</th><th>avg</th><th>Imb. Time</th><th>Imb. Time %</th>\
             <th>% with inner</th><th>min</th><th>median</th><th>max</th><th class=\"word\">threads {}</th>\
             <th class=\"word\">region</th><th class=\"word\">where</th></tr></thead><tbody>",
            words::metric(metric),
            unit.name(),
            fold::shorten(&words::threads(&threads), text::BARS)
        );
        let mut groups: Vec<(&str, f64)> = Vec::new();
        for row in &rows {
            let group = table::group(row.region);
            match groups.iter_mut().find(|(name, _)| *name == group) {
                Some((_, share)) => *share += row.share,
                None => groups.push((group, row.share)),
            }
        }
        for (group, share) in groups {
            let _ = write!(
                out,
                "<tr class=\"group\"><td>{}</td><td colspan=\"10\">{group}</td></tr>",
                number::percent(share)
            );
            for row in rows.iter().filter(|r| table::group(r.region) == group) {
                let s = &row.figures.spread;
                let (name, place) = view.called(row.region.id);
                let at = |value: f64, thread: usize| {
                    format!("{} <span class=\"muted\">({thread})</span>", unit.write(value))
                };
                let _ = write!(
                    out,
                    "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
                     <td class=\"word\">{}</td><td class=\"word\">{}</td><td class=\"word\">{}</td></tr>",
                    number::percent(row.share),
                    unit.write(s.avg),
                    unit.write(s.imbalance.imbalance_time),
                    table::percent(row.figures),
                    table::percent(row.inclusive),
                    at(s.min, s.min_thread),
                    at(s.median, s.median_thread),
                    at(s.max, s.max_thread),
                    figures::spark(&table::values(row, &threads)),
                    escape(&name),
                    escape(&place)
                );
            }
        }
        out += "</tbody></table></div></details>";
    }
    out + "</section>"
}

fn similar(view: View, similarity: &Similarity) -> String {
    let by = words::compared_in_kinds(similarity);
    let severity = similarity.severity.map_or("without bound".to_owned(), |s| format!("{s:.6}"));
    let mut out = format!(
        "<section class=\"card imbalance\"><h2>Similarity of the threads</h2> <span class=\"muted\">by {by}</span>\
         <p>Dissimilarity severity: {severity}</p><ul>"
    );
    for (number, kind) in similarity.kinds.iter().enumerate() {
        let _ = write!(out, "<li>kind {number}: {}</li>", words::threads(kind));
    }
    out += "</ul>";
    if similarity.kinds.len() < 2 {
        return out + "</section>";
    }
    let name = |region: usize| {
        let (name, place) = view.called(region as u32);
        escape(format!("{name} {place}").trim_end())
    };
    if !similarity.ccr.is_empty() {
        out += "<p>Critical regions (without them the threads fall into other kinds; CCCR: the innermost):</p>";
    }
    out += "<ul>";
    for ccr in &similarity.ccr {
        let core = if ccr.core { " &amp; CCCR" } else { "" };
        let indent = 20 * (ccr.level - 1);
        let _ = write!(out, "<li style=\"margin-left:{indent}px\">{} ({}-CCR{core})</li>", name(ccr.region), ccr.level);
    }
    for group in &similarity.groups {
        let names: Vec<String> = group.iter().map(|&r| name(r)).collect();
        let _ = write!(out, "<li>only together: {}</li>", names.join(", "));
    }
    out += "</ul>";
    let table = &similarity.decision_table;
    if table.attributes.is_empty() {
        return out + "</section>";
    }
    out += "<details><summary>Decision table</summary><table class=\"figures\"><thead><tr><th>thread</th>";
    table.attributes.iter().for_each(|a| out += &format!("<th>{}</th>", escape(&words::attribute(a))));
    out += "<th>kind</th></tr></thead><tbody>";
    let mut ids: Vec<u32> = similarity.kinds.iter().flatten().copied().collect();
    ids.sort_unstable();
    for ((id, row), decision) in ids.iter().zip(&table.rows).zip(&table.decisions).take(ROWS) {
        let _ = write!(out, "<tr><td>{id}</td>");
        row.iter().for_each(|code| out += &format!("<td>{code}</td>"));
        let _ = write!(out, "<td>{decision}</td></tr>");
    }
    out += "</tbody></table></details>";
    let named = |&of: &usize| escape(&words::attribute(&table.attributes[of]));
    let attributes = |set: &[usize]| set.iter().map(named).collect::<Vec<_>>().join(", ");
    let reducts = &similarity.reducts;
    let core = if reducts.core.is_empty() { "none".to_owned() } else { attributes(&reducts.core) };
    let _ = write!(out, "<p>Core: {core}. The kinds differ by: <b>{}</b>.</p></section>", attributes(&reducts.chosen));
    out
}

fn blocks(parallelism: &Parallelism) -> String {
    let degree = parallelism.average_degree.map_or("-".to_owned(), number::quantity);
    let mut out = format!(
        "<section class=\"card imbalance\"><h2>Parallelism</h2> <span class=\"muted\">{degree} threads on average over \
         all executed instructions</span><table class=\"figures\"><thead><tr><th class=\"word\">class</th><th>blocks</th>\
         <th>executions</th><th>instructions</th><th>loads</th><th>stores</th><th class=\"word\">instructions by category\
         </th></tr></thead><tbody>"
    );
    for (class, mix) in &parallelism.classes {
        let shares: Vec<String> = mix
            .shares
            .iter()
            .map(|(category, share)| format!("{} {}", words::category(*category), number::percent(*share)))
            .collect();
        let _ = write!(
            out,
            "<tr><td class=\"word\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"word\">{}</td></tr>",
            format!("{class:?}").to_lowercase(),
            number::count(mix.blocks),
            number::count(mix.executions),
            number::count(mix.instructions),
            number::count(mix.loads),
            number::count(mix.stores),
            shares.join(", ")
        );
    }
    out += "</tbody></table>";
    if !parallelism.anomalous.is_empty() {
        out += "<p>Anomalous: nearly always serial, or nearly always parallel</p><ul>";
    }
    for a in &parallelism.anomalous {
        let place = words::place(a.file.as_deref(), a.line);
        let _ = write!(
            out,
            "<li>{} {}: {} serial, {} parallel executions</li>",
            escape(&short(&a.name)),
            escape(&place),
            number::count(a.serial),
            number::count(a.parallel)
        );
    }
    if !parallelism.anomalous.is_empty() {
        out += "</ul>";
    }
    for (title, by_line) in [("By function", false), ("By source line", true)] {
        if let Some(picture) = figures::heat(parallelism, by_line) {
            let open = if by_line { "" } else { " open" };
            let _ = write!(out, "<details{open}><summary>{title}</summary><figure>{picture}</figure></details>");
        }
    }
    if let Some(picture) = figures::hot_spots(parallelism) {
        let _ = write!(out, "<figure>{picture}</figure>");
    }
    out + "</section>"
}

fn waits(view: View) -> String {
    if view.imbalance.waits.is_empty() {
        return String::new();
    }
    let mut out = "<section class=\"card imbalance\"><h2>Waiting</h2> <span class=\"muted\">all threads together</span>\
                   <table class=\"figures\"><thead><tr><th>waited</th><th>times</th><th class=\"word\">for</th>\
                   <th class=\"word\">where</th><th class=\"word\">function</th><th class=\"word\">threads</th></tr></thead><tbody>"
        .to_owned();
    for wait in view.imbalance.waits.iter().take(24) {
        let place = words::place(wait.file.as_deref().map(label::base), wait.line);
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}</td><td class=\"word\">{}</td><td class=\"word\">{}</td><td class=\"word\">{}</td>\
             <td class=\"word\">{}</td></tr>",
            number::seconds(wait.seconds),
            number::count(wait.count),
            wait.kind.replace('_', " "),
            escape(&place),
            escape(&short(&wait.function)),
            words::threads(&wait.threads)
        );
    }
    out + "</tbody></table></section>"
}
