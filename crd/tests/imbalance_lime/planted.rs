//! Planted causes: the planted line is first with a score near 1, nothing else is above 0.1.
//!
//! With 8 threads that cannot hold of every seed: one of 40 sides of random branches goes along with the cause at r >=
//! 0.9 by chance in some 5 of 100, and is then taken for a part of it. From 16 threads on it must hold of all.

use super::synthetic::{PLANTS, Plant, section};
use threadtalk_crd::imbalance::lime::{Options, analyse};

const SEEDS: u64 = 25;
const BRANCHES: usize = 20;

/// Reported and planted, reported and not planted, planted and not reported.
#[derive(Default)]
struct Tally {
    right: usize,
    wrong: usize,
    missed: usize,
}

impl Tally {
    /// Precision and recall; 1 of nothing.
    fn show(&self) -> (f64, f64) {
        let share = |of: usize| if self.right + of == 0 { 1.0 } else { self.right as f64 / (self.right + of) as f64 };
        (share(self.wrong), share(self.missed))
    }
}

#[test]
fn planted_causes_are_found_and_nothing_else() {
    let mut all = Tally::default();
    println!("threads  plant     precision  recall  wrong  lowest score");
    for threads in [8, 16, 32, 64] {
        for plant in PLANTS {
            let mut tally = Tally::default();
            let mut lowest = f64::INFINITY;
            for seed in 0..SEEDS {
                let (section, planted) = section(seed * 1000 + threads as u64, threads, BRANCHES, plant);
                let result = analyse(&section, &Options::default());
                for cause in &planted {
                    let same = |i: &usize| (result.causes[*i].kind, result.causes[*i].location) == *cause;
                    // Of two planted causes one is first and the other second.
                    let first = (0..planted.len().min(result.causes.len())).find(same);
                    match first.map(|i| &result.causes[i]).filter(|c| c.important()) {
                        Some(cause) => {
                            tally.right += 1;
                            lowest = lowest.min(cause.score);
                        }
                        None => tally.missed += 1,
                    }
                }
                let wrong = result.causes.iter().filter(|c| c.important() && !planted.contains(&(c.kind, c.location)));
                tally.wrong += wrong.count();
            }
            let (precision, recall) = tally.show();
            if plant == Plant::Nothing {
                assert_eq!(tally.wrong, 0, "a balanced program has no cause");
            } else {
                println!("{threads:>7}  {plant:<8?}  {precision:>9.3}  {recall:>6.3}  {:>5}  {lowest:.3}", tally.wrong);
            }
            if threads > 8 {
                assert_eq!((precision, recall), (1.0, 1.0), "{plant:?} {threads}");
            }
            if !matches!(plant, Plant::Two | Plant::Nothing) {
                assert!(lowest > 0.9, "{plant:?} {threads}: {lowest}");
            }
            all.right += tally.right;
            all.wrong += tally.wrong;
            all.missed += tally.missed;
        }
    }
    let (precision, recall) = all.show();
    println!("all: {} planted causes, precision {precision:.4}, recall {recall:.4}", all.right + all.missed);
    assert!(precision > 0.97 && recall > 0.99);
}
