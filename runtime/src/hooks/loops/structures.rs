//! Arrays of structures whose members were written at lines of their own: their cells are in several states, which
//! repeat from one structure to the next.

use super::findings::{Findings, TooMany};
use super::reads::{MOST_TRIES, Meaning, Reader};
use crate::hooks::scan::repeats;
use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::Access;
use threadtalk_sigmem::marks::mark;

/// Fewer structures are looked at cell by cell.
const LEAST: usize = 4;
/// Granules of a structure, at most.
const MOST_GRANULES: usize = 32;

/// Structures without events: once one is passed, all that are like it are.
pub(super) struct Alike<'a> {
    /// Cells from where the first one that is compared begins.
    cells: &'a [u32],
    period: usize,
    tries: u32,
}

impl<'a> Alike<'a> {
    /// Those of an access, of which these are the cells.
    pub(super) fn new(cells: &'a [u32], access: &Access) -> Self {
        Self { cells, period: (access.stride.unsigned_abs() / GRANULE) as usize, tries: MOST_TRIES }
    }

    /// The cells of `rest`, a part of the cells up to their end, begin with so many without an event: how many do, if
    /// structures are alike.
    #[inline]
    pub(super) fn behind(&mut self, rest: &[u32], length: usize) -> usize {
        if self.tries == 0 || length >= self.period || self.period > MOST_GRANULES {
            return length;
        }
        let passed = self.cells.len() - rest.len() + length;
        if passed < self.period { length } else { self.compare(passed) + length }
    }

    /// How many cells beyond those that were passed are like the ones before.
    #[inline(never)]
    fn compare(&mut self, passed: usize) -> usize {
        // The latest ones, a structure long.
        let latest = self.cells.get(passed - self.period..).unwrap_or(&[]);
        let more = repeats(latest, self.period);
        self.tries -= u32::from(more < self.period);
        self.cells = self.cells.get(passed + more..).unwrap_or(&[]);
        more
    }
}

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
        let alike = repeats(cells, period);
        let members = cells.get(..period).filter(|_| alike >= (LEAST - 1) * period).unwrap_or(&[]);
        let mut counts = [None; MOST_GRANULES];
        let mut granules = 0;
        // The last structure may end before what fills it up, or be like the others in its first members only.
        let structures = |place: usize| 1 + (alike + period - 1 - place).checked_div(period).unwrap_or(0) as u64;
        for (place, (&state, address)) in members.iter().zip((at..).step_by(GRANULE as usize)).enumerate() {
            let Some(count) = counts.get_mut(place) else { break };
            let within = address.wrapping_sub(self.span.first).checked_rem(stride);
            if within.is_none_or(|offset| offset >= u64::from(self.access.bytes)) {
                continue;
            }
            match self.meaning(state, address) {
                // The thread may wait for one of the others.
                _ if mark(state) != 0 => return Ok(None),
                Meaning::Nothing => {}
                Meaning::Known(counter) => {
                    *count = Some((counter, structures(place)));
                    granules += structures(place);
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
        for (counter, structures) in counts.into_iter().flatten() {
            self.events(Meaning::Known(counter), structures, found)?;
        }
        Ok(Some(at + (period + alike) as u64 * GRANULE))
    }
}
