// Calls neighbour.rs.
#include <stdio.h>

unsigned long neighbour(unsigned long numbers);

int main(void) { return printf("caught a panic, 4 threads gave %lu\n", neighbour(1000)) < 0; }
