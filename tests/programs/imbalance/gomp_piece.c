// A piece of work for gomp.c, at most half again as long as the mean; piece `slow` has a reason to be longer.

double piece(int i, int slow);

static __attribute__((noinline)) double spin(long n)
{
    double x = 1;
    for (long i = 0; i < n; i++) {
        x = x * 0.5 + (double)i;
        __asm__ volatile("");
    }
    return x;
}

double piece(int i, int slow)
{
    double x = spin(100 + i * 7919L % 200);
    if (i == slow) // static_if, dynamic_if, guided_if, tasks_if
        x += spin(160000);
    return x;
}
