//! What the counters of a loop or a nest say at each of its reads.
//!
//! Where all that an access reads counts in one counter, or all of some slices of a tile, that is known to the read:
//! the iterations before ([`Order::reached`]), and what is before it in its own. A column whose rows have several
//! writers is known by how many events each of its counters has, and the first and the last iteration with one: these
//! are taken to lie evenly between.

use super::Look;
use super::order::{Now, Order, Reached, Slices};
use super::turns::Moment;
use crate::thread::Thread;
use crate::thread::mixtures::Part;
use core::cmp::Ordering;
use core::mem::MaybeUninit;
use core::slice;
use threadtalk_abi::loops::MOST_IN_NEST;
use threadtalk_abi::thread::EventCounter;
use threadtalk_profile::layout::EventRecord;

/// Counters of a loop.
const MOST_FLOWS: usize = 32;
/// Accesses of a loop, each as often as it has counters.
const MOST_STREAMS: usize = 48;

/// What a loop counts in one counter.
#[derive(Clone, Copy)]
pub struct Flow {
    /// Where.
    pub counter: *mut EventCounter,
    /// What the counter said before the loop, and since then about reads that are none of its events.
    before: u64,
    /// Events of the loop.
    events: u64,
    /// How many of them have been, at the moment that the loop has reached.
    reached: u64,
    /// The next one that is to be sampled, as the counter counts.
    pub next: u64,
    /// Number of the trace that its events belong to.
    pub trace: u32,
}

impl Flow {
    /// The counter itself.
    pub fn counter(&mut self) -> &mut EventCounter {
        // SAFETY: counters come from this thread's event cache, mapped for the life of the process, and only this
        // thread counts in them. The reference ends before anyone else counts.
        unsafe { &mut *self.counter }
    }

    /// Whether an event of the loop is to be sampled.
    pub fn is_due(&self) -> bool {
        self.before + self.events >= self.next
    }
}

/// Where the events of a part of an access are.
#[derive(Clone, Copy)]
enum Places {
    /// All of its reads are events, or all of some slices.
    All(Option<Slices>),
    /// So many, evenly from one iteration to another one, both included.
    Evenly(u64, (u64, u64)),
}

/// What one access counts in one counter.
#[derive(Clone, Copy)]
struct Stream {
    flow: u16,
    look: u16,
    places: Places,
}

/// The first ones of a list: as many as were written.
fn written<T>(list: &[MaybeUninit<T>], used: usize) -> &[T] {
    // SAFETY: `gather` counts an entry once it has written it; the layouts are the same.
    unsafe { slice::from_raw_parts(list.as_ptr().cast(), used) }
}

/// How many of `events` that lie evenly from one iteration to another one are before an iteration.
fn evenly(events: u64, (first, last): (u64, u64), at: u64) -> u64 {
    let part = events as f64 * at.saturating_sub(first) as f64;
    ((part / (last - first + 1) as f64) as u64).min(events)
}

/// All counters of a loop.
pub struct Flows {
    flows: [MaybeUninit<Flow>; MOST_FLOWS],
    used: usize,
    streams: [MaybeUninit<Stream>; MOST_STREAMS],
    used_streams: usize,
    orders: [MaybeUninit<Order>; MOST_IN_NEST],
    used_orders: usize,
}

impl Flows {
    /// None. Filled in place: these are some kilobytes.
    pub const fn new() -> Self {
        Flows {
            flows: [const { MaybeUninit::uninit() }; MOST_FLOWS],
            used: 0,
            streams: [const { MaybeUninit::uninit() }; MOST_STREAMS],
            used_streams: 0,
            orders: [const { MaybeUninit::uninit() }; MOST_IN_NEST],
            used_orders: 0,
        }
    }

