//! Programs that use what few programs use: they must compile, verify, and print what they print without the plugin.

mod support;

use support::{Project, must_succeed};

/// Builds natively and instrumented, and compares what both print.
fn same_output(file: &str, source: &str, flags: &[&str]) {
    for (level, all_options) in
        [("-O0", &["opt=1"][..]), ("-O2", &["opt=0", "opt=1", "inline_limit=0"]), ("-O3", &["opt=1"])]
    {
        for options in all_options {
            let project = Project::new(file, source).options(options);
            let compiler = if file.ends_with(".cc") { "clang++-19" } else { "clang-19" };
            let mut native = std::process::Command::new(compiler);
            native.current_dir(project.path(".")).args(flags).args([level, file, "-pthread", "-o", "native"]);
            must_succeed(&mut native);
            let expected = must_succeed(&mut std::process::Command::new(project.path("native")));
            let mut all = vec![level];
            all.extend(flags);
            project.build(&[file], &all);
            assert_eq!(project.run().stdout, String::from_utf8_lossy(&expected.stdout), "{level} {options}");
        }
    }
}

/// Modules in which a variable dies that others know, and nothing else happens: events without a site in the source.
#[test]
fn modules_without_accesses() {
    let escaping = "void g(int *); void f(void) { int x; g(&x); }";
    let variadic = "#include <stdarg.h>\nvoid g(int, va_list); void f(int n, ...) { va_list a; va_start(a, n); g(n, a); va_end(a); }";
    for source in [escaping, variadic, "int nothing;", ""] {
        for level in ["-O0", "-O1", "-O2"] {
            for options in ["opt=1", "opt=0", "inline_limit=0"] {
                Project::new("a.c", source).options(options).ir("a.c", &[level]);
            }
        }
    }
}

#[test]
fn control_flow() {
    let source = r#"
#include <setjmp.h>
#include <stdio.h>
static jmp_buf back; static int data[64]; volatile int limit = 20;
static int computed(int n) {
  static void *const steps[] = {&&add, &&twice, &&done};
  int i = 0, x = n;
next:
  goto *steps[data[i++ & 63] % 3];
add: x += data[x & 63]; if (i < limit) goto next; return x;
twice: x *= 2; if (i < limit) goto next; return x;
done: return x + data[0];
}
static int asm_goto(int *p) {
  __asm__ goto("testl %0, %0; jz %l1" : : "r"(*p) : "cc" : zero);
  *p += 1; return 1;
zero: *p += 2; return 0;
}
static void dive(int n) { data[n & 63] += n; if (n > 9) longjmp(back, n); dive(n + 1); }
__attribute__((noreturn, noinline)) static void leave(int *p) { *p += 5; longjmp(back, 77); }
int main(void) {
  for (int i = 0; i < 64; i++) data[i] = i * 7;
  volatile int hits = 0;
  int code = setjmp(back);
  hits++;
  data[1] += hits;
  if (code == 0) dive(0);
  if (code == 10) leave(&data[2]);
  printf("%d %d %d %d %d\n", code, hits, data[1], data[2], computed(3));
  int a = asm_goto(&data[0]), b = asm_goto(&data[0]);
  printf("%d %d %d\n", a, b, data[0]);
}
"#;
    same_output("a.c", source, &[]);
}

#[test]
fn types() {
    let source = r#"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
struct bits { unsigned a : 3, b : 17, c : 12; long long d : 40; };
union either { float f; unsigned u; char c[4]; };
_Atomic(__int128) wide; _Atomic double real; _Atomic(struct bits) many; atomic_flag flag; _Atomic(char *) text;
_BitInt(37) odd; _Float16 half; __fp16 stored; long double precise = 1.25L; _Complex float z; _Bool yes;
typedef int v3 __attribute__((ext_vector_type(3))); typedef char v5 __attribute__((ext_vector_type(5)));
v3 three = {1, 2, 3}; v5 five; struct { char pad; double unaligned; } __attribute__((packed)) packed[3];
__attribute__((noinline)) struct bits by_value(struct bits x) { x.b++; return x; }
int main(void) {
  atomic_fetch_add(&wide, (__int128)1 << 70); wide += 3; real += 1.5; real *= 2;
  struct bits b = atomic_load(&many); b.c = 9; atomic_store(&many, by_value(b));
  union either e = {.f = 1.5f}; odd += 5; half += 2; stored = 3; precise *= 3; z += 2; yes ^= 1;
  three.y += 4; five.x = 3; five[4] += 2; packed[1].unaligned = 2.5; packed[2].unaligned = packed[1].unaligned * 2;
  text = "x"; int first = atomic_flag_test_and_set(&flag), second = atomic_flag_test_and_set(&flag);
  char buffer[33]; memset(buffer, 'a', 32); buffer[32] = 0; memmove(buffer + 3, buffer, 20);
  b = atomic_load(&many);
  printf("%d %g %u %u %x %d %g %g %Lg %g %d\n", (int)(wide >> 70), real, b.b, b.c, e.u,
         (int)odd, (double)half, (double)stored, precise, (double)__real__ z, yes);
  printf("%d %d %d %g %s %d%d %s\n", three.y, five.x, five[4], packed[2].unaligned, text, first, second, buffer);
}
"#;
    same_output("a.c", source, &["-mcx16"]);
}

#[test]
fn cplusplus() {
    let source = r#"
#include <coroutine>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <vector>
struct Task {
  struct promise_type {
    int value = 0;
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) { value = v; return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
};
static int shared[8];
Task counter(int n) { for (int i = 0; i < n; i++) { shared[i & 7] += i; co_yield shared[i & 7]; } }
struct Base { virtual ~Base() = default; virtual int get(int *p) = 0; };
struct Derived : virtual Base { int x = 3; int get(int *p) override { x += *p; if (x > 6) throw std::out_of_range("x"); return x; } };
thread_local std::vector<int> mine = {1, 2, 3};
int calls(int fd) {
  char buffer[16] = {};
  try { ssize_t n = read(fd, buffer, 5); return n > 0 ? buffer[n - 1] : -1; } catch (...) { return -2; }
}
int main() {
  Task t = counter(5);
  int sum = 0;
  while (t.handle.resume(), !t.handle.done()) sum += t.handle.promise().value;
  t.handle.destroy();
  std::unique_ptr<Base> d = std::make_unique<Derived>();
  int two = 2, got = 0;
  try { for (;;) got += d->get(&two); } catch (const std::exception &e) { std::printf("%s ", e.what()); }
  std::mutex m;
  int total = 0;
  std::vector<std::thread> team;
  for (int i = 0; i < 4; i++)
    team.emplace_back([&, i] { for (int k = 0; k < 1000; k++) { std::lock_guard<std::mutex> g(m); total += i; mine[0] += k; } });
  for (auto &x : team) x.join();
  int ends[2];
  int made = pipe(ends);
  ssize_t written = write(ends[1], "hello", 5);
  std::function<int(int)> twice = [&](int v) { return v * two; };
  std::printf("%d %d %d %zu %d %d %d %d\n", sum, got, total, mine.size(), calls(ends[0]), made, (int)written, twice(21));
}
"#;
    same_output("a.cc", source, &["-std=c++20"]);
}
