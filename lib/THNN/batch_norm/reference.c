/* The functions of batch_norm.h and group_norm.h as plain loops in double: no tiles, no threads, no vectors. */

#include "batch_norm/batch_norm.h"
#include "batch_norm/group_norm.h"
#include "simd/half_lanes.h"

void THNN_(batchNormInit)(BatchNorm *b, THTensor *x, THTensor *g, THTensor *out, bool reduces)
{
  const THTensor *shape = x != NULL ? x : g;
  THTensor *tensors[] = {x, g, out};
  Operand *operands[] = {&b->x, &b->g, &b->out};
  memset(b, 0, sizeof *b);
  b->channels = shape->size[1];
  b->positions = 1;
  b->layout = LAYOUT_STRIDED;
  b->reduces = reduces;
  for (int d = 0; d < shape->ndim; d++) {
    if (d == 1) continue;
    b->size[b->dims] = shape->size[d];
    b->positions *= shape->size[d];
    for (int i = 0; i < 3; i++)
      if (tensors[i] != NULL) operands[i]->stride[b->dims] = tensors[i]->stride[d];
    b->dims++;
  }
  for (int i = 0; i < 3; i++)
    if (tensors[i] != NULL) {
      operands[i]->data = TH_DATA(tensors[i]);
      operands[i]->type = tensors[i]->type;
      operands[i]->channelStride = tensors[i]->stride[1];
    }
}

static int64_t offsetOf(const BatchNorm *b, const Operand *operand, int64_t c, int64_t position)
{
  int64_t offset = c * operand->channelStride;
  for (int d = b->dims - 1; d >= 0; position /= b->size[d--]) offset += position % b->size[d] * operand->stride[d];
  return offset;
}

static double element(const BatchNorm *b, const Operand *operand, int64_t c, int64_t position)
{
  return loadElement(operand->data, offsetOf(b, operand, c, position), operand->type);
}

static void store(const BatchNorm *b, const Operand *operand, int64_t c, int64_t position, real value)
{
  storeElement(operand->data, offsetOf(b, operand, c, position), operand->type, value);
}

static double inverseStd(const ChannelParameters *p, int64_t c)
{
  return p->inverseStd != NULL ? *elementOf(p->inverseStd, c)
                               : inverseDeviation(*elementOf(p->variance, c), p->eps);
}

static double factor(const THTensor *weight, int64_t c) { return weight != NULL ? *elementOf(weight, c) : 1; }

static double normalized(const ChannelParameters *p, int64_t c, double mean, double x)
{
  return (x - mean) * inverseStd(p, c) * factor(p->weight, c) + (p->bias != NULL ? *elementOf(p->bias, c) : 0);
}

static double relu(const ChannelParameters *p, double y) { return y <= 0 ? 0 : y > p->limit ? p->limit : y; }

/* The gradient of the normalized value: gradOutput, or with relu the gradient of relu. */
static double gradient(const BatchNorm *b, const ChannelParameters *p, int64_t c, int64_t i)
{
  const double g = element(b, &b->g, c, i);
  if (!p->relu) return g;
  const double y = normalized(p, c, *elementOf(p->mean, c), element(b, &b->x, c, i));
  return y <= 0 || (y >= p->limit && p->limit < (double)INFINITY) ? 0 : g;
}

static void channelMoments(const BatchNorm *b, int64_t c, double *mean, double *squares)
{
  double sum = 0;
  for (int64_t i = 0; i < b->positions; i++) sum += element(b, &b->x, c, i);
  *mean = b->positions > 0 ? sum / (double)b->positions : 0;
  *squares = 0;
  for (int64_t i = 0; i < b->positions; i++) {
    const double d = element(b, &b->x, c, i) - *mean;
    *squares += d * d;
  }
}

static void channelGradSums(const BatchNorm *b, const ChannelParameters *p, int64_t c, double *sum, double *dot)
{
  *sum = *dot = 0;
  for (int64_t i = 0; i < b->positions; i++) {
    const double g = gradient(b, p, c, i);
    *sum += g;
    *dot += g * (element(b, &b->x, c, i) - *elementOf(p->mean, c));
  }
}

static void channelNormalize(const BatchNorm *b, const ChannelParameters *p, int64_t c, double mean)
{
  for (int64_t i = 0; i < b->positions; i++) {
    double y = normalized(p, c, mean, element(b, &b->x, c, i));
    if (b->g.data != NULL) y += element(b, &b->g, c, i);
    store(b, &b->out, c, i, (real)(p->relu ? relu(p, y) : y));
  }
}

