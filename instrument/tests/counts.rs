//! The inlined sequences count what the model of the specification counts, whatever the compiler makes of the program.

mod support;

use std::collections::BTreeSet;
use support::{LEVELS, Project, cpu_has};

/// Each kind of access between two threads, by turns: what thread 1 reads of thread 0's, twice, and back.
const EXCHANGE: &str = r#"
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#define N 200
typedef struct { double a, b; int c; short d; char e, f; } item;
double doubles[N]; int ints[N]; short shorts[N]; char chars[N]; item items[N]; float floats[N]; long double wide[8];
struct __attribute__((packed)) { char pad; int odd; long longer; } packed[8];
volatile double sink;
void fill(double k) {
  for (int i = 0; i < N; i++) {
    doubles[i] = k * i; ints[i] = i; shorts[i] = i; chars[i] = i; floats[i] = i;
    items[i].a = i; items[i].b = k; items[i].c = i; items[i].d = 1; items[i].e = 2; items[i].f = 3;
  }
  for (int i = 0; i < 8; i++) { wide[i] = i; packed[i].odd = i; packed[i].longer = i; }
}
double use(void) {
  double s = 0;
  for (int i = 0; i < N; i++) s += doubles[i];
  for (int i = 0; i < N; i++) s += ints[i];
  for (int i = 0; i < N; i++) s += shorts[i];
  for (int i = 0; i < N; i++) s += chars[i];
  for (int i = 0; i < N; i++) s += floats[i];
  for (int i = 0; i < N; i++) { item *x = items + i; s += x->a + x->b + x->c + x->d + x->e + x->f; }
  for (int i = 0; i < 8; i++) s += wide[i] + packed[i].odd + packed[i].longer;
  for (int i = 1; i < N; i++) doubles[i - 1] = doubles[i];
  return s;
}
void *other(void *arg) {
  sink = use(); sink = use(); fill(3); sink = use();
  return 0;
}
int main(void) {
  fill(2);
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  pthread_join(t, 0);
  sink = use(); sink = use();
}
"#;

/// From the specification, by hand. Granules of `fill`: doubles 400, ints 200, floats 200, shorts 100, chars 50, items
/// 200 x 6 = 1200 (a, b: 2 each, c: 1, d, e and f: 1), long doubles 8 x 3 (10 bytes), packed 8 x 13 bytes: their odd
/// ints and longs lie in all of its granules but need not touch each one, see below.
#[test]
fn exchange_between_two_threads_is_the_same_everywhere() {
    let mut vectors: Vec<Vec<&str>> = LEVELS.iter().map(|l| vec![*l]).collect();
    if cpu_has("avx2") {
        vectors.push(vec!["-O3", "-mavx2"]);
    }
    if cpu_has("avx512f") {
        vectors.push(vec!["-O3", "-mavx512f", "-mprefer-vector-width=512"]);
    }
    if cpu_has("avx512bw") && cpu_has("avx512vl") && cpu_has("avx512dq") {
        vectors.push(vec!["-O3", "-march=x86-64-v4"]);
    }
    let reference = {
        let project = Project::new("exchange.c", EXCHANGE).options("opt=0:inline_limit=0");
        project.build(&["exchange.c"], &["-O0"]);
        project.run().totals()
    };
    let (raw, rar) = by_hand();
    assert_eq!(reference["raw 0->1"], raw);
    assert_eq!(reference["rar 0->1"], rar);
    for flags in vectors {
        for options in ["opt=0", "opt=1", "opt=0:inline_limit=0", "opt=1:inline_limit=0", "opt=1:inline_limit=8"] {
            let project = Project::new("exchange.c", EXCHANGE).options(options);
            project.build(&["exchange.c"], &flags);
            assert_eq!(project.run().totals(), reference, "{flags:?} {options}");
        }
    }
}

