//! The innermost region at an instruction.
//!
//! Loops, constructs and functions nest; code that was inlined carries the frame that it came from. A loop or a
//! construct counts for an instruction only if both have the same frame: an access that was inlined into a loop body
//! from another function is that function's, unless that is the C++ library's or no more than an expression.

use super::constructs::{Constructs, Stack};
use super::functions::{self, Functions, Unit};
use crate::llvm::debug::{self, Frame, Location};
use crate::llvm::hash::Map;
use crate::llvm::loops::Loops;
use crate::tables::{Place, RegionId, RegionKey, SiteAccess, SiteId, Tables};
use inkwell::basic_block::BasicBlock;
use inkwell::values::{FunctionValue, InstructionValue};
use std::collections::HashMap;
use threadtalk_abi::module::RegionKind;
use threadtalk_abi::module::site_flags::ALLOCATION;

/// Loops and constructs of one LLVM function, and how they nest.
pub struct Nesting<'ctx> {
    function: FunctionValue<'ctx>,
    /// Its loops.
    pub loops: Loops<'ctx>,
    /// Where each of them begins and ends to who reads a report.
    places: Vec<Option<(Location, u32)>>,
    /// Its constructs.
    pub constructs: Constructs<'ctx>,
    known: Map<(Frame, Option<usize>, Stack), RegionId>,
    loop_regions: HashMap<usize, RegionId>,
    construct_regions: HashMap<Stack, RegionId>,
}

impl<'ctx> Nesting<'ctx> {
    /// Analyses a function of those of a module. Loops get preheaders.
    pub fn new(function: FunctionValue<'ctx>, functions: &mut Functions) -> Self {
        let loops = Loops::find(function);
        let places = loops.all.iter().map(|l| l.start.map(|start| place(start, l.end, functions))).collect();
        Nesting {
            function,
            loops,
            places,
            constructs: if functions.use_openmp() { Constructs::find(function) } else { Constructs::default() },
            known: Map::default(),
            loop_regions: HashMap::new(),
            construct_regions: HashMap::new(),
        }
    }

    /// The site of an access: `stack` is what is open at the instruction.
    pub fn site(
        &mut self,
        inst: InstructionValue<'ctx>,
        block: BasicBlock<'ctx>,
        stack: Stack,
        (flags, access): (u32, &SiteAccess),
        (functions, tables): (&mut Functions, &mut Tables),
    ) -> SiteId {
        let innermost = self.loops.innermost(block);
        let at = match flags & ALLOCATION {
            0 => debug::of(inst).map(|at| self.meant(at, (innermost, stack), functions)),
            _ => functions.user_location(inst, access.frames),
        };
        let frame = at.map_or_else(|| functions::own_frame(self.function), |l| l.frame);
        let region = self.region(frame, innermost, stack, functions, tables);
        let place = Place { region, caller_loop: self.caller_loop(frame, innermost, functions, tables) };
        match at {
            Some(at) => tables.site(place, functions.file(at.scope), at.line, flags, access),
            None if frame.subprogram.is_null() => tables.site(place, "", 0, flags, access),
            None => tables.site(place, functions.file(frame.subprogram), 0, flags, access),
        }
    }

    /// Where code belongs that was inlined from a header of the system, or from a function that is no more than an
    /// expression: to who calls it. That `std::atomic::load` or `Vector::operator+` reads something says nothing; of a
    /// loop or a construct in there it is worth knowing that it is one. `around`: innermost loop and construct.
    pub fn meant(&self, innermost: Location, around: (Option<usize>, Stack), functions: &mut Functions) -> Location {
        let (mut at, mut written_by_user) = (innermost, None);
        loop {
            let is_library = functions.is_library(at.scope);
            if !is_library {
                written_by_user = Some(at);
            }
            let belongs_to_caller = is_library || functions.is_expression(at.frame.subprogram);
            if !belongs_to_caller || self.has_region_of(at.frame, around) {
                return at;
            }
            // What a library calls, such as an order to sort by, is known by its own name alone.
            match debug::location(at.frame.inlined_at).filter(|outer| is_library || !functions.is_library(outer.scope))
            {
                Some(outer) => at = outer,
                None => return written_by_user.unwrap_or(at),
            }
        }
    }

    fn begins(&self, index: usize) -> Option<Location> {
        self.places[index].map(|(start, _)| start)
    }

    /// Whether one of the loops and constructs around is of a frame.
    fn has_region_of(&self, frame: Frame, (innermost, stack): (Option<usize>, Stack)) -> bool {
        self.loops.chain(innermost).any(|index| self.begins(index).is_some_and(|at| at.frame == frame))
            || self.constructs.chain(stack).any(|construct| self.frame_of(construct) == frame)
    }

