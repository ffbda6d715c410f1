/* Gradients gathered in lanes. */

#include "pooling/backward.h"

static ALWAYS_INLINE void gatherBlock(const int64_t *first, int vectors, int lanes, const GatherRows *rows,
                                      const GatherSources *sources, int64_t count, GatherMode mode)
{
  const GatherRows s = *rows;
  const GatherSources o = *sources;
  const bool isInt64 = mode == GATHER_INPUT_INT64 || mode == GATHER_KERNEL_INT64;
  const bool isKernel = mode == GATHER_KERNEL_INT64 || mode == GATHER_KERNEL_LANE;
  const bool mayStream =
      mode != GATHER_INPUT_LANE && mode != GATHER_KERNEL_LANE; /* callers with lane indices never do */
  const vreal zero = {0};
  const real *from = s.from;
  const char *fromIndex = s.fromIndex;
  const int64_t fromIndexStep = s.fromIndexStep * (int64_t)(isInt64 ? sizeof(int64_t) : sizeof(real));
  real *to = s.to;
  vint here[MAX_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++)
    here[v] = vi_set1((vlane)(s.indexBase + first[v] * s.indexPerLane)) + s.indexRamp;
  for (int64_t n = s.count; n > 0; n--) {
    vreal sum[MAX_VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) sum[v] = zero;
#pragma GCC unroll 4
    for (int64_t t = 0; t < count; t++) {
      const real *g = from + o.offset[t];
      if (mode == GATHER_WEIGHTED) {
        const vreal weight = v_set1(o.weight[t]);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sum[v] += loadLanes(g + first[v], lanes) * weight;
      } else {
        const int64_t *wide = (const int64_t *)fromIndex + o.indexOffset[t];
        const real *lane = (const real *)fromIndex + o.indexOffset[t];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
          if (isInt64) {
            thnn_prefetchAhead(g + first[v], VL * (int)sizeof *g);
            thnn_prefetchAhead(wide + first[v], VL * (int)sizeof *wide);
          }
          vint index = isInt64 ? loadIndices(wide + first[v], lanes) : (vint)loadLanes(lane + first[v], lanes);
          vint wanted = isKernel ? vi_set1(o.kernelIndex[t]) : here[v];
          sum[v] += v_sel(vi_eq(index, wanted), loadLanes(g + first[v], lanes), zero);
        }
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors && mode == GATHER_WEIGHTED; v++)
      if (s.scale) sum[v] *= loadLanes(s.scale + first[v], lanes);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      if (lanes == VL && mayStream && s.streams) v_stream(to + first[v], sum[v]);
      else storeLanes(to + first[v], sum[v], lanes);
      if (s.streams && mode == GATHER_WEIGHTED && count > 0)
        thnn_prefetchAhead(from + o.offset[0] + first[v], VL * (int)sizeof *from);
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) here[v] += vi_set1((vlane)s.indexPerRow);
    from += s.fromStep;
    if (mode != GATHER_WEIGHTED) fromIndex += fromIndexStep;
    to += s.toStep;
  }
}

/* One function per mode, because its loops need all the registers. Windows of 3 x 3 and stride 2 have inputs with 1, 2
   and 4 sources: these counts get unrolled loops. */
#define GATHER(name, mode)                                                                                    \
  static __attribute__((noinline)) void name(int64_t n, const GatherRows *rows, const GatherSources *sources) \
  {                                                                                                           \
    if (n < 1) __builtin_unreachable(); /* so that loads of fewer lanes than a vector has are inlined */      \
    if (sources->count == 1) FOR_LANE_BLOCKS(n, gatherBlock, rows, sources, 1, mode);                         \
    else if (sources->count == 2) FOR_LANE_BLOCKS(n, gatherBlock, rows, sources, 2, mode);                    \
    else if (sources->count == 4) FOR_LANE_BLOCKS(n, gatherBlock, rows, sources, 4, mode);                    \
    else FOR_LANE_BLOCKS(n, gatherBlock, rows, sources, sources->count, mode);                                \
  }
GATHER(gatherInputInt64, GATHER_INPUT_INT64)
GATHER(gatherInputLane, GATHER_INPUT_LANE)
GATHER(gatherKernelInt64, GATHER_KERNEL_INT64)
GATHER(gatherKernelLane, GATHER_KERNEL_LANE)
GATHER(gatherWeighted, GATHER_WEIGHTED)
#undef GATHER

void THNN_(poolingGather)(int64_t n, const GatherRows *rows, const GatherSources *sources, GatherMode mode)
{
  switch (mode) {
  case GATHER_INPUT_INT64:
    gatherInputInt64(n, rows, sources);
    break;
  case GATHER_INPUT_LANE:
    gatherInputLane(n, rows, sources);
    break;
  case GATHER_KERNEL_INT64:
    gatherKernelInt64(n, rows, sources);
    break;
  case GATHER_KERNEL_LANE:
    gatherKernelLane(n, rows, sources);
    break;
  case GATHER_WEIGHTED:
    gatherWeighted(n, rows, sources);
    break;
  }
}
