//! The inlined write.

use super::super::assembly::Assembly;
use super::super::translate::Shape;
use super::{Ask, Inlined, Width, invalid, is_few};
use crate::access::Direction;
use crate::emit::{Emitted, ModuleEmitter};
use crate::llvm;
use crate::optimise::appends::Append;
use threadtalk_abi::GRANULE;
use threadtalk_abi::thread::offset;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// A write.
    pub fn inline_write(&self, write: &Inlined<'_, 'ctx>) -> Emitted<()> {
        let mut a = Assembly::new(vec![("=&{di}", self.i64.into())]);
        if self.lacks_vectors(write.access)? {
            self.cold(&mut a, (Direction::Write, write), None)?;
            return self.assemble(a);
        }
        match is_few(Shape::of(write.access.bytes, write.access.align)) {
            true => self.write_few(&mut a, write)?,
            false => self.write_many(&mut a, write)?,
        }
        a.line("1:");
        self.assemble(a)
    }

    /// A write of one cell or two.
    fn write_few(&self, a: &mut Assembly<'ctx>, write: &Inlined<'_, 'ctx>) -> Emitted<()> {
        let shape = Shape::of(write.access.bytes, write.access.align);
        let width = Width::of(shape);
        let pointer = a.register(llvm::frozen_pointer(&self.builder, write.access.pointer));
        let shift = match write.shift {
            Some(shift) => a.register(shift),
            None => {
                self.look_up(a, write, &pointer, (offset::WRITABLE, "%rdi"))?;
                "%rdi".into()
            }
        };
        let mut place = Place { cells: format!("({pointer},{shift})"), pointer, shift };
        a.line(format!("testq {0}, {0}", place.shift));
        if write.ask == Ask::Guarded {
            a.line("je 2f");
            place.round(a, shape);
            a.line(format!("mov{} {}, {}", width.suffix(), place.cells, width.name("%r11")));
            self.test_own(a, write, width, "%r11")?;
            a.line("je 3f");
        } else {
            a.line("jne 3f");
        }
        a.line("2:");
        self.cold(a, (Direction::Write, write), Some(&(place.pointer.clone(), 0)))?;
        a.line("jmp 1f");
        a.line("3:");
        if write.ask != Ask::Guarded {
            place.round(a, shape);
        }
        self.name_state(a, write, width)?;
        a.line(format!("mov{} {}, {}", width.suffix(), width.name("%r11"), place.cells));
        if let Some(append) = write.append {
            place.fetch_ahead(a, append);
        }
        Ok(())
    }

    /// Leaves what the write makes of one cell or two in r11.
    fn name_state(&self, a: &mut Assembly<'ctx>, write: &Inlined<'_, 'ctx>, width: Width) -> Emitted<()> {
        let thread = a.field(self.header(write)?, offset::WRITE);
        let module = a.register(write.prologue.sites.ok_or(invalid("no sites"))?);
        match width {
            Width::One => {
                a.line(format!("movl {thread}, %r11d"));
                a.line(format!("leal {}(%r11,{module}), %r11d", write.site as i32));
            }
            Width::Two => {
                a.line(format!("movabsq $${}, %r11", u64::from(write.site) << 32 | u64::from(write.site)));
                a.line(format!("addq {thread}, %r11"));
                a.line(format!("addq {module}, %r11"));
            }
        }
        Ok(())
    }

    /// A write of many cells, or of a number that depends on the address.
    fn write_many(&self, a: &mut Assembly<'ctx>, write: &Inlined<'_, 'ctx>) -> Emitted<()> {
        let translation = &self.translation(write)?;
        let shift = a.register(translation.shift);
        a.line(format!("testq {shift}, {shift}"));
        if write.ask == Ask::Guarded {
            let (_, others) = self.load_cells(write, translation)?;
            let (_, others) = self.with_last(write.prologue, translation, others)?;
            let width = if others.get_type() == self.i64 { Width::Two } else { Width::One };
            let others = width.name(&a.register(others));
            a.line("je 2f");
            a.line(format!("test{} {others}, {others}", width.suffix()));
            a.line("je 3f");
        } else {
            a.line("jne 3f");
        }
        a.line("2:");
        self.cold(a, (Direction::Write, write), None)?;
        a.line("jmp 1f");
        a.line("3:");
        let cells = Shape::of(write.access.bytes, write.access.align).cells;
        let pieces = match cells {
            lanes @ (1 | 2) => vec![(0, lanes)],
            // Two numbers: a vector would be put together for each write, and no read waits for one of them less.
            4 => vec![(0, 2), (2 * GRANULE, 2)],
            lanes => self.pieces_of_vectors(lanes)?,
        };
        if translation.last.is_some() || pieces.iter().any(|&(_, part)| part <= 2) {
            self.name_state(a, write, Width::Two)?;
        }
        let mut vector = None;
        for (first, part) in pieces {
            let at = a.memory(self.offset(translation.cells, first)?);
            match part {
                1 => a.line(format!("movl %r11d, {at}")),
                2 => a.line(format!("movq %r11, {at}")),
                part => {
                    let ids = match vector {
                        Some((lanes, ids)) if lanes == part => ids,
                        _ => {
                            let id = self.id_of_writes(write.prologue)?;
                            let id = self.builder.build_int_add(id, self.c32(write.site), "")?;
                            a.vector(self.splat(id, part)?)
                        }
                    };
                    a.line(format!("{} ${ids}, {at}", if self.has_avx()? { "vmovups" } else { "movups" }));
                    vector = Some((part, ids));
                }
            }
        }
        if let Some(last) = translation.last {
            let at = a.memory(last.cell);
            a.line(format!("movl %r11d, {at}"));
        }
        // Few of these are in a line, so that nothing is asked.
        if let Some(append) = write.append {
            for of in [translation.cells, write.access.pointer] {
                let next = a.memory(self.offset(of, append.ahead() as u64)?);
                a.line(format!("prefetcht0 {next}"));
            }
        }
        Ok(())
    }
}

/// Where one cell or two are written.
struct Place {
    /// The register with the address of the data.
    pointer: String,
    /// The one with what leads from there to the cells.
    shift: String,
    /// The cells.
    cells: String,
}

impl Place {
    /// The cells of whole granules, in rdi, if the address may lie inside one: a shift is a multiple of a granule.
    fn round(&mut self, a: &mut Assembly<'_>, shape: Shape) {
        if shape.round {
            a.line(format!("leaq {}, %rdi", self.cells));
            a.line(format!("andq $${}, %rdi", -(GRANULE as i64)));
            self.cells = "(%rdi)".into();
        }
    }

    /// Fetches the next line and its cells where a line begins: at each element it gained no more, and where most
    /// places get a few elements only, lines would be fetched for nothing.
    fn fetch_ahead(&self, a: &mut Assembly<'_>, append: Append) {
        let (pointer, mask, ahead) = (&self.pointer, append.mask(), append.ahead());
        if append.up {
            a.line(format!("testl $${mask}, {}", Width::One.name(pointer)));
        } else {
            a.line(format!("leal {}({pointer}), %r11d", append.element));
            a.line(format!("testl $${mask}, %r11d"));
        }
        a.line("jne 1f");
        a.line(format!("prefetcht0 {ahead}{}", self.cells));
        a.line(format!("prefetcht0 {ahead}({pointer})"));
    }
}
