#include "convolution/implicit_gemm.h"
#include "convolution/winograd.h"
#include "convolution/winograd_transforms.h"

#ifdef WINOGRAD

/* Channels whose filters are packed before they are transformed. */
#define PACKED_CHANNELS 16

void THNN_(winogradWeights)(const Correlation *c, int64_t panel, int64_t slice, int64_t begin, int64_t end,
                            int64_t componentStride, real *to)
{
  const Tile kernel = {.start = {0, slice, 0, 0}, .size = {1, 1, 3, 3}};
  const int64_t outChannel = panel * GEMM_NR, lanes = MIN(GEMM_NR, c->outChannels - outChannel);
  const int V = lanes > VL ? 2 : 1;
  const real *weight = c->weight + slice * c->axis[1].weightStride + outChannel * c->weightOutStride;
  real packed[PACKED_CHANNELS * 9 * GEMM_NR];
  if (lanes < V * VL) memset(packed, 0, sizeof packed);
  for (int64_t k = begin; k < end; k += PACKED_CHANNELS) {
    const int64_t channels = MIN(PACKED_CHANNELS, end - k);
    THNN_(packKBlock)(c, weight + k * c->weightInStride, lanes, V * VL, channels, &kernel, 1, packed);
    const WeightBlock after = {.outChannel = outChannel,
                               .channel = k + channels,
                               .channels = MIN(PACKED_CHANNELS, c->inChannels - k - channels),
                               .kernel = &kernel};
    const PrefetchRegion next = after.channels > 0 ? THNN_(weightRegion)(c, &after) : (PrefetchRegion){0};
    for (int64_t i = 0; i < channels * V; i++) {
      prefetchPart(&next, i, channels * V);
      const real *filter = packed + i / V * 9 * V * VL + i % V * VL;
      real *component = to + ((k - begin) * V + i) * VL;
      vreal column[12]; /* [component of the column][column] */
#pragma GCC unroll 3
      for (int x = 0; x < 3; x++) {
        const vreal g[3] = {v_load(filter + x * V * VL), v_load(filter + (3 + x) * V * VL),
                            v_load(filter + (6 + x) * V * VL)};
        winogradFilter(g, 1, column + x, 3);
      }
#pragma GCC unroll 4
      for (int y = 0; y < 4; y++) {
        vreal row[4];
        winogradFilter(column + 3 * y, 1, row, 1);
#pragma GCC unroll 4
        for (int x = 0; x < 4; x++) v_store(component + (4 * y + x) * componentStride, row[x]);
      }
    }
  }
}

#endif
