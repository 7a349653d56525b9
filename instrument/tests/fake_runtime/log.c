// What is printed: accesses and regions as they come, at the end events, visits and control flow.
#include "fake.h"

void log_access(const char *kind, uint64_t bytes, uint32_t site) {
  if (!logging) return;
  pthread_mutex_lock(&lock);
  fprintf(stderr, "%s %llu ", kind, (unsigned long long)bytes);
  if (offers) fprintf(stderr, "%u", site);
  else print_site(site);
  fprintf(stderr, "\n");
  pthread_mutex_unlock(&lock);
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
