//! What limits a comparison.

use crate::imbalance::profile::model::divided;
use crate::imbalance::profile::observed::HandedOut;
use crate::model::{Ended, Report};

/// False events above this share can make or hide a difference of the usual noise.
const FALSE_RATE: f64 = 0.01;

/// A sentence for each difference between the runs that is not one of the program.
pub fn notes(base: &Report, new: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    let (before, after) = (base.threads.len(), new.threads.len());
    if before != after {
        notes.push(format!(
            "{before} threads in base and {after} in new: totals compare, pairs of threads, homogeneity and balance do \
             not, and more threads share more"
        ));
    }
    let (before, after) = (&base.options, &new.options);
    if before.granule != after.granule {
        notes.push(format!(
            "elements of {} bytes in base and {} in new: counts and distances are in different units",
            before.granule, after.granule
        ));
    }
    if before.crd != after.crd {
        notes.push(format!("reuse distances were recorded as {} in base and {} in new", before.crd, after.crd));
    }
    if before.mode != after.mode {
        notes.push(format!("base was recorded in {} mode and new in {} mode", before.mode, after.mode));
    }
    if base.sections.is_some() != new.sections.is_some() {
        let counted = if base.sections.is_some() { "base" } else { "new" };
        notes.push(format!("control flow was counted in {counted} only: imbalance does not compare"));
    }
    notes.extend(taken(new).or_else(|| taken(base)));
    for (name, report) in [("base", base), ("new", new)] {
        let rate = report.accuracy.estimated_false_rate;
        if rate > FALSE_RATE {
            notes.push(format!("up to {:.0} % of the events of {name} may be false", rate * 100.0));
        }
        if report.accuracy.dropped_full > 0 {
            notes.push(format!("{} events of {name} had no room in its profile", report.accuracy.dropped_full));
        }
        // With a status the program left by itself: by `_exit`.
        if report.ended == Ended::Abnormally && report.program.exit_status.is_none() {
            notes.push(format!("{name} ended abnormally: its counts end there"));
        }
    }
    notes
}

/// That who does what differs from run to run: even two runs of one program differ then.
fn taken(report: &Report) -> Option<String> {
    let mut sections = divided(report.sections.as_deref()?);
    let section = sections.find(|section| section.is_taken() || section.handed_out != HandedOut::Nothing)?;
    let place = match (&section.file, section.line) {
        (Some(file), Some(line)) => format!(" in the section at {}:{line}", file.rsplit('/').next().unwrap_or(file)),
        _ => String::new(),
    };
    Some(format!(
        "threads take work as they go{place}: who gets what, and communication with it, differs from run to run; compare \
         two runs of one program to see by how much, and set --noise above that"
    ))
}
