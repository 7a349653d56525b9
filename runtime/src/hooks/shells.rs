//! The entry points, in assembly: LLVM's `preserve_mostcc`, which Rust cannot define.
//!
//! The caller counts on all general registers but r11 (and rax where there is a result) being kept. Vector registers
//! are its own to save, so SSE code may run inside. At entry rsp is 8 modulo 16; seven pushes align it.

use crate::execution::UNTIMED;
use crate::execution::tree::REGIONS;
use crate::objects::Allocated;
use crate::thread::Thread;
use core::arch::global_asm;
use core::mem::offset_of;

/// An entry point around `$body`; `$before` and `$after` frame the registers that all shells keep, seven of them,
/// behind which `$argument` may compute one more argument.
macro_rules! entry {
    ($name:literal, $body:path, $before:literal, $frame:literal, $after:literal) => {
        entry!($name, $body, $before, $frame, "", $after);
    };
    ($name:literal, $body:path, $before:literal, $frame:literal, $argument:expr, $after:literal) => {
        global_asm!(
            concat!(".pushsection .text.", $name, ",\"ax\",@progbits"),
            concat!(".globl ", $name),
            concat!(".type ", $name, ", @function"),
            ".p2align 4",
            concat!($name, ":"),
            ".cfi_startproc",
            $before,
            "push rcx",
            "push rdx",
            "push rsi",
            "push rdi",
            "push r8",
            "push r9",
            "push r10",
            concat!(".cfi_def_cfa_offset ", $frame),
            $argument,
            "call {body}",
            "pop r10",
            "pop r9",
            "pop r8",
            "pop rdi",
            "pop rsi",
            "pop rdx",
            "pop rcx",
            $after,
            ".cfi_def_cfa_offset 8",
            "ret",
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
            body = sym $body,
        );
    };
}

/// Without a result: rax is kept, and 8 bytes more align the stack.
macro_rules! shell {
    ($name:literal, $body:path) => {
        entry!($name, $body, "push rax; sub rsp, 8", "80", "add rsp, 8; pop rax");
    };
}

/// The same with the stack pointer at entry, that is below the caller's frame, as `$argument`'s register.
macro_rules! shell_with_frame {
    ($name:literal, $body:path, $register:literal) => {
        entry!(
            $name,
            $body,
            "push rax; sub rsp, 8",
            "80",
            concat!("lea ", $register, ", [rsp + 72]"),
            "add rsp, 8; pop rax"
        );
    };
}

/// In front of a shell around `$body`: returns at once if the region (edi) is one that the thread does not time any
/// more. Programs call short functions by the million, and a call that saves all registers is half of what a visit
/// costs.
macro_rules! region_shell {
    ($name:literal, $timed:literal, $body:path) => {
        shell!($timed, $body);
        global_asm!(
            concat!(".hidden ", $timed),
            concat!(".pushsection .text.", $name, ",\"ax\",@progbits"),
            concat!(".globl ", $name),
            concat!(".type ", $name, ", @function"),
            ".p2align 4",
            concat!($name, ":"),
            ".cfi_startproc",
            "push rax",
            ".cfi_adjust_cfa_offset 8",
            "mov r11, qword ptr [rip + __threadtalk_thread@GOTTPOFF]",
            "mov r11, qword ptr fs:[r11]",
            "test r11, r11",
            "je 2f",
            // No memory for these bits before the first region that is timed.
            "mov r11, qword ptr [r11 + {untimed}]",
            "test r11, r11",
            "je 2f",
            "mov eax, edi",
            "shr eax, 5",
            "cmp eax, {words}",
            "jae 2f",
            "mov eax, dword ptr [r11 + 4 * rax]",
            "bt eax, edi",
            "jnc 2f",
            "pop rax",
            ".cfi_adjust_cfa_offset -8",
            "ret",
            ".cfi_adjust_cfa_offset 8",
            "2:",
            "pop rax",
            ".cfi_adjust_cfa_offset -8",
            concat!("jmp ", $timed),
            ".cfi_endproc",
            concat!(".size ", $name, ", . - ", $name),
            ".popsection",
            untimed = const offset_of!(Thread, execution) + UNTIMED,
            words = const REGIONS / 32,
        );
    };
}

