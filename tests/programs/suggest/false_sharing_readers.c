// SUGGEST: false-sharing
// SAYS: reads beside it what false_sharing_readers.c:
// THREADTALK: memory,control
// Bodies whose masses all threads read, and each adds up the force of its own beside them: each addition takes the line away
// from those that read the mass, which main wrote before there was a team.
#define T 4
#define N 512
#define STEPS 20

static struct {
    long mass;
    volatile long force;
} bodies[N];

int main(void) {
    for (int i = 0; i < N; i++)
        bodies[i].mass = i;
#pragma omp parallel for num_threads(T) schedule(static)
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < STEPS * N; k++)
            bodies[i].force += bodies[k % N].mass;
    }
    return bodies[0].force == 1;
}
