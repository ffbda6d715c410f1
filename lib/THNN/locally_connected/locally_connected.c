#include "locally_connected/locally_connected.h"

#include "runtime/integer.h"

/* Weights are nearly all of the data: a task reads each filter once for the patches of a block of images. */
#define IMAGE_BLOCK 8
#define PATCH_REALS ((int64_t)((1 << 20) / sizeof(real) / IMAGE_BLOCK)) /* size of a part, per image */

/* Output channels of a partial sum, which is then added to gradInput and cleared. */
#define PARTIAL_TERMS 128

/* Filters of output channels that are added to a patch of gradInput at once. */
#define FILTER_BLOCK 4

/* Elements first .. first + count - 1 of a filter or patch, whose order is (i, kh, kw). */
typedef struct PatchPart {
  int64_t first, count;
} PatchPart;

/* Iterates over a part in runs of one kernel row: elements from .. end - 1 of channel i, row kh; `at` is the run's
   offset in the part. */
#define FOR_RUNS(g, part, i, kh, from, end, at)                                                                   \
  for (int64_t at = 0, from, end, i, kh, k_ = (part).first;                                                       \
       at < (part).count && (i = k_ / ((g)->axis[1].kernel * (g)->axis[2].kernel),                                \
                            kh = k_ / (g)->axis[2].kernel % (g)->axis[1].kernel, from = k_ % (g)->axis[2].kernel, \
                            end = MIN((g)->axis[2].kernel, from + (part).count - at), true);                      \
       at += end - from, k_ += end - from)

static void loadPatch(const Convolution *g, const ConvolutionView *input, int64_t n, int64_t y, int64_t x,
                      PatchPart part, real *patch)
{
  const int64_t top = y * g->axis[1].stride - g->axis[1].padding,
                left = x * g->axis[2].stride - g->axis[2].padding;
  FOR_RUNS(g, part, i, kh, from, end, at)
  {
    const int64_t row = top + kh;
    const bool inside = row >= 0 && row < g->axis[1].input;
    const real *source = (const real *)input->data + n * input->stride[0] + i * input->stride[1];
    if (inside) source += row * input->stride[3];
    for (int64_t kw = from; kw < end; kw++) {
      const int64_t column = left + kw;
      patch[at + kw - from] =
          inside && column >= 0 && column < g->axis[2].input ? source[column * input->stride[4]] : 0;
    }
  }
}

static void addPatch(const Convolution *g, const ConvolutionView *gradInput, int64_t n, int64_t y, int64_t x,
                     PatchPart part, const real *patch)
{
  const int64_t top = y * g->axis[1].stride - g->axis[1].padding,
                left = x * g->axis[2].stride - g->axis[2].padding;
  FOR_RUNS(g, part, i, kh, from, end, at)
  {
    const int64_t row = top + kh;
    if (row < 0 || row >= g->axis[1].input) continue;
    real *target =
        (real *)gradInput->data + n * gradInput->stride[0] + i * gradInput->stride[1] + row * gradInput->stride[3];
    for (int64_t kw = from; kw < end; kw++) {
      const int64_t column = left + kw;
      if (column >= 0 && column < g->axis[2].input) target[column * gradInput->stride[4]] += patch[at + kw - from];
    }
  }
}

static bool isContiguous(const Convolution *g, const LocalFilters *w)
{
  return w->kernelStride[1] == 1 && w->kernelStride[0] == g->axis[2].kernel &&
         w->inputStride == g->axis[1].kernel * g->axis[2].kernel;
}

/* Returns part of a filter: in place if filters are contiguous, else a copy in `buffer`. */
static const real *loadFilter(const Convolution *g, const LocalFilters *w, const real *filter, PatchPart part,
                              bool contiguous, real *buffer)
{
  if (contiguous) return filter + part.first;
  FOR_RUNS(g, part, i, kh, from, end, at)
  {
    const real *source = filter + i * w->inputStride + kh * w->kernelStride[0];
    for (int64_t kw = from; kw < end; kw++) buffer[at + kw - from] = source[kw * w->kernelStride[1]];
  }
  return buffer;
}

/* sum[j] = dot product of the filter and patch j, for the patches of a block of images. */
static void dots(const real *filter, const real *patches, int64_t pitch, int images, int64_t n, real *sum)
{
  for (int j = 0; j < images; j += 4) {
    const int together = MIN(4, images - j);
    vreal part[4][2] = {{{0}}};
    int64_t i = 0;
    for (; i + 2 * VL <= n; i += 2 * VL)
      for (int m = 0; m < together; m++)
        for (int v = 0; v < 2; v++)
          part[m][v] += v_load(filter + i + v * VL) * v_load(patches + (j + m) * pitch + i + v * VL);
    for (; i < n; i += VL) {
      const int rest = (int)MIN(n - i, VL);
      for (int m = 0; m < together; m++)
        part[m][0] += v_load_n(filter + i, rest) * v_load_n(patches + (j + m) * pitch + i, rest);
    }
    for (int m = 0; m < together; m++) sum[j + m] = v_sum(part[m][0] + part[m][1]);
  }
}

