//! Calls: who runs because of a block, and where a thread may wait for others.

use super::graph::Graph;
use crate::library;
use crate::llvm;
use crate::llvm::debug::{self, Location};
use crate::regions::constructs::Stack;
use crate::regions::functions::Functions;
use crate::regions::nesting::Nesting;
use crate::regions::outlined;
use crate::tables::{SiteAccess, SiteId, Tables};
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};
use threadtalk_abi::control::{BlockEntry, CallEntry, call_flags};
use threadtalk_abi::module::site_flags::{CREATION, SYNC};
use threadtalk_abi::waits::is_timed;

/// Calls that may wait for other threads or let them go on.
const SYNCHRONISES: [&str; 15] = [
    "nanosleep",
    "clock_nanosleep",
    "usleep",
    "sleep",
    "poll",
    "ppoll",
    "select",
    "pselect",
    "epoll_wait",
    "epoll_pwait",
    "wait",
    "waitpid",
    "thrd_join",
    "syscall",
    "thrd_sleep",
];

/// The same for families of functions.
const SYNCHRONISING_PREFIXES: [&str; 14] = [
    "pthread_join",
    "pthread_tryjoin",
    "pthread_timedjoin",
    "pthread_clockjoin",
    "pthread_barrier_wait",
    "pthread_mutex_",
    "pthread_rwlock_",
    "pthread_spin_",
    "pthread_cond_",
    "sem_",
    "mtx_",
    "cnd_",
    "omp_unset_",
    "pthread_exit",
];

/// Families of functions that are synchronisation and in which a thread may wait: std::thread::join,
/// std::condition_variable, OpenMP's.
const BOTH_PREFIXES: [&str; 6] =
    ["_ZNSt6thread4join", "_ZNSt18condition_variable", "__kmpc_", "omp_set_lock", "omp_set_nest_lock", "GOMP_"];

/// Others that come by the C library's functions when they wait. `_ZNSt...` are libstdc++'s, of std::future and
/// std::this_thread, `_ZNSt3__1...` libc++'s. What runs once may wait: the thread of std::async is joined so.
const WAITING_PREFIXES: [&str; 9] = [
    "pthread_once",
    "call_once",
    "_ZNSt28__atomic_futex_unsigned_base",
    "_ZNSt11this_thread",
    "_ZNSt3__16thread4join",
    "_ZNSt3__118condition_variable",
    "_ZNSt3__15mutex4lock",
    "_ZNSt3__111this_thread",
    "__cxa_guard_acquire",
];

fn is_of(families: &[&str], name: &str) -> bool {
    families.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a thread may wait in the function, so that it says where it calls it. Nobody takes the line of what does not
/// wait, and who waits next in code that is not instrumented would get it.
fn may_wait(name: &str) -> bool {
    is_timed(name) || is_of(&BOTH_PREFIXES, name) || is_of(&WAITING_PREFIXES, name)
}

/// Whether a call of the function is synchronisation.
pub fn synchronises(name: &str) -> bool {
    SYNCHRONISES.contains(&name) || is_of(&BOTH_PREFIXES, name) || is_of(&SYNCHRONISING_PREFIXES, name)
}

/// A call and the number of its block.
pub type Call<'ctx> = (u32, InstructionValue<'ctx>);

/// All calls, block by block. To walk over all instructions of a large function is to wait for memory at each: it is
/// done once.
pub fn all<'ctx>(graph: &Graph<'ctx>) -> Vec<Call<'ctx>> {
    let numbered = graph.blocks.iter().zip(0..);
    let found = numbered.flat_map(|(block, number)| block.get_instructions().map(move |inst| (number, inst)));
    let is_listed = |(_, inst): &Call<'ctx>| {
        llvm::is_call(*inst)
            && !llvm::is_inline_asm(*inst)
            && !llvm::callee(*inst).is_some_and(|c| c.get_name().to_bytes().starts_with(b"llvm."))
    };
    found.filter(is_listed).collect()
}

