//! What a cell's state means to one thread, and what the thread's reads and writes make of it.

use crate::composed::Composed;
use crate::fresh::FreshId;
use crate::marks::mark;
use crate::neighbours;
use crate::open::{Known, is_open};
use crate::primitive::{AtomicU32, Ordering, fence};
use crate::states::{StateStock, States};
use threadtalk_abi::cell::{NONE, SHARED, TRACKED};

/// What a read was. `state` names the cell's state now, without [`TRACKED`]: as long as a cell holds it,
/// another read by the same thread is reuse (after `Communication` and `Reuse`) or no event (after `Own`), unless the
/// state [does not tell](View::is_unlisted).
/// `tracked`: a reuse distance waits for the element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields, named above
pub enum Read {
    /// Nobody wrote the element: no event.
    Cold,
    /// The thread reads what it wrote: no event.
    Own { state: u32, tracked: bool },
    /// The thread's first read of the value: true communication. The thread is now among the readers, or knows by
    /// itself that it is one.
    Communication { writer: FreshId, state: u32, tracked: bool },
    /// The thread had read the value before.
    Reuse { writer: FreshId, state: u32, tracked: bool },
    /// The thread is not among the readers, and the tables have no room for a state in which it is: the
    /// cell stays as it is.
    Exhausted { writer: FreshId, state: u32, tracked: bool },
}

/// First reads of neighbouring elements that were in one state, none of them marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alike {
    /// Who wrote the elements.
    pub writer: FreshId,
    /// The state that their cells were in.
    pub from: u32,
    /// The state that their cells are in now: another one, unless the values are open.
    pub state: u32,
    /// How many were read, from the first on.
    pub read: usize,
}

/// A granule of structures that follow each other, all of them in this state, not marked, and what a read of it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Who wrote it; the fresh id 0 if nobody did.
    pub writer: FreshId,
    /// The state that it was in.
    pub from: u32,
    /// The state that it is in now.
    pub state: u32,
    /// What its read was.
    pub read: MemberRead,
}

/// Granules of a structure that is read at once, at most.
pub const MOST_MEMBERS: usize = 64;

/// What the read of a [`Member`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberRead {
    /// No event.
    Nothing,
    /// True communication.
    Communication,
    /// Reuse.
    Reuse,
}

impl Member {
    /// Of nobody's.
    pub const NONE: Self = Self::of(NONE);

    /// In a state in which it is no event, or not read.
    const fn of(state: u32) -> Self {
        Self { writer: FreshId(NONE), from: state, state, read: MemberRead::Nothing }
    }
}

/// A slot of the transition cache: what a state becomes when this thread reads it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Transition {
    from: u32,
    to: u32,
    writer: FreshId,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Kind {
    Communication,
    Own,
    Reuse,
    Exhausted,
}

impl Transition {
    /// No state: cells in state [`NONE`] are never looked up.
    pub const EMPTY: Self = Self { from: NONE, to: NONE, writer: FreshId(NONE), kind: Kind::Communication };
}

/// One thread's view of the signature. Private to the thread.
pub struct View {
    thread: u32,
    own_base: u32,
    own_span: u32,
    site_bits: u32,
    transitions: *mut Transition,
    shift: u32,
    stock: StateStock,
    /// What the thread has read of open values. Nothing, unless the runtime says otherwise.
    pub known: Known,
}

// SAFETY: nobody else uses the slots (contract of `new`), so they move with the view.
unsafe impl Send for View {}

impl View {
    /// The view of logical thread `thread`.
    ///
    /// # Safety
    /// `transitions` points to `1 << transitions_log2` slots (1 to 31), all zero bytes or [`Transition::EMPTY`], that
    /// nobody else uses and that live as long as the view.
    pub unsafe fn new(thread: u32, site_bits: u32, transitions: *mut Transition, transitions_log2: u32) -> Self {
        let (own_base, own_span) = (FreshId::new(thread, false, 0, site_bits).0, 2 << site_bits);
        let shift = 32 - transitions_log2;
        let stock = StateStock::default();
        Self { thread, own_base, own_span, site_bits, transitions, shift, stock, known: Known::NONE }
    }