static void channelGradInput(const BatchNorm *b, const ChannelParameters *p, int64_t c, double sum, double dot,
                             double count)
{
  const double inverse = inverseStd(p, c);
  for (int64_t i = 0; i < b->positions; i++) {
    double g = gradient(b, p, c, i) - sum / count;
    if (dot != 0) g -= (element(b, &b->x, c, i) - *elementOf(p->mean, c)) * inverse * inverse * dot / count;
    store(b, &b->out, c, i, (real)(g * inverse * factor(p->weight, c)));
  }
}

static void saveChannel(const StatisticsOutputs *to, int64_t c, double mean, double squares, double count)
{
  const double variance = squares / (to->unbiased ? count - 1 : count), m = to->momentum;
  *elementOf(to->save_mean, c) = (real)mean;
  *elementOf(to->save_std, c) = (real)inverseDeviation(squares / count, to->eps);
  if (to->running_mean != NULL)
    *elementOf(to->running_mean, c) = (real)(m * mean + (1 - m) * *elementOf(to->running_mean, c));
  if (to->running_var != NULL)
    *elementOf(to->running_var, c) = (real)(m * variance + (1 - m) * *elementOf(to->running_var, c));
}

void THNN_(batchNormMoments)(const BatchNorm *b, ChannelPairs to)
{
  for (int64_t c = 0; c < b->channels; c++)
    channelMoments(b, c, &to.data[to.stride * c], &to.data[to.stride * (b->channels + c)]);
}

void THNN_(batchNormMergeMoments)(int64_t channels, accreal *mean, accreal *squares, accreal count,
                                  const accreal *otherMean, const accreal *otherSquares, accreal otherCount)
{
  const double n = count + otherCount;
  for (int64_t c = 0; c < channels && otherCount > 0; c++) {
    const double delta = otherMean[c] - mean[c];
    mean[c] += delta * otherCount / n;
    squares[c] += otherSquares[c] + delta * delta * count * otherCount / n;
  }
}

void THNN_(batchNormSaveStatistics)(const StatisticsOutputs *to, int64_t channels, ChannelPairs moments,
                                    accreal count)
{
  for (int64_t c = 0; c < channels; c++)
    saveChannel(to, c, moments.data[moments.stride * c], moments.data[moments.stride * (channels + c)], count);
}

void THNN_(batchNormNormalize)(const BatchNorm *b, const ChannelParameters *p)
{
  for (int64_t c = 0; c < b->channels; c++) channelNormalize(b, p, c, *elementOf(p->mean, c));
}

void THNN_(batchNormGradSums)(const BatchNorm *b, const ChannelParameters *p, ChannelPairs to)
{
  for (int64_t c = 0; c < b->channels; c++)
    channelGradSums(b, p, c, &to.data[to.stride * c], &to.data[to.stride * (b->channels + c)]);
}

void THNN_(batchNormGradInput)(const BatchNorm *b, const ChannelParameters *p, const ChannelPairs *sums,
                               accreal count)
{
  for (int64_t c = 0; c < b->channels; c++)
    if (sums == NULL) channelGradInput(b, p, c, 0, 0, 1);
    else
      channelGradInput(b, p, c, sums->data[sums->stride * c], sums->data[sums->stride * (b->channels + c)], count);
}

void THNN_(batchNormForward)(const BatchNorm *b, const StatisticsOutputs *to, const ChannelParameters *p)
{
  for (int64_t c = 0; c < b->channels; c++) {
    double mean, squares;
    channelMoments(b, c, &mean, &squares);
    saveChannel(to, c, mean, squares, (double)b->positions);
    channelNormalize(b, p, c, p->relu && b->g.data == NULL ? *elementOf(p->mean, c) : mean);
  }
}

void THNN_(batchNormCut)(const Cut *cut)
{
  const BatchNorm *b = &cut->batch;
  real rounded = 0;
  storeElement(&rounded, 0, b->x.type, (real)cut->limit);
  const double limit = loadElement(&rounded, 0, b->x.type);
  for (int64_t c = 0; c < b->channels; c++)
    for (int64_t i = 0; i < b->positions; i++) {
      const double y = element(b, &b->x, c, i);
      const bool passes = !cut->relu || !(y <= 0 || (y >= limit && limit < (double)INFINITY));
      store(b, &b->out, c, i, passes ? (real)element(b, &b->g, c, i) : 0);
    }
}