    /// The innermost loop that is not of this frame, but holds code that was inlined with it.
    fn caller_loop(
        &mut self,
        frame: Frame,
        innermost: Option<usize>,
        functions: &mut Functions,
        tables: &mut Tables,
    ) -> Option<RegionId> {
        if frame.inlined_at.is_null() {
            return None;
        }
        let located = |i: &usize| self.begins(*i).is_some_and(|l| l.frame != frame && l.line > 0);
        let index = self.loops.chain(innermost).find(located)?;
        let frame = self.begins(index)?.frame;
        Some(self.loop_entry(index, frame, functions, tables))
    }

    /// The region of a block, given a location in it and the innermost loop and construct at its end.
    pub fn block_region(
        &mut self,
        at: Option<Location>,
        (innermost, stack): (Option<usize>, Stack),
        (functions, tables): (&mut Functions, &mut Tables),
    ) -> RegionId {
        let frame = at.map_or_else(|| functions::own_frame(self.function), |l| l.frame);
        self.region(frame, innermost, stack, functions, tables)
    }

    /// The region of a loop, if an access lies in it.
    pub fn loop_region(&self, index: usize) -> Option<RegionId> {
        self.loop_regions.get(&index).copied()
    }

    /// The region of a construct, if an access lies in it.
    pub fn construct_region(&self, stack: Stack) -> Option<RegionId> {
        self.construct_regions.get(&stack).copied()
    }

    fn frame_of(&self, stack: Stack) -> Frame {
        self.constructs.all[stack - 1].frame.unwrap_or_else(|| functions::own_frame(self.function))
    }

    fn region(
        &mut self,
        frame: Frame,
        innermost: Option<usize>,
        stack: Stack,
        functions: &mut Functions,
        tables: &mut Tables,
    ) -> RegionId {
        if let Some(&region) = self.known.get(&(frame, innermost, stack)) {
            return region;
        }
        let located = |i: &usize| self.begins(*i).is_some_and(|l| l.frame == frame && l.line > 0);
        let in_loop = self.loops.chain(innermost).find(located);
        let in_construct = self.constructs.chain(stack).find(|&s| self.frame_of(s) == frame);
        let region = match (in_loop, in_construct) {
            (Some(l), Some(c)) if self.opened_inside(c, l) => self.construct(c, frame, functions, tables),
            (Some(l), _) => self.source_loop(l, frame, functions, tables),
            (None, Some(c)) => self.construct(c, frame, functions, tables),
            (None, None) if frame.subprogram.is_null() => functions.region(Unit::of(self.function), tables),
            (None, None) => functions.region(Unit::Subprogram(frame.subprogram), tables),
        };
        self.known.insert((frame, innermost, stack), region);
        region
    }

    /// Whether a construct begins inside a loop, and not the loop inside the construct.
    fn opened_inside(&self, construct: Stack, index: usize) -> bool {
        let open = self.constructs.at_entry(self.loops.all[index].header);
        !self.constructs.chain(open).any(|s| s == construct)
    }

    fn source_loop(&mut self, index: usize, frame: Frame, functions: &mut Functions, tables: &mut Tables) -> RegionId {
        let region = self.loop_entry(index, frame, functions, tables);
        self.loop_regions.insert(index, region);
        region
    }

    fn loop_entry(&mut self, index: usize, frame: Frame, functions: &mut Functions, tables: &mut Tables) -> RegionId {
        let (parent_loop, header) = (self.loops.all[index].parent, self.loops.all[index].header);
        let place = self.places[index];
        let outer = self.constructs.at_entry(header);
        let parent = self.region(frame, parent_loop, outer, functions, tables);
        let file = place.map_or_else(String::new, |(start, _)| functions.file(start.scope).to_string());
        let (line, end) = place.map_or((0, 0), |(start, end)| (start.line, end));
        let name = functions.source_name(self.unit(frame));
        let key = RegionKey { kind: RegionKind::Loop, name, file, line };
        tables.region(key, end, Some(parent))
    }

    fn construct(&mut self, stack: Stack, frame: Frame, functions: &mut Functions, tables: &mut Tables) -> RegionId {
        let (kind, line, end_line, begin, outer) = {
            let c = &self.constructs.all[stack - 1];
            (c.kind, c.line, c.end_line, c.begin, c.outer)
        };
        let around = begin.get_parent().and_then(|b| self.loops.innermost(b));
        let parent = self.region(frame, around, outer, functions, tables);
        let file = debug::of(begin).map_or_else(String::new, |l| functions.file(l.scope).to_string());
        let name = functions.source_name(self.unit(frame));
        let region = tables.region(RegionKey { kind, name, file, line }, end_line, Some(parent));
        self.construct_regions.insert(stack, region);
        region
    }

    fn unit(&self, frame: Frame) -> Unit {
        if frame.subprogram.is_null() { Unit::of(self.function) } else { Unit::Subprogram(frame.subprogram) }
    }
}

/// Where a loop begins and its last line. One that was inlined from a header of the system, `std::accumulate`'s, is
/// where the program calls that.
fn place(start: Location, end: Option<Location>, functions: &mut Functions) -> (Location, u32) {
    let at = functions.outside_libraries(start);
    (at, if at == start { end.map_or(0, |end| end.line) } else { at.line })
}
