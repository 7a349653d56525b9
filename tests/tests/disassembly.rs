//! The machine code of hooks and of inlined sequences: no locks, calls or divisions where none belong.

use std::collections::BTreeSet;
use threadtalk_tests::compile::Compiler;
use threadtalk_tests::disassembly::{Class, Code, Function};
use threadtalk_tests::distribution::Distribution;
use threadtalk_tests::scene::Scene;

fn runtime() -> Code {
    let tool = Distribution::find().unwrap_or_else(|e| panic!("{e}"));
    Code::of(&tool.root().join("lib/threadtalk/libthreadtalk_rt.a")).unwrap_or_else(|e| panic!("{e}"))
}

/// Hooks that instrumented code calls for accesses.
fn hooks(code: &Code) -> Vec<&str> {
    let begins = |name: &str| {
        ["again", "read", "write", "loop"]
            .iter()
            .any(|b| name.strip_prefix("__threadtalk_").is_some_and(|n| n.starts_with(b)))
    };
    let hooks: Vec<&str> = code.0.keys().map(String::as_str).filter(|name| begins(name)).collect();
    assert!(hooks.len() >= 21, "{hooks:?}");
    hooks
}

/// Hooks at regions and for the modelled caches.
const SLOWER: [&str; 5] =
    ["__threadtalk_enter", "__threadtalk_exit", "__threadtalk_spins", "__threadtalk_spun", "__threadtalk_cache"];

/// What breaks the rules of `CONTRIBUTING.md`, wherever a hook can get to, the setup of a process included.
#[test]
fn hooks_reach_no_panic_no_heap_and_no_call_for_thread_locals() {
    let code = runtime();
    for hook in hooks(&code).into_iter().chain(SLOWER) {
        for name in code.reached(hook, true) {
            for mentioned in &code.0[name].mentions {
                let heap = ["malloc", "calloc", "realloc", "free", "posix_memalign", "aligned_alloc"];
                assert!(!heap.contains(&mentioned.as_str()), "{hook} reaches {name}, which uses {mentioned}");
                assert!(mentioned != "__tls_get_addr", "{hook} reaches {name}, which calls it");
                let unwinds = mentioned.starts_with("_Unwind_") || mentioned.contains("core9panicking");
                assert!(!unwinds && !mentioned.contains("rust_begin_unwind"), "{hook} reaches {name}: {mentioned}");
            }
        }
    }
}

/// Mutexes and conditions of the C library: hooks may not wait.
#[test]
fn hooks_take_no_lock_of_the_c_library() {
    let code = runtime();
    for hook in hooks(&code).into_iter().chain(SLOWER) {
        for name in code.reached(hook, false) {
            let waits =
                |m: &&String| m.starts_with("pthread_mutex") || m.starts_with("pthread_cond") || m.starts_with("sem_");
            let found: Vec<&String> = code.0[name].mentions.iter().filter(waits).collect();
            assert!(found.is_empty(), "{hook} reaches {name}: {found:?}");
        }
    }
}

