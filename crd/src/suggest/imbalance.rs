//! Load imbalance: threads wait for the slowest one at the end of a parallel section, and a branch or loop explains why
//! it has more to do. Known where control flow was counted. Threads that take the next piece of work when they have
//! finished one are no such thing.

use super::{Case, Rule, Threshold, evidence, place};
use crate::imbalance::profile::model::{self, Cause, Section};
use crate::imbalance::profile::observed::HandedOut;
use crate::model::{Lowers, Means, Position, Promise, Suggestion, SuggestionKind};
use threadtalk_profile::layout::LevelKind;

pub(super) const RULE: Rule = Rule {
    name: "load-imbalance",
    thresholds: &[
        Threshold {
            name: "percent",
            default: 20.0,
            meaning: "imbalance percentage of the section: 0 = even, 100 = one thread does all",
        },
        Threshold {
            name: "share",
            default: 0.1,
            meaning: "part that the section has in the CPU time of all sections that hold no others",
        },
        Threshold { name: "run", default: 0.01, meaning: "part of the run's time that perfect balance could save" },
        Threshold {
            name: "score",
            default: 0.1,
            meaning: "score of the cause: about the part of the imbalance that it explains",
        },
        Threshold {
            name: "alone",
            default: 2.0,
            meaning: "how many times the second largest count the largest is where one thread alone is late",
        },
    ],
    find,
};

fn find(case: &Case<'_>) -> Option<Suggestion> {
    let sections = case.facts.sections;
    let section = model::most_to_save(sections)?;
    if section.regions.first()?.region != case.region.id {
        return None;
    }
    let cpu = |s: &Section| s.cpu.iter().sum::<f64>();
    let share = cpu(section) / model::divided(sections).map(cpu).sum::<f64>();
    let cause = section.causes.first()?;
    let is_enough = section.imbalance_percent >= case.threshold(&RULE, "percent")
        && share >= case.threshold(&RULE, "share")
        && section.imbalance_time >= case.threshold(&RULE, "run") * run_seconds(case)
        && cause.score >= case.threshold(&RULE, "score");
    if !is_enough {
        return None;
    }
    let (begin, line) = (position(&section.file, section.line), position(&cause.file, cause.line));
    let remedy = remedy(case, section, cause);
    Some(Suggestion {
        rule: RULE.name.to_owned(),
        kind: SuggestionKind::Data,
        means: remedy.means(),
        text: format!(
            "Load imbalance: of {} threads in the section at {} the slowest has {:.0} % more to do than a perfect division would \
             give it ({:.3} s); {} explains {:.0} % of that. {}",
            section.threads,
            place(&begin),
            excess(section),
            section.imbalance_time,
            place(&line),
            100.0 * cause.score.min(1.0),
            remedy.words(section),
        ),
        evidence: evidence([
            ("imbalance_percent", section.imbalance_percent),
            ("imbalance_seconds", section.imbalance_time),
            ("share", share),
            ("score", cause.score),
            ("instances", section.instances as f64),
            ("threads", section.threads as f64),
        ]),
        promise: Promise {
            lowers: Lowers::ImbalancePercent,
            region: case.region.id,
            now: Some(section.imbalance_percent),
        },
        lines: vec![begin, line],
    })
}

/// Seconds that the program ran for while threads were counted.
fn run_seconds(case: &Case<'_>) -> f64 {
    let levels = case.facts.profile.levels().filter(|level| level.kind == LevelKind::Nominal);
    levels.map(|level| level.ns as f64 * 1e-9).sum()
}

/// Percent that the slowest thread of each instance is above the mean, in the mean of the instances.
fn excess(section: &Section) -> f64 {
    let mean = section.cpu.iter().sum::<f64>() / section.cpu.len().max(1) as f64;
    if mean > 0.0 { 100.0 * section.imbalance_time / mean } else { 0.0 }
}

fn position(file: &Option<std::sync::Arc<str>>, line: Option<u32>) -> Position {
    Position { file: file.clone(), line }
}

/// What helps, by how the cause is spread over the threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Remedy {
    /// Misses of a cache.
    Layout,
    /// One thread does what the others do not.
    Alone,
    /// More from thread to thread: iterations become longer.
    Ramp,
    /// No order in it.
    Uneven,
    /// Pieces of one length that do not divide evenly.
    Remainder,
    /// Handed out to who asks, in pieces that are too large.
    Pieces,
}

/// Equal pieces that are at most so many for a thread are looked for: with more the imbalance is small.
const MOST_PIECES: u32 = 8;
/// Lengths of two pieces that are equal differ by less.
const EQUAL: f64 = 0.01;

impl Remedy {
    fn means(self) -> Means {
        match self {
            Self::Layout | Self::Alone => Means::Code,
            Self::Ramp | Self::Uneven | Self::Remainder | Self::Pieces => Means::RunTime,
        }
    }

