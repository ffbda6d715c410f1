#include "convolution/correlation.h"
#include "simd/half_lanes.h"

/* Sums over rows are kept in double. Within a row, four vector accumulators add BLOCK_TERMS terms per lane, 16 each,
   before their sum is added in double. */
#define BLOCK_TERMS 64

/* Channels that are innermost in memory are added CHANNEL_BLOCKS vectors at a time, where that leaves a task for each
   thread: rows are often 4 KiB apart, and then lines of different rows displace each other from the caches. */
#define CHANNEL_BLOCKS 4

/* n <= VL elements from element i on. */
static ALWAYS_INLINE vreal load(const real *from, int64_t i, int32_t type, int n)
{
  if (isHalf(type)) return v_loadHalf(elementAt(from, i, type), type, n);
  return n == VL ? v_load(from + i) : v_load_n(from + i, n);
}

/* Adds a row of `width` positions of n channels that are innermost in memory: a lane per channel. n is a multiple of VL
   unless `blocks` is 1. */
static ALWAYS_INLINE void addChannels(const real *from, int32_t type, int64_t width, int64_t stride, int blocks,
                                      int n, double *sum)
{
  const int lanes = blocks == 1 ? n : VL;
  for (int64_t x = 0; x < width;) {
    vreal part[CHANNEL_BLOCKS][4] = {{{0}}};
    const int64_t end = MIN(x + BLOCK_TERMS, width);
    for (; x + 4 <= end; x += 4)
      for (int i = 0; i < 4; i++)
        for (int b = 0; b < blocks; b++) {
          __builtin_prefetch(elementAt(from, (x + 16 + i) * stride + b * VL, type));
          part[b][i] += load(from, (x + i) * stride + b * VL, type, lanes);
        }
    for (; x < end; x++)
      for (int b = 0; b < blocks; b++) part[b][0] += load(from, x * stride + b * VL, type, lanes);
    for (int b = 0; b < blocks; b++) {
      const vreal all = (part[b][0] + part[b][1]) + (part[b][2] + part[b][3]);
      for (int i = 0; i < lanes; i++) sum[b * VL + i] += (double)all[i];
    }
  }
}

/* Returns `sum` plus a contiguous row of one channel. */
static inline double rowSum(const real *from, int32_t type, int64_t width, double sum)
{
  for (int64_t x = 0; x < width;) {
    vreal part[4] = {{0}};
    const int64_t end = MIN(x + BLOCK_TERMS * VL, width);
    for (; x + 4 * VL <= end; x += 4 * VL)
      for (int i = 0; i < 4; i++) {
        __builtin_prefetch(elementAt(from, x + (64 + i) * VL, type));
        part[i] += load(from, x + i * VL, type, VL);
      }
    for (; x + VL <= end; x += VL) part[0] += load(from, x, type, VL);
    if (x < end) part[0] += load(from, x, type, (int)(end - x));
    x = end;
    sum += (double)v_sum((part[0] + part[1]) + (part[2] + part[3]));
  }
  return sum;
}

void THNN_(convolutionGradBias)(const Convolution *g, ConvolutionView gradOutput, ConvolutionView gradBias,
                                real scale)
{
  /* gradOutput becomes source and target of a correlation, because correlationForward merges contiguous axes. */
  Convolution plain = convolutionMake(3);
  plain.type = g->type;
  plain.batch = g->batch;
  plain.inputChannels = plain.outputChannels = g->outputChannels;
  for (int d = 0; d < WINDOW_AXES; d++) plain.axis[d].input = plain.axis[d].output = g->axis[d].output;
  const Correlation c = THNN_(correlationForward)(&plain, gradOutput, (ConvolutionView){0}, gradOutput);
  const int64_t size[3] = {c.axis[0].targetSize, c.axis[1].targetSize, c.axis[2].targetSize},
                width = c.axis[3].targetSize, stride = c.axis[3].sourceStride;
  const int64_t rows = size[0] * size[1] * size[2], channels = g->outputChannels;
  if (rows * width == 0) return;
  const int64_t channelsOfGroup = channels / g->groups;
  const bool innermost = c.sourceChannelStride == 1 && channels > 1;
  const int64_t work = rows * width * channels, most = CHANNEL_BLOCKS * VL;
  int64_t together = 1; /* channels of a task */
  if (innermost) together = channels >= most * thnn_threads(ceilDivide(channels, VL), work) ? most : VL;
  const int64_t tasks = ceilDivide(channels, together);
  THNN_PARALLEL_FOR(task, tasks, work) {
    const int64_t first = task * together;
    const int n = (int)MIN(together, channels - first);
    double sum[CHANNEL_BLOCKS * VL] = {0};
    int64_t q[3] = {0};
    for (int64_t row = 0; row < rows; row++, nextIndex(q, size, 3)) {
      int64_t at = first * c.sourceChannelStride;
      for (int d = 0; d < 3; d++) at += q[d] * c.axis[d].sourceStride;
      const real *from = elementAt(c.source, at, c.type);
      if (innermost && n == most) addChannels(from, c.type, width, stride, CHANNEL_BLOCKS, n, sum);
      else if (innermost)
        for (int i = 0; i < n; i += VL)
          addChannels(elementAt(from, i, c.type), c.type, width, stride, 1, MIN(VL, n - i), sum + i);
      else if (stride == 1) sum[0] = rowSum(from, c.type, width, sum[0]);
      else
        for (int64_t x = 0; x < width; x++) sum[0] += (double)loadElement(from, x * stride, c.type);
    }
    for (int i = 0; i < n; i++) {
      const int64_t group = (first + i) / channelsOfGroup, channel = (first + i) % channelsOfGroup;
      const int64_t at = group * gradBias.group + channel * gradBias.stride[0];
      storeElement(gradBias.data, at, c.type,
                   loadElement(gradBias.data, at, c.type) + (real)((double)scale * sum[i]));
    }
  }
}
