//! The F distribution's upper tail (LIME, section 3.5, the partial F test).

use statrs::function::beta::beta_reg;

/// Probability of an F of at least `f` with 1 and `freedom` degrees of freedom if the predictor means nothing.
///
/// Through the incomplete beta function of the small argument, so that it keeps its digits where it is tiny.
pub fn upper_tail(f: f64, freedom: usize) -> f64 {
    let d = freedom as f64;
    if f.is_infinite() {
        0.0
    } else if f <= 0.0 {
        1.0
    } else {
        beta_reg(d / 2.0, 0.5, d / (d + f))
    }
}
