//! Pictures of two profiles: matrices side by side on one scale, reuse distances over each other.

mod distances;
mod matrices;

pub use distances::picture as distances;
pub use matrices::picture as matrices;

use super::canvas::{Canvas, FAINT};
use crate::label;
use plotters::style::RGBColor;
use threadtalk_crd::model::{Region, Report};

/// A region in its report.
#[derive(Clone, Copy)]
pub struct Of<'a> {
    /// The report.
    pub report: &'a Report,
    /// The region.
    pub region: &'a Region,
}

impl Of<'_> {
    /// `bmod lu.c:10-20, lu`, or the program's name.
    fn title(&self) -> String {
        let program = &self.report.program.name;
        if self.region.parent.is_none() {
            return program.clone();
        }
        format!("{}  \u{b7}  {program}", label::located(self.region))
    }
}

/// The base in overlaid figures: grey, as none of the caches is.
const BASE: RGBColor = RGBColor(138, 142, 154);
/// The new one in overlaid figures; darker, so that it stands before the base in print as well.
const NEW: RGBColor = RGBColor(38, 96, 140);

/// The two titles of a picture's head, one under the other.
fn names(canvas: &mut Canvas, left: i32, y: i32, base: &Of, new: &Of) {
    use super::canvas::{Anchor, Font};
    for (row, name, side) in [(0, "base", base), (1, "new", new)] {
        let y = y + row * 17;
        canvas.text(name, (left, y), Anchor::Start, Font::new(12.0).bold());
        let text = crate::fold::shorten(&side.title(), 84);
        canvas.text(&text, (left + 42, y), Anchor::Start, Font::new(12.0).colour(FAINT));
    }
}
