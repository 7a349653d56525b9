//! The colours of a matrix: viridis (perceptually uniform, safe for colour-blind readers, monotonous in grey print),
//! turned round so that on paper more events mean more ink.

use plotters::style::RGBColor;

/// Nine equidistant colours of viridis, darkest first (S. van der Walt, N. Smith; CC0).
pub const VIRIDIS: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 45, 123],
    [59, 82, 139],
    [44, 114, 142],
    [33, 145, 140],
    [40, 174, 128],
    [94, 201, 98],
    [173, 220, 48],
    [253, 231, 37],
];

/// Steps of a colour bar. Equal steps make equal cells, which are drawn as one.
pub const LEVELS: usize = 64;

/// Ground of a matrix: no event at all. Lighter than the lightest step and without its hue.
pub const ZERO: RGBColor = RGBColor(246, 246, 244);

/// The step of a share of the scale, 0 to 1.
pub fn level(share: f64) -> usize {
    (share.clamp(0.0, 1.0) * (LEVELS - 1) as f64).round() as usize
}

/// The colour of a step: step 0 is the lightest.
pub fn of_level(level: usize) -> RGBColor {
    let position = (1.0 - level as f64 / (LEVELS - 1) as f64) * (VIRIDIS.len() - 1) as f64;
    let below = (position as usize).min(VIRIDIS.len() - 2);
    let part = position - below as f64;
    let mix = |channel: usize| {
        let (a, b) = (f64::from(VIRIDIS[below][channel]), f64::from(VIRIDIS[below + 1][channel]));
        (a + (b - a) * part).round() as u8
    };
    RGBColor(mix(0), mix(1), mix(2))
}

/// `#rrggbb`.
pub fn hex(colour: RGBColor) -> String {
    format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2)
}

/// True if black is readable on this colour, else white is.
pub fn is_light(colour: RGBColor) -> bool {
    // Rec. 601 weights.
    0.299 * f64::from(colour.0) + 0.587 * f64::from(colour.1) + 0.114 * f64::from(colour.2) > 140.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_darker_at_every_step() {
        let grey = |c: RGBColor| 0.299 * f64::from(c.0) + 0.587 * f64::from(c.1) + 0.114 * f64::from(c.2);
        assert!((1..LEVELS).all(|l| grey(of_level(l)) < grey(of_level(l - 1))));
        assert!(grey(ZERO) > grey(of_level(0)));
        assert_eq!(hex(of_level(LEVELS - 1)), "#440154");
    }

    #[test]
    fn shares_outside_of_the_scale_take_its_ends() {
        assert_eq!((level(-1.0), level(0.0), level(1.0), level(7.0)), (0, 0, LEVELS - 1, LEVELS - 1));
    }
}
