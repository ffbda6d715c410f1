/* The gradients of maximum and average: the choice of the loops, and the plain loops for any geometry. */

#include "pooling/backward.h"
#include "pooling/indexed.h"
#include "pooling/regions.h"

/* The time of scattering an element, in comparisons of an index. */
#define SCATTER_COST 11

/* Plain loops for any geometry. */
static void gatherAverage(const PoolingBackward *f)
{
  const WindowAxis *d = &f->pooling->axis[0], *h = &f->pooling->axis[1], *w = &f->pooling->axis[2];
  const PoolingImages *g = &f->g, *x = &f->x;
  const bool count = f->countPadding;
  const int64_t slices = x->n * x->c * d->input;
  THNN_PARALLEL_FOR(slice, slices, slices * h->input * w->input) {
    const real *from = f->gradOutput + imagesPlane(g, slice / d->input);
    int64_t front = 0, back = 0;
    windowSlide(d, slice % d->input, &front, &back);
    for (int64_t i = 0, low = 0, high = 0; i < h->input; i++) {
      windowSlide(h, i, &low, &high);
      for (int64_t j = 0, left = 0, right = 0; j < w->input; j++) {
        windowSlide(w, j, &left, &right);
        accreal sum = 0;
        for (int64_t k = front; k < back; k++)
          for (int64_t r = low; r < high; r++)
            for (int64_t c = left; c < right; c++)
              sum += from[k * g->sd + r * g->sh + c * g->sw] /
                     ((accreal)poolingDivisor(d, k, count) * (accreal)poolingDivisor(h, r, count) *
                      (accreal)poolingDivisor(w, c, count));
        f->gradInput[imagesSlice(x, slice) + i * x->sh + j * x->sw] = (real)sum;
      }
    }
  }
}

/* The arguments of every call; `indices` may be NULL. */
static PoolingBackward backwardOf(const Pooling *pooling, const THTensor *gradOutput, const THIndexTensor *indices,
                                  THTensor *gradInput)
{
  PoolingBackward f = {.pooling = pooling,
                       .g = poolingImages(pooling, gradOutput),
                       .x = poolingImages(pooling, gradInput),
                       .gradOutput = TH_DATA(gradOutput),
                       .gradInput = TH_DATA(gradInput),
                       .streams = backwardStreams(gradInput, gradOutput, indices)};
  if (indices) {
    f.index = poolingImages(pooling, indices);
    f.indices = indices->data;
  }
  return f;
}

/* Channels-last gradients of maxima are gathered: each input compares the indices of all windows that contain it. Where
   these are many, scattering is faster: all inputs are cleared, and each output adds its gradient to one of them. */
static bool scattersMaxima(const Pooling *pooling)
{
  double inputs = 1, outputs = 1, kernel = 1;
  for (int a = 0; a < WINDOW_AXES; a++) {
    const WindowAxis *axis = &pooling->axis[a];
    inputs *= (double)axis->input;
    outputs *= (double)axis->output;
    kernel *= (double)axis->kernel;
  }
  return outputs * kernel > outputs * SCATTER_COST + inputs;
}

void THNN_(poolingMaxBackward)(const Pooling *pooling, bool inWindows, const THTensor *gradOutput,
                               const THIndexTensor *indices, THTensor *gradInput)
{
  const PoolingBackward f = backwardOf(pooling, gradOutput, indices, gradInput);
  const bool channelsLast = imagesAreChannelsLast(&f.index) && imagesAreChannelsLast(&f.x);
  const bool done = inWindows && (channelsLast ? !scattersMaxima(pooling) && THNN_(poolingBackwardChannelsLast)(&f)
                                               : THNN_(poolingBackwardHalving)(&f));
  if (!done) THNN_(poolingScatter)(pooling, gradOutput, indices, gradInput, true);
}

void THNN_(poolingAverageBackward)(const Pooling *pooling, bool countPadding, const THTensor *gradOutput,
                                   THTensor *gradInput)
{
  PoolingBackward f = backwardOf(pooling, gradOutput, NULL, gradInput);
  f.countPadding = countPadding;
  if (!imagesAreChannelsLast(&f.x) && windowsAreRegions(pooling)) {
    const PoolingRegions regions = {.pooling = *pooling, .isAdaptive = true};
    return THNN_(poolingRegionAverageBackward)(&regions, gradOutput, gradInput);
  }
  const bool done = imagesAreChannelsLast(&f.x)
                        ? THNN_(poolingBackwardChannelsLast)(&f)
                        : THNN_(poolingBackwardHalving)(&f) ||
                              (windowsSuitTiles(pooling) &&
                               THNN_(poolingAverageTilesBackward)(pooling, countPadding, gradOutput, gradInput)) ||
                              THNN_(poolingBackwardRows)(&f);
  if (!done) gatherAverage(&f);
}

bool THNN_(poolingScaledSumBackward)(const Pooling *pooling, const THTensor *gradOutput, const real *scale,
                                     THTensor *gradInput)
{
  PoolingBackward f = backwardOf(pooling, gradOutput, NULL, gradInput);
  f.scale = scale;
  return imagesAreChannelsLast(&f.x) ? THNN_(poolingBackwardChannelsLast)(&f)
                                     : THNN_(poolingBackwardHalving)(&f) || THNN_(poolingBackwardRows)(&f);
}
