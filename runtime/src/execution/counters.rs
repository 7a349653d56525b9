//! Events that the processor and the kernel count for each thread (`perf_event_open`), as far as they do.
//!
//! A thread's events are one group, so that they are read together, by one system call, and where the processor has too
//! few counters all of them are counted for the same share of the time. That happens where parts of sections begin and
//! end and where the thread ends: never in inlined code.
//!
//! The descriptors are out of the way of the program's, and not inherited by what it executes. A program may close them
//! all the same and have others with their numbers: before one is read or closed it must say that it is the event that
//! was opened. A forked child is not counted.

use crate::lifecycle::unnoticed::unnoticed;
use crate::process::message::Line;
use core::ffi::c_int;
use core::mem::size_of;
use threadtalk_profile::counters::{self, EVENTS};
use threadtalk_profile::layout::{CountKind, CountRecord, CounterEvent};

/// `PERF_EVENT_IOC_ID`: the event's own number.
const IOC_ID: libc::c_ulong = 0x8008_2407;

/// The program's descriptors begin at 0; most systems allow 1024.
const LEAST_DESCRIPTOR: c_int = 512;

/// An event that is counted.
#[derive(Clone, Copy)]
struct Opened {
    event: CounterEvent,
    descriptor: c_int,
    /// What the kernel calls it.
    id: u64,
}

impl Opened {
    /// Whether the descriptor is still this event's.
    fn is_there(&self) -> bool {
        let mut id = 0u64;
        // SAFETY: room for a number; of other descriptors the kernel says that they have none.
        let result = unsafe { libc::ioctl(self.descriptor, IOC_ID, &raw mut id) };
        result == 0 && id == self.id
    }
}

/// A thread's counts at a moment, in the order of its events.
#[derive(Clone, Copy)]
pub struct Reading {
    number: usize,
    /// Nanoseconds for which they were wanted, and for which they were counted.
    wanted_ns: u64,
    counted_ns: u64,
    values: [u64; EVENTS],
}

impl Reading {
    /// Nothing has been counted.
    pub const NONE: Self = Self { number: 0, wanted_ns: 0, counted_ns: 0, values: [0; EVENTS] };
}

/// A thread's events.
pub struct Counters {
    /// The first leads the group.
    opened: [Option<Opened>; EVENTS],
}

impl Counters {
    /// None.
    pub const fn new() -> Self {
        Self { opened: [None; EVENTS] }
    }

    /// Begins to count `events` (bits) of the calling thread. Those that cannot be had are left out: `refused` is told.
    pub fn begin(&mut self, events: u64, mut refused: impl FnMut(CounterEvent, i32)) {
        self.end();
        let mut leader = -1;
        let mut free = self.opened.iter_mut();
        for event in counters::events(events) {
            match unnoticed(|| open(event, leader)) {
                Ok(opened) => {
                    leader = if leader < 0 { opened.descriptor } else { leader };
                    free.next().into_iter().for_each(|place| *place = Some(opened));
                }
                Err(error) => refused(event, error),
            }
        }
    }

    /// Counts no more.
    pub fn end(&mut self) {
        for opened in self.opened.iter_mut().rev().filter_map(Option::take) {
            if opened.is_there() {
                close(opened.descriptor);
            }
        }
    }

    /// What has been counted; none if nothing is counted.
    pub fn read(&self) -> Option<Reading> {
        let leader = self.opened[0].filter(Opened::is_there)?;
        // How many, wanted, counted, values.
        let mut words = [0u64; 3 + EVENTS];
        // SAFETY: the array and its length. By the kernel directly: `read` is interposed.
        let got = unsafe {
            libc::syscall(libc::SYS_read, leader.descriptor, words.as_mut_ptr(), size_of::<[u64; 3 + EVENTS]>())
        };
        let [number, wanted_ns, counted_ns, values @ ..] = words;
        let number = number as usize;
        (got > 0 && number <= EVENTS).then_some(Reading { number, wanted_ns, counted_ns, values })
    }

