//! What the reads of a loop are, in the state that the cells are in before it.

use super::findings::{Findings, Found, Stretch, TooMany};
use super::known::holds;
use super::structures::Alike;
use super::{Span, dense, plain};
use crate::hooks::scan::{equal_prefix, own_prefix};
use crate::process::Process;
use crate::thread::quiet::{Pattern, part_end};
use crate::thread::{Thread, known_at};
use threadtalk_abi::GRANULE;
use threadtalk_abi::cell::NONE;
use threadtalk_abi::loops::Access;
use threadtalk_abi::thread::EventCounter;
use threadtalk_sigmem::Run;
use threadtalk_sigmem::marks::mark;

/// Bytes between accesses that are looked at together with what lies between them: 16 cells take as long as one by
/// itself. Where they are farther apart, looking ahead costs more than the sequence in the loop.
pub const NEAR: u64 = 64;

/// Iterations of a loop whose events are told apart although it reads parts of granules.
const MOST_IRREGULAR: u64 = 256;

/// So often structures that are alike are looked for in vain.
pub(super) const MOST_TRIES: u32 = 4;
/// Stretches of cells in one state that an access is looked at for: so many, and one for so many iterations. Each takes
/// as long as a dozen sequences in the loop.
const MOST_STRETCHES: (u64, u64) = (32, 16);
/// The same where all reads of a loop are rows, which can be read in order whatever their states: so many, and one for
/// so many bytes. Each takes as long here as 50 granules there.
const MOST_STRETCHES_OF_ROW: (u64, u64) = (8, 2048);

/// An access of a loop that reads.
pub struct Reader<'a> {
    /// The thread.
    pub t: &'a mut Thread,
    /// The process.
    pub p: &'a Process,
    /// The access.
    pub access: &'a Access,
    /// Its number.
    pub number: u32,
    /// What it reaches.
    pub span: Span,
    /// How often the loop runs.
    pub iterations: u64,
    /// How many ranges are known.
    pub ranges: u64,
    /// How often structures that are alike may be looked for in vain.
    pub tries: u32,
    /// How many more stretches are looked at.
    pub stretches: u64,
}

/// What a read of a cell in some state is.
pub(super) enum Meaning {
    /// No event.
    Nothing,
    /// Reuse that this thread knows.
    Known(*mut EventCounter),
    /// Anything else: what it is depends on what comes before.
    Unknown,
}

