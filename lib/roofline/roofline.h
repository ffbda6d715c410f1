#ifndef THNN_ROOFLINE_ROOFLINE_H
#define THNN_ROOFLINE_ROOFLINE_H

/* libroofline.so: the machine's rates of arithmetic and of copying memory, and the time a cache line takes between two
   cores, for `python -m thnn bench`. Instruction sets are default, avx2 and avx512; the threads are OpenMP's. */

#include <stdbool.h>
#include <stdint.h>

/* The best rate of multiply-adds seen in about `seconds`, fused (FMA) where the instruction set has them, in operations
   per second; a multiply-add is two operations. 0 if the library or the CPU does not have the instruction set. */
double roofline_flops(const char *instructionSet, bool isDouble, double seconds);

/* Copies memory, with non-temporal stores if `nonTemporal`; both addresses and `bytes` must be multiples of 64. False
   if the library or the CPU does not have the instruction set. */
bool roofline_copy(const char *instructionSet, uintptr_t to, uintptr_t from, int64_t bytes, bool nonTemporal);

/* The time in which a cache line passes from one of two threads to the other, in seconds: the mean of `passes` passes.
   0 if there is one thread or one CPU. */
double roofline_exchange(int64_t passes);

/* The loops of one instruction set (loops.c). roofline_fma runs `rounds` FMAs on each of several vectors and returns
   the number of operations; roofline_copy copies n elements. */
#define ROOFLINE_LOOPS(set)                                                                      \
  double THNN_Floatroofline_fma_##set(int64_t rounds);                                           \
  double THNN_Doubleroofline_fma_##set(int64_t rounds);                                          \
  void THNN_Floatroofline_copy_##set(float *to, const float *from, int64_t n, bool nonTemporal); \
  void THNN_Doubleroofline_copy_##set(double *to, const double *from, int64_t n, bool nonTemporal)

ROOFLINE_LOOPS(default);
ROOFLINE_LOOPS(avx2);
ROOFLINE_LOOPS(avx512);

#endif
