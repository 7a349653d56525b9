//! The header and the meta data: what all parts have in common, and what each had for itself.

use std::collections::BTreeMap;

use super::{How, MergeError, PART, Part, RANKS, RUNS};
use crate::layout::{Accuracy, CrdMode, SignatureMode};
use crate::tables::{Header, State};

/// Whether the parts fit together.
pub fn check(parts: &[Part], how: How) -> Result<(), MergeError> {
    let first = parts.first().ok_or(MergeError::Nothing)?;
    let expected = &first.contents.header;
    for part in parts {
        let found = &part.contents.header;
        let (name, first) = (part.name.clone(), first.name.clone());
        if found.granule != expected.granule {
            return Err(MergeError::Granule { first, expected: expected.granule, name, found: found.granule });
        }
        if how == How::Sum && found.site_bits != expected.site_bits {
            return Err(MergeError::SiteBits { first, expected: expected.site_bits, name, found: found.site_bits });
        }
    }
    Ok(())
}

/// Nanoseconds from the earliest start of all parts to the start of each. Runs of one program all start at 0: when each
/// of them was made says nothing about it.
pub fn delays(parts: &[Part], how: How) -> Vec<u64> {
    if how == How::Sum {
        return vec![0; parts.len()];
    }
    let starts = || parts.iter().map(|p| p.contents.header.start_unix_ns);
    let earliest = starts().min().unwrap_or(0);
    starts().map(|start| start - earliest).collect()
}

/// The header of all together: from the first start to the last end, and as uncertain as its least certain part.
pub fn merge(parts: &[Part], how: How) -> Header {
    let headers = || parts.iter().map(|p| &p.contents.header);
    let modes = |mode: CrdMode| headers().all(|h| h.crd_mode == mode);
    let ends = || headers().zip(delays(parts, how)).map(|(h, delay)| h.duration_ns.map(|d| d.saturating_add(delay)));
    let cpu = || headers().map(|h| h.cpu_ns);
    Header {
        granule: headers().map(|h| h.granule).next().unwrap_or(0),
        site_bits: headers().map(|h| h.site_bits).max().unwrap_or(0),
        // Several processes have no number.
        pid: if parts.len() == 1 { parts[0].contents.header.pid } else { 0 },
        signature_mode: if headers().all(|h| h.signature_mode == SignatureMode::Exact) {
            SignatureMode::Exact
        } else {
            SignatureMode::Hashed
        },
        crd_mode: match () {
            () if modes(CrdMode::Off) => CrdMode::Off,
            () if modes(CrdMode::Exact) => CrdMode::Exact,
            () => CrdMode::Auto,
        },
        // The merged file is whole itself; what is missing at its end is the parts'.
        state: match () {
            () if headers().any(|h| matches!(h.state, State::Running | State::Abrupt)) => State::Abrupt,
            () if headers().any(|h| h.state == State::Exec) => State::Exec,
            () => State::Normal,
        },
        start_unix_ns: headers().map(|h| h.start_unix_ns).min().unwrap_or(0),
        duration_ns: ends().collect::<Option<Vec<_>>>().and_then(|ends| ends.into_iter().max()),
        cpu_ns: cpu().collect::<Option<Vec<_>>>().map(|cpu| cpu.into_iter().fold(0, u64::saturating_add)),
        // 0 if all succeeded; else one that tells that some did not.
        exit_status: headers().map(|h| h.exit_status).collect::<Option<Vec<_>>>().and_then(|s| s.into_iter().max()),
        accuracy: headers().fold(Accuracy::default(), |sum, h| add(sum, &h.accuracy)),
        lineless_values: headers().fold(0, |sum: u64, h| sum.saturating_add(h.lineless_values)),
        ..Header::default()
    }
}

fn add(a: Accuracy, b: &Accuracy) -> Accuracy {
    Accuracy {
        signature_budget: a.signature_budget.saturating_add(b.signature_budget),
        signature_mapped: a.signature_mapped.saturating_add(b.signature_mapped),
        chunks: a.chunks.saturating_add(b.chunks),
        chunks_aliased: a.chunks_aliased.saturating_add(b.chunks_aliased),
        events_checked: a.events_checked.saturating_add(b.events_checked),
        events_suspect: a.events_suspect.saturating_add(b.events_suspect),
        states: a.states.saturating_add(b.states),
        states_exhausted: a.states_exhausted.saturating_add(b.states_exhausted),
        threads: a.threads.saturating_add(b.threads),
        threads_overflowed: a.threads_overflowed.saturating_add(b.threads_overflowed),
        modules_without_lines: a.modules_without_lines.saturating_add(b.modules_without_lines),
        dropped_reentrant: a.dropped_reentrant.saturating_add(b.dropped_reentrant),
        dropped_full: a.dropped_full.saturating_add(b.dropped_full),
        crd_budget_reached: a.crd_budget_reached.saturating_add(b.crd_budget_reached),
        records_budget_reached: a.records_budget_reached.saturating_add(b.records_budget_reached),
        dropped_budget: a.dropped_budget.saturating_add(b.dropped_budget),
        reuse_checked: a.reuse_checked.saturating_add(b.reuse_checked),
        reuse_suspect: a.reuse_suspect.saturating_add(b.reuse_suspect),
        reuse_weight: a.reuse_weight.saturating_add(b.reuse_weight),
        suspect_reuse_weight: a.suspect_reuse_weight.saturating_add(b.suspect_reuse_weight),
    }
}

/// What the parts agree on, then who they were. Where they differ, the smallest value stands for all: a
/// choice that does not depend on the parts' order.
pub fn meta(parts: &[Part], how: How) -> Vec<(String, String)> {
    let mut values: BTreeMap<&str, &str> = BTreeMap::new();
    // Parts that were merged before are parts no more.
    let own = |key: &str| !(key == RANKS || key == RUNS || key.starts_with(PART));
    for (key, value) in parts.iter().flat_map(|p| &p.contents.meta).filter(|(key, _)| own(key)) {
        let kept = values.entry(key).or_insert(value);
        *kept = (*kept).min(value);
    }
    let mut meta: Vec<_> = values.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let key = if how == How::Ranks { RANKS } else { RUNS };
    meta.push((key.into(), parts.len().to_string()));
    meta.extend(parts.iter().enumerate().map(|(i, part)| (format!("{PART}{i}"), part.name.replace('\0', "?"))));
    meta
}
