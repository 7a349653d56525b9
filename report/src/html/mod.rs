//! One page with everything in it: opens from disk, needs no network, draws what is looked at.
//!
//! The parts are under `assets`; the analysis travels in a compact form ([`payload`]) inside the page.

mod cells;
mod payload;
pub(crate) mod source;

use crate::{imbalance, json, output, svg};
use std::io::{self, BufWriter, Write};
use threadtalk_crd::model::Report;

/// Bytes that are written at once.
const BUFFER: usize = 1 << 16;
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
    output::in_memory(|out| write_with(report, "", out))
}

/// Writes the page with the imbalance of the same run, if it was recorded. Pictures for the first `top` sections.
///
/// # Errors
/// Those of `out`.
pub fn write(view: imbalance::View, top: usize, out: impl Write) -> io::Result<()> {
    write_with(view.report, &imbalance::part(view, top), out)
}

fn write_with(report: &Report, parts: &str, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, out);
    for piece in pieces(TEMPLATE) {
        match piece {
            Piece::Text(text) => out.write_all(text.as_bytes())?,
            Piece::Name("title") => write!(out, "{}", svg::escape(&format!("{} - threadtalk", report.program.name)))?,
            Piece::Name("style") => {
                for style in STYLES.iter().chain(&FIGURE_STYLES).chain([&imbalance::STYLE]) {
                    out.write_all(style.as_bytes())?;
                }
                out.write_all(svg::page_style().as_bytes())?;
            }
            Piece::Name("imbalance") => out.write_all(parts.as_bytes())?,
            Piece::Name("version") => out.write_all(env!("CARGO_PKG_VERSION").as_bytes())?,
            Piece::Name("phases") => out.write_all(phases(report).as_bytes())?,
            Piece::Name("data") => json::embed(&payload::of(report), &mut out)?,
            Piece::Name("script") => SCRIPTS.iter().try_for_each(|script| out.write_all(script.as_bytes()))?,
            Piece::Name(other) => unreachable!("the template asks for {other}"),
        }
    }
    out.flush()
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

/// A part of a template.
enum Piece<'a> {
    /// To be taken as it is.
    Text(&'a str),
    /// The name between `{{` and `}}`.
    Name(&'a str),
}

/// The parts of a template in order.
fn pieces(template: &str) -> impl Iterator<Item = Piece<'_>> {
    template.split("{{").enumerate().flat_map(|(index, part)| {
        let (name, text) = match index {
            0 => (None, part),
            _ => {
                part.split_once("}}").map(|(name, text)| (Some(name), text)).expect("the template closes what it opens")
            }
        };
        name.map(Piece::Name).into_iter().chain([Piece::Text(text)])
    })
}

/// A template with `put` in the place of each `{{name}}`. One pass: what is put in is not looked through again.
pub fn fill(template: &str, put: impl Fn(&str, &mut String)) -> String {
    let mut page = String::new();
    for piece in pieces(template) {
        match piece {
            Piece::Text(text) => page.push_str(text),
            Piece::Name(name) => put(name, &mut page),
        }
    }
    page
}
