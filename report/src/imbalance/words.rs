//! How sections, threads and quantities are called.

use crate::names::short;
use crate::{label, number};
use std::sync::Arc;
use threadtalk_crd::imbalance::craypat;
use threadtalk_crd::imbalance::lime::{MIN_THREADS, Reason};
use threadtalk_crd::imbalance::pbv::Category;
use threadtalk_crd::imbalance::profile::model::{Alike, Cause, Dependent, Imbalance, Section, Similarity};
use threadtalk_crd::imbalance::profile::observed::HandedOut;
use threadtalk_profile::layout::CounterEvent;

/// What a number of a metric counts, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Something countable, by this name.
    Of(&'static str),
}

impl Unit {
    /// A number with its unit.
    pub fn write(self, value: f64) -> String {
        match self {
            Unit::Seconds => number::seconds(value),
            Unit::Of(_) => number::quantity(value),
        }
    }

    /// The unit for a heading.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Seconds => "seconds",
            Unit::Of(name) => name,
        }
    }
}

/// Unit of a metric of regions.
pub fn unit(metric: &str) -> Unit {
    match metric {
        "cpu" | "time" => Unit::Seconds,
        "work" => Unit::Of("instructions"),
        "calls" => Unit::Of("calls"),
        "accesses" => Unit::Of("accesses"),
        "misses" => Unit::Of("misses"),
        _ => Unit::Of("first reads of others' values"),
    }
}

/// Name of a metric of regions for a heading.
pub fn metric(metric: &str) -> &str {
    match metric {
        "cpu" => "CPU time",
        other => other,
    }
}

/// Unit of a section's values.
pub fn dependent_unit(dependent: Dependent) -> Unit {
    match dependent {
        Dependent::Work => Unit::Of("instructions"),
        Dependent::Time => Unit::Of("ns of CPU time"),
        Dependent::Counter(CounterEvent::TaskClock) => Unit::Of("ns on a processor"),
        Dependent::Counter(event) => Unit::Of(event.name()),
    }
}

/// What sections compare, for the head.
pub fn compared(imbalance: &Imbalance) -> String {
    match (imbalance.dependent, imbalance.miss_cost) {
        (Dependent::Time, _) => "CPU time of the threads from entry to arrival".to_owned(),
        (Dependent::Counter(event), _) => match imbalance.counted_share {
            Some(share) => format!(
                "{}, counted {} of the time and scaled up, as the processor has too few counters",
                event.name(),
                number::percent(share)
            ),
            None => format!("{}, as the processor or the kernel counted them", event.name()),
        },
        (Dependent::Work, None) => {
            "executed instructions (work): the machine's noise is not in them; --by time compares CPU time".to_owned()
        }
        (Dependent::Work, Some([first, last])) => format!(
            "executed instructions, and {first} for each first-level miss, {last} for each last-level miss of the \
             modelled cache; --by time compares CPU time"
        ),
    }
}

/// File and line, as far as they are known.
pub type Place<'a> = (Option<&'a str>, Option<u32>);

/// `barrier lu.c:120 to 180 in solve`, `threads made at lu.c:99`.
pub fn section(section: &Section) -> String {
    let (begin, end) = ((section.file.as_deref(), section.line), (section.end_file.as_deref(), section.end_line));
    let at = section_at(section.kind, begin, end, &section.function);
    run_by(at, &section.runs)
}

/// Threads at a place, and what they run, where others there run something else: `threads made at a.c:9, which run
/// read_lines`.
pub fn run_by(at: String, runs: &[Arc<str>]) -> String {
    let runs: Vec<String> = runs.iter().map(|name| short(name).into_owned()).collect();
    if runs.is_empty() { at } else { format!("{at}, which run {}", runs.join(", ")) }
}

/// [`section`] of its parts: what ends it, where it begins and ends, and in which function it begins.
pub fn section_at(kind: &str, begin: Place, end: Place, function: &str) -> String {
    let place = |(file, line): Place| Some(format!("{}:{}", label::base(file?), line?));
    let same = begin.0 == end.0;
    let (begin, end) = (place(begin), place(end));
    let at = match (begin, end) {
        (Some(begin), Some(end)) if begin == end => begin,
        (Some(begin), Some(end)) => {
            let end = if same { end.rsplit(':').next().unwrap_or_default().to_owned() } else { end };
            format!("{begin} to {end}")
        }
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => String::new(),
    };
    let inside = if function.is_empty() { String::new() } else { format!("in {}", short(function)) };
    // What ends with a join begins where the threads are made, and is told by that place.
    let kind = if kind == "join" && !at.is_empty() { "threads made at".to_owned() } else { kind.replace('_', " ") };
    [kind, at, inside].into_iter().filter(|s| !s.is_empty()).collect::<Vec<_>>().join(" ")
}

/// How often and with how many threads.
pub fn instances(section: &Section) -> String {
    let plural = |n: u64, what: &str| format!("{} {what}{}", number::count(n), if n == 1 { "" } else { "s" });
    let mut text = format!("{}, {}", plural(section.threads as u64, "thread"), plural(section.instances, "instance"));
    if section.recorded < section.instances {
        text += &format!(" ({} recorded in full)", number::count(section.recorded));
    }
    text
}

