// A small, slow runtime for the tests of the pass: it implements the contract of runtime/abi with one lock.
//
// FAKE_LOG=1: nothing has cells, so that every access takes the slow path, which prints it to stderr:
//     KIND BYTES FILE:LINE REGION-KIND NAME:LINE [flags]
// FAKE_OFFERS=1: as FAKE_LOG=1, with a site's number for all that follows BYTES, and of loops that are asked about:
//     offered read|write BYTES SITE
// else: cells and an event cache; at exit prints to stderr what was counted:
//     raw|rar WRITER->READER COUNT REGION-KIND NAME:LINE at FILE:LINE
//     visit THREAD COUNT REGION-KIND NAME:LINE
// FAKE_CONTROL=1 also prints, at exit, the control flow graphs and the counters' sums over all threads:
//     function NAME FLAGS BLOCKS EDGES
//     block WORK LINE, edge FROM TO COUNTER FLAGS, call BLOCK FLAGS CALLEE, counter COUNT
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HOOK __attribute__((preserve_most, visibility("default")))
#define SITE_BITS 16
#define THREADS 64
#define COUNTERS 65536
#define SHARED 0x80000000u

struct slot { uint64_t key; uint64_t *counter; };
struct header {
  const uint64_t *directory;
  uint32_t own_base, own_span, write_base, site_bits;
  struct slot *events;
  uint64_t *visits;
  uint32_t call_site, memos_used;
  uint64_t *column, own, foreign, write;
  const uint64_t *writable;
  struct memo { uint64_t states, next_states, left, counted; uint64_t *counter, *second; } memos[16];
  uint64_t ranges;
  void *windows;
  uint64_t stamp, shortest, settled, events_first, events_end, quiets[64], called;
  void *patterns;
  uint32_t learn_in;
};
struct thread { struct header header; struct slot events[1024]; uint64_t visits[4096]; uint64_t column[COUNTERS]; int id; };
struct event { uint64_t rar, next, raw; uint32_t site; int writer, reader; struct event *rest; };
struct state { uint32_t fresh; uint64_t readers; };
struct bases { uint32_t site_base, site_salt, write_site_base, region_base, counter_base; };
struct descriptor {
  uint32_t version, sites, regions, tables_len, counters, reserved;
  const unsigned char *tables;
  struct bases *bases;
};
struct region { uint16_t kind, flags; uint32_t name, file, line, end_line, parent; };
struct site { uint32_t region, file, line, flags; };

__thread void *__threadtalk_thread __attribute__((tls_model("initial-exec")));
char __threadtalk_abi_v7;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t *directory;
static struct thread *threads[THREADS];
static int thread_count;
static struct descriptor *modules[256];
static int module_count;
static uint32_t next_site = 1, next_region = 1, next_counter;
static struct event *events;
static struct state states[1 << 16];
static uint32_t state_count;
static int logging = -1, offers;
static _Alignas(64) char no_patterns[128 * 64];
static struct event nothing = {.next = UINT64_MAX};

static const char *const kinds[] = {"program", "function", "loop", "omp_parallel", "omp_for", "omp_sections",
    "omp_single", "omp_master", "omp_critical", "omp_task", "omp_taskloop", "omp_ordered", "omp_distribute",
    "omp_taskgroup", "omp_target", "user"};

static const struct region *regions_of(const struct descriptor *m) { return (const void *)(m->tables + 32); }
static const struct site *sites_of(const struct descriptor *m) { return (const void *)(regions_of(m) + m->regions); }
static const char *strings_of(const struct descriptor *m) {
  const uint32_t *header = (const void *)m->tables;
  return (const char *)(sites_of(m) + m->sites) + header[4] * 32 + header[5] * 36 + header[6] * 20 + header[7] * 16;
}
static const char *base_name(const char *path) { const char *s = strrchr(path, '/'); return s ? s + 1 : path; }

static void print_region(const struct descriptor *m, uint32_t index) {
  const struct region *r = regions_of(m) + index;
  fprintf(stderr, "%s %s:%u", kinds[r->kind], strings_of(m) + r->name, r->line);
}

static const struct descriptor *module_of_site(uint32_t site) {
  for (int i = 0; i < module_count; i++)
    if (site - modules[i]->bases->site_base < modules[i]->sites)
      return modules[i];
  fprintf(stderr, "bad site %u\n", site);
  abort();
}

