//! One page with everything in it: opens from disk, needs no network, draws what is looked at.
//!
//! The parts are under `assets`; the analysis travels in a compact form ([`payload`]) inside the page.

mod payload;
pub(crate) mod source;

use crate::{imbalance, svg};
use threadtalk_crd::model::Report;

const TEMPLATE: &str = include_str!("../../assets/page.html");
/// The frame of pages without a script.
const STILL: &str = include_str!("../../assets/still.html");
/// Looks of all pages.
const STYLES: [&str; 3] = [
    include_str!("../../assets/tokens.css"),
    include_str!("../../assets/page.css"),
    include_str!("../../assets/table.css"),
];
/// Looks of the figures that the script draws, and of small screens and paper.
const FIGURE_STYLES: [&str; 3] = [
    include_str!("../../assets/figure.css"),
    include_str!("../../assets/detail.css"),
    include_str!("../../assets/media.css"),
];
const SCRIPTS: [&str; 11] = [
    include_str!("../../assets/format.js"),
    include_str!("../../assets/shape.js"),
    include_str!("../../assets/tip.js"),
    include_str!("../../assets/model.js"),
    include_str!("../../assets/scale.js"),
    include_str!("../../assets/matrix.js"),
    include_str!("../../assets/histogram.js"),
    include_str!("../../assets/table.js"),
    include_str!("../../assets/advice.js"),
    include_str!("../../assets/detail.js"),
    include_str!("../../assets/main.js"),
];

/// A page without a script: opens from disk, needs no network, prints. Heading, run and body are markup.
pub struct Still<'a> {
    /// Of the window, as text.
    pub title: &'a str,
    /// What it shows.
    pub heading: &'a str,
    /// Of which run.
    pub run: &'a str,
    /// Looks beyond those of all pages.
    pub style: &'a str,
    /// Everything else.
    pub body: &'a str,
}

impl Still<'_> {
    /// The page.
    pub fn page(&self) -> String {
        fill(STILL, |name, page| match name {
            "title" => *page += &svg::escape(self.title),
            "style" => {
                STYLES.iter().chain([&self.style]).for_each(|style| page.push_str(style));
                *page += &svg::page_style();
            }
            "heading" => page.push_str(self.heading),
            "run" => page.push_str(self.run),
            "body" => page.push_str(self.body),
            "version" => page.push_str(env!("CARGO_PKG_VERSION")),
            other => unreachable!("the template asks for {other}"),
        })
    }
}

/// The page of what threads tell each other.
pub fn page(report: &Report) -> String {
    page_with(report, "")
}

/// The page with the imbalance of the same run, if it was recorded. Pictures for the first `top` sections.
pub fn page_of_both(view: imbalance::View, top: usize) -> String {
    page_with(view.report, &imbalance::part(view, top))
}

fn page_with(report: &Report, parts: &str) -> String {
    let data = payload::of(report);
    let data = serde_json::to_string(&data).expect("the page's data holds nothing that JSON cannot");
    fill(TEMPLATE, |name, page| match name {
        "title" => page.push_str(&svg::escape(&format!("{} - threadtalk", report.program.name))),
        "style" => {
            STYLES.iter().chain(&FIGURE_STYLES).chain([&imbalance::STYLE]).for_each(|style| page.push_str(style));
            *page += &svg::page_style();
        }
        "imbalance" => page.push_str(parts),
        "version" => page.push_str(env!("CARGO_PKG_VERSION")),
        "phases" => page.push_str(&phases(report)),
        "data" => push_json(&data, page),
        "script" => SCRIPTS.iter().for_each(|script| page.push_str(script)),
        other => unreachable!("the template asks for {other}"),
    })
}

/// The picture of the phases in a card of its own, if there is one.
fn phases(report: &Report) -> String {
    let card = |picture| {
        let title = "<h2 id=\"phases-title\">Phases</h2>";
        format!(
            "<section class=\"card\" id=\"phases\" aria-labelledby=\"phases-title\">{title}<div \
             class=\"scroll\">{picture}</div></section>"
        )
    };
    svg::phases(report).map(card).unwrap_or_default()
}

/// A template with `put` in the place of each `{{name}}`. One pass: what is put in is not looked through again.
pub fn fill(template: &str, put: impl Fn(&str, &mut String)) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let (before, tail) = rest.split_at(start);
        let end = tail.find("}}").expect("the template closes what it opens");
        page.push_str(before);
        put(&tail[2..end], &mut page);
        rest = &tail[end + 2..];
    }
    page.push_str(rest);
    page
}

/// JSON that no HTML parser mistakes for markup: `</script>` and `<!--` need their `<`.
fn push_json(json: &str, page: &mut String) {
    for (index, part) in json.split('<').enumerate() {
        if index > 0 {
            page.push_str("\\u003c");
        }
        page.push_str(part);
    }
}
