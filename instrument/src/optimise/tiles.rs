//! Finds nests of two or three loops that the runtime can count as a whole: see [`threadtalk_abi::loops::NestAccess`].
//!
//! A block of a matrix is updated row by row, again and again. Even where the rows are short and settled at once
//! ([`super::windows`]), finding that out takes as long as a row. So such nests ask once, before their outermost loop:
//! if all of it is settled, their innermost loops run as plain copies, and accesses between these have no sequences.
//!
//! At the end of the pipeline the innermost loop of the source is several: vectorised, remainder, and a scalar one for
//! arrays that overlap. Which of them run is a matter of conditions that are known before the nest. There, the nest is
//! described as it runs if they are as they should be (`shim/nests.cpp`, `shim/way.cpp`).

use super::nests::Nests;
use super::segment::plain;
use super::shared_translation::Sharing;
use super::whole_loops::Offer;
use crate::access::{Direction, Event, Plan, Worth};
use crate::llvm;
use crate::llvm::analysis::Analysis;
use crate::llvm::ffi::{self, MOST_FIXED, RawNest, RawNestItem};
use crate::llvm::loops::Loops;
use crate::pure::PureFunctions;
use crate::tables::SiteId;
use inkwell::values::{AsValueRef, InstructionValue, IntValue, PointerValue};
use std::collections::HashSet;
use std::ptr;
use threadtalk_abi::GRANULE;
use threadtalk_abi::loops::{MOST_IN_NEST, STEPS};
use threadtalk_abi::window::NUMBERS;

/// What a nest accesses at one line, at addresses that move evenly with its loops.
pub struct Tile<'ctx> {
    /// Read or write.
    pub direction: Direction,
    /// Where in the source.
    pub site: SiteId,
    /// Bytes of one access.
    pub bytes: u64,
    /// Where it begins, but for `first`.
    pub address: PointerValue<'ctx>,
    /// Distance of the first access.
    pub first: i64,
    /// Strides and iterations of its loops, innermost first; 0 iterations of the first one: the nest does not make it.
    pub steps: [(IntValue<'ctx>, IntValue<'ctx>); STEPS],
}

/// A nest that can be described.
pub struct Tiled<'ctx> {
    /// Runs last before the nest: all values are known there.
    pub before: InstructionValue<'ctx>,
    /// Whether each iteration takes the way on which all of it is described.
    pub feasible: IntValue<'ctx>,
    /// What it accesses.
    pub tiles: Vec<Tile<'ctx>>,
    /// Where it must not write for all of this to hold: addresses and bytes.
    pub fixed: Vec<(PointerValue<'ctx>, u64)>,
    /// Its innermost loops, by number of the offer.
    pub offers: Vec<usize>,
    /// Its other accesses, by event.
    pub events: Vec<usize>,
    /// Number of its first window in the function.
    pub number: usize,
}

/// The nests of a function.
pub fn find<'ctx>(
    plan: &Plan<'ctx>,
    offers: &[Offer<'ctx>],
    sharing: &[Sharing],
    analysis: &mut Analysis,
    pure: &PureFunctions<'ctx>,
) -> Vec<Tiled<'ctx>> {
    if offers.is_empty() {
        return Vec::new();
    }
    let loops = Loops::find(plan.function);
    let nests = Nests::find(plan.function, &loops, pure);
    let place = Place { plan, offers, sharing, loops: &loops };
    // Larger ones first.
    let around = |offer: &Offer<'ctx>| offer.branch.get_parent().and_then(|block| loops.innermost(block));
    let inner: Vec<usize> = offers.iter().filter_map(around).filter(|&l| nests.is_closed(l)).collect();
    let outer = inner.iter().filter_map(|&l| loops.all[l].parent).filter(|&l| nests.is_closed(l));
    let mut found: Vec<Tiled<'ctx>> = Vec::new();
    let mut tried = HashSet::new();
    let mut number = offers.iter().map(|o| o.number + o.groups.as_ref().map_or(0, Vec::len)).max().unwrap_or(0);
    for nest in outer.chain(inner.iter().copied()).filter(|&l| tried.insert(l)) {
        if place.offers_in(nest).any(|offer| found.iter().any(|f| f.offers.contains(&offer))) {
            continue;
        }
        let Some(tiled) = place.describe(nest, analysis, number) else { continue };
        if number + tiled.tiles.len() > NUMBERS as usize {
            break;
        }
        number += tiled.tiles.len();
        found.push(tiled);
    }
    found
}