void THNN_(batchNormBackward)(const BatchNorm *b, const Cut *cut, const GradientOutputs *to,
                              const ChannelParameters *p)
{
  if (cut != NULL) THNN_(batchNormCut)(cut);
  for (int64_t c = 0; c < b->channels; c++) {
    double sum, dot;
    channelGradSums(b, p, c, &sum, &dot);
    if (to->gradWeight != NULL) *elementOf(to->gradWeight, c) += (real)(to->scale * inverseStd(p, c) * dot);
    if (to->gradBias != NULL) *elementOf(to->gradBias, c) += (real)(to->scale * sum);
    if (b->out.data == NULL) continue;
    if (to->train) channelGradInput(b, p, c, sum, dot, (double)b->positions);
    else channelGradInput(b, p, c, 0, 0, 1);
  }
}

void THNN_(batchNormRunMoments)(const real *x, int64_t n, accreal *mean, accreal *squares, int64_t count)
{
  double sum = 0, newSquares = 0;
  for (int64_t i = 0; i < n; i++) sum += x[i];
  const double newMean = n > 0 ? sum / (double)n : 0;
  for (int64_t i = 0; i < n; i++) newSquares += (x[i] - newMean) * (x[i] - newMean);
  THNN_(batchNormMergeMoments)(1, mean, squares, (double)count, &newMean, &newSquares, (double)n);
}

/* ---- groups ---- */

void THNN_(groupNormForward)(THTensor *x, THTensor *out, const THTensor *weight, const THTensor *bias,
                             const THTensor *save_mean, const THTensor *save_std, int64_t groups, accreal eps)
{
  BatchNorm b;
  THNN_(batchNormInit)(&b, x, NULL, out, true);
  const int64_t samples = x->size[0], length = samples > 0 ? b.positions / samples : 0,
                width = b.channels / groups;
  const double count = (double)(width * length);
  for (int64_t n = 0; n < samples; n++)
    for (int64_t group = 0; group < groups; group++) {
      const int64_t first = group * width;
      double sum = 0, squares = 0;
      for (int64_t c = first; c < first + width; c++)
        for (int64_t i = n * length; i < (n + 1) * length; i++) sum += element(&b, &b.x, c, i);
      const double mean = count > 0 ? sum / count : 0;
      for (int64_t c = first; c < first + width; c++)
        for (int64_t i = n * length; i < (n + 1) * length; i++) {
          const double d = element(&b, &b.x, c, i) - mean;
          squares += d * d;
        }
      const double inverse = inverseDeviation(count > 0 ? squares / count : 0, eps);
      *statistic(save_mean, n, group) = (real)mean;
      *statistic(save_std, n, group) = (real)inverse;
      for (int64_t c = first; c < first + width; c++)
        for (int64_t i = n * length; i < (n + 1) * length; i++)
          store(&b, &b.out, c, i,
                (real)((element(&b, &b.x, c, i) - mean) * inverse * factor(weight, c) +
                       (bias != NULL ? *elementOf(bias, c) : 0)));
    }
}

void THNN_(groupNormBackward)(THTensor *x, THTensor *g, THTensor *out, const THTensor *gradWeight,
                              const THTensor *gradBias, const THTensor *weight, const THTensor *save_mean,
                              const THTensor *save_std, int64_t groups, accreal scale)
{
  BatchNorm b;
  THNN_(batchNormInit)(&b, x, g, out, true);
  const int64_t samples = x->size[0], length = samples > 0 ? b.positions / samples : 0,
                width = b.channels / groups;
  const double count = (double)(width * length);
  for (int64_t n = 0; n < samples; n++)
    for (int64_t group = 0; group < groups; group++) {
      const double mean = *statistic(save_mean, n, group), inverse = *statistic(save_std, n, group);
      const int64_t first = group * width;
      double groupSum = 0, groupDot = 0;
      for (int64_t c = first; c < first + width; c++) {
        double sum = 0, dot = 0;
        for (int64_t i = n * length; i < (n + 1) * length; i++) {
          const double gradient = element(&b, &b.g, c, i);
          sum += gradient;
          dot += gradient * (element(&b, &b.x, c, i) - mean);
        }
        if (gradWeight != NULL) *elementOf(gradWeight, c) += (real)(scale * inverse * dot);
        if (gradBias != NULL) *elementOf(gradBias, c) += (real)(scale * sum);
        groupSum += factor(weight, c) * sum;
        groupDot += factor(weight, c) * dot;
      }
      if (b.out.data == NULL) continue;
      for (int64_t c = first; c < first + width; c++)
        for (int64_t i = n * length; i < (n + 1) * length; i++) {
          const double centred = element(&b, &b.x, c, i) - mean;
          const double gradient = element(&b, &b.g, c, i) * factor(weight, c) - groupSum / count -
                                  centred * inverse * inverse * groupDot / count;
          store(&b, &b.out, c, i, (real)(gradient * inverse));
        }
    }
}