/// That work was handed out in a section, and how it is compared; nothing if none was.
pub fn handed_out(section: &Section) -> Option<&'static str> {
    match section.handed_out {
        HandedOut::Nothing => None,
        HandedOut::Wholly => Some("chunks and tasks that threads asked for: compared as if each had a processor"),
        HandedOut::Partly => Some(
            "chunks and tasks that threads asked for: compared as if each had a processor; there were more than are \
             recorded, and those are shared out evenly",
        ),
    }
}

/// That a section is compared by something else than the others, and why; nothing if it is not.
pub fn uninstrumented(section: &Section) -> Option<&'static str> {
    section.uninstrumented.then_some(
        "CPU time: most of it was taken by code that was not instrumented (libraries, the kernel), of which executed \
         instructions say nothing",
    )
}

/// That nobody lost what balance could save: threads took the work, or came together; nothing if neither was seen.
pub fn taken(section: &Section) -> Option<String> {
    if let Some(of) = &section.taken {
        let (pieces, place) = (number::count(of.pieces), place(of.file.as_deref(), of.line));
        return Some(format!(
            "{pieces} pieces, which threads took from a counter at {place}: who did more is up to the scheduler"
        ));
    }
    let together = "the threads came to the end together: nobody waited for who did more";
    section.arrived_together.then(|| together.to_owned())
}

/// Other branches that counts cannot tell from a cause; nothing if there are none.
pub fn alike(cause: &Cause) -> Option<String> {
    const NAMED: usize = 3;
    let name = |a: &Alike| format!("{} in {}", place(a.file.as_deref(), a.line), short(&a.function));
    let mut names: Vec<String> = cause.alike.iter().take(NAMED).map(name).collect();
    if cause.alike.len() > NAMED {
        names.push(format!("{} more", cause.alike.len() - NAMED));
    }
    (!names.is_empty()).then(|| format!("in the same threads: {}", names.join(", ")))
}

/// An attribute of a decision table, "what in region #number", with the region's name [`short`].
pub fn attribute(attribute: &str) -> String {
    let parts = attribute.split_once(" in ").and_then(|(what, of)| Some((what, of.rsplit_once(" #")?)));
    parts.map_or_else(|| attribute.to_owned(), |(what, (name, number))| format!("{what} in {} #{number}", short(name)))
}

/// Why a section has no cause to show; nothing if it has.
pub fn without_cause(imbalance: &Imbalance, section: &Section) -> Option<String> {
    if section.causes.iter().any(Cause::important) {
        return None;
    }
    Some(match section.reason {
        Some(Reason::Balanced) => "balanced: nothing to explain".to_owned(),
        Some(Reason::TooFewThreads) => {
            format!("no cause sought: fewer than {MIN_THREADS} threads, and too few instances to pool")
        }
        None if !imbalance.control_flow => "no cause sought: compiled without control flow counters".to_owned(),
        None if section.predictors == 0 => "no cause sought: no counts of this section were recorded".to_owned(),
        None => "no branch and no miss explains it at the required significance".to_owned(),
    })
}

/// Threads as ranges: `0-6, 9`.
pub fn threads(ids: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &id in ids {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == id => *last = id,
            _ => ranges.push((id, id)),
        }
    }
    let range = |(a, b): &(u32, u32)| match b - a {
        0 => a.to_string(),
        1 => format!("{a}, {b}"),
        _ => format!("{a}-{b}"),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(", ")
}

/// Sections to tell of, in order, and how many are left out because no thread did anything instrumented in them or all
/// did the same: those inside others first, as what could be saved is lost where threads wait.
pub fn told(imbalance: &Imbalance) -> (Vec<&Section>, usize) {
    let telling = |s: &&Section| s.imbalance_percent > 0.05 || !s.causes.is_empty();
    let (mut told, silent): (Vec<&Section>, Vec<&Section>) = imbalance.sections.iter().partition(telling);
    told.sort_by_key(|s| s.encloses);
    let silent = silent.len();
    (told, silent)
}

/// What follows a section's name, if those of `above` are told before it.
pub fn note(section: &Section, imbalance: &Imbalance, above: &[&Section]) -> &'static str {
    let inside = section.holds.iter().map(|&place| &imbalance.sections[place]);
    let is_above = |inner: &Section| above.iter().any(|of| std::ptr::eq(*of, inner));
    match section.encloses {
        false => "",
        true if { inside }.any(is_above) => "; the sum of sections above",
        true => "; in those inside it all threads did the same or nothing",
    }
}

/// Points of imbalance from which on the threads' sums tell another story than the instances.
const OTHER_STORY: f64 = 5.0;

