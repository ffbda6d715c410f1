#ifndef THNN_RUNTIME_OPENMP_H
#define THNN_RUNTIME_OPENMP_H

/* The functions of OpenMP runtimes that the library calls. <omp.h> belongs to a runtime, and clang has it only for the
   runtime that must not be used here (openmp.c). */

int omp_in_parallel(void);
int omp_get_max_threads(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
int omp_get_num_procs(void);
double omp_get_wtime(void);

#endif
