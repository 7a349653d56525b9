//! Counts derived from the counters of control flow equal those of a counter on each block.

mod support;

use std::collections::BTreeMap;
use support::flow::{Counts, counts};
use support::{LEVELS, Project};

/// Runs a program at every level, alone and with the memory instrumentation, and compares each block's derived count
/// with its own. Returns the counts without optimisation.
fn check(file: &str, source: &str, flags: &[&str]) -> BTreeMap<String, Counts> {
    let mut first = None;
    for level in LEVELS {
        let more = ["memory,control,cache", "memory,control:inline_limit=0", "memory,control:inline_limit=4"];
        let all = if level == "-O2" { &more[..] } else { &[] };
        for features in ["control", "memory,control"].iter().chain(all) {
            let options = format!("features={features}:control_all=1");
            let project = Project::new(file, source).options(&options).flags(flags);
            project.build(&[file], &[level]);
            let run = project.run_counting();
            let counts = counts(&run.stderr);
            assert!(!counts.is_empty());
            for (name, function) in &counts {
                let what = format!("{name} of {file} at {level} with {features}");
                assert!(!function.uncounted, "{what} is not counted");
                assert_eq!(function.derived, function.own, "{what}");
            }
            first.get_or_insert(counts);
        }
    }
    first.expect("at least one level")
}

#[test]
fn loops_switches_and_early_returns() {
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
static volatile int seed = 7;
__attribute__((noinline)) static int pick(int i) { seed = seed * 1103515245 + 12345; return (seed >> 16 & 0x7fff) % i; }
__attribute__((noinline)) static int search(const int *a, int n, int what) {
  for (int i = 0; i < n; i++) {
    if (a[i] == what) return i;
    if (a[i] > 90) continue;
    while (pick(5) != 0) { if (pick(100) == 0) return -2; }
  }
  return -1;
}
__attribute__((noinline)) static int decide(int x) {
  switch (x) {
    case 0: return 3;
    case 1: x += 5; /* falls through */
    case 2: x *= 2; break;
    case 7: case 8: case 9: do { x -= 2; } while (x > 0); break;
    default: if (x & 1) return x; x = x ? x / 2 : 1;
  }
  return x;
}
__attribute__((noinline)) static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__attribute__((noinline)) static int jumps(int n) {
  int k = 0;
again:
  if (n % 3 == 0) { n--; goto middle; }
  n -= 2;
  k++;
middle:
  k += 2;
  if (n > 0) goto again;
  return k;
}
__attribute__((noinline)) static double sums(double *a, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) a[i] = i * 0.5;
  for (int i = 0; i < n; i += 3) if (a[i] > n / 4) s += a[i]; else s -= 1;
  for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) s += a[j] * a[i];
  return s;
}
int main(void) {
  int a[100]; long t = 0; static double b[200];
  for (int i = 0; i < 100; i++) a[i] = pick(100);
  for (int i = 0; i < 40; i++) t += search(a, 100, pick(130)) + decide(pick(12)) + jumps(pick(30));
  t += fib(15) + (long)sums(b, 200) + (long)sums(b, 1) + (long)sums(b, 0);
  printf("%ld\n", t);
  if (t == 12345) exit(3);
  return 0;
}
"#;
    let counts = check("flow.c", source, &[]);
    // fib(15): 1973 calls, each a visit of its entry.
    assert_eq!(counts["fib"].entries, 1973);
}

#[test]
fn computed_targets() {
    let source = r#"
#include <stdio.h>
static int run(const unsigned char *code, int n) {
  static void *const labels[] = {&&add, &&twice, &&back, &&skip, &&end};
  int acc = 1, at = 0, steps = 0;
  goto *labels[code[at++]];
add: acc += 3; if (++steps > n) return acc; goto *labels[code[at++]];
twice: acc *= 2; if (acc > 1000) acc = 1; goto *labels[code[at++]];
back: if (steps++ < n) { at = 0; goto add; } goto *labels[code[at++]];
skip: at++; if (acc & 1) goto twice; goto *labels[code[at++]];
end: return acc;
}
int main(void) {
  const unsigned char code[] = {0, 1, 3, 4, 0, 1, 1, 2, 4};
  printf("%d %d\n", run(code, 50), run(code + 4, 3));
}
"#;
    check("labels.c", source, &[]);
}