    /// Those of a loop whose accesses were looked at. `None`: there are too many, or it is not known where a group's
    /// events are.
    pub fn gather(&mut self, t: &mut Thread, looks: &[Look]) -> Option<()> {
        for (look, place) in looks.iter().zip(&mut self.orders) {
            place.write(look.order());
            self.used_orders += 1;
        }
        for (number, look) in looks.iter().enumerate().filter(|(_, look)| look.granules > 0) {
            let reads = self.orders().get(number)?.reads(None);
            if reads != look.group.granules {
                return None;
            }
            let one = look.part();
            for part in t.parts(&one) {
                self.add(part, number, look)?;
            }
        }
        Some(())
    }

    fn add(&mut self, part: &Part, number: usize, look: &Look) -> Option<()> {
        let flow = match self.all().iter().position(|flow| flow.counter == part.counter) {
            Some(known) => known,
            None => {
                // SAFETY: as in `Flow::counter`.
                let (before, next) = unsafe { ((*part.counter).rar, (*part.counter).next) };
                // SAFETY: counters of windows with events are the heads of this thread's records.
                let trace = unsafe { (*part.counter.cast::<EventRecord>()).private };
                let flow = Flow { counter: part.counter, before, events: 0, reached: 0, next, trace };
                self.flows.get_mut(self.used)?.write(flow);
                self.used += 1;
                self.used - 1
            }
        };
        self.all().get_mut(flow)?.events += part.granules;
        let places = self.places(part, number, look)?;
        self.streams.get_mut(self.used_streams)?.write(Stream { flow: flow as u16, look: number as u16, places });
        self.used_streams += 1;
        Some(())
    }

    fn places(&self, part: &Part, number: usize, look: &Look) -> Option<Places> {
        let order = self.orders().get(number)?;
        if part.granules == look.group.granules {
            return Some(Places::All(None));
        }
        // Slices that are events in part have fewer.
        let slice = look.group.granules.checked_div(order.slices().1)?;
        let whole = |bits: &u64| part.granules == slice * u64::from(bits.count_ones());
        let slices = Some(part.slices).filter(whole).and_then(|bits| order.some(bits));
        Some(slices.map_or(Places::Evenly(part.granules, part.range), |some| Places::All(Some(some))))
    }

    /// All of them.
    pub fn all(&mut self) -> &mut [Flow] {
        self.split().0
    }

    fn split(&mut self) -> (&mut [Flow], &[Stream], &[Order]) {
        // SAFETY: the first `used` ones were written; the layouts are the same.
        let flows = unsafe { slice::from_raw_parts_mut(self.flows.as_mut_ptr().cast(), self.used) };
        (flows, written(&self.streams, self.used_streams), written(&self.orders, self.used_orders))
    }

    fn streams(&self) -> &[Stream] {
        written(&self.streams, self.used_streams)
    }

    fn counter(&self, stream: &Stream) -> Option<*mut EventCounter> {
        // SAFETY: the first `used` ones were written.
        let flow = self.flows.get(..self.used)?.get(usize::from(stream.flow)).map(|flow| unsafe { flow.assume_init() });
        flow.map(|flow| flow.counter)
    }

    /// The reads that count in a counter, or may, where that is not known: of which looks, and which of their slices.
    pub fn reads_in(&self, counter: *mut EventCounter) -> impl Iterator<Item = (usize, Option<Slices>)> {
        let streams = self.streams().iter().filter(move |stream| self.counter(stream) == Some(counter));
        streams.map(|stream| {
            let of = match stream.places {
                Places::All(of) => of,
                Places::Evenly(..) => None,
            };
            (usize::from(stream.look), of)
        })
    }

    /// Where a look's reads of an address count, if all of its slice do there.
    pub fn counter_at(&self, look: u32, address: u64) -> Option<*mut EventCounter> {
        let order = self.orders().get(look as usize)?;
        let has = |stream: &&Stream| {
            u32::from(stream.look) == look
                && match stream.places {
                    Places::All(None) => true,
                    Places::All(Some(some)) => order.is_in(address, some),
                    Places::Evenly(..) => false,
                }
        };
        self.streams().iter().find(has).and_then(|stream| self.counter(stream))
    }

