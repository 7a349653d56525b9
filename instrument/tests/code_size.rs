//! How much code is made, which is what compiling costs: as little as each place needs, and in proportion to what a
//! function accesses.

mod support;

use std::process::Command;
use support::{Project, function, must_succeed};

const LOOPS: &str = r#"
void clear(double *to, const double *from, long n, long step) {
  for (long i = 0; i < n; i += step) if (from[i + 1] > 0) to[i] = 0;
}
void wait(const volatile int *flags) { while (!*flags) flags++; }
long search(const double *in, double wanted) { long i = 0; while (in[i] != wanted) i++; return i; }
struct list { struct list *next; long sum; };
long sum(struct list *l) { long all = 0; for (; l; l = l->next) all += l->sum; return all; }
long count(long n) { long all = 0; for (long i = 0; i < n; i += 1 + (all & 3)) all ^= i * 3; return all; }
void fill(double *to, double value, long n) { for (long i = 0; i < n; i++) to[i] = value + i; }
"#;

/// The address computations of the program in a function that use a variable of a loop itself.
fn computed_from_variables(body: &str) -> usize {
    let name = |line: &str| line.split_whitespace().next().map(str::to_string);
    let variables: Vec<_> = body.lines().filter(|l| l.contains(" = phi ")).filter_map(name).collect();
    let uses = |line: &str| line.split([' ', ',', ')']).any(|word| variables.iter().any(|v| v == word));
    body.lines().filter(|l| l.contains(" = getelementptr inbounds ") && uses(l)).count()
}

#[test]
fn addresses_of_loops_with_sequences_come_from_copies_of_their_variables() {
    let without = Project::new("a.c", LOOPS).options("opt=0").ir("a.c", &["-O1"]);
    let with = Project::new("a.c", LOOPS).ir("a.c", &["-O1"]);
    for (name, copy) in [("clear", "@llvm.fshl.i64("), ("sum", "@llvm.ptrmask.p0.i64(")] {
        let (before, after) = (function(&without, name), function(&with, name));
        assert_eq!((before.matches(copy).count(), computed_from_variables(before) > 0), (0, true), "{before}");
        assert_eq!((after.matches(copy).count(), computed_from_variables(after)), (1, 0), "{after}");
    }
    assert!(!function(&with, "count").contains("@llvm.fshl"), "nothing is accessed there");
}

/// Members that lie near each other are found by one look into the directory, whatever is accessed between them; two of
/// them alone, which would need a test for the border of a chunk, by a look each.
#[test]
fn a_look_is_shared_where_that_is_less_code() {
    let code = "void f(double *to, const double *a, const double *b, double c) {\n\
                  to[0] = c;\n  to[1] = c - a[0];\n  to[2] = c - a[2];\n  to[3] = c - b[0];\n  to[4] = c * 2;\n}\n";
    let ir = Project::new("a.c", code).ir("a.c", &["-O1"]);
    // Of several accesses in LLVM's code, of one in its sequence.
    let looks = ["shrq $$14, ", ", 14"].map(|look| {
        let body = function(&ir, "f").lines().map(|line| line.split(", !dbg").next().unwrap_or(line));
        body.filter(|line| if look.starts_with(',') { line.ends_with(look) } else { line.contains(look) }).count()
    });
    assert_eq!(looks, [3, 1], "`a` twice, `b`; all five of `to`");
}

/// `*(unsigned *)bytes` is aligned for LLVM, wherever the bytes are. Memory that is asked for as bytes and used as what
/// it is for is aligned indeed.
#[test]
fn claims_of_alignment_are_believed_where_nothing_speaks_against_them() {
    let code = "void scale(char *memory, long n) {\n  float *a = (float *)memory;\n\
                  for (long i = 0; i < n; i++)\n    a[i] *= 2;\n}\n\
                unsigned cast(const unsigned char *at) { return *(const unsigned *)at; }\n\
                unsigned long moved(const short *at, long n) { return *(const unsigned long *)(at + n); }\n\
                unsigned long fits(const char *at, long n) { return ((const unsigned long *)at)[n]; }\n";
    let ir = Project::new("a.c", code).ir("a.c", &["-O1"]);
    let looks = ["scale", "cast", "moved", "fits"].map(|name| function(&ir, name).contains(".unaligned"));
    assert_eq!(looks, [false, true, true, false]);
    assert!(function(&ir, "scale").contains("@__threadtalk_loop("));
}