    /// Hands on the records of what was counted from `before` to `now`.
    pub fn records(
        &self,
        before: &Reading,
        now: &Reading,
        (part, thread): (u32, u32),
        mut append: impl FnMut(CountRecord),
    ) {
        let wanted = now.wanted_ns.saturating_sub(before.wanted_ns);
        let counted = now.counted_ns.saturating_sub(before.counted_ns);
        let mut record = |event: CounterEvent, count: u64| {
            let (id, kind) = (event as u32, CountKind::Counter as u16);
            append(CountRecord { part, thread, id, kind, level: 0, count });
        };
        let known = self.opened.iter().flatten().zip(now.values.iter().zip(&before.values));
        for (opened, (now, before)) in known.take(now.number) {
            record(opened.event, scaled(now.saturating_sub(*before), wanted, counted));
        }
        if counted < wanted {
            record(CounterEvent::Wanted, wanted);
            record(CounterEvent::Counted, counted);
        }
    }
}

/// What would have been counted in all of the time; in none of it nothing is known, and 0 is said.
fn scaled(count: u64, wanted: u64, counted: u64) -> u64 {
    if counted == 0 || counted >= wanted {
        return count;
    }
    // An estimate: 53 bits are enough. Integers of 128 bits would bring division routines into the program.
    (count as f64 * (wanted as f64 / counted as f64)) as u64
}

fn open(event: CounterEvent, leader: c_int) -> Result<Opened, i32> {
    const CLOSE_ON_EXEC: libc::c_ulong = 8;
    let attributes = event.attributes().ok_or(libc::EINVAL)?;
    // SAFETY: attributes of the size that they say; this thread, on any processor.
    let low = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, leader, CLOSE_ON_EXEC) };
    let low = c_int::try_from(low).unwrap_or(-1);
    if low < 0 {
        return Err(error());
    }
    // Above where programs look; if the limit is below, where it is.
    // SAFETY: a descriptor of this process.
    let high = unsafe { libc::fcntl(low, libc::F_DUPFD_CLOEXEC, LEAST_DESCRIPTOR) };
    let descriptor = if high >= 0 {
        close(low);
        high
    } else {
        low
    };
    let mut opened = Opened { event, descriptor, id: 0 };
    // SAFETY: room for a number.
    if unsafe { libc::ioctl(descriptor, IOC_ID, &raw mut opened.id) } != 0 {
        let error = error();
        close(descriptor);
        return Err(error);
    }
    Ok(opened)
}

fn error() -> i32 {
    // SAFETY: always valid.
    unsafe { *libc::__errno_location() }
}

fn close(descriptor: c_int) {
    // SAFETY: a descriptor that only this module knows.
    unsafe { libc::syscall(libc::SYS_close, descriptor) };
}

