//! Sites lie in the regions that the source shows, also where the compiler has moved the code.

mod support;

use support::{LEVELS, Project};

#[test]
fn inlined_code_belongs_to_the_function_it_came_from() {
    let source = "\
int a[100], b[100];
static inline int get(int i) {
  return a[i];
}
static inline int sum(void) {
  int s = 0;
  for (int i = 0; i < 100; i++)
    s += get(i);
  return s;
}
int main(void) {
  for (int k = 0; k < 3; k++)
    b[k] = sum();
  return b[0];
}
";
    for level in LEVELS {
        let project = Project::new("a.c", source);
        project.build(&["a.c"], &[level]);
        let lines = project.log();
        let read: usize = lines.iter().filter(|(l, _)| l.contains("function get:2 at a.c:3")).map(|(_, n)| n).sum();
        assert!(read > 0, "{level}: {lines:?}");
        assert!(lines.keys().all(|l| !l.contains("loop sum:7 at a.c:3")), "{level}: {lines:?}");
    }
}

#[test]
fn loops_are_counted_where_they_are_entered() {
    let source = "\
#include <stdlib.h>
float a[1000], b[1000];
__attribute__((noinline)) void f(int n) {
  for (int i = 0; i < n; i++)
    a[i] = b[i] * 2;
}
int main(int argc, char **argv) {
  for (int k = 0; k < 7; k++)
    f(1000 - k);
  f(3);
}
";
    for level in LEVELS {
        for options in ["opt=0", "opt=1"] {
            let project = Project::new("a.c", source).options(options);
            project.build(&["a.c"], &[level]);
            let run = project.run();
            assert_eq!(run.visits(), ["visit 0 8 loop f:4"], "{level} {options}");
        }
    }
}

const OPENMP: &str = "\
int a[100], hits;
void work(int n) {
#pragma omp parallel num_threads(2)
  {
#pragma omp for
    for (int i = 0; i < n; i++)
      a[i] = i;
#pragma omp single
    {
      a[0] = 3;
#pragma omp task
      a[1] = n;
    }
#pragma omp sections
    {
#pragma omp section
      a[2] = 1;
#pragma omp section
      a[3] = 1;
    }
#pragma omp critical
    hits++;
#pragma omp barrier
#pragma omp master
    a[5]++;
#pragma omp barrier
#pragma omp for ordered schedule(dynamic)
    for (int i = 0; i < n; i++) {
#pragma omp ordered
      a[i] += 2;
    }
#pragma omp single
#pragma omp taskloop
    for (int i = 0; i < n; i++)
      a[i] += 2;
  }
  a[7] = 1;
}
int main(void) { work(50); }
";

#[test]
fn openmp_constructs_are_regions_of_the_function_around_them() {
    for level in LEVELS {
        let project = Project::new("a.c", OPENMP).flags(&["-fopenmp"]);
        project.build(&["a.c"], &[level]);
        let lines = project.log();
        let writes = |region: &str| -> usize {
            lines.iter().filter(|(l, _)| l.starts_with("write") && l.contains(region)).map(|(_, n)| n).sum()
        };
        for (region, at_least) in [
            ("loop work:5 at a.c:7", 1),
            ("omp_single work:8 at a.c:10", 1),
            ("omp_task work:11 at a.c:12", 1),
            ("work:14 at a.c:17", 1),
            ("work:14 at a.c:19", 1),
            ("omp_critical work:21 at a.c:22", 2),
            ("omp_master work:24 at a.c:25", 1),
            ("omp_ordered work:29 at a.c:30", 50),
            ("loop work:33 at a.c:35", 1),
            ("function work:2 at a.c:37", 1),
        ] {
            assert!(writes(region) >= at_least, "{level}: {region} in {lines:#?}");
        }
        assert!(lines.keys().all(|l| !l.contains("omp_outlined")), "{level}: {lines:#?}");
        let after_single = lines.keys().filter(|l| l.contains("omp_single work:8 ")).filter(|l| !l.contains(":1"));
        assert_eq!(after_single.count(), 0, "{level}: {lines:#?}");
    }
}

/// What the compiler makes up for a construct (bounds, captured variables) is at the construct's line.
#[test]
fn code_without_a_line_is_at_the_line_of_its_region() {
    let source = "\
int n = 100;
long a[100];
int main(void) {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++)
    sum += a[i];
  return (int)sum;
}
";
    for level in LEVELS {
        let project = Project::new("a.c", source).flags(&["-fopenmp"]);
        project.build(&["a.c"], &[level]);
        let lines = project.log();
        assert!(lines.keys().any(|l| l.contains(" at a.c:5")), "{level}: {lines:#?}");
        // The function that adds up the threads' sums is a part of the construct.
        assert!(lines.keys().all(|l| !l.contains("omp.reduction")), "{level}: {lines:#?}");
        assert!(lines.keys().all(|l| !l.ends_with(":0")), "{level}: {lines:#?}");
    }
}

#[test]
fn constructs_are_entered_by_the_threads_that_execute_them() {
    for level in LEVELS {
        let project = Project::new("a.c", OPENMP).flags(&["-fopenmp"]);
        project.build(&["a.c"], &[level]);
        let run = project.run();
        let of = |region: &str| run.visits().iter().filter(|v| v.ends_with(region)).count();
        assert_eq!(of(" 1 omp_parallel work:3"), 2, "{level}: {}", run.stderr);
        assert_eq!(of(" 1 omp_single work:8"), 1, "{level}: {}", run.stderr);
        assert_eq!(of(" 1 omp_master work:24"), 1, "{level}: {}", run.stderr);
        assert_eq!(of(" 1 omp_critical work:21"), 2, "{level}: {}", run.stderr);
    }
}

/// Template instances and overloads are told apart by their linkage names.
#[test]
fn names_are_those_of_the_linker() {
    let source = "\
struct A { int x; void set(int v); void set(long v); };
__attribute__((noinline)) void A::set(int v) { x = v; }
__attribute__((noinline)) void A::set(long v) { x = v + 1; }
A a;
int main() { a.set(1); a.set(2l); }
";
    for level in LEVELS {
        let project = Project::new("a.cc", source);
        project.build(&["a.cc"], &[level]);
        let lines = project.log();
        assert_eq!(lines["write 4 function _ZN1A3setEi:2 at a.cc:2"], 1, "{level}: {lines:?}");
        assert_eq!(lines["write 4 function _ZN1A3setEl:3 at a.cc:3"], 1, "{level}: {lines:?}");
    }
}

#[test]
fn without_debug_information_regions_are_symbols() {
    let source = "int a[10]; void f(int n) { for (int i = 0; i < n; i++) a[i] = 0; } int main(void) { f(10); }";
    let project = Project::new("a.c", source).flags(&["-g0"]);
    project.build(&["a.c"], &["-O0"]);
    assert_eq!(project.log().into_iter().collect::<Vec<_>>(), [("write 4 function f:0 at :0".to_string(), 10)]);
}
