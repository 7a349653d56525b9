/* What the compiler pass does for control flow, by hand: a module with COUNTERS counters, and COUNT(k) adds 1 to one of them. */
#include <stddef.h>
#include <stdint.h>

struct bases {
    uint32_t site_base, site_salt, write_site_base, region_base, counter_base;
};
struct descriptor {
    uint32_t abi_version, sites, regions, tables_len, counters, reserved;
    const void *tables;
    struct bases *bases;
};

extern void __threadtalk_register(struct descriptor *);
extern char *__threadtalk_attach(void);
extern __thread char *__threadtalk_thread __attribute__((tls_model("initial-exec")));

#ifndef SITES
#define SITES 1
#endif

static const struct {
    uint32_t regions, sites, bytes_of_strings, name, functions, blocks, edges, calls;
    uint32_t region[6];       /* a function without a name */
    uint32_t site[SITES][4];  /* region, file, line, flags */
    char strings[4];
} tables = {1, SITES, 4, 0, 0, 0, 0, 0, {1}};
static struct bases bases;
static struct descriptor descriptor = {ABI_VERSION, SITES, 1, sizeof tables, COUNTERS, 0, &tables, &bases};

__attribute__((constructor)) static void register_module(void) { __threadtalk_register(&descriptor); }

static char *header(void) { return __threadtalk_thread ? __threadtalk_thread : __threadtalk_attach(); }

#define COUNT(k) (++(*(uint64_t *volatile *)(header() + COLUMN_OFFSET))[bases.counter_base + (k)])