/// The events of `wanted` (bits) that this process can have. One line says which it cannot, and why.
pub fn available(wanted: u64) -> u64 {
    let (mut had, mut reason) = (wanted, 0);
    let mut trial = Counters::new();
    trial.begin(wanted, |event, error| (had, reason) = (had & !(1 << event as u32), error));
    trial.end();
    if had != wanted {
        let mut line = Line::new().text(b"not counted: ");
        for (i, event) in counters::events(wanted & !had).enumerate() {
            line = if i > 0 { line.text(b", ") } else { line }.text(event.name().as_bytes());
        }
        line.text(b" (").text(counters::refusal(reason).as_bytes()).text(b"; see threadtalk doctor)").print();
    }
    had
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const FAULTS: u64 = 1 << CounterEvent::PageFaults as u64;
    const CLOCK: u64 = 1 << CounterEvent::TaskClock as u64;

    /// Faults at least so often: the pages are new, and small.
    fn touch(pages: usize) {
        let (bytes, access) = (pages * 4096, libc::PROT_READ | libc::PROT_WRITE);
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: new memory, which only this function has, until it gives it back.
        unsafe {
            let memory = libc::mmap(core::ptr::null_mut(), bytes, access, kind, -1, 0);
            assert_ne!(memory, libc::MAP_FAILED);
            libc::madvise(memory, bytes, libc::MADV_NOHUGEPAGE);
            for page in 0..pages {
                memory.cast::<u8>().add(page * 4096).write_volatile(1);
            }
            libc::munmap(memory, bytes);
        }
    }

    /// Counters of this thread; none where the kernel has none, as it says.
    fn counting(events: u64) -> Option<Counters> {
        let (mut counters, mut refused) = (Counters::new(), Vec::new());
        counters.begin(events, |event, error| refused.push((event, error)));
        if refused.is_empty() {
            return Some(counters);
        }
        assert!(refused.iter().all(|(_, error)| *error > 0), "{refused:?}");
        None
    }

    fn records(counters: &Counters, before: &Reading, now: &Reading) -> Vec<(u32, u64)> {
        let mut all = Vec::new();
        counters.records(before, now, (3, 7), |record| {
            assert_eq!((record.part, record.thread, record.kind), (3, 7, CountKind::Counter as u16));
            all.push((record.id, record.count));
        });
        all
    }

    #[test]
    fn what_a_thread_does_between_two_readings_is_counted() {
        let Some(counters) = counting(FAULTS | CLOCK) else { return };
        let before = counters.read().unwrap();
        touch(500);
        // Another thread's are not.
        std::thread::spawn(|| touch(5000)).join().unwrap();
        let found = records(&counters, &before, &counters.read().unwrap());
        let of = |event: CounterEvent| found.iter().find(|(id, _)| *id == event as u32).unwrap().1;
        assert!((500..4000).contains(&of(CounterEvent::PageFaults)), "{found:?}");
        // How much is the scheduler's business.
        assert!(of(CounterEvent::TaskClock) > 0, "{found:?}");
    }

    #[test]
    fn descriptors_that_the_program_closed_and_has_for_its_own_are_left_alone() {
        let Some(mut counters) = counting(FAULTS) else { return };
        let descriptor = counters.opened[0].unwrap().descriptor;
        let mut pipe = [0; 2];
        // SAFETY: the pipe's ends are this test's; the event's descriptor becomes its reading end.
        unsafe {
            assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
            assert_eq!(libc::dup2(pipe[0], descriptor), descriptor);
            assert_eq!(libc::write(pipe[1], c"ours".as_ptr().cast(), 4), 4);
        }
        assert!(counters.read().is_none());
        counters.end();
        let mut bytes = [0u8; 8];
        // SAFETY: the buffer and its length; the descriptors are this test's.
        unsafe {
            assert_eq!(libc::read(descriptor, bytes.as_mut_ptr().cast(), 8), 4);
            for own in [pipe[0], pipe[1], descriptor] {
                assert_eq!(libc::close(own), 0);
            }
        }
        assert_eq!(&bytes[..4], b"ours");
    }

    #[test]
    fn what_nobody_has_is_refused_and_not_read() {
        let mut counters = Counters::new();
        counters.begin(0, |event, error| panic!("{event:?}: {error}"));
        assert!(counters.read().is_none());
        // An event of the wrong group.
        let error = open(CounterEvent::TaskClock, c_int::MAX).map(|o| o.descriptor).unwrap_err();
        assert!(error > 0);
        assert_eq!(open(CounterEvent::Wanted, -1).map(|o| o.descriptor), Err(libc::EINVAL));
    }

    #[test]
    fn counts_of_a_share_of_the_time_are_scaled_up_and_the_share_is_told() {
        let event = CounterEvent::Cycles;
        let mut counters = Counters::new();
        counters.opened[0] = Some(Opened { event, descriptor: -1, id: 0 });
        let reading = |wanted_ns, counted_ns, count| Reading {
            number: 1,
            wanted_ns,
            counted_ns,
            values: [count, 0, 0, 0, 0, 0, 0, 0],
        };
        let before = reading(1000, 1000, 50);
        let (wanted, counted) = (CounterEvent::Wanted as u32, CounterEvent::Counted as u32);
        assert_eq!(records(&counters, &before, &reading(5000, 5000, 450)), [(event as u32, 400)]);
        assert_eq!(
            records(&counters, &before, &reading(5000, 2000, 450)),
            [(event as u32, 1600), (wanted, 4000), (counted, 1000)]
        );
        assert_eq!(
            records(&counters, &before, &reading(5000, 1000, 50)),
            [(event as u32, 0), (wanted, 4000), (counted, 0)]
        );
    }
}
