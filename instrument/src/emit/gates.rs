//! The ways from inline assembly to the archive's functions.
//!
//! Assembly cannot call a function as LLVM does: LLVM does not know of the call, so the stack may be anywhere, and each
//! register that is set for it is one that the code around cannot use. A *gate* takes the address in rdi and the site
//! in r11 and changes no other register: what LLVM keeps for a caller of `preserve_all` with AVX-512 is no more than
//! 256 bits of 16 registers, so the gate keeps the rest, and masks where all of them have the same width ([`Kept`]).
//!
//! Most reads that come here are first reads like earlier ones, where many threads read what one has written. A gate
//! of reads asks the hook for these before it saves anything: what the function would ask first, the inlined code has.

use super::registers::{Kept, Registers};
use super::{Emitted, ModuleEmitter};
use inkwell::attributes::{Attribute, AttributeLoc};
use threadtalk_abi::hooks::Hook;

/// Bytes of the widest register.
const WIDEST: u32 = 64;
/// Bytes of a mask.
const MASK: u32 = 8;

impl<'ctx> ModuleEmitter<'_, 'ctx> {
    /// Defines the gates of a function `(address, site)`. `again`: the hook that they ask before.
    pub(super) fn define_gates(&self, name: &str, registers: Registers, again: Option<Hook>) -> Emitted<()> {
        Kept::all(registers).try_for_each(|kept| self.define_gate(name, kept, again))
    }

    fn define_gate(&self, name: &str, kept: Kept, again: Option<Hook>) -> Emitted<()> {
        let registers = kept.registers;
        let target = format!("{name}{}", registers.suffix());
        let ty = self.context.void_type().fn_type(&[], false);
        let gate = self.module.add_function(&gate_name(name, kept), ty, None);
        for (attribute, value) in [("naked", 0), ("nounwind", 0), ("noinline", 0), ("cold", 0), ("uwtable", 2)] {
            let kind = Attribute::get_named_enum_kind_id(attribute);
            gate.add_attribute(AttributeLoc::Function, self.context.create_enum_attribute(kind, value));
        }
        for (attribute, value) in kept.attributes() {
            gate.add_attribute(AttributeLoc::Function, self.context.create_string_attribute(attribute, value));
        }
        let wide = if registers == Registers::Avx512 { 32 } else { 0 };
        let masks = if kept.masks { 8 } else { 0 };
        let vector = |n: u32| (format!("%zmm{n}"), format!("{}(%rsp)", n * WIDEST));
        let mask = |n: u32| (format!("%k{n}"), format!("{}(%rsp)", wide * WIDEST + n * MASK));
        let moves = |line: fn(&str, &str, &str) -> String| {
            let vectors = (0..wide).map(vector).map(|(register, place)| line("vmovups", &register, &place));
            let masks = (0..masks).map(mask).map(|(register, place)| line("kmovq", &register, &place));
            vectors.chain(masks).collect::<Vec<_>>().join("\n\t")
        };
        let keep = moves(|moves, register, place| format!("{moves} {register}, {place}"));
        let restore = moves(|moves, register, place| format!("{moves} {place}, {register}"));
        let asks = again.map_or(String::new(), |hook| asking(hook.name));
        let text = [
            &asks,
            "pushq %rbp",
            ".cfi_def_cfa_offset 16",
            ".cfi_offset %rbp, -16",
            "movq %rsp, %rbp",
            ".cfi_def_cfa_register %rbp",
            "pushq %rsi",
            &format!("subq $${}, %rsp", wide * WIDEST + masks * MASK),
            // Who calls nothing that LLVM knows of does not align its stack.
            &format!("andq $$-{WIDEST}, %rsp"),
            &keep,
            "movq %r11, %rsi",
            &format!("callq {target}@PLT"),
            &restore,
            "movq -8(%rbp), %rsi",
            "leaveq",
            ".cfi_def_cfa %rsp, 8",
            "retq",
        ]
        .join("\n\t");
        let b = &self.builder;
        b.position_at_end(self.context.append_basic_block(gate, ""));
        let pointer = self.context.create_inline_asm(ty, text, "".into(), true, false, None, false);
        b.build_indirect_call(ty, pointer, &[], "")?;
        b.build_unreachable()?;
        Ok(())
    }
}

/// Returns if the hook has settled the read, with no register changed but r11; else goes on as before.
fn asking(hook: &str) -> String {
    [
        "pushq %rsi",
        ".cfi_adjust_cfa_offset 8",
        "pushq %rax",
        ".cfi_adjust_cfa_offset 8",
        "movl %r11d, %esi",
        &format!("callq {hook}@PLT"),
        "testl %eax, %eax",
        "movl %esi, %r11d",
        "popq %rax",
        ".cfi_adjust_cfa_offset -8",
        "popq %rsi",
        ".cfi_adjust_cfa_offset -8",
        "je 1f",
        "retq",
        "1:",
    ]
    .join("\n\t")
}

/// `threadtalk.gate.read8.granules`.
pub(super) fn gate_name(function: &str, kept: Kept) -> String {
    function.replacen("threadtalk.", "threadtalk.gate.", 1) + kept.suffix()
}