    /// When each access reads what, by the number of its look.
    pub fn orders(&self) -> &[Order] {
        written(&self.orders, self.used_orders)
    }

    /// Sets the counters to what they say before something is read at a moment. `of`: the events of this trace are
    /// enough, as the read is one of them. With 16 threads a nest counts in a score of traces.
    pub fn go_to(&mut self, moment: Moment, of: Option<u32>) {
        let is_meant = |flow: &Flow| of.is_none_or(|trace| flow.trace == trace);
        let (flows, streams, orders) = self.split();
        flows.iter_mut().for_each(|flow| flow.reached = 0);
        // Those of one look are side by side.
        let mut last: Option<(u16, Reached)> = None;
        for stream in streams {
            let Some(flow) = flows.get_mut(usize::from(stream.flow)).filter(|flow| is_meant(flow)) else { continue };
            flow.reached += match (stream.places, &last) {
                (Places::Evenly(events, range), _) => evenly(events, range, moment.at),
                (Places::All(slices), Some((look, reached))) if *look == stream.look => reached.reads(slices),
                (Places::All(slices), _) => {
                    let Some(order) = orders.get(usize::from(stream.look)) else { continue };
                    let now = match u32::from(stream.look).cmp(&moment.look) {
                        Ordering::Less => Now::Over,
                        Ordering::Equal => Now::At(moment.address),
                        Ordering::Greater => Now::Ahead,
                    };
                    let (_, reached) = last.insert((stream.look, order.reached(moment.at, now)));
                    reached.reads(slices)
                }
            };
        }
        for flow in flows.iter_mut().filter(|flow| is_meant(flow)) {
            flow.counter().rar = flow.before + flow.reached;
        }
    }

    /// Lets reads count that are none of the loop's events. None of them is sampled.
    pub fn beside(&mut self, read: impl FnOnce()) {
        for flow in self.all() {
            flow.counter().next = u64::MAX;
            flow.before = flow.before.wrapping_sub(flow.counter().rar);
        }
        read();
        for flow in self.all() {
            flow.before = flow.before.wrapping_add(flow.counter().rar);
        }
    }

