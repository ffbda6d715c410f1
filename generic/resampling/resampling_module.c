#include "resampling/resampling_module.h"

#include "runtime/pieces.h"

static bool isPadding(const ResampleArguments *axis) { return axis->kind <= RESAMPLE_REFLECT; }

/* The size of the output along one axis, or -1 after a failure. */
static int64_t outputSize(THNNState *state, const char *name, int64_t input, const ResampleArguments *axis)
{
  if (isPadding(axis)) {
    const int64_t output = input + axis->before + axis->after;
    if (axis->kind == RESAMPLE_REFLECT && (axis->before >= input || axis->after >= input))
      THNN_fail(state, THNN_VALUE_ERROR, name,
                "expected a reflection padding below the size, %lld, got %s = %lld and %lld", (long long)input,
                axis->name, (long long)axis->before, (long long)axis->after);
    else if (output < 1)
      THNN_fail(state, THNN_VALUE_ERROR, name, "a size of %lld with %s = %lld and %lld has no output",
                (long long)input, axis->name, (long long)axis->before, (long long)axis->after);
    else return output;
    return -1;
  }
  if (input >= RESAMPLE_SIZE_LIMIT) {
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected sizes below 2^31, got %lld", (long long)input);
    return -1;
  }
  if (axis->factor == 0 && axis->output < 1) {
    THNN_fail(state, THNN_VALUE_ERROR, axis->name, "expected at least 1, got %lld", (long long)axis->output);
    return -1;
  }
  const int64_t output = axis->factor ? input * axis->factor : axis->output;
  if (output < RESAMPLE_SIZE_LIMIT) return output;
  THNN_fail(state, THNN_VALUE_ERROR, axis->name, "expected an output below 2^31, got %lld", (long long)output);
  return -1;
}

/* Checks the size of the input and the arguments, and sets *resampling. The last `count` dimensions are its axes. */
static void checkResampling(THNNState *state, const char *name, int ndim, const int64_t *size, bool batchless,
                            int count, const ResampleArguments *axes, Resampling *resampling)
{
  static const char *const dimensions[RESAMPLING_AXES][2] = {
      {"(N, C, W)", "(C, W)"}, {"(N, C, H, W)", "(C, H, W)"}, {"(N, C, T, H, W)", "(C, T, H, W)"}};
  const char *const *expected = dimensions[count - 1];
  *resampling = (Resampling){count, {RESAMPLE_AXIS_TRIVIAL, RESAMPLE_AXIS_TRIVIAL, RESAMPLE_AXIS_TRIVIAL}};
  if (ndim != count + 2 && !(batchless && ndim == count + 1)) {
    if (batchless)
      THNN_fail(state, THNN_VALUE_ERROR, name, "expected %d dimensions %s or %d %s, got %s", count + 2,
                expected[0], count + 1, expected[1], THNN_shapeOf(ndim, size));
    else
      THNN_fail(state, THNN_VALUE_ERROR, name, "expected %d dimensions %s, got %s", count + 2, expected[0],
                THNN_shapeOf(ndim, size));
    return;
  }
  int64_t elements = 1;
  bool fits = true;
  for (int d = 0; d < ndim; d++) {
    if (size[d] < 0 || (size[d] == 0 && d >= ndim - count - 1)) {
      THNN_fail(state, THNN_VALUE_ERROR, name, "expected no empty dimension but N, got %s",
                THNN_shapeOf(ndim, size));
      return;
    }
    int64_t output = size[d];
    if (d >= ndim - count) {
      const ResampleArguments *arguments = &axes[ndim - 1 - d];
      output = outputSize(state, name, size[d], arguments);
      THNN_RETURN_IF_FAILED(state);
      ResampleAxis *axis = &resampling->axis[RESAMPLING_AXES - ndim + d];
      *axis = (ResampleAxis){arguments->kind, size[d], output, arguments->before, arguments->scale};
      /* Every output is the input of the same index. */
      if (output == size[d] && (arguments->scale == 0 || arguments->scale == 1) && !isPadding(arguments))
        *axis = (ResampleAxis){.kind = RESAMPLE_REPLICATE, .input = output, .output = output};
    }
    fits &= !__builtin_mul_overflow(elements, output, &elements);
  }
  /* Bytes of a tensor, strides and sums of sizes stay below 2^63. */
  if (!fits || elements >= INT64_MAX / 16)
    THNN_fail(state, THNN_VALUE_ERROR, name, "%s gives an output too large to address", THNN_shapeOf(ndim, size));
}