/// What thread 1 reads of thread 0's data: `use` twice, the second time without `doubles[0..N-1]`, which it wrote
/// itself.
fn by_hand() -> (u64, u64) {
    let packed: u64 = (0..8u64).map(|i| granules(13 * i + 1, 4) + granules(13 * i + 5, 8)).sum();
    // Different granules of the packed array: an int and a long may share one.
    let mut touched: Vec<u64> = (0..8u64).flat_map(|i| (13 * i + 1) / 4..=(13 * i + 12) / 4).collect();
    touched.sort_unstable();
    touched.dedup();
    let shorts_and_chars = 100 + 50;
    let once = 400 + 200 + 200 + shorts_and_chars + 200 * 6 + 8 * 3;
    // Each short is read, and each char: two and four reads of a granule; of an item's last granule three.
    let reads = 400 + 200 + 200 + 200 + 200 + 200 * (2 + 2 + 1 + 3) + 8 * 3 + packed;
    let raw = once + touched.len() as u64;
    // The shift within `doubles` reads all but the first: foreign ones in the first call.
    let first_shift = 2 * 199;
    let second = reads - 2 * 199;
    let last_double_again = 2;
    (raw, reads - raw + first_shift + second + last_double_again)
}

fn granules(address: u64, bytes: u64) -> u64 {
    (address + bytes - 1) / 4 - address / 4 + 1
}

/// Atomics: load, store, read-modify-write, compare-exchange that succeeds and one that fails.
#[test]
fn atomics_count_as_reads_and_writes() {
    let source = r#"
#include <pthread.h>
#include <stdatomic.h>
atomic_int a, b, c, d; atomic_long e;
void *other(void *arg) {
  atomic_load(&a);                       // raw 1
  atomic_store(&b, 2);                   // nothing
  atomic_fetch_add(&c, 1);               // raw 1, then own
  int want = 5;
  atomic_compare_exchange_strong(&d, &want, 6);   // fails: raw 1, still thread 0's
  atomic_load(&d);                       // rar 1
  long old = 7;
  atomic_compare_exchange_strong(&e, &old, 8);    // succeeds: raw 2, then own
  atomic_load(&e);                       // own
  return 0;
}
int main(void) {
  atomic_store(&a, 1); atomic_store(&b, 1); atomic_store(&c, 1); atomic_store(&d, 1); atomic_store(&e, 7);
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  pthread_join(t, 0);
  atomic_load(&a);                       // own
  atomic_load(&b);                       // raw back
  atomic_load(&c);                       // raw back
  atomic_load(&d);                       // own
  atomic_load(&e);                       // raw back, 2
}
"#;
    for level in LEVELS {
        let project = Project::new("atomics.c", source);
        project.build(&["atomics.c"], &[level]);
        let run = project.run();
        let expected = [("rar 0->1", 1), ("raw 0->1", 1 + 1 + 1 + 2), ("raw 1->0", 1 + 1 + 2)];
        let expected = expected.into_iter().map(|(k, v)| (k.to_string(), v)).collect();
        assert_eq!(run.totals(), expected, "{level}: {}", run.stderr);
        assert!(run.events().iter().all(|line| line.ends_with(" atomic")), "{}", run.stderr);
    }
}

