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
