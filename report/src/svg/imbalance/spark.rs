//! Counts of the threads as a row of small bars, for a line of text.

use std::fmt::Write;

const HEIGHT: f64 = 22.0;
const WIDTH: f64 = 180.0;

/// The bars, in the colour of the text around them; one for each value.
pub fn picture(values: &[f64]) -> String {
    let largest = values.iter().copied().fold(0.0, f64::max);
    let each = (WIDTH / values.len().max(1) as f64).min(12.0);
    let width = each * values.len() as f64;
    let mut out = format!(
        "<svg class=\"spark\" role=\"img\" width=\"{width:.0}\" height=\"{HEIGHT}\" viewBox=\"0 0 {width:.2} {HEIGHT}\">\
         <title>{} threads, largest {}</title>",
        values.len(),
        crate::number::quantity(largest)
    );
    for (index, value) in values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
        // What is there shows.
        let height = (value / largest * HEIGHT).max(1.0);
        let (x, bar) = (index as f64 * each, if each > 3.0 { each - 1.0 } else { each });
        let _ =
            write!(out, "<rect x=\"{x:.2}\" y=\"{:.2}\" width=\"{bar:.2}\" height=\"{height:.2}\"/>", HEIGHT - height);
    }
    out + "</svg>"
}
