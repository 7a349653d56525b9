// SUGGEST: false-sharing
// TEXT: * false-sharing also in loop in d false_sharing_often.c:17, loop in e false_sharing_often.c:18
// Five loops have the same fault: the text tells three times what to do, then where else.
#include <omp.h>

#define T 4
#define COUNT(name)                                                                                                              \
    static volatile long name##s[T] __attribute__((aligned(64)));                                                                \
    static __attribute__((noinline)) void name(int me) {                                                                         \
        for (int i = 0; i < 20000; i++)                                                                                          \
            name##s[me] += i;                                                                                                    \
    }

COUNT(a)
COUNT(b)
COUNT(c)
COUNT(d)
COUNT(e)

int main(void) {
#pragma omp parallel num_threads(T)
    {
        int me = omp_get_thread_num();
        a(me), b(me), c(me), d(me), e(me);
    }
    return as[0] == 1;
}
