//! The comparison as a page without a script: opens from disk, needs no network, prints.

use super::{View, table, words};
use crate::html::{Still, fill};
use crate::svg::{compare as figures, escape};
use crate::{label, number};
use std::fmt::Write;
use threadtalk_crd::compare::{Figures, Judged, SectionChange, Side};

const BODY: &str = include_str!("../../assets/compare.html");
const STYLE: &str = include_str!("../../assets/compare.css");

/// The page. Pictures for the program and the first `top` regions; all regions in the table.
pub fn page(view: View, top: usize) -> String {
    let comparison = view.comparison;
    let program = &comparison.program;
    // The arguments begin with the program as it was called.
    let titles = [&program.base, &program.new].map(|side| escape(side.arguments.as_deref().unwrap_or(&side.name)));
    let (base, new) = (&program.base.figures, &program.new.figures);
    let body = fill(BODY, |name, page| match name {
        "noise" => page.push_str(&number::percent(comparison.noise)),
        "notes" => comparison.notes.iter().for_each(|note| *page += &format!("<p class=\"hint\">{}</p>", escape(note))),
        "verdict" => page.push_str(&verdict(&program.judged)),
        "followed" => page.push_str(&followed(view)),
        "program" => page.push_str(&section(view, &program.judged, (base, new), view.programs())),
        "regions" => page.push_str(&regions(view, top)),
        "details" => page.push_str(&details(view, top)),
        "sections" => page.push_str(&sections(&comparison.sections)),
        "promises" => page.push_str(&promises(view)),
        "unmatched" => {
            for (side, regions) in [("base", &comparison.unmatched.base), ("new", &comparison.unmatched.new)] {
                page.push_str(&unmatched(side, regions));
            }
        }
        other => unreachable!("the template asks for {other}"),
    });
    Still {
        title: &format!("{} and {} - threadtalk", program.base.name, program.new.name),
        heading: &titles.join(" &rarr; "),
        run: &format!("comparison of two profiles, {} and {} threads", program.base.threads, program.new.threads),
        style: STYLE,
        body: &body,
    }
    .page()
}

fn verdict(judged: &Judged) -> String {
    let word = judged.verdict.word();
    format!("<b class=\"verdict {word}\">{word}</b>")
}

/// Words, table and pictures of a region or of the program.
fn section(view: View, judged: &Judged, (base, new): (&Figures, &Figures), of: [figures::Of; 2]) -> String {
    let granule = view.granule();
    let mut out = String::from("<ul class=\"reasons\">");
    let reasons = words::reasons(granule, judged, base, new, view.comparison.noise);
    reasons.split("; ").for_each(|reason| out += &format!("<li>{}</li>", escape(reason)));
    out += "</ul><table class=\"figures\"><thead><tr><th class=\"word\">Figure</th>";
    for (column, title) in table::FIGURE_HEADINGS.iter().enumerate() {
        let _ = write!(out, "<th{}>{title}</th>", if column == 3 { " class=\"word\"" } else { "" });
    }
    out += "</tr></thead><tbody>";
    for [name, before, after, relation, effect] in table::figures(view, base, new, judged) {
        let _ = write!(
            out,
            "<tr><td class=\"word\">{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"word\"><b class=\"verdict \
             {effect}\">{effect}</b></td></tr>",
            escape(&name),
            escape(&before),
            escape(&after),
            escape(&relation)
        );
    }
    out += "</tbody></table>";
    for picture in [figures::matrices(of[0], of[1]), figures::distances(of[0], of[1])].into_iter().flatten() {
        let _ = write!(out, "<figure>{picture}</figure>");
    }
    out
}

fn regions(view: View, top: usize) -> String {
    let mut out = String::from("<table><thead><tr><th class=\"word\">Verdict</th>");
    let headings = table::HEADINGS.iter().enumerate();
    headings.for_each(|(i, title)| out += &format!("<th{}>{title}</th>", if i >= 9 { " class=\"word\"" } else { "" }));
    out += "</tr></thead><tbody>";
    for (index, change) in view.comparison.regions.iter().enumerate() {
        let _ = write!(out, "<tr><td class=\"word\">{}</td>", verdict(&change.judged));
        for (column, field) in table::row(view, change).iter().enumerate() {
            let field = escape(field);
            let _ = match column {
                9 if index < top => write!(out, "<td class=\"word\"><a href=\"#r{index}\">{field}</a></td>"),
                9.. => write!(out, "<td class=\"word\">{field}</td>"),
                _ => write!(out, "<td>{field}</td>"),
            };
        }
        out += "</tr>";
    }
    out + "</tbody></table>"
}

