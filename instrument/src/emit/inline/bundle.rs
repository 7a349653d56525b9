//! What a bundle's reads ask together: see [`threadtalk_abi::bundle`].

use super::super::assembly::Assembly;
use super::super::thunks::keeper_name;
use super::{Inlined, Width, invalid};
use crate::emit::{Emitted, ModuleEmitter};
use crate::optimise::bundles::Read;
use inkwell::values::PointerValue;
use threadtalk_abi::GRANULE;
use threadtalk_abi::bundle::{MOST_PIECES, PATTERNS, offset};
use threadtalk_abi::hooks;
use threadtalk_abi::thread;
use threadtalk_abi::thread::EVENT_SITE_FACTOR;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Before the first read of a bundle: clears the mark if all reads are settled, else sets it.
    ///
    /// Where there are no cells, nothing is asked. Where they are in two chunks, the shift leads to cells in a state
    /// that no pattern has.
    pub fn inline_bundle(
        &self,
        first: &Inlined<'_, 'ctx>,
        reads: &[Read<'ctx>],
        mark: PointerValue<'ctx>,
    ) -> Emitted<()> {
        let Some(shift) = first.shift else {
            self.builder.build_store(mark, self.context.i8_type().const_int(1, false))?;
            return Ok(());
        };
        let header = self.header(first)?;
        let salt = first.site.wrapping_mul(EVENT_SITE_FACTOR);
        let bundle = self.bundle_constant(reads, salt)?;
        let mut a = Assembly::new(vec![("=&{di}", self.i64.into()), ("=&r", self.i64.into())]);
        let mark = a.memory(mark);
        let (pointer, shift) = (a.register(first.access.pointer), a.register(shift));
        a.line(format!("movb $$1, {mark}"));
        a.line(format!("testq {shift}, {shift}"));
        a.line("je 1f");
        a.line(format!("leaq ({pointer},{shift}), %r11"));
        // The pattern.
        a.line("movl (%r11), %edi");
        a.line(format!("addl $${}, %edi", salt as i32));
        a.line(format!("andl $${}, %edi", PATTERNS - 1));
        a.line(format!("shll $${}, %edi", offset::PATTERN_SIZE.trailing_zeros()));
        let patterns = a.field(header, thread::offset::PATTERNS);
        a.line(format!("addq {patterns}, %rdi"));
        a.address(bundle, "${1:q}");
        a.line(format!("cmpq ${{1:q}}, {}(%rdi)", offset::BUNDLE));
        a.line("jne 3f");
        for (number, (_, first, width)) in pieces(reads).enumerate() {
            let (suffix, register) = (width.suffix(), width.name("${1:q}"));
            a.line(format!("mov{suffix} {first}(%r11), {register}"));
            a.line(format!("cmp{suffix} {}(%rdi), {register}", offset::CELLS + 8 * number as u64));
            a.line("jne 3f");
        }
        a.line(format!("subq $$1, {}(%rdi)", offset::LEFT));
        a.line("jb 2f");
        a.line(format!("movb $$0, {mark}"));
        a.line("jmp 1f");
        a.line("2:");
        a.line(format!("addq $$1, {}(%rdi)", offset::LEFT));
        a.line("jmp 4f");
        a.line("3:");
        let learn_in = a.field(header, thread::offset::LEARN_IN);
        a.line(format!("subl $$1, {learn_in}"));
        a.line("jns 1f");
        a.line("4:");
        a.address(bundle, "%r11");
        self.call_gate(&mut a, (first.access.pointer, Some(&pointer)), &keeper_name(hooks::LEARN))?;
        a.line("1:");
        self.assemble(a)
    }

    /// A [`threadtalk_abi::bundle::Bundle`].
    fn bundle_constant(&self, reads: &[Read<'ctx>], salt: u32) -> Emitted<PointerValue<'ctx>> {
        let mut words = Vec::new();
        for (site, first, width) in pieces(reads) {
            let first = i16::try_from(first).map_err(|_| invalid("a bundle's reads are too far apart"))?;
            let granules = if width == Width::One { 1 } else { 2 };
            words.extend([site, u32::from(first as u16) | granules << 16]);
        }
        let count = words.len() as u32 / 2;
        words.resize(2 * MOST_PIECES, 0);
        let words: Vec<_> = words.into_iter().map(|word| self.c32(word)).collect();
        let pieces = self.i32.const_array(&words);
        let bases = self.bases.as_pointer_value();
        let fields = [bases.into(), self.c32(count).into(), self.c32(salt).into(), pieces.into()];
        Ok(self.private_constant(self.context.const_struct(&fields, false), "threadtalk.bundle"))
    }
}

/// Site, first byte and width of all pieces.
fn pieces<'r>(reads: &'r [Read<'_>]) -> impl Iterator<Item = (u32, i64, Width)> + 'r {
    reads.iter().flat_map(|read| {
        let bytes = read.access.bytes as i64;
        let width = move |at| if at + GRANULE as i64 == bytes { Width::One } else { Width::Two };
        (0..bytes).step_by(2 * GRANULE as usize).map(move |at| (read.site.0, read.first + at, width(at)))
    })
}
