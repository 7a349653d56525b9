//! Laws and crossings in words.

use crate::{label, number};
use threadtalk_crd::scaling::{Crossing, Growth, Law, Method, RegionScaling, Scaling, Seen};

/// `loop in update`, or the program's name.
pub fn title(scaling: &Scaling, region: &RegionScaling) -> String {
    match region.kind {
        "program" => scaling.program.clone(),
        kind => label::called(kind, &region.name),
    }
}

/// `lu.c:650`, or nothing.
pub fn place(region: &RegionScaling) -> String {
    match (&region.file, region.line) {
        (Some(file), Some(line)) => format!("{}:{line}", label::base(file)),
        (Some(file), None) => label::base(file).to_string(),
        _ => String::new(),
    }
}

/// `~ n^1.5 log n (error 2 %)`, `constant`, `not measured`.
pub fn law(growth: &Growth) -> String {
    match &growth.law {
        None if growth.values.iter().flatten().next().is_none() => "not measured".to_string(),
        None => "no law".to_string(),
        Some(law) => match (law.method, law.error) {
            (Method::Constant, _) => "constant".to_string(),
            (Method::TwoPoints, _) => format!("{} (two points)", term(law)),
            (Method::Fitted, error) => format!("{} (error {})", term(law), number::percent(error.unwrap_or(0.0))),
        },
    }
}

/// The term that changes, without its factor.
fn term(law: &Law) -> String {
    let power = match law.exponent {
        0.0 => String::new(),
        1.0 => "n".to_string(),
        other => format!("n^{}", number::quantity(other)),
    };
    let log = match law.log_exponent {
        0.0 => "",
        1.0 => "log n",
        _ => "log\u{b2} n",
    };
    let how = match (law.factor < 0.0, law.exponent < 0.0) {
        (false, _) => "~",
        (true, false) => "falls by",
        (true, true) => "levels off by",
    };
    format!("{how} {power} {log}").trim().replace("  ", " ")
}

/// `at 1.2k`, `at 5k (predicted)`, `always`, `never`.
pub fn crossing(crossing: &Crossing) -> String {
    match (crossing.seen, crossing.at) {
        (Seen::Measured, Some(at)) => format!("from {}", number::quantity(at)),
        (Seen::Predicted, Some(at)) => format!("from {} (predicted)", number::quantity(at)),
        (Seen::Always, _) => "at all sizes".to_string(),
        _ => "at no size".to_string(),
    }
}
