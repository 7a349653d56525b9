// Hands over, then becomes the program that the arguments name.
#include "handover.h"
#include <unistd.h>

int main(int count, char **arguments) {
    hand_over();
    if (count < 2)
        return 2;
    execv(arguments[1], arguments + 1);
    return 3;
}
