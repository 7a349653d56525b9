//! The coloured cells of a matrix in few bytes: one path for each colour, a stroke for each run of equal neighbours.
//!
//! Rectangles would take 85 bytes a cell, 17 MB for three matrices of 256 threads. Here a cell takes 7 at worst.

use super::colour;
use std::fmt::Write;

/// A coloured cell: column, row, step of the colour bar.
pub type Coloured = (u32, u32, usize);

/// An SVG group with its origin at `at` and cells of `side` pixels. `cells` come by row, then column.
pub fn group(cells: &[Coloured], at: (i32, i32), side: i32) -> String {
    let mut paths = vec![Path::default(); colour::LEVELS];
    let mut rest = cells;
    while let Some(&(column, row, level)) = rest.first() {
        let run = (0u32..).zip(rest).take_while(|(i, cell)| **cell == (column + i, row, level)).count();
        paths[level].stroke(column, row, run as u32);
        rest = &rest[run..];
    }
    let (x, y) = at;
    let mut svg = format!(
        "<g transform=\"translate({x} {y}) scale({side}) translate(0 .5)\" fill=\"none\" stroke-width=\"1\" \
         shape-rendering=\"crispEdges\">\n"
    );
    for (level, path) in paths.iter().enumerate().filter(|(_, path)| !path.data.is_empty()) {
        let hex = colour::hex(colour::of_level(level));
        let _ = writeln!(svg, "<path stroke=\"{hex}\" d=\"{}\"/>", path.data);
    }
    svg.push_str("</g>");
    svg
}

/// Strokes with relative moves, which are shorter than absolute ones.
#[derive(Clone, Default)]
struct Path {
    data: String,
    /// Where the last stroke ended.
    pen: (i64, i64),
}

impl Path {
    fn stroke(&mut self, column: u32, row: u32, run: u32) {
        let (x, y) = (i64::from(column), i64::from(row));
        let (dx, dy) = (x - self.pen.0, y - self.pen.1);
        // A minus sign separates as well as a space does.
        let gap = if dy < 0 { "" } else { " " };
        let _ = write!(self.data, "m{dx}{gap}{dy}h{run}");
        self.pen = (x + i64::from(run), y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_become_one_stroke() {
        let svg = group(&[(1, 0, 5), (2, 0, 5), (3, 0, 6), (0, 2, 5)], (10, 20), 4);
        assert_eq!(svg.matches("<path").count(), 2);
        assert!(svg.contains("d=\"m1 0h2m-3 2h1\""), "{svg}");
        assert!(svg.contains("d=\"m3 0h1\""), "{svg}");
        assert!(svg.contains("translate(10 20) scale(4)"), "{svg}");
    }

    #[test]
    fn noise_of_256_threads_stays_small() {
        let level = |x: u32, y: u32| (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503)) as usize % colour::LEVELS;
        let cells: Vec<Coloured> = (0..256).flat_map(|y| (0..256).map(move |x| (x, y, level(x, y)))).collect();
        assert!(group(&cells, (0, 0), 2).len() < 600_000);
    }
}