    /// Makes it the view of another thread, which inherits what the old one had taken from the tables.
    pub fn pass_on(&mut self, thread: u32) {
        for slot in 0..1_usize << (32 - self.shift) {
            // SAFETY: below the number of slots.
            unsafe { *self.transitions.add(slot) = Transition::EMPTY };
        }
        self.thread = thread;
        self.own_base = FreshId::new(thread, false, 0, self.site_bits).0;
    }

    /// The logical thread.
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// First fresh id of the thread.
    pub fn own_base(&self) -> u32 {
        self.own_base
    }

    /// Number of fresh ids of the thread.
    pub fn own_span(&self) -> u32 {
        self.own_span
    }

    /// Whether a cell holds one of the thread's ids.
    #[inline(always)]
    fn is_own(&self, cell: u32) -> bool {
        cell.wrapping_sub(self.own_base) < self.own_span
    }

    /// The thread reads the element of this cell. Lock-free: an exchange fails only because another thread's
    /// succeeded.
    #[inline]
    pub fn read(&mut self, states: &States, cell: &AtomicU32) -> Read {
        // Acquire: partner is the exchange of the reader that put a shared name there; the name's entry and its
        // reader set are visible.
        let mut found = cell.load(Ordering::Acquire);
        loop {
            if found == NONE {
                return Read::Cold;
            }
            if self.is_own(found) {
                return Read::Own { state: found, tracked: false };
            }
            let mark = mark(found);
            if let Some(value) = self.unlisted(states, found & !mark) {
                if let Some(read) = self.read_unlisted(cell, found, value) {
                    return read;
                }
                found = cell.load(Ordering::Acquire);
                continue;
            }
            let Transition { from, to: state, writer, kind } = self.transition(states, found & !mark);
            let tracked = mark != 0;
            match kind {
                Kind::Own => return Read::Own { state, tracked },
                Kind::Reuse => return Read::Reuse { writer, state, tracked },
                Kind::Exhausted => return Read::Exhausted { writer, state, tracked },
                Kind::Communication if states.is_pair() => {
                    // Release: partner is the load above, in the thread that finds the name.
                    cell.store(state | mark, Ordering::Release);
                    return Read::Communication { writer, state, tracked };
                }
                Kind::Communication => {
                    // Release: partner is the load above, in the thread that finds the name. Acquire on
                    // failure: as there.
                    let exchanged =
                        cell.compare_exchange_weak(from | mark, state | mark, Ordering::Release, Ordering::Acquire);
                    match exchanged {
                        Ok(_) => return Read::Communication { writer, state, tracked },
                        Err(now) => found = now,
                    }
                }
            }
        }
    }

    /// Whether the thread wrote the value of a cell that was found in this state, marked or not: reads of it are no
    /// events, and leave the mark.
    pub fn owns(&self, states: &States, name: u32) -> bool {
        // Acquire: as in `read`, for a cell that was loaded before.
        fence(Ordering::Acquire);
        let shared = name & SHARED != 0;
        let state = if shared { states.decode(name & !TRACKED) } else { None };
        state.is_some_and(|state| self.is_own(state.writer.0))
    }

    /// Whose value a true communication would bring, if a read of a cell that was found in this state, marked or not,
    /// would be one. `None` as well for what the state does not tell.
    pub fn first_from(&self, states: &States, name: u32) -> Option<FreshId> {
        // Acquire: as in `read`, for a cell that was loaded before.
        fence(Ordering::Acquire);
        if self.unlisted(states, name & !TRACKED).is_some() {
            return None;
        }
        if name & SHARED == 0 {
            return (name != NONE && !self.is_own(name)).then_some(FreshId(name));
        }
        let state = states.decode(name & !TRACKED)?;
        let is_first = !self.is_own(state.writer.0) && !states.sets.contains(state.readers, self.thread);
        is_first.then_some(state.writer)
    }

