// Loads the library that the argument names, hands over through it, unloads it and does so again.
#include "handover.h"
#include <dlfcn.h>

int main(int count, char **arguments) {
    hand_over();
    for (int turn = 0; turn < 2 && count > 1; turn++) {
        void *library = dlopen(arguments[1], RTLD_NOW);
        if (library == NULL) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        one((void *(*)(void *))dlsym(library, "library_fill"), NULL);
        one((void *(*)(void *))dlsym(library, "library_take"), NULL);
        dlclose(library);
    }
    return 0;
}
