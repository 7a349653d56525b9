// A library whose constructor uses heap and threads: it comes after the runtime's start.
// library: early.library.c
// linkage: archive lld preload
// trace: process_start 1
// trace: clear_range 792
// trace: thread_created 1
// trace: thread_gone 1 1
// trace: process_exit 1 0
int early_library(void);
int main(void) { return early_library(); }
