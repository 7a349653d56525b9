//! How much code accesses get, by what repeats around them.

mod support;

use support::{Project, function};

const SHAPES: &str = r#"
double a[32], b[32], block[8][8], line[8], factor;
#define KEEP _Pragma("clang loop unroll(disable) vectorize(disable)")
void eliminate(void) {
  KEEP for (int i = 1; i < 5; i++) KEEP for (int j = 0; j < 5; j++) block[i][j] -= factor * block[0][j];
  line[0] = line[1] * factor;
}
void lasting(int n) {
  KEEP for (int i = 1; i < n; i++) KEEP for (int j = 0; j < 5; j++) block[i][j] -= factor * block[0][j];
}
#define GO(f, x) f(x, 0) f(x, 3) f(x, 6) f(x, 9) f(x, 12) f(x, 15) f(x, 18) f(x, 21) f(x, 24) f(x, 27)
#define COPY(x, i) b[30 - i] = x[i] + b[i + 1];
void straight(volatile double *p) { GO(COPY, p) GO(COPY, p) GO(COPY, p) }
double around(int n, volatile double *p) {
  double s = 0;
  GO(COPY, p)
  for (int i = 0; i < n; i++) s += a[i];
  return s;
}
double large(int n, volatile double *p) {
  double s = 0;
  for (int i = 0; i < n; i++) { GO(COPY, p) GO(COPY, p) GO(COPY, p) p += i; }
  return s;
}
"#;

/// Inlined sequences: the assembly that they end in.
fn sequences(body: &str) -> usize {
    body.matches("asm sideeffect").count()
}

#[test]
fn nests_of_few_iterations_are_straight_code() {
    let ir = Project::new("a.c", SHAPES).ir("a.c", &["-O2"]);
    let brief = function(&ir, "eliminate");
    let lasting = function(&ir, "lasting");
    for marker in ["@threadtalk.forget(", "threadtalk.gate.recall8@", "@__threadtalk_loop("] {
        assert!(!brief.contains(marker), "20 iterations and no more are not worth {marker}: {brief}");
        assert!(lasting.contains(marker), "nobody knows how many iterations: {lasting}");
    }
    assert!(sequences(brief) >= 3, "nor do they make what is around them set-up: {brief}");
}

#[test]
fn straight_functions_and_large_loops_test_for_own_values_inline() {
    let ir = Project::new("a.c", SHAPES).ir("a.c", &["-O2"]);
    let straight = function(&ir, "straight");
    assert!(sequences(straight) >= 30, "{straight}");
    let large = function(&ir, "large");
    assert!(sequences(large) >= 30, "{large}");
    let around = function(&ir, "around");
    assert!(sequences(around) < 10, "set-up for a loop: {around}");
    assert!(around.matches("@threadtalk.read8(").count() >= 10, "{around}");
}

/// 150 accesses before a loop, or in one, each with a loop inside that has two.
const AROUND: &str = r#"
double a[32], b[160];
#define TEN(f, x, k) f(x, k, 0) f(x, k, 2) f(x, k, 4) f(x, k, 6) f(x, k, 8) f(x, k, 10) f(x, k, 12) f(x, k, 14) f(x, k, 16) f(x, k, 18)
#define COPY(x, k, i) b[k + 30 - i] = x[i] + b[k + i + 1];
#define ALL(x) TEN(COPY, x, 0) TEN(COPY, x, 32) TEN(COPY, x, 64) TEN(COPY, x, 96) TEN(COPY, x, 128)
double pairs(int n, volatile double *p, double *q) {
  double s = 0;
  for (int i = 0; i < n; i++) { ALL(p) p += i; while (*q > s) q++; }
  return s;
}
double rows(int n, volatile double *p, double *q) {
  double s = 0;
  for (int i = 0; i < n; i++) { ALL(p) p += i; while (*q > s) { s += q[1] + q[2] + q[3] + q[4] + q[5] + q[6]; ALL(q) q++; } }
  return s;
}
"#;

#[test]
fn what_is_around_a_loop_is_set_up_only_if_the_loop_does_more() {
    let ir = Project::new("a.c", AROUND).options("features=memory").ir("a.c", &["-O1"]);
    let (pairs, rows) = (function(&ir, "pairs"), function(&ir, "rows"));
    let calls = |body: &str| body.matches("@threadtalk.read8(").count() + body.matches("@threadtalk.write8(").count();
    assert_eq!(calls(pairs), 0, "16 reads inside are less than 150 around them: {pairs}");
    assert!(calls(rows) >= 100, "set-up for a loop that does as much in each iteration: {rows}");
}