/// Whether a function calls anything that may take long.
pub fn any(all: &[Call<'_>]) -> bool {
    all.iter().any(|(_, call)| !llvm::callee(*call).is_some_and(library::only_computes))
}

/// Calls of functions of this module, and the blocks they are in.
pub fn direct<'ctx>(all: &[Call<'ctx>]) -> impl Iterator<Item = (u32, FunctionValue<'ctx>)> {
    let callee = |(block, inst): &Call<'ctx>| llvm::callee(*inst).map(|c| (*block, c));
    all.iter().filter_map(callee).filter(|(_, callee)| callee.count_basic_blocks() > 0)
}

/// The constructs that are open at each call.
pub fn stacks<'ctx>(graph: &Graph<'ctx>, all: &[Call<'ctx>], nesting: &Nesting<'ctx>) -> Vec<Stack> {
    let (mut number, mut stack) = (u32::MAX, 0);
    let open_at = |&(of, inst): &Call<'ctx>| {
        if of != number {
            (number, stack) = (of, nesting.constructs.at_entry(graph.blocks[of as usize]));
        }
        let after = nesting.constructs.after(inst, stack);
        std::mem::replace(&mut stack, after)
    };
    all.iter().map(open_at).collect()
}

/// The calls for the tables. Their lines are those of who means them, as those of `blocks` are.
pub fn calls<'ctx>(
    (graph, blocks): (&Graph<'ctx>, &[BlockEntry]),
    (all, stacks): (&[Call<'ctx>], &[Stack]),
    nesting: &Nesting<'ctx>,
    (functions, tables): (&mut Functions, &mut Tables),
) -> Vec<CallEntry> {
    let mut entries = Vec::new();
    for (&(block, inst), &stack) in all.iter().zip(stacks) {
        let around = (nesting.loops.innermost(graph.blocks[block as usize]), stack);
        let at = debug::of(inst).map(|at| nesting.meant(at, around, functions));
        let of_block = |at: &Location| tables.string(functions.file(at.scope)) == blocks[block as usize].file;
        let line = at.filter(of_block).map_or(0, |at| at.line);
        let mut add = |callee: Option<FunctionValue<'_>>, flags: u32| {
            let name = callee.map(|c| c.get_name().to_string_lossy().into_owned()).unwrap_or_default();
            entries.push(CallEntry { block, callee: tables.string(&name), flags, line });
        };
        let callee = llvm::callee(inst);
        add(callee, if callee.is_none() { call_flags::INDIRECT } else { 0 });
        if let Some(started) = started(inst) {
            add(Some(started), call_flags::FORK);
        }
    }
    entries
}

/// The function that a call lets other threads run, if it names it.
fn started<'ctx>(call: InstructionValue<'ctx>) -> Option<FunctionValue<'ctx>> {
    if let Some((entry, _)) = outlined::started_by(call) {
        return Some(entry);
    }
    let argument = match llvm::callee(call)?.get_name().to_bytes() {
        b"pthread_create" => 2,
        b"thrd_create" => 1,
        _ => return None,
    };
    (llvm::argument_count(call) > argument).then(|| llvm::as_function(llvm::operand(call.as_value_ref(), argument)))?
}

/// Calls before which the thread notes where it is.
pub fn sites<'ctx>(
    graph: &Graph<'ctx>,
    (all, stacks): (&[Call<'ctx>], &[Stack]),
    nesting: &mut Nesting<'ctx>,
    (functions, tables): (&mut Functions, &mut Tables),
) -> Vec<(InstructionValue<'ctx>, SiteId)> {
    let mut sites = Vec::new();
    for (&(of, inst), &stack) in all.iter().zip(stacks) {
        if let Some(flags) = flags(inst) {
            let (block, access) = (graph.blocks[of as usize], SiteAccess::default());
            let site = nesting.site(inst, block, stack, (flags, &access), (&mut *functions, &mut *tables));
            sites.push((inst, site));
        }
    }
    sites
}

fn flags(inst: InstructionValue<'_>) -> Option<u32> {
    if !llvm::is_call(inst) {
        return None;
    }
    let callee = llvm::callee(inst)?;
    let name = callee.get_name().to_str().ok()?;
    if callee.count_basic_blocks() > 0 {
        return None;
    }
    if library::creates_threads(name) {
        return Some(CREATION);
    }
    may_wait(name).then_some(SYNC)
}
