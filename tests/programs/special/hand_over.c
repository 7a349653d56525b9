// N = 100 elements go from worker 1 to worker 2. Prints a line to both outputs.
#include "handover.h"

int main(void) {
    hand_over();
    puts("to stdout");
    fputs("to stderr\n", stderr);
    return 42;
}
