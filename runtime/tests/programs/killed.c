// Nothing is told of a kill; nothing needs to be.
// status: signal 9
// trace: process_start 1
// count: 0 process_exit
#include <signal.h>

int main(void) { raise(SIGKILL); }
