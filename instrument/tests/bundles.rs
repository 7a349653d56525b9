//! Reads that are settled together: which are, and that counts stay what they are.

mod support;

use support::{Project, function};

const SHAPES: &str = r#"
struct body { double x, y, z; int kind; float u, v, w; } *bodies;
int *order;
double out; void other(void);
double members(int n) {
  double s = 0;
  for (int i = 0; i < n; i++) { struct body *b = &bodies[order[i]]; s += b->x * b->z + b->kind; if (s > 9) return s; }
  return s;
}
double pair(int n) {
  double s = 0;
  for (int i = 0; i < n; i++) { struct body *b = &bodies[order[i]]; s += b->x * b->z; if (s > 9) return s; }
  return s;
}
double written(int n) {
  double s = 0;
  for (int i = 0; i < n; i++) { struct body *b = &bodies[order[i]]; s += b->x; out = s; s += b->z; out = s; s += b->kind; if (s > 9) return s; }
  return s;
}
double called(int n) {
  double s = 0;
  for (int i = 0; i < n; i++) { struct body *b = &bodies[order[i]]; s += b->x; other(); s += b->z; other(); s += b->kind; if (s > 9) return s; }
  return s;
}
double far(int n) {
  double s = 0;
  for (int i = 0; i < n; i++) { double *p = (double *)&bodies[order[i]]; s += p[0] + p[300] + p[600]; if (s > 9) return s; }
  return s;
}
double nine(int n) {
  double s = 0;
  for (int i = 0; i < n; i++) { double *p = (double *)&bodies[order[i]]; s += p[0] + p[2] + p[4] + p[6] + p[8] + p[10] + p[12] + p[14] + p[16]; if (s > 9) return s; }
  return s;
}
#define TURNS(name, K) \
  double name(int n) { \
    double s = 0; \
    for (int i = 0; i < n; i++) { \
      double *a[K], t = 0; \
      for (int k = 0; k < K; k++) a[k] = (double *)&bodies[order[K * i + k]]; \
      for (int m = 0; m < 6; m += 2) \
        for (int k = 0; k < K; k++) t += a[k][m]; \
      s += t; \
      if (s > 9) return s; \
    } \
    return s; \
  }
TURNS(eight, 8)
TURNS(ten, 10)
"#;

const BETWEEN: &str = r#"
struct body { double x, y, z; } *bodies;
int *order;
void other(void);
#define LOOP(name, BODY) \
  double name(int n, double h, const double *from) { \
    double s = 0, d; \
    for (int i = 0; i < n; i++) { const struct body *b = &bodies[order[i]], *c = &bodies[order[n - i]]; BODY if (s > 9) return s; } \
    return s; \
  }
LOOP(behind, d = b->x - h; if (d > h) d = __builtin_sqrt(d); else if (d < -h) d = h - d * d; s += d; d = b->y; if (d > h) d = __builtin_sqrt(d); s += d * b->z;)
LOOP(in_one_arm, d = b->x; if (d > h) d = __builtin_sqrt(d) * b->y; s += d * b->z;)
LOOP(left, d = b->x; if (d > h) return s; s += d; d = b->y; if (d > 2 * h) return s; s += d * b->z;)
LOOP(other_called, d = b->x; if (d > h) other(); s += d; d = b->y; if (d > 2 * h) other(); s += d * b->z;)
LOOP(looped, d = b->x; while (d > h) d = __builtin_sqrt(d); s += d; d = b->y; while (d > h) d = __builtin_sqrt(d); s += d * b->z;)
LOOP(one_line, s += b->x * c->y; s += b->y * c->z; s += b->z;)
double lines(int n) {
  double s = 0;
  for (int i = 0; i < n; i++) {
    const struct body *b = &bodies[order[i]], *c = &bodies[order[n - i]];
    s += b->x;
    s += c->y;
    s += b->y * b->z;
    if (s > 9) return s;
  }
  return s;
}
"#;

fn bundles(function: &str) -> usize {
    function.matches("threadtalk.gate.hook.learn@").count()
}

#[test]
fn members_of_a_structure_that_are_read_in_no_order_are_in_a_bundle() {
    let project = Project::new("a.c", SHAPES);
    let ir = project.ir("a.c", &["-O1"]);
    let count = |name| bundles(function(&ir, name));
    assert_eq!(count("members"), 1, "{}", function(&ir, "members"));
    assert_eq!(count("nine"), 2, "six and three: {}", function(&ir, "nine"));
    assert_eq!(count("pair"), 0, "two reads ask as fast by themselves: {}", function(&ir, "pair"));
    assert_eq!(count("written"), 0, "a write between them may change the cells: {}", function(&ir, "written"));
    assert_eq!(count("called"), 0, "what is called may synchronise: {}", function(&ir, "called"));
    let ir = project.ir("a.c", &["-O2", "-fno-slp-vectorize"]);
    let count = |name| bundles(function(&ir, name));
    assert_eq!(count("eight"), 8, "a mark each: {}", function(&ir, "eight"));
    assert_eq!(count("ten"), 0, "each goes before it comes again: {}", function(&ir, "ten"));
    assert_eq!(count("far"), 0, "each has a translation of its own: {}", function(&ir, "far"));
}

#[test]
fn reads_behind_conditions_are_in_a_bundle_with_those_before() {
    let project = Project::new("a.c", BETWEEN);
    let ir = project.ir("a.c", &["-O2", "-fno-math-errno", "-fno-slp-vectorize"]);
    let count = |name| bundles(function(&ir, name));
    assert_eq!(count("behind"), 1, "{}", function(&ir, "behind"));
    assert_eq!(count("in_one_arm"), 0, "y is read in one case only: {}", function(&ir, "in_one_arm"));
    assert_eq!(count("left"), 0, "who returns does not read the others: {}", function(&ir, "left"));
    assert_eq!(count("other_called"), 0, "what is called may synchronise: {}", function(&ir, "other_called"));
    assert_eq!(count("looped"), 0, "a loop may never end: {}", function(&ir, "looped"));
}

#[test]
fn reads_are_asked_at_their_places_where_another_line_reads_between_them() {
    let ir = Project::new("a.c", BETWEEN).ir("a.c", &["-O2", "-fno-slp-vectorize"]);
    let marks = |name| function(&ir, name).matches("cmpb $$0").count();
    assert_eq!((bundles(function(&ir, "one_line")), marks("one_line")), (1, 0), "{}", function(&ir, "one_line"));
    assert_eq!((bundles(function(&ir, "lines")), marks("lines")), (1, 2), "{}", function(&ir, "lines"));
}

#[test]
fn without_optimisations_there_are_none() {
    let ir = Project::new("a.c", SHAPES).options("opt=0").ir("a.c", &["-O1"]);
    assert_eq!(bundles(&ir), 0);
}
