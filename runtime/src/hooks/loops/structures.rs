//! Arrays of structures whose members were written at lines of their own: their cells are in several states, which
//! repeat from one structure to the next.

use super::findings::{Findings, TooMany};
use super::reads::{Meaning, Reader};
use crate::hooks::scan::repeats;
use threadtalk_abi::GRANULE;
use threadtalk_sigmem::marks::mark;

/// Fewer structures are looked at cell by cell.
const LEAST: usize = 4;
/// Granules of a structure, at most.
const MOST_GRANULES: usize = 32;

impl Reader<'_> {
    /// The reads from `at` on of structures that are alike, member by member: what the first one's are, all are.
    /// `cells`: those from `at` to the end of the access's span or of the chunk. Returns where it ends; `None`: nothing
    /// was found, because too few are alike, or what one of the reads means is not known.
    pub(super) fn structures(&mut self, cells: &[u32], at: u64, found: &mut Findings) -> Result<Option<u64>, TooMany> {
        let stride = self.access.stride.unsigned_abs();
        let period = (stride / GRANULE) as usize;
        if !(2..=MOST_GRANULES).contains(&period) || cells.len() < LEAST * period || !self.regular() {
            return Ok(None);
        }
        let alike = repeats(cells, period).checked_div(period).map_or(0, |behind| behind + 1);
        let members = cells.get(..period).filter(|_| alike >= LEAST).unwrap_or(&[]);
        let mut counts = [None; MOST_GRANULES];
        let mut granules = 0;
        for ((&state, address), count) in members.iter().zip((at..).step_by(GRANULE as usize)).zip(&mut counts) {
            let within = address.wrapping_sub(self.span.first).checked_rem(stride);
            if within.is_none_or(|offset| offset >= u64::from(self.access.bytes)) {
                continue;
            }
            match self.meaning(state, address) {
                // The thread may wait for one of the others.
                _ if mark(state) != 0 => return Ok(None),
                Meaning::Nothing => {}
                Meaning::Known(counter) => {
                    *count = Some(counter);
                    granules += alike as u64;
                }
                Meaning::Unknown => return Ok(None),
            }
        }
        // Whatever becomes of them: the access has events.
        self.events(Meaning::Nothing, granules, found)?;
        if members.is_empty() || granules > 0 && found.has_room(granules)? {
            // Few events are listed one by one.
            return Ok(None);
        }
        for counter in counts.into_iter().flatten() {
            self.events(Meaning::Known(counter), alike as u64, found)?;
        }
        Ok(Some(at + alike as u64 * stride))
    }
}
