//! Ways in which programs are built.

mod support;

use std::process::Command;
use support::{LEVELS, Project, function, must_fail, must_succeed};

const LIBRARY: &str = "int shared[10]; int get(int i) { return shared[i]; } void put(int i, int v) { shared[i] = v; }";
const USER: &str = r#"
#include <pthread.h>
int get(int); void put(int, int);
void *other(void *p) { int s = 0; for (int i = 0; i < 10; i++) s += get(i); for (int i = 0; i < 10; i++) s += get(i); return (void *)(long)s; }
int main(void) {
  for (int i = 0; i < 10; i++) put(i, i);
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  pthread_join(t, 0);
}
"#;

fn expected() -> Vec<(String, u64)> {
    vec![("rar 0->1".into(), 10), ("raw 0->1".into(), 10)]
}

#[test]
fn link_time_optimisation_instruments_once() {
    for mode in ["-flto=full", "-flto=thin"] {
        for level in LEVELS {
            let project = Project::new("user.c", USER);
            project.add("library.c", LIBRARY);
            project.build(&["user.c", "library.c"], &[level, mode, "-fuse-ld=lld"]);
            let run = project.run();
            assert_eq!(run.totals().into_iter().collect::<Vec<_>>(), expected(), "{mode} {level}: {}", run.stderr);
        }
    }
}

/// The compile step of LTO runs the pass; running it again over the result changes nothing.
#[test]
fn instrumented_modules_are_left_alone() {
    let project = Project::new("user.c", USER);
    must_succeed(project.clang("clang-19").args(["-O2", "-c", "-emit-llvm", "user.c", "-o", "once.bc"]));
    let ir = project.ir("once.bc", &["-O0"]);
    assert_eq!(ir.matches("define internal void @threadtalk.register(").count(), 1);
    assert!(!ir.contains("@threadtalk.register.1"), "a second registration");
}

#[test]
fn shared_libraries_register_for_themselves() {
    for level in LEVELS {
        let project = Project::new("user.c", USER);
        project.add("library.c", LIBRARY);
        must_succeed(project.clang("clang-19").args([level, "-fPIC", "-shared", "library.c", "-o", "liblibrary.so"]));
        project.build(&["user.c"], &[level, "-L.", "-llibrary", "-rdynamic"]);
        assert_eq!(project.run().totals().into_iter().collect::<Vec<_>>(), expected(), "{level}");
    }
}

#[test]
fn tables_survive_garbage_collection_and_strip() {
    let project = Project::new("user.c", USER);
    project.add("library.c", LIBRARY);
    let flags = ["-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections", "-s"];
    project.build(&["user.c", "library.c"], &flags);
    let run = project.run();
    assert_eq!(run.totals().into_iter().collect::<Vec<_>>(), expected());
    assert!(run.events()[0].contains("function get:1 at library.c:1"), "{}", run.stderr);
}

/// The program and its library, compiled with these flags.
fn counts_as_expected(flags: &[&str]) {
    let project = Project::new("user.c", USER);
    project.add("library.c", LIBRARY);
    project.build(&["user.c", "library.c"], flags);
    assert_eq!(project.run().totals().into_iter().collect::<Vec<_>>(), expected(), "{flags:?}");
}

#[test]
fn static_and_position_dependent_programs_work() {
    for flags in [["-static", "-O2"], ["-no-pie", "-O2"], ["-static-pie", "-O0"]] {
        counts_as_expected(&flags);
    }
}

/// Inlined accesses are assembly: it must find registers where every address takes one, and be read by other
/// assemblers.
#[test]
fn code_models_and_assemblers_make_no_difference() {
    for flags in [
        ["-mcmodel=large", "-O0"],
        ["-mcmodel=large", "-O2"],
        ["-fno-integrated-as", "-O2"],
        ["-masm=intel", "-save-temps"],
        ["-fcf-protection=full", "-fno-omit-frame-pointer"],
    ] {
        counts_as_expected(&flags);
    }
}

