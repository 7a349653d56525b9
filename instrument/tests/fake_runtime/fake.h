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
//
// One file for each part: registry.c knows threads, modules and names, accesses.c counts, questions.c answers for whole
// loops and nests, log.c prints.
#ifndef FAKE_H
#define FAKE_H

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
  uint64_t least_asked;
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

extern __thread void *__threadtalk_thread __attribute__((tls_model("initial-exec")));
extern pthread_mutex_t lock;
extern uint64_t *directory;
extern struct thread *threads[THREADS];
extern int thread_count;
extern struct descriptor *modules[256];
extern int module_count;
extern struct event *events, nothing; // what was counted, and what counts for nothing
extern int logging, offers;

struct thread *self(void);
void set_write_base(struct header *h, uint32_t base);
const struct region *regions_of(const struct descriptor *m);
const struct site *sites_of(const struct descriptor *m);
const char *strings_of(const struct descriptor *m);
const struct descriptor *module_of_site(uint32_t site);
void print_region(const struct descriptor *m, uint32_t index);
void print_site(uint32_t site);

uint32_t *cell(uintptr_t a);
void access_range(int write, const void *p, uint64_t bytes, uint32_t site);
void log_access(const char *kind, uint64_t bytes, uint32_t site);

#endif
