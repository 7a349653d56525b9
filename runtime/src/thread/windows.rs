//! What the loops of a nest know of memory: see [`threadtalk_abi::window`].

use super::Thread;
use super::column::{Column, Outline};
use crate::memory;
use crate::process::Process;
use threadtalk_abi::GRANULE;
use threadtalk_abi::window::{NUMBERS, SHORTEST, SHORTEST_ASKED, WINDOWS, Window, index};

/// Windows with events, and bytes, that an overwrite is compared with one by one.
const MOST_COMPARED: u64 = 16;

/// log2 of the bytes of a line.
const LINE_LOG2: u32 = 6;

/// Columns of one place. A third of a product's 480 windows share theirs with another. The loop that finds the other
/// one asks, which costs 0.2 microseconds if its own column is still here, and 5 if its cells are looked at again.
const WAYS: usize = 4;
const COLUMNS: usize = WINDOWS * WAYS;

/// A thread's windows. Which of them count says the stamp in its header.
pub struct Windows {
    table: *mut Window,
    /// What memory each of them reaches.
    spans: *mut Span,
    /// Columns, [`WAYS`] for each place of a window; their stamps are of the same kind.
    columns: *mut Column,
    /// What to look at before each of them.
    outlines: *mut Outline,
    /// Places of windows with events, and of such columns, of this stamp or of earlier ones.
    eventful: Places<{ WINDOWS / 64 }>,
    eventful_columns: Places<{ COLUMNS / 64 }>,
    /// So many strided loops are not looked at.
    pub skip: u32,
    /// How many were not looked at after the last one that was refused.
    pub skipped: u32,
    /// The same of nests that are described as a whole.
    pub skip_nests: u32,
    /// See `skipped`.
    pub skipped_nests: u32,
    /// [`ThreadHeader::settled`](threadtalk_abi::thread::ThreadHeader::settled) at the last question.
    settled: u64,
    /// Iterations that a question settles, its own loop's and those that find its windows, times [`MEMORY`]: an average
    /// over the last questions.
    worth: u64,
    /// The nest's stamp when a window was entered in which its loops write.
    written: u64,
    /// When windows are tried again, on the process's clock; 0 while they are in use.
    retry_ns: u64,
    /// How long they were not in use the last time.
    waited_ns: u64,
    /// Since when they are not worth more than they were believed to be at first; 0: they are.
    doubted_ns: u64,
}

/// Questions that the average is over.
const MEMORY: u64 = 128;
/// What windows are believed to be worth before the first question: 89 that settle nothing use it up. (A product by
/// tiles of 32 asks for 32 rows before it comes back to the first.)
const CREDIT: u64 = 2 * LEAST_WORTH * MEMORY;
/// A question takes 110 ns, and an iteration that a window settles saves 0.9 (rows of LU, four iterations of 4
/// elements, take 3.5 ns less).
const LEAST_WORTH: u64 = 128;
/// One question has not settled more, for the average.
const MOST_WORTH: u64 = 32 * LEAST_WORTH;
/// How many times as long as it took to find out that they are not worth it, which is 10 to 300 microseconds, windows
/// are not used, at first and in the end.
const WAITS: (u64, u64) = (16, 128);
/// How long at most.
const LONGEST_NS: u64 = 100_000_000;

impl Windows {
    /// An empty table. `None`: no memory.
    pub fn new() -> Option<Self> {
        // Zeroed: no nest has the stamp 0.
        let table = memory::reserve(WINDOWS * size_of::<Window>())?.as_ptr().cast();
        Some(Windows {
            table,
            spans: memory::reserve(WINDOWS * size_of::<Span>())?.as_ptr().cast(),
            columns: memory::reserve(COLUMNS * size_of::<Column>())?.as_ptr().cast(),
            outlines: memory::reserve(COLUMNS * size_of::<Outline>())?.as_ptr().cast(),
            eventful: Places::NONE,
            eventful_columns: Places::NONE,
            skip: 0,
            skipped: 0,
            skip_nests: 0,
            skipped_nests: 0,
            settled: 0,
            worth: CREDIT,
            written: 0,
            retry_ns: 0,
            waited_ns: 0,
            doubted_ns: 0,
        })
    }

    /// The table.
    pub fn table(&self) -> *mut Window {
        self.table
    }

