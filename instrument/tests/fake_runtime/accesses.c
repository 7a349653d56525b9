// Accesses: a cell for each granule, and an event for each site, writer and reader.
#include "fake.h"

struct event *events, nothing = {.next = UINT64_MAX};
static struct state states[1 << 16];
static uint32_t state_count;

// What the hooks for reads can do, they do.
#define AGAIN __attribute__((preserve_all, visibility("default")))
AGAIN uint32_t __threadtalk_again4(void *a, uint32_t site) { (void)a, (void)site; return 0; }
AGAIN uint32_t __threadtalk_again8(void *a, uint32_t site) { (void)a, (void)site; return 0; }

uint32_t *cell(uintptr_t a) {
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

void access_range(int write, const void *p, uint64_t bytes, uint32_t site) {
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