/// More accesses than may be inlined: two loops in a loop, and code around them.
const HUGE: &str = r#"
double a[64], b[64], c[64];
void huge(int n, int m, volatile double *p) {
  p[0] = p[1] + p[2];
  for (int i = 0; i < m; i++) {
    _Pragma("clang loop unroll(disable) vectorize(disable)") for (int j = 0; j < n; j++) a[j] += b[j];
    p[i] = p[i + 1] + p[i + 2] + p[i + 3] + p[i + 4];
  }
  _Pragma("clang loop unroll(disable) vectorize(disable)") for (int j = 0; j < n; j++) c[j] += b[j];
  p[3] = p[4] + p[5];
}
"#;

#[test]
fn of_a_huge_function_the_loops_that_are_nested_deepest_are_inlined() {
    let ir = |limit: usize| {
        let project = Project::new("a.c", HUGE).options(&format!("features=memory:inline_limit={limit}"));
        project.ir("a.c", &["-O2"])
    };
    let (calls, questions) = (|body: &str| body.matches(".here(").count(), "@__threadtalk_loop(");
    let all = ir(17);
    let all = function(&all, "huge");
    assert_eq!((calls(all), all.matches(questions).count()), (0, 2), "{all}");
    for (limit, left) in [(3, 14), (6, 11)] {
        let ir = ir(limit);
        let some = function(&ir, "huge");
        assert_eq!((calls(some), some.matches(questions).count()), (left, limit / 3), "{some}");
        assert_eq!(sequences(some), limit, "{some}");
    }
    let none = ir(2);
    let none = function(&none, "huge");
    assert_eq!((calls(none), sequences(none), none.matches(questions).count()), (17, 0, 0), "{none}");
}

/// Twenty reads before a loop, in functions of which each is called in another way.
const CALLED: &str = r#"
typedef unsigned long pthread_t;
int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);
double *volatile rows[64];
#define ROW(name) __attribute__((noinline)) double name(volatile double *p, int n) { \
    double s = p[0] + p[3] + p[5] + p[8] + p[10] + p[13] + p[15] + p[18] + p[20] + p[23] \
             + p[25] + p[28] + p[30] + p[33] + p[35] + p[38] + p[40] + p[43] + p[45] + p[48]; \
    for (int i = 0; i < n; i++) s += rows[i][0]; \
    return s; }
static ROW(once)
static ROW(in_loop)
static ROW(inside)
static ROW(by_thread)
static ROW(by_pointer)
static ROW(in_circle)
ROW(elsewhere)
double (*pointer)(volatile double *, int) = by_pointer;
__attribute__((noinline)) static double around(volatile double *p, int n) { return p[0] + inside(p, n); }
static double back(volatile double *p, int n);
__attribute__((noinline)) static double forth(volatile double *p, int n) { return n ? back(p, n - 1) * p[n] : 0; }
__attribute__((noinline)) static double back(volatile double *p, int n) { return in_circle(p, n) + forth(p, n) * p[n]; }
static void *thread(void *p) { *(double *)p = by_thread(p, 3); return 0; }
int main(int argc, char **argv) {
  double s = once((double *)argv, argc) + forth((double *)argv, argc);
  pthread_t threads[4];
  for (int i = 0; i < argc; i++) pthread_create(&threads[i & 3], 0, thread, argv);
  for (int i = 0; i < argc; i++) s += in_loop((double *)argv[i], argc) + around((double *)argv[i], argc);
  return (int)s;
}
"#;

#[test]
fn what_stands_around_loops_is_worth_code_where_the_function_is_called_in_one() {
    let ir = Project::new("a.c", CALLED).options("features=memory").ir("a.c", &["-O2"]);
    let calls = |name: &str| function(&ir, name).matches("@threadtalk.read8(").count();
    for (name, how) in [("once", "by main"), ("by_thread", "by a thread that begins in a loop")] {
        assert!(calls(name) >= 20, "{name} is called once {how}: {}", function(&ir, name));
    }
    for (name, how) in [
        ("in_loop", "by a loop"),
        ("inside", "by what a loop calls"),
        ("in_circle", "by one of two functions that call each other"),
        ("by_pointer", "through a pointer"),
        ("elsewhere", "by other modules"),
    ] {
        assert_eq!(calls(name), 0, "{name} is called {how}: {}", function(&ir, name));
    }
}
