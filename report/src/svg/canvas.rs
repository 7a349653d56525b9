//! A picture in the making: plotters draws text, lines and frames; what it has no compact form for is laid over.

use super::colour;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Text and frames.
pub const INK: RGBColor = RGBColor(26, 26, 30);
/// What matters less.
pub const FAINT: RGBColor = RGBColor(104, 104, 112);
/// Frames and grids.
pub const RULE: RGBColor = RGBColor(190, 190, 196);

/// plotters takes a font's height for its size and divides by this.
const FONT_HEIGHT: f64 = 1.24;
/// Width of a character over the font size, for fonts a little wider than most (DejaVu Sans).
const CHARACTER: f64 = 0.61;
/// How much wider bold is.
const BOLD: f64 = 1.12;

/// Which end of a text is at its position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins here.
    Start,
    /// The middle is here.
    Middle,
    /// The text ends here.
    End,
}

/// How a text looks.
#[derive(Clone, Copy)]
pub struct Font {
    size: f64,
    colour: RGBColor,
    bold: bool,
    upwards: bool,
}

impl Font {
    /// Upright, in [`INK`].
    pub const fn new(size: f64) -> Self {
        Self { size, colour: INK, bold: false, upwards: false }
    }

    /// In another colour.
    pub const fn colour(self, colour: RGBColor) -> Self {
        Self { colour, ..self }
    }

    /// Bold.
    pub const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// Read from bottom to top.
    pub const fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }

    /// Width of a text, never too small.
    pub fn width(self, text: &str) -> i32 {
        let weight = if self.bold { BOLD } else { 1.0 };
        (text.chars().count() as f64 * self.size * CHARACTER * weight).ceil() as i32
    }
}

/// A picture with its origin at the top left.
pub struct Canvas<'a> {
    backend: SVGBackend<'a>,
    overlay: &'a mut String,
}

/// Draws a picture. `title` and `description` are for screen readers and for those who hover over it.
pub fn picture(size: (u32, u32), title: &str, description: &str, draw: impl FnOnce(&mut Canvas)) -> String {
    let (mut svg, mut overlay) = (String::new(), String::new());
    {
        let mut canvas = Canvas { backend: SVGBackend::with_string(&mut svg, size), overlay: &mut overlay };
        canvas.fill((0, 0), (size.0 as i32, size.1 as i32), WHITE);
        draw(&mut canvas);
        canvas.backend.present().expect("memory takes what is written");
    }
    let head_end = svg.find("<svg").and_then(|start| svg[start..].find('>').map(|end| start + end));
    let head_end = head_end.expect("a picture begins with its element");
    let (head, body) = svg.split_at(head_end + 1);
    let body = body.trim_end().trim_end_matches("</svg>");
    let head = head.replacen("<svg", "<svg role=\"img\" class=\"picture\"", 1);
    let (title, description) = (escape(title), escape(description));
    format!("{head}\n<title>{title}</title>\n<desc>{description}</desc>{body}{overlay}</svg>\n")
}

/// Style rules for pages that hold pictures: paper, ink and frames take the page's colours, light or dark. What stands
/// in groups is laid over data (numbers in cells) and keeps its colour, as data does.
pub fn page_style() -> String {
    let [ink, faint, rule, zero, paper] = [INK, FAINT, RULE, colour::ZERO, WHITE].map(colour::hex);
    let mut style = String::from("svg.picture{display:block;height:auto;max-width:100%}\n");
    for (which, property, name) in [
        ("desc+rect".to_string(), "fill", "surface"),
        (format!("text[fill=\"{ink}\"]"), "fill", "ink"),
        (format!("text[fill=\"{faint}\"]"), "fill", "muted"),
        (format!("[stroke=\"{ink}\"]"), "stroke", "ink"),
        (format!("[stroke=\"{rule}\"]"), "stroke", "rule"),
        (format!("path[stroke=\"{paper}\"]"), "stroke", "surface"),
        (format!("rect[fill=\"{zero}\"]"), "fill", "ground"),
    ] {
        style += &format!("svg.picture>{which}{{{property}:var(--{name})}}\n");
    }
    style
}

impl Canvas<'_> {
    /// A filled rectangle.
    pub fn fill(&mut self, from: (i32, i32), to: (i32, i32), colour: RGBColor) {
        self.backend.draw_rect(from, to, &colour.filled(), true).expect("memory takes what is written");
    }

    /// A filled rectangle that lets through what is below.
    pub fn shade(&mut self, from: (i32, i32), to: (i32, i32), colour: RGBColor, opacity: f64) {
        self.backend.draw_rect(from, to, &colour.mix(opacity).filled(), true).expect("memory takes what is written");
    }

    /// A frame.
    pub fn frame(&mut self, from: (i32, i32), to: (i32, i32), colour: RGBColor) {
        self.backend.draw_rect(from, to, &colour, false).expect("memory takes what is written");
    }

    /// A line through these points.
    pub fn line(&mut self, points: &[(i32, i32)], colour: RGBColor, width: u32) {
        let style = colour.stroke_width(width);
        self.backend.draw_path(points.iter().copied(), &style).expect("memory takes what is written");
    }

    /// A filled polygon.
    pub fn polygon(&mut self, points: &[(i32, i32)], colour: RGBColor) {
        self.backend.fill_polygon(points.iter().copied(), &colour.filled()).expect("memory takes what is written");
    }

    /// A text; `at` is the middle of its height.
    pub fn text(&mut self, text: &str, at: (i32, i32), anchor: Anchor, font: Font) {
        let h = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let style = if font.bold { FontStyle::Bold } else { FontStyle::Normal };
        let mut family = FontDesc::new(FontFamily::SansSerif, font.size * FONT_HEIGHT, style);
        if font.upwards {
            family = family.transform(FontTransform::Rotate270);
        }
        let style = TextStyle::from(family).color(&font.colour).pos(Pos::new(h, VPos::Center));
        // XML forbids control characters; plotters escapes the others itself.
        let text: String = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        self.backend.draw_text(&text, &style, at).expect("memory takes what is written");
    }

    /// SVG elements above everything else.
    pub fn overlay(&mut self, svg: &str) {
        self.overlay.push_str(svg);
        self.overlay.push('\n');
    }
}

/// Text as XML takes it. Control characters, which XML forbids, become the replacement character.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\n' | '\t' => escaped.push(' '),
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