void THNN_(locallyConnectedOutput)(const Convolution *g, ConvolutionView input, LocalFilters weight,
                                   const real *bias, const int64_t *biasStride, ConvolutionView output)
{
  const int64_t width = g->axis[2].output, positions = g->axis[1].output * width;
  const int64_t elements = g->inputChannels * g->axis[1].kernel * g->axis[2].kernel,
                pitch = MIN(elements, PATCH_REALS);
  const bool contiguous = isContiguous(g, &weight);
  if (g->batch == 0) return;
  THNN_PARALLEL_FOR(p, positions, positions * elements * g->outputChannels * g->batch) {
    const int64_t y = p / width, x = p % width;
    real *patches = thnn_scratch(sizeof(real) * (size_t)((IMAGE_BLOCK + 1) * pitch)),
         *buffer = patches + IMAGE_BLOCK * pitch;
    const real *filters = (const real *)weight.data + y * weight.positionStride[0] + x * weight.positionStride[1];
    for (int64_t n = 0; n < g->batch; n += IMAGE_BLOCK) {
      const int images = (int)MIN(IMAGE_BLOCK, g->batch - n);
      for (PatchPart part = {0, 0}; part.first < elements; part.first += part.count) {
        part.count = MIN(pitch, elements - part.first);
        for (int j = 0; j < images; j++) loadPatch(g, &input, n + j, y, x, part, patches + j * pitch);
        for (int64_t o = 0; o < g->outputChannels; o++) {
          const real *filter = loadFilter(g, &weight, filters + o * weight.outputStride, part, contiguous, buffer);
          real sum[IMAGE_BLOCK];
          dots(filter, patches, pitch, images, part.count, sum);
          for (int j = 0; j < images; j++) {
            real *to = (real *)output.data + (n + j) * output.stride[0] + o * output.stride[1] +
                       y * output.stride[3] + x * output.stride[4];
            const real before = part.first ? *to
                                : bias     ? bias[o * biasStride[0] + y * biasStride[1] + x * biasStride[2]]
                                           : 0;
            *to = before + sum[j];
          }
        }
      }
    }
  }
}

void THNN_(locallyConnectedGradWeight)(const Convolution *g, ConvolutionView input, ConvolutionView gradOutput,
                                       LocalFilters gradWeight, real scale)
{
  const int64_t width = g->axis[2].output, positions = g->axis[1].output * width;
  const int64_t elements = g->inputChannels * g->axis[1].kernel * g->axis[2].kernel,
                pitch = MIN(elements, PATCH_REALS);
  const bool contiguous = isContiguous(g, &gradWeight);
  THNN_PARALLEL_FOR(p, positions, positions * elements * g->outputChannels * g->batch) {
    const int64_t y = p / width, x = p % width;
    real *patches = thnn_scratch(sizeof(real) * (size_t)((IMAGE_BLOCK + 1) * pitch)),
         *buffer = patches + IMAGE_BLOCK * pitch;
    real *filters = (real *)gradWeight.data + y * gradWeight.positionStride[0] + x * gradWeight.positionStride[1];
    for (int64_t n = 0; n < g->batch; n += IMAGE_BLOCK) {
      const int images = (int)MIN(IMAGE_BLOCK, g->batch - n);
      for (PatchPart part = {0, 0}; part.first < elements; part.first += part.count) {
        part.count = MIN(pitch, elements - part.first);
        for (int j = 0; j < images; j++) loadPatch(g, &input, n + j, y, x, part, patches + j * pitch);
        for (int64_t o = 0; o < g->outputChannels; o++) {
          const real *gradient = (const real *)gradOutput.data + n * gradOutput.stride[0] +
                                 o * gradOutput.stride[1] + y * gradOutput.stride[3] + x * gradOutput.stride[4];
          real *filter = filters + o * gradWeight.outputStride, factor[IMAGE_BLOCK];
          for (int j = 0; j < images; j++) factor[j] = gradient[j * gradOutput.stride[0]];
          real *to = contiguous ? filter + part.first : buffer;
          if (!contiguous) memset(buffer, 0, sizeof(real) * (size_t)part.count);
          for (int64_t i = 0; i < part.count; i += VL) {
            const int lanes = (int)MIN(VL, part.count - i);
            vreal sum = {0};
            for (int j = 0; j < images; j++) sum += factor[j] * v_load_n(patches + j * pitch + i, lanes);
            v_store_n(to + i, v_load_n(to + i, lanes) + scale * sum, lanes);
          }
          if (contiguous) continue;
          FOR_RUNS(g, part, i, kh, from, end, at)
          for (int64_t kw = from; kw < end; kw++)
            filter[i * gradWeight.inputStride + kh * gradWeight.kernelStride[0] +
                   kw * gradWeight.kernelStride[1]] += buffer[at + kw - from];
        }
      }
    }
  }
}

