//! The lifecycle as real programs live it: each program of `programs/` against what it announces.

mod support;

use std::collections::BTreeSet;
use std::fs;

macro_rules! programs {
    ($($test:ident: $file:literal,)*) => {
        const ALL: &[&str] = &[$($file),*];
        $(
            #[test]
            fn $test() {
                support::check($file);
            }
        )*
    };
}

programs! {
    an_abort_is_the_programs_own: "abort.c",
    phases_between_barriers: "barrier_phases.c",
    exit_without_handlers: "abrupt_exit.c",
    an_allocator_in_a_library: "allocator.cpp",
    c11_threads: "c11_threads.c",
    c_exit: "c_exit.c",
    misses_of_modelled_caches: "cache_model.c",
    time_by_region: "call_tree.c",
    cancelled_threads: "cancelled.c",
    cancelled_before_it_runs: "cancelled_early.c",
    ten_thousand_threads: "churn.c",
    a_creation_that_fails: "creation_fails.c",
    counts_after_a_failed_exec: "counts_after_failed_exec.c",
    counts_of_many_threads: "counts_of_many.c",
    counts_by_number_of_threads: "counts_by_level.c",
    create_and_join: "create_join.c",
    a_daemon_takes_the_profile: "daemon.c",
    detached_threads: "detached.c",
    switched_off: "disabled.c",
    a_library_that_is_early: "early.c",
    the_end_comes_last: "end_order.cpp",
    exec_and_its_failure: "exec.c",
    a_thread_exists_until_it_is_joined: "exists_until_joined.c",
    exit_in_a_thread: "exit_in_thread.c",
    forked_children: "fork.c",
    heap_blocks: "heap.c",
    heap_blocks_while_others_exist: "heap_with_threads.c",
    joining_oneself: "joins_itself.c",
    key_destructors: "key_destructors.c",
    a_kill: "killed.c",
    main_ends_first: "main_ends_first.c",
    many_threads_at_once: "many_alive.c",
    mappings: "mappings.c",
    names_of_threads: "names.c",
    openmp_workers: "openmp.c",
    openmp_of_gcc: "openmp_gcc.c",
    openmp_regions_and_barriers: "openmp_regions.c",
    openmp_tasks_at_a_barrier: "openmp_tasks.c",
    another_openmp_tool: "openmp_own_tool.c",
    joins_with_a_limit: "other_joins.c",
    an_allocator_in_the_program: "own_free.c",
    a_stack_of_the_program: "own_stack.c",
    quick_exit: "quick_exit.c",
    an_allocator_that_tells_no_sizes: "silent_allocator.cpp",
    std_thread: "std_thread.cpp",
    waits_of_the_standard_library: "std_waits.cpp",
    each_kind_of_waiting: "waits.c",
}

#[test]
fn every_program_is_listed() {
    let files = fs::read_dir(support::folder()).expect("the folder of the programs is there");
    let is_program = |name: &String| (name.ends_with(".c") || name.ends_with(".cpp")) && !name.contains(".library.");
    let files: BTreeSet<String> =
        files.map(|file| file.expect("readable").file_name().to_string_lossy().into()).filter(is_program).collect();
    assert_eq!(files, ALL.iter().map(ToString::to_string).collect());
}
