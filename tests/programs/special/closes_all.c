// Closes every descriptor that it did not open, as daemons do, opens a file of its own, and goes on with new threads. Prints what
// that file holds at the end.
#include "handover.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void) {
    struct stat status;
    char text[64] = "";
    hand_over();
    for (int descriptor = 3; descriptor < 1024; descriptor++)
        close(descriptor);
    int mine[8];
    for (int k = 0; k < 8; k++) {
        char name[16];
        snprintf(name, sizeof name, "mine-%d", k);
        mine[k] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (write(mine[k], "only this", 9) != 9)
            return 1;
    }
    for (int k = 0; k < 20; k++)
        hand_over();
    long bytes = 0;
    for (int k = 0; k < 8; k++) {
        fstat(mine[k], &status);
        bytes += status.st_size;
    }
    if (pread(mine[0], text, sizeof text - 1, 0) < 0)
        return 1;
    printf("%ld %s\n", bytes, text);
    return 0;
}