/// How evenly threads divide the work between meetings; nothing where it was not counted.
fn sections(changes: &[SectionChange]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let is_word = |column: usize| matches!(column, 1 | 3 | 5..);
    let class = |column: usize| if is_word(column) { " class=\"word\"" } else { "" };
    let mut out = String::from(
        "<section class=\"card\"><h2>Parallel sections</h2> <span class=\"muted\">how evenly the threads divide the \
         instructions between two meetings: 0 % is even, or work that they take as they go; at 100 % one thread does \
         all</span>\
         <div class=\"scroll\"><table><thead><tr>",
    );
    for (column, title) in table::SECTION_HEADINGS.iter().enumerate() {
        let _ = write!(out, "<th{}>{title}</th>", class(column));
    }
    out += "</tr></thead><tbody>";
    for change in changes {
        out += "<tr>";
        for (column, field) in table::section(change).iter().enumerate() {
            let field = match change.verdict.filter(|_| column == 5) {
                Some(_) => format!("<b class=\"verdict {field}\">{field}</b>"),
                None => escape(field).to_string(),
            };
            let _ = write!(out, "<td{}>{field}</td>", class(column));
        }
        out += "</tr>";
    }
    out + "</tbody></table></div></section>"
}

/// Suggestions for base that were followed, beside the verdict.
fn followed(view: View) -> String {
    let followed = table::followed(view);
    if followed.is_empty() {
        return String::new();
    }
    format!("<p><b>Suggestions followed:</b> {}</p>", escape(&followed.join(", ")))
}

/// What suggestions for base promise, and what became of it; nothing if there are none.
fn promises(view: View) -> String {
    if view.comparison.promises.is_empty() {
        return String::new();
    }
    let class = |column: usize| if matches!(column, 2 | 3) { "" } else { " class=\"word\"" };
    let mut out = String::from(
        "<section class=\"card\"><h2>What suggestions for base promise to lower</h2><div class=\"scroll\"><table>\
         <thead><tr>",
    );
    for (column, title) in table::PROMISE_HEADINGS.iter().enumerate() {
        let _ = write!(out, "<th{}>{title}</th>", class(column));
    }
    out += "</tr></thead><tbody>";
    for promise in &view.comparison.promises {
        out += "<tr>";
        for (column, field) in table::promise(view, promise).iter().enumerate() {
            let _ = write!(out, "<td{}>{}</td>", class(column), escape(field));
        }
        out += "</tr>";
    }
    out + "</tbody></table></div></section>"
}

fn details(view: View, top: usize) -> String {
    let mut out = String::new();
    for (index, change) in view.comparison.regions.iter().take(top).enumerate() {
        let of = view.regions(change);
        let _ = writeln!(
            out,
            "<article class=\"card\" id=\"r{index}\"><h2>{} {}</h2> <span class=\"muted\">{}</span>{}</article>",
            verdict(&change.judged),
            escape(&label::name(of[1].region)),
            escape(&places(of)),
            section(view, &change.judged, (&change.base.figures, &change.new.figures), of)
        );
    }
    out
}

/// Where it is; and where it was, if that is another place or name.
fn places(of: [figures::Of; 2]) -> String {
    let at = of.map(|of| format!("{} {}", label::name(of.region), label::place(of.region)));
    if at[0] == at[1] { label::place(of[1].region) } else { format!("{}, was {}", label::place(of[1].region), at[0]) }
}

fn unmatched(name: &str, sides: &[Side]) -> String {
    if sides.is_empty() {
        return String::new();
    }
    let mut out = format!(
        "<section class=\"card\"><details><summary><h2>Only in {name}</h2> <span class=\"muted\">{} regions</span></summary><ul>",
        sides.len()
    );
    for side in sides {
        let (region, place, events) = table::unmatched(side);
        let events = events.unwrap_or_else(|| "no communication".to_string());
        let _ = write!(
            out,
            "<li>{} <span class=\"muted\">{} {}</span></li>",
            escape(&region),
            escape(&place),
            escape(&events)
        );
    }
    out + "</ul></details></section>"
}