#[test]
fn jumps_out_of_functions() {
    let source = r#"
#include <setjmp.h>
#include <stdio.h>
static jmp_buf home;
static volatile int calls;
__attribute__((noinline)) static void step(int i) { calls++; if (i % 3 == 1) longjmp(home, i + 1); calls++; }
__attribute__((noinline)) static int attempt(int i) {
  volatile int tries = 0;
  int came = setjmp(home);
  if (came > 5) return came;
  if (tries++ < 3) { step(i); step(i + 1); }
  return tries;
}
int main(void) {
  int t = 0;
  for (int i = 0; i < 20; i++) t += attempt(i);
  printf("%d %d\n", t, calls);
}
"#;
    check("jumps.c", source, &[]);
}

#[test]
fn exceptions() {
    let source = r#"
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
static volatile int seed = 3;
__attribute__((noinline)) static int pick(int n) { seed = seed * 1103515245 + 12345; return (seed >> 16 & 0x7fff) % n; }
struct Guard { int *n; explicit Guard(int *n) : n(n) {} ~Guard() { ++*n; if (*n > 5) *n -= 1; } };
__attribute__((noinline)) static int deep(int n) {
  if (n == 0) throw std::runtime_error("bottom");
  if (pick(7) == 0) throw n;
  return deep(n - 1) + 1;
}
__attribute__((noinline)) static int between(int n, int *closed) {
  Guard guard(closed);
  std::string name = "abc" + std::to_string(n);
  int r = deep(n) + (int)name.size();
  for (int i = 0; i < 3; i++) r += pick(2) ? deep(0) : 1;
  return r;
}
__attribute__((noinline)) static int through(int n) { int r = pick(3); r += deep(n); return r * 2; }
__attribute__((noinline)) static int tries(int n) {
  int closed = 0, sum = 0;
  for (int i = 0; i < n; i++) {
    try { sum += between(i % 5, &closed); }
    catch (const std::exception &e) { sum += e.what()[0]; try { sum += through(i % 3); } catch (...) { sum += 2; } }
    catch (int k) { sum += k; if (k > 3) continue; sum++; }
  }
  return sum + closed;
}
static int silent(int n) noexcept {
  std::vector<int> v;
  for (int i = 0; i < n; i++) v.push_back(pick(9));
  return v.at(n / 2);
}
int main() {
  int t = tries(60) + silent(50);
  try { std::vector<int>().at(1); } catch (const std::out_of_range &) { t++; }
  std::printf("%d\n", t);
}
"#;
    check("throws.cc", source, &[]);
}

/// Loops whose counters wait in registers until they are left: by their condition, breaks, gotos, returns and calls
/// behind them that throw, jump or do not come back; entered often, once and never; inside one another.
const WAITING: &str = r#"
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
static volatile int seed = 11;
static jmp_buf home;
__attribute__((noinline)) static int pick(int n) { seed = seed * 1103515245 + 12345; return (seed >> 16 & 0x7fff) % n; }
__attribute__((noinline)) static int collatz(unsigned n) {
  int steps = 0;
  while (n != 1) { if (n & 1) n = 3 * n + 1; else n /= 2; steps++; if (steps > 90) return -1; }
  return steps;
}
__attribute__((noinline)) static int find(const int *a, int n, int what) {
  int odd = 0;
  for (int i = 0; i < n; i++) {
    if (a[i] == what) return i;
    if (a[i] & 1) { odd++; continue; }
    if (a[i] > 95 && odd > 3) break;
  }
  if (odd > 20) throw odd;
  return -odd;
}
__attribute__((noinline)) static long rows(const int *a, int n, int m) {
  long s = 0;
  for (int i = 0; i < n; i++)
    for (int j = i; j < m; j++) {
      if (a[j] > a[i]) s += a[j]; else if (a[j] == 7) goto out;
      for (int k = a[j] & 3; k > 0; k >>= 1) s ^= k;
    }
out:
  return s;
}
__attribute__((noinline)) static int jump(const int *a, int n, int least) {
  int at = 0, s = 0;
  while (s < least) { if (at >= n) break; s += a[at] & 1 ? 1 : 2; at++; }
  if (s & 1) longjmp(home, s);
  return at;
}
static void *ends(void *arg) {
  const int *a = (const int *)arg; int s = 0;
  for (int i = 0; i < 100 && s < 60; i++) if (a[i] & 1) s++; else if (a[i] & 2) s += 2;
  if (s & 1) pthread_exit(arg);
  return 0;
}
static void last(const int *a) {
  int s = 0;
  for (int i = 0; i < 100; i++) if (a[i] > 50) s++; else s += 2;
  std::printf("%d\n", s);
  std::exit(0);
}
int main() {
  static int a[100]; volatile long t = 0;
  for (int i = 0; i < 100; i++) a[i] = pick(100);
  for (int i = 0; i < 50; i++) t += collatz(i + 1);
  for (int i = 0; i < 60; i++) try { t += find(a, i * 2 > 100 ? 100 : i * 2, pick(120)); } catch (int odd) { t += odd; }
  t += rows(a, 20, 100) + rows(a, 0, 5) + rows(a, 5, 0);
  for (volatile int i = 0; i < 20; i++) { int came = setjmp(home); t += came ? came : jump(a, i * 5, i * 3); }
  for (int i = 0; i < 4; i++) { pthread_t p; pthread_create(&p, 0, ends, a); pthread_join(p, 0); a[i]++; }
  last(a);
}
"#;

