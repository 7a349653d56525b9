//! Calls of functions that only read and compute do not end a nest; whatever else a function does, its calls do.

mod support;

use support::{LEVELS, Project, function};

/// Each `f_*` is called by the loop of `in_*`.
const SHAPES: &str = r#"
#include <stdatomic.h>
double a[64], b[64], out; volatile double device; _Atomic int flag; extern int other(int);
#define NEVER __attribute__((noinline))
#define LOOP(name) double in_##name(long n) { \
  double s = 0; for (long i = 0; i < n; i++) { s += a[i] * f_##name(b, n - i); if (s > out) return s; } return s; }
double sqrt(double);
static NEVER double f_sum(const double *x, long n) { double s = 0;
  for (long i = 0; i < n; i++) s += sqrt(x[i]); return s; }
LOOP(sum)
static NEVER double f_frame(const double *x, long n) { double y[8]; for (long i = 0; i < 8; i++) y[i] = x[i] + n;
  return y[n & 7] * y[(n + 3) & 7]; }
LOOP(frame)
static NEVER double f_indirect(const double *x, long n) { return f_sum(x, n) + f_frame(x, n); }
LOOP(indirect)
static NEVER double f_halves(const double *x, long n) {
  return n < 3 ? x[0] : f_halves(x, n / 2) + f_halves(x + n / 2, n - n / 2); }
LOOP(halves)
NEVER double f_exported(const double *x, long n) { return x[n]; }
LOOP(exported)

static NEVER double f_writes(double *x, long n) { double s = x[n]; x[n] = s + 1; return s; }
LOOP(writes)
static NEVER double f_volatile(const double *x, long n) { return x[n] + device; }
LOOP(volatile)
static NEVER double f_atomic(const double *x, long n) { return x[n] + atomic_load(&flag); }
LOOP(atomic)
static NEVER double f_fence(const double *x, long n) { atomic_thread_fence(memory_order_acquire); return x[n]; }
LOOP(fence)
static NEVER double f_asm(const double *x, long n) { asm volatile("" ::: "memory"); return x[n]; }
LOOP(asm)
static NEVER double f_calls(const double *x, long n) { return n == 7 ? other(3) : x[n]; }
LOOP(calls)
static NEVER double f_caller(const double *x, long n) { return f_calls(x, n) + 1; }
LOOP(caller)
double (*chosen)(const double *, long) = f_sum;
static NEVER double f_pointer(const double *x, long n) { return chosen(x, n); }
LOOP(pointer)
NEVER double f_odd(const double *x, long n), f_even(const double *x, long n);
double f_odd(const double *x, long n) { return n < 2 ? x[n] : f_even(x, n - 1) + x[n]; }
double f_even(const double *x, long n) { return n < 2 ? f_writes(b, n) : f_odd(x, n - 1) * x[n]; }
LOOP(odd)
__attribute__((weak)) NEVER double f_weak(const double *x, long n) { return x[n]; }
LOOP(weak)
"#;

const PURE: [&str; 5] = ["sum", "frame", "indirect", "halves", "exported"];
const IMPURE: [&str; 10] =
    ["writes", "volatile", "atomic", "fence", "asm", "calls", "caller", "pointer", "odd", "weak"];

#[test]
fn only_pure_functions_are_called_in_nests() {
    for level in LEVELS {
        let ir = Project::new("a.c", SHAPES).ir("a.c", &[level]);
        let is_nest = |name: &str| function(&ir, &format!("in_{name}")).contains("@threadtalk.forget");
        for name in PURE {
            assert!(is_nest(name), "{level}: {name}: {}", function(&ir, &format!("in_{name}")));
        }
        for name in IMPURE {
            assert!(!is_nest(name), "{level}: {name}: {}", function(&ir, &format!("in_{name}")));
        }
    }
}

#[test]
fn what_the_linker_may_replace_is_not_known() {
    let interposed = ["-O2", "-fPIC", "-fsemantic-interposition"];
    for (flags, nest) in [(&["-O2", "-fPIC"][..], true), (&interposed[..], false)] {
        let ir = Project::new("a.c", SHAPES).ir("a.c", flags);
        assert_eq!(function(&ir, "in_exported").contains("@threadtalk.forget"), nest, "{flags:?}");
        assert!(function(&ir, "in_sum").contains("@threadtalk.forget"), "nobody replaces a static one: {flags:?}");
    }
}

/// A pure function whose loop looks into windows while a nest calls it, and who calls it where no nest is.
const LOOKS: &str = r#"
#define NEVER __attribute__((noinline))
double a[64], out; void other(void);
NEVER double sum(const double *x, long n) { double s = 0; for (long i = 0; i < n; i++) s += x[i]; return s; }
NEVER double table(const double *x, long n) { double s = 0;
  for (long i = 0; i < n; i++) for (long k = 0; k < n; k++) s += x[i * k];
  return s; }
double nest(long n) { double s = 0; for (long i = 0; i < n; i++) { s += sum(a, i); a[i] = s; } return s; }
void once(long n) { out = sum(a, n) + table(a, n); }
void waits(long n) { for (long i = 0; i < n; i++) { out += sum(a, i); other(); } }
"#;

#[test]
fn loops_of_pure_functions_look_only_while_a_nest_calls_them() {
    let ir = Project::new("a.c", LOOKS).ir("a.c", &["-O1"]);
    let sum = function(&ir, "sum");
    assert!(sum.contains("load i8, ptr @threadtalk.credit"), "one that does not look asks by its credit: {sum}");
    let flagged = format!("i32 {}", 1 | threadtalk_abi::loops::CALLED | threadtalk_abi::loops::CREDIT);
    assert!(sum.contains(&flagged), "{sum}");
    let table = function(&ir, "table");
    assert!(table.contains("@threadtalk.forget_called(") && !table.contains("@threadtalk.forget("), "{table}");
    let closes = |name: &str| function(&ir, name).matches("store i64 -1,").count();
    assert_eq!(closes("once"), 2, "no nest: {}", function(&ir, "once"));
    assert_eq!(closes("waits"), 1, "no nest: {}", function(&ir, "waits"));
    let nest = function(&ir, "nest");
    assert!(nest.contains("@threadtalk.forget(") && closes("nest") == 1, "at the exit: {nest}");
}