    /// The thread reads elements that follow each other, as far as they are in the state of the first one and these are
    /// true communications. `None`: the first read is none, or its element is marked; nothing was read.
    #[inline]
    pub fn read_alike(&mut self, states: &States, cells: &[AtomicU32]) -> Option<Alike> {
        // Acquire: as in `read`. One load is enough: whoever holds an equal name later holds the same state.
        let found = cells.first()?.load(Ordering::Acquire);
        if found == NONE || self.is_own(found) || mark(found) != 0 {
            return None;
        }
        if let Some(value) = self.unlisted(states, found) {
            let read = self.read_unread(cells, found);
            return (read > 0).then_some(Alike { writer: value.writer, from: found, state: found, read });
        }
        let Transition { from, to: state, writer, kind: Kind::Communication } = self.transition(states, found) else {
            return None;
        };
        let read = neighbours::exchange(cells, from, state, states.is_pair());
        (read > 0).then_some(Alike { writer, from, state, read })
    }

    /// The thread reads structures that follow each other, of as many granules as `members`, those of them that
    /// `is_read` says, as far as each structure is in the states of the first one. Says what these reads are, and
    /// returns how many granules were read: none if one of the first structure's is marked, its state does not tell or
    /// has no successor, or there are more than [`MOST_MEMBERS`].
    pub fn read_structures(
        &mut self,
        states: &States,
        cells: &[AtomicU32],
        members: &mut [Member],
        is_read: impl Fn(usize) -> bool,
    ) -> usize {
        let mut exchanges = [(NONE, NONE); MOST_MEMBERS];
        let Some(exchanges) = exchanges.get_mut(..members.len()) else { return 0 };
        if cells.len() < members.len() {
            return 0;
        }
        for (((cell, member), exchange), place) in cells.iter().zip(members).zip(&mut *exchanges).zip(0..) {
            // Acquire: as in `read`.
            let found = cell.load(Ordering::Acquire);
            let read = if is_read(place) { self.member(states, found) } else { Some(Member::of(found)) };
            let Some(read) = read else { return 0 };
            *member = read;
            *exchange = (read.from, read.state);
        }
        neighbours::exchange_repeated(cells, exchanges, states.is_pair())
    }

    /// What the read of a cell is that was found with this name, and the state that it would be in then. `None`: the
    /// name is marked, does not tell, or has no successor.
    pub fn member(&mut self, states: &States, found: u32) -> Option<Member> {
        if found == NONE || self.is_own(found) {
            return Some(Member::of(found));
        }
        if mark(found) != 0 || self.unlisted(states, found).is_some() {
            return None;
        }
        let Transition { from, to: state, writer, kind } = self.transition(states, found);
        let read = match kind {
            Kind::Communication => MemberRead::Communication,
            Kind::Own => MemberRead::Nothing,
            Kind::Reuse => MemberRead::Reuse,
            Kind::Exhausted => return None,
        };
        Some(Member { writer, from, state, read })
    }

    /// The thread reads elements that follow each other, as far as they are in state `from`, of which it knows that
    /// this is a true communication and makes it `to`: [`View::read_alike`] has said so before. Returns how many were
    /// read.
    #[inline]
    pub fn read_again(&self, states: &States, cells: &[AtomicU32], (from, to): (u32, u32)) -> usize {
        // Nothing is decoded, so nothing need be acquired: `to` is a name that this thread made or found before.
        neighbours::exchange(cells, from, to, states.is_pair())
    }

    /// [`View::read_again`] of one element, or of two whose cells are aligned as one word: all are read, or none.
    #[inline(always)]
    pub fn read_all_again<const CELLS: usize>(
        &self,
        states: &States,
        cells: &[AtomicU32; CELLS],
        (from, to): (u32, u32),
    ) -> bool {
        neighbours::exchange_all(cells, from, to, states.is_pair())
    }

    /// The value that a name, not marked, is of, if it is an open one of another thread that does not list this one.
    #[inline]
    fn unlisted(&self, states: &States, name: u32) -> Option<Composed> {
        let value = if is_open(name) { states.composed(name)? } else { return None };
        (!self.is_own(value.writer.0) && !value.readers.contains(self.thread)).then_some(value)
    }

    /// Whether a state, not marked, does not tell if the thread has read the value.
    #[inline]
    pub fn is_unlisted(&self, states: &States, name: u32) -> bool {
        self.unlisted(states, name).is_some()
    }

