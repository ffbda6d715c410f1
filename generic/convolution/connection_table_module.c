#include "convolution/connection_table_module.h"

#include "connection_table/connection_table.h"
#include "convolution/geometry_checks.h"

typedef struct ConnectionTableModule {
  Convolution g;
  bool transposed;
  int64_t outputSize[4]; /* size of the module's output, batch first */
} ConnectionTableModule;

/* The checks that all three functions share, except for the entries of the table. Sets *m. weight may be gradWeight. */
static void check(THNNState *state, ConnectionTableModule *m, bool transposed, const THTensor *input,
                  const THTensor *weight, const char *weightName, const THTensor *connTable, int nInputPlane,
                  int nOutputPlane, int dW, int dH)
{
  if (input->ndim != 3 && input->ndim != 4)
    return THNN_fail(state, THNN_VALUE_ERROR, "input", "expected 4 dimensions (N, nInputPlane, H, W) or 3, got %s",
                     THNN_shape(input));
  const int64_t *size = input->size + (input->ndim - 3), *kernel = weight->size + 1;
  thnn_checkAtLeast(state, "nInputPlane", nInputPlane, 1);
  thnn_checkAtLeast(state, "nOutputPlane", nOutputPlane, 1);
  thnn_checkAtLeast(state, "dW", dW, 1);
  thnn_checkAtLeast(state, "dH", dH, 1);
  THNN_RETURN_IF_FAILED(state);
  if (size[0] != nInputPlane || size[1] < 1 || size[2] < 1)
    return THNN_fail(state, THNN_VALUE_ERROR, "input",
                     "expected %d channels (nInputPlane) of at least one row and one column, got %s", nInputPlane,
                     THNN_shape(input));
  if (weight->ndim != 3 || kernel[0] < 1 || kernel[1] < 1)
    return THNN_fail(state, THNN_VALUE_ERROR, weightName, "expected 3 dimensions (connections, kH, kW), got %s",
                     THNN_shape(weight));
  if (connTable->ndim != 2 || connTable->size[0] != weight->size[0] || connTable->size[1] != 2)
    return THNN_fail(state, THNN_VALUE_ERROR, "connTable",
                     "expected (%lld, 2), one row per filter of weight, got %s", (long long)weight->size[0],
                     THNN_shape(connTable));
  Convolution *g = &m->g;
  *g = convolutionMake(2);
  m->transposed = transposed;
  g->batch = input->ndim == 4 ? input->size[0] : 1;
  g->inputChannels = transposed ? nOutputPlane : nInputPlane;
  g->outputChannels = transposed ? nInputPlane : nOutputPlane;
  g->axis[1] = (WindowAxis){size[1], size[1], kernel[0], dH, 0, 1};
  g->axis[2] = (WindowAxis){size[2], size[2], kernel[1], dW, 0, 1};
  int64_t bytes = (int64_t)sizeof(real) * nOutputPlane;
  bool fits = !__builtin_mul_overflow(bytes, g->batch > 1 ? g->batch : 1, &bytes);
  for (int d = 1; transposed && d < 3; d++)
    fits = fits && windowInputSize(g->axis + d, 0) && !__builtin_mul_overflow(bytes, g->axis[d].input, &bytes);
  if (!fits)
    return THNN_fail(state, THNN_VALUE_ERROR, "input",
                     "the output would be larger than memory can hold: input %s, stride %d x %d",
                     THNN_shape(input), dH, dW);
  THNN_(convolutionCheckOutput)(state, g, "input");
  const WindowAxis *h = g->axis + 1, *w = g->axis + 2;
  memcpy(m->outputSize,
         (int64_t[]){g->batch, nOutputPlane, transposed ? h->input : h->output, transposed ? w->input : w->output},
         sizeof m->outputSize);
}

static void checkBias(THNNState *state, const THTensor *bias, const char *name, int nOutputPlane)
{
  if (bias->ndim != 1 || bias->size[0] != nOutputPlane)
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected one value per output channel (%d), got %s", nOutputPlane,
              THNN_shape(bias));
}

/* Checks the entries of the table. It reads data, so it follows THNN_RETURN_IF_META. */
static void checkTable(THNNState *state, const THTensor *connTable, int nInputPlane, int nOutputPlane)
{
  for (int64_t c = 0; c < connTable->size[0]; c++)
    for (int column = 0; column < 2; column++) {
      const double channel = (double)TH_DATA(connTable)[c * connTable->stride[0] + column * connTable->stride[1]];
      const int channels = column ? nOutputPlane : nInputPlane;
      if (channel >= 0 && channel < channels && channel == (double)(int)channel) continue;
      return THNN_fail(state, THNN_INDEX_ERROR, "connTable",
                       "expected an %s channel, a whole number from 0 to %d, in row %lld, got %g",
                       column ? "output" : "input", channels - 1, (long long)c, channel);
    }
}

static ConnectionTable tableView(const ConnectionTableModule *m, const THTensor *table)
{
  return (ConnectionTable){.data = table->data,
                           .rows = table->size[0],
                           .stride = {table->stride[0], table->stride[1]},
                           .outputColumn = m->transposed ? 0 : 1};
}

