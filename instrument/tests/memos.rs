//! Reads of loop nests that remember the state seen last: where they do, and that counts stay what they are.

mod support;

use std::collections::BTreeMap;
use support::{LEVELS, Project, cpu_has, function};

const SHAPES: &str = r#"
double a[64], b[64], out; long order[64]; void other(void);
double nest(int n) {
  double s = 0;
  for (int r = 0; r < n; r++)
    for (int i = 0; i < n; i += 3) { if (a[i] > out) return s; s += b[i]; }
  return s;
}
double calls(int n) {
  double s = 0;
  for (int r = 0; r < n; r++) { s += a[r]; if (s > 9) other(); }
  return s;
}
double gather(int n) {
  double s = 0;
  for (int i = 0; i < n; i++) { if (s > 9) return s; s += b[order[i]]; }
  return s;
}
double sqrt(double), own(double);
__attribute__((noinline)) double hypot(double x, double y) { return own(x) + y; }
double lengths(int n) {
  double s = 0;
  for (int r = 0; r < n; r++) { s += sqrt(a[r] * b[r]); if (s > out) return s; }
  return s;
}
double angles(int n) {
  double s = 0;
  for (int r = 0; r < n; r++) { s += hypot(a[r], b[r]); if (s > out) return s; }
  return s;
}
int logb(int level);
double levels(int n) {
  double s = 0;
  for (int r = 0; r < n; r++) { s += a[r] * logb(r); if (s > out) return s; }
  return s;
}
struct list { struct list *next; } *first;
int chain(void) {
  int n = 0;
  for (struct list *l = first; l; l = l->next) n++;
  return n;
}
"#;

#[test]
fn reads_of_nests_without_calls_have_memos() {
    let project = Project::new("a.c", SHAPES);
    let ir = project.ir("a.c", &["-O1"]);
    let nest = function(&ir, "nest");
    assert!(nest.matches("threadtalk.gate.recall8@").count() >= 2, "{nest}");
    assert!(nest.matches("@threadtalk.forget").count() >= 2, "at the entry and at each exit: {nest}");
    let lengths = function(&ir, "lengths");
    assert!(lengths.contains("@sqrt(") && lengths.matches("threadtalk.gate.recall8@").count() >= 2, "{lengths}");
    for name in ["calls", "chain", "angles", "levels"] {
        let body = function(&ir, name);
        assert!(!body.contains("threadtalk.recall") && !body.contains("threadtalk.forget"), "{body}");
    }
    let gather = function(&ir, "gather");
    assert_eq!(gather.matches("threadtalk.gate.recall8@").count(), 1, "the order, not what it leads to: {gather}");
}

#[test]
fn without_optimisation_there_are_none() {
    let ir = Project::new("a.c", SHAPES).options("opt=0").ir("a.c", &["-O1"]);
    assert!(!ir.contains("threadtalk.recall") && !ir.contains("threadtalk.forget"));
}

/// Left at two places, states that change on the way, and a counter that must be asked after ten events.
const COUNTS: &str = r#"
#include <pthread.h>
static volatile double a[64], b[64]; static volatile long stop = 40; volatile double sink;
double nest(int rounds) {
  double s = 0;
  for (int r = 0; r < rounds; r++) {
    for (int i = 0; i < 64; i++) {
      s += a[i];
      if (i == stop && (r & 1)) break;
      s += b[63 - i];
    }
    if (s > 1e9) return -1;
  }
  return s;
}
void *fills(void *x) { for (int i = 32; i < 64; i++) a[i] = i; return 0; }
void *reads(void *x) { sink = nest(4); sink = nest(6); return 0; }
void run(void *(*body)(void *)) { pthread_t t; pthread_create(&t, 0, body, 0); pthread_join(t, 0); }
int main(void) {
  for (int i = 0; i < 64; i++) a[i] = b[i] = i;
  run(fills);
  run(reads);
}
"#;

