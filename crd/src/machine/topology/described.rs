//! A topology described in text.
//!
//! ```text
//! # two sockets, as many hardware threads as an example needs
//! package 2  distance=12    # two of them; an event between them costs 12
//! L3 2       distance=4     # in each package two groups that share a cache
//! core 4
//! thread 2
//! cpus 0-15,16-31           # the operating system's numbers, in the order of the tree
//! ```
//!
//! A line is a level: what its groups are (`package`, `node`, `die`, `L1` to `L9`, `core`, `thread`), how many of them
//! are in each group of the line before, and what an event between two of them costs. Distances are stated for all
//! levels or for none; if for none, the innermost costs 1 and each level outwards twice as much. Without `cpus`
//! processors are numbered from 0.

use super::super::cpus::parse_cpus;
use super::{LevelKind, Topology, doubling};

/// Processors that a described machine may have.
const MAX_PROCESSORS: usize = 8192;

/// Why a text describes no topology.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// No level at all.
    #[error("it names no level: write one on each line, outermost first, for example `package 2` and `core 8`")]
    Empty,
    /// First word of a line.
    #[error("line {line}: `{text}` is no level: write package, node, die, L1 to L9, core, thread, or cpus")]
    Kind {
        /// From 1.
        line: usize,
        /// What was written.
        text: String,
    },
    /// A level that was there already.
    #[error("line {line}: `{kind}` comes twice: name each level once, outermost first")]
    Twice {
        /// From 1.
        line: usize,
        /// Which.
        kind: LevelKind,
    },
    /// Something inside of hardware threads.
    #[error("line {line}: `{kind}` comes after `thread`: hardware threads are the innermost level")]
    Inside {
        /// From 1.
        line: usize,
        /// Which.
        kind: LevelKind,
    },
    /// How many.
    #[error(
        "line {line}: `{text}` is no number of groups: write how many are in each group of the line before, 1 or more"
    )]
    Count {
        /// From 1.
        line: usize,
        /// What was written.
        text: String,
    },
    /// More processors than any machine has.
    #[error("line {line}: more than {MAX_PROCESSORS} processors")]
    TooMany {
        /// From 1.
        line: usize,
    },
    /// What follows the number.
    #[error("line {line}: `{text}` is not understood: only distance=N with N of at least 1 may follow")]
    Extra {
        /// From 1.
        line: usize,
        /// What was written.
        text: String,
    },
    /// Some distances and not all.
    #[error("line {line}: no distance: state it for all levels or for none")]
    Distance {
        /// From 1.
        line: usize,
    },
    /// Distances grow outwards.
    #[error("line {line}: distance {distance} is larger than that of the level around it ({around})")]
    Order {
        /// From 1.
        line: usize,
        /// Of this line.
        distance: u32,
        /// Of the line before.
        around: u32,
    },
    /// The numbers of the processors.
    #[error("line {line}: `{text}` is no list of {wanted} different processors such as 0-3,8")]
    Cpus {
        /// From 1.
        line: usize,
        /// What was written.
        text: String,
        /// How many there are.
        wanted: usize,
    },
}

struct Line {
    number: usize,
    kind: LevelKind,
    count: usize,
    distance: Option<u32>,
}

/// Reads a description.
///
/// ```
/// let topology = threadtalk_crd::machine::parse_topology("package 2\ncore 2\nthread 2\n")?;
/// assert_eq!([1, 2, 4].map(|other| topology.distance(0, other)), [1, 2, 4]);
/// # Ok::<(), threadtalk_crd::machine::TopologyError>(())
/// ```
pub fn parse_topology(text: &str) -> Result<Topology, TopologyError> {
    let mut lines: Vec<Line> = Vec::new();
    let mut cpus: Option<(usize, &str)> = None;
    let mut processors = 1usize;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split_once('#').map_or(line, |(before, _)| before).trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        match word {
            "" => {}
            "cpus" => cpus = Some((number, rest.trim())),
            word => {
                let level = parse_line(number, word, rest, &lines)?;
                processors = processors.saturating_mul(level.count);
                if processors > MAX_PROCESSORS {
                    return Err(TopologyError::TooMany { line: number });
                }
                lines.push(level);
            }
        }
    }
    check_distances(&lines)?;
    let innermost = lines.last().ok_or(TopologyError::Empty)?.kind;
    let numbers = match cpus {
        None => (0..).take(processors).collect(),
        Some((line, list)) => parse_cpus(list)
            .filter(|cpus| cpus.len() == processors && are_different(cpus))
            .ok_or_else(|| TopologyError::Cpus { line, text: list.to_owned(), wanted: processors })?,
    };
    let mut size = processors;
    let labels = lines.iter().map(|line| {
        size /= line.count;
        (line.kind, (0..processors).map(|p| (p / size) as u32).collect())
    });
    let labels = labels.collect();
    let stated = |kind: LevelKind| lines.iter().find(|line| line.kind == kind).and_then(|line| line.distance);
    Ok(Topology::new(numbers, labels, innermost, |inside, kind| stated(kind).unwrap_or(doubling(inside, kind))))
}

fn parse_line(number: usize, word: &str, rest: &str, before: &[Line]) -> Result<Line, TopologyError> {
    let kind = LevelKind::of_name(word).ok_or_else(|| TopologyError::Kind { line: number, text: word.to_owned() })?;
    if before.iter().any(|line| line.kind == kind) {
        return Err(TopologyError::Twice { line: number, kind });
    }
    if before.last().is_some_and(|line| line.kind == LevelKind::Thread) {
        return Err(TopologyError::Inside { line: number, kind });
    }
    let mut words = rest.split_whitespace();
    let count = words.next().unwrap_or_default();
    let count = count
        .parse()
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| TopologyError::Count { line: number, text: count.to_owned() })?;
    let distance = words.next().map(|word| {
        let distance = word.strip_prefix("distance=").and_then(|n| n.parse().ok()).filter(|n: &u32| *n > 0);
        distance.ok_or_else(|| TopologyError::Extra { line: number, text: word.to_owned() })
    });
    if let Some(text) = words.next() {
        return Err(TopologyError::Extra { line: number, text: text.to_owned() });
    }
    Ok(Line { number, kind, count, distance: distance.transpose()? })
}

fn check_distances(lines: &[Line]) -> Result<(), TopologyError> {
    if lines.iter().all(|line| line.distance.is_none()) {
        return Ok(());
    }
    let mut around = u32::MAX;
    for line in lines {
        let distance = line.distance.ok_or(TopologyError::Distance { line: line.number })?;
        if distance > around {
            return Err(TopologyError::Order { line: line.number, distance, around });
        }
        around = distance;
    }
    Ok(())
}

fn are_different(cpus: &[u32]) -> bool {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}
