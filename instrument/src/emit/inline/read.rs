//! The inlined read.

use super::super::assembly::Assembly;
use super::super::translate::{Shape, Translation};
use super::cells::Loaded;
use super::{Ask, Cells, Inlined, Tested, Width, invalid};
use crate::access::Direction;
use crate::emit::{Emitted, ModuleEmitter};
use crate::optimise::memos::Place;
use inkwell::types::BasicType;
use inkwell::values::IntValue;
use std::mem::offset_of;
use threadtalk_abi::module::ModuleBases;
use threadtalk_abi::thread::{EVENT_SITE_FACTOR, EVENT_SLOTS, QUIETS, offset};
use threadtalk_abi::{CHUNK_SHIFT, GRANULE};

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// A read.
    ///
    /// Where there are no cells, the program's data are taken for them: what it is about to read, so it can be read.
    /// If they look like own ids, the read is done, and rightly so: nobody has written there, and it is no event. If
    /// not, neither a memo nor the event cache must be asked with them.
    pub fn inline_read(&self, read: &Inlined<'_, 'ctx>) -> Emitted<()> {
        if self.lacks_vectors(read.access)? {
            let mut a = Assembly::new(vec![("=&{di}", self.i64.into())]);
            self.cold(&mut a, (Direction::Read, read), None)?;
            return self.assemble(a);
        }
        let (mut a, tested) = match read.translation {
            None => self.test_plain(read)?,
            Some(translation) => self.test_translated(read, translation)?,
        };
        a.line("je 1f");
        // A memo that sees quiet values all the time takes their state over, if it is not settled here.
        if let (Cells::Few(width, cells), Ask::Own | Ask::Events, None) = (&tested.cells, read.ask, &tested.last) {
            let header = a.register(self.header(read)?);
            a.line(format!("movl {}, %edi", Width::One.name(cells)));
            a.line(format!("andl $${}, %edi", QUIETS - 1));
            let (suffix, cells) = (width.suffix(), width.name(cells));
            a.line(format!("cmp{suffix} {}({header},%rdi,8), {cells}", offset::QUIETS));
            a.line("je 1f");
        }
        if matches!(read.ask, Ask::Memo(_) | Ask::Events) {
            a.line(format!("testq {0}, {0}", tested.shift));
            a.line("je 2f");
            match read.ask {
                Ask::Memo(place) => self.ask_memo(&mut a, read, place, &tested)?,
                _ => self.ask_events(&mut a, read, &tested)?,
            }
        }
        a.line("2:");
        self.cold(&mut a, (Direction::Read, read), tested.pointer.as_deref())?;
        a.line("1:");
        self.assemble(a)
    }

    /// Finds the cells of an access that lies in one chunk, and tests whether they are own: in assembly, which takes
    /// the code generator a tenth of what ten instructions of LLVM take.
    fn test_plain(&self, read: &Inlined<'_, 'ctx>) -> Emitted<(Assembly<'ctx>, Tested<'ctx>)> {
        let mut outputs = vec![("=&{di}", self.i64.into())];
        let keeps = read.ask != Ask::Bare;
        if keeps {
            outputs.push(("=&r", self.i64.into()));
        }
        let mut a = Assembly::new(outputs);
        let shape = Shape::of(read.access.bytes, read.access.align);
        let pointer = a.register(self.number_of(read.access.pointer)?);
        let directory = a.register(read.prologue.directory.ok_or(invalid("no directory"))?);
        a.line(format!("movq {pointer}, %r11"));
        a.line(format!("shrq $${CHUNK_SHIFT}, %r11"));
        a.line(format!("movq ({directory},%r11,8), %r11"));
        let at = if shape.round {
            a.line(format!("movq {pointer}, %rdi"));
            a.line(format!("andq $${}, %rdi", -(GRANULE as i64)));
            "%rdi"
        } else {
            &pointer
        };
        let width = Width::of(shape);
        let cells = if keeps { "${1:q}" } else { "%rdi" };
        let (suffix, work) = (width.suffix(), width.name("%rdi"));
        a.line(format!("mov{suffix} ({at},%r11), {}", width.name(cells)));
        if keeps {
            a.line(format!("mov{suffix} {}, {work}", width.name(cells)));
        }
        self.test_own(&mut a, read, width, "%rdi")?;
        let tested = Tested {
            cells: Cells::Few(width, cells.into()),
            last: None,
            shift: "%r11".into(),
            count: format!("$${}", shape.cells),
            pointer: Some(pointer),
        };
        Ok((a, tested))
    }

    /// Whether the cells in a register are own: the flags say equal then.
    pub(super) fn test_own(
        &self,
        a: &mut Assembly<'ctx>,
        access: &Inlined<'_, 'ctx>,
        width: Width,
        register: &str,
    ) -> Emitted<()> {
        let own = match width {
            Width::One => access.prologue.own,
            Width::Two => access.prologue.own_pair,
        };
        let (base, foreign) = own.ok_or(invalid("no own range"))?;
        let (base, foreign) = (a.register(base), a.register(foreign));
        let (suffix, register) = (width.suffix(), width.name(register));
        a.line(format!("xor{suffix} {}, {register}", width.name(&base)));
        a.line(format!("test{suffix} {}, {register}", width.name(&foreign)));
        Ok(())
    }

    /// Tests cells whose place other accesses share, or that are many, or whose number depends on the address.
    fn test_translated(
        &self,
        read: &Inlined<'_, 'ctx>,
        translation: &Translation<'ctx>,
    ) -> Emitted<(Assembly<'ctx>, Tested<'ctx>)> {
        let (cells, others) = self.load_cells(read, translation)?;
        let (last, others) = self.with_last(read.prologue, translation, others)?;
        let mut outputs = vec![("=&{di}", others.get_type().into())];
        if let (Loaded::Lanes(parts), Ask::Memo(_) | Ask::Events) = (&cells, read.ask) {
            outputs.extend([("=&x", parts[0].get_type().as_basic_type_enum()); 2]);
        }
        let mut a = Assembly::new(outputs);
        a.first(others);
        a.line(if others.get_type() == self.i64 { "testq %rdi, %rdi" } else { "testl %edi, %edi" });
        // Who asks nothing more needs nothing more in registers.
        let mut register = |value: IntValue<'ctx>| match read.ask {
            Ask::Bare => String::new(),
            _ => a.register(value),
        };
        let cells = match cells {
            Loaded::One(cell) => Cells::Few(Width::One, register(cell)),
            Loaded::Two(cells) => Cells::Few(Width::Two, register(cells)),
            Loaded::Lanes(parts) => Cells::Lanes(parts),
        };
        let last = last.map(&mut register);
        let shift = register(translation.shift);
        let whole = Shape::of(read.access.bytes, read.access.align).cells;
        let count = match translation.last {
            Some(last) if read.ask != Ask::Bare => {
                register(self.builder.build_int_add(self.c64(whole.into()), last.more, "")?)
            }
            _ => format!("$${whole}"),
        };
        Ok((a, Tested { cells, last, shift, count, pointer: None }))
    }

    /// Counts the read if its cells are in the memo's state and the memo may count so many. What it took although there
    /// was not so much left, the function behind it gives back first of all.
    fn ask_memo(
        &self,
        a: &mut Assembly<'ctx>,
        read: &Inlined<'_, 'ctx>,
        place: Place,
        tested: &Tested<'ctx>,
    ) -> Emitted<()> {
        let memo = self.offset(self.header(read)?, offset::MEMOS + u64::from(place.number) * offset::MEMO_SIZE)?;
        let state = a.memory(self.offset(memo, offset::MEMO_STATES)?);
        let left = a.memory(self.offset(memo, offset::MEMO_LEFT)?);
        match &tested.cells {
            Cells::Few(width, cells) => a.line(format!("cmp{} {state}, {}", width.suffix(), width.name(cells))),
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
        let events = a.memory(self.offset(self.header(read)?, offset::EVENTS)?);
        let base = self.base(a, offset_of!(ModuleBases, site_base))?;
        let salt = self.base(a, offset_of!(ModuleBases, site_salt))?;
        match &tested.cells {
            Cells::Few(Width::One, cell) => a.line(format!("movl {}, %r11d", Width::One.name(cell))),
            Cells::Few(Width::Two, cells) => {
                a.line(format!("movq {cells}, %r11"));
                a.line("shrq $$32, %r11");
                a.line(format!("cmpl {}, %r11d", Width::One.name(cells)));
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
