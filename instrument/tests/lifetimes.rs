//! What happens when stack variables die, threads begin and calls return.

mod support;

use support::{LEVELS, Project};

/// Another thread writes to a stack variable; when it is gone, what lies there is nobody's.
#[test]
fn dead_stack_variables_leave_nothing_behind() {
    let source = r#"
#include <pthread.h>
#include <stdio.h>
int fake_writer(void *);
static void *place, *big_place;
void *other(void *p) { *(int *)p = 1; return 0; }
__attribute__((noinline)) void on_stack(int n) {
  int cell = 0;
  int many[100];
  pthread_t t;
  pthread_create(&t, 0, other, &cell);
  pthread_join(t, 0);
  pthread_create(&t, 0, other, &many[50]);
  pthread_join(t, 0);
  printf("%d %d\n", fake_writer(&cell), fake_writer(&many[50]));
  place = &cell; big_place = &many[50];
}
int main(void) {
  on_stack(1);
  printf("%d %d\n", fake_writer(place), fake_writer(big_place));
}
"#;
    for level in LEVELS {
        for options in ["opt=1", "inline_limit=0"] {
            let project = Project::new("a.c", source).options(options);
            project.build(&["a.c"], &[level]);
            assert_eq!(project.run().stdout, "1 2\n-1 -1\n", "{level} {options}");
        }
    }
}

#[test]
fn arrays_of_variable_length_die_where_their_scope_ends() {
    let source = r#"
#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
int fake_writer(void *);
static void *place, *other_place;
void *other(void *p) { *(int *)p = 1; return 0; }
static void let_write(int *p) {
  pthread_t t;
  pthread_create(&t, 0, other, p);
  pthread_join(t, 0);
}
__attribute__((noinline)) void on_stack(int n) {
  int *block = alloca(n * 40);
  let_write(block + 3);
  for (int i = 0; i < 2; i++) {
    int many[n];
    place = &many[n / 2];
    printf("%d ", fake_writer(place));
    let_write(&many[n / 2]);
    printf("%d ", fake_writer(place));
  }
  printf("%d %d\n", fake_writer(place), fake_writer(other_place = block + 3));
}
int main(void) {
  on_stack(50);
  printf("%d\n", fake_writer(other_place));
}
"#;
    for level in LEVELS {
        let project = Project::new("a.c", source);
        project.build(&["a.c"], &[level]);
        assert_eq!(project.run().stdout, "-1 2 -1 3 -1 1\n-1\n", "{level}");
    }
}

/// Leaving a function by an exception ends its variables too.
#[test]
fn exceptions_end_lifetimes() {
    let source = r#"
#include <cstdio>
#include <thread>
extern "C" int fake_writer(void *);
static int *place;
__attribute__((noinline)) void thrower(int *p) { throw *p; }
__attribute__((noinline)) void on_stack() {
  int cell = 0;
  place = &cell;
  std::thread([&] { cell = 7; }).join();
  std::printf("%d\n", fake_writer(&cell));
  thrower(&cell);
}
int main() {
  try { on_stack(); } catch (int value) { std::printf("caught %d\n", value); }
  return 0;
}
"#;
    for level in LEVELS {
        let project = Project::new("a.cc", source);
        project.build(&["a.cc"], &[level]);
        assert_eq!(project.run().stdout, "1\ncaught 7\n", "{level}");
    }
}

/// `write_base` changes inside calls: what is written after one carries the new one, on all ways through the function.
#[test]
fn writes_after_a_call_use_the_new_base() {
    let source = r#"
#include <stdio.h>
void fake_go_parallel(int);
int fake_is_parallel(void *);
int cells[6];
__attribute__((noinline)) void f(int n) {
  cells[0] = 1;
  if (n) fake_go_parallel(1);
  cells[1] = 1;
  for (int i = 0; i < n; i++) { cells[2] = i; fake_go_parallel(0); cells[3] = i; fake_go_parallel(1); }
  cells[4] = 1;
}
int main(void) {
  f(3);
  for (int i = 0; i < 5; i++) printf("%d", fake_is_parallel(&cells[i]));
  printf("\n");
}
"#;
    for level in LEVELS {
        let project = Project::new("a.c", source);
        project.build(&["a.c"], &[level]);
        assert_eq!(project.run().stdout, "01101\n", "{level}");
    }
}

#[test]
fn creation_sites_are_the_lines_of_the_calls() {
    let source = r#"
#include <cstdio>
#include <pthread.h>
#include <thread>
extern "C" int fake_creation_line(void);
void *nothing(void *) { return nullptr; }
int main() {
  pthread_t t;
  pthread_create(&t, nullptr, nothing, nullptr);
  std::printf("%d\n", fake_creation_line());
  pthread_join(t, nullptr);
  std::thread u([] {});
  u.join();
  return 0;
}
"#;
    for level in LEVELS {
        let project = Project::new("a.cc", source);
        project.build(&["a.cc"], &[level]);
        assert_eq!(project.run().stdout, "9\n", "{level}");
        let ir = project.ir("a.cc", &[level]);
        let creations = ir.matches("call void @_ZNSt6thread15_M_start_thread").count()
            + ir.matches("invoke void @_ZNSt6thread15_M_start_thread").count();
        assert_eq!(creations, 1, "{level}: the example creates a std::thread");
    }
}