#[test]
fn counters_that_wait() {
    let counts = check("waiting.cc", WAITING, &[]);
    assert_eq!(counts["_ZL4endsPv"].entries, 4, "{:?}", counts.keys());
    let project = Project::new("waiting.cc", WAITING).options("features=control");
    let ir = project.ir("waiting.cc", &["-O2", "-fno-discard-value-names"]);
    for name in ["_ZL7collatzj", "_ZL4findPKiii"] {
        let body = support::function(&ir, name);
        assert!(body.contains("%threadtalk.count"), "{name} keeps no counter:\n{body}");
    }
}

#[test]
fn what_others_may_wait_for_is_counted_at_once() {
    let source = "\
int volatile_loop(volatile int *go) { int n = 0; while (!*go) if (n & 1) n += 3; else n++; return n; }
int atomic_loop(int *go) { int n = 0; while (!__atomic_load_n(go, 0)) if (n & 1) n += 3; else n++; return n; }
void work(int);
int calling_loop(int *go) { int n = 0; while (!*go) { if (n & 1) n += 3; else n++; work(n); } return n; }
int own_loop(int *go) { int n = 0; while (*go++) if (*go & 1) n += 3; else n++; return n; }
";
    let project = Project::new("a.c", source).options("features=control");
    let ir = project.ir("a.c", &["-O1", "-fno-discard-value-names"]);
    for (name, waits) in [("volatile_loop", false), ("atomic_loop", false), ("calling_loop", false), ("own_loop", true)]
    {
        let body = support::function(&ir, name);
        assert_eq!(body.contains("%threadtalk.count"), waits, "{name}:\n{body}");
    }
}

#[test]
fn threads_and_libraries() {
    let source = r#"
#include <pthread.h>
#include <stdio.h>
static pthread_barrier_t all;
static double rows[8][64];
static void *work(void *arg) {
  long me = (long)arg;
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < 64; i++) rows[me][i] += me * i;
    if (me & 1) for (int i = 0; i < me * 8; i++) rows[me][i] *= 0.5;
    pthread_barrier_wait(&all);
  }
  if (me == 3) pthread_exit(0);
  return arg;
}
int main(void) {
  pthread_t t[8];
  pthread_barrier_init(&all, 0, 8);
  for (long i = 0; i < 8; i++) pthread_create(t + i, 0, work, (void *)i);
  for (int i = 0; i < 8; i++) pthread_join(t[i], 0);
  printf("%g\n", rows[7][63]);
}
"#;
    let counts = check("threads.c", source, &[]);
    assert_eq!(counts["work"].entries, 8);
    assert!(counts["main"].calls.contains(&(1, "work".to_string())), "{:?}", counts["main"].calls);
}

#[test]
fn openmp() {
    let source = r#"
#include <stdio.h>
static double a[1000];
static long tree(int n) {
  if (n < 2) return n;
  long l, r;
  #pragma omp task shared(l)
  l = tree(n - 1);
  r = tree(n - 2);
  #pragma omp taskwait
  return l + r;
}
int main(void) {
  double s = 0; long t = 0;
  #pragma omp parallel for schedule(dynamic, 7) reduction(+ : s) num_threads(4)
  for (int i = 0; i < 1000; i++) { a[i] = i; if (i % 3) s += a[i]; }
  #pragma omp parallel num_threads(4)
  {
    #pragma omp for schedule(static)
    for (int i = 1; i < 999; i++) a[i] = a[i] * 2;
    #pragma omp single
    t = tree(10);
  }
  printf("%g %ld\n", s, t);
}
"#;
    check("omp.c", source, &["-fopenmp"]);
}

