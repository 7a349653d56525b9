//! Ways in which a program leaves its process: exec, `_exit` and the like, and `fork` by its less known names: `_Fork`,
//! `clone` (what `syscall` may ask for is beside the futex).

use super::interpose;
use super::next::next;
use crate::core_api::Ending;
use crate::lifecycle::{exit, fork};
use core::ffi::{c_char, c_int, c_long, c_void};

/// A NULL-terminated array of C strings.
type Strings = *const *const c_char;

/// Calls an exec function with the profile complete; it returns only on failure.
fn replacing(exec: impl FnOnce() -> c_int) -> c_int {
    let guard = exit::before_exec();
    let result = exec();
    guard.failed();
    result
}

fn missing() -> c_int {
    // SAFETY: the thread's errno.
    unsafe { *libc::__errno_location() = libc::ENOSYS };
    -1
}

interpose! {
    /// Completes the profile.
    fn execve(path: *const c_char, arguments: Strings, environment: Strings) -> c_int {
        let Some(next) = next!(execve: fn(*const c_char, Strings, Strings) -> c_int) else { return missing() };
        // SAFETY: handed on unchanged.
        replacing(|| unsafe { next(path, arguments, environment) })
    }
}

interpose! {
    /// See [`execve`].
    fn execv(path: *const c_char, arguments: Strings) -> c_int {
        let Some(next) = next!(execv: fn(*const c_char, Strings) -> c_int) else { return missing() };
        // SAFETY: handed on unchanged.
        replacing(|| unsafe { next(path, arguments) })
    }
}

interpose! {
    /// See [`execve`].
    fn execvp(file: *const c_char, arguments: Strings) -> c_int {
        let Some(next) = next!(execvp: fn(*const c_char, Strings) -> c_int) else { return missing() };
        // SAFETY: handed on unchanged.
        replacing(|| unsafe { next(file, arguments) })
    }
}

interpose! {
    /// See [`execve`].
    fn execvpe(file: *const c_char, arguments: Strings, environment: Strings) -> c_int {
        let Some(next) = next!(execvpe: fn(*const c_char, Strings, Strings) -> c_int) else { return missing() };
        // SAFETY: handed on unchanged.
        replacing(|| unsafe { next(file, arguments, environment) })
    }
}

interpose! {
    /// See [`execve`].
    fn fexecve(file: c_int, arguments: Strings, environment: Strings) -> c_int {
        let Some(next) = next!(fexecve: fn(c_int, Strings, Strings) -> c_int) else { return missing() };
        // SAFETY: handed on unchanged.
        replacing(|| unsafe { next(file, arguments, environment) })
    }
}

interpose! {
    /// See [`execve`].
    fn execveat(folder: c_int, path: *const c_char, arguments: Strings, environment: Strings, flags: c_int) -> c_int {
        let Some(next) = next!(execveat: fn(c_int, *const c_char, Strings, Strings, c_int) -> c_int) else {
            return missing();
        };
        // SAFETY: handed on unchanged.
        replacing(|| unsafe { next(folder, path, arguments, environment, flags) })
    }
}

