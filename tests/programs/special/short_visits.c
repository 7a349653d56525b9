// Each of as many threads as the first argument says visits one short function as often as the second one says, through
// a pointer, so that the compiler does not know that it is called from a loop.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t start;
static long visits;

__attribute__((noinline)) static long brief(const long *values, long count) {
  long sum = 0;
  for (long i = 0; i < count; i++) sum = sum * 3 ^ values[i];
  return sum;
}

static long (*volatile visited)(const long *, long) = brief;

static void *work(void *argument) {
  long values[4] = {1, 2, 3, (long)argument};
  pthread_barrier_wait(&start);
  for (long i = 0; i < visits; i++) values[i % 4] += visited(values, 1 + i % 4);
  return (void *)values[0];
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  visits = argc > 2 ? atol(argv[2]) : 1;
  pthread_t all[64];
  if (threads < 1 || threads > 64) return 1;
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (long i = 0; i < threads; i++) pthread_create(&all[i], NULL, work, (void *)i);
  long sum = 0;
  for (int i = 0; i < threads; i++) {
    void *result;
    pthread_join(all[i], &result);
    sum += (long)result;
  }
  printf("%ld\n", sum);
  return 0;
}
