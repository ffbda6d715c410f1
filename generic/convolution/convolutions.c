#include "modules/SpatialConvolutionMM.h"
#include "modules/SpatialDepthWiseConvolution.h"
#include "modules/SpatialDilatedConvolution.h"
#include "modules/SpatialFullConvolution.h"
#include "modules/SpatialFullDilatedConvolution.h"
#include "modules/TemporalRowConvolution.h"
#include "modules/VolumetricConvolution.h"
#include "modules/VolumetricConvolutionMM.h"
#include "modules/VolumetricDilatedConvolution.h"
#include "modules/VolumetricFullConvolution.h"
#include "modules/VolumetricFullDilatedConvolution.h"
#include "convolution/convolution_module.h"

/* The tensors in which the original kept matrices of columns: arguments that no function reads. */
#define IGNORED(tensor) THTensor *tensor __attribute__((unused))
#define IGNORED_1 IGNORED(first)
#define IGNORED_2 IGNORED_1, IGNORED(second)

#define LISTED(...) __VA_ARGS__

/* The functions of a module whose scalars give the number of dimensions: its name, the number of ignored tensors of
   updateOutput, updateGradInput and accGradParameters, the scalars, and the statements that make the module m. */
#define CONVOLUTION(NAME, OUTPUT, GRAD_INPUT, PARAMETERS, SCALARS, ...)                                      \
  void THNN_(NAME##_updateOutput)(THNNState * state, THTensor * input, THTensor * output, THTensor * weight, \
                                  THTensor * bias, IGNORED_##OUTPUT, LISTED SCALARS)                         \
  {                                                                                                          \
    __VA_ARGS__                                                                                              \
    THNN_(convolutionModuleUpdateOutput)(state, &m, input, output, weight, bias);                            \
  }                                                                                                          \
  void THNN_(NAME##_updateGradInput)(THNNState * state, THTensor * input, THTensor * gradOutput,             \
                                     THTensor * gradInput, THTensor * weight, IGNORED_##GRAD_INPUT,          \
                                     LISTED SCALARS)                                                         \
  {                                                                                                          \
    __VA_ARGS__                                                                                              \
    THNN_(convolutionModuleUpdateGradInput)(state, &m, input, gradOutput, gradInput, weight);                \
  }                                                                                                          \
  void THNN_(NAME##_accGradParameters)(THNNState * state, THTensor * input, THTensor * gradOutput,           \
                                       THTensor * gradWeight, THTensor * gradBias, IGNORED_##PARAMETERS,     \
                                       LISTED SCALARS, accreal scale)                                        \
  {                                                                                                          \
    __VA_ARGS__                                                                                              \
    THNN_(convolutionModuleAccGradParameters)(state, &m, input, gradOutput, gradWeight, gradBias, scale);    \
  }

CONVOLUTION(SpatialConvolutionMM, 2, 2, 2, (int kW, int kH, int dW, int dH, int padW, int padH),
            ConvolutionModule m = convolutionModuleMake(CONVOLUTION_FILTERS, 2);
            m.flattened = true; CONVOLUTION_AXIS(&m, 1, kH, dH, padH, 1, 0);
            CONVOLUTION_AXIS(&m, 2, kW, dW, padW, 1, 0);)

CONVOLUTION(SpatialDepthWiseConvolution, 2, 2, 2, (int kW, int kH, int dW, int dH, int padW, int padH),
            ConvolutionModule m = convolutionModuleMake(CONVOLUTION_DEPTHWISE, 2);
            m.flattened = true; CONVOLUTION_AXIS(&m, 1, kH, dH, padH, 1, 0);
            CONVOLUTION_AXIS(&m, 2, kW, dW, padW, 1, 0);)

CONVOLUTION(SpatialDilatedConvolution, 2, 1, 2,
            (int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH),
            ConvolutionModule m = convolutionModuleMake(CONVOLUTION_FILTERS, 2);
            CONVOLUTION_AXIS(&m, 1, kH, dH, padH, dilationH, 0);
            CONVOLUTION_AXIS(&m, 2, kW, dW, padW, dilationW, 0);)

CONVOLUTION(SpatialFullConvolution, 2, 1, 2,
            (int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH),
            ConvolutionModule m = convolutionModuleMake(CONVOLUTION_TRANSPOSED, 2);
            CONVOLUTION_AXIS(&m, 1, kH, dH, padH, 1, adjH); CONVOLUTION_AXIS(&m, 2, kW, dW, padW, 1, adjW);)

CONVOLUTION(SpatialFullDilatedConvolution, 2, 1, 2,
            (int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, int adjW, int adjH),
            ConvolutionModule m = convolutionModuleMake(CONVOLUTION_TRANSPOSED, 2);
            CONVOLUTION_AXIS(&m, 1, kH, dH, padH, dilationH, adjH);
            CONVOLUTION_AXIS(&m, 2, kW, dW, padW, dilationW, adjW);)

CONVOLUTION(TemporalRowConvolution, 2, 2, 2, (int kW, int dW, int padW, bool featFirst),
            ConvolutionModule m = convolutionModuleMake(CONVOLUTION_ROWS, 1);
            m.framesFirst = !featFirst; CONVOLUTION_AXIS(&m, 2, kW, dW, padW, 1, 0);)

CONVOLUTION(VolumetricConvolution, 2, 1, 2, (int dT, int dW, int dH, int pT, int pW, int pH),
            ConvolutionModule m = convolutionModuleMake(CONVOLUTION_FILTERS, 3);
            m.kernelOfWeight = true; CONVOLUTION_AXIS(&m, 0, 1, dT, pT, 1, 0);
            CONVOLUTION_AXIS(&m, 1, 1, dH, pH, 1, 0); CONVOLUTION_AXIS(&m, 2, 1, dW, pW, 1, 0);)

CONVOLUTION(VolumetricConvolutionMM, 1, 2, 1,
            (int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH),
            ConvolutionModule m = convolutionModuleMake(CONVOLUTION_FILTERS, 3);
            m.flattened = true; CONVOLUTION_AXIS(&m, 0, kT, dT, pT, 1, 0);
            CONVOLUTION_AXIS(&m, 1, kH, dH, pH, 1, 0); CONVOLUTION_AXIS(&m, 2, kW, dW, pW, 1, 0);)

CONVOLUTION(VolumetricDilatedConvolution, 2, 1, 2,
            (int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT,
             int dilationW, int dilationH),
            ConvolutionModule m = convolutionModuleMake(CONVOLUTION_FILTERS, 3);
            CONVOLUTION_AXIS(&m, 0, kT, dT, padT, dilationT, 0);
            CONVOLUTION_AXIS(&m, 1, kH, dH, padH, dilationH, 0);
            CONVOLUTION_AXIS(&m, 2, kW, dW, padW, dilationW, 0);)

CONVOLUTION(VolumetricFullConvolution, 2, 2, 2,
            (int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH),
            ConvolutionModule m = convolutionModuleMake(CONVOLUTION_TRANSPOSED, 3);
            m.kernelOfWeight = true; CONVOLUTION_AXIS(&m, 0, 1, dT, pT, 1, aT);
            CONVOLUTION_AXIS(&m, 1, 1, dH, pH, 1, aH); CONVOLUTION_AXIS(&m, 2, 1, dW, pW, 1, aW);)

CONVOLUTION(VolumetricFullDilatedConvolution, 2, 2, 2,
            (int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, int aT,
             int aW, int aH),
            ConvolutionModule m = convolutionModuleMake(CONVOLUTION_TRANSPOSED, 3);
            m.kernelOfWeight = true; CONVOLUTION_AXIS(&m, 0, 1, dT, pT, dilationT, aT);
            CONVOLUTION_AXIS(&m, 1, 1, dH, pH, dilationH, aH); CONVOLUTION_AXIS(&m, 2, 1, dW, pW, dilationW, aW);)
