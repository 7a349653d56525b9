// Linked with the shared library.
#include "handover.h"

void *library_fill(void *unused);
void *library_take(void *unused);

int main(void) {
    hand_over();
    one(library_fill, NULL);
    one(library_take, NULL);
    return 0;
}