/// Blocks of a matrix, updated row by row for each of their columns: nests that are settled as a whole where the sizes
/// fit, and others.
const BLOCKS: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static double *a[3], *b[3], *c[3];
__attribute__((noinline)) static void update(double *to, const double *left, const double *upper, long size, long stride) {
  for (long k = 0; k < size; k++)
    for (long i = 0; i < size; i++)
      for (long j = 0; j < size; j++)
        to[i * stride + j] -= left[i * stride + k] * upper[k * stride + j];
}
__attribute__((noinline)) static void triangle(double *to, long size, long stride) {
  for (long k = 0; k < size; k++)
    for (long i = k + 1; i < size; i++) {
      to[i * stride + k] /= to[k * stride + k];
      for (long j = k + 1; j < size; j++) to[i * stride + j] -= to[i * stride + k] * to[k * stride + j];
    }
}
/* Of the rows that count, some are left out. */
__attribute__((noinline)) static double picked(const double *from, const long *pick, long rows, long size) {
  double sum = 0;
  for (long k = 0; k < 3; k++)
    for (long i = 0; i < rows; i++)
      if (pick[i])
        for (long j = 0; j < size; j++) sum += from[i * size + j];
  return sum;
}
/* Where the operand is is read again and again, as in functions that the compiler makes of OpenMP's loops. */
typedef double *place __attribute__((may_alias));
__attribute__((noinline)) static void reread(double *to, const double *left, place upper[static 1], long size, long stride) {
  for (long i = 0; i < size; i++)
    for (long k = 0; k < size; k++) {
      const double *rows = *upper;
      for (long j = 0; j < size; j++) to[i * stride + j] -= left[i * stride + k] * rows[k * stride + j];
    }
}
/* The nest may change what its addresses are computed from. */
__attribute__((noinline)) static void shifted(long *to, const long shift[static 1], long rows, long size) {
  for (long i = 0; i < rows; i++) {
    long by = *shift;
    for (long j = 0; j < size; j++) to[by + i * size + j] = 2 * i;
  }
}
/* Sums are not vectorised, but unrolled: what that leaves over may be nothing. */
__attribute__((noinline)) static void product(double *to, const double *left, const double *right, long size) {
  for (long i = 0; i < size; i++)
    for (long j = 0; j < size; j++) {
      double sum = 0;
      for (long k = 0; k < size; k++) sum += left[i * size + k] * right[k * size + j];
      to[i * size + j] = sum;
    }
}
static void fill(double *m, long n) { for (long i = 0; i < n; i++) m[i] = i % 7 + (i % 25 ? 0 : 9); }
static long pick[24];
volatile double sink;
static long counts[3][30 * 32], apart = 3;
static volatile long width = 32;
static void *other(void *arg) {
  static const long sizes[] = {16, 13, 24}, strides[] = {16, 20, 24};
  for (int s = 0; s < 3; s++) {
    fill(c[s], 24 * 24);
    for (int times = 0; times < 3; times++) {
      update(c[s], a[s], b[s], sizes[s], strides[s]);
      update(c[s], c[s] + 1, b[s], sizes[s] - 1, strides[s]);
      update(c[s], a[s] + (s - 1), a[s], sizes[s] - 1, strides[s]);
      triangle(c[s], sizes[s], strides[s]);
      sink = picked(a[s], pick, 24, 24);
      reread(c[s], a[s], b + s, sizes[s], strides[s]);
      shifted(counts[s], &apart, 20, width);
      shifted(counts[s], counts[s] + 5 * 32 + 7, 21, width);
      for (int less = 0; less < 4; less++) product(c[s], a[s], b[s], sizes[s] - less);
    }
    update(b[s], a[s], c[s], sizes[s], strides[s]);
  }
  return 0;
}
int main(void) {
  for (int s = 0; s < 3; s++) {
    a[s] = malloc(5000), b[s] = malloc(5000), c[s] = malloc(5000);
    fill(a[s], 24 * 24 + 1), fill(b[s], 24 * 24);
  }
  for (int i = 0; i < 24; i++) pick[i] = i % 5 != 2;
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  pthread_join(t, 0);
  for (int s = 0; s < 3; s++) triangle(c[s], 16, 24);
  for (int s = 0; s < 3; s++)
    for (int i = 0; i < 30 * 32; i++) sink += counts[s][i];
}
"#;

/// Rows on both sides of where two chunks of memory meet, read in an order that makes all of them strays of one loop.
const SEAM: &str = r#"
#include <pthread.h>
static double memory[16384] __attribute__((aligned(65536)));
static long pick[24];
static double *rows = memory + 8192 - 100;
volatile double sink;
__attribute__((noinline)) static double picked(const double *from, const long *pick, long rows, long size) {
  double sum = 0;
  for (long i = 0; i < rows; i++)
    if (pick[i])
      for (long j = 0; j < size; j++) sum += from[i * size + j];
  return sum;
}
static void *other(void *arg) {
  for (int times = 0; times < 9; times++) sink = picked(rows, pick, 24, 24);
  return 0;
}
int main(void) {
  for (int i = 0; i < 24 * 24; i++) rows[i] = i;
  for (int i = 0; i < 24; i++) pick[i] = i % 5 != 2;
  pthread_t t;
  pthread_create(&t, 0, other, 0);
  pthread_join(t, 0);
}
"#;

/// 19 of 24 rows of 48 granules and the list of all, each nine times.
#[test]
fn rows_on_the_seam_of_two_chunks_are_counted() {
    for options in ["opt=0", "opt=1"] {
        let project = Project::new("seam.c", SEAM).options(options);
        project.build(&["seam.c"], &["-O2"]);
        let totals = project.run().totals();
        assert_eq!((totals["raw 0->1"], totals["rar 0->1"]), (19 * 48 + 48, 8 * (19 * 48 + 48)), "{options}");
    }
}

