// What library.c calls, built by gcc.

double library(long rounds);

double library(long rounds)
{
    double x = 1;
    for (long i = 0; i < rounds; i++) {
        x = x * 0.5 + (double)i;
        __asm__ volatile("");
    }
    return x;
}