/// By hand: 10 rounds read 64 of each array, or 41 of `a` and 40 of `b`. Of the lower half of `a`: 10 x 32 reads, of
/// the upper one 5 x 32 + 5 x 9, of `b` 5 x 64 + 5 x 40; two granules each, the first of each element is no reuse.
#[test]
fn counts_are_those_of_the_model_however_the_nest_is_left() {
    let (raw_0, raw_1) = (2 * (32 + 64), 2 * 32);
    let (rar_0, rar_1) = (2 * (320 + 520) - raw_0, 2 * 205 - raw_1);
    let expected = [("rar 0->2", rar_0), ("rar 1->2", rar_1), ("raw 0->2", raw_0), ("raw 1->2", raw_1)];
    let expected = expected.into_iter().map(|(k, v)| (k.to_string(), v)).collect();
    for level in LEVELS {
        for options in ["opt=0", "opt=1"] {
            let project = Project::new("counts.c", COUNTS).options(options);
            project.build(&["counts.c"], &[level]);
            let run = project.run();
            assert_eq!(run.totals(), expected, "{level} {options}: {}", run.stderr);
        }
    }
}

/// More reads than memos, of all sizes, also at odd addresses and several at one line.
const SIZES: &str = r#"
#include <pthread.h>
#include <stdint.h>
#define N 97
static char bytes[N * 8]; static short shorts[N]; static float floats[N]; static double doubles[N][4];
struct __attribute__((packed)) odd { char pad; int x; double y; } odds[N];
volatile double sink; volatile int end = N;
double use(void) {
  double s = 0;
  for (int r = 0; r < 9; r++)
    for (int i = 0; i < end; i++) {
      s += bytes[i] + bytes[2 * i] + shorts[i] + floats[i] + odds[i].x + odds[i].y;
      s += doubles[i][0] + doubles[i][1] + doubles[i][2] + doubles[i][3];
    }
  for (int r = 0; r < 5; r++)
    for (int i = 0; i < N; i++) s += floats[i] * r + doubles[i][r & 3];
  for (int i = 0; i < N; i++) doubles[i][i & 3] = s;
  for (int r = 0; r < 7; r++)
    for (int i = 0; i + 4 < end; i += 2)
      s += floats[i] + floats[i + 1] + floats[i + 2] + floats[i + 3] + floats[i + 4] + shorts[i] + shorts[i + 1]
        + doubles[i][0] + doubles[i][1] + doubles[i][2] + doubles[i][3] + doubles[i + 1][0] + doubles[i + 1][1]
        + doubles[i + 1][2] + doubles[i + 1][3] + odds[i].x + odds[i].y + odds[i + 1].x + odds[i + 1].y;
  return s;
}
void *other(void *x) { sink = use(); sink = use(); return 0; }
int main(void) {
  for (int i = 0; i < N; i++) {
    bytes[i] = bytes[N + i] = i; shorts[i] = i; floats[i] = i; odds[i].x = i; odds[i].y = i;
    for (int k = 0; k < 4; k++) doubles[i][k] = k;
  }
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  pthread_join(t, 0);
  sink = use(); sink = use();
}
"#;

#[test]
fn nothing_changes_by_remembering() {
    let mut flags: Vec<Vec<&str>> = LEVELS.iter().map(|l| vec![*l, "-ffast-math"]).collect();
    if cpu_has("avx2") {
        flags.push(vec!["-O3", "-ffast-math", "-mavx2"]);
    }
    for flags in flags {
        let [with, without] = ["opt=1", "opt=0"].map(|options| {
            let project = Project::new("sizes.c", SIZES).options(options);
            project.build(&["sizes.c"], &flags);
            let run = project.run();
            // By line and region: members that one line reads are one site, if there are optimisations.
            let mut sums: BTreeMap<(String, String), u64> = BTreeMap::new();
            for event in run.events() {
                let [kind, threads, count, place] = event.splitn(4, ' ').collect::<Vec<_>>()[..] else {
                    panic!("{event}")
                };
                *sums.entry((format!("{kind} {threads}"), place.into())).or_default() += count.parse::<u64>().unwrap();
            }
            sums
        });
        assert!(without.len() > 10, "{without:?}");
        assert_eq!(with, without, "{flags:?}");
    }
}