/* patch[i] += gradient[m] * filter[m][i] for m < together */
static void addFilters(const real *const *filter, int together, const real *gradient, int64_t gradientStride,
                       int64_t n, real *patch)
{
  if (together == FILTER_BLOCK) {
    const real g0 = gradient[0], g1 = gradient[gradientStride], g2 = gradient[2 * gradientStride],
               g3 = gradient[3 * gradientStride];
    const real *f0 = filter[0], *f1 = filter[1], *f2 = filter[2], *f3 = filter[3];
    THNN_PRAGMA(omp simd)
    for (int64_t i = 0; i < n; i++) patch[i] += (g0 * f0[i] + g1 * f1[i]) + (g2 * f2[i] + g3 * f3[i]);
    return;
  }
  for (int m = 0; m < together; m++) {
    const real *f = filter[m], factor = gradient[m * gradientStride];
    THNN_PRAGMA(omp simd)
    for (int64_t i = 0; i < n; i++) patch[i] += factor * f[i];
  }
}

/* A task owns the gradInput of some images and input channels. */
void THNN_(locallyConnectedGradInput)(const Convolution *g, ConvolutionView gradOutput, LocalFilters weight,
                                      ConvolutionView gradInput)
{
  const int64_t width = g->axis[2].output, positions = g->axis[1].output * width,
                area = g->axis[1].kernel * g->axis[2].kernel;
  const int64_t blocks = MAX(4, g->inputChannels * area / 256),
                channelsOfTask = ceilDivide(g->inputChannels, blocks);
  const int64_t channelTasks = ceilDivide(g->inputChannels, channelsOfTask);
  const int64_t imageBlocks = ceilDivide(g->batch, IMAGE_BLOCK), pitch = MIN(channelsOfTask * area, PATCH_REALS);
  const bool contiguous = isContiguous(g, &weight);
  const int64_t work = g->batch * positions * g->inputChannels * area * g->outputChannels;
  THNN_PARALLEL_FOR(task, imageBlocks * channelTasks, work) {
    real *patches = thnn_scratch(sizeof(real) * (size_t)((IMAGE_BLOCK + FILTER_BLOCK) * pitch)),
         *buffer = patches + IMAGE_BLOCK * pitch;
    const int64_t n = task / channelTasks * IMAGE_BLOCK, channel = task % channelTasks * channelsOfTask;
    const int images = (int)MIN(IMAGE_BLOCK, g->batch - n);
    const int64_t channels = MIN(channelsOfTask, g->inputChannels - channel), end = (channel + channels) * area;
    for (int j = 0; j < images; j++)
      for (int64_t i = channel; i < channel + channels; i++)
        for (int64_t row = 0; row < g->axis[1].input; row++)
          for (int64_t column = 0; column < g->axis[2].input; column++)
            ((real *)gradInput.data)[(n + j) * gradInput.stride[0] + i * gradInput.stride[1] +
                                     row * gradInput.stride[3] + column * gradInput.stride[4]] = 0;
    for (int64_t p = 0; p < positions; p++) {
      const int64_t y = p / width, x = p % width;
      const real *filters =
          (const real *)weight.data + y * weight.positionStride[0] + x * weight.positionStride[1];
      const real *gradients = (const real *)gradOutput.data + n * gradOutput.stride[0] + y * gradOutput.stride[3] +
                              x * gradOutput.stride[4];
      for (PatchPart part = {channel * area, 0}; part.first < end; part.first += part.count) {
        part.count = MIN(pitch, end - part.first);
        for (int64_t first = 0; first < g->outputChannels; first += PARTIAL_TERMS) {
          const int64_t last = MIN(first + PARTIAL_TERMS, g->outputChannels);
          memset(patches, 0, sizeof(real) * (size_t)(images * pitch));
          for (int64_t o = first; o < last; o += FILTER_BLOCK) {
            const int together = (int)MIN(FILTER_BLOCK, last - o);
            const real *filter[FILTER_BLOCK];
            for (int m = 0; m < together; m++)
              filter[m] = loadFilter(g, &weight, filters + (o + m) * weight.outputStride, part, contiguous,
                                     buffer + m * pitch);
            for (int j = 0; j < images; j++)
              addFilters(filter, together, gradients + j * gradOutput.stride[0] + o * gradOutput.stride[1],
                         gradOutput.stride[1], part.count, patches + j * pitch);
          }
          for (int j = 0; j < images; j++) addPatch(g, &gradInput, n + j, y, x, part, patches + j * pitch);
        }
      }
    }
  }
}

void THNN_(locallyConnectedGradBias)(const Convolution *g, ConvolutionView gradOutput, real *gradBias,
                                     const int64_t *gradBiasStride, real scale)
{
  const int64_t height = g->axis[1].output, width = g->axis[2].output,
                elements = g->outputChannels * height * width;
  THNN_PARALLEL_FOR(task, g->outputChannels, elements * g->batch) {
    for (int64_t y = 0; y < height; y++)
      for (int64_t x = 0; x < width; x++) {
        const real *from = (const real *)gradOutput.data + task * gradOutput.stride[1] + y * gradOutput.stride[3] +
                           x * gradOutput.stride[4];
        double sum = 0;
        for (int64_t n = 0; n < g->batch; n++) sum += (double)from[n * gradOutput.stride[0]];
        gradBias[task * gradBiasStride[0] + y * gradBiasStride[1] + x * gradBiasStride[2]] +=
            (real)((double)scale * sum);
      }
  }
}
