// Threads, modules and the names of what is in them.
#include "fake.h"

__thread void *__threadtalk_thread __attribute__((tls_model("initial-exec")));
char __threadtalk_abi_v7;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
uint64_t *directory;
struct thread *threads[THREADS];
int thread_count;
struct descriptor *modules[256];
int module_count;
int logging = -1, offers;
static uint32_t next_site = 1, next_region = 1, next_counter;
static _Alignas(64) char no_patterns[128 * 64];

static const char *const kinds[] = {"program", "function", "loop", "omp_parallel", "omp_for", "omp_sections",
    "omp_single", "omp_master", "omp_critical", "omp_task", "omp_taskloop", "omp_ordered", "omp_distribute",
    "omp_taskgroup", "omp_target", "user"};

const struct region *regions_of(const struct descriptor *m) { return (const void *)(m->tables + 32); }
const struct site *sites_of(const struct descriptor *m) { return (const void *)(regions_of(m) + m->regions); }
const char *strings_of(const struct descriptor *m) {
  const uint32_t *header = (const void *)m->tables;
  return (const char *)(sites_of(m) + m->sites) + header[4] * 32 + header[5] * 36 + header[6] * 20 + header[7] * 16;
}
static const char *base_name(const char *path) { const char *s = strrchr(path, '/'); return s ? s + 1 : path; }

void print_region(const struct descriptor *m, uint32_t index) {
  const struct region *r = regions_of(m) + index;
  fprintf(stderr, "%s %s:%u", kinds[r->kind], strings_of(m) + r->name, r->line);
}

const struct descriptor *module_of_site(uint32_t site) {
  for (int i = 0; i < module_count; i++)
    if (site - modules[i]->bases->site_base < modules[i]->sites)
      return modules[i];
  fprintf(stderr, "bad site %u\n", site);
  abort();
}

void print_site(uint32_t site) {
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
void set_write_base(struct header *h, uint32_t base) { h->write_base = base, h->write = in_both_halves(base); }

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
  t->header.windows = no_windows, t->header.stamp = 256, t->header.shortest = 3, t->header.least_asked = 32, t->header.called = UINT64_MAX, t->header.patterns = no_patterns, t->header.events_first = UINT64_MAX;
  // Nothing is own: what stands in for cells where there are none must not look like it.
  if (logging) set_own(&t->header, 0xfeedbee5, 1), memset(t->header.quiets, 255, sizeof t->header.quiets);
  __threadtalk_thread = t;
  pthread_mutex_unlock(&lock);
  return t;
}

struct thread *self(void) {
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
