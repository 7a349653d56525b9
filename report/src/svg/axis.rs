//! Names of threads along the sides of a matrix.

use super::canvas::{Anchor, Canvas, FAINT, Font};

/// Pixels that a name takes across its direction. Smaller cells have no name each.
const LINE: i32 = 13;

/// Names of threads and how they are written.
pub struct Axis<'a> {
    labels: &'a [String],
    font: Font,
}

impl<'a> Axis<'a> {
    /// An axis with these names.
    pub fn new(labels: &'a [String]) -> Self {
        Self { labels, font: Font::new(11.0).colour(FAINT) }
    }

    /// Which labels are written, and how: all with names, or some by number.
    fn written(&self, side: i32) -> Vec<(usize, String)> {
        let count = self.labels.len();
        if side >= LINE {
            return self.labels.iter().cloned().enumerate().collect();
        }
        let least = (LINE * 2).div_euclid(side.max(1)).max(1) as usize;
        let step = [1, 2, 4, 8, 16, 32, 64].into_iter().find(|step| *step >= least).unwrap_or(64);
        // A name at every so manieth row says nothing about those between: numbers do.
        let short = |label: &str| label.split(' ').next().unwrap_or(label).to_string();
        (0..count).step_by(step).map(|index| (index, short(&self.labels[index]))).collect()
    }

    /// Pixels that the names take in their direction.
    pub fn extent(&self, side: i32) -> i32 {
        self.written(side).iter().map(|(_, label)| self.font.width(label)).max().unwrap_or(0) + 6
    }

    /// Writes the names of the rows, ending at `x`.
    pub fn rows(&self, canvas: &mut Canvas, (x, y): (i32, i32), side: i32) {
        for (index, label) in self.written(side) {
            canvas.text(&label, (x - 5, y + index as i32 * side + side / 2), Anchor::End, self.font);
        }
    }

    /// Writes the names of the columns below `y`, upright where they fit and turned where not.
    pub fn columns(&self, canvas: &mut Canvas, (x, y): (i32, i32), side: i32) {
        let flat = self.flat(side);
        for (index, label) in self.written(side) {
            let middle = x + index as i32 * side + side / 2;
            if flat {
                canvas.text(&label, (middle, y + 10), Anchor::Middle, self.font);
            } else {
                canvas.text(&label, (middle, y + 5), Anchor::End, self.font.upwards());
            }
        }
    }

    /// Pixels below the matrix that the names of the columns take.
    pub fn depth(&self, side: i32) -> i32 {
        if self.flat(side) { 20 } else { self.extent(side) + 4 }
    }

    fn flat(&self, side: i32) -> bool {
        let written = self.written(side);
        let room = match written.get(1) {
            Some((second, _)) => *second as i32 * side,
            None => side,
        };
        self.extent(side) < room
    }
}