// Returns at once unless the address (rdi) may be the thread's latest block and the caller's frame is above the last
// one that handed it on. Programs return pointers by the million, and hand on few.
global_asm!(
    ".hidden __threadtalk_handed_on_from_above",
    ".pushsection .text.__threadtalk_handed_on,\"ax\",@progbits",
    ".globl __threadtalk_handed_on",
    ".type __threadtalk_handed_on, @function",
    ".p2align 4",
    "__threadtalk_handed_on:",
    ".cfi_startproc",
    "mov r11, qword ptr [rip + __threadtalk_thread@GOTTPOFF]",
    "mov r11, qword ptr fs:[r11]",
    "test r11, r11",
    "je 3f",
    "cmp rsp, qword ptr [r11 + {frame}]",
    "jbe 2f",
    "push rax",
    ".cfi_adjust_cfa_offset 8",
    "mov rax, rdi",
    "sub rax, qword ptr [r11 + {address}]",
    "cmp rax, qword ptr [r11 + {near}]",
    "pop rax",
    ".cfi_adjust_cfa_offset -8",
    "jb 3f",
    "2:",
    "ret",
    "3:",
    "jmp __threadtalk_handed_on_from_above",
    ".cfi_endproc",
    ".size __threadtalk_handed_on, . - __threadtalk_handed_on",
    ".popsection",
    frame = const offset_of!(Thread, latest_block) + Allocated::FRAME,
    address = const offset_of!(Thread, latest_block) + Allocated::ADDRESS,
    near = const offset_of!(Thread, latest_block) + Allocated::NEAR,
);

/// With a result, in rax.
macro_rules! shell_with_result {
    ($name:literal, $body:path) => {
        entry!($name, $body, "", "64", "");
    };
}

shell_with_result!("__threadtalk_attach", super::attach);
shell_with_result!("__threadtalk_loop", super::whole_loop);
shell_with_result!("__threadtalk_nest", super::whole_nest);
shell!("__threadtalk_searched", super::searched);

// Instrumented modules refer to this symbol: objects for another version of the contract do not link.
global_asm!(
    ".pushsection .rodata.__threadtalk_abi,\"a\",@progbits",
    ".globl __threadtalk_abi_v{version}",
    "__threadtalk_abi_v{version}:",
    ".long {version}",
    ".popsection",
    version = const threadtalk_abi::ABI_VERSION,
);

// Beside what a shell keeps, the body keeps the vector registers: it uses none.
shell_with_result!("__threadtalk_again4", super::again4);
shell_with_result!("__threadtalk_again8", super::again8);
shell!("__threadtalk_learn", super::learn);
shell!("__threadtalk_read1", super::read1);
shell!("__threadtalk_read2", super::read2);
shell!("__threadtalk_read4", super::read4);
shell!("__threadtalk_read8", super::read8);
shell!("__threadtalk_read16", super::read16);
shell!("__threadtalk_read32", super::read32);
shell!("__threadtalk_read64", super::read64);
shell!("__threadtalk_write1", super::write1);
shell!("__threadtalk_write2", super::write2);
shell!("__threadtalk_write4", super::write4);
shell!("__threadtalk_write8", super::write8);
shell!("__threadtalk_write16", super::write16);
shell!("__threadtalk_write32", super::write32);
shell!("__threadtalk_write64", super::write64);
shell!("__threadtalk_read_range", super::read_range);
shell!("__threadtalk_write_range", super::write_range);
shell!("__threadtalk_read_masked", super::read_masked);
shell!("__threadtalk_write_masked", super::write_masked);
shell!("__threadtalk_copy", super::copy);
shell!("__threadtalk_read_string", super::read_string);
shell!("__threadtalk_write_string", super::write_string);
shell_with_frame!("__threadtalk_allocated", super::allocated, "rcx");
shell_with_frame!("__threadtalk_handed_on_from_above", super::handed_on, "rdx");
shell!("__threadtalk_clear", super::clear);
region_shell!("__threadtalk_enter", "__threadtalk_enter_timed", super::enter);
region_shell!("__threadtalk_exit", "__threadtalk_exit_timed", super::exit);
shell!("__threadtalk_spins", super::spins);
shell!("__threadtalk_spun", super::spun);
shell!("__threadtalk_cache", super::cache);