struct Place<'p, 'ctx> {
    plan: &'p Plan<'ctx>,
    offers: &'p [Offer<'ctx>],
    sharing: &'p [Sharing],
    loops: &'p Loops<'ctx>,
}

/// What an item of the shim's list is.
#[derive(Clone, Copy)]
enum Item {
    /// Accesses of an offer that move in step with one of them.
    Leader(usize, usize),
    /// Another access, by event.
    Event(usize),
}

impl<'ctx> Place<'_, 'ctx> {
    fn is_in(&self, nest: usize, inst: InstructionValue<'ctx>) -> bool {
        inst.get_parent().is_some_and(|block| self.loops.chain(self.loops.innermost(block)).any(|l| l == nest))
    }

    fn offers_in(&self, nest: usize) -> impl Iterator<Item = usize> {
        self.offers.iter().enumerate().filter(move |(_, o)| self.is_in(nest, o.branch)).map(|(number, _)| number)
    }

    /// Whether an access is part of a loop that is offered, in one of its copies.
    fn is_offered(&self, event: &Event<'ctx>) -> bool {
        let innermost = event.inst.get_parent().and_then(|block| self.loops.innermost(block));
        let preheader = innermost.and_then(|l| self.loops.all[l].preheader);
        preheader.is_some_and(|block| self.offers.iter().any(|o| llvm::successors_of(o.branch).contains(&block)))
    }

    /// Whether an event's translation is another one's.
    fn is_shared(&self, number: usize) -> bool {
        let follows = |of: Option<&Sharing>| matches!(of, Some(Sharing::Follows(_)));
        follows(self.sharing.get(number)) || self.sharing.contains(&Sharing::Follows(number))
    }

    fn describe(&self, nest: usize, analysis: &mut Analysis, number: usize) -> Option<Tiled<'ctx>> {
        let mut items = Vec::new();
        let mut raw = Vec::new();
        for offer in self.offers_in(nest) {
            let of = &self.offers[offer];
            let mut leaders: Vec<usize> = of.accesses.iter().map(|a| a.strand.leader).collect();
            leaders.dedup();
            for leader in leaders {
                let access = of.accesses.iter().find(|a| a.strand.leader == leader)?;
                // The plain copy of a loop that has to be feasible is right only where that was asked. The way that is
                // described is that of vectorised loops, not of those that run instead.
                let is_told = of.feasible.is_none() && !of.overlapping;
                let known = !of.strays && is_told && of.accesses.iter().all(|a| a.strand.whole);
                items.push(Item::Leader(offer, leader));
                let address = if known { access.address.as_value_ref() } else { ptr::null_mut() };
                let stride = if known { access.stride.as_value_ref() } else { ptr::null_mut() };
                raw.push(RawNestItem { stride, iterations: of.iterations.as_value_ref(), ..item(of.branch, address) });
            }
        }
        for (number, event) in self.plan.events.iter().enumerate().filter(|(_, e)| self.is_in(nest, e.inst)) {
            if !self.is_offered(event) {
                let access = describable(event).filter(|_| !self.is_shared(number));
                items.push(Item::Event(number));
                raw.push(item(event.inst, access.map_or(ptr::null_mut(), |pointer| pointer.as_value_ref())));
            }
        }
        let none = ptr::null_mut();
        let (fixed, fixed_bytes) = ([none; MOST_FIXED], [0; MOST_FIXED]);
        let mut out = RawNest { before: none, feasible: none, fixed_count: 0, fixed, fixed_bytes };
        let header = self.loops.all[nest].header.as_mut_ptr();
        // SAFETY: a live header of the function that was analysed, and live instructions and values in it.
        if !unsafe { ffi::threadtalk_shim_nest(analysis.raw(), header, raw.as_mut_ptr(), raw.len(), &mut out) } {
            return None;
        }
        // SAFETY: on success the shim has filled in an instruction and an i1.
        let (before, feasible) = unsafe { (InstructionValue::new(out.before), IntValue::new(out.feasible)) };
        let places = out.fixed.into_iter().zip(out.fixed_bytes).take(out.fixed_count);
        // SAFETY: pointers of loads of the function.
        let fixed = places.map(|(place, bytes)| (unsafe { PointerValue::new(place) }, bytes)).collect();
        let (tiles, offers, events) = (Vec::new(), Vec::new(), Vec::new());
        let mut tiled = Tiled { before, feasible, tiles, fixed, offers, events, number };
        for (item, raw) in items.into_iter().zip(&raw).filter(|(_, raw)| raw.on_way) {
            self.add(&mut tiled, item, raw);
        }
        tiled.tiles = side_by_side(tiled.tiles);
        (tiled.tiles.len() + tiled.fixed.len() <= MOST_IN_NEST).then_some(tiled)
    }

    fn add(&self, tiled: &mut Tiled<'ctx>, item: Item, raw: &RawNestItem) {
        // SAFETY: the shim gave each item on the way a pointer and i64s.
        let (address, steps) = unsafe {
            let step = |i: usize| (IntValue::new(raw.strides[i]), IntValue::new(raw.counts[i]));
            (PointerValue::new(raw.start), std::array::from_fn(step))
        };
        match item {
            Item::Leader(offer, leader) => {
                if !tiled.offers.contains(&offer) {
                    tiled.offers.push(offer);
                }
                for access in self.offers[offer].accesses.iter().filter(|a| a.strand.leader == leader) {
                    let s = &access.strand;
                    let (direction, site, bytes, first) = (s.direction, s.site, s.bytes, s.first);
                    tiled.tiles.push(Tile { direction, site, bytes, address, first, steps });
                }
            }
            Item::Event(number) => {
                let event = &self.plan.events[number];
                let Some((direction, access)) = plain(event) else { return };
                tiled.events.push(number);
                let (site, bytes) = (event.site, access.bytes);
                tiled.tiles.push(Tile { direction, site, bytes, address, first: 0, steps });
            }
        }
    }
}

