/* Gradients gathered in lanes. */

#include "pooling/backward.h"

static ALWAYS_INLINE void gatherBlock(const int64_t *first, int vectors, int lanes, const GatherRows *rows,
                                      const GatherSources *sources, int64_t count, GatherMode mode)
{
  const GatherRows s = *rows;
  const GatherSources o = *sources;
  const vreal zero = {0};
  const real *from = s.from;
  const int64_t *fromIndex = s.fromIndex;
  real *to = s.to;
  vint here = vi_set1((vlane)s.indexBase);
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
        const int64_t *index = fromIndex + o.indexOffset[t];
        const vint wanted = mode == GATHER_KERNEL ? vi_set1(o.kernelIndex[t]) : here;
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
          thnn_prefetchAhead(g + first[v], VL * (int)sizeof *g);
          thnn_prefetchAhead(index + first[v], VL * (int)sizeof *index);
          const vmask isWanted = vi_eq(loadIndices(index + first[v], lanes), wanted);
          sum[v] += v_sel(isWanted, loadLanes(g + first[v], lanes), zero);
        }
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors && mode == GATHER_WEIGHTED; v++)
      if (s.scale) sum[v] *= loadLanes(s.scale + first[v], lanes);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      if (lanes == VL && s.streams) v_stream(to + first[v], sum[v]);
      else storeLanes(to + first[v], sum[v], lanes);
      if (s.streams && mode == GATHER_WEIGHTED && count > 0)
        thnn_prefetchAhead(from + o.offset[0] + first[v], VL * (int)sizeof *from);
    }
    here += vi_set1((vlane)s.indexPerRow);
    from += s.fromStep;
    if (mode != GATHER_WEIGHTED) fromIndex += s.fromIndexStep;
    to += s.toStep;
  }
}

/* One function per mode, because its loops need all the registers. Windows of 3 x 3 and stride 2 have inputs with 1, 2
   and 4 sources: these counts get unrolled loops. */
#define GATHER(name, mode)                                                                                    \
  static __attribute__((noinline)) void name(int64_t n, const GatherRows *rows, const GatherSources *sources) \
  {                                                                                                           \
    if (n < 1) __builtin_unreachable(); /* so that loads of fewer than VL lanes are inlined */                \
    if (sources->count == 1) FOR_LANE_BLOCKS(n, gatherBlock, rows, sources, 1, mode);                         \
    else if (sources->count == 2) FOR_LANE_BLOCKS(n, gatherBlock, rows, sources, 2, mode);                    \
    else if (sources->count == 4) FOR_LANE_BLOCKS(n, gatherBlock, rows, sources, 4, mode);                    \
    else FOR_LANE_BLOCKS(n, gatherBlock, rows, sources, sources->count, mode);                                \
  }
GATHER(gatherInput, GATHER_INPUT)
GATHER(gatherKernel, GATHER_KERNEL)
GATHER(gatherWeighted, GATHER_WEIGHTED)
#undef GATHER

void THNN_(poolingGather)(int64_t n, const GatherRows *rows, const GatherSources *sources, GatherMode mode)
{
  switch (mode) {
  case GATHER_INPUT:
    gatherInput(n, rows, sources);
    break;
  case GATHER_KERNEL:
    gatherKernel(n, rows, sources);
    break;
  case GATHER_WEIGHTED:
    gatherWeighted(n, rows, sources);
    break;
  }
}
