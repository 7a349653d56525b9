//! Which accesses are reported, and which are not.

mod support;

use std::collections::BTreeMap;
use support::{LEVELS, Project, cpu_has};

fn log(file: &str, source: &str, flags: &[&str]) -> BTreeMap<String, usize> {
    let project = Project::new(file, source);
    project.build(&[file], flags);
    project.log()
}

fn expect(pairs: &[(&str, usize)]) -> BTreeMap<String, usize> {
    pairs.iter().map(|(line, count)| (line.to_string(), *count)).collect()
}

/// Sizes that are no power of two go through ranges; volatile is plain.
#[test]
fn sizes_and_directions() {
    let source = "\
long double x; volatile int v; _Complex double z; char c; short s; long l;
__attribute__((noinline)) void f(void) {
  v;
  v = 1;
  x = x + 1;
  c = 2;
  s = 3;
  l = 4;
}
int main(void) { f(); }
";
    let expected = expect(&[
        ("read 4 function f:2 at a.c:3", 1),
        ("write 4 function f:2 at a.c:4", 1),
        ("read_range 10 function f:2 at a.c:5", 1),
        ("write_range 10 function f:2 at a.c:5", 1),
        ("write 1 function f:2 at a.c:6", 1),
        ("write 2 function f:2 at a.c:7", 1),
        ("write 8 function f:2 at a.c:8", 1),
    ]);
    for level in LEVELS {
        assert_eq!(log("a.c", source, &[level]), expected, "{level}");
    }
}

#[test]
fn what_cannot_be_shared_is_skipped() {
    let source = "\
#include <stdio.h>
static const int table[4] = {1, 2, 3, 4};
static __thread int mine;
int main(int argc, char **argv) {
  int local = argc, sum = 0;
  for (int i = 0; i < argc; i++) sum += table[i & 3] + local;
  mine += sum;
  return mine == 77;
}
";
    for level in LEVELS {
        assert_eq!(log("a.c", source, &[level]), expect(&[]), "{level}");
    }
}

/// Comparing an address tells nobody where the memory is: not where an array ends, and not whether two overlap, which
/// vectorised loops test.
#[test]
fn addresses_that_are_only_compared_do_not_leave() {
    let source = "\
__attribute__((noinline)) double f(int n, int k) {
  double own[64], s = 0;
  for (double *p = own, *end = own + n; p != end; p++) *p = n - s, s += 2;
  for (int i = 0; i < n; i++) own[i + k] += 0.5 * own[i];
  for (double *p = own + n; p - own > k; p--) s += p[-1];
  return s;
}
int main(int argc, char **argv) { return f(argc * 24, argc) == 77; }
";
    for level in &LEVELS[1..] {
        assert_eq!(log("a.c", source, &[level]), expect(&[]), "{level}");
    }
    let ir = Project::new("a.c", source).ir("a.c", &["-O2"]);
    assert!(ir.contains("icmp ult ptr"), "no test for overlap is left: {ir}");
    let known =
        "long known; void tell(void) {}\n".to_string() + &source.replace("s = 0;", "s = known = (long)own ^ 5;");
    assert!(!log("a.c", &known, &["-O2"]).is_empty());
}

#[test]
fn a_thread_local_whose_address_leaves_is_shared() {
    let source = "\
int *out;
static __thread int seen;
__attribute__((noinline)) void publish(void) { out = &seen; }
int main(void) {
  publish();
  seen = 1;
  return *out != 1;
}
";
    let lines = log("a.c", source, &["-O0"]);
    assert_eq!(lines["write 4 function main:4 at a.c:6"], 1);
    assert_eq!(lines["write 8 function publish:3 at a.c:3"], 1);
}

