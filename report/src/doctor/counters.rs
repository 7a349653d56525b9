//! Which events the processor and the kernel count for threads here.

use super::check::Check;
use std::collections::BTreeMap;
use threadtalk_profile::counters::{EVENTS, refusal};
use threadtalk_profile::layout::CounterEvent;

/// A line with those that are counted, and one for each reason why others are not.
pub fn checks() -> Vec<Check> {
    let tried = CounterEvent::ALL.iter().take(EVENTS).map(|&event| (event.name(), open(event)));
    lines(tried.collect())
}

fn lines(tried: Vec<(&'static str, Result<(), i32>)>) -> Vec<Check> {
    let (mut counted, mut refused) = (Vec::new(), BTreeMap::<&str, Vec<&str>>::new());
    for (name, result) in tried {
        match result {
            Ok(()) => counted.push(name),
            Err(error) => refused.entry(refusal(error)).or_default().push(name),
        }
    }
    let mut checks = Vec::new();
    if !counted.is_empty() {
        checks.push(Check::good("counters", format_args!("{} (THREADTALK_OPTIONS=counters=...)", counted.join(", "))));
    }
    let refusals = refused.into_iter();
    checks.extend(refusals.map(|(why, names)| Check::note("counters", format_args!("no {}: {why}", names.join(", ")))));
    checks
}

/// Whether the event can be counted of a thread; else the error.
fn open(event: CounterEvent) -> Result<(), i32> {
    const CLOSE_ON_EXEC: libc::c_ulong = 8;
    let Some(attributes) = event.attributes() else { return Err(libc::EINVAL) };
    // SAFETY: attributes of the size that they say; this thread, on any processor, in no group.
    let result = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, CLOSE_ON_EXEC) };
    match i32::try_from(result) {
        Ok(descriptor) if descriptor >= 0 => {
            // SAFETY: a descriptor that nobody else knows.
            unsafe { libc::close(descriptor) };
            Ok(())
        }
        _ => Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_a_line_with_its_events() {
        let found = lines(vec![
            ("instructions", Err(libc::ENOENT)),
            ("cycles", Err(libc::ENOENT)),
            ("context-switches", Err(libc::EACCES)),
            ("page-faults", Ok(())),
        ]);
        let text: String = found.iter().map(Check::line).collect();
        let wanted = [
            "ok       counters",
            "page-faults (",
            "no instructions, cycles: this machine has no such counter",
            "no context-switches: not allowed: lower kernel.perf_event_paranoid",
        ];
        for wanted in wanted {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        assert!(found.iter().all(|check| !check.is_missing()), "nothing that is needed is missing");
        assert!(lines(Vec::new()).is_empty());
    }
}
