// Blocks die whole, tails die when they are cut off, moves are a read and a write.
// trace: clear_range 104
// trace: clear_range 4900
// trace: copy_range 1000
// trace: clear_range 1000
// trace: clear_range 303088
// stdout: kept
// count: 1 copy_range
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    free(malloc(100));
    free(NULL);
    char *block = malloc(4999);
    block = realloc(block, 100);
    char *small = malloc(1000), *wall = malloc(16);
    memset(small, 'k', 1000);
    small = realloc(small, 300000); /* `wall` is in the way */
    for (int i = 0; i < 1000; i++)
        if (small[i] != 'k') return 1;
    puts("kept");
    free(small);
    free(wall);
    free(block);
    return 0;
}
