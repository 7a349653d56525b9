//! What profiling takes of memory: signatures within their budget, exact cells in proportion to the data, tables of
//! threads within theirs, with the report saying when one was reached.

use std::fmt::Write;
use std::time::Duration;
use threadtalk_benchmarks::process;
use threadtalk_tests::compile::{Compiler, compile_silently};
use threadtalk_tests::execute::Run;
use threadtalk_tests::report::Report;
use threadtalk_tests::scene::Scene;

const MIB: u64 = 1 << 20;

/// What the tables of three threads, of the states and of the process take when little happens: measured 8 MiB, and 14
/// MiB with huge pages at the ends of the cells.
const TABLES: u64 = 24 * MIB;

/// The program that touches memory, native and instrumented.
struct Touching(Scene);

impl Touching {
    fn new() -> Self {
        let scene = Scene::with("touches.c", &[]);
        scene.compile(Compiler::Native, "touches.c", "native", &[]);
        Self(scene)
    }

    fn peak(&self, program: &str, arguments: [u64; 2], options: &str) -> u64 {
        let mut command = self.0.command(program);
        command.args(arguments.map(|n| n.to_string()));
        command.env("THREADTALK_OUT", self.0.path("p.ttp")).env("THREADTALK_OPTIONS", format!("quiet=1:{options}"));
        let run = process::run(command, &self.0.path(""), Duration::from_secs(300));
        run.unwrap_or_else(|e| panic!("{e}")).peak_bytes
    }

    /// Native peak, what the instrumented program takes more, and its report.
    fn measure(&self, bytes: u64, step: u64, options: &str) -> (u64, u64, Report) {
        let native = self.peak("native", [bytes, step], "");
        let instrumented = self.peak("program", [bytes, step], options);
        (native, instrumented.saturating_sub(native), self.0.report("p.ttp"))
    }
}

fn number(report: &Report, name: &str) -> u64 {
    report.json()["accuracy"][name].as_u64().unwrap_or_else(|| panic!("no {name}"))
}

fn stays_within_the_budget(bytes: u64, step: u64, mib: u64) {
    let options = format!("signature_bytes={mib}M");
    let (native, more, report) = Touching::new().measure(bytes, step, &options);
    // Of each 4 KiB the native program touches a part or all.
    assert!(native >= bytes / step.max(4096) * 4096, "{native}");
    let mapped = number(&report, "signature_mapped");
    assert!(mapped <= mib * MIB && mapped > mib * MIB * 9 / 10, "{mapped} bytes of cells in a budget of {mib} MiB");
    assert!(number(&report, "chunks") >= bytes >> 16, "all chunks of memory have cells: {report:?}");
    assert!(more <= mib * MIB + TABLES, "{more} bytes more than natively, with a budget of {mib} MiB");
}

#[test]
fn a_budget_that_is_used_up_is_told_when_the_program_ends() {
    let touching = Touching::new();
    let told = |options: &str| {
        let mut command = touching.0.command("program");
        command.args([(64 * MIB).to_string(), "4096".into()]);
        command.env("THREADTALK_OUT", touching.0.path("told.ttp")).env("THREADTALK_OPTIONS", options);
        Run::new(command).finish().unwrap().stderr_text()
    };
    let used_up = told("signature_bytes=1M");
    let line = used_up.lines().nth(1).unwrap_or_default();
    assert!(line.starts_with("threadtalk: the budget of 1 MiB for cells is used up"), "{used_up}");
    assert!(line.ends_with("set THREADTALK_OPTIONS=signature_bytes=2M or more, or mode=exact"), "{used_up}");
    for enough in ["signature_bytes=80M", "mode=exact"] {
        assert_eq!(told(enough).lines().count(), 1, "{enough}");
    }
    assert_eq!(told("signature_bytes=1M:quiet=1"), "");
}

#[test]
fn four_gib_touched_sparsely_stay_within_the_budget() {
    stays_within_the_budget(4 << 30, 1 << 16, 256);
}

/// A page in each 64 KiB, as rows of large grids have it: 192 MiB of chunks with cells, for 768 MiB from the first page
/// to the last. Their cells take as many pages as they do: in huge pages they took 256 MiB for 48.
#[test]
fn rows_that_lie_far_apart_are_exact_while_what_they_touch_fits() {
    let (bytes, step) = (768 << 20, 1 << 16);
    let (native, more, report) = Touching::new().measure(bytes, step, "signature_bytes=256M");
    assert!(more <= native * 3 / 2 + TABLES, "{more} bytes for {native} bytes of data");
    assert_eq!(report.json()["options"]["mode"], "hashed");
    assert_eq!(number(&report, "chunks_aliased"), 0);
    assert_eq!(report.total("total_raw", 1, 2), (bytes / MIB) as i64);
}

