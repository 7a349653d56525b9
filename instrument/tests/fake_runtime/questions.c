// Questions about whole loops and nests: the rows are access by access what the loop would do.
#include "fake.h"

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
                           const struct bases *bases, uint8_t *credit) {
  count &= 0x07ffffff; // without loops::IN_NEST, STRAYS, WINDOWS, CALLED, CREDIT
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