#[test]
fn times_are_taken_of_what_runs_long_and_each_entry_has_its_exit() {
    let source = r#"
#include <setjmp.h>
static double a[1000]; static volatile int k = 1;
__attribute__((noinline)) static int small(int x) { return x * k; } __attribute__((noinline)) int straight(int x) { return x + k; }
__attribute__((noinline)) static int recursive(int n) { return n < 2 ? n : recursive(n - 1) + recursive(n - 2); }
__attribute__((noinline)) static double large(int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[j] += s + i;
  if (n > 50) return 1;
  for (int i = 0; i < n; i++) s += small(i);
  return s;
}
int main(void) {
  int t = recursive(5) + straight(2);
  for (int i = 0; i < 3; i++) t += large(20 * i);
  return t == 7;
}
"#;
    for level in LEVELS {
        let project = Project::new("times.c", source).options("features=control");
        project.build(&["times.c"], &[level]);
        let lines = project.sequence();
        let mut open = Vec::new();
        for line in &lines {
            match line.split_once(' ').expect("a region") {
                ("enter", region) => open.push(region),
                ("exit", region) => assert_eq!(open.pop(), Some(region), "{level}: {lines:?}"),
                _ => panic!("{level}: {line}"),
            }
        }
        assert!(open.is_empty(), "{level}: {open:?}");
        let count = |region: &str| lines.iter().filter(|l| **l == format!("enter {region}")).count();
        assert_eq!((count("function main:14"), count("function large:6")), (1, 3), "{level}: {lines:?}");
        for short in ["function small:4", "function straight:4", "function recursive:5"] {
            assert_eq!(count(short), 0, "{level}: {short} in {lines:?}");
        }
        assert!(count("loop large:8") >= 2, "{level}: {lines:?}");
    }
}

#[test]
fn the_cache_model_hears_of_each_access() {
    let source = "\
int a[8]; long b; char text[100], copy[100];
int main(int argc, char **argv) {
  a[argc] = 1;
  b += a[2];
  __atomic_fetch_add(&b, 1, __ATOMIC_SEQ_CST);
  __builtin_memcpy(copy, text, 40 + argc);
}
";
    for features in ["cache", "memory,control,cache"] {
        let project = Project::new("a.c", source).options(&format!("features={features}"));
        project.build(&["a.c"], &["-O1"]);
        let log = project.log();
        let lines: Vec<_> =
            log.iter().filter(|(l, _)| l.starts_with("cache_")).map(|(l, n)| (l.as_str(), *n)).collect();
        let at = |what: &str, line: u32, rest: &str| format!("cache_{what} function main:2 at a.c:{line}{rest}");
        let expected = [
            at("read 4", 4, ""),
            at("read 41", 6, " library"),
            at("read 8", 4, ""),
            at("write 4", 3, ""),
            at("write 41", 6, " library"),
            at("write 8", 4, ""),
            at("write 8", 5, " atomic"),
        ];
        assert_eq!(lines, expected.iter().map(|l| (l.as_str(), 1)).collect::<Vec<_>>(), "{features}");
    }
}

#[test]
fn synchronisation_notes_its_line() {
    let source = "\
#include <pthread.h>
#include <stdio.h>
int fake_creation_line(void);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *x) { return x; }
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  int created = fake_creation_line();
  pthread_mutex_lock(&m);
  int locked = fake_creation_line();
  pthread_mutex_unlock(&m);
  pthread_join(t, 0);
  printf(\"%d %d %d\\n\", created, locked, fake_creation_line());
}
";
    for features in ["control", "memory,control"] {
        for level in LEVELS {
            let project = Project::new("a.c", source).options(&format!("features={features}"));
            project.build(&["a.c"], &[level]);
            assert_eq!(project.run().stdout, "8 10 13\n", "{features} {level}");
        }
    }
}

#[test]
fn random_functions() {
    for seed in 0..4 {
        check("random.c", &support::random_program::source(seed), &["-fwrapv"]);
    }
}