    fn entries(&mut self) -> &mut [Window] {
        // SAFETY: this thread's memory; inlined code of other threads does not see it, this one's does not run now.
        unsafe { core::slice::from_raw_parts_mut(self.table, WINDOWS) }
    }

    fn spans(&mut self) -> &mut [Span] {
        // SAFETY: this thread's memory; zeroed, it is a span that nobody looks at.
        unsafe { core::slice::from_raw_parts_mut(self.spans, WINDOWS) }
    }

    fn columns(&mut self) -> &mut [Column] {
        // SAFETY: this thread's memory; zeroed memory is a column of no nest.
        unsafe { core::slice::from_raw_parts_mut(self.columns, COLUMNS) }
    }

    fn outlines(&mut self) -> &mut [Outline] {
        // SAFETY: this thread's memory; a zeroed outline is one of any column.
        unsafe { core::slice::from_raw_parts_mut(self.outlines, COLUMNS) }
    }
}

/// The memory that a window reaches, in lines of 64 bytes, in an eighth of one: each element that begins to be watched
/// is looked for in all windows.
#[derive(Clone, Copy)]
struct Span {
    /// The first line, its low bits.
    first: u32,
    /// How many follow it.
    more: u32,
}

impl Span {
    fn of(window: &Window) -> Self {
        let (first, reach) = reach(window);
        let last = first + reach + (window.end - window.first);
        let more = (last >> LINE_LOG2) - (first >> LINE_LOG2);
        Span { first: (first >> LINE_LOG2) as u32, more: u32::try_from(more).unwrap_or(u32::MAX) }
    }

    /// Whether an address may be in it; `false` is certain.
    fn may_have(self, address: u64) -> bool {
        ((address >> LINE_LOG2) as u32).wrapping_sub(self.first) <= self.more
    }
}

/// Places of a table.
#[derive(Clone, Copy)]
struct Places<const WORDS: usize> {
    words: [u64; WORDS],
    any: bool,
}

impl<const WORDS: usize> Places<WORDS> {
    const NONE: Self = Places { words: [0; WORDS], any: false };

    fn add(&mut self, place: usize) {
        if let Some(word) = self.words.get_mut(place / 64) {
            *word |= 1 << (place % 64);
            self.any = true;
        }
    }

    /// Nests of a few iterations have none, and there are many such nests.
    fn clear(&mut self) {
        if self.any {
            *self = Self::NONE;
        }
    }

    fn all(self) -> impl Iterator<Item = usize> {
        let words = if self.any { WORDS } else { 0 };
        self.words.into_iter().take(words).enumerate().flat_map(|(word, mut bits)| {
            core::iter::from_fn(move || {
                let bit = bits.trailing_zeros() as usize;
                (bits != 0).then(|| {
                    bits &= bits - 1;
                    word * 64 + bit
                })
            })
        })
    }
}

/// The lowest place that a window's accesses begin at, in whatever iteration, and how far the highest one is from it.
pub(super) fn reach(window: &Window) -> (u64, u64) {
    let reach = window.stride.unsigned_abs() * window.iterations.saturating_sub(1);
    (if window.stride < 0 { window.first - reach } else { window.first }, reach)
}

/// Whether a window holds the byte at an address.
fn holds(window: &Window, address: u64) -> bool {
    let ((first, reach), width) = (reach(window), window.end - window.first);
    // Most are elsewhere, which takes no division.
    let Some(distance) = address.checked_sub(first).filter(|distance| *distance < reach + width) else { return false };
    let stride = window.stride.unsigned_abs();
    let round = distance.checked_div(stride).unwrap_or(0).min(window.iterations.saturating_sub(1));
    distance - round * stride < width
}

impl Thread {
    /// The entry for a group of accesses, if it belongs to the running nest.
    pub fn window(&mut self, (address, shift): (u64, u32), number: u64) -> Option<Window> {
        let stamp = self.header.stamp + number;
        self.windows.entries().get(index(address, shift, number)).copied().filter(|w| w.stamp == stamp)
    }

