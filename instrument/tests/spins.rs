//! Which loops wait for another thread.

mod support;

use support::{Project, function};

const LOOPS: &str = r#"
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node { _Atomic(struct node *) next; int value; };
atomic_int flag, lock; atomic_long count; volatile int plain; int shared; _Atomic(struct node *) head; double data[64];

void waits_for_flag(void) { while (!atomic_load(&flag)) {} }
void waits_for_volatile(void) { while (plain == 0) __builtin_ia32_pause(); }
void waits_for_flush(void) {
  for (;;) {
    _Pragma("omp flush")
    if (shared) break;
  }
}
void waits_for_lock(void) { while (atomic_exchange(&lock, 1)) while (atomic_load(&lock)) sched_yield(); }
void waits_backing_off(void) {
  for (int n = 1; ; n = n < 64 ? 2 * n : n) {
    int free = 0;
    if (atomic_compare_exchange_strong(&lock, &free, 1)) return;
    for (int i = 0; i < n; i++) __builtin_ia32_pause();
  }
}
struct node *waits_for_link(struct node *own) {
  struct node *next;
  while ((next = atomic_load(&own->next)) == NULL) {}
  return next;
}
int *flags; long member;
void waits_behind_pointer(void) { while (!__atomic_load_n(&flags[member + 1], __ATOMIC_ACQUIRE)) {} }

/* The value is another's each time, the place is not the same. */
struct plain { struct plain *next; int ready; } *first;
int walks_behind_pointer(void) {
  struct plain *at = first;
  while (at && __atomic_load_n(&at->ready, __ATOMIC_ACQUIRE)) at = at->next;
  return at != NULL;
}
int walks(int value) {
  struct node *at = atomic_load(&head);
  while (at && at->value != value) at = atomic_load(&at->next);
  return at != NULL;
}
/* Each turn takes a piece of work. */
void takes(void) { while (atomic_fetch_add(&count, -1) > 0) {} }
/* What is exchanged comes of what was read. */
void adds(long n) {
  long old = atomic_load(&count);
  while (!atomic_compare_exchange_weak(&count, &old, old + n)) {}
}
void stores(void) { for (int i = 0; !atomic_load(&flag); i = (i + 1) & 63) data[i] = i; }
double computes(double x) { while (!atomic_load(&flag)) x = x * 0.5 + 1; return x; }
void calls(void (*work)(void)) { while (!atomic_load(&flag)) work(); }
/* It ends by its own count. */
int sums(int n) { int s = 0; for (int i = 0; i < n; i++) s += atomic_load(&flag); return s; }
/* Plain memory that nobody writes meanwhile, as far as the compiler knows. */
int finds(const int *p) { int i = 0; while (p[i] == 0) i++; return i; }
"#;

#[test]
fn loops_that_read_the_same_place_until_it_changes_wait() {
    let waiting = [
        "waits_for_flag",
        "waits_for_volatile",
        "waits_for_flush",
        "waits_for_lock",
        "waits_backing_off",
        "waits_for_link",
        "waits_behind_pointer",
    ];
    let working = ["walks", "walks_behind_pointer", "takes", "adds", "stores", "computes", "calls", "sums", "finds"];
    for level in ["-O1", "-O2", "-O3"] {
        let ir = Project::new("a.c", LOOPS).options("features=control").ir("a.c", &[level, "-fopenmp"]);
        for name in waiting {
            let body = function(&ir, name);
            assert!(body.contains("@__threadtalk_spins("), "{level} {name}: {body}");
            assert!(body.contains("@__threadtalk_spun("), "{level} {name}: {body}");
        }
        for name in working {
            assert!(!function(&ir, name).contains("@__threadtalk_spins("), "{level} {name}: {}", function(&ir, name));
        }
    }
}