    /// Sets the counters to what they say after the loop.
    pub fn end(&mut self) {
        for flow in self.all() {
            flow.counter().rar = flow.before + flow.events;
            flow.counter().next = flow.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadtalk_abi::loops::{NestAccess, Step};

    /// When a row of ten elements of 8 bytes is read.
    fn row() -> Order {
        let none = Step { stride: 0, count: 1 };
        let steps = [Step { stride: 8, count: 10 }, none, none];
        Order::of_nest(&NestAccess { address: 800, bytes: 8, flags: 0, site: 1, window: 1, steps })
    }

    /// A counter of 30 events from iteration 4 to 13 of a column, and of all elements of the row.
    fn flows(counter: &mut EventCounter) -> Flows {
        let mut flows = Flows::new();
        let (before, next) = (counter.rar, counter.next);
        flows.flows[0].write(Flow { counter, before, events: 50, reached: 0, next, trace: 0 });
        for (number, places) in [Places::Evenly(30, (4, 13)), Places::All(None)].into_iter().enumerate() {
            flows.orders[number].write(row());
            flows.streams[number].write(Stream { flow: 0, look: number as u16, places });
        }
        (flows.used, flows.used_streams, flows.used_orders) = (1, 2, 2);
        flows
    }

    #[test]
    fn counters_grow_evenly_or_by_what_was_read_before() {
        let mut counter = EventCounter { rar: 100, next: 200 };
        let mut flows = flows(&mut counter);
        let of_row = |element: u64| row().read(2 * element, None).1;
        let mut at = |at, look, address| {
            flows.go_to(Moment { at, look, address }, None);
            flows.all()[0].counter().rar
        };
        // The row's first element, and the other half of it; what is before and behind it in its iteration.
        assert_eq!([at(0, 1, 800), at(0, 1, 804), at(0, 0, 0), at(0, 2, 0)], [100, 101, 100, 102]);
        // The column's events lie before; each iteration of the row has read another element.
        assert_eq!([at(of_row(1), 1, 808), at(of_row(7), 1, 860), at(of_row(9), 2, 0)], [132, 145, 150]);
        assert_eq!(at(0, 1, 800), 100, "and back");
    }

    #[test]
    fn an_even_part_has_its_events_between_two_iterations() {
        assert_eq!([0, 4, 5, 9, 13, 14, 200].map(|at| evenly(30, (4, 13), at)), [0, 0, 3, 15, 27, 30, 30]);
    }

    #[test]
    fn counters_of_other_traces_stay_where_they_are() {
        let mut counters = [100, 200].map(|rar| EventCounter { rar, next: 300 });
        let [one, other] = &mut counters;
        let mut flows = flows(one);
        flows.flows[1].write(Flow { counter: other, before: 200, events: 20, reached: 0, next: 300, trace: 1 });
        flows.streams[1].write(Stream { flow: 1, look: 1, places: Places::All(None) });
        flows.used = 2;
        let mut at = |element: u64, of| {
            flows.go_to(Moment { at: row().read(2 * element, None).1, look: 1, address: 800 + 8 * element }, of);
            [0, 1].map(|number| flows.all()[number].counter().rar)
        };
        assert_eq!([at(2, None), at(4, Some(1)), at(6, Some(0))], [[130, 204], [130, 208], [130, 208]]);
        assert_eq!(at(7, None), [130, 214]);
    }

    #[test]
    fn where_a_read_counts_follows_from_its_slice() {
        let (mut even, mut odd) = (EventCounter { rar: 0, next: 200 }, EventCounter { rar: 0, next: 200 });
        let counters = [&raw mut even, &raw mut odd];
        let mut flows = flows(&mut even);
        for (number, counter) in counters.into_iter().enumerate() {
            flows.flows[number].write(Flow { counter, before: 0, events: 10, reached: 0, next: 200, trace: 0 });
            let places = Places::All(row().some(0b01_0101_0101 << number));
            flows.streams[number + 1].write(Stream { flow: number as u16, look: 1, places });
        }
        (flows.used, flows.used_streams) = (2, 3);
        let at = |element: u64| flows.counter_at(1, 800 + 8 * element + 4);
        assert!((0..10).all(|element| at(element) == Some(counters[element as usize % 2])));
        assert_eq!(flows.counter_at(0, 800), None, "evenly between two iterations");
        let reads = |counter| flows.reads_in(counter).map(|(look, of)| (look, row().reads(of))).collect::<Vec<_>>();
        assert_eq!(reads(counters[0]), [(0, 20), (1, 10)], "perhaps any of the column, and all of five slices");
        assert_eq!(reads(counters[1]), [(1, 10)]);
    }

    #[test]
    fn what_counts_beside_stays_and_no_sample_is_due_meanwhile() {
        let mut counter = EventCounter { rar: 100, next: 120 };
        let place = &raw mut counter;
        let mut flows = flows(&mut counter);
        assert!(flows.all()[0].is_due(), "50 events from 100 on, of which the 20th is to be sampled");
        flows.go_to(Moment { at: 0, look: 1, address: 804 }, None);
        flows.beside(|| {
            // SAFETY: nobody else has it.
            let counter = unsafe { &mut *place };
            assert_eq!((counter.rar, counter.next), (101, u64::MAX));
            counter.rar += 7;
        });
        flows.go_to(Moment { at: 0, look: 1, address: 800 }, None);
        assert_eq!(flows.all()[0].counter().rar, 107);
        flows.all()[0].next = 1234;
        flows.end();
        assert_eq!((counter.rar, counter.next), (157, 1234));
    }
}
