//! The runtime's thread-local words, and the symbol that instrumented code links to.
//!
//! Rust's stable `thread_local!` is not there without the standard library, and in a shared library it
//! would call `__tls_get_addr`. Both words use the initial-exec model: one load of an offset, one access. They take 16
//! bytes of static thread-local storage, once in a process.

use threadtalk_abi::thread::ThreadHeader;

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
compile_error!("the runtime's thread-local words, trampolines and hooks are written for x86-64 Linux");

core::arch::global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".p2align 3",
    ".globl __threadtalk_thread",
    ".type __threadtalk_thread, @object",
    ".size __threadtalk_thread, 8",
    "__threadtalk_thread:",
    ".zero 8",
    ".globl __threadtalk_resolving",
    ".hidden __threadtalk_resolving",
    ".type __threadtalk_resolving, @object",
    ".size __threadtalk_resolving, 8",
    "__threadtalk_resolving:",
    ".zero 8",
    ".popsection",
);

/// The calling thread's control block; null in a thread that no hook has seen.
#[inline(always)]
pub fn thread() -> *mut ThreadHeader {
    let value;
    // SAFETY: reads the thread's own word.
    unsafe {
        core::arch::asm!(
            "mov {value}, qword ptr [rip + __threadtalk_thread@GOTTPOFF]",
            "mov {value}, qword ptr fs:[{value}]",
            value = out(reg) value,
            options(readonly, nostack, preserves_flags)
        );
    }
    value
}

/// Gives the calling thread a control block.
#[inline(always)]
pub fn set_thread(block: *mut ThreadHeader) {
    // SAFETY: writes the thread's own word.
    unsafe {
        core::arch::asm!(
            "mov {offset}, qword ptr [rip + __threadtalk_thread@GOTTPOFF]",
            "mov qword ptr fs:[{offset}], {block}",
            offset = out(reg) _,
            block = in(reg) block,
            options(nostack, preserves_flags)
        );
    }
}

/// False if the thread is already inside `dlsym` for us.
pub(crate) fn begin_resolving() -> bool {
    let before: u64;
    // SAFETY: exchanges the thread's own word; a signal handler that comes in between finds one of the two values.
    unsafe {
        core::arch::asm!(
            "mov {offset}, qword ptr [rip + __threadtalk_resolving@GOTTPOFF]",
            "xchg {before}, qword ptr fs:[{offset}]",
            offset = out(reg) _,
            before = inout(reg) 1u64 => before,
            options(nostack, preserves_flags)
        );
    }
    before == 0
}

/// The thread's `dlsym` has returned.
pub(crate) fn end_resolving() {
    // SAFETY: writes the thread's own word.
    unsafe {
        core::arch::asm!(
            "mov {offset}, qword ptr [rip + __threadtalk_resolving@GOTTPOFF]",
            "mov qword ptr fs:[{offset}], 0",
            offset = out(reg) _,
            options(nostack, preserves_flags)
        );
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn each_thread_has_its_own_words() {
        let block = core::ptr::without_provenance_mut::<ThreadHeader>(64);
        set_thread(block);
        assert!(begin_resolving() && !begin_resolving());
        std::thread::spawn(|| {
            assert!(thread().is_null());
            assert!(begin_resolving());
        })
        .join()
        .unwrap();
        assert_eq!(thread(), block);
        end_resolving();
        assert!(begin_resolving());
        end_resolving();
        set_thread(core::ptr::null_mut());
    }
}
