// REFUSE: synchronisation
// Threads follow atomic links from item to item, and in each step one of them puts another item in front. Each look is
// at another link: nobody waits for it to change.
#include <omp.h>
#include <stdatomic.h>

#define T 2
#define STEPS 300

struct item {
    _Atomic(struct item *) next;
    long key;
};

static struct item items[STEPS];
static _Atomic(struct item *) first;
long found[T][8];

static __attribute__((noinline)) long search(long key) {
    struct item *item = atomic_load_explicit(&first, memory_order_acquire);
    while (item && item->key != key)
        item = atomic_load_explicit(&item->next, memory_order_acquire);
    return item ? item->key : 0;
}

int main(void) {
#pragma omp parallel num_threads(T)
    for (int step = 0; step < STEPS; step++) {
        int own = omp_get_thread_num();
        if (step % T == own) {
            items[step].key = step + 1;
            atomic_store(&items[step].next, atomic_load(&first));
            atomic_store(&first, &items[step]);
        }
#pragma omp barrier
        found[own][0] += search(1 + step / 4);
#pragma omp barrier
    }
    return found[0][0] == 0;
}