impl<'a> Reader<'a> {
    /// Begins with an access.
    pub fn new(
        (t, p): (&'a mut Thread, &'a Process),
        (access, number): (&'a Access, u32),
        (span, iterations): (Span, u64),
        ranges: u64,
    ) -> Self {
        let stretches = MOST_STRETCHES.0 + iterations / MOST_STRETCHES.1;
        Reader { t, p, access, number, span, iterations, ranges, tries: MOST_TRIES, stretches }
    }

    /// All reads of the loop are rows.
    pub fn is_one_of_rows(&mut self) {
        self.stretches = MOST_STRETCHES_OF_ROW.0 + (self.span.last - self.span.first) / MOST_STRETCHES_OF_ROW.1;
    }

    /// Finds the access's events. Where the span is own, which is nearly always nearly all of it, gaps between accesses
    /// and overlaps of accesses do not matter. `from`: where the first one may be.
    pub fn look(&mut self, from: Option<u64>, found: &mut Findings) -> Result<(), TooMany> {
        let first = from.map_or(self.span.first, |from| from.max(self.span.first));
        let (mut at, end) = (first & !(GRANULE - 1), self.span.last + 1);
        let pattern = Pattern::of(self.access, self.span.first);
        while at < end {
            let part = (at, part_end(at, end));
            self.part(part, pattern, found)?;
            at = part.1;
        }
        Ok(())
    }

    /// Where a read of the span, gaps included, would be the first event. `pattern`: what is read of it.
    pub fn first_event(&mut self, pattern: Pattern) -> Option<u64> {
        let (mut at, end) = (self.span.first & !(GRANULE - 1), self.span.last + 1);
        while at < end {
            let (from, to) = (at, part_end(at, end));
            let known = holds(self.t, self.p, from).then_some(pattern);
            if self.next_event(&mut at, to, known).is_some() {
                return Some(at);
            }
            self.claim(from, known);
            at = to;
        }
        None
    }

    /// The events in a part of the span that lies in one chunk.
    fn part(&mut self, (from, to): (u64, u64), pattern: Pattern, found: &mut Findings) -> Result<(), TooMany> {
        let known = holds(self.t, self.p, from).then_some(pattern);
        let at = known.map_or(from, |pattern| self.t.quiet.reach(self.t.header.own_base, (from, to), pattern));
        if at == to {
            return Ok(());
        }
        let claim = self.shared(at);
        let rest = self.steady((at, to), claim, found)?;
        if self.scan(rest, to, (known, claim), found)? && rest == at {
            self.claim(from, known);
        }
        Ok(())
    }

    /// There are no events in a part of a chunk: it may be worth a claim.
    fn claim(&mut self, address: u64, known: Option<Pattern>) {
        if known.is_none()
            && self.p.signature.directory.offset(address).is_some()
            && self.p.claims.claim(&self.t.writable, address)
        {
            self.t.quiet.begin(self.t.header.own_base, address);
        }
    }

    /// The number of the shared claim that holds where a part begins, if the access can make use of one.
    #[inline]
    fn shared(&self, from: u64) -> Option<u32> {
        let claim = self.p.claims.shared(from)?;
        // Writes in windows are not seen.
        let seen = !self.t.has_written_windows() && self.p.signature.pool.chunks_aliased() == 0;
        (seen && self.is_row()).then_some(claim)
    }

    /// Whether the access reads all of its span, each granule once.
    fn is_row(&self) -> bool {
        self.access.stride > 0 && dense(self.access)
    }

    /// The reuse at the start of a part that needs no look at the cells; returns where it ends.
    #[inline]
    fn steady(&mut self, (mut from, to): (u64, u64), claim: Option<u32>, found: &mut Findings) -> Result<u64, TooMany> {
        let (own, site) = (self.t.header.own_base, self.access.site);
        while let Some(claim) = claim.filter(|_| from < to)
            && let Some((end, state)) = self.t.steady.reach(own, claim, (from, to))
            && let Some(counter) = self.t.known(state, site).filter(|counter| *counter != self.t.idle_counter())
        {
            self.foreign(Meaning::Known(counter), (from, end), found)?;
            from = end;
        }
        Ok(from)
    }

    /// Reuse in one state was found by a look at the cells of `from .. to`, in one chunk: it need not be looked at
    /// again as long as the claim holds. Where there is none, one may be worth it.
    fn learn(&mut self, claim: Option<u32>, (from, to): (u64, u64), state: u32) {
        if !self.is_row() || mark(state) != 0 {
            return;
        }
        let (own, site) = (self.t.header.own_base, self.access.site);
        if let Some(claim) = claim {
            let cache = (self.t.events.cast_const(), site);
            // SAFETY: this thread's cache.
            let known = |state| unsafe { known_at(cache, state) };
            let same = |one, other| known(one).is_some_and(|counter| known(other) == Some(counter));
            self.t.steady.add(own, claim, (from, to), state, same);
        } else if self.t.steady.is_worth(own, from, (to - from) / GRANULE) {
            self.p.claims.share(&self.t.writable, from);
        }
    }

    /// Looks at the cells of a part. `true`: there are no events.
    fn scan(
        &mut self,
        mut at: u64,
        end: u64,
        (known, claim): (Option<Pattern>, Option<u32>),
        found: &mut Findings,
    ) -> Result<bool, TooMany> {
        let mut quiet = true;
        while let Some((meaning, rest)) = self.next_event(&mut at, end, known) {
            let Some(&state) = rest.first() else { break };
            // Of marked elements each is looked at by itself.
            let granules = if mark(state) != 0 { 1 } else { equal_prefix(rest, state) as u64 };
            if matches!(meaning, Meaning::Known(_)) {
                self.learn(claim, (at, at + granules * GRANULE), state);
            }
            quiet = false;
            let Some(stretches) = self.stretches.checked_sub(1) else {
                // What comes after them may be events.
                self.events(Meaning::Unknown, 1, found)?;
                return Err(TooMany);
            };
            self.stretches = stretches;
            if self.tries > 0 && granules * GRANULE < self.access.stride.unsigned_abs() {
                if let Some(after) = self.structures(rest, at, found)? {
                    at = after;
                    continue;
                }
                self.tries -= 1;
            }
            self.foreign(meaning, (at, at + granules * GRANULE), found)?;
            at += granules * GRANULE;
        }
        Ok(quiet)
    }

    /// Moves `at` to the first cell before `end`, in one chunk, of which a read is an event, and says what it is; the
    /// cells are those from there on. `known`: the pattern, where the chunk is claimed.
    fn next_event(&mut self, at: &mut u64, end: u64, known: Option<Pattern>) -> Option<(Meaning, &'a [u32])> {
        let (own, p) = (self.t.header.own_base, self.p);
        loop {
            if let Some(pattern) = known {
                *at = self.t.quiet.reach(own, (*at, end), pattern);
            }
            if *at < end {
                *at = self.t.seen.end(self.ranges, *at);
            }
            if *at >= end {
                return None;
            }
            let from = *at;
            // What was seen farther on is not looked at again: a row whose first element others have read, say.
            let to = self.t.seen.begin(self.ranges, (from, end));
            let mut event = None;
            for run in p.signature.directory.runs(from, to - from) {
                let Run::Mapped { address, cells } = run else {
                    // Memory without cells has no writer: reads of it are no events.
                    let Run::Unmapped { address, granules } = run else { continue };
                    *at = address + granules * GRANULE;
                    continue;
                };
                let mut rest = plain(cells);
                *at = address;
                let mut alike = Alike::new(rest, self.access);
                while let [state, ..] = rest {
                    let meaning = self.meaning(*state, *at);
                    if !matches!(meaning, Meaning::Nothing) {
                        event = Some((meaning, rest));
                        break;
                    }
                    let length = self.stretch(rest, *state, (*at as usize).wrapping_sub(rest.as_ptr() as usize));
                    let length = alike.behind(rest, length);
                    rest = rest.get(length..).unwrap_or(&[]);
                    *at += length as u64 * GRANULE;
                }
                if event.is_some() {
                    break;
                }
            }
            if *at > from {
                self.ranges = self.t.seen.add(self.ranges, from, *at);
                if let Some(pattern) = known {
                    self.t.quiet.add(own, (from, *at), pattern);
                }
            }
            if event.is_some() || *at >= end {
                return event;
            }
        }
    }

    /// The reads of granules that are all in one state.
    fn foreign(&self, meaning: Meaning, (from, to): (u64, u64), found: &mut Findings) -> Result<(), TooMany> {
        if !self.regular() {
            if let Some(each) = granules_each(self.access) {
                return self.parts(meaning, (from, to), each, found);
            }
            // Every iteration by itself, if there are not too many of them.
            self.events(Meaning::Unknown, 1, found)?;
            return self.irregular((from, to), found);
        }
        let (bytes, stride) = (u64::from(self.access.bytes), self.access.stride.unsigned_abs());
        let (first, times) = (self.span.first, if stride == 0 { self.iterations } else { 1 });
        let before = |to: u64| {
            let whole = (to - first).checked_div(stride).unwrap_or(0);
            whole * bytes + (to - first - whole * stride).min(bytes)
        };
        // The whole row, of most: no division.
        let accessed = match self.reaches_no_further((from, to)) {
            true => bytes / GRANULE * self.iterations,
            false => (before(to) - before(from)) / GRANULE * times,
        };
        self.events(meaning, accessed, found)?;
        if accessed > 0 && found.has_room(accessed)? {
            found.keep(Stretch { from, to, access: self.number }, accessed);
        }
        Ok(())
    }

    /// Whether whole granules are accessed, each of them once (or all in each iteration).
    pub(super) fn regular(&self) -> bool {
        is_regular(self.access)
    }

    /// [`Self::foreign`] of an access that reads [so many granules](granules_each) in each iteration. Not made part of
    /// it: rows of whole granules would pay for its registers.
    #[inline(never)]
    fn parts(&self, meaning: Meaning, (from, to): (u64, u64), each: u64, found: &mut Findings) -> Result<(), TooMany> {
        let reads = self.parts_read((from, to), each);
        self.events(meaning, reads, found)?;
        let listed = if self.iterations > MOST_IRREGULAR { u64::MAX } else { reads };
        if reads > 0 && found.has_room(listed)? {
            found.keep(Stretch { from, to, access: self.number }, reads);
        }
        Ok(())
    }

    /// [`reads_of`], of most all: no division.
    fn parts_read(&self, granules: (u64, u64), each: u64) -> u64 {
        match self.reaches_no_further(granules) {
            true => self.iterations * each,
            false => reads_of(self.access, self.iterations, (self.span.first, each), granules),
        }
    }

    /// Whether all that the access reads lies in `from .. to`.
    fn reaches_no_further(&self, (from, to): (u64, u64)) -> bool {
        from <= self.span.first && self.span.last < to
    }

    /// Accesses whose iterations read more granules or fewer, as each begins elsewhere in one: those of the given
    /// granules, listed in the order of the loop.
    fn irregular(&self, (from, to): (u64, u64), found: &mut Findings) -> Result<(), TooMany> {
        let bytes = u64::from(self.access.bytes);
        if self.iterations > MOST_IRREGULAR {
            return Err(TooMany);
        }
        for iteration in 0..self.iterations {
            let address = self.access.address_in(iteration);
            let mut granule = (address & !(GRANULE - 1)).max(from);
            while granule < (address + bytes).min(to) {
                if !found.has_room(1)? {
                    return Err(TooMany);
                }
                found.list(Found { iteration, granule, access: self.number });
                granule += GRANULE;
            }
        }
        Ok(())
    }

    pub(super) fn events(&self, meaning: Meaning, n: u64, found: &mut Findings) -> Result<(), TooMany> {
        if n == 0 {
            return Ok(());
        }
        found.eventful |= 1 << self.number;
        match meaning {
            Meaning::Nothing => Ok(()),
            Meaning::Known(counter) => found.count(Some(counter), n),
            Meaning::Unknown => found.count(None, n),
        }
    }

    /// How many cells from the start are own, or in the state of the first.
    #[inline]
    fn stretch(&self, cells: &[u32], state: u32, data: usize) -> usize {
        let header = &self.t.header;
        if header.is_own(state) {
            own_prefix(cells, header.own_base, header.own_span, data)
        } else {
            equal_prefix(cells, state)
        }
    }

    #[inline]
    pub(super) fn meaning(&mut self, state: u32, address: u64) -> Meaning {
        if state == NONE || self.t.header.is_own(state) {
            return Meaning::Nothing;
        }
        let unmarked = state & !mark(state);
        match self.t.known(unmarked, self.access.site) {
            None if self.t.view.owns(&self.p.states, unmarked) => {
                self.t.remember_no_event(unmarked, self.access.site);
                Meaning::Nothing
            }
            None => Meaning::Unknown,
            Some(counter) if counter == self.t.idle_counter() => Meaning::Nothing,
            Some(_) if unmarked != state && self.t.waits_for(address) => Meaning::Unknown,
            Some(counter) => Meaning::Known(counter),
        }
    }
}

fn is_regular(access: &Access) -> bool {
    let (stride, bytes) = (access.stride.unsigned_abs(), u64::from(access.bytes));
    let whole = [access.address, bytes, stride].iter().all(|n| n.is_multiple_of(GRANULE));
    whole && (stride == 0 || stride >= bytes)
}

/// How many granules each iteration reads, if all read as many: a part of one, as of the bytes of a text, or what
/// begins at the same place of one each time. Each is an event of its own, also of a granule that was read before.
#[inline]
pub fn granules_each(access: &Access) -> Option<u64> {
    let (bytes, stride) = (u64::from(access.bytes), access.stride.unsigned_abs());
    if bytes < GRANULE && GRANULE.is_multiple_of(bytes) {
        return [access.address, stride].iter().all(|n| n.is_multiple_of(bytes)).then_some(1);
    }
    let alike = bytes.is_multiple_of(GRANULE) && stride.is_multiple_of(GRANULE);
    alike.then(|| (access.address % GRANULE + bytes).div_ceil(GRANULE))
}

/// How often granules are read by an access whose lowest iteration begins at `lowest`, and each of whose iterations
/// reads [as many](granules_each).
fn reads_of(access: &Access, iterations: u64, (lowest, each): (u64, u64), (from, to): (u64, u64)) -> u64 {
    let stride = access.stride.unsigned_abs();
    let before = |first: u64, end: u64| match stride {
        0 if end <= first => 0,
        0 => iterations,
        _ => end.saturating_sub(first).div_ceil(stride).min(iterations),
    };
    let nth = |number: u64| match number {
        0 => lowest,
        _ => (lowest & !(GRANULE - 1)) + number * GRANULE,
    };
    (0..each).map(nth).map(|first| before(first, to) - before(first, from)).sum()
}

/// Lists the events of a stretch of an access whose iterations read [as many granules each](granules_each).
pub fn list(found: &mut Findings, accesses: &[Access], iterations: u64, stretch: Stretch) {
    let Some(access) = accesses.get(stretch.access as usize) else { return };
    if !is_regular(access) {
        for iteration in 0..iterations {
            let from = access.address_in(iteration);
            let granules = from & !(GRANULE - 1)..from + u64::from(access.bytes);
            for granule in granules.step_by(GRANULE as usize).filter(|at| (stretch.from..stretch.to).contains(at)) {
                found.list(Found { iteration, granule, access: stretch.access });
            }
        }
        return;
    }
    let Some(Span { first, .. }) = Span::of(access, iterations) else { return };
    let (bytes, stride) = (u64::from(access.bytes), access.stride.unsigned_abs());
    let (last, times) = (iterations - 1, if stride == 0 { iterations } else { 1 });
    for granule in (stretch.from..stretch.to).step_by(GRANULE as usize) {
        let round = (granule - first).checked_div(stride).unwrap_or(0);
        if granule - first - round * stride >= bytes {
            continue;
        }
        let iteration = if access.stride < 0 { last - round } else { round };
        (0..times).for_each(|i| found.list(Found { iteration: iteration + i, granule, access: stretch.access }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_reads_are_those_of_the_iterations() {
        let mut rng = fastrand::Rng::with_seed(24);
        let (mut some, mut parts) = (0, 0);
        for _ in 0..40_000 {
            let bytes = [1, 2, 4, 8, 16, 20][rng.usize(0..6)];
            let stride = [0, 1, 2, 3, 4, 6, 8, 16, 20, -1, -2, -4, -16, -24][rng.usize(0..14)];
            let access = Access { address: 4096 + rng.u64(0..9), stride, bytes, flags: 0, site: 1, window: 0 };
            let iterations = rng.u64(1..20);
            let Some(each) = granules_each(&access) else { continue };
            let lowest = access.address.min(access.address_in(iterations - 1));
            let from = 3584 + GRANULE * rng.u64(0..300);
            let to = from + GRANULE * rng.u64(0..60);
            let expected: usize = (0..iterations)
                .map(|iteration| access.address_in(iteration))
                .map(|first| (first & !(GRANULE - 1)..first + u64::from(bytes)).step_by(GRANULE as usize))
                .map(|granules| granules.filter(|at| (from..to).contains(at)).count())
                .sum();
            let found = reads_of(&access, iterations, (lowest, each), (from, to));
            assert_eq!(found, expected as u64, "{access:?} {iterations} {from} {to}");
            some += u64::from(found > 0);
            parts += u64::from(found > 0 && found < iterations * each);
        }
        assert!(some > 3000 && parts > 2000, "{some} {parts}");
    }
}