static void resampledSize(const Resampling *resampling, int ndim, const int64_t *input, int64_t *size)
{
  for (int d = 0; d < ndim; d++)
    size[d] = d < ndim - resampling->axes ? input[d] : resampling->axis[RESAMPLING_AXES - ndim + d].output;
}

static THNNLayout layoutOf(const THTensor *tensor)
{
  return THNNTensor_isChannelsLast(tensor) ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS;
}

void THNN_(resampleOutput)(THNNState *state, const THTensor *input, THTensor *output, bool batchless, int count,
                           const ResampleArguments *axes)
{
  Resampling resampling;
  int64_t size[THNN_MAX_DIM];
  checkResampling(state, "input", input->ndim, input->size, batchless, count, axes, &resampling);
  THNN_RETURN_IF_FAILED(state);
  resampledSize(&resampling, input->ndim, input->size, size);
  THNN_resize(state, "output", output, input->ndim, size, layoutOf(input));
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);

  const THNNPieceOf tensors[] = {THNN_READ(input), THNN_WRITTEN(output)};
  THNN_BY_PIECES(state, t, input->ndim - count, tensors, { THNN_(resample)(state, &resampling, t[0], t[1]); });
}

/* `input` is NULL if only its size is known. */
static void computeGradInput(THNNState *state, const THTensor *input, const int64_t *inputSize, int ndim,
                             const THTensor *gradOutput, THTensor *gradInput, const Resampling *resampling)
{
  int64_t size[THNN_MAX_DIM];
  resampledSize(resampling, ndim, inputSize, size);
  thnn_checkGradOutput(state, gradOutput, ndim, size);
  THNN_RETURN_IF_FAILED(state);
  if (input) THNN_RESIZE_LIKE(gradInput, input);
  else THNN_resize(state, "gradInput", gradInput, ndim, inputSize, layoutOf(gradOutput));
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);

  const THNNPieceOf tensors[] = {THNN_READ(gradOutput), THNN_WRITTEN(gradInput)};
  THNN_BY_PIECES(state, t, ndim - resampling->axes, tensors,
                 { THNN_(resampleBackward)(state, resampling, t[0], t[1]); });
}

void THNN_(resampleGradInput)(THNNState *state, const THTensor *input, const THTensor *gradOutput,
                              THTensor *gradInput, bool batchless, int count, const ResampleArguments *axes)
{
  Resampling resampling;
  checkResampling(state, "input", input->ndim, input->size, batchless, count, axes, &resampling);
  THNN_RETURN_IF_FAILED(state);
  computeGradInput(state, input, input->size, input->ndim, gradOutput, gradInput, &resampling);
}

void THNN_(resampleGradInputSized)(THNNState *state, const int64_t *size, const THTensor *gradOutput,
                                   THTensor *gradInput, int count, const ResampleArguments *axes)
{
  static const char *const names[RESAMPLING_AXES] = {"inputDepth", "inputHeight", "inputWidth"};
  Resampling resampling;
  thnn_checkAtLeast(state, "nbatch", size[0], 0);
  thnn_checkAtLeast(state, "nchannels", size[1], 1);
  for (int a = 0; a < count; a++) thnn_checkAtLeast(state, names[RESAMPLING_AXES - count + a], size[2 + a], 1);
  THNN_RETURN_IF_FAILED(state);
  checkResampling(state, "gradOutput", count + 2, size, false, count, axes, &resampling);
  THNN_RETURN_IF_FAILED(state);
  computeGradInput(state, NULL, size, count + 2, gradOutput, gradInput, &resampling);
}