/// What must leave vector registers alone has accesses of many granules, too: a structure that is copied.
#[test]
fn functions_without_vector_registers_call_for_what_would_take_one() {
    let source = "\
#include <pthread.h>
#include <string.h>
struct { int x[15]; } a, b;
__attribute__((target(\"general-regs-only\"), noinline)) void copy(void) { b = a; }
void *other(void *p) { copy(); copy(); return p; }
int main(void) {
  for (int i = 0; i < 15; i++) a.x[i] = i;
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  pthread_join(t, 0);
  return b.x[14] != 14;
}
";
    for options in ["opt=1", "opt=0"] {
        let project = Project::new("a.c", source).options(options);
        project.build(&["a.c"], &["-O2"]);
        let totals = project.run().totals();
        assert_eq!((totals["raw 0->1"], totals["rar 0->1"]), (15, 15), "{options}: {totals:?}");
    }
}

#[test]
fn a_runtime_of_another_version_does_not_link() {
    let project = Project::new("a.c", "int a; int main(void) { a = 1; }");
    project.add("old.c", "void __threadtalk_register(void *m) {} __thread void *__threadtalk_thread;");
    let stderr = must_fail(project.clang("clang-19").args(["-O0", "a.c", "old.c", "-o", "a"]));
    assert!(stderr.contains("__threadtalk_abi_v7"), "{stderr}");
}

/// Inline functions of C++ are emitted in each object file; the linker keeps one.
#[test]
fn merged_inline_functions_keep_their_tables() {
    // Of more than three lines, so that it keeps its name where it is inlined.
    let header = "extern int cells[4];\ninline void touch(int i)\n{\n  int *cell = cells + i;\n  (*cell)++;\n}";
    let project = Project::new("a.cc", "#include \"h.h\"\nint cells[4]; void b(); int main() { touch(0); b(); }");
    project.add("h.h", header);
    project.add("b.cc", "int other;\n#include \"h.h\"\nvoid b() { other = 1; touch(1); }");
    for level in LEVELS {
        project.build(&["a.cc", "b.cc"], &[level]);
        let lines = project.log();
        let count = lines.iter().filter(|(l, _)| l.contains("function _Z5touchi:2 at h.h:5")).map(|(_, n)| n);
        assert_eq!(count.sum::<usize>(), 4, "{level}: {lines:?}");
    }
}

/// A program whose only interest is what it prints.
#[test]
fn exceptions_and_varargs_behave_as_before() {
    let source = r#"
#include <cstdarg>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
struct Noisy { std::string name; ~Noisy() { std::printf("~%s ", name.c_str()); } };
static int sum(int n, ...) { va_list l; va_start(l, n); int s = 0; while (n--) s += va_arg(l, int); va_end(l); return s; }
static int deep(int n) { Noisy x{std::to_string(n)}; if (!n) throw std::runtime_error("bottom"); return deep(n - 1) + 1; }
int main() {
  std::map<std::string, std::vector<int>> m;
  for (int i = 0; i < 100; i++) m[std::to_string(i % 7)].push_back(i);
  int s = 0;
  for (auto &[k, v] : m) for (int x : v) s += x;
  try { deep(3); } catch (const std::exception &e) { std::printf("%s ", e.what()); }
  std::printf("%d %d\n", s, sum(4, 1, 2, 3, 4));
}
"#;
    for level in LEVELS {
        for options in ["opt=1", "inline_limit=0"] {
            let project = Project::new("a.cc", source).options(options);
            project.build(&["a.cc"], &[level]);
            assert_eq!(project.run().stdout, "~0 ~1 ~2 ~3 bottom 4950 10\n", "{level} {options}");
        }
    }
}

/// The size of the code grows with the number of accesses, not faster.
#[test]
fn huge_functions_stay_linear() {
    let source = |n: usize| {
        let lines: String = (0..n).map(|i| format!("  p[{}] = q[{}] + {i};\n", i % 997, i * 7 % 991)).collect();
        format!("void f(volatile int *p, volatile int *q) {{\n{lines}}}\n")
    };
    let size = |n: usize| {
        let ir = Project::new("a.c", &source(n)).ir("a.c", &["-O1"]);
        function(&ir, "f").lines().count()
    };
    let (small, large) = (size(2_000), size(20_000));
    assert!(large < 11 * small, "{small} lines for 2000 statements, {large} for 20000");
}

const STEP: &str = r#"
struct body { double x, y, vx, vy; };
double step(struct body *b, long n, double dt, const long *next) {
  double energy = 0;
  for (long i = 0; i < n; i++) {
    struct body *own = &b[next[i]];
    double dx = own->x - b[i].x, dy = own->y - b[i].y, r = dx * dx + dy * dy;
    if (r > 0) {
      own->vx -= dx / r * dt;
      own->vy -= dy / r * dt;
    }
    energy += own->vx * own->vx + own->vy * own->vy;
  }
  return energy;
}
"#;

/// The search for places of variables that takes less time, unless the command line says which: `-mllvm` of the one or
/// of the other.
#[test]
fn places_of_variables_are_found_in_the_shorter_way_unless_told_otherwise() {
    let project = Project::new("step.c", STEP);
    let assembly = |flags: &[&str]| {
        let mut clang = project.clang("clang-19");
        must_succeed(clang.args(["-O2", "-S", "-o", "-", "step.c"]).args(flags)).stdout
    };
    let unasked = assembly(&[]);
    assert_eq!(unasked, assembly(&["-mllvm", "-experimental-debug-variable-locations=0"]));
    assert_ne!(unasked, assembly(&["-mllvm", "-experimental-debug-variable-locations=1"]));
}

const WIDE: &str = r#"
#include <stdio.h>
#define LANES (BYTES / 8)
typedef long vector __attribute__((vector_size(BYTES)));
long shared[64];
int main(int argc, char **argv) {
  vector all[4];
  for (int i = 0; i < LANES; i++) all[0][i] = i, all[1][i] = 10 * i, all[2][i] = 100 * i, all[3][i] = 1000 * i;
  vector a = all[0], b = all[1], c = all[2], d = all[3];
  for (int i = 0; i < 64; i++) shared[i] = i * argc, a += shared[63 - i], b ^= a, c += b, d -= c;
  for (int i = 0; i < LANES; i++) printf("%ld ", a[i] + b[i] + c[i] + d[i]);
}
"#;

/// Each access calls a function, which prints: what the caller holds in vectors is as without instrumentation.
#[test]
fn registers_of_all_widths_survive_calls() {
    let widths = [("sse2", "-DBYTES=16", "-msse2", ""), ("avx", "-DBYTES=32", "-mavx", ".avx")];
    for (feature, bytes, flag, suffix) in
        [("avx512f", "-DBYTES=64", "-march=x86-64-v4", ".avx512")].iter().chain(&widths)
    {
        let flags = ["-O2", "-fno-vectorize", bytes, flag];
        let project = Project::new("wide.c", WIDE).options("inline_limit=0").flags(&flags);
        let ir = project.ir("wide.c", &[]);
        assert!(ir.contains(&format!("call preserve_allcc void @threadtalk.write8{suffix}(")), "{ir}");
        if !support::cpu_has(feature) {
            continue;
        }
        must_succeed(
            Command::new("clang-19").args(flags).arg(project.path("wide.c")).arg("-o").arg(project.path("plain")),
        );
        let plain = must_succeed(&mut Command::new(project.path("plain"))).stdout;
        project.build(&["wide.c"], &[]);
        let accesses: usize = project.log().values().sum();
        assert!(accesses >= 64, "{feature}: {accesses} calls");
        let output = must_succeed(Command::new(project.path("program")).env("FAKE_LOG", "1"));
        assert_eq!(String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&plain), "{feature}");
    }
}

/// Masks of 64 bits that are needed on both sides of accesses; the pieces of assembly say nothing of them.
#[test]
fn masks_survive_calls() {
    let source = r#"
#include <stdio.h>
long from[8], to[8];
typedef unsigned long long mask;
#define HERE(m) __asm__ volatile("" : "+k"(m))
__attribute__((noinline)) mask work(mask a, mask b, mask c, mask d) {
  mask all = 0;
  for (int i = 0; i < 8; i++) {
    HERE(a); HERE(b); HERE(c); HERE(d);
    to[i & 3] = from[i] + to[i];
    HERE(a); HERE(b); HERE(c); HERE(d);
    all = all * 31 + (a ^ b << 1 ^ c << 2 ^ d << 3);
    a += b;
  }
  return all;
}
int main(void) { printf("%llx\n", work(0x123456789abcdef0, ~5ull, 1ull << 63, 0xfedcba)); }
"#;
    for (feature, flags) in
        [("avx512bw", &["-O2", "-march=x86-64-v4"][..]), ("avx512bw", &["-O2", "-mavx512f", "-mavx512bw"])]
    {
        if !support::cpu_has(feature) {
            continue;
        }
        let project = Project::new("masks.c", source).flags(flags);
        let ir = project.ir("masks.c", &[]);
        assert!(ir.contains(".avx512.masks@") && !ir.contains("~{k1}"), "{ir}");
        must_succeed(
            Command::new("clang-19").args(flags).arg(project.path("masks.c")).arg("-o").arg(project.path("plain")),
        );
        let plain = must_succeed(&mut Command::new(project.path("plain"))).stdout;
        project.build(&["masks.c"], &[]);
        let output = must_succeed(Command::new(project.path("program")).env("FAKE_LOG", "1"));
        assert_eq!(String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&plain), "{flags:?}");
        // Those of 16 bits only are said to change.
        let ir =
            Project::new("masks.c", source.replace("\"+k\"", "\"+r\"").as_str()).ir("masks.c", &["-O2", "-mavx512f"]);
        assert!(ir.contains(".avx512@") && ir.contains("~{k1}"), "{ir}");
    }
}

/// Other compilers name the CPU and not what it has.
#[test]
fn a_cpu_says_which_registers_there_are() {
    let project = Project::new("library.c", LIBRARY);
    for (attributes, suffix) in [
        ("\"target-cpu\"=\"x86-64\"", ""),
        ("\"target-cpu\"=\"haswell\"", ".avx"),
        ("\"target-cpu\"=\"x86-64\" \"target-features\"=\"+avx2\"", ".avx"),
        ("\"target-cpu\"=\"skylake-avx512\"", ".avx512.masks"),
        ("\"target-cpu\"=\"x86-64\" \"target-features\"=\"+avx512f\"", ".avx512"),
        ("\"target-cpu\"=\"skylake-avx512\" \"target-features\"=\"-avx512f\"", ".avx"),
        ("\"target-cpu\"=\"unheard-of\"", ""),
    ] {
        project.add(
            "a.ll",
            &format!("define i32 @get(ptr %p) {attributes} {{\n %v = load i32, ptr %p\n ret i32 %v\n}}\n"),
        );
        let got = project.ir("a.ll", &["-target", "x86_64-pc-linux-gnu"]);
        assert!(got.contains(&format!("threadtalk.gate.read4{suffix}@")), "{attributes}: {got}");
    }
}
