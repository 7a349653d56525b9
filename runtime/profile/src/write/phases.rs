//! Communication over time.

use super::bytes::put;
use crate::layout::{PhaseRecord, phase_flags};
use crate::tables::Phase;

pub fn phase(r: &mut [u8], p: &Phase) {
    put!(r, PhaseRecord, writer, p.writer);
    put!(r, PhaseRecord, reader, p.reader);
    put!(r, PhaseRecord, from_ns, p.from_ns);
    put!(r, PhaseRecord, to_ns, p.to_ns);
    put!(r, PhaseRecord, raw, p.raw);
    put!(r, PhaseRecord, rar, p.rar);
    put!(r, PhaseRecord, meeting, p.meeting);
    put!(r, PhaseRecord, end, p.end as u16);
    put!(r, PhaseRecord, flags, if p.coarse { phase_flags::COARSE } else { 0 });
}
