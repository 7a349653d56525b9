//! What an empty or doubtful result usually means, said loudly: a silent zero costs users hours.

use crate::number;
use threadtalk_crd::model::{Ended, Report};

/// Sentences for the user, the most important first.
pub fn hints(report: &Report) -> Vec<String> {
    let mut hints = Vec::new();
    let counts = report.program_total.counts.as_deref();
    let events = counts.map_or(0, |counts| counts.raw.sum().saturating_add(counts.rar.sum()));
    if report.ended == Ended::Abnormally && report.program.exit_status.is_none() {
        hints.push("the process did not end normally: counts are those up to then".to_string());
    }
    if report.program.modules.is_empty() {
        hints.push(
            "no instrumented code ran: compile the program itself with threadtalk cc or c++, not only link it"
                .to_string(),
        );
    } else if report.threads.len() <= 1 {
        hints.push(
            "only one thread ran: there is nobody to communicate with; does the program take a thread count?"
                .to_string(),
        );
    } else if events == 0 {
        hints.push(
            "several threads, but none read what another wrote in instrumented code: are the files that share data \
             compiled with threadtalk?"
                .to_string(),
        );
    }
    if !report.program.modules.is_empty() && report.regions.iter().all(|region| region.line.is_none()) {
        hints.push(
            "no source lines: the program was compiled with -g0 or without the wrapper; add -gline-tables-only"
                .to_string(),
        );
    }
    hints.extend(doubts(report));
    hints
}

fn doubts(report: &Report) -> Vec<String> {
    let accuracy = &report.accuracy;
    let mut doubts = Vec::new();
    if accuracy.estimated_false_rate > 0.01 {
        let rate = number::percent(accuracy.estimated_false_rate);
        doubts.push(format!(
            "up to {rate} of the events may be false: run with a larger --signature-bytes or with --mode exact"
        ));
    }
    if accuracy.dropped_full > 0 {
        let count = number::count(accuracy.dropped_full);
        doubts.push(format!("{count} events had no room in the profile: free some disk space and run again"));
    }
    if accuracy.threads_overflowed > 0 {
        let count = number::count(accuracy.threads_overflowed);
        doubts.push(format!("{count} threads were beyond the number that can be told apart: they are counted as one"));
    }
    if accuracy.states_exhausted > 0 {
        let count = number::count(accuracy.states_exhausted);
        doubts.push(format!("{count} first reads were counted as reuse: the table of reader sets was full"));
    }
    if accuracy.records_budget_reached > 0 {
        let (count, s) = (accuracy.records_budget_reached, plural(accuracy.records_budget_reached));
        doubts.push(format!(
            "records of {count} thread{s} reached records_bytes: lines of some writers are missing; set \
             THREADTALK_OPTIONS=records_bytes=256M"
        ));
    }
    if accuracy.dropped_budget > 0 {
        let count = number::count(accuracy.dropped_budget);
        doubts.push(format!("{count} events were not counted for want of records: raise records_bytes"));
    }
    if accuracy.crd_budget_reached > 0 {
        let (count, s) = (accuracy.crd_budget_reached, plural(accuracy.crd_budget_reached));
        doubts.push(format!(
            "{count} trace{s} of reuse distances had no room in crd_bytes: sampled early or not measured; set \
             THREADTALK_OPTIONS=crd_bytes=256M"
        ));
    }
    if accuracy.lineless_values > 0 {
        doubts.push(
            "some lines of writers are missing (? or unknown line): threads wrote at more lines than can be told apart \
             for all who read; run with fewer threads to see them"
                .to_string(),
        );
    }
    if accuracy.modules_without_lines > 0 {
        let count = accuracy.modules_without_lines;
        doubts.push(format!("{count} modules write without line numbers: the program has too many access sites"));
    }
    doubts
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}
