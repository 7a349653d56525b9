//! Loops and nests with an event that is to be sampled, or that read an element whose distance is measured.
//!
//! What such a loop counts is known, and what its counters say at each of its reads ([`Flows`]). Which element is
//! sampled is chosen by chance among all that count in the counter that is due; its distance begins at the read of it,
//! and may end in the same nest.
//!
//! Reads of such elements happen one by one, in the order of the loop, and so do first reads of a nest's rows: what
//! they mean is found out by reading.
//!
//! The instrumented copy of a loop of a thousand iterations takes ten microseconds longer than the plain one; this
//! takes less than one for each sample.

use super::Look;
use super::flows::{Flow, Flows};
use super::group::Kind;
use super::turns::{Apart, Moment, Turn, Turns, What};
use super::unread::Columns;
use crate::hooks::access::read_cell;
use crate::hooks::range;
use crate::process::Process;
use crate::thread::pending::Pending;
use crate::thread::{Thread, memos};
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};
use threadtalk_abi::thread::EventCounter;
use threadtalk_abi::window::SPREAD;

/// Iterations of a column between which counters stand still: its distances are known to as many events.
const STEP: u64 = 16;
/// Places at which an element to be sampled is looked for before all are tried in turn.
const TRIES: u64 = 64;

/// Counts all events of a loop; samples those that are due, and ends what is waited for. `false`: nothing is counted.
pub fn count(t: &mut Thread, p: &Process, looks: &[Look], apart: &Apart) -> bool {
    // The counters are set to what they say at each turn: what a sample would tell them meanwhile would be lost.
    Pending::of(&mut t.header, &mut t.patterns).settle();
    let mut flows = Flows::new();
    let mut turns = Turns::new();
    if gather(t, p, (looks, apart), &mut flows, &mut turns).is_none() {
        return false;
    }
    // Those were given their shares before the loop counts.
    memos::empty(memos::used(&mut t.header));
    if !(0..flows.all().len()).all(|number| plan(t, p, looks, &mut flows, number, &mut turns).is_some()) {
        return false;
    }
    let mut column = 0;
    for turn in turns.all() {
        column = read_columns(t, p, &apart.unread, column..turn.moment.at, &mut flows);
        match turn.what {
            What::Row(bytes) => {
                flows.go_to(turn.moment, None);
                flows.beside(|| range::read(t, p, turn.moment.address, u64::from(bytes), turn.site));
            }
            What::Sample | What::Awaited => take(t, p, turn, &mut flows),
        }
    }
    read_columns(t, p, &apart.unread, column..u64::MAX, &mut flows);
    flows.end();
    true
}

/// Reads columns of which something is not known, as far as they reach. Returns how far.
fn read_columns(t: &mut Thread, p: &Process, columns: &Columns, iterations: Range<u64>, flows: &mut Flows) -> u64 {
    let (mut at, end) = (iterations.start, iterations.end.min(columns.iterations()));
    while at < end {
        let next = end.min(at + STEP);
        flows.go_to(Moment { at, look: 0, address: 0 }, None);
        flows.beside(|| columns.read(t, p, at..next));
        at = next;
    }
    at
}

/// What the loop counts, and the elements that somebody waits for. `None`: see [`Flows::gather`]; or one of these is
/// none of the loop's events.
fn gather(
    t: &mut Thread,
    p: &Process,
    (looks, apart): (&[Look], &Apart),
    flows: &mut Flows,
    turns: &mut Turns,
) -> Option<()> {
    flows.gather(t, looks)?;
    for turn in apart.all() {
        let mut turn = *turn;
        if matches!(turn.what, What::Awaited) {
            turn.counter = counter_at(t, p, flows, turn.moment, turn.site)?;
            flows.all().iter().find(|flow| flow.counter == turn.counter)?;
        }
        turns.add(turn)?;
    }
    Some(())
}

/// Chooses the elements that are sampled of what counts in one counter. `None`: too many, or the event cache has lost
/// what says which they are.
fn plan(
    t: &mut Thread,
    p: &Process,
    looks: &[Look],
    flows: &mut Flows,
    number: usize,
    turns: &mut Turns,
) -> Option<()> {
    while let Some(flow) = flows.all().get(number).copied().filter(Flow::is_due) {
        let turn = pick(t, p, looks, flows, &flow, turns)?;
        // SAFETY: counters of windows with events are the heads of this thread's records.
        let gap = unsafe { t.traces.gap(flow.counter.cast(), &p.plan) };
        flows.all().get_mut(number)?.next = flow.next.saturating_add(gap);
        turns.add(turn)?;
        if let Some(next) = read_again(t, p, looks, flows, &turn) {
            flows.all().iter().find(|flow| flow.counter == next.counter)?;
            // One that is sampled itself ends the distance as well.
            if !turns.have(next.moment) {
                turns.add(next)?;
            }
        }
    }
    Some(())
}