    /// Enters a window for a group of accesses that begins at an address.
    pub fn put_window(&mut self, (address, shift): (u64, u32), number: u64, window: Window) {
        let (stamp, place) = (self.header.stamp, index(address, shift, number));
        if self.note_events(&window) {
            self.windows.eventful.add(place);
            if let Some(span) = self.windows.spans().get_mut(place) {
                *span = Span::of(&window);
            }
        }
        if let Some(entry) = self.windows.entries().get_mut(place) {
            *entry = Window { stamp: stamp + number, ..window };
        }
    }

    /// The column of a group of accesses, if it belongs to the running nest.
    pub fn column(
        &mut self,
        (address, shift): (u64, u32),
        number: u64,
        serves: impl Fn(&Column) -> bool,
    ) -> Option<&mut Column> {
        let stamp = self.header.stamp + number;
        let first = index(address, shift, number) * WAYS;
        let mut ways = self.windows.columns().get_mut(first..first + WAYS)?.iter_mut();
        ways.find(|column| column.window.stamp == stamp && serves(column))
    }

    /// Enters a column for a group of accesses that begins at an address.
    pub fn put_column(&mut self, (address, shift): (u64, u32), number: u64, column: Column) {
        let stamp = self.header.stamp;
        let first = index(address, shift, number) * WAYS;
        let ways = self.windows.columns().get(first..first + WAYS).unwrap_or(&[]);
        let free = ways.iter().position(|column| column.window.stamp.wrapping_sub(stamp) >= NUMBERS);
        let place = first + free.unwrap_or((address >> shift) as usize % WAYS);
        if self.note_events(&column.window) {
            self.windows.eventful_columns.add(place);
            if let Some(outline) = self.windows.outlines().get_mut(place) {
                *outline = column.outline();
            }
        }
        if let Some(entry) = self.windows.columns().get_mut(place) {
            *entry = column;
            entry.window.stamp = stamp + number;
        }
    }

    /// What memory windows with events reach. Whether this is one.
    fn note_events(&mut self, window: &Window) -> bool {
        if window.counter == self.idle_counter() {
            return false;
        }
        let (first, reach) = reach(window);
        let end = first + reach + (window.end - window.first);
        self.header.events_first = self.header.events_first.min(first);
        self.header.events_end = self.header.events_end.max(end);
        true
    }

    /// Loops of the running nest write in a window.
    pub fn writes_in_window(&mut self) {
        self.windows.written = self.header.stamp;
    }

    /// Whether loops of the running nest may write in windows, unseen.
    #[inline]
    pub fn has_written_windows(&self) -> bool {
        self.windows.written == self.header.stamp
    }

    /// Whether windows are in use.
    pub fn uses_windows(&self) -> bool {
        self.windows.retry_ns == 0
    }

    /// A question was answered: whether such are worth it shows in what they and their windows settle. If not, there
    /// are no windows for a while.
    pub fn weigh_windows(&mut self, p: &Process, settled: u64) {
        let found = self.header.settled.wrapping_sub(self.windows.settled);
        self.windows.settled = self.header.settled;
        let settled = found.saturating_add(settled).min(MOST_WORTH);
        self.windows.worth = self.windows.worth - self.windows.worth / MEMORY + settled;
        if self.windows.worth > CREDIT {
            (self.windows.waited_ns, self.windows.doubted_ns) = (0, 0);
            return;
        }
        if self.windows.doubted_ns == 0 {
            self.windows.doubted_ns = p.elapsed_ns();
        }
        if self.windows.worth < LEAST_WORTH * MEMORY {
            let now = p.elapsed_ns();
            let tried = now.saturating_sub(self.windows.doubted_ns);
            let [least, most] = [WAITS.0, WAITS.1].map(|times| tried.saturating_mul(times).min(LONGEST_NS));
            self.windows.waited_ns = (2 * self.windows.waited_ns).max(least).min(most);
            self.windows.retry_ns = now + self.windows.waited_ns;
            self.set_shortest(SHORTEST_ASKED);
            self.forget_windows();
        }
    }

    fn set_shortest(&mut self, iterations: u64) {
        self.header.shortest = iterations;
        if self.is_nest_open() {
            self.header.called = iterations;
        }
    }

    /// Whether a nest runs that calls functions.
    #[inline]
    pub fn is_nest_open(&self) -> bool {
        self.header.called != u64::MAX
    }

