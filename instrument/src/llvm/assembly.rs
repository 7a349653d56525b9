//! The program's own inline assembly.

use super::string;
use inkwell::llvm_sys::core::*;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};

/// Lets nothing of a function live in rbx where its assembly takes that register without saying so.
///
/// `xchg %ebx, %1; cpuid; xchg %ebx, %1` is how code that is older than 64-bit processors asks what it runs on
/// (autoconf's `AX_GCC_X86_CPUID` does): it brings back the lower half alone. Small functions have nothing in rbx,
/// until they are instrumented.
pub fn keep_out_of_rbx(function: FunctionValue<'_>) {
    let instructions = function.get_basic_blocks().into_iter().flat_map(|block| block.get_instructions());
    instructions.filter(|&inst| super::is_call(inst) && super::is_inline_asm(inst)).for_each(say_rbx);
}

fn say_rbx(call: InstructionValue<'_>) {
    // SAFETY: a live call, whose callee is inline assembly; the strings belong to the context.
    unsafe {
        let asm = LLVMGetCalledValue(call.as_value_ref());
        let (mut length, mut constraints_length) = (0, 0);
        let text = LLVMGetInlineAsmAsmString(asm, &raw mut length);
        let constraints = LLVMGetInlineAsmConstraintString(asm, &raw mut constraints_length);
        let Some(constraints) = with_rbx(&string(text, length), &string(constraints, constraints_length)) else {
            return;
        };
        let said = LLVMGetInlineAsm(
            LLVMGetInlineAsmFunctionType(asm),
            text,
            length,
            constraints.as_ptr().cast(),
            constraints.len(),
            LLVMGetInlineAsmHasSideEffects(asm),
            LLVMGetInlineAsmNeedsAlignedStack(asm),
            LLVMGetInlineAsmDialect(asm),
            LLVMGetInlineAsmCanUnwind(asm),
        );
        // The callee is the last operand of calls of all kinds.
        let last = LLVMGetNumOperands(call.as_value_ref()) - 1;
        LLVMSetOperand(call.as_value_ref(), last as u32, said);
    }
}

/// The constraints of assembly that takes rbx, if they do not say so, with what they leave out.
fn with_rbx(text: &str, constraints: &str) -> Option<String> {
    let takes = ["cpuid", "ebx"].iter().any(|word| text.contains(word));
    let says = ["{bx}", "{ebx}", "{rbx}"].iter().any(|register| constraints.contains(register));
    let between = if constraints.is_empty() { "" } else { "," };
    (takes && !says).then(|| format!("{constraints}{between}~{{rbx}}"))
}

#[cfg(test)]
mod tests {
    use super::with_rbx;

    #[test]
    fn only_assembly_that_takes_rbx_in_silence_is_changed() {
        let swapped = "xchg %ebx, $1\ncpuid\nxchg %ebx, $1";
        let said = with_rbx(swapped, "={ax},=r,={cx},={dx},0,2,~{dirflag}");
        assert_eq!(said.as_deref(), Some("={ax},=r,={cx},={dx},0,2,~{dirflag},~{rbx}"));
        assert_eq!(with_rbx("cpuid", "").as_deref(), Some("~{rbx}"));
        for constraints in ["={ax},={bx},={cx},={dx},0,2", "=r,~{ebx}", "~{rbx}"] {
            assert_eq!(with_rbx("cpuid", constraints), None);
        }
        assert_eq!(with_rbx("rdtsc", "={ax},={dx}"), None);
    }
}