#[test]
fn nests_that_are_settled_as_a_whole_count_what_they_access() {
    for level in ["-O1", "-O2", "-O3"] {
        let totals = |options: &str| {
            let project = Project::new("blocks.c", BLOCKS).options(options);
            project.build(&["blocks.c"], &[level]);
            project.run().totals()
        };
        let reference = totals("opt=0");
        assert!(reference["rar 0->1"] > 100_000, "{reference:?}");
        assert_eq!(totals("opt=1"), reference, "{level}");
    }
    let ir = Project::new("blocks.c", BLOCKS).ir("blocks.c", &["-O2"]);
    for name in ["@update(", "@reread(", "@shifted(", "@product("] {
        let function = ir.split("\ndefine ").find(|f| f.lines().next().is_some_and(|l| l.contains(name))).unwrap();
        let questions = function.lines().filter(|l| l.contains(" call ") && l.contains("@__threadtalk_nest("));
        assert_eq!(questions.count(), 1, "{function}");
    }
}

/// What a thread knows of reuse it knows by site.
#[test]
fn a_loop_is_offered_with_the_sites_at_which_it_counts() {
    let source = r#"
struct point { double x, y, z, mass; } points[100], other[100];
__attribute__((noinline)) double nearness(struct point *p, struct point *q) {
  double sum = 0;
  for (int i = 0; i < 100; i++) {
    double near = p->x * q[i].x + p->y * q[i].y + p->z * q[i].z;
    sum += near * q[i].mass;
    p->mass += near;
  }
  return sum;
}
int main(void) { return nearness(points, other) > 1; }
"#;
    let project = Project::new("a.c", source);
    project.build(&["a.c"], &["-O2"]);
    let log = project.offers();
    let site = |line: &String, kind: &str| Some(line.strip_prefix(kind)?.split_once(' ')?.1.to_string());
    let at = |kind: &str| -> BTreeSet<String> { log.iter().filter_map(|line| site(line, kind)).collect() };
    let offered = at("offered read ");
    assert_eq!(offered.len(), 2, "the members at one line, and the one at another: {log:?}");
    assert!(offered.is_subset(&at("read ")), "{log:?}");
}

/// 125 vectors of an array's 500 elements are two to an iteration, which the last one leaves after the first.
#[test]
fn whole_iterations_are_offered_of_a_loop_that_is_left_between_two_accesses() {
    let source = "\
double to[500], from[500];
__attribute__((noinline)) void f(void) {
  for (int i = 0; i < 500; i++)
    to[i] += from[i];
}
int main(void) { f(); }
";
    let ir = Project::new("a.c", source).ir("a.c", &["-O2", "-march=x86-64"]);
    assert!(ir.lines().any(|line| line.contains("@__threadtalk_loop(") && line.contains("i64 62,")), "{ir}");
}

/// Beyond 4 000 blocks counters do without trees of dominators in functions without loops; accesses that share a look
/// into the directory need them there as well.
#[test]
fn many_blocks_share_a_look_only_where_one_dominates_the_other() {
    let tests: String = (0..2100)
        .map(|i| match i % 5 {
            0 => format!("  if (x == {i}) {{ __asm__ volatile(\"\"); s += t->a[{}] + t->b; }}\n", i % 7),
            1 => format!("  if (x < {i}) {{ __asm__ volatile(\"\"); s += t->c; }}\n"),
            _ => format!("  if (x == {i}) __asm__ volatile(\"\");\n"),
        })
        .collect();
    let source = format!(
        "#include <pthread.h>
struct t {{ int a[7], b, c; }} all;
__attribute__((noinline)) int f(int x, struct t *t) {{
  int s = 0;
{tests}  return s;
}}
volatile int sink;
void *other(void *t) {{ for (int x = 2090; x < 2100; x++) sink = f(x, t); return 0; }}
int main(void) {{
  for (int i = 0; i < 7; i++) all.a[i] = i;
  all.b = all.c = 1;
  pthread_t t;
  pthread_create(&t, 0, other, &all);
  pthread_join(t, 0);
}}
"
    );
    let totals = |options: &str| {
        let project = Project::new("a.c", &source).options(options);
        project.build(&["a.c"], &["-O1"]);
        project.run().totals()
    };
    let all = totals("opt=1");
    // 2090 and 2095 are equal to a number of the first kind: an element of `a` each, and `b` twice. Of the second kind
    // 2091 is more than one value and 2096 than six: `c` seven times.
    assert_eq!((all["raw 0->1"], all["rar 0->1"]), (4, 7), "{all:?}");
    assert_eq!(all, totals("opt=0:inline_limit=0"));
}
