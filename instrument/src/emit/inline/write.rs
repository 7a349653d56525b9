//! The inlined write.

use super::super::assembly::Assembly;
use super::super::translate::{Shape, Translation};
use super::{Ask, Inlined, Width, invalid};
use crate::access::Direction;
use crate::emit::{Emitted, ModuleEmitter};
use inkwell::values::IntValue;
use threadtalk_abi::{CHUNK_SHIFT, GRANULE};

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// A write.
    pub fn inline_write(&self, write: &Inlined<'_, 'ctx>) -> Emitted<()> {
        let mut a = Assembly::new(vec![("=&{di}", self.i64.into())]);
        if self.lacks_vectors(write.access)? {
            self.cold(&mut a, (Direction::Write, write), None)?;
            return self.assemble(a);
        }
        let id = self.id_of_writes(write.prologue)?;
        let id = self.builder.build_int_add(id, self.c32(write.site), "")?;
        match write.translation {
            None => self.write_plain(&mut a, write, id)?,
            Some(translation) => self.write_translated(&mut a, write, translation, id)?,
        }
        a.line("1:");
        self.assemble(a)
    }

    /// A write of one cell or two in one chunk.
    fn write_plain(&self, a: &mut Assembly<'ctx>, write: &Inlined<'_, 'ctx>, id: IntValue<'ctx>) -> Emitted<()> {
        let shape = Shape::of(write.access.bytes, write.access.align);
        let width = Width::of(shape);
        let pointer = a.register(self.number_of(write.access.pointer)?);
        let directory = a.register(write.prologue.writable.ok_or(invalid("no directory"))?);
        let ids = a.register(if width == Width::One { id } else { self.in_both_halves(id)? });
        a.line(format!("movq {pointer}, %rdi"));
        a.line(format!("shrq $${CHUNK_SHIFT}, %rdi"));
        a.line(format!("movq ({directory},%rdi,8), %rdi"));
        a.line("testq %rdi, %rdi");
        let find_cells = |a: &mut Assembly<'ctx>| {
            a.line(format!("addq {pointer}, %rdi"));
            if shape.round {
                // A shift is a multiple of a granule.
                a.line(format!("andq $${}, %rdi", -(GRANULE as i64)));
            }
        };
        if write.ask == Ask::Guarded {
            a.line("je 2f");
            find_cells(a);
            a.line(format!("mov{} (%rdi), {}", width.suffix(), width.name("%r11")));
            self.test_own(a, write, width, "%r11")?;
            a.line("je 3f");
        } else {
            a.line("jne 3f");
        }
        a.line("2:");
        self.cold(a, (Direction::Write, write), Some(&pointer))?;
        a.line("jmp 1f");
        a.line("3:");
        if write.ask != Ask::Guarded {
            find_cells(a);
        }
        a.line(format!("mov{} {}, (%rdi)", width.suffix(), width.name(&ids)));
        Ok(())
    }

    /// A write of cells whose place other accesses share, or of many, or of a number that depends on the address.
    fn write_translated(
        &self,
        a: &mut Assembly<'ctx>,
        write: &Inlined<'_, 'ctx>,
        translation: &Translation<'ctx>,
        id: IntValue<'ctx>,
    ) -> Emitted<()> {
        let b = &self.builder;
        let shift = match translation.odd {
            Some(odd) => b.build_select(odd, self.c64(0), translation.shift, "")?.into_int_value(),
            None => translation.shift,
        };
        let shift = a.register(shift);
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
        let pieces = match Shape::of(write.access.bytes, write.access.align).cells {
            lanes @ (1 | 2) => vec![(0, lanes)],
            lanes => self.pieces_of_vectors(lanes)?,
        };
        for (first, part) in pieces {
            let at = a.memory(self.offset(translation.cells, first)?);
            let (name, ids) = match part {
                1 => ("movl", Width::One.name(&a.register(id))),
                2 => ("movq", a.register(self.in_both_halves(id)?)),
                part => {
                    let name = if self.has_avx()? { "vmovups" } else { "movups" };
                    (name, format!("${}", a.vector(self.splat(id, part)?)))
                }
            };
            a.line(format!("{name} {ids}, {at}"));
        }
        if let Some(last) = translation.last {
            let (at, id) = (a.memory(last.cell), Width::One.name(&a.register(id)));
            a.line(format!("movl {id}, {at}"));
        }
        Ok(())
    }
}