/// A variadic function whose arguments from the second on are a NULL-terminated list. Rust cannot define one: the code
/// stores the list's registers below its part on the stack, where they form the array that `$target(path, array)`
/// takes.
macro_rules! interpose_list {
    ($(#[$meta:meta])* $name:ident => $target:path) => {
        $(#[$meta])*
        ///
        /// # Safety
        /// That of the C function of this name.
        #[cfg_attr(all(feature = "interpose", not(feature = "wrap")), unsafe(no_mangle))]
        #[cfg_attr(all(feature = "interpose", feature = "wrap"), unsafe(export_name = concat!("__wrap_", stringify!($name))))]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name(path: *const c_char, first: *const c_char) -> c_int {
            // The stack is a multiple of 16 at the call: 8 below it at entry, then one word out and six in.
            core::arch::naked_asm!(
                "pop rax",
                "push r9",
                "push r8",
                "push rcx",
                "push rdx",
                "push rsi",
                "mov rsi, rsp",
                "push rax",
                "call {target}",
                "pop rcx",
                "add rsp, 40",
                "push rcx",
                "ret",
                target = sym $target,
            )
        }
    };
}

interpose_list! {
    /// See [`execve`].
    execl => execv
}
interpose_list! {
    /// See [`execve`].
    execlp => execvp
}
interpose_list! {
    /// See [`execve`].
    execle => list_with_environment
}

/// `execle`: the environment follows the list's end.
///
/// # Safety
/// A NULL-terminated list, then one more pointer.
unsafe extern "C" fn list_with_environment(path: *const c_char, arguments: Strings) -> c_int {
    let mut end = arguments;
    // SAFETY: inside the list, which ends with NULL, and the word after it.
    unsafe {
        while !(*end).is_null() {
            end = end.add(1);
        }
        execve(path, arguments, (*end.add(1)).cast())
    }
}

interpose! {
    /// Ends without anything of the program running any more on this thread.
    fn _exit(status: c_int) -> ! {
        exit::record_exit(status);
        if let Some(next) = next!(_exit: fn(c_int) -> !) {
            // SAFETY: handed on unchanged.
            unsafe { next(status) }
        }
        end_group(status)
    }
}

interpose! {
    /// C's name for `_exit`.
    fn _Exit(status: c_int) -> ! {
        // SAFETY: the same contract.
        unsafe { _exit(status) }
    }
}

interpose! {
    /// Handlers run first; the profile's is the last of them ([`exit`]).
    fn quick_exit(status: c_int) -> ! {
        exit::announce_quick_exit(status);
        if let Some(next) = next!(quick_exit: fn(c_int) -> !) {
            // SAFETY: handed on unchanged.
            unsafe { next(status) }
        }
        end_group(status)
    }
}

interpose! {
    /// The signal's disposition is the program's own.
    fn abort() -> ! {
        exit::record(Ending::Abrupt, -1);
        if let Some(next) = next!(abort: fn() -> !) {
            // SAFETY: handed on unchanged.
            unsafe { next() }
        }
        end_group(128 + libc::SIGABRT)
    }
}

/// The end of a process in which `dlsym` cannot find the C library's.
fn end_group(status: c_int) -> ! {
    loop {
        // SAFETY: does not return.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}

interpose! {
    /// `fork` without handlers, so the child's is called here. (`fork` itself does not pass through this name.)
    fn _Fork() -> libc::pid_t {
        let Some(next) = next!(_Fork: fn() -> libc::pid_t) else { return missing() };
        // SAFETY: handed on unchanged.
        let child = unsafe { next() };
        if child == 0 {
            fork::in_child();
        }
        child
    }
}

/// What a child of [`clone`] is to run.
struct Begin {
    run: unsafe extern "C" fn(*mut c_void) -> c_int,
    argument: *mut c_void,
}

/// Where such a child begins.
///
/// # Safety
/// `begin` leads to a [`Begin`] in the child's copy of the memory.
unsafe extern "C" fn begin_as_copy(begin: *mut c_void) -> c_int {
    fork::in_child();
    // SAFETY: by the caller's contract; what to run is what the program asked for.
    unsafe {
        let Begin { run, argument } = *begin.cast::<Begin>();
        run(argument)
    }
}

/// Whether a child of `clone` gets a copy of the memory, as one of `fork` does.
fn is_copy(flags: c_int) -> bool {
    flags & libc::CLONE_VM == 0
}

interpose! {
    /// `fork` onto a stack of its own: no handlers run in the child, so that of [`fork`] is called here. A child that
    /// shares the memory is a thread that nobody announced, or execs before its parent goes on. C declares the
    /// parameters after the fourth as variable; on this machine they are passed like any others.
    fn clone(
        run: unsafe extern "C" fn(*mut c_void) -> c_int,
        stack: *mut c_void,
        flags: c_int,
        argument: *mut c_void,
        parent_tid: c_long,
        tls: c_long,
        child_tid: c_long,
    ) -> c_int {
        type Run = unsafe extern "C" fn(*mut c_void) -> c_int;
        let Some(next) =
            next!(clone: fn(Run, *mut c_void, c_int, *mut c_void, c_long, c_long, c_long) -> c_int) else { return missing() };
        let mut begin = Begin { run, argument };
        let (run, argument): (Run, _) =
            if is_copy(flags) { (begin_as_copy, (&raw mut begin).cast()) } else { (run, argument) };
        // SAFETY: as the caller asks; what begins as a copy has this frame in it.
        unsafe { next(run, stack, flags, argument, parent_tid, tls, child_tid) }
    }
}

/// A system call returned 0: whether that is because the calling process is the child that it made, a copy.
///
/// # Safety
/// The arguments are those that the kernel took.
pub unsafe fn made_a_copy(number: c_long, argument: c_long) -> bool {
    match number {
        libc::SYS_fork => true,
        libc::SYS_clone => is_copy(argument as c_int),
        // SAFETY: the kernel has read the structure, which begins with 64 bits of flags.
        libc::SYS_clone3 => is_copy(unsafe { *core::ptr::with_exposed_provenance::<u64>(argument as usize) } as c_int),
        _ => false,
    }
}

interpose! {
    /// The child is the program; the parent ends inside.
    fn daemon(keep_folder: c_int, keep_files: c_int) -> c_int {
        let Some(next) = next!(daemon: fn(c_int, c_int) -> c_int) else { return missing() };
        // SAFETY: handed on unchanged.
        fork::taking_over(|| unsafe { next(keep_folder, keep_files) })
    }
}