#[test]
fn a_small_budget_holds_as_well() {
    stays_within_the_budget(512 << 20, 4096, 4);
}

#[test]
#[ignore = "long: touches a GiB"]
fn a_gib_touched_densely_stays_within_the_budget() {
    stays_within_the_budget(1 << 30, 4, 256);
}

/// Cells are as large as what they describe; the directory adds 8 bytes for each 16 KiB.
fn exact_cells_are_in_proportion(bytes: u64, step: u64) {
    let (native, more, report) = Touching::new().measure(bytes, step, "mode=exact");
    assert_eq!(number(&report, "chunks_aliased"), 0);
    assert_eq!(report.total("total_raw", 1, 2), (bytes / MIB) as i64);
    assert!(more <= native * 3 / 2, "{more} bytes for {native} bytes of data");
}

#[test]
fn exact_cells_of_sparse_data_take_at_most_half_more_than_the_data() {
    exact_cells_are_in_proportion(4 << 30, 1 << 16);
}

#[test]
fn exact_cells_of_dense_data_take_at_most_half_more_than_the_data() {
    exact_cells_are_in_proportion(128 << 20, 4);
}

/// Dense data go on into huge pages of cells: the last block may be wasted, no more.
#[test]
fn huge_pages_of_dense_cells_cost_no_memory() {
    let touching = Touching::new();
    let (_, huge, _) = touching.measure(128 << 20, 4, "mode=exact");
    let (_, small, _) = touching.measure(128 << 20, 4, "mode=exact:huge_pages=0");
    assert!(huge <= small + 8 * MIB, "{huge} with huge pages, {small} without");
}

/// Worker 1 writes 100 elements, each on its own line; worker 2 reads all of them twice in each of `readers` functions.
fn lines(scene: &Scene, readers: usize) {
    let mut source = String::from("#include \"team.h\"\nstatic volatile int m[100];\n");
    for reader in 0..readers {
        // Only the program's own reads are of interest: the index is a register.
        writeln!(
            source,
            "static NOINLINE void read_{reader}(void) {{ for (int k = 0; k < 200; k++) USE(m[k % 100]); }}"
        )
        .expect("a string takes all");
    }
    source += "static void *fill(void *x) {\n";
    (0..100).for_each(|k| writeln!(source, "    m[{k}] = {k};").expect("a string takes all"));
    source += "    return x;\n}\nstatic void *look(void *x) {\n";
    (0..readers).for_each(|reader| writeln!(source, "    read_{reader}();").expect("a string takes all"));
    source += "    return x;\n}\nint main(void) {\n    one(fill, NULL);\n    one(look, NULL);\n    return 0;\n}\n";
    std::fs::write(scene.path("lines.c"), source).expect("the folder is writable");
    compile_silently(scene.tool(), Compiler::Instrumented, &scene.path("lines.c"), &scene.path("program"), &["-O1"]);
}

fn run(scene: &Scene, options: &str) -> Report {
    let mut command = scene.command("program");
    command.env("THREADTALK_OUT", scene.path("p.ttp")).env("THREADTALK_OPTIONS", format!("quiet=1:{options}"));
    let done = Run::new(command).finish().expect("the program can be started");
    assert_eq!(done.ending(), "exit 0", "{}", done.stderr_text());
    scene.report("p.ttp")
}

fn with_options(scene: &Scene, options: &str) -> Report {
    let report = run(scene, options);
    assert_eq!(report.total("total_raw", 1, 2), 100);
    report
}

/// Events whose writer's line is known.
fn with_lines(report: &Report) -> u64 {
    let lines = report.regions().iter().filter_map(|r| r["lines"].as_array()).flatten();
    let known = lines.filter(|l| l["writer"]["line"].as_u64().is_some_and(|n| n > 0));
    known.map(|l| l["raw"].as_u64().unwrap_or(0) + l["rar"].as_u64().unwrap_or(0)).sum()
}

/// The summary says in words what the numbers say.
fn summary(scene: &Scene) -> String {
    scene.threadtalk(&["report", "p.ttp"]).stdout_text()
}

