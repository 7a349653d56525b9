//! What the processor and the kernel counted for the threads: over the whole run, and as what may explain the time of a
//! section.

use threadtalk_profile::layout::CounterEvent;

use super::model::{Figures, Metrics};
use super::observed::{Observed, Part};

/// Events that take time and come from the program: cycles are time, instructions are what its branches decide, and
/// switches are the machine's.
const EXPLAINING: [CounterEvent; 3] = [CounterEvent::CacheMisses, CounterEvent::BranchMisses, CounterEvent::PageFaults];

/// Counts of each part, of those events that any of them has.
pub fn explaining(parts: &[&Part]) -> Vec<(CounterEvent, Vec<f64>)> {
    let counts = |event| -> Vec<f64> { parts.iter().map(|p| p.counter(event).unwrap_or(0) as f64).collect() };
    let all = EXPLAINING.into_iter().map(|event| (event, counts(event)));
    all.filter(|(_, counts)| counts.iter().any(|count| *count > 0.0)).collect()
}

/// CrayPat's figures of each event, over the threads for which it was counted.
pub fn figures(observed: &Observed) -> Metrics {
    let figures = |&event: &CounterEvent| {
        let of = observed.counters.iter().filter(|(_, counted, _)| *counted == event);
        let (threads, values): (Vec<u32>, Vec<f64>) = of.map(|&(thread, _, count)| (thread, count as f64)).unzip();
        Some((event.name(), Figures::new(values, &threads)?))
    };
    CounterEvent::ALL.iter().filter(|event| event.attributes().is_some()).filter_map(figures).collect()
}

/// For which share of the time events were counted; none if all of it.
pub fn share(observed: &Observed) -> Option<f64> {
    let sum = |wanted: CounterEvent| -> u64 {
        let of = observed.counters.iter().filter(|(_, event, _)| *event == wanted);
        of.map(|(_, _, count)| *count).fold(0, u64::saturating_add)
    };
    let wanted = sum(CounterEvent::Wanted);
    (wanted > 0).then(|| sum(CounterEvent::Counted) as f64 / wanted as f64)
}