    /// Uses windows again if they have not been used for long enough. A thread whose accesses are all counted by
    /// inlined code comes here only where it has waited.
    #[inline]
    pub fn reconsider_windows(&mut self, now: impl FnOnce() -> u64) {
        if self.uses_windows() {
            return;
        }
        if now() >= self.windows.retry_ns {
            (self.windows.retry_ns, self.windows.doubted_ns) = (0, 0);
            self.windows.worth = CREDIT;
            self.set_shortest(SHORTEST);
        }
    }

    /// No window counts any more.
    pub fn forget_windows(&mut self) {
        self.header.stamp += NUMBERS;
        self.windows.eventful.clear();
        self.windows.eventful_columns.clear();
        (self.header.events_first, self.header.events_end) = (u64::MAX, 0);
    }

    /// The element at an address is watched from now on: its next read must be seen.
    pub fn forget_windows_at(&mut self, address: u64) {
        if !self.has_events_between(address, address + 1) {
            return;
        }
        let (stamp, idle) = (self.header.stamp, self.idle_counter());
        let counts = |window: &Window| window.counter != idle && window.stamp.wrapping_sub(stamp) < NUMBERS;
        for at in self.windows.eventful.all() {
            if self.windows.spans().get(at).is_some_and(|span| span.may_have(address))
                && let Some(window) = self.windows.entries().get_mut(at)
                && counts(window)
                && holds(window, address)
            {
                window.stamp = 0;
            }
        }
        // Columns of one matrix have one stride.
        let mut place = (0, 0);
        for at in self.windows.eventful_columns.all() {
            if self.windows.outlines().get(at).is_some_and(|outline| outline.may_have(address, &mut place))
                && let Some(column) = self.windows.columns().get_mut(at)
                && counts(&column.window)
                && column.has(address)
                && !column.watch(address)
            {
                column.window.stamp = 0;
            }
        }
    }

    /// The thread overwrites the bytes from `first` to `end`, which were not all its own.
    #[inline]
    pub fn overwrites(&mut self, first: u64, end: u64) {
        if self.has_events_between(first, end) && self.may_hold_events(first, end) {
            self.forget_windows();
        }
    }

    /// Whether a window with events has one of the bytes from `first` to `end`: if there are few windows and bytes, for
    /// sure. A member of a structure may be written between those of others that are read.
    #[cold]
    fn may_hold_events(&mut self, first: u64, end: u64) -> bool {
        let (places, columns) = (self.windows.eventful, self.windows.eventful_columns);
        if end - first > MOST_COMPARED || places.all().chain(columns.all()).nth(MOST_COMPARED as usize).is_some() {
            return true;
        }
        let granules = || (first & !(GRANULE - 1)..end).step_by(GRANULE as usize);
        let stamp = self.header.stamp;
        let held = |window: &Window| {
            window.stamp.wrapping_sub(stamp) < NUMBERS && granules().any(|address| holds(window, address))
        };
        places.all().any(|at| self.windows.entries().get(at).is_some_and(held))
            || columns.all().any(|at| self.windows.columns().get(at).is_some_and(|column| held(&column.window)))
    }

    /// Whether a window with events may have one of the bytes from `first` to `end`.
    #[inline]
    pub fn has_events_between(&self, first: u64, end: u64) -> bool {
        first < self.header.events_end && self.header.events_first < end
    }
}

#[cfg(test)]
mod tests {
    use super::{Span, holds};
    use core::ptr;
    use threadtalk_abi::window::Window;

    fn window(first: u64, end: u64, stride: i64, iterations: u64) -> Window {
        Window { stamp: 1, first, end, counter: ptr::null_mut(), stride, iterations, granules: 0, cells: 0 }
    }

    #[test]
    fn a_window_holds_what_its_accesses_reach() {
        for (stride, iterations) in [(0, 0), (96, 1), (96, 5), (-96, 5), (-64, 3), (1000, 2)] {
            let w = window(5000, 5064, stride, iterations);
            for address in 4000..7000 {
                let reached = (0..iterations.max(1) as i64)
                    .any(|i| (5000 + i * stride..5064 + i * stride).contains(&(address as i64)));
                assert_eq!(holds(&w, address), reached, "{stride} {iterations} {address}");
                assert!(Span::of(&w).may_have(address) || !reached, "{stride} {iterations} {address}");
            }
        }
    }
}
