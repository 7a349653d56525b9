//! Events that the processor and the kernel count: their names, and what `perf_event_open` is asked for.

use crate::layout::CounterEvent;

/// `PERF_TYPE_HARDWARE`.
const HARDWARE: u32 = 0;
/// `PERF_TYPE_SOFTWARE`.
const SOFTWARE: u32 = 1;

/// `PERF_FORMAT_TOTAL_TIME_ENABLED`, `PERF_FORMAT_TOTAL_TIME_RUNNING`, `PERF_FORMAT_GROUP`.
const READ_FORMAT: u64 = 1 | 2 | 8;

/// `exclude_kernel` and `exclude_hv` in [`Attributes::flags`].
const USER_ONLY: u64 = 1 << 5 | 1 << 6;

/// Bits of the events that a program can ask for, and how many they are.
pub const EVENTS: usize = 8;

/// The first published version of `struct perf_event_attr`, which every kernel takes. Bits that are not set mean: count
/// from now on, not in threads that are created later.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_kind: u32,
    breakpoint_address: u64,
}

const _: () = assert!(size_of::<Attributes>() == 64);

impl CounterEvent {
    /// The name that perf gives it.
    pub fn name(self) -> &'static str {
        match self {
            CounterEvent::Instructions => "instructions",
            CounterEvent::Cycles => "cycles",
            CounterEvent::CacheMisses => "cache-misses",
            CounterEvent::BranchMisses => "branch-misses",
            CounterEvent::PageFaults => "page-faults",
            CounterEvent::ContextSwitches => "context-switches",
            CounterEvent::Migrations => "cpu-migrations",
            CounterEvent::TaskClock => "task-clock",
            CounterEvent::Wanted => "time-enabled",
            CounterEvent::Counted => "time-running",
        }
    }

    /// The event of this name that can be asked for.
    pub fn from_name(name: &[u8]) -> Option<CounterEvent> {
        Self::ALL.iter().copied().take(EVENTS).find(|event| event.name().as_bytes() == name)
    }

    /// What is asked for; none for what comes with the others.
    pub fn attributes(self) -> Option<Attributes> {
        let (kind, config) = match self {
            CounterEvent::Cycles => (HARDWARE, 0),
            CounterEvent::Instructions => (HARDWARE, 1),
            CounterEvent::CacheMisses => (HARDWARE, 3),
            CounterEvent::BranchMisses => (HARDWARE, 5),
            CounterEvent::TaskClock => (SOFTWARE, 1),
            CounterEvent::PageFaults => (SOFTWARE, 2),
            CounterEvent::ContextSwitches => (SOFTWARE, 3),
            CounterEvent::Migrations => (SOFTWARE, 4),
            CounterEvent::Wanted | CounterEvent::Counted => return None,
        };
        // The scheduler is the kernel: without it there is nothing to count.
        let scheduler = matches!(self, CounterEvent::ContextSwitches | CounterEvent::Migrations);
        let flags = if scheduler { 0 } else { USER_ONLY };
        let size = size_of::<Attributes>() as u32;
        Some(Attributes { kind, size, config, read_format: READ_FORMAT, flags, ..Attributes::default() })
    }
}

/// The events of a list such as `instructions,page-faults`, a bit for each; none if it names another.
pub fn parse(list: &[u8]) -> Option<u64> {
    let mut events = list.split(|&b| b == b',').map(CounterEvent::from_name);
    events.try_fold(0, |all, event| Some(all | 1 << event? as u32))
}

/// The events of such bits.
pub fn events(bits: u64) -> impl Iterator<Item = CounterEvent> {
    CounterEvent::ALL.iter().copied().take(EVENTS).filter(move |event| bits >> *event as u32 & 1 != 0)
}

/// Why the kernel refuses: what the error of `perf_event_open` means, and what helps.
pub fn refusal(error: i32) -> &'static str {
    match error {
        // EPERM, EACCES
        1 | 13 => "not allowed: lower kernel.perf_event_paranoid to 1, or grant CAP_PERFMON",
        // ENOENT, ENODEV, EOPNOTSUPP
        2 | 19 | 95 => "this machine has no such counter, as most virtual ones",
        // ENOSYS
        38 => "not in this kernel, or forbidden by the container",
        // EMFILE, ENFILE
        23 | 24 => "too few file descriptors: each event takes one in each thread",
        _ => "the kernel refuses",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_events() {
        assert_eq!(parse(b"cycles"), Some(2));
        assert_eq!(parse(b"page-faults,instructions"), Some(1 << 4 | 1));
        for wrong in [&b""[..], b"cycles,", b"Cycles", b"time-running"] {
            assert_eq!(parse(wrong), None, "{wrong:?}");
        }
        let named: std::vec::Vec<_> = events(u64::MAX).map(CounterEvent::name).collect();
        assert_eq!(named.len(), EVENTS);
        for (bit, name) in named.iter().enumerate() {
            assert_eq!(parse(name.as_bytes()), Some(1 << bit));
        }
    }

    #[test]
    fn what_can_be_named_can_be_asked_for() {
        for event in CounterEvent::ALL {
            assert_eq!(event.attributes().is_some(), CounterEvent::from_name(event.name().as_bytes()).is_some());
        }
        let mut refusals = [1, 2, 24, 38, 22].map(refusal);
        refusals.sort_unstable();
        assert!(refusals.windows(2).all(|pair| pair[0] != pair[1]), "{refusals:?}");
    }
}