static ConvolutionView filterView(const THTensor *weight)
{
  return (ConvolutionView){.data = weight->data,
                           .stride = {weight->stride[0], 0, 0, weight->stride[1], weight->stride[2]}};
}

static ConvolutionView biasView(const THTensor *bias)
{
  return (ConvolutionView){.data = bias->data, .stride = {bias->stride[0]}};
}

void THNN_(connectionTableUpdateOutput)(THNNState *state, bool transposed, THTensor *input, THTensor *output,
                                        THTensor *weight, THTensor *bias, THTensor *connTable, int nInputPlane,
                                        int nOutputPlane, int dW, int dH)
{
  ConnectionTableModule m;
  check(state, &m, transposed, input, weight, "weight", connTable, nInputPlane, nOutputPlane, dW, dH);
  checkBias(state, bias, "bias", nOutputPlane);
  THNN_RETURN_IF_FAILED(state);
  const THNNLayout layout = THNNTensor_isChannelsLast(input) ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS;
  THNN_resize(state, "output", output, input->ndim, m.outputSize + (4 - input->ndim), layout);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, weight);
  THNN_CHECK_NO_OVERLAP(output, bias);
  THNN_CHECK_NO_OVERLAP(output, connTable);
  THNN_RETURN_IF_META(state);
  checkTable(state, connTable, nInputPlane, nOutputPlane);
  THNN_RETURN_IF_FAILED(state);
  const ConvolutionView from = THNN_(convolutionImageView)(input), to = THNN_(convolutionImageView)(output);
  const ConnectionTable table = tableView(&m, connTable);
  if (transposed) THNN_(connectionTableGradInput)(&m.g, table, from, filterView(weight), biasView(bias), to);
  else THNN_(connectionTableOutput)(&m.g, table, from, filterView(weight), biasView(bias), to);
}

void THNN_(connectionTableUpdateGradInput)(THNNState *state, bool transposed, THTensor *input,
                                           THTensor *gradOutput, THTensor *gradInput, THTensor *weight,
                                           THTensor *bias, THTensor *connTable, int nInputPlane, int nOutputPlane,
                                           int dW, int dH)
{
  ConnectionTableModule m;
  check(state, &m, transposed, input, weight, "weight", connTable, nInputPlane, nOutputPlane, dW, dH);
  checkBias(state, bias, "bias", nOutputPlane);
  THNN_RETURN_IF_FAILED(state);
  thnn_checkGradOutput(state, gradOutput, input->ndim, m.outputSize + (4 - input->ndim));
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, weight);
  THNN_CHECK_NO_OVERLAP(gradInput, connTable);
  THNN_RETURN_IF_META(state);
  checkTable(state, connTable, nInputPlane, nOutputPlane);
  THNN_RETURN_IF_FAILED(state);
  const ConvolutionView from = THNN_(convolutionImageView)(gradOutput),
                        to = THNN_(convolutionImageView)(gradInput);
  const ConvolutionView noBias = {0};
  const ConnectionTable table = tableView(&m, connTable);
  if (transposed) THNN_(connectionTableOutput)(&m.g, table, from, filterView(weight), noBias, to);
  else THNN_(connectionTableGradInput)(&m.g, table, from, filterView(weight), noBias, to);
}

void THNN_(connectionTableAccGradParameters)(THNNState *state, bool transposed, THTensor *input,
                                             THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                             THTensor *connTable, int nInputPlane, int nOutputPlane, int dW,
                                             int dH, accreal scale)
{
  ConnectionTableModule m;
  check(state, &m, transposed, input, gradWeight, "gradWeight", connTable, nInputPlane, nOutputPlane, dW, dH);
  checkBias(state, gradBias, "gradBias", nOutputPlane);
  THNN_RETURN_IF_FAILED(state);
  thnn_checkGradOutput(state, gradOutput, input->ndim, m.outputSize + (4 - input->ndim));
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_IN_PLACE_UPDATE(gradWeight, gradBias, input, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradWeight, connTable);
  THNN_CHECK_NO_OVERLAP(gradBias, connTable);
  THNN_RETURN_IF_META(state);
  checkTable(state, connTable, nInputPlane, nOutputPlane);
  THNN_RETURN_IF_FAILED(state);
  const ConvolutionView in = THNN_(convolutionImageView)(input), out = THNN_(convolutionImageView)(gradOutput);
  THNN_(connectionTableGradWeight)(&m.g, tableView(&m, connTable), transposed ? out : in, transposed ? in : out,
                                   filterView(gradWeight), (real)scale);
  /* gradBias sums the output of the module, which is the input of the geometry if the module is transposed. */
  Convolution biased = m.g;
  biased.outputChannels = nOutputPlane;
  for (int d = 1; d < 3; d++) biased.axis[d].output = m.outputSize[d + 1];
  THNN_(convolutionGradBias)(&biased, THNN_(convolutionImageView)(gradOutput),
                             (ConvolutionView){.data = gradBias->data, .stride = {gradBias->stride[0]}},
                             (real)scale);
}