    /// Opens the values in the line of a cell, one of which the thread reads. Not of pairs, who exchange nothing.
    pub fn open(&self, states: &States, cell: &AtomicU32) -> bool {
        !states.is_pair() && self.known.lines().open(states, cell, self.thread)
    }

    /// The read of a cell that was found with this name. `None`: it has another one now.
    #[cold]
    fn read_unlisted(&self, cell: &AtomicU32, found: u32, value: Composed) -> Option<Read> {
        let (writer, mark) = (value.writer, mark(found));
        let (state, tracked) = (found & !mark, mark != 0);
        // Nothing was opened where nothing can be known.
        let Some(bits) = self.known.of(core::slice::from_ref(cell)) else {
            return Some(Read::Exhausted { writer, state, tracked });
        };
        if bits.are_unread() {
            bits.read();
            return Some(Read::Communication { writer, state, tracked });
        }
        let Some(state) = value.with(self.thread) else { return Some(Read::Reuse { writer, state, tracked }) };
        // Orderings as in `read`.
        let listed = cell.compare_exchange(found, state | mark, Ordering::Release, Ordering::Relaxed);
        listed.is_ok().then_some(Read::Reuse { writer, state, tracked })
    }

    /// Reads leading cells with this name, of an open value that does not list the thread, as far as it has not read
    /// them. Returns how many.
    fn read_unread(&self, cells: &[AtomicU32], found: u32) -> usize {
        let is_first_read = |cell: &&AtomicU32| {
            let bits = self.known.of(core::slice::from_ref(*cell)).filter(|bits| bits.are_unread());
            bits.filter(|_| cell.load(Ordering::Relaxed) == found).inspect(|bits| bits.read()).is_some()
        };
        cells.iter().take_while(is_first_read).count()
    }

    #[inline]
    fn transition(&mut self, states: &States, from: u32) -> Transition {
        if let Some(transition) = states.composed(from).and_then(|composed| self.of_composed(from, composed)) {
            return transition;
        }
        // Neighbouring names fall into different slots: Fibonacci hashing, top bits.
        let slot = from.wrapping_mul(0x9E37_79B1) >> self.shift;
        // SAFETY: a number of `32 - shift` bits is below the number of slots, which are this view's alone.
        let slot = unsafe { &mut *self.transitions.add(slot as usize) };
        if slot.from != from {
            *slot = self.work_out(states, from);
        }
        *slot
    }

    /// Without the cache, in which the sets of readers of one table could push everything else out. `None`: a first
    /// read, after which the name is not composed, or of another band of readers.
    #[inline]
    fn of_composed(&self, from: u32, composed: Composed) -> Option<Transition> {
        let writer = composed.writer;
        if self.is_own(writer.0) {
            return Some(Transition { from, to: from, writer, kind: Kind::Own });
        }
        let to = composed.with(self.thread)?;
        let kind = if to == from { Kind::Reuse } else { Kind::Communication };
        Some(Transition { from, to, writer, kind })
    }

    #[cold]
    fn work_out(&mut self, states: &States, from: u32) -> Transition {
        let writer = match states.decode(from) {
            Some(state) if self.is_own(state.writer.0) => {
                return Transition { from, to: from, writer: state.writer, kind: Kind::Own };
            }
            Some(state) if states.sets.contains(state.readers, self.thread) => {
                return Transition { from, to: from, writer: state.writer, kind: Kind::Reuse };
            }
            Some(state) => state.writer,
            None => FreshId(from),
        };
        match states.with_reader(from, self.thread, &mut self.stock) {
            Ok(to) => Transition { from, to, writer, kind: Kind::Communication },
            Err(_) => Transition { from, to: from, writer, kind: Kind::Exhausted },
        }
    }
}

/// The thread with this fresh id writes the element of this cell.
///
/// Relaxed: the writing and the reading thread of a race-free program synchronise between the write and the
/// read, and the cell follows their order. The inlined code does the same with a plain store.
#[inline]
pub fn write(cell: &AtomicU32, fresh: FreshId) {
    cell.store(fresh.0, Ordering::Relaxed);
}
