// The accesses whose inlined sequences tests/tests/disassembly.rs counts: one function for each kind.
int read_4(const int *p) {
    return *p;
}

long read_8(const long *p) {
    return *p;
}

void write_4(int *p) {
    *p = 1;
}

void write_8(long *p) {
    *p = 1;
}

// Not affine, so that the loop is not counted as a whole; not out of data, so that the read has a memo.
long remembered(const int *a, long n, long mask) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i & mask];
    return sum;
}

// Two reads: an affine one with a memo, and one whose address comes out of data, which asks the event cache.
long gathered(const int *a, const int *index, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[index[i]];
    return sum;
}
