//! Communication over time.

use super::arrays::is_pair;
use super::record::field;
use crate::layout::{PhaseEnd, PhaseRecord, phase_flags};
use crate::tables::Phase;

/// Reads a record; none if its end is of unknown kind.
pub fn phase(r: &[u8]) -> Option<Phase> {
    Some(Phase {
        writer: field!(r, PhaseRecord, writer),
        reader: field!(r, PhaseRecord, reader),
        from_ns: field!(r, PhaseRecord, from_ns),
        to_ns: field!(r, PhaseRecord, to_ns),
        raw: field!(r, PhaseRecord, raw),
        rar: field!(r, PhaseRecord, rar),
        meeting: field!(r, PhaseRecord, meeting),
        end: PhaseEnd::from_number(field!(r, PhaseRecord, end))?,
        coarse: field!(r, PhaseRecord, flags) & phase_flags::COARSE != 0,
    })
}

/// Checks a record; the error says what is wrong with it.
pub fn check(r: &[u8]) -> Result<(), String> {
    let p = phase(r).ok_or_else(|| format!("a phase with an end of unknown kind {}", field!(r, PhaseRecord, end)))?;
    if !is_pair(p.writer, p.reader) {
        return Err(format!("a phase from thread {} to thread {}", p.writer, p.reader));
    }
    if p.from_ns > p.to_ns {
        return Err(format!("a phase of thread {} that ends before it begins", p.reader));
    }
    Ok(())
}