/// Vectorised loops access a few vectors side by side in each iteration: as one, these are looked at once.
fn side_by_side(tiles: Vec<Tile<'_>>) -> Vec<Tile<'_>> {
    let mut merged: Vec<Tile<'_>> = Vec::new();
    for tile in tiles {
        let before = merged.iter_mut().find(|other| {
            let alike = (other.direction, other.site, other.address, other.steps);
            alike == (tile.direction, tile.site, tile.address, tile.steps)
                && other.first + other.bytes as i64 == tile.first
        });
        match before {
            Some(before) => before.bytes += tile.bytes,
            None => merged.push(tile),
        }
    }
    merged
}

fn item(at: InstructionValue<'_>, address: inkwell::llvm_sys::prelude::LLVMValueRef) -> RawNestItem {
    let none = ptr::null_mut();
    RawNestItem {
        at: at.as_value_ref(),
        address,
        stride: none,
        iterations: none,
        on_way: false,
        start: none,
        strides: [none; STEPS],
        counts: [none; STEPS],
    }
}

/// The address of an access whose sequence can be left out: it has a block of its own.
fn describable<'ctx>(event: &Event<'ctx>) -> Option<PointerValue<'ctx>> {
    let (_, access) = plain(event).filter(|_| event.worth > Worth::Call && !llvm::is_atomic(event.inst))?;
    let whole = access.bytes.is_multiple_of(GRANULE) && access.align >= GRANULE;
    (whole && access.is_inlined()).then_some(access.pointer)
}