/// That the threads' sums look more even than the section is; nothing where they do not.
pub fn evened_out(section: &Section) -> Option<String> {
    let sums = craypat::spread(&section.values)?.imbalance.imbalance_percent;
    let differs = section.instances > 1 && section.imbalance_percent > sums + OTHER_STORY;
    differs.then(|| format!("another thread is late each time: sums differ by {sums:.1} % only"))
}

/// Kinds of threads of a section: `{0-6} {7}`. Threads of several teams have no numbers in common: there it is the
/// first, second, ... of each, as in the row of bars.
pub fn kinds(section: &Section) -> String {
    let id = |&rank: &usize| section.team.as_ref().map_or(rank as u32, |team| team[rank]);
    let kind = |of: &Vec<usize>| format!("{{{}}}", threads(&of.iter().map(id).collect::<Vec<_>>()));
    let kinds = section.kinds.iter().map(kind).collect::<Vec<_>>().join(" ");
    if section.team.is_some() {
        kinds
    } else {
        format!("{kinds}  by place in the team, from 0: its threads were others each time")
    }
}

/// Values as a row of bars from 0 to the largest; beyond 64 each bar is the largest of several.
pub fn sparkline(values: &[f64]) -> String {
    const BARS: [char; 8] =
        ['\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}'];
    const MOST: usize = 64;
    let largest = values.iter().copied().fold(0.0, f64::max);
    let each = values.len().div_ceil(MOST).max(1);
    let bar = |group: &[f64]| {
        let value = group.iter().copied().fold(0.0, f64::max);
        if value <= 0.0 { '\u{b7}' } else { BARS[((value / largest * 8.0).ceil() as usize).clamp(1, 8) - 1] }
    };
    values.chunks(each).map(bar).collect()
}

/// What kinds of threads were told apart by.
pub fn compared_in_kinds(similarity: &Similarity) -> String {
    let by = match similarity.by {
        "cpu" => "CPU time of each region",
        _ => "work in each region (they have no CPU times, or times under a tick of the clock, 10 ms)",
    };
    let compared: usize = similarity.kinds.iter().map(Vec::len).sum();
    match similarity.not_compared {
        0 => by.to_owned(),
        others => format!("{by}; those {compared} of {} that did most", number::count((compared + others) as u64)),
    }
}

/// A category of instructions.
pub fn category(category: Category) -> &'static str {
    match category {
        Category::Memory => "memory",
        Category::Address => "address",
        Category::Integer => "integer",
        Category::FloatingPoint => "floating point",
        Category::Comparison => "comparison",
        Category::Conditional => "conditional",
        Category::Unconditional => "unconditional",
        Category::Synchronisation => "synchronisation",
    }
}

/// A probability: `p < 1e-12`, `p 0.003`.
pub fn probability(p: f64) -> String {
    if p < 1e-12 { "p < 1e-12".to_owned() } else { format!("p {}", number::quantity(p)) }
}

/// What a cause is.
pub fn kind(cause: &Cause) -> &'static str {
    if cause.event.is_empty() { "control flow" } else { cause.event }
}

/// `lu.c:668`, or `?`.
pub fn place(file: Option<&str>, line: Option<u32>) -> String {
    match (file, line) {
        (Some(file), Some(line)) => format!("{}:{line}", label::base(file)),
        (Some(file), None) => label::base(file).to_owned(),
        _ => "?".to_owned(),
    }
}

/// How a program gets what its profile lacks; none if it lacks nothing.
pub fn advice(imbalance: &Imbalance) -> Option<&'static str> {
    (!imbalance.control_flow).then_some(
        "no control flow counters: only times are compared. For causes, work and block vectors compile with \
         threadtalk cc --threadtalk=memory,control",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_bars() {
        assert_eq!(threads(&[0, 1, 2, 3, 5, 8, 9]), "0-3, 5, 8, 9");
        assert_eq!(sparkline(&[0.0, 1.0, 8.0, 4.0]), "\u{b7}\u{2581}\u{2588}\u{2584}");
        assert_eq!(sparkline(&vec![1.0; 130]).chars().count(), 44);
        assert_eq!(sparkline(&[]), "");
        assert_eq!((probability(0.0), probability(0.0031)), ("p < 1e-12".to_owned(), "p 0.003".to_owned()));
    }

    #[test]
    fn attributes_have_short_names_of_regions() {
        assert_eq!(attribute("cpu in loop in f #3"), "cpu in loop in f #3");
        let long = format!("work in std::build<{0}>({0}) #12", "std::vector<long, std::allocator<long>>, ".repeat(9));
        assert_eq!(attribute(&long), "work in std::build<\u{2026}>(\u{2026}) #12");
        assert_eq!(attribute("communication"), "communication");
    }

    #[test]
    fn sections_are_told_by_what_is_at_their_place() {
        let at = |line| (Some("/src/a.c"), Some(line));
        assert_eq!(section_at("join", at(13), (None, None), "main"), "threads made at a.c:13 in main");
        assert_eq!(section_at("join", (None, None), (None, None), "main"), "join in main");
        assert_eq!(section_at("omp_barrier", at(5), at(9), ""), "omp barrier a.c:5 to 9");
    }
}
