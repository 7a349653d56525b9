//! What a bundle's reads ask together: see [`threadtalk_abi::bundle`].

use super::super::assembly::Assembly;
use super::super::thunks::keeper_name;
use super::{Ask, Cells, Inlined, Tested, Width, invalid};
use crate::access::Access;
use crate::emit::{Emitted, ModuleEmitter};
use crate::optimise::bundles::Read;
use inkwell::values::PointerValue;
use threadtalk_abi::GRANULE;
use threadtalk_abi::bundle::{MOST_PIECES, PATTERNS, offset};
use threadtalk_abi::hooks;
use threadtalk_abi::thread;
use threadtalk_abi::thread::EVENT_SITE_FACTOR;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// The first read of a bundle, and what is asked of all of them. If they are settled, that is all; else what
    /// follows is asked of each: here, or if there is a mark, of the first one here, and of the others at their places
    /// if the mark is set.
    ///
    /// Where there are no cells, the program's data are taken for them (see [`Self::inline_read`]): all of it is about
    /// to be read. Where they are in two chunks, the shift leads to cells in a state that no pattern has and that is
    /// nobody's own.
    pub fn inline_bundle(
        &self,
        first: &Inlined<'_, 'ctx>,
        reads: &[Read<'ctx>],
        mark: Option<PointerValue<'ctx>>,
    ) -> Emitted<()> {
        let shift = first.shift.ok_or(invalid("a bundle without a shift"))?;
        let header = self.header(first)?;
        let salt = first.site.wrapping_mul(EVENT_SITE_FACTOR);
        let bundle = self.bundle_constant(reads, salt)?;
        let mut a = Assembly::new(vec![("=&{di}", self.i64.into()), ("=&r", self.i64.into())]);
        let mark = mark.map(|mark| a.memory(mark));
        let (pointer, shift) = (a.register(first.access.pointer), a.register(shift));
        a.line(format!("leaq ({pointer},{shift}), %r11"));
        // All own: whatever others read, that is no event. Others' values, whose pattern is asked, pay for the first.
        let (own, foreign) = first.prologue.own_pair.ok_or(invalid("no own pair"))?;
        let (own, foreign) = (a.register(own), a.register(foreign));
        let settled = if mark.is_some() { "5f" } else { "9f" };
        for (number, piece) in pieces(reads).enumerate() {
            let to = if number < 2 { "%rdi" } else { "${1:q}" };
            let (suffix, register) = (piece.width.suffix(), piece.width.name(to));
            a.line(format!("mov{suffix} {}(%r11), {register}", piece.first));
            a.line(format!("xor{suffix} {}, {register}", piece.width.name(&own)));
            match number {
                0 => {
                    a.line(format!("test{suffix} {register}, {}", piece.width.name(&foreign)));
                    a.line("jne 2f");
                }
                1 => {}
                _ => a.line("orq ${1:q}, %rdi"),
            }
        }
        a.line(format!("testq %rdi, {foreign}"));
        a.line(format!("je {settled}"));
        a.line("2:");
        a.line(format!("testq {shift}, {shift}"));
        a.line("je 8f");
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
        for (number, piece) in pieces(reads).enumerate() {
            let (suffix, register) = (piece.width.suffix(), piece.width.name("${1:q}"));
            a.line(format!("mov{suffix} {}(%r11), {register}", piece.first));
            a.line(format!("cmp{suffix} {}(%rdi), {register}", offset::CELLS + 8 * number as u64));
            a.line("jne 3f");
        }
        a.line(format!("subq $$1, {}(%rdi)", offset::LEFT));
        a.line(format!("jae {settled}"));
        a.line(format!("addq $$1, {}(%rdi)", offset::LEFT));
        a.line("jmp 7f");
        a.line("3:");
        let learn_in = a.field(header, thread::offset::LEARN_IN);
        a.line(format!("subl $$1, {learn_in}"));
        a.line("jns 8f");
        a.line("7:");
        a.address(bundle, "%r11");
        let held = (pointer.clone(), 0);
        self.call_gate(&mut a, (first.access.pointer, Some(&held)), &keeper_name(hooks::LEARN))?;
        if let Some(mark) = &mark {
            a.line("jmp 8f");
            a.line("5:");
            a.line(format!("movb $$0, {mark}"));
            a.line("jmp 9f");
        }
        a.line("8:");
        if let Some(mark) = &mark {
            a.line(format!("movb $$1, {mark}"));
        }
        let here = if mark.is_some() { &reads[..1] } else { reads };
        for piece in pieces(here) {
            self.ask_piece(&mut a, first, &piece, (&pointer, &shift))?;
        }
        a.line("9:");
        self.assemble(a)
    }

    /// Asks a piece of a bundle by itself. Works in output 1, too.
    fn ask_piece(
        &self,
        a: &mut Assembly<'ctx>,
        first: &Inlined<'_, 'ctx>,
        piece: &Piece,
        (pointer, shift): (&str, &str),
    ) -> Emitted<()> {
        let (width, cells) = (piece.width, "${1:q}");
        let bytes = width.granules() * GRANULE;
        let access = Access { bytes, align: piece.align, ..*first.access };
        let read = Inlined { access: &access, site: piece.site, ask: Ask::Events, repeat: None, ..*first };
        a.line(format!("mov{} {}({pointer},{shift}), {}", width.suffix(), piece.first, width.name(cells)));
        a.line(format!("movq {cells}, %rdi"));
        self.test_own(a, &read, width, "%rdi")?;
        let tested = Tested {
            cells: Cells::Held(width, cells.into()),
            last: None,
            shift: shift.into(),
            count: format!("$${}", width.granules()),
            pointer: Some((pointer.into(), piece.first)),
        };
        self.behind_own(a, &read, &tested)
    }

    /// A [`threadtalk_abi::bundle::Bundle`].
    fn bundle_constant(&self, reads: &[Read<'ctx>], salt: u32) -> Emitted<PointerValue<'ctx>> {
        let mut words = Vec::new();
        for piece in pieces(reads) {
            let first = i16::try_from(piece.first).map_err(|_| invalid("a bundle's reads are too far apart"))?;
            words.extend([piece.site, u32::from(first as u16) | (piece.width.granules() as u32) << 16]);
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

/// A read of a bundle, or 8 bytes of it.
struct Piece {
    site: u32,
    /// Bytes from the address of the first read.
    first: i64,
    width: Width,
    align: u64,
}

/// All pieces of some reads.
fn pieces<'r>(reads: &'r [Read<'_>]) -> impl Iterator<Item = Piece> + 'r {
    reads.iter().flat_map(|read| {
        let bytes = read.access.bytes as i64;
        (0..bytes).step_by(2 * GRANULE as usize).map(move |at| {
            let width = if at + GRANULE as i64 == bytes { Width::One } else { Width::Two };
            let align = read.access.align.min(width.granules() * GRANULE);
            Piece { site: read.site.0, first: read.first + at, width, align }
        })
    })
}
