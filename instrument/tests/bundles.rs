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
fn without_optimisations_there_are_none() {
    let ir = Project::new("a.c", SHAPES).options("opt=0").ir("a.c", &["-O1"]);
    assert_eq!(bundles(&ir), 0);
}