    fn words(self, section: &Section) -> &'static str {
        let is_loop = section.kind.starts_with("omp");
        match self {
            Self::Layout => {
                "The slow threads miss the cache: give each the data that it uses side by side (data-affinity scheduling, blocking)."
            }
            Self::Alone => {
                "One thread does it nearly alone: divide that work among the threads, or take it out of the section."
            }
            Self::Ramp if is_loop => {
                "Iterations grow from thread to thread: deal them out in small chunks (schedule(static, 1)), or at run time \
                 (schedule(dynamic) or guided)."
            }
            Self::Ramp => {
                "The work grows from thread to thread: deal it out in small pieces by turns instead of in one block each."
            }
            Self::Uneven if is_loop => {
                "Iterations differ without order: divide them at run time (schedule(dynamic), with chunks small beside the loop)."
            }
            Self::Uneven => {
                "Pieces differ without order: let threads take the next one when they have finished (a shared counter); if they \
                 do so already, the pieces are too large."
            }
            Self::Remainder => {
                "Some threads have one piece more than the others, and all pieces are equally long: no schedule divides them \
                 evenly. Make pieces smaller (collapse, smaller tiles), or choose a number of threads that divides them."
            }
            Self::Pieces => {
                "Threads take the next piece when they have finished one, and the last ones are too long for that: make chunks \
                 smaller, or begin with the long ones."
            }
        }
    }
}

fn remedy(case: &Case<'_>, section: &Section, cause: &Cause) -> Remedy {
    if cause.kind == "cache-miss" {
        return Remedy::Layout;
    }
    if section.handed_out != HandedOut::Nothing {
        return Remedy::Pieces;
    }
    by_counts(&section.values, case.threshold(&RULE, "alone"))
}

/// Whether some threads have k pieces of one length and the others k + 1: none is in between.
fn is_remainder(sorted: &[f64]) -> bool {
    let (Some(&most), Some(&least)) = (sorted.first(), sorted.last()) else { return false };
    let is = |value: f64, of: f64| (value - of).abs() <= EQUAL * most;
    let is_either = sorted.iter().all(|v| is(*v, most) || is(*v, least));
    let several = sorted.len() > 3 && sorted.iter().filter(|v| is(**v, least)).count() > 1;
    let steps = (0..=MOST_PIECES).any(|k| is(least, most * f64::from(k) / f64::from(k + 1)));
    is_either && several && steps && !is(least, most)
}

fn by_counts(values: &[f64], alone: f64) -> Remedy {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    if values.len() > 2 && (values.is_sorted() || values.iter().rev().is_sorted()) {
        // A thread that comes first or last and does all is no ramp.
        let steps = sorted.windows(2).filter(|w| w[1] < w[0]).count();
        if steps > 1 {
            return Remedy::Ramp;
        }
    }
    // One that has more than nothing is alone.
    let is_alone = sorted.get(1).is_none_or(|second| *second <= 0.0);
    if !is_alone && is_remainder(&sorted) {
        return Remedy::Remainder;
    }
    match sorted[..] {
        [most, second, ..] if most >= alone * second => Remedy::Alone,
        _ => Remedy::Uneven,
    }
}

#[cfg(test)]
mod tests {
    use super::{Remedy, by_counts};

    #[test]
    fn the_remedy_follows_the_threads() {
        assert_eq!(by_counts(&[1.0, 3.0, 5.0, 7.0], 2.0), Remedy::Ramp);
        assert_eq!(by_counts(&[9.0, 6.0, 2.0, 1.0], 2.0), Remedy::Ramp);
        assert_eq!(by_counts(&[1.0, 1.0, 1.0, 9.0], 2.0), Remedy::Alone);
        assert_eq!(by_counts(&[1.0, 9.0, 1.0, 1.5], 2.0), Remedy::Alone);
        assert_eq!(by_counts(&[5.0, 9.0, 3.0, 8.0], 2.0), Remedy::Uneven);
        assert_eq!(by_counts(&[1.0, 1.5], 2.0), Remedy::Uneven);
        assert_eq!(by_counts(&[1.0, 5.0], 2.0), Remedy::Alone);
        assert_eq!(by_counts(&[], 2.0), Remedy::Uneven);
    }

    #[test]
    fn equal_pieces_are_found_by_their_number() {
        assert_eq!(by_counts(&[2.0, 1.0, 2.0, 1.001, 2.0], 2.0), Remedy::Remainder);
        assert_eq!(by_counts(&[4.0, 3.0, 3.0, 4.0], 2.0), Remedy::Remainder);
        assert_eq!(by_counts(&[1.0, 0.0, 1.0, 0.0], 2.0), Remedy::Remainder);
        // A third length, a ratio of no two neighbouring numbers, one thread with work.
        assert_eq!(by_counts(&[2.0, 1.0, 2.0, 1.0, 1.5], 2.0), Remedy::Uneven);
        assert_eq!(by_counts(&[1.7, 1.0, 1.7, 1.0], 2.0), Remedy::Uneven);
        assert_eq!(by_counts(&[0.0, 0.0, 1.0, 0.0], 2.0), Remedy::Alone);
    }
}
