/* Maximum and average: the choice of the loops, and the plain loops for any geometry. */

#include "pooling/forward.h"
#include "pooling/max_tiles.h"
#include "pooling/regions.h"

/* Plain loops, for geometries that exceed the scratch memory or whose indices exceed a lane. */
static void forwardPlain(const PoolingForward *f)
{
  const WindowAxis *d = &f->pooling->axis[0], *h = &f->pooling->axis[1], *w = &f->pooling->axis[2];
  const PoolingImages *x = &f->x, *y = &f->y, *index = &f->index;
  const int64_t rows = x->n * x->c * d->output * h->output;
  THNN_PARALLEL_FOR(row, rows, rows * w->input) {
    const int64_t slice = row / h->output, o = row % h->output, od = slice % d->output;
    const real *from = f->input + imagesPlane(x, slice / d->output);
    real *to = f->output + imagesSlice(y, slice) + o * y->sh;
    int64_t *indexTo = f->indices ? f->indices + imagesSlice(index, slice) + o * index->sh : NULL;
    int64_t d0, dEnd, h0, hEnd, w0, wEnd;
    windowElements(d, od, &d0, &dEnd);
    windowElements(h, o, &h0, &hEnd);
    for (int64_t j = 0; j < w->output; j++) {
      windowElements(w, j, &w0, &wEnd);
      int64_t bestIndex = -1;
      real best = LOWEST;
      accreal sum = 0;
      for (int64_t k = d0; k < dEnd; k++)
        for (int64_t r = h0; r < hEnd; r++)
          for (int64_t c = w0; c < wEnd; c++) {
            const real value = from[(windowStart(d, od) + k * d->dilation) * x->sd +
                                    (windowStart(h, o) + r * h->dilation) * x->sh +
                                    (windowStart(w, j) + c * w->dilation) * x->sw];
            if (bestIndex < 0 || value > best || value != value) {
              best = value;
              bestIndex = indexAt(&f->indexAxis[0], od, k) + indexAt(&f->indexAxis[1], o, r) +
                          indexAt(&f->indexAxis[2], j, c);
            }
            sum += value;
          }
      sum /= (accreal)poolingDivisor(d, od, f->countPadding) * (accreal)poolingDivisor(h, o, f->countPadding) *
             (accreal)poolingDivisor(w, j, f->countPadding);
      to[j * y->sw] = f->indices ? best : (real)sum;
      if (f->indices) indexTo[j * index->sw] = bestIndex;
    }
  }
}

/* Rows that fill vectors and are read in place take less time than transpositions. */
static bool maxTiles(const PoolingForward *f)
{
  const MaxTiles tiles = {.pooling = f->pooling,
                          .x = f->x,
                          .y = f->y,
                          .index = f->index,
                          .input = f->input,
                          .output = f->output,
                          .indices = f->indices};
  return f->indices && !(readsInPlace(f) && f->y.w >= VL) && THNN_(poolingMaxTiles)(&tiles);
}

static void forward(PoolingForward *f)
{
  indexAxes(f->pooling, f->indexAxis);
  const bool channelsLast = imagesAreChannelsLast(&f->x) && imagesAreChannelsLast(&f->y) &&
                            (!f->indices || imagesAreChannelsLast(&f->index));
  const bool done = indexFitsLanes(f->pooling) && (channelsLast ? THNN_(poolingForwardChannelsLast)(f)
                                                                : THNN_(poolingForwardHalving)(f) || maxTiles(f) ||
                                                                      THNN_(poolingForwardRows)(f));
  if (!done) forwardPlain(f);
}

void THNN_(poolingMax)(const Pooling *pooling, const THTensor *input, THTensor *output, THIndexTensor *indices)
{
  forward(&(PoolingForward){.pooling = pooling,
                            .x = poolingImages(pooling, input),
                            .y = poolingImages(pooling, output),
                            .index = poolingImages(pooling, indices),
                            .input = TH_DATA(input),
                            .output = TH_DATA(output),
                            .indices = indices->data});
}

void THNN_(poolingAverage)(const Pooling *pooling, bool countPadding, const THTensor *input, THTensor *output)
{
  PoolingForward f = {.pooling = pooling,
                      .x = poolingImages(pooling, input),
                      .y = poolingImages(pooling, output),
                      .input = TH_DATA(input),
                      .output = TH_DATA(output),
                      .countPadding = countPadding};
  const bool isChannelsLast = imagesAreChannelsLast(&f.x) && imagesAreChannelsLast(&f.y);
  if (!isChannelsLast && windowsAreRegions(pooling))
    THNN_(poolingRegionAverage)(&(PoolingRegions){.pooling = *pooling, .isAdaptive = true}, input, output);
  else if (isChannelsLast || !windowsSuitTiles(pooling) ||
           !THNN_(poolingAverageTiles)(pooling, countPadding, input, output))
    forward(&f);
}

bool THNN_(poolingScaledSum)(const Pooling *pooling, const THTensor *input, const real *scale, const real *bias,
                             THTensor *output)
{
  const PoolingForward f = {.pooling = pooling,
                            .x = poolingImages(pooling, input),
                            .y = poolingImages(pooling, output),
                            .input = TH_DATA(input),
                            .output = TH_DATA(output),
                            .scale = scale,
                            .bias = bias};
  return imagesAreChannelsLast(&f.x) && imagesAreChannelsLast(&f.y) ? THNN_(poolingForwardChannelsLast)(&f)
                                                                    : THNN_(poolingForwardRows)(&f);
}