#[test]
fn intrinsics_are_reads_and_writes_of_ranges() {
    let source = "\
#include <string.h>
char a[1000], b[1000]; int n = 100;
struct { long x[4]; } p, q;
struct { int x[15]; } r, s;
struct { char x[12]; } t, u;
int work(void) {
  memcpy(a, b, n);
  memmove(a + 1, a, n);
  memset(a, 7, n);
  p = q;
  r = s;
  t = u;
  memset(&r, 0, 24);
  memcpy(a, \"constant\", n);
  char local[200];
  memcpy(local, b, 200);
  return local[n] == 9;
}
int main(void) { return work(); }
";
    let expected = expect(&[
        ("copy 100 function work:6 at a.c:7 library", 1),
        ("copy 100 function work:6 at a.c:8 library", 1),
        ("write_range 100 function work:6 at a.c:9 library", 1),
        ("read 32 function work:6 at a.c:10 library", 1),
        ("write 32 function work:6 at a.c:10 library", 1),
        // Sequences of their own, whose slow ways are those of their parts; not if they may touch parts of granules.
        ("read 32 function work:6 at a.c:11 library", 1),
        ("read 16 function work:6 at a.c:11 library", 1),
        ("read 8 function work:6 at a.c:11 library", 1),
        ("read 4 function work:6 at a.c:11 library", 1),
        ("write 32 function work:6 at a.c:11 library", 1),
        ("write 16 function work:6 at a.c:11 library", 1),
        ("write 8 function work:6 at a.c:11 library", 1),
        ("write 4 function work:6 at a.c:11 library", 1),
        ("copy 12 function work:6 at a.c:12 library", 1),
        ("write 16 function work:6 at a.c:13 library", 1),
        ("write 8 function work:6 at a.c:13 library", 1),
        ("write_range 100 function work:6 at a.c:14 library", 1),
        ("read_range 200 function work:6 at a.c:16 library", 1),
    ]);
    let mut got = log("a.c", source, &["-O0"]);
    got.retain(|line, _| line.ends_with("library"));
    assert_eq!(got, expected);
}

#[test]
fn library_functions_read_and_write_what_the_manual_says() {
    let source = "\
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
char a[100], b[100], *volatile p = a, *volatile q = b; volatile int r; char *line; size_t room;
int compare(const void *x, const void *y) { return *(const char *)x - *(const char *)y; }
int main(void) {
  strcpy(p, \"hello\");
  strcat(p, \" you\");
  r = strlen(p);
  strcpy(q, \"help\");
  r = strcmp(p, q);
  r = strncmp(p, q, 2);
  r = strchr(p, 'l') - p;
  r = atoi(strcpy(q, \"1234 and more\"));
  r = sprintf(q, \"%d-%d\", 12, 3);
  r = snprintf(q, 3, \"%d\", 12345);
  r = strtol(q, 0, 10);
  int ends[2];
  r = pipe(ends);
  r = write(ends[1], p, 9);
  r = read(ends[0], q, 100);
  qsort(q, 9, 1, compare);
  q = strdup(p);
  r = memcmp(p, q, 4);
  r = memchr(p, 'y', 100) - (void *)p;
  bzero(p, 10);
  FILE *file = tmpfile();
  r = fwrite(p, 2, 3, file); rewind(file);
  r = fread(p, 2, 50, file); rewind(file);
  r = fputs(\"two\\nlines\", file); rewind(file);
  r = fgets(p, 10, file) == p;
  r = getline(&line, &room, file);
  return 0;
}
";
    let mut got = log("a.c", source, &["-O0", "-fno-builtin"]);
    got.retain(|line, _| line.ends_with("library"));
    let at = |action: &str, line: u32| format!("{action} function main:8 at a.c:{line} library");
    let expected = [
        ("write_string 6", 9),
        ("read_range 6", 10),
        ("write_string 5", 10),
        ("read_string 10", 11),
        ("write_string 5", 12),
        ("read_range 4", 13),
        ("read_range 4", 13),
        ("read_range 2", 14),
        ("read_range 2", 14),
        ("read_string 3", 15),
        ("write_string 14", 16),
        ("read_range 5", 16),
        ("write_string 5", 17),
        ("write_string 3", 18),
        ("read_range 3", 19),
        ("read_range 9", 22),
        ("write_range 9", 23),
        ("read_range 9", 24),
        ("write_range 9", 24),
        ("read_string 10", 25),
        ("write_string 10", 25),
        ("read_range 4", 26),
        ("read_range 4", 26),
        ("read_range 7", 27),
        ("write_range 10", 28),
        ("read_range 6", 30),
        ("write_range 6", 31),
        ("write_string 5", 33),
        ("write_range 6", 34),
    ];
    let mut counts = BTreeMap::new();
    for (action, line) in expected {
        *counts.entry(at(action, line)).or_default() += 1;
    }
    assert_eq!(got, counts);
}

/// A copy reads before it writes, and all ways to emit it keep to the order of the program.
#[test]
fn events_keep_the_order_of_the_program() {
    let source = "\
struct { long x[2]; } p[4]; int a, b;
__attribute__((noinline)) void f(int n) {
  for (int i = 0; i < n; i++) {
    p[i] = p[i + 1];
    __atomic_fetch_add(&a, 1, __ATOMIC_SEQ_CST);
    b = a;
  }
}
int main(void) { f(2); }
";
    let once = [
        "read 16 loop f:3 at a.c:4 library",
        "write 16 loop f:3 at a.c:4 library",
        "read 4 loop f:3 at a.c:5 atomic",
        "write 4 loop f:3 at a.c:5 atomic",
        "read 4 loop f:3 at a.c:6",
        "write 4 loop f:3 at a.c:6",
    ];
    for level in LEVELS {
        for options in ["opt=1", "opt=0", "inline_limit=0"] {
            let project = Project::new("a.c", source).options(options);
            project.build(&["a.c"], &[level]);
            assert_eq!(project.sequence(), [once, once].concat(), "{level} {options}");
        }
    }
}

/// A function of the user's with a library's name is an ordinary function, and so is one with another signature.
#[test]
fn other_functions_of_the_same_name_are_not_the_librarys() {
    let source = "\
char a[10];
__attribute__((noinline)) static unsigned long strlen(const char *s) { return s[0]; }
int main(void) { a[0] = 1; return strlen(a) != 1; }
";
    let lines = log("a.c", source, &["-O0", "-fno-builtin"]);
    assert!(lines.keys().all(|l| !l.contains("library")), "{lines:?}");
    let ir = Project::new("b.c", "struct s { int x; }; struct s read(int); int main(void) { return read(3).x; }")
        .ir("b.c", &["-O0", "-fno-builtin"]);
    assert!(!ir.contains("__threadtalk_write_range"));
}

#[test]
fn vectors_are_one_access_and_so_are_their_neighbours() {
    let source = "\
float a[1024], b[1024];
__attribute__((noinline)) void f(void) {
  for (int i = 0; i < 1024; i++)
    a[i] = b[i] * 2;
}
int main(void) { f(); }
";
    // Four vectors of 16 bytes, or two of 32, of an unrolled iteration.
    let expected = expect(&[("read 64 loop f:3 at a.c:4", 64), ("write 64 loop f:3 at a.c:4", 64)]);
    assert_eq!(log("a.c", source, &["-O2"]), expected);
    if cpu_has("avx2") {
        assert_eq!(log("a.c", source, &["-O2", "-mavx2"]), expected);
    }
}

/// Each may have been written at a line of its own; one access of two would find two states every time.
#[test]
fn parts_of_elements_that_a_loop_reads_with_gaps_are_accesses_of_their_own() {
    let source = "\
double all[64][3];
__attribute__((noinline)) double f(int n) {
  double s = 0;
  for (int i = 0; i < n; i++) {
    s += all[i][0] * all[i][1];
    if (s > 9) return 0;
  }
  return s;
}
int main(int count, char **arguments) { return f(64 * count); }
";
    assert_eq!(log("a.c", source, &["-O1"]), expect(&[("read 8 loop f:4 at a.c:5", 128)]));
    let without_gaps = source.replace("[3]", "[2]");
    assert_eq!(log("a.c", &without_gaps, &["-O1"]), expect(&[("read 16 loop f:4 at a.c:5", 64)]));
}

#[test]
fn masked_accesses_count_active_lanes() {
    let source = "\
#include <immintrin.h>
int a[64]; volatile int mask_bits = 5;
__attribute__((noinline)) void f(int *p) {
  __mmask8 k = mask_bits;
  __m256i x = _mm256_mask_loadu_epi32(_mm256_setzero_si256(), k, p);
  _mm256_mask_storeu_epi32(p + 8, k, x);
  __m256i places = _mm256_setr_epi32(0, 10, 20, 30, 40, 50, 60, 63);
  _mm256_mask_compressstoreu_epi32(p, k, x);
  x = _mm256_mask_expandloadu_epi32(places, k, p);
  _mm256_mask_storeu_epi32(p + 16, 255, x);
}
int main(void) { f(a); }
";
    let project = Project::new("a.c", source).flags(&["-mavx512f", "-mavx512vl"]);
    let ir = project.ir("a.c", &["-O2"]);
    assert!(
        ir.contains("@threadtalk.hook.read_masked.avx512(") && ir.contains("@threadtalk.hook.write_masked.avx512("),
        "masked load and store"
    );
    if cpu_has("avx512vl") {
        project.build(&["a.c"], &["-O2"]);
        let expected = expect(&[
            ("read 4 function f:3 at a.c:4", 1),
            ("read_masked 8 function f:3 at a.c:5", 1),
            ("write_masked 8 function f:3 at a.c:6", 1),
            ("write_range 8 function f:3 at a.c:8", 1),
            ("read_range 8 function f:3 at a.c:9", 1),
            ("write 32 function f:3 at a.c:10", 1),
        ]);
        assert_eq!(project.log(), expected);
    }
}

/// The program's vectors are of floats, those of cells of integers.
#[test]
fn active_lanes_in_loops_are_asked_at_once() {
    let source = "\
void f(const float *restrict flags, const float *restrict from, float *restrict to, int n) {
  for (int i = 0; i < n; i++)
    if (flags[i] > 0) to[i] = from[i];
}
";
    let ir = Project::new("a.c", source).flags(&["-O3", "-mavx2"]).ir("a.c", &[]);
    for asked in ["@llvm.masked.load.v8i32.p0(", "@llvm.masked.store.v8i32.p0("] {
        assert!(ir.contains(asked), "{asked}\n{ir}");
    }
    let unoptimised = Project::new("a.c", source).flags(&["-O3", "-mavx2"]).options("opt=0").ir("a.c", &[]);
    assert!(unoptimised.contains("@llvm.masked.load.v8f32.p0(") && !unoptimised.contains("@llvm.masked.load.v8i32"));
}

/// The loop vectoriser makes `llvm.masked.gather`.
#[test]
fn gather_is_one_access_for_each_lane() {
    let source = "\
int a[4096], index_of[1024], sum[1024];
void f(void) {
  for (int i = 0; i < 1024; i++)
    sum[i] = a[index_of[i]];
}
int main(void) { for (int i = 0; i < 1024; i++) index_of[i] = i * 4; f(); }
";
    let project = Project::new("a.c", source).flags(&["-O3", "-march=skylake-avx512"]);
    let plain = project.ir("a.c", &[]);
    assert!(plain.contains("llvm.masked.gather"), "the example must contain a gather");
    if cpu_has("avx512f") && cpu_has("avx512bw") {
        project.build(&["a.c"], &[]);
        assert_eq!(project.log()["read 4 loop f:3 at a.c:4"], 1024);
    }
}
