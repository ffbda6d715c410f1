#define MULTIPLY_ADD(acc, x, w) ((acc) + (x) * (w))
#include "gemm/microtile.h"

Microkernel THNN_(microkernel)(int R, int Q, int V, bool prefetches) { return microtileOf(R, Q, V, prefetches); }