/// The loop exists twice; the one without sequences is LLVM's to improve.
#[test]
fn plain_copies_keep_their_variables() {
    let ir = Project::new("a.c", LOOPS).ir("a.c", &["-O1"]);
    let fill = function(&ir, "fill");
    assert!(fill.contains("@__threadtalk_loop("), "{fill}");
    let search = function(&ir, "search");
    assert!(!function(&ir, "wait").contains("@__threadtalk_searched("), "others write what is read there");
    assert_eq!(search.matches("@__threadtalk_searched(").count(), 1, "{search}");
    for body in [fill, search] {
        assert_eq!((body.matches("@llvm.fshl.i64(").count(), computed_from_variables(body)), (1, 1), "{body}");
    }
}

/// A function of so many statements in one block, in blocks of their own, and in loops.
fn generated(statements: usize) -> String {
    let mut text = String::from("void f(double *a, const double *b, const long *p, double least) {\n");
    for i in 0..statements {
        let (at, from) = (i % 997, i * 7 % 1021);
        text += &match i % 3 {
            0 => format!("  a[{at}] += b[{from}];\n"),
            1 => format!("  if (b[{from}] > least) a[p[{at}]] = {i};\n"),
            _ => format!("  for (long i = p[{at}]; i < p[{from}]; i += 3) a[i] = b[i * {at}];\n"),
        };
    }
    text + "}\n"
}

/// Instructions that the pass adds to a function of so many statements.
fn added(statements: usize) -> usize {
    let project = Project::new("a.c", &generated(statements)).options("features=memory,control");
    // Before optimisations, which take time that is quadratic in the size of such functions.
    let instructions = |ir: &str| function(ir, "f").lines().filter(|line| line.starts_with("  ")).count();
    let plain = must_succeed(
        Command::new("clang-19").args(["-O0", "-g", "-S", "-emit-llvm", "-o", "-"]).arg(project.path("a.c")),
    );
    instructions(&project.ir("a.c", &["-O0"])) - instructions(&String::from_utf8_lossy(&plain.stdout))
}

/// Sums with the module's numbers are for the functions that are called, and a counter rides with an access of its
/// block.
#[test]
fn huge_functions_pass_constants() {
    let source = "void f(int *a, const int *b, int v) { if (b[1] > v) a[1] = v; if (b[2] > v) a[2] = v; }\n";
    let ir = |options: &str| Project::new("a.c", source).options(options).ir("a.c", &["-O2"]);
    let bases = |ir: &str| function(ir, "f").matches("@threadtalk.bases").count();
    let nothing = ir("inline_limit=0:features=control");
    let all = ir("inline_limit=0:features=memory,control");
    let f = function(&all, "f");
    for (call, n) in [("@threadtalk.read4.here(", 2), ("@threadtalk.write4.here", 2), ("@threadtalk.hook", 0)] {
        assert_eq!(f.matches(call).count(), n, "{call}: {f}");
    }
    let (riding, own) = (f.matches(".counted(").count(), f.matches("@threadtalk.count.here(").count());
    assert!(riding > 0, "{f}");
    // The function's first counter, one for each test, and none of them inline.
    assert_eq!((riding + own, f.matches("threadtalk.column").count()), (3, 0), "{f}");
    assert!(bases(&all) <= bases(&nothing) + 2, "{f}");
}

/// When 2000 accesses of its loops have sequences, all further ones are calls, and counters of 512 loops wait in
/// registers: from there on each statement costs the same. A third of the statements is a loop with three accesses.
#[test]
fn code_grows_in_proportion_to_the_accesses_of_a_function() {
    let [one, two, four] = [2000, 2600, 3800].map(added);
    let (first, second) = (two - one, four - two);
    assert!(first * 19 < second * 10 && second * 10 < first * 21, "{one}, {two}, {four}");
}
