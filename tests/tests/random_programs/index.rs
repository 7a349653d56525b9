//! Indices: sums of multiples of loops' variables that stay within what a pointer may reach.

use crate::memory::REACH;
use crate::one_of;
use fastrand::Rng;
use std::fmt;

/// A loop's variable.
#[derive(Clone, Debug)]
pub struct Counter {
    pub name: String,
    /// It is below this, and never negative.
    pub most: i64,
    /// How often its loop runs at most, or usually.
    pub rounds: i64,
    /// Whether each of its loop's rounds may be left early by `continue`.
    pub may_continue: bool,
}

impl Counter {
    /// One that counts the rounds.
    pub fn plain(name: String, most: i64) -> Self {
        Counter { name, most, rounds: most, may_continue: true }
    }
}

/// An index.
pub struct Place {
    first: i64,
    factors: Vec<(i64, String)>,
    /// How it is written: as a sum, reduced to the first elements, or in 32 bits without a sign.
    shape: Shape,
}

enum Shape {
    Sum,
    Wrapped(i64),
    Unsigned,
}

impl Place {
    /// One of the loops around it, which goes through rows if it is orderly.
    pub fn random(random: &mut Rng, counters: &[Counter], orderly: bool) -> Place {
        let (mut lowest, mut highest, mut factors) = (0, 0, Vec::new());
        for (from_inside, counter) in counters.iter().rev().enumerate() {
            let choices: &[i64] = match (from_inside, orderly) {
                (0, true) => &[1, 1, 1, 1, 1, 1, 2, 0],
                (0, false) => &[1, 1, 1, 1, 1, 2, 2, 3, -1, 4, 8, 17, 0],
                (_, true) => &[0, 0, 1, 16, 33, 64, 128],
                (_, false) => &[0, 0, 1, 1, 2, 8, 16, 33, -1, -16, 64],
            };
            let factor = one_of(random, choices);
            let (low, high) = (lowest + (factor * counter.most).min(0), highest + (factor * counter.most).max(0));
            if high - low < REACH {
                (lowest, highest) = (low, high);
                if factor != 0 {
                    factors.push((factor, counter.name.clone()));
                }
            }
        }
        let shape = match if orderly { 12 } else { random.u8(0..12) } {
            0 => Shape::Wrapped(one_of(random, &[2, 7, 16, 64])),
            1 => Shape::Unsigned,
            _ => Shape::Sum,
        };
        Place { first: -lowest + random.i64(0..5), factors, shape }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut sum = self.first.to_string();
        for (factor, name) in self.factors.iter().rev() {
            let product = if factor.abs() == 1 { name.clone() } else { format!("{} * {name}", factor.abs()) };
            sum += if *factor < 0 { " - " } else { " + " };
            sum += &product;
        }
        match self.shape {
            Shape::Sum => f.write_str(&sum),
            Shape::Wrapped(length) => write!(f, "({sum}) % {length}"),
            Shape::Unsigned => write!(f, "(unsigned)({sum})"),
        }
    }
}
