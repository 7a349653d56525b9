// C's name for it.
// status: 4
// trace: process_exit 0 4
// count: 1 process_exit
#include <stdlib.h>

int main(void) { _Exit(4); }
