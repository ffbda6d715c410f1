#include "connection_table/connection_table.h"

static int64_t inputChannel(const ConnectionTable *table, int64_t c)
{
  return (int64_t)((const real *)table->data)[c * table->stride[0] + (table->outputColumn ? 0 : table->stride[1])];
}

static int64_t outputChannel(const ConnectionTable *table, int64_t c)
{
  return (int64_t)((const real *)table->data)[c * table->stride[0] + (table->outputColumn ? table->stride[1] : 0)];
}

/* The element of images at sample n, channel c, row y, column x. */
static real *pixel(ConvolutionView images, int64_t n, int64_t c, int64_t y, int64_t x)
{
  return (real *)images.data + n * images.stride[0] + c * images.stride[1] + y * images.stride[3] +
         x * images.stride[4];
}

static real *filterElement(ConvolutionView weight, int64_t c, int64_t kh, int64_t kw)
{
  return (real *)weight.data + c * weight.stride[0] + kh * weight.stride[3] + kw * weight.stride[4];
}

static double biasOf(ConvolutionView bias, int64_t channel)
{
  return bias.data ? ((const real *)bias.data)[channel * bias.stride[0]] : 0;
}

void THNN_(connectionTableOutput)(const Convolution *g, ConnectionTable table, ConvolutionView input,
                                  ConvolutionView weight, ConvolutionView bias, ConvolutionView output)
{
  const WindowAxis *h = g->axis + 1, *w = g->axis + 2;
  for (int64_t n = 0; n < g->batch; n++)
    for (int64_t o = 0; o < g->outputChannels; o++)
      for (int64_t y = 0; y < h->output; y++)
        for (int64_t x = 0; x < w->output; x++) {
          double sum = biasOf(bias, o);
          for (int64_t c = 0; c < table.rows; c++)
            for (int64_t kh = 0; kh < h->kernel; kh++)
              for (int64_t kw = 0; kw < w->kernel; kw++)
                if (outputChannel(&table, c) == o)
                  sum += (double)*filterElement(weight, c, kh, kw) *
                         *pixel(input, n, inputChannel(&table, c), y * h->stride + kh, x * w->stride + kw);
          *pixel(output, n, o, y, x) = (real)sum;
        }
}

void THNN_(connectionTableGradInput)(const Convolution *g, ConnectionTable table, ConvolutionView gradOutput,
                                     ConvolutionView weight, ConvolutionView bias, ConvolutionView gradInput)
{
  const WindowAxis *h = g->axis + 1, *w = g->axis + 2;
  for (int64_t n = 0; n < g->batch; n++)
    for (int64_t i = 0; i < g->inputChannels; i++)
      for (int64_t row = 0; row < h->input; row++)
        for (int64_t column = 0; column < w->input; column++) {
          double sum = biasOf(bias, i);
          for (int64_t c = 0; c < table.rows; c++)
            for (int64_t kh = 0; kh < h->kernel; kh++)
              for (int64_t kw = 0; kw < w->kernel; kw++) {
                const int64_t y = windowOutputAt(h, row, kh), x = windowOutputAt(w, column, kw);
                if (inputChannel(&table, c) == i && y >= 0 && x >= 0)
                  sum += (double)*filterElement(weight, c, kh, kw) *
                         *pixel(gradOutput, n, outputChannel(&table, c), y, x);
              }
          *pixel(gradInput, n, i, row, column) = (real)sum;
        }
}

void THNN_(connectionTableGradWeight)(const Convolution *g, ConnectionTable table, ConvolutionView input,
                                      ConvolutionView gradOutput, ConvolutionView gradWeight, real scale)
{
  const WindowAxis *h = g->axis + 1, *w = g->axis + 2;
  for (int64_t c = 0; c < table.rows; c++)
    for (int64_t kh = 0; kh < h->kernel; kh++)
      for (int64_t kw = 0; kw < w->kernel; kw++) {
        double sum = 0;
        for (int64_t n = 0; n < g->batch; n++)
          for (int64_t y = 0; y < h->output; y++)
            for (int64_t x = 0; x < w->output; x++)
              sum += (double)*pixel(gradOutput, n, outputChannel(&table, c), y, x) *
                     *pixel(input, n, inputChannel(&table, c), y * h->stride + kh, x * w->stride + kw);
        *filterElement(gradWeight, c, kh, kw) += (real)(scale * sum);
      }
}
