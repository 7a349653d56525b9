//! Pictures of imbalance: threads of a section or region, the call graph with load balance boxes, block vectors.

mod calls;
mod distribution;
mod heat;
mod hot_spots;
mod spark;

pub use calls::picture as calls;
pub use distribution::{Bars, picture as distribution};
pub use heat::picture as heat;
pub use hot_spots::picture as hot_spots;
pub use spark::picture as spark;

use plotters::style::RGBColor;

/// The average, as in DeRose et al., Figure 3.
const AVERAGE: RGBColor = RGBColor(38, 96, 140);
/// The minimum, there.
const MINIMUM: RGBColor = RGBColor(142, 190, 220);
/// What is above: the imbalance.
const EXCESS: RGBColor = RGBColor(244, 208, 96);