#[test]
fn records_beyond_their_budget_lose_lines_and_no_counts() {
    let scene = Scene::new();
    lines(&scene, 100);
    let all = with_options(&scene, "");
    assert_eq!((number(&all, "records_budget_reached"), number(&all, "dropped")), (0, 0));
    assert_eq!((all.total("total_rar", 1, 2), with_lines(&all)), (19_900, 20_000));
    assert!(!summary(&scene).contains("records_bytes"));

    std::fs::remove_file(scene.path("p.ttp")).unwrap();
    let few = with_options(&scene, "records_bytes=64K");
    assert_eq!((number(&few, "records_budget_reached"), number(&few, "dropped")), (1, 0));
    assert_eq!(few.total("total_rar", 1, 2), 19_900, "no count changes");
    let known = with_lines(&few);
    assert!(known > 100 && known < 10_000, "{known} events have lines");
    assert!(summary(&scene).contains("records of 1 thread reached records_bytes"), "{}", summary(&scene));
}

/// Sixteen threads that write at so many lines each, and read twice, each in an order of its own, what all have
/// written.
fn writers(scene: &Scene, lines: usize) {
    let all = 16 * lines;
    let mut source = format!(
        "#include \"team.h\"\nstatic int m[16][{lines}];\nstatic pthread_barrier_t written;\n\
         static NOINLINE void fill(int *row, int k) {{\n"
    );
    (0..lines).for_each(|line| writeln!(source, "    row[{line}] = k;\n    FENCE();").expect("a string takes all"));
    write!(
        source,
        "}}\nstatic void *work(void *me) {{\n    long id = (long)me - 1;\n    fill(m[id], id);\n    \
         pthread_barrier_wait(&written);\n    for (long i = 0; i < 2 * {all}; i++)\n        \
         USE(m[0][(i * 7919 + id * 211) % {all}]);\n    return NULL;\n}}\nint main(void) {{\n    \
         pthread_barrier_init(&written, NULL, 16);\n    team(16, work);\n    return 0;\n}}\n"
    )
    .expect("a string takes all");
    std::fs::write(scene.path("writers.c"), source).expect("the folder is writable");
    compile_silently(scene.tool(), Compiler::Instrumented, &scene.path("writers.c"), &scene.path("program"), &["-O1"]);
}

#[test]
fn lines_that_are_too_many_to_be_told_apart_are_told_and_cost_no_counts() {
    const MISSING: &str = "some lines of writers are missing (? or unknown line)";
    for (lines, is_much) in [(20, false), (250, true)] {
        let scene = Scene::new();
        writers(&scene, lines);
        let report = run(&scene, "");
        for (writer, reader) in (1..=16).flat_map(|writer| (1..=16).map(move |reader| (writer, reader))) {
            let expected = if writer == reader { 0 } else { lines as u64 };
            let found = [report.total("total_raw", writer, reader), report.total("total_rar", writer, reader)];
            assert_eq!(found.map(|n| n as u64), [expected; 2], "{lines} lines, {writer} to {reader}");
        }
        assert_eq!(number(&report, "lineless_values") > 0, is_much);
        assert_eq!(summary(&scene).contains(MISSING), is_much, "{}", summary(&scene));
        let known = with_lines(&report);
        let all = 16 * 15 * 2 * lines as u64;
        assert!(if is_much { known > 0 && known < all } else { known == all }, "{known} of {all}");
    }
}

#[test]
fn events_without_any_room_are_dropped_and_told() {
    let scene = Scene::new();
    lines(&scene, 400);
    let report = with_options(&scene, "records_bytes=64K");
    let (dropped, counted) = (number(&report, "dropped_budget"), report.total("total_rar", 1, 2) as u64);
    assert!(dropped > 0);
    assert_eq!(counted + dropped, 79_900, "each event is counted or told");
    assert_eq!(number(&report, "dropped"), dropped);
}

#[test]
fn traces_beyond_their_budget_are_not_measured_but_counted() {
    let scene = Scene::new();
    lines(&scene, 200);
    let report = with_options(&scene, "crd_bytes=64K");
    assert!(number(&report, "crd_budget_reached") > 0);
    assert_eq!(report.total("total_rar", 1, 2), 39_900);
    assert!(summary(&scene).contains("crd_bytes"), "{}", summary(&scene));
    let measured = report.regions().iter().filter(|r| r["crd"]["count"].as_f64().unwrap_or(0.0) > 0.0).count();
    assert!(measured > 0 && measured < 200, "{measured} functions have distances");
}