/// A part of a mangled name, and what functions of that name may do. Hot code is what a hook reaches without entering a
/// function marked cold.
struct Allowed(&'static str, &'static [&'static str]);

/// Locked instructions in hot code, all on its rarer ways:
const LOCKS: &[Allowed] = &[
    // Hooks count those that arrive inside a hook.
    Allowed("5hooks", &["inc"]),
    // A first read exchanges the cell's state; a full table of states is counted.
    Allowed("9read_cell", &["cmpxchg", "inc"]),
    // So does one like an earlier one, and tells who claims the chunk.
    Allowed("6again", &["cmpxchg", "or"]),
    // Who reads an open value once more is listed in the cell.
    Allowed("_rarely", &["cmpxchg", "or"]),
    // Marks of watched elements; every 4096 checked events are added to the profile.
    Allowed("5event5count", &["cmpxchg", "add", "inc"]),
    // A page of a histogram takes a unit of the file; a disk that is full is counted.
    Allowed("9histogram", &["xadd", "inc"]),
    Allowed("8allocate", &["xadd", "inc"]),
    Allowed("9map_units", &["inc"]),
    // Who looks at the lines of memory that is given back takes the kinds that are in hand.
    Allowed("10range_dies", &["inc", "bts", "cmpxchg", "xchg"]),
    // The number of threads changes when one is created, ends or waits, never at an access.
    Allowed("9execution", &["xchg", "xadd", "add", "inc", "cmpxchg"]),
];

/// Divisions in hot code: once for each sample, once for each loop that is asked for, for each event of a loop that is
/// told apart from its own values, and for each of its strides that is no power of two.
const DIVISIONS: &[Allowed] = &[
    Allowed("5event5count", &["div"]),
    Allowed("Traces$GT$3gap", &["div"]),
    Allowed("10whole_loop", &["div"]),
    Allowed("5loops", &["div"]),
    Allowed("5nests", &["div"]),
    Allowed("5quiet5Quiet5reach", &["div"]),
    Allowed("5quiet5Quiet3add", &["div"]),
    // Waiting: the file grows by a system call, which the runtime's own `syscall` watches.
    Allowed("9execution", &["div"]),
];

fn allowed(list: &[Allowed], name: &str, mnemonic: &str) -> bool {
    list.iter().any(|Allowed(part, what)| name.contains(part) && what.iter().any(|w| mnemonic.starts_with(w)))
}

#[test]
fn hot_code_locks_and_divides_only_where_it_is_listed() {
    let code = runtime();
    let hot: BTreeSet<&str> = hooks(&code).into_iter().flat_map(|hook| code.reached(hook, false)).collect();
    for name in hot {
        for i in &code.0[name].instructions {
            assert!(!i.locks || allowed(LOCKS, name, &i.mnemonic), "{name} locks: {} at {:#x}", i.mnemonic, i.address);
            let divides = i.mnemonic.starts_with("div") || i.mnemonic.starts_with("idiv");
            assert!(!divides || allowed(DIVISIONS, name, "div"), "{name} divides at {:#x}", i.address);
        }
    }
}

/// A write has nothing to look up: all it may lock is the count of hooks inside hooks.
#[test]
fn writes_lock_nothing_else_than_a_count_of_what_was_dropped() {
    let code = runtime();
    for hook in ["__threadtalk_write4", "__threadtalk_write8", "__threadtalk_write64"] {
        let locks: Vec<&str> = code
            .reached(hook, false)
            .into_iter()
            .flat_map(|name| &code.0[name].instructions)
            .filter(|i| i.locks)
            .map(|i| i.mnemonic.as_str())
            .collect();
        assert!(locks.len() <= 1 && locks.iter().all(|m| m.starts_with("inc")), "{hook}: {locks:?}");
    }
}

/// What settles reads like earlier ones promises to keep vector registers: it may use none, and call nothing that
/// might.
#[test]
fn reads_like_earlier_ones_use_no_vector_registers_and_call_nothing() {
    let code = runtime();
    for hook in ["__threadtalk_again4", "__threadtalk_again8"] {
        let reached = code.reached(hook, true);
        assert!(reached.len() == 3, "{hook} is a shell around one function, which may end in another: {reached:?}");
        for name in reached {
            let vector = code.0[name].instructions.iter().find(|i| i.vector);
            assert!(vector.is_none(), "{hook}: {name}: {vector:?}");
        }
    }
}

/// What the pass made for the archive: the same for callers with registers of each width, for gates also with masks of
/// 64 bits, and hooks alone are beyond.
#[test]
fn functions_of_the_pass_lock_and_divide_nothing_and_call_hooks_alone() {
    let code = runtime();
    let of = |name: &&String| name.starts_with("threadtalk.") && !code.0[*name].instructions.is_empty();
    let names: Vec<&String> = code.0.keys().filter(of).collect();
    let mut widths: [BTreeSet<&str>; 3] = Default::default();
    let mut with_masks = BTreeSet::new();
    for name in &names {
        let function = &code.0[*name];
        no_lock(name, function);
        assert!(!function.instructions.iter().any(|i| i.mnemonic.contains("div")), "{name} divides");
        let known = |m: &String| m.starts_with("__threadtalk_") || m.starts_with("threadtalk.") || m.starts_with('.');
        let other: Vec<_> = function.mentions.iter().filter(|m| !known(m)).collect();
        assert!(other.is_empty(), "{name}: {other:?}");
        if let Some(narrow) = name.strip_suffix(".avx512.masks") {
            with_masks.insert(narrow);
            continue;
        }
        match name.rsplit_once('.') {
            Some((narrow, "avx")) => widths[1].insert(narrow),
            Some((narrow, "avx512")) => widths[2].insert(narrow),
            _ => widths[0].insert(name.as_str()),
        };
    }
    assert!(widths[0].contains("threadtalk.recall8.granules") && widths[0].len() > 60, "{names:?}");
    assert!(widths[0] == widths[1] && widths[0] == widths[2], "{names:?}");
    let gates: BTreeSet<&str> = widths[0].iter().filter(|name| name.starts_with("threadtalk.gate.")).copied().collect();
    assert_eq!(with_masks, gates);
}

fn sequences() -> Code {
    let scene = Scene::new();
    // Unrolled iterations would count as one.
    scene.compile(Compiler::Instrumented, "sequences.c", "sequences.o", &["-c", "-fno-unroll-loops"]);
    Code::of(&scene.path("sequences.o")).unwrap_or_else(|e| panic!("{e}"))
}

fn no_lock(name: &str, function: &Function) {
    assert!(function.instructions.iter().all(|i| !i.locks), "{name} locks");
}

/// Instructions of a function with one access, from its entry to its return: the thread's pointer and its test, the
/// count of entries, the look into the directory, the cell and its test, the access itself. Measured 27, 34, 28 and 31
/// (the assembly wants the directory and the own ids in registers, which lasts for one access here and for a loop
/// elsewhere); a quarter more is allowed for other choices of the compiler.
#[test]
fn accesses_to_own_data_make_no_call() {
    let code = sequences();
    for (name, most) in [("read_4", 33), ("read_8", 42), ("write_4", 35), ("write_8", 38)] {
        let function = &code.0[name];
        no_lock(name, function);
        let way = function.shortest_way().unwrap_or_else(|| panic!("{name} always calls something"));
        assert!(way <= most, "{name}: {way} instructions, {most} are allowed");
        let calls = function.instructions.iter().filter(|i| i.class == Class::Call).count();
        assert!(calls <= 2, "{name}: {calls} calls: one to attach the thread, one for the slow path");
    }
}

/// An iteration of a loop: 5 instructions are the program's own, the rest looks into the directory and compares.
/// Measured 16 for one read and 24 for two.
#[test]
fn iterations_of_reading_loops_make_no_call() {
    let code = sequences();
    for (name, most) in [("remembered", 20), ("gathered", 30)] {
        let function = &code.0[name];
        no_lock(name, function);
        let iteration =
            function.shortest_iteration().unwrap_or_else(|| panic!("{name}: each iteration calls something"));
        assert!(iteration <= most, "{name}: {iteration} instructions, {most} are allowed");
    }
}
