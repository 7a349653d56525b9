// A program that is an OMPT tool itself keeps its role.
// flags: -fopenmp
// environment: OMP_NUM_THREADS=3
// linkage: archive lld
// stdout: own tool
// count: 0 thread_is_openmp_worker
// count: 2 thread_created
#include <omp-tools.h>
#include <stdio.h>

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data) {
    puts("own tool");
    return 0;
}
static void finalize(ompt_data_t *data) {}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime) {
    static ompt_start_tool_result_t result = {initialize, finalize, {0}};
    return &result;
}

int main(void) {
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads++;
    return threads != 3;
}
