/* A row of structures that a neighbour wrote member by member; some members are read. */
#include "pattern.h"

#if defined(POINT)
typedef struct { double x, y, z; } Item;
static inline void set(Item *s, long i) { s->x = i; s->y = i + 1; s->z = i + 2; }
static inline double get(const Item *s) { return s->x + s->y + s->z; }
#elif defined(PARTICLE)
typedef struct { double x, y, z; int kind; float weight; } Item;
static inline void set(Item *s, long i) { s->x = i; s->y = i + 1; s->kind = i & 3; s->weight = 1; }
static inline double get(const Item *s) { return s->x * s->kind; }
#elif defined(FLOATS)
typedef struct { float a, b, c; } Item;
static inline void set(Item *s, long i) { s->a = i; s->b = 2; s->c = i; }
static inline double get(const Item *s) { return s->a + s->c; }
#elif defined(MIXED)
typedef struct { int8_t a, b; int16_t c; int32_t d; } Item;
static inline void set(Item *s, long i) { s->a = i; s->b = i; s->c = i; s->d = i; }
static inline double get(const Item *s) { return s->a + s->b + s->c; }
#elif defined(WIDE)
typedef struct { double m[12]; } Item;
static inline void set(Item *s, long i) { for (int k = 0; k < 12; k++) s->m[k] = i + k; }
static inline double get(const Item *s) { return s->m[0] + s->m[7] + s->m[11]; }
#elif defined(ENTRY)
typedef struct { long key; void *next; } Item;
static inline void set(Item *s, long i) { s->key = i; s->next = 0; }
static inline double get(const Item *s) { return s->next ? 1 : s->key; }
#elif defined(CONDITION)
typedef struct { float x, y, z, u, v, w; int kind; } Item;
/* One thread says of all what kind they are. */
#define BEGIN
static inline void begin_item(Item *s, uint32_t random) { *s = (Item){0, 0, 0, 1, 1, 1, random % 3}; }
static inline void set(Item *s, long i) {
    if (s->kind == 1) s->u = i;
    else if (s->kind == 2) s->v = i;
    s->x += s->u;
    s->y += s->v;
    s->z += s->w;
}
static inline double get(const Item *s) { return s->x + s->y + s->z + s->kind; }
#elif defined(PIXEL)
typedef struct { uint8_t r, g, b; } Item;
static inline void set(Item *s, long i) { s->r = i; s->g = i; s->b = i; }
static inline double get(const Item *s) { return s->r * 3 + s->g * 5 + s->b; }
#endif

#include "items.h"