static void print_site(uint32_t site) {
  const struct descriptor *m = module_of_site(site);
  const struct site *s = sites_of(m) + (site - m->bases->site_base);
  print_region(m, s->region);
  fprintf(stderr, " at %s:%u", base_name(strings_of(m) + s->file), s->line);
  if (s->flags) fprintf(stderr, "%s%s%s", s->flags & 1 ? " atomic" : "", s->flags & 2 ? " library" : "", s->flags & 4 ? " creation" : "");
}

static void start(void) {
  if (directory) return;
  directory = mmap(0, 8ul << (47 - CHUNK_SHIFT), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (directory == MAP_FAILED) abort();
  offers = getenv("FAKE_OFFERS") != 0;
  logging = offers || getenv("FAKE_LOG") != 0;
}

static uint64_t in_both_halves(uint32_t cell) { return (uint64_t)cell << 32 | cell; }
static void set_own(struct header *h, uint32_t base, uint32_t span) {
  h->own_base = base, h->own_span = span, h->own = in_both_halves(base), h->foreign = in_both_halves(-span);
}
static void set_write_base(struct header *h, uint32_t base) { h->write_base = base, h->write = in_both_halves(base); }

HOOK void *__threadtalk_attach(void) {
  pthread_mutex_lock(&lock);
  start();
  if (thread_count == THREADS) abort();
  struct thread *t = mmap(0, sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  t->id = thread_count;
  threads[thread_count++] = t;
  for (int i = 0; i < 1024; i++) t->events[i].key = UINT64_MAX;
  uint32_t first = t->id ? (uint32_t)t->id * 2u << SITE_BITS : 0;
  t->header = (struct header){.directory = directory, .writable = directory, .site_bits = SITE_BITS, .events = t->events,
      .visits = t->visits, .column = t->column};
  set_own(&t->header, first, 2u << SITE_BITS);
  set_write_base(&t->header, first);
  for (int i = 0; i < 16; i++) t->header.memos[i] = (struct memo){UINT64_MAX, UINT64_MAX, 0, 0, &nothing.rar, &nothing.rar};
  // No window has this stamp: every loop asks.
  static char no_windows[1024 * 64];
  t->header.windows = no_windows, t->header.stamp = 256, t->header.shortest = 3, t->header.called = UINT64_MAX, t->header.patterns = no_patterns, t->header.events_first = UINT64_MAX;
  // Nothing is own: what stands in for cells where there are none must not look like it.
  if (logging) set_own(&t->header, 0xfeedbee5, 1), memset(t->header.quiets, 255, sizeof t->header.quiets);
  __threadtalk_thread = t;
  pthread_mutex_unlock(&lock);
  return t;
}

static struct thread *self(void) {
  return __threadtalk_thread ? __threadtalk_thread : __threadtalk_attach();
}

void __threadtalk_register(struct descriptor *m) {
  pthread_mutex_lock(&lock);
  start();
  const uint32_t *header = (const void *)m->tables;
  uint32_t expected = 32 + m->regions * sizeof(struct region) + m->sites * sizeof(struct site) + header[2] +
      header[4] * 32 + header[5] * 36 + header[6] * 20 + header[7] * 16;
  // Sections: what each site accesses, and the callers' loops where there are any. Strings need no alignment, so neither have they.
  uint32_t section[2];
  for (uint32_t kind = 1; kind <= 2 && expected + 8 <= m->tables_len; kind++, expected += 8 + section[1]) {
    memcpy(section, (const char *)m->tables + expected, 8);
    if (section[0] != kind || section[1] != m->sites * (kind == 1 ? 24 : 4)) break;
  }
  if (m->version != ABI_VERSION || header[0] != m->regions || header[1] != m->sites || expected != m->tables_len) {
    fprintf(stderr, "bad module tables\n");
    abort();
  }
  modules[module_count++] = m;
  *m->bases = (struct bases){next_site, next_site * 37, next_site, next_region, next_counter};
  next_counter += m->counters;
  if (next_counter > COUNTERS) abort();
  next_site += m->sites;
  next_region += m->regions;
  pthread_mutex_unlock(&lock);
}

// What the hooks for reads can do, they do.
#define AGAIN __attribute__((preserve_all, visibility("default")))
AGAIN uint32_t __threadtalk_again4(void *a, uint32_t site) { (void)a, (void)site; return 0; }
AGAIN uint32_t __threadtalk_again8(void *a, uint32_t site) { (void)a, (void)site; return 0; }

static uint32_t *cell(uintptr_t a) {
  uint64_t *entry = directory + (a >> CHUNK_SHIFT);
  if (!*entry) {
    char *cells = mmap(0, 1 << CHUNK_SHIFT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *entry = (uintptr_t)cells - (a >> CHUNK_SHIFT << CHUNK_SHIFT);
  }
  return (uint32_t *)((a & ~(uintptr_t)3) + *entry);
}

static struct event *event(uint32_t site, int writer, int reader) {
  for (struct event *e = events; e; e = e->rest)
    if (e->site == site && e->writer == writer && e->reader == reader)
      return e;
  struct event *e = mmap(0, sizeof *e, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *e = (struct event){0, 10, 0, site, writer, reader, events};
  return events = e;
}

static int writer_of(uint32_t fresh) { return fresh >> (SITE_BITS + 1); }

static void remember(struct thread *t, uint32_t site, uint32_t c, struct event *e) {
  t->events[(c + site * 37) & 1023] = (struct slot){(uint64_t)site << 32 | c, &e->rar};
}

static void read_cell(struct thread *t, uint32_t *at, uint32_t site) {
  uint32_t c = *at;
  if (!c) { remember(t, site, c, &nothing); return; }
  struct state s = c & SHARED ? states[c & 0xffff] : (struct state){c, 0};
  int w = writer_of(s.fresh);
  if (w == t->id) { if (c & SHARED) remember(t, site, c, &nothing); return; }
  struct event *e = event(site, w, t->id);
  if (s.readers >> t->id & 1) {
    e->rar++;
    // Ten at a time are counted inline, so that the limit is tested too.
    if (e->rar >= e->next) e->next = e->rar + 10;
    remember(t, site, c, e);
    return;
  }
  e->raw++;
  s.readers |= 1ull << t->id;
  uint32_t i = 0;
  while (i < state_count && (states[i].fresh != s.fresh || states[i].readers != s.readers)) i++;
  if (i == state_count) { if (i == 1 << 16) abort(); states[state_count++] = s; }
  *at = SHARED | i;
}

static void log_access(const char *kind, uint64_t bytes, uint32_t site) {
  if (!logging) return;
  pthread_mutex_lock(&lock);
  fprintf(stderr, "%s %llu ", kind, (unsigned long long)bytes);
  if (offers) fprintf(stderr, "%u", site);
  else print_site(site);
  fprintf(stderr, "\n");
  pthread_mutex_unlock(&lock);
}

static void access_range(int write, const void *p, uint64_t bytes, uint32_t site) {
  struct thread *t = self();
  if (logging || !bytes) return;
  pthread_mutex_lock(&lock);
  uintptr_t a = (uintptr_t)p;
  for (uintptr_t g = a & ~(uintptr_t)3; g < a + bytes; g += 4) {
    if (write) *cell(g) = t->header.write_base + site;
    else read_cell(t, cell(g), site);
  }
  pthread_mutex_unlock(&lock);
}

#define SIZED(n) \
  HOOK void __threadtalk_read##n(void *p, uint32_t s) { log_access("read", n, s); access_range(0, p, n, s); } \
  HOOK void __threadtalk_write##n(void *p, uint32_t s) { log_access("write", n, s); access_range(1, p, n, s); }
SIZED(1) SIZED(2) SIZED(4) SIZED(8) SIZED(16) SIZED(32) SIZED(64)

HOOK void __threadtalk_read_range(void *p, uint64_t n, uint32_t s) { log_access("read_range", n, s); access_range(0, p, n, s); }
HOOK void __threadtalk_write_range(void *p, uint64_t n, uint32_t s) { log_access("write_range", n, s); access_range(1, p, n, s); }
HOOK void __threadtalk_copy(void *d, void *p, uint64_t n, uint32_t s) {
  log_access("copy", n, s);
  access_range(0, p, n, s);
  access_range(1, d, n, s);
}
HOOK void __threadtalk_read_string(char *p, uint64_t n, uint32_t s) {
  uint64_t used = strnlen(p, n) + 1;
  if (used > n) used = n;
  log_access("read_string", used, s);
  access_range(0, p, used, s);
}
HOOK void __threadtalk_write_string(char *p, uint64_t n, uint32_t s) {
  uint64_t used = n ? strnlen(p, n) + 1 : 0;
  if (used > n) used = n;
  log_access("write_string", used, s);
  access_range(1, p, used, s);
}
static void masked(int write, char *p, uint64_t lane, uint64_t mask, uint32_t s) {
  for (int i = 0; i < 64; i++)
    if (mask >> i & 1) access_range(write, p + i * lane, lane, s);
}
HOOK void __threadtalk_read_masked(char *p, uint64_t lane, uint64_t mask, uint32_t s) {
  log_access("read_masked", lane * __builtin_popcountll(mask), s);
  masked(0, p, lane, mask, s);
}
HOOK void __threadtalk_write_masked(char *p, uint64_t lane, uint64_t mask, uint32_t s) {
  log_access("write_masked", lane * __builtin_popcountll(mask), s);
  masked(1, p, lane, mask, s);
}
// Counts a whole loop in order if no read touches what the loop writes; else leaves it to the instrumented copy.
struct loop_access { uint64_t address; int64_t stride; uint32_t bytes, flags, site, reserved; };
static int writes(const struct loop_access *x) { return x->flags & 1; }
// question::Constant: what the rows of a question begin with. Numbers are constants or values.
struct constant { int64_t first; uint32_t bytes, flags, site, window; uint64_t address; };
static uint64_t number(uint64_t n, const uint64_t *values) { return n & 1 ? values[n >> 1] : (uint64_t)((int64_t)n >> 1); }
static uint32_t site_of(const struct constant *c, const struct bases *b) {
  return c->site + (c->flags & 1 ? b->write_site_base : b->site_base);
}
enum { MOST_ACCESSES = 64 }; // loops::MOST_ACCESSES
struct loop_row { struct constant constant; uint64_t stride; };
static struct loop_access loop_access(const struct loop_row *row, const uint64_t *values, const struct bases *bases) {
  const struct constant *c = &row->constant;
  return (struct loop_access){number(c->address, values) + c->first, number(row->stride, values), c->bytes, c->flags,
                              site_of(c, bases), 0};
}
HOOK int __threadtalk_loop(const struct loop_row *rows, uint32_t count, uint64_t iterations, const uint64_t *values,
                           const struct bases *bases) {
  count &= 0x0fffffff; // without loops::IN_NEST, STRAYS, WINDOWS, CALLED
  for (uint32_t i = 0; offers && i < count; i++)
    log_access(rows[i].constant.flags & 1 ? "offered write" : "offered read", rows[i].constant.bytes, site_of(&rows[i].constant, bases));
  if (logging || !iterations) return 0;
  struct loop_access all[MOST_ACCESSES];
  for (uint32_t i = 0; i < count; i++) all[i] = loop_access(rows + i, values, bases);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < count; j++) {
      uint64_t from[2], to[2];
      for (int k = 0; k < 2; k++) {
        const struct loop_access *x = all + (k ? j : i);
        uint64_t last = x->address + x->stride * (int64_t)(iterations - 1);
        from[k] = (x->stride < 0 ? last : x->address) & ~3ull;
        to[k] = (x->stride < 0 ? x->address : last) + x->bytes;
      }
      if (!writes(all + i) && writes(all + j) && from[0] < to[1] && from[1] < to[0]) return 0;
    }
  for (uint64_t n = 0; n < iterations; n++)
    for (uint32_t i = 0; i < count; i++)
      access_range(writes(all + i), (void *)(all[i].address + all[i].stride * (int64_t)n), all[i].bytes, all[i].site);
  return 1;
}
// Counts a loop that has ended, access by access: the place of each in an iteration is in its flags.
HOOK void __threadtalk_searched(const struct loop_row *rows, uint32_t count, uint64_t iterations, uint32_t executed,
                                const uint64_t *values, const struct bases *bases) {
  for (uint64_t n = 0; n <= iterations; n++)
    for (uint32_t place = 0; place < (n < iterations ? count : executed); place++)
      for (uint32_t i = 0; i < count; i++) {
        struct loop_access x = loop_access(rows + i, values, bases);
        if ((x.flags >> 8 & 0xff) != place) continue;
        log_access(writes(&x) ? "write" : "read", x.bytes, x.site);
        access_range(writes(&x), (void *)(x.address + x.stride * (int64_t)n), x.bytes, x.site);
      }
}
// Counts a nest, access by access, if what it writes is the thread's own and no two lines read the same.
enum { FIXED = 4 };
struct nest_access { uint64_t address; uint32_t bytes, flags, site, window; struct { int64_t stride; uint64_t count; } steps[3]; };
static int is_own(uint64_t at, uint64_t bytes) {
  for (uint64_t g = at & ~3ull; g < at + bytes; g += 4) {
    uint32_t c = *cell(g);
    if (c && c - self()->header.own_base >= self()->header.own_span) return 0;
  }
  return 1;
}
static int nest_access(const struct nest_access *x, int counts) {
  for (uint64_t i = 0; i < x->steps[2].count; i++)
    for (uint64_t j = 0; j < x->steps[1].count; j++)
      for (uint64_t k = 0; k < x->steps[0].count; k++) {
        uint64_t at = x->address + x->steps[2].stride * i + x->steps[1].stride * j + x->steps[0].stride * k;
        if (counts) access_range(x->flags & 1, (void *)at, x->bytes, x->site);
        else if (!is_own(at, x->bytes)) return 0;
      }
  return 1;
}
struct nest_row { struct constant constant; uint64_t steps[3][2]; };
HOOK int __threadtalk_nest(const struct nest_row *rows, uint32_t count, const uint64_t *values, const struct bases *bases) {
  if (logging) return 0;
  struct nest_access all[MOST_ACCESSES];
  uint32_t described = count;
  count = 0;
  for (uint32_t i = 0; i < described; i++) {
    const struct constant *c = &rows[i].constant;
    struct nest_access x = {number(c->address, values) + c->first, c->bytes, c->flags, site_of(c, bases), c->window};
    int made = 1;
    for (int k = 0; k < 3; k++) {
      x.steps[k].stride = number(rows[i].steps[k][0], values);
      x.steps[k].count = number(rows[i].steps[k][1], values);
      made &= x.steps[k].count > 0;
    }
    if (made) all[count++] = x;
  }
  uint64_t from[MOST_ACCESSES], to[MOST_ACCESSES];
  for (uint32_t i = 0; i < count; i++) {
    from[i] = to[i] = all[i].address;
    for (int k = 0; k < 3; k++) {
      int64_t reach = all[i].steps[k].stride * (int64_t)(all[i].steps[k].count - 1);
      *(reach < 0 ? from + i : to + i) += reach;
    }
    to[i] += all[i].bytes;
    if (all[i].flags & 1 && !nest_access(all + i, 0)) return 0;
    for (uint32_t j = 0; j < i; j++) {
      // What the descriptions were computed from must stay as it is.
      if ((all[i].flags ^ all[j].flags) == (1 | FIXED) && from[i] < to[j] && from[j] < to[i]) return 0;
      if (!((all[i].flags | all[j].flags) & (1 | FIXED)) && all[i].site != all[j].site && from[i] < to[j] && from[j] < to[i]) return 0;
    }
  }
  for (uint32_t i = 0; i < count; i++)
    if (!(all[i].flags & FIXED)) nest_access(all + i, 1);
  return 1;
}
// FAKE_LOG also prints what the cache model is told and when clocks would be read:
//     cache BYTES r|w FILE..., enter|exit REGION-KIND NAME:LINE
HOOK void __threadtalk_cache(void *p, uint32_t bytes, uint32_t s) {
  self();
  log_access(bytes >> 31 ? "cache_write" : "cache_read", bytes & 0x7fffffff, s);
}
static void log_region(const char *what, uint32_t region) {
  self();
  if (!logging) return;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < module_count; i++)
    if (region - modules[i]->bases->region_base < modules[i]->regions) {
      fprintf(stderr, "%s ", what);
      print_region(modules[i], region - modules[i]->bases->region_base);
      fprintf(stderr, "\n");
    }
  pthread_mutex_unlock(&lock);
}
HOOK void __threadtalk_spins(uint32_t site) { (void)site; }
HOOK void __threadtalk_spun(void) {}
HOOK void __threadtalk_enter(uint32_t region) { log_region("enter", region); }
HOOK void __threadtalk_exit(uint32_t region) { log_region("exit", region); }
HOOK void __threadtalk_allocated(void *p, uint64_t n, uint32_t site) {
  if (!logging) return;
  const struct descriptor *m = module_of_site(site);
  const struct site *s = sites_of(m) + (site - m->bases->site_base);
  const uint32_t *access = (const void *)(strings_of(m) + ((const uint32_t *)(const void *)m->tables)[2] + 8);
  const char *receiver = strings_of(m) + access[6 * (site - m->bases->site_base) + 1];
  fprintf(stderr, "allocated %llu %s for %s at %u\n", (unsigned long long)n, p ? "bytes" : "in vain", receiver, s->line);
}
HOOK void __threadtalk_handed_on(void *p, uint32_t site) {
  if (logging) fprintf(stderr, "handed on at %u\n", (sites_of(module_of_site(site)) + (site - module_of_site(site)->bases->site_base))->line);
}
// No bundle ever knows anything: its reads ask one by one.
HOOK void __threadtalk_learn(void *p, void *bundle) { (void)p, (void)bundle; }
HOOK void __threadtalk_clear(void *p, uint64_t n) {
  if (logging) { fprintf(stderr, "clear %llu\n", (unsigned long long)n); return; }
  pthread_mutex_lock(&lock);
  for (uintptr_t g = (uintptr_t)p & ~(uintptr_t)3; g < (uintptr_t)p + n; g += 4)
    if (directory[g >> CHUNK_SHIFT]) *cell(g) = 0;
  pthread_mutex_unlock(&lock);
}

// For test programs: whose write this is and whether it was made "in parallel"; -1 = nobody's. And the latest
// creation site's line.
int fake_writer(void *p) { uint32_t c = *cell((uintptr_t)p); return c ? writer_of(c & SHARED ? states[c & 0xffff].fresh : c) : -1; }
int fake_is_parallel(void *p) { return *cell((uintptr_t)p) >> SITE_BITS & 1; }
void fake_go_parallel(int on) {
  struct thread *t = self();
  set_write_base(&t->header, t->header.own_base + (on ? 1u << SITE_BITS : 0));
}
int fake_creation_line(void) {
  uint32_t site = self()->header.call_site;
  if (!site) return 0;
  const struct descriptor *m = module_of_site(site);
  return sites_of(m)[site - m->bases->site_base].line;
}

struct function { uint32_t region, first_block, blocks, first_edge, edges, first_call, calls, flags; };
struct block { uint32_t region, file, line, end_line; uint16_t opcodes[8], reads, writes; };
struct edge { uint32_t from, to, counter, line, flags; };
struct call { uint32_t block, callee, flags, line; };

static void print_control(const struct descriptor *m) {
  const uint32_t *header = (const void *)m->tables;
  const struct function *f = (const void *)(sites_of(m) + m->sites);
  const struct block *blocks = (const void *)(f + header[4]);
  const struct edge *edges = (const void *)(blocks + header[5]);
  const struct call *calls = (const void *)(edges + header[6]);
  for (uint32_t i = 0; i < header[4]; i++, f++) {
    fprintf(stderr, "function %s %u %u %u\n", strings_of(m) + regions_of(m)[f->region].name, f->flags, f->blocks, f->edges);
    for (uint32_t j = 0; j < f->blocks; j++) {
      uint32_t work = 0;
      for (int k = 0; k < 8; k++) work += blocks[f->first_block + j].opcodes[k];
      fprintf(stderr, "block %u %u\n", work, blocks[f->first_block + j].line);
    }
    for (uint32_t j = 0; j < f->edges; j++) {
      const struct edge *e = edges + f->first_edge + j;
      fprintf(stderr, "edge %d %d %u %u\n", (int)e->from, (int)e->to, e->counter, e->flags);
    }
    for (uint32_t j = 0; j < f->calls; j++) {
      const struct call *c = calls + f->first_call + j;
      fprintf(stderr, "call %u %u %s\n", c->block, c->flags, strings_of(m) + c->callee);
    }
  }
  for (uint32_t k = 0; k < m->counters; k++) {
    uint64_t sum = 0;
    for (int t = 0; t < thread_count; t++) sum += threads[t]->column[m->bases->counter_base + k];
    fprintf(stderr, "counter %llu\n", (unsigned long long)sum);
  }
}

__attribute__((destructor)) static void finish(void) {
  if (getenv("FAKE_CONTROL"))
    for (int i = 0; i < module_count; i++) print_control(modules[i]);
  if (logging) return;
  for (struct event *e = events; e; e = e->rest)
    for (int reuse = 0; reuse < 2; reuse++) {
      uint64_t count = reuse ? e->rar : e->raw;
      if (!count) continue;
      fprintf(stderr, "%s %d->%d %llu ", reuse ? "rar" : "raw", e->writer, e->reader, (unsigned long long)count);
      print_site(e->site);
      fprintf(stderr, "\n");
    }
  for (int t = 0; t < thread_count; t++)
    for (int i = 0; i < module_count; i++)
      for (uint32_t r = 0; r < modules[i]->regions; r++)
        if (threads[t]->visits[modules[i]->bases->region_base + r]) {
          fprintf(stderr, "visit %d %llu ", t, (unsigned long long)threads[t]->visits[modules[i]->bases->region_base + r]);
          print_region(modules[i], r);
          fprintf(stderr, "\n");
        }
}
