#include "locally_connected/locally_connected.h"

/* The element of images at sample n, channel c, row y, column x; NULL if y or x is negative. */
static real *pixel(ConvolutionView images, int64_t n, int64_t c, int64_t y, int64_t x)
{
  real *at = (real *)images.data + n * images.stride[0] + c * images.stride[1] + y * images.stride[3] +
             x * images.stride[4];
  return y < 0 || x < 0 ? NULL : at;
}

static real *filterElement(LocalFilters f, int64_t y, int64_t x, int64_t o, int64_t i, int64_t kh, int64_t kw)
{
  return (real *)f.data + y * f.positionStride[0] + x * f.positionStride[1] + o * f.outputStride +
         i * f.inputStride + kh * f.kernelStride[0] + kw * f.kernelStride[1];
}

void THNN_(locallyConnectedOutput)(const Convolution *g, ConvolutionView input, LocalFilters weight,
                                   const real *bias, const int64_t *biasStride, ConvolutionView output)
{
  const WindowAxis *h = g->axis + 1, *w = g->axis + 2;
  for (int64_t n = 0; n < g->batch; n++)
    for (int64_t o = 0; o < g->outputChannels; o++)
      for (int64_t y = 0; y < h->output; y++)
        for (int64_t x = 0; x < w->output; x++) {
          double sum = bias ? bias[o * biasStride[0] + y * biasStride[1] + x * biasStride[2]] : 0;
          for (int64_t i = 0; i < g->inputChannels; i++)
            for (int64_t kh = 0; kh < h->kernel; kh++)
              for (int64_t kw = 0; kw < w->kernel; kw++) {
                const real *in = pixel(input, n, i, windowInputAt(h, y, kh), windowInputAt(w, x, kw));
                if (in) sum += (double)*in * *filterElement(weight, y, x, o, i, kh, kw);
              }
          *pixel(output, n, o, y, x) = (real)sum;
        }
}

void THNN_(locallyConnectedGradInput)(const Convolution *g, ConvolutionView gradOutput, LocalFilters weight,
                                      ConvolutionView gradInput)
{
  const WindowAxis *h = g->axis + 1, *w = g->axis + 2;
  for (int64_t n = 0; n < g->batch; n++)
    for (int64_t i = 0; i < g->inputChannels; i++)
      for (int64_t row = 0; row < h->input; row++)
        for (int64_t column = 0; column < w->input; column++) {
          double sum = 0;
          for (int64_t o = 0; o < g->outputChannels; o++)
            for (int64_t kh = 0; kh < h->kernel; kh++)
              for (int64_t kw = 0; kw < w->kernel; kw++) {
                const int64_t y = windowOutputAt(h, row, kh), x = windowOutputAt(w, column, kw);
                const real *gradient = pixel(gradOutput, n, o, y, x);
                if (gradient) sum += (double)*gradient * *filterElement(weight, y, x, o, i, kh, kw);
              }
          *pixel(gradInput, n, i, row, column) = (real)sum;
        }
}

void THNN_(locallyConnectedGradWeight)(const Convolution *g, ConvolutionView input, ConvolutionView gradOutput,
                                       LocalFilters gradWeight, real scale)
{
  const WindowAxis *h = g->axis + 1, *w = g->axis + 2;
  for (int64_t y = 0; y < h->output; y++)
    for (int64_t x = 0; x < w->output; x++)
      for (int64_t o = 0; o < g->outputChannels; o++)
        for (int64_t i = 0; i < g->inputChannels; i++)
          for (int64_t kh = 0; kh < h->kernel; kh++)
            for (int64_t kw = 0; kw < w->kernel; kw++) {
              double sum = 0;
              for (int64_t n = 0; n < g->batch; n++) {
                const real *in = pixel(input, n, i, windowInputAt(h, y, kh), windowInputAt(w, x, kw));
                if (in) sum += (double)*in * *pixel(gradOutput, n, o, y, x);
              }
              *filterElement(gradWeight, y, x, o, i, kh, kw) += (real)(scale * sum);
            }
}

void THNN_(locallyConnectedGradBias)(const Convolution *g, ConvolutionView gradOutput, real *gradBias,
                                     const int64_t *gradBiasStride, real scale)
{
  for (int64_t o = 0; o < g->outputChannels; o++)
    for (int64_t y = 0; y < g->axis[1].output; y++)
      for (int64_t x = 0; x < g->axis[2].output; x++) {
        double sum = 0;
        for (int64_t n = 0; n < g->batch; n++) sum += *pixel(gradOutput, n, o, y, x);
        gradBias[o * gradBiasStride[0] + y * gradBiasStride[1] + x * gradBiasStride[2]] += (real)(scale * sum);
      }
}