/// The read that ends the distance that begins with a sample, if it is in the same loop or nest.
fn read_again(t: &Thread, p: &Process, looks: &[Look], flows: &Flows, sample: &Turn) -> Option<Turn> {
    let Moment { at, look: of_sample, address } = sample.moment;
    let reads = looks.iter().zip(flows.orders()).enumerate().filter(|(_, (look, _))| look.granules > 0);
    let reads = reads.filter_map(|(look, (found, order))| {
        // Behind the sample's access in the same iteration, too.
        let look = look as u32;
        let after = if look > of_sample { at.checked_sub(1) } else { Some(at) };
        let moment = Moment { at: order.next(address, after)?, look, address };
        let site = found.group.site?;
        Some(Turn { moment, site, what: What::Awaited, counter: counter_at(t, p, flows, moment, site)? })
    });
    reads.min_by_key(|turn| turn.moment)
}

/// Reads an element, to sample it or because the thread waits for it. The latter is no sample by itself.
fn take(t: &mut Thread, p: &Process, turn: &Turn, flows: &mut Flows) {
    let Some(mut flow) = flows.all().iter().find(|flow| flow.counter == turn.counter).copied() else { return };
    flows.go_to(turn.moment, Some(flow.trace));
    flow.counter().next = if matches!(turn.what, What::Sample) { 0 } else { u64::MAX };
    if let Some(cell) = cell(p, turn.moment.address) {
        read_cell(t, p, cell, turn.moment.address, turn.site);
    }
}

/// A read that counts where a sample is due and has no turn yet: each has the same chance.
fn pick(t: &mut Thread, p: &Process, looks: &[Look], flows: &Flows, flow: &Flow, turns: &Turns) -> Option<Turn> {
    let counter = flow.counter;
    let orders = flows.orders();
    let reads = || flows.reads_in(counter).filter_map(|(look, of)| Some((look, of, orders.get(look)?)));
    let total: u64 = reads().map(|(_, of, order)| order.reads(of)).sum();
    let nth = |mut rest: u64| {
        for (look, of, order) in reads() {
            if rest < order.reads(of) {
                let (address, at) = order.read(rest, of);
                let moment = Moment { at, look: look as u32, address };
                return Some(Turn { moment, site: looks.get(look)?.group.site?, what: What::Sample, counter });
            }
            rest -= order.reads(of);
        }
        None
    };
    let suits = |turn: &Turn| {
        let at = counter_at(t, p, flows, turn.moment, turn.site);
        at == Some(counter) && !t.waits_for(turn.moment.address) && !turns.have(turn.moment)
    };
    // Where a sample is due is chosen at random.
    let mut random = flow.next.wrapping_mul(SPREAD) | 1;
    let mut random = || {
        // xorshift64 (Marsaglia, Journal of Statistical Software 8, 2003).
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random.checked_rem(total).unwrap_or(0)
    };
    let tried = (0..TRIES).find_map(|_| nth(random()).filter(suits));
    tried.or_else(|| {
        let first = random();
        (first..total).chain(0..first).find_map(|number| nth(number).filter(suits))
    })
}

/// Where a read counts: with 16 threads the event cache has lost one state or another of each block.
fn counter_at(t: &Thread, p: &Process, flows: &Flows, moment: Moment, site: u32) -> Option<*mut EventCounter> {
    let Moment { look, address, .. } = moment;
    flows.counter_at(look, address).or_else(|| counter_of(t, p, address, site))
}

/// The counter of reads of an element that nobody else's mark hides.
fn counter_of(t: &Thread, p: &Process, address: u64, site: u32) -> Option<*mut EventCounter> {
    let state = cell(p, address)?.load(Ordering::Relaxed);
    t.counter_of(state & Kind::mask(state), site)
}

fn cell(p: &Process, address: u64) -> Option<&AtomicU32> {
    // SAFETY: the directory leads to cells that live for ever.
    p.signature.directory.translate(address).map(|cell| unsafe { &*cell })
}
