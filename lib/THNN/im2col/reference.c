#include "im2col/im2col.h"

static int64_t pairCount(const Im2col *w)
{
  int64_t count = 1;
  for (int d = 0; d < 4; d++) count *= w->axis[d].output * w->axis[d].kernel;
  return count;
}

/* A column element of a channel and the image element that it reads, NULL in the padding. */
typedef struct Pair {
  real *column, *image;
} Pair;

static Pair pairAt(const Im2col *w, int64_t n, int64_t c, int64_t i)
{
  Pair p = {(real *)w->columns + n * w->columnBatchStride + c * w->columnChannelStride,
            (real *)w->image + n * w->imageBatchStride + c * w->imageChannelStride};
  bool inside = true;
  for (int d = 3; d >= 0; d--) {
    const WindowAxis *a = w->axis + d;
    const int64_t k = i % a->kernel, q = i / a->kernel % a->output;
    const int64_t x = windowInputAt(a, q, k);
    i /= a->kernel * a->output;
    p.column += q * w->columnStride[d] + k * w->kernelStride[d];
    p.image += x * w->imageStride[d];
    inside = inside && x >= 0;
  }
  if (!inside) p.image = NULL;
  return p;
}

void THNN_(im2col)(THNNState *state __attribute__((unused)), const Im2col *w)
{
  for (int64_t n = 0; n < w->batch; n++)
    for (int64_t c = 0; c < w->channels; c++)
      for (int64_t i = 0; i < pairCount(w); i++) {
        const Pair p = pairAt(w, n, c, i);
        *p.column = p.image ? *p.image : 0;
      }
}

/* The sum of all columns that read image element x of a channel. */
static double gather(const Im2col *w, int64_t n, int64_t c, const int64_t *x)
{
  double sum = 0;
  const int64_t elements = w->axis[1].kernel * w->axis[2].kernel * w->axis[3].kernel;
  for (int64_t i = 0; i < elements; i++) {
    const real *column = (const real *)w->columns + n * w->columnBatchStride + c * w->columnChannelStride;
    bool reads = true;
    int64_t rest = i;
    for (int d = 3; d > 0; d--) {
      const WindowAxis *a = w->axis + d;
      const int64_t k = rest % a->kernel, q = windowOutputAt(a, x[d - 1], k);
      reads = reads && q >= 0;
      column += q * w->columnStride[d] + k * w->kernelStride[d];
      rest /= a->kernel;
    }
    if (reads) sum += *column;
  }
  return sum;
}

void THNN_(col2im)(THNNState *state __attribute__((unused)), const Im2col *w, bool add)
{
  int64_t x[3];
  for (int64_t n = 0; n < w->batch; n++)
    for (int64_t c = 0; c < w->channels; c++)
      for (x[0] = 0; x[0] < w->axis[1].input; x[0]++)
        for (x[1] = 0; x[1] < w->axis[2].input; x[1]++)
          for (x[2] = 0; x[2] < w->axis[3].input; x[2]++) {
            real *image = (real *)w->image + n * w->imageBatchStride + c * w->imageChannelStride;
            for (int d = 0; d < 3; d++) image += x[d] * w->imageStride[d + 1];
            *image = (real)((add ? *image : 0) + gather(w, n, c, x));
          }
}

void THNN_(subsamplingGradWeight)(const Im2col *w, real *weight, int64_t weightStride, real scale)
{
  for (int64_t c = 0; c < w->channels; c++) {
    double sum = 0;
    for (int64_t n = 0; n < w->batch; n++)
      for (int64_t i = 0; i < pairCount(w); i++) {
        const Pair p = pairAt(w, n, c, i);
        if (p.image) sum += (double)*p.image * *p.column;
      }
    weight[c * weightStride] += (real)(scale * sum);
  }
}
