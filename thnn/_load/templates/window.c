/* The size of the output; fails for arguments that give none. */
static void outputSize(THNNState *state, const THTensor *input, int kW, int dW, int64_t size[3])
{
  THNN_CHECK(input->ndim == 3, input, "expected 3 dimensions (N, C, T), got %s", THNN_shape(input));
  THNN_CHECK(kW >= 1, kW, "expected at least 1, got %d", kW);
  THNN_CHECK(dW >= 1, dW, "expected at least 1, got %d", dW);
  THNN_CHECK(input->size[2] >= kW, input, "expected at least kW = %d elements, got %s", kW, THNN_shape(input));
  size[0] = input->size[0];
  size[1] = input->size[1];
  size[2] = (input->size[2] - kW) / dW + 1;
}

/* The first element of a channel. */
static real *channel(const THTensor *tensor, int64_t n, int64_t c)
{
  return TH_DATA(tensor) + n * tensor->stride[0] + c * tensor->stride[1];
}

void THNN_(NAME_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int kW, int dW)
{
  int64_t size[3];
  outputSize(state, input, kW, dW, size);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_TO(output, THNN_CONTIGUOUS, size[0], size[1], size[2]);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_RETURN_IF_META(state);
  THNN_PARALLEL_FOR(task, size[0] * size[1], size[0] * size[1] * size[2] * kW) {
    const real *x = channel(input, task / size[1], task % size[1]);
    real *y = channel(output, task / size[1], task % size[1]);
    for (int64_t t = 0; t < size[2]; t++) {
      real sum = 0;
      for (int k = 0; k < kW; k++) sum += x[(t * dW + k) * input->stride[2]];
      y[t * output->stride[2]] = sum / (real)kW;
    }
  }
}

void THNN_(NAME_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                 int kW, int dW)
{
  int64_t size[3];
  outputSize(state, input, kW, dW, size);
  THNN_RETURN_IF_FAILED(state);
  thnn_checkGradOutput(state, gradOutput, 3, size);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_RETURN_IF_META(state);
  THNN_PARALLEL_FOR(task, size[0] * size[1], size[0] * size[1] * size[2] * kW) {
    const real *g = channel(gradOutput, task / size[1], task % size[1]);
    real *dx = channel(gradInput, task / size[1], task % size[1]);
    for (int64_t t = 0; t < input->size[2]; t++) dx[t * gradInput->stride[2]] = 0;
    for (int64_t t = 0; t < size[2]; t++)
      for (int k = 0; k < kW; k++)
        dx[(t * dW + k) * gradInput->stride[2]] += g[t * gradOutput->stride[2]] / (real)kW;
  }
}
