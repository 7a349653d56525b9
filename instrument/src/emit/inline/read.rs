//! The inlined read.

use super::super::assembly::Assembly;
use super::super::translate::Shape;
use super::cells::Loaded;
use super::{Ask, Cells, Inlined, Tested, Width, invalid, is_few};
use crate::access::Direction;
use crate::emit::repeats::Marked;
use crate::emit::{Emitted, ModuleEmitter};
use crate::llvm;
use crate::optimise::memos;
use inkwell::types::BasicType;
use std::mem::offset_of;
use threadtalk_abi::GRANULE;
use threadtalk_abi::module::ModuleBases;
use threadtalk_abi::thread::{EVENT_SITE_FACTOR, EVENT_SLOTS, QUIETS, offset};

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// A read.
    ///
    /// Where there are no cells, the program's data are taken for them: what it is about to read, so it can be read.
    /// If they look like own ids, the read is done, and rightly so: nobody has written there, and it is no event. If
    /// not, neither a memo nor the event cache must be asked with them.
    pub fn inline_read(&self, read: &Inlined<'_, 'ctx>) -> Emitted<()> {
        if self.lacks_vectors(read.access)? {
            let mut a = Assembly::new(vec![("=&{di}", self.i64.into())]);
            mark(&mut a, read);
            self.cold(&mut a, (Direction::Read, read), None)?;
            return self.assemble(a);
        }
        let (mut a, tested) = match is_few(Shape::of(read.access.bytes, read.access.align)) {
            true => self.test_few(read)?,
            false => self.test_many(read)?,
        };
        self.behind_own(&mut a, read, &tested)?;
        self.assemble(a)
    }

    /// Behind the test for own values: what else is asked, and the call.
    pub(super) fn behind_own(
        &self,
        a: &mut Assembly<'ctx>,
        read: &Inlined<'_, 'ctx>,
        tested: &Tested<'ctx>,
    ) -> Emitted<()> {
        a.line("je 1f");
        // A memo that sees quiet values all the time takes their state over, if it is not settled here.
        let cells = match (&tested.cells, &tested.last, read.ask) {
            (Cells::Held(width, cells), None, Ask::Events) => Some((*width, width.name(cells), Width::One.name(cells))),
            _ => None,
        };
        if let Some((width, cells, first)) = cells {
            let quiet = a.element(self.header(read)?, offset::QUIETS, "%rdi");
            a.line(format!("movl {first}, %edi"));
            a.line(format!("andl $${}, %edi", QUIETS - 1));
            a.line(format!("cmp{} {quiet}, {cells}", width.suffix()));
            a.line("je 1f");
        }
        mark(a, read);
        a.line(format!("testq {0}, {0}", tested.shift));
        a.line("je 2f");
        match read.ask {
            Ask::Memo(place) => self.ask_memo(a, read, place, tested)?,
            _ => self.ask_events(a, read, tested)?,
        }
        a.line("2:");
        self.cold(a, (Direction::Read, read), tested.pointer.as_ref())?;
        a.line("1:");
        Ok(())
    }

    /// Tests whether one cell or two are own. All of it is assembly, which takes the code generator a tenth of what as
    /// many instructions of LLVM take.
    fn test_few(&self, read: &Inlined<'_, 'ctx>) -> Emitted<(Assembly<'ctx>, Tested<'ctx>)> {
        let shape = Shape::of(read.access.bytes, read.access.align);
        let mut outputs = vec![("=&{di}", self.i64.into())];
        let width = Width::of(shape);
        // Reads of what others wrote are many in some loops, and ask several things of the cells. A memo loads them
        // again.
        let holds = read.ask == Ask::Events;
        let keeps = shape.round && matches!(read.ask, Ask::Memo(_));
        if keeps || holds {
            outputs.push(("=&r", self.i64.into()));
        }
        let mut a = Assembly::new(outputs);
        if let Some(Marked::Again(mark)) = read.repeat {
            let mark = a.memory(mark);
            a.line(format!("cmpb $$0, {mark}"));
            a.line("je 1f");
        }
        let pointer = a.register(llvm::frozen_pointer(&self.builder, read.access.pointer));
        let shift = match read.shift {
            Some(shift) => a.register(shift),
            None => {
                self.look_up(&mut a, read, &pointer, (offset::DIRECTORY, "%r11"))?;
                "%r11".into()
            }
        };
        let mut cells = format!("({pointer},{shift})");
        if shape.round {
            let granule = if keeps { "${1:q}" } else { "%rdi" };
            a.line(format!("movq {pointer}, {granule}"));
            a.line(format!("andq $${}, {granule}", -(GRANULE as i64)));
            cells = format!("({granule},{shift})");
        }
        let (suffix, work) = (width.suffix(), width.name("%rdi"));
        let cells = if holds {
            a.line(format!("mov{suffix} {cells}, {}", width.name("${1:q}")));
            a.line(format!("mov{suffix} {}, {work}", width.name("${1:q}")));
            Cells::Held(width, "${1:q}".into())
        } else {
            a.line(format!("mov{suffix} {cells}, {work}"));
            Cells::At(width, cells)
        };
        self.test_own(&mut a, read, width, "%rdi")?;
        let count = format!("$${}", shape.cells);
        Ok((a, Tested { cells, last: None, shift, count, pointer: Some((pointer, 0)) }))
    }

    /// Tests cells that are many, or whose number depends on the address.
    fn test_many(&self, read: &Inlined<'_, 'ctx>) -> Emitted<(Assembly<'ctx>, Tested<'ctx>)> {
        let translation = &self.translation(read)?;
        let (cells, others) = self.load_cells(read, translation)?;
        let (last, others) = self.with_last(read.prologue, translation, others)?;
        let mut outputs = vec![("=&{di}", others.get_type().into())];
        if let Loaded::Lanes(parts) = &cells {
            outputs.extend([("=&x", parts[0].get_type().as_basic_type_enum()); 2]);
        }
        let mut a = Assembly::new(outputs);
        a.first(others);
        a.line(if others.get_type() == self.i64 { "testq %rdi, %rdi" } else { "testl %edi, %edi" });
        let cells = match cells {
            Loaded::One(cell) => Cells::Held(Width::One, a.register(cell)),
            Loaded::Two(cells) => Cells::Held(Width::Two, a.register(cells)),
            Loaded::Pairs(places) => Cells::Pairs(places.map(|place| a.memory(place))),
            Loaded::Lanes(parts) => Cells::Lanes(parts),
        };
        let last = last.map(|last| a.register(last));
        let shift = a.register(translation.shift);
        let whole = Shape::of(read.access.bytes, read.access.align).cells;
        let count = match translation.last {
            Some(last) => a.register(self.builder.build_int_add(self.c64(whole.into()), last.more, "")?),
            None => format!("$${whole}"),
        };
        Ok((a, Tested { cells, last, shift, count, pointer: None }))
    }

    /// Counts the read if its cells are in the memo's state and the memo may count so many. What it took although there
    /// was not so much left, the function behind it gives back first of all.
    fn ask_memo(
        &self,
        a: &mut Assembly<'ctx>,
        read: &Inlined<'_, 'ctx>,
        place: memos::Place,
        tested: &Tested<'ctx>,
    ) -> Emitted<()> {
        let (header, memo) = (self.header(read)?, offset::MEMOS + u64::from(place.number) * offset::MEMO_SIZE);
        let state = a.field(header, memo + offset::MEMO_STATES);
        let left = a.field(header, memo + offset::MEMO_LEFT);
        match &tested.cells {
            Cells::At(width, cells) => {
                let (suffix, register) = (width.suffix(), width.name("%rdi"));
                a.line(format!("mov{suffix} {cells}, {register}"));
                a.line(format!("cmp{suffix} {state}, {register}"));
            }
            Cells::Held(width, cells) => a.line(format!("cmp{} {state}, {}", width.suffix(), width.name(cells))),
            Cells::Pairs([first, second]) => {
                let next = a.field(header, memo + offset::MEMO_NEXT_STATES);
                a.line(format!("movq {first}, %rdi"));
                a.line(format!("cmpq {state}, %rdi"));
                a.line("jne 2f");
                a.line(format!("movq {second}, %rdi"));
                a.line(format!("cmpq {next}, %rdi"));
            }
            Cells::Lanes(parts) => self.compare_parts(a, parts, &state)?,
        }
        a.line("jne 2f");
        if let Some(last) = &tested.last {
            a.line(format!("cmpl {state}, {}", Width::One.name(last)));
            a.line("jne 2f");
        }
        a.line(format!("subq {}, {left}", tested.count));
        a.line("jae 1f");
        Ok(())
    }

    /// Counts the read if all its cells are in one state that the event cache knows.
    fn ask_events(&self, a: &mut Assembly<'ctx>, read: &Inlined<'_, 'ctx>, tested: &Tested<'ctx>) -> Emitted<()> {
        let events = a.field(self.header(read)?, offset::EVENTS);
        let base = self.base(a, offset_of!(ModuleBases, site_base))?;
        let salt = self.base(a, offset_of!(ModuleBases, site_salt))?;
        match &tested.cells {
            Cells::At(..) => return Err(invalid("cells that are not held")),
            Cells::Held(Width::One, cell) => a.line(format!("movl {}, %r11d", Width::One.name(cell))),
            Cells::Held(Width::Two, cells) => {
                a.line(format!("movq {cells}, %r11"));
                a.line("shrq $$32, %r11");
                a.line(format!("cmpl {}, %r11d", Width::One.name(cells)));
                a.line("jne 2f");
            }
            Cells::Pairs([first, second]) => {
                a.line(format!("movq {first}, %r11"));
                a.line(format!("cmpq {second}, %r11"));
                a.line("jne 2f");
                a.line("movl %r11d, %edi");
                a.line("shrq $$32, %r11");
                a.line("cmpl %edi, %r11d");
                a.line("jne 2f");
            }
            Cells::Lanes(parts) => {
                let first = a.vector(parts[0]);
                let moves = if self.has_avx()? { "vmovd" } else { "movd" };
                a.line(format!("{moves} ${{{first}:x}}, %r11d"));
                self.compare_parts(a, parts, "%r11d")?;
                a.line("jne 2f");
            }
        }
        if let Some(last) = &tested.last {
            a.line(format!("cmpl {}, %r11d", Width::One.name(last)));
            a.line("jne 2f");
        }
        // The slot.
        a.line(format!("movl {salt}, %edi"));
        a.line(format!("leal {}(%rdi,%r11), %edi", read.site.wrapping_mul(EVENT_SITE_FACTOR) as i32));
        a.line(format!("andl $${}, %edi", EVENT_SLOTS - 1));
        a.line(format!("shll $${}, %edi", offset::SLOT_SIZE.trailing_zeros()));
        a.line(format!("addq {events}, %rdi"));
        // Its key: the cell, and the global number of the site.
        a.line(format!("cmpl %r11d, {}(%rdi)", offset::SLOT_KEY));
        a.line("jne 2f");
        a.line(format!("movl {base}, %r11d"));
        a.line(format!("addl $${}, %r11d", read.site as i32));
        a.line(format!("cmpl %r11d, {}(%rdi)", offset::SLOT_KEY + 4));
        a.line("jne 2f");
        // Its counter.
        a.line(format!("movq {}(%rdi), %r11", offset::SLOT_COUNTER));
        a.line(format!("movq {}(%r11), %rdi", offset::COUNTER_RAR));
        a.line(format!("addq {}, %rdi", tested.count));
        a.line(format!("cmpq {}(%r11), %rdi", offset::COUNTER_NEXT));
        a.line("jae 2f");
        a.line(format!("movq %rdi, {}(%r11)", offset::COUNTER_RAR));
        a.line("jmp 1f");
        Ok(())
    }
}

/// Says that a read which comes again finds no value of which that is known to be no event.
fn mark<'ctx>(a: &mut Assembly<'ctx>, read: &Inlined<'_, 'ctx>) {
    if let Some(Marked::First(mark)) = read.repeat {
        let mark = a.memory(mark);
        a.line(format!("movb $$1, {mark}"));
    }
}
