// The signal is the program's own.
// status: signal 6
// trace: process_exit 0 -1
// linkage: archive lld preload static
#include <stdlib.h>

int main(void) { abort(); }
