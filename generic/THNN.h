/* THNN.h: every function of the library, declared once. No include guard: it is included once per element type.

   The symbols and the function table of the C library, its Python binding, the autograd Function classes, their type
   stubs and their documentation follow from this file (docs/architecture.md). After a change: python -m thnn
   regenerate.

   Conventions, unless a function says otherwise (docs/kernels.md has the whole contract):
     - N batch, C channels, H, W rows and columns, T slices of a volume or frames of a sequence. A tensor with one
       dimension less than the batched form is one sample, and so is the result. Width arguments precede height
       arguments, except in Im2Col, Col2Im, SpatialUpSamplingBilinear, VolumetricUpSamplingTrilinear and Interpolation.
     - output and gradInput may have any shape before the call: they are resized and completely overwritten. A tensor
       that already has the right size keeps its storage and strides.
     - gradWeight and gradBias must have the shapes of weight and bias, and accumulate: gradWeight += scale * gradient.
     - Inputs may have any strides; contiguous and channels-last are fast.
     - "Gradient of X w.r.t. y" is the gradient of the loss with respect to y, where the loss depends on y through X.
     - Wrong dimensions, sizes, types and geometry raise TypeError, ValueError or IndexError naming function
       and argument, before anything is written.

   Functions. A module X is X_updateOutput, the forward, with X_updateGradInput and X_accGradParameters, or
   X_backward, which computes both. Their arguments have the names of those of the forward, in any order, except in
   LSTMFused and GRUFused. Any other X_name is independent: it writes the tensors with [OUT] or [MODIFIED] and reads the
   rest.

   Families. A comment that begins with [FAMILY name] begins a section: the functions below it belong to that
   family. Its kernels are in generic/<family>/, its page of the documentation is docs/functions/<family>.md, and
   its part of the Python model is thnn/_generated/<family>.py.

   Types. real is float, double, half or bfloat16; all THTensor of a call have elements
   of that type, except those with [MIXED]. accreal is double, whatever real is, and so are the elements of a
   THAccrealTensor; a THIndexTensor has elements of int64, a THIntegerTensor of int32. Numbers are int, int64_t,
   THIndex_t (int64_t), bool, double or accreal.

   Roles. Every tensor has one, mostly from its name:
     input         input*                            target         target
     parameter     weight, bias, running_mean, ...   output         output*
     gradOutput, gradInput, gradParameter            gradX, where X is, in this order: an output; an input
                                                     or target; a parameter
     saved         indices, save_mean, noise, ...    written by the forward, read by the backward
     buffer        finput, columns, ones, *Buffer    memory that the call may use: may be None or empty

   Tags, in brackets in the comment of an argument (thnn/_header/roles.py has all names and rules):
     [OPTIONAL]        may be None; from a class, a backward gets None for an input that is optional in it and
                       required in updateOutput
     [OUT]             is written
     [MODIFIED]        is an existing tensor that the call may write; keeps its size; implied for input and
                       gradOutput by an argument inplace
     [LIKE x]          has the shape of the earlier argument x
     [MIXED]           may have elements of float where real is half or bfloat16; is float then if the call allocates it
     [BUFFER] [SAVED] [INPUT] [TARGET] [PARAMETER] [GRADOUTPUT] [GRADINPUT] [GRADPARAMETER]
                       the role, where the name does not imply it; [SCRATCH]: a buffer whose name implies another role
     [DEFAULT value]   for a number that callers may omit: true, -100, 1e-5, inf; all numbers after it
                       need the tag, too
     [SIZE x d]        for a number that a backward takes and its forward does not: the size of tensor x along
                       dimension d, where -1 is the last dimension
   In a backward, scale without a tag has [DEFAULT 1].

   Tags in the comment of an updateOutput, for gradients of gradients:
     [DERIVATIVE bilinear]  output is linear in input, in weight and in bias, as a convolution is
     [DERIVATIVE linear]    output is linear in input, without parameters
     [DERIVATIVE constant]  the gradient w.r.t. input is constant or piecewise constant in input: its derivative is 0
     [DERIVATIVE none]      the module has no class: its functions are called one by one
   A function without a tag has a formula in thnn/_derivatives/formulas, or can be differentiated only once. */

/* -----------------------------------------------------------------------------------------------------------------
   [FAMILY convolution] */

/* SpatialConvolutionMM: cross-correlation of a batch of images with a bank of filters.

     output[n,o,y,x] = bias[o] + sum over i, kh, kw of
                       weight[o,i,kh,kw] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]

   Shapes: input (N, I, H, W) or (I, H, W); weight (O, I, kH, kW) or flattened (O, I*kH*kW); bias (O) or None;
   output (N, O, oH, oW) with oH = floor((H + 2*padH - kH) / dH) + 1 and oW likewise. Input is 0 outside the image.
   Errors: ValueError for a kernel or stride below 1, negative padding, an empty output, sizes that
   do not fit. Source: Torch7 nn.SpatialConvolutionMM.
   [DERIVATIVE bilinear] */
TH_API void THNN_(SpatialConvolutionMM_updateOutput)(
    THNNState *state,      // library state
    THTensor *input,       // input (N, I, H, W) or (I, H, W)
    THTensor *output,      // [OUT] result (N, O, oH, oW)
    THTensor *weight,      // filters (O, I, kH, kW) or (O, I*kH*kW)
    THTensor *bias,        // [OPTIONAL] one value per output channel (O)
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int kW,                // kernel width
    int kH,                // kernel height
    int dW,                // stride along the width
    int dH,                // stride along the height
    int padW,              // zeros added left and right
    int padH);             // zeros added above and below

/* Gradient of SpatialConvolutionMM w.r.t. its input: gradOutput correlated with the flipped filters. */
TH_API void THNN_(SpatialConvolutionMM_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,      // filters (O, I, kH, kW) or (O, I*kH*kW)
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int kW,                // kernel width
    int kH,                // kernel height
    int dW,                // stride along the width
    int dH,                // stride along the height
    int padW,              // zeros added left and right
    int padH);             // zeros added above and below

/* Gradients of SpatialConvolutionMM w.r.t. its parameters, accumulated:
     gradWeight[o,i,kh,kw] += scale * sum over n, y, x of
                              gradOutput[n,o,y,x] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]
     gradBias[o] += scale * sum over n, y, x of gradOutput[n,o,y,x] */
TH_API void THNN_(SpatialConvolutionMM_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] sized as bias
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int kW,                // kernel width
    int kH,                // kernel height
    int dW,                // stride along the width
    int dH,                // stride along the height
    int padW,              // zeros added left and right
    int padH,              // zeros added above and below
    accreal scale);        // factor of the gradients added

/* TemporalConvolution: cross-correlation of sequences of frames with a bank of filters, time before features.

     output[n,t,o] = bias[o] + sum over k, f of weight[o, k*inputFrameSize + f] * input[n, t*dW + k, f]

   Shapes: input (N, T, inputFrameSize) or (T, inputFrameSize); weight (outputFrameSize, kW*inputFrameSize); bias
   (outputFrameSize); output (N, oT, outputFrameSize) with oT = floor((T - kW) / dW) + 1.
   Errors: ValueError for a kernel or stride below 1, a sequence shorter than the kernel, sizes that do not fit or are
   not inputFrameSize and outputFrameSize. Source: Torch7 nn.TemporalConvolution.
   [DERIVATIVE bilinear] */
TH_API void THNN_(TemporalConvolution_updateOutput)(
    THNNState *state,      // library state
    THTensor *input,       // input (N, T, inputFrameSize) or (T, inputFrameSize)
    THTensor *output,      // [OUT] result (N, oT, outputFrameSize)
    THTensor *weight,      // filters (outputFrameSize, kW*inputFrameSize)
    THTensor *bias,        // one value per output feature (outputFrameSize)
    int kW,                // kernel length
    int dW,                // stride
    int inputFrameSize,    // features of a frame of input
    int outputFrameSize);  // features of a frame of output

/* Gradient of TemporalConvolution w.r.t. its input: gradOutput * weight, summed over the outputs that read each
   frame. */
TH_API void THNN_(TemporalConvolution_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,      // filters (outputFrameSize, kW*inputFrameSize)
    int kW,                // kernel length
    int dW);               // stride

/* Gradients of TemporalConvolution w.r.t. its parameters, accumulated:
     gradWeight[o, k*inputFrameSize + f] += scale * sum over n, t of gradOutput[n,t,o] * input[n, t*dW + k, f]
     gradBias[o] += scale * sum over n, t of gradOutput[n,t,o] */
TH_API void THNN_(TemporalConvolution_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [MODIFIED] sized as bias
    int kW,                // kernel length
    int dW,                // stride
    accreal scale);        // factor of the gradients added

/* TemporalRowConvolution: cross-correlation of each feature of a sequence with a separate filter.

     output[n,f,t] = bias[f] + sum over k of weight[f,0,k] * input[n, f, t*dW + k - padW]

   Shapes: with featFirst input (N, F, T) or (F, T) and output (N, F, oT), otherwise (N, T, F) or (T, F) and
   (N, oT, F); weight (F, 1, kW); bias (F) or None; oT = floor((T + 2*padW - kW) / dW) + 1. Input is 0
   outside the sequence.
   Errors: ValueError for a kernel or stride below 1, negative padding, an empty output, sizes that do not
   fit. Source: Torch7 nn.TemporalRowConvolution.
   [DERIVATIVE bilinear] */
TH_API void THNN_(TemporalRowConvolution_updateOutput)(
    THNNState *state,      // library state
    THTensor *input,       // input (N, F, T) or (F, T), or with time first
    THTensor *output,      // [OUT] result (N, F, oT), or with time first
    THTensor *weight,      // filters (F, 1, kW)
    THTensor *bias,        // [OPTIONAL] one value per feature (F)
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int kW,                // kernel length
    int dW,                // stride
    int padW,              // zeros added before and after
    bool featFirst);       // features before time

/* Gradient of TemporalRowConvolution w.r.t. its input: every feature of gradOutput correlated with its flipped
   filter. */
TH_API void THNN_(TemporalRowConvolution_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,      // filters (F, 1, kW)
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int kW,                // kernel length
    int dW,                // stride
    int padW,              // zeros added before and after
    bool featFirst);       // features before time

/* Gradients of TemporalRowConvolution w.r.t. its parameters, accumulated:
     gradWeight[f,0,k] += scale * sum over n, t of gradOutput[n,f,t] * input[n, f, t*dW + k - padW]
     gradBias[f] += scale * sum over n, t of gradOutput[n,f,t] */
TH_API void THNN_(TemporalRowConvolution_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] sized as bias
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int kW,                // kernel length
    int dW,                // stride
    int padW,              // zeros added before and after
    bool featFirst,        // features before time
    accreal scale);        // factor of the gradients added

/* SpatialDilatedConvolution: SpatialConvolutionMM with gaps between the kernel elements.

     output[n,o,y,x] = bias[o] + sum over i, kh, kw of
                       weight[o,i,kh,kw] * input[n, i, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW]

   Shapes: input (N, I, H, W) or (I, H, W); weight (O, I, kH, kW); bias (O) or None; output (N, O, oH, oW) with
   oH = floor((H + 2*padH - dilationH*(kH-1) - 1) / dH) + 1 and oW likewise. Input is 0 outside the image.
   Errors: ValueError for a kernel, stride or dilation below 1, negative padding, an empty output, sizes
   that do not fit. Source: Yu and Koltun, 2015; Torch7 nn.SpatialDilatedConvolution.
   [DERIVATIVE bilinear] */
TH_API void THNN_(SpatialDilatedConvolution_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input (N, I, H, W) or (I, H, W)
    THTensor *output,   // [OUT] result (N, O, oH, oW)
    THTensor *weight,   // filters (O, I, kH, kW)
    THTensor *bias,     // [OPTIONAL] one value per output channel (O)
    THTensor *columns,  // [BUFFER] unused
    THTensor *ones,     // [BUFFER] unused
    int kW,             // kernel width
    int kH,             // kernel height
    int dW,             // stride along the width
    int dH,             // stride along the height
    int padW,           // zeros added left and right
    int padH,           // zeros added above and below
    int dilationW,      // distance between kernel elements along the width
    int dilationH);     // distance between kernel elements along the height

/* Gradient of SpatialDilatedConvolution w.r.t. its input: gradOutput correlated with the flipped filters. */
TH_API void THNN_(SpatialDilatedConvolution_updateGradInput)(
    THNNState *state,       // library state
    THTensor *input,        // input
    THTensor *gradOutput,   // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,    // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,       // filters (O, I, kH, kW)
    THTensor *gradColumns,  // [BUFFER] unused
    int kW,                 // kernel width
    int kH,                 // kernel height
    int dW,                 // stride along the width
    int dH,                 // stride along the height
    int padW,               // zeros added left and right
    int padH,               // zeros added above and below
    int dilationW,          // distance between kernel elements along the width
    int dilationH);         // distance between kernel elements along the height

/* Gradients of SpatialDilatedConvolution w.r.t. its parameters, accumulated:
     gradWeight[o,i,kh,kw] += scale * sum over n, y, x of
                              gradOutput[n,o,y,x] * input[n, i, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW]
     gradBias[o] += scale * sum over n, y, x of gradOutput[n,o,y,x] */
TH_API void THNN_(SpatialDilatedConvolution_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] sized as bias
    THTensor *columns,     // [BUFFER] unused
    THTensor *ones,        // [BUFFER] unused
    int kW,                // kernel width
    int kH,                // kernel height
    int dW,                // stride along the width
    int dH,                // stride along the height
    int padW,              // zeros added left and right
    int padH,              // zeros added above and below
    int dilationW,         // distance between kernel elements along the width
    int dilationH,         // distance between kernel elements along the height
    accreal scale);        // factor of the gradients added

/* SpatialFullConvolution: transposed convolution, the gradInput of SpatialConvolutionMM as a forward function. Each
   input pixel, times a filter, is added to a patch of output.

     output[n,o,Y,X] = bias[o] + sum over i, y, x, kh, kw with Y = y*dH + kh - padH and X = x*dW + kw - padW of
                       weight[i,o,kh,kw] * input[n,i,y,x]

   Shapes: input (N, I, H, W) or (I, H, W); weight (I, O, kH, kW); bias (O) or None; output (N, O, oH, oW) with
   oH = (H-1)*dH - 2*padH + kH + adjH and oW likewise: adjH chooses among the sizes that a convolution with the same
   stride would turn into H.
   Errors: ValueError for a kernel or stride below 1, negative padding, an adj below 0 or not below the stride, an
   empty output, sizes that do not fit. Source: Torch7 nn.SpatialFullConvolution.
   [DERIVATIVE bilinear] */
TH_API void THNN_(SpatialFullConvolution_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input (N, I, H, W) or (I, H, W)
    THTensor *output,   // [OUT] result (N, O, oH, oW)
    THTensor *weight,   // filters (I, O, kH, kW)
    THTensor *bias,     // [OPTIONAL] one value per output channel (O)
    THTensor *columns,  // [BUFFER] unused
    THTensor *ones,     // [BUFFER] unused
    int kW,             // kernel width
    int kH,             // kernel height
    int dW,             // stride along the width
    int dH,             // stride along the height
    int padW,           // output columns cropped left and right
    int padH,           // output rows cropped above and below
    int adjW,           // columns added to the output at the right
    int adjH);          // rows added to the output at the bottom

/* Gradient of SpatialFullConvolution w.r.t. its input: the convolution of gradOutput with weight. */
TH_API void THNN_(SpatialFullConvolution_updateGradInput)(
    THNNState *state,       // library state
    THTensor *input,        // input
    THTensor *gradOutput,   // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,    // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,       // filters (I, O, kH, kW)
    THTensor *gradColumns,  // [BUFFER] unused
    int kW,                 // kernel width
    int kH,                 // kernel height
    int dW,                 // stride along the width
    int dH,                 // stride along the height
    int padW,               // output columns cropped left and right
    int padH,               // output rows cropped above and below
    int adjW,               // columns added to the output at the right
    int adjH);              // rows added to the output at the bottom

/* Gradients of SpatialFullConvolution w.r.t. its parameters, accumulated:
     gradWeight[i,o,kh,kw] += scale * sum over n, y, x of
                              input[n,i,y,x] * gradOutput[n, o, y*dH + kh - padH, x*dW + kw - padW]
     gradBias[o] += scale * sum over n, Y, X of gradOutput[n,o,Y,X] */
TH_API void THNN_(SpatialFullConvolution_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] sized as bias
    THTensor *columns,     // [BUFFER] unused
    THTensor *ones,        // [BUFFER] unused
    int kW,                // kernel width
    int kH,                // kernel height
    int dW,                // stride along the width
    int dH,                // stride along the height
    int padW,              // output columns cropped left and right
    int padH,              // output rows cropped above and below
    int adjW,              // columns added to the output at the right
    int adjH,              // rows added to the output at the bottom
    accreal scale);        // factor of the gradients added

/* SpatialFullDilatedConvolution: SpatialFullConvolution with gaps between the kernel elements.

     output[n,o,Y,X] = bias[o] + sum over i, y, x, kh, kw with Y = y*dH + kh*dilationH - padH and
                       X = x*dW + kw*dilationW - padW of weight[i,o,kh,kw] * input[n,i,y,x]

   Shapes: input (N, I, H, W) or (I, H, W); weight (I, O, kH, kW); bias (O) or None; output (N, O, oH, oW) with
   oH = (H-1)*dH - 2*padH + dilationH*(kH-1) + 1 + adjH and oW likewise.
   Errors: ValueError for a kernel, stride or dilation below 1, negative padding, an adj below 0 or not below
   the larger of stride and dilation, an empty output, sizes that do not fit. Source: PyTorch 0.2.
   [DERIVATIVE bilinear] */
TH_API void THNN_(SpatialFullDilatedConvolution_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input (N, I, H, W) or (I, H, W)
    THTensor *output,   // [OUT] result (N, O, oH, oW)
    THTensor *weight,   // filters (I, O, kH, kW)
    THTensor *bias,     // [OPTIONAL] one value per output channel (O)
    THTensor *columns,  // [BUFFER] unused
    THTensor *ones,     // [BUFFER] unused
    int kW,             // kernel width
    int kH,             // kernel height
    int dW,             // stride along the width
    int dH,             // stride along the height
    int padW,           // output columns cropped left and right
    int padH,           // output rows cropped above and below
    int dilationW,      // distance between kernel elements along the width
    int dilationH,      // distance between kernel elements along the height
    int adjW,           // columns added to the output at the right
    int adjH);          // rows added to the output at the bottom

/* Gradient of SpatialFullDilatedConvolution w.r.t. its input: the dilated convolution of gradOutput with weight. */
TH_API void THNN_(SpatialFullDilatedConvolution_updateGradInput)(
    THNNState *state,       // library state
    THTensor *input,        // input
    THTensor *gradOutput,   // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,    // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,       // filters (I, O, kH, kW)
    THTensor *gradColumns,  // [BUFFER] unused
    int kW,                 // kernel width
    int kH,                 // kernel height
    int dW,                 // stride along the width
    int dH,                 // stride along the height
    int padW,               // output columns cropped left and right
    int padH,               // output rows cropped above and below
    int dilationW,          // distance between kernel elements along the width
    int dilationH,          // distance between kernel elements along the height
    int adjW,               // columns added to the output at the right
    int adjH);              // rows added to the output at the bottom

/* Gradients of SpatialFullDilatedConvolution w.r.t. its parameters, accumulated:
     gradWeight[i,o,kh,kw] += scale * sum over n, y, x of
                              input[n,i,y,x] * gradOutput[n, o, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW]
     gradBias[o] += scale * sum over n, Y, X of gradOutput[n,o,Y,X] */
TH_API void THNN_(SpatialFullDilatedConvolution_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] sized as bias
    THTensor *columns,     // [BUFFER] unused
    THTensor *ones,        // [BUFFER] unused
    int kW,                // kernel width
    int kH,                // kernel height
    int dW,                // stride along the width
    int dH,                // stride along the height
    int padW,              // output columns cropped left and right
    int padH,              // output rows cropped above and below
    int dilationW,         // distance between kernel elements along the width
    int dilationH,         // distance between kernel elements along the height
    int adjW,              // columns added to the output at the right
    int adjH,              // rows added to the output at the bottom
    accreal scale);        // factor of the gradients added

/* SpatialDepthWiseConvolution: cross-correlation of each input channel with M separate filters.

     output[n, i*M + m, y, x] = bias[m,i] + sum over kh, kw of
                                weight[m,i,kh,kw] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]

   Shapes: input (N, I, H, W) or (I, H, W); weight (M, I, kH, kW) or flattened (M, I*kH*kW); bias (M, I) or None; output
   (N, I*M, oH, oW) with oH = floor((H + 2*padH - kH) / dH) + 1 and oW likewise. Input is 0 outside the image.
   Errors: ValueError for a kernel or stride below 1, negative padding, an empty output, sizes that do not
   fit. Source: Torch7 nn.SpatialDepthWiseConvolution.
   [DERIVATIVE bilinear] */
TH_API void THNN_(SpatialDepthWiseConvolution_updateOutput)(
    THNNState *state,      // library state
    THTensor *input,       // input (N, I, H, W) or (I, H, W)
    THTensor *output,      // [OUT] result (N, I*M, oH, oW)
    THTensor *weight,      // filters (M, I, kH, kW) or (M, I*kH*kW)
    THTensor *bias,        // [OPTIONAL] one value per filter (M, I)
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int kW,                // kernel width
    int kH,                // kernel height
    int dW,                // stride along the width
    int dH,                // stride along the height
    int padW,              // zeros added left and right
    int padH);             // zeros added above and below

/* Gradient of SpatialDepthWiseConvolution w.r.t. its input: every channel of gradOutput correlated with its flipped
   filter, and the M results of an input channel summed. */
TH_API void THNN_(SpatialDepthWiseConvolution_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,      // filters (M, I, kH, kW) or (M, I*kH*kW)
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int kW,                // kernel width
    int kH,                // kernel height
    int dW,                // stride along the width
    int dH,                // stride along the height
    int padW,              // zeros added left and right
    int padH);             // zeros added above and below

/* Gradients of SpatialDepthWiseConvolution w.r.t. its parameters, accumulated:
     gradWeight[m,i,kh,kw] += scale * sum over n, y, x of
                              gradOutput[n, i*M + m, y, x] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]
     gradBias[m,i] += scale * sum over n, y, x of gradOutput[n, i*M + m, y, x] */
TH_API void THNN_(SpatialDepthWiseConvolution_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] sized as bias
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int kW,                // kernel width
    int kH,                // kernel height
    int dW,                // stride along the width
    int dH,                // stride along the height
    int padW,              // zeros added left and right
    int padH,              // zeros added above and below
    accreal scale);        // factor of the gradients added

/* VolumetricConvolution: cross-correlation of a batch of volumes with a bank of filters; weight determines the kernel
   size.

     output[n,o,z,y,x] = bias[o] + sum over i, kt, kh, kw of
                         weight[o,i,kt,kh,kw] * input[n, i, z*dT + kt - pT, y*dH + kh - pH, x*dW + kw - pW]

   Shapes: input (N, I, T, H, W) or (I, T, H, W); weight (O, I, kT, kH, kW); bias (O) or None; output (N, O, oT, oH, oW)
   with oT = floor((T + 2*pT - kT) / dT) + 1, and oH and oW likewise. Input is 0 outside the volume.
   Errors: ValueError for a stride below 1, negative padding, an empty output, sizes that do not fit.
   Source: Torch7 nn.VolumetricConvolution.
   [DERIVATIVE bilinear] */
TH_API void THNN_(VolumetricConvolution_updateOutput)(
    THNNState *state,      // library state
    THTensor *input,       // input (N, I, T, H, W) or (I, T, H, W)
    THTensor *output,      // [OUT] result (N, O, oT, oH, oW)
    THTensor *weight,      // filters (O, I, kT, kH, kW)
    THTensor *bias,        // [OPTIONAL] one value per output channel (O)
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int dT,                // stride along the depth
    int dW,                // stride along the width
    int dH,                // stride along the height
    int pT,                // zeros added in front and behind
    int pW,                // zeros added left and right
    int pH);               // zeros added above and below

/* Gradient of VolumetricConvolution w.r.t. its input: gradOutput correlated with the flipped filters. */
TH_API void THNN_(VolumetricConvolution_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,      // filters (O, I, kT, kH, kW)
    THTensor *finput,      // [BUFFER] unused
    int dT,                // stride along the depth
    int dW,                // stride along the width
    int dH,                // stride along the height
    int pT,                // zeros added in front and behind
    int pW,                // zeros added left and right
    int pH);               // zeros added above and below

/* Gradients of VolumetricConvolution w.r.t. its parameters, accumulated:
     gradWeight[o,i,kt,kh,kw] += scale * sum over n, z, y, x of
         gradOutput[n,o,z,y,x] * input[n, i, z*dT + kt - pT, y*dH + kh - pH, x*dW + kw - pW]
     gradBias[o] += scale * sum over n, z, y, x of gradOutput[n,o,z,y,x] */
TH_API void THNN_(VolumetricConvolution_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] sized as bias
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int dT,                // stride along the depth
    int dW,                // stride along the width
    int dH,                // stride along the height
    int pT,                // zeros added in front and behind
    int pW,                // zeros added left and right
    int pH,                // zeros added above and below
    accreal scale);        // factor of the gradients added

/* VolumetricConvolutionMM: cross-correlation of a batch of volumes with a bank of filters.

     output[n,o,z,y,x] = bias[o] + sum over i, kt, kh, kw of
                         weight[o,i,kt,kh,kw] * input[n, i, z*dT + kt - pT, y*dH + kh - pH, x*dW + kw - pW]

   Shapes: input (N, I, T, H, W) or (I, T, H, W); weight (O, I, kT, kH, kW) or flattened (O, I*kT*kH*kW); bias (O) or
   None; output (N, O, oT, oH, oW) with oT = floor((T + 2*pT - kT) / dT) + 1, and oH and oW likewise. Input is 0
   outside the volume.
   Errors: ValueError for a kernel or stride below 1, negative padding, an empty output, sizes that do not
   fit. Source: Torch7 nn.VolumetricConvolution.
   [DERIVATIVE bilinear] */
TH_API void THNN_(VolumetricConvolutionMM_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, I, T, H, W) or (I, T, H, W)
    THTensor *output,  // [OUT] result (N, O, oT, oH, oW)
    THTensor *weight,  // filters (O, I, kT, kH, kW) or (O, I*kT*kH*kW)
    THTensor *bias,    // [OPTIONAL] one value per output channel (O)
    THTensor *finput,  // [BUFFER] unused
    int kT,            // kernel depth
    int kW,            // kernel width
    int kH,            // kernel height
    int dT,            // stride along the depth
    int dW,            // stride along the width
    int dH,            // stride along the height
    int pT,            // zeros added in front and behind
    int pW,            // zeros added left and right
    int pH);           // zeros added above and below

/* Gradient of VolumetricConvolutionMM w.r.t. its input: gradOutput correlated with the flipped filters. */
TH_API void THNN_(VolumetricConvolutionMM_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,      // filters (O, I, kT, kH, kW) or (O, I*kT*kH*kW)
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int kT,                // kernel depth
    int kW,                // kernel width
    int kH,                // kernel height
    int dT,                // stride along the depth
    int dW,                // stride along the width
    int dH,                // stride along the height
    int pT,                // zeros added in front and behind
    int pW,                // zeros added left and right
    int pH);               // zeros added above and below

/* Gradients of VolumetricConvolutionMM w.r.t. its parameters, accumulated:
     gradWeight[o,i,kt,kh,kw] += scale * sum over n, z, y, x of
         gradOutput[n,o,z,y,x] * input[n, i, z*dT + kt - pT, y*dH + kh - pH, x*dW + kw - pW]
     gradBias[o] += scale * sum over n, z, y, x of gradOutput[n,o,z,y,x] */
TH_API void THNN_(VolumetricConvolutionMM_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] sized as bias
    THTensor *finput,      // [BUFFER] unused
    int kT,                // kernel depth
    int kW,                // kernel width
    int kH,                // kernel height
    int dT,                // stride along the depth
    int dW,                // stride along the width
    int dH,                // stride along the height
    int pT,                // zeros added in front and behind
    int pW,                // zeros added left and right
    int pH,                // zeros added above and below
    accreal scale);        // factor of the gradients added

/* VolumetricDilatedConvolution: VolumetricConvolutionMM with gaps between the kernel elements.

     output[n,o,z,y,x] = bias[o] + sum over i, kt, kh, kw of weight[o,i,kt,kh,kw] *
         input[n, i, z*dT + kt*dilationT - padT, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW]

   Shapes: input (N, I, T, H, W) or (I, T, H, W); weight (O, I, kT, kH, kW); bias (O) or None; output (N, O, oT, oH, oW)
   with oT = floor((T + 2*padT - dilationT*(kT-1) - 1) / dT) + 1, and oH and oW likewise. Input is 0 outside the volume.
   Errors: ValueError for a kernel, stride or dilation below 1, negative padding, an empty output, sizes
   that do not fit. Source: Torch7 nn.VolumetricDilatedConvolution.
   [DERIVATIVE bilinear] */
TH_API void THNN_(VolumetricDilatedConvolution_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input (N, I, T, H, W) or (I, T, H, W)
    THTensor *output,   // [OUT] result (N, O, oT, oH, oW)
    THTensor *weight,   // filters (O, I, kT, kH, kW)
    THTensor *bias,     // [OPTIONAL] one value per output channel (O)
    THTensor *columns,  // [BUFFER] unused
    THTensor *ones,     // [BUFFER] unused
    int kT,             // kernel depth
    int kW,             // kernel width
    int kH,             // kernel height
    int dT,             // stride along the depth
    int dW,             // stride along the width
    int dH,             // stride along the height
    int padT,           // zeros added in front and behind
    int padW,           // zeros added left and right
    int padH,           // zeros added above and below
    int dilationT,      // distance between kernel elements along the depth
    int dilationW,      // distance between kernel elements along the width
    int dilationH);     // distance between kernel elements along the height

/* Gradient of VolumetricDilatedConvolution w.r.t. its input: gradOutput correlated with the flipped filters. */
TH_API void THNN_(VolumetricDilatedConvolution_updateGradInput)(
    THNNState *state,       // library state
    THTensor *input,        // input
    THTensor *gradOutput,   // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,    // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,       // filters (O, I, kT, kH, kW)
    THTensor *gradColumns,  // [BUFFER] unused
    int kT,                 // kernel depth
    int kW,                 // kernel width
    int kH,                 // kernel height
    int dT,                 // stride along the depth
    int dW,                 // stride along the width
    int dH,                 // stride along the height
    int padT,               // zeros added in front and behind
    int padW,               // zeros added left and right
    int padH,               // zeros added above and below
    int dilationT,          // distance between kernel elements along the depth
    int dilationW,          // distance between kernel elements along the width
    int dilationH);         // distance between kernel elements along the height

/* Gradients of VolumetricDilatedConvolution w.r.t. its parameters, accumulated:
     gradWeight[o,i,kt,kh,kw] += scale * sum over n, z, y, x of gradOutput[n,o,z,y,x] *
         input[n, i, z*dT + kt*dilationT - padT, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW]
     gradBias[o] += scale * sum over n, z, y, x of gradOutput[n,o,z,y,x] */
TH_API void THNN_(VolumetricDilatedConvolution_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] sized as bias
    THTensor *columns,     // [BUFFER] unused
    THTensor *ones,        // [BUFFER] unused
    int kT,                // kernel depth
    int kW,                // kernel width
    int kH,                // kernel height
    int dT,                // stride along the depth
    int dW,                // stride along the width
    int dH,                // stride along the height
    int padT,              // zeros added in front and behind
    int padW,              // zeros added left and right
    int padH,              // zeros added above and below
    int dilationT,         // distance between kernel elements along the depth
    int dilationW,         // distance between kernel elements along the width
    int dilationH,         // distance between kernel elements along the height
    accreal scale);        // factor of the gradients added

/* VolumetricFullConvolution: transposed convolution of volumes. Every element of input, times a filter, is added to a
   block of output.

     output[n,o,Z,Y,X] = bias[o] + sum over i, z, y, x, kt, kh, kw with Z = z*dT + kt - pT, Y = y*dH + kh - pH and
                         X = x*dW + kw - pW of weight[i,o,kt,kh,kw] * input[n,i,z,y,x]

   Shapes: input (N, I, T, H, W) or (I, T, H, W); weight (I, O, kT, kH, kW), which gives the kernel size; bias (O)
   or None; output (N, O, oT, oH, oW) with oT = (T-1)*dT - 2*pT + kT + aT, and oH and oW likewise.
   Errors: ValueError for a stride below 1, negative padding, an aT, aW or aH below 0 or not below the stride, an empty
   output, sizes that do not fit. Source: Torch7 nn.VolumetricFullConvolution.
   [DERIVATIVE bilinear] */
TH_API void THNN_(VolumetricFullConvolution_updateOutput)(
    THNNState *state,      // library state
    THTensor *input,       // input (N, I, T, H, W) or (I, T, H, W)
    THTensor *output,      // [OUT] result (N, O, oT, oH, oW)
    THTensor *weight,      // filters (I, O, kT, kH, kW)
    THTensor *bias,        // [OPTIONAL] one value per output channel (O)
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int dT,                // stride along the depth
    int dW,                // stride along the width
    int dH,                // stride along the height
    int pT,                // output slices cropped in front and behind
    int pW,                // output columns cropped left and right
    int pH,                // output rows cropped above and below
    int aT,                // slices added to the output at its end
    int aW,                // columns added to the output at the right
    int aH);               // rows added to the output at the bottom

/* Gradient of VolumetricFullConvolution w.r.t. its input: the convolution of gradOutput with weight. */
TH_API void THNN_(VolumetricFullConvolution_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,      // filters (I, O, kT, kH, kW)
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int dT,                // stride along the depth
    int dW,                // stride along the width
    int dH,                // stride along the height
    int pT,                // output slices cropped in front and behind
    int pW,                // output columns cropped left and right
    int pH,                // output rows cropped above and below
    int aT,                // slices added to the output at its end
    int aW,                // columns added to the output at the right
    int aH);               // rows added to the output at the bottom

/* Gradients of VolumetricFullConvolution w.r.t. its parameters, accumulated:
     gradWeight[i,o,kt,kh,kw] += scale * sum over n, z, y, x of
         input[n,i,z,y,x] * gradOutput[n, o, z*dT + kt - pT, y*dH + kh - pH, x*dW + kw - pW]
     gradBias[o] += scale * sum over n, Z, Y, X of gradOutput[n,o,Z,Y,X] */
TH_API void THNN_(VolumetricFullConvolution_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] sized as bias
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int dT,                // stride along the depth
    int dW,                // stride along the width
    int dH,                // stride along the height
    int pT,                // output slices cropped in front and behind
    int pW,                // output columns cropped left and right
    int pH,                // output rows cropped above and below
    int aT,                // slices added to the output at its end
    int aW,                // columns added to the output at the right
    int aH,                // rows added to the output at the bottom
    accreal scale);        // factor of the gradients added

/* VolumetricFullDilatedConvolution: VolumetricFullConvolution with gaps between the kernel elements.

     output[n,o,Z,Y,X] = bias[o] + sum over i, z, y, x, kt, kh, kw with Z = z*dT + kt*dilationT - pT,
                         Y = y*dH + kh*dilationH - pH and X = x*dW + kw*dilationW - pW of
                         weight[i,o,kt,kh,kw] * input[n,i,z,y,x]

   Shapes: input (N, I, T, H, W) or (I, T, H, W); weight (I, O, kT, kH, kW), which gives the kernel size; bias (O)
   or None; output (N, O, oT, oH, oW) with oT = (T-1)*dT - 2*pT + dilationT*(kT-1) + 1 + aT, and oH and oW
   likewise.
   Errors: ValueError for a stride or dilation below 1, negative padding, an aT, aW or aH below 0 or not below the
   larger of stride and dilation, an empty output, sizes that do not fit. Source: PyTorch 0.2.
   [DERIVATIVE bilinear] */
TH_API void THNN_(VolumetricFullDilatedConvolution_updateOutput)(
    THNNState *state,      // library state
    THTensor *input,       // input (N, I, T, H, W) or (I, T, H, W)
    THTensor *output,      // [OUT] result (N, O, oT, oH, oW)
    THTensor *weight,      // filters (I, O, kT, kH, kW)
    THTensor *bias,        // [OPTIONAL] one value per output channel (O)
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int dT,                // stride along the depth
    int dW,                // stride along the width
    int dH,                // stride along the height
    int pT,                // output slices cropped in front and behind
    int pW,                // output columns cropped left and right
    int pH,                // output rows cropped above and below
    int dilationT,         // distance between kernel elements along the depth
    int dilationW,         // distance between kernel elements along the width
    int dilationH,         // distance between kernel elements along the height
    int aT,                // slices added to the output at its end
    int aW,                // columns added to the output at the right
    int aH);               // rows added to the output at the bottom

/* Gradient of VolumetricFullDilatedConvolution w.r.t. its input: the dilated convolution of gradOutput with weight. */
TH_API void THNN_(VolumetricFullDilatedConvolution_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,      // filters (I, O, kT, kH, kW)
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int dT,                // stride along the depth
    int dW,                // stride along the width
    int dH,                // stride along the height
    int pT,                // output slices cropped in front and behind
    int pW,                // output columns cropped left and right
    int pH,                // output rows cropped above and below
    int dilationT,         // distance between kernel elements along the depth
    int dilationW,         // distance between kernel elements along the width
    int dilationH,         // distance between kernel elements along the height
    int aT,                // slices added to the output at its end
    int aW,                // columns added to the output at the right
    int aH);               // rows added to the output at the bottom

/* Gradients of VolumetricFullDilatedConvolution w.r.t. its parameters, accumulated:
     gradWeight[i,o,kt,kh,kw] += scale * sum over n, z, y, x of input[n,i,z,y,x] *
         gradOutput[n, o, z*dT + kt*dilationT - pT, y*dH + kh*dilationH - pH, x*dW + kw*dilationW - pW]
     gradBias[o] += scale * sum over n, Z, Y, X of gradOutput[n,o,Z,Y,X] */
TH_API void THNN_(VolumetricFullDilatedConvolution_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] sized as bias
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int dT,                // stride along the depth
    int dW,                // stride along the width
    int dH,                // stride along the height
    int pT,                // output slices cropped in front and behind
    int pW,                // output columns cropped left and right
    int pH,                // output rows cropped above and below
    int dilationT,         // distance between kernel elements along the depth
    int dilationW,         // distance between kernel elements along the width
    int dilationH,         // distance between kernel elements along the height
    int aT,                // slices added to the output at its end
    int aW,                // columns added to the output at the right
    int aH,                // rows added to the output at the bottom
    accreal scale);        // factor of the gradients added

/* Convolution: cross-correlation in one, two or three dimensions, with stride, padding, dilation and groups. The layers
   of thnn.nn call it. Its special cases, some with another order of the dimensions of input or weight, are
   TemporalConvolution, TemporalRowConvolution, SpatialConvolutionMM, SpatialDilatedConvolution,
   SpatialDepthWiseConvolution, VolumetricConvolution, VolumetricConvolutionMM and VolumetricDilatedConvolution;
   SpatialConvolutionLocal and SpatialConvolutionMap are not.

     output[n,o,y,x] = bias[o] + sum over i, kh, kw of weight[o,i,kh,kw] *
                       input[n, g*I/groups + i, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW],
                       where o is in group g and 0 <= i < I/groups

   Shapes, in two dimensions: input (N, I, H, W) or (I, H, W); weight (O, I/groups, kH, kW); bias (O) or None; output
   (N, O, oH, oW) with oH = floor((H + 2*padH - dilationH*(kH - 1) - 1) / dH) + 1 and oW likewise. In one dimension
   there is only W, in three T precedes H; weight has as many dimensions. Group g connects the input channels from
   g*I/groups on with the output channels from g*O/groups on.
   Errors: ValueError for a stride, dilation or number of groups below 1, negative padding, channels that groups
   does not divide, an empty output, sizes that do not fit; a stride or dilation other than 1, or
   padding other than 0, of a dimension that weight does not have.
   Source: torch.nn.functional.conv1d, conv2d and conv3d.
   [DERIVATIVE bilinear] */
TH_API void THNN_(Convolution_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, I, H, W) or (I, H, W)
    THTensor *output,  // [OUT] result (N, O, oH, oW)
    THTensor *weight,  // filters (O, I/groups, kH, kW)
    THTensor *bias,    // [OPTIONAL] one value per output channel (O)
    int dT,            // stride along the depth; 1 if there is no depth
    int dW,            // stride along the width
    int dH,            // stride along the height; 1 if there is no height
    int padT,          // zeros added on both sides along the depth; 0 if there is no depth
    int padW,          // zeros added on both sides along the width
    int padH,          // zeros added on both sides along the height; 0 if there is no height
    int dilationT,     // distance between kernel elements along the depth; 1 if there is no depth
    int dilationW,     // distance between kernel elements along the width
    int dilationH,     // distance between kernel elements along the height; 1 if there is no height
    int groups);       // number of groups of the input and output channels

/* Gradient of Convolution w.r.t. its input: gradOutput correlated with the flipped filters. */
TH_API void THNN_(Convolution_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,      // filters (O, I/groups, kH, kW)
    int dT,                // stride along the depth; 1 if there is no depth
    int dW,                // stride along the width
    int dH,                // stride along the height; 1 if there is no height
    int padT,              // zeros added on both sides along the depth; 0 if there is no depth
    int padW,              // zeros added on both sides along the width
    int padH,              // zeros added on both sides along the height; 0 if there is no height
    int dilationT,         // distance between kernel elements along the depth; 1 if there is no depth
    int dilationW,         // distance between kernel elements along the width
    int dilationH,         // distance between kernel elements along the height; 1 if there is no height
    int groups);           // number of groups of the input and output channels

/* Gradients of Convolution w.r.t. its parameters, accumulated:
     gradWeight[o,i,kh,kw] += scale * sum over n, y, x of gradOutput[n,o,y,x] *
         input[n, g*I/groups + i, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW], where o is in group g
     gradBias[o] += scale * sum over n, y, x of gradOutput[n,o,y,x] */
TH_API void THNN_(Convolution_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] sized as bias
    int dT,                // stride along the depth; 1 if there is no depth
    int dW,                // stride along the width
    int dH,                // stride along the height; 1 if there is no height
    int padT,              // zeros added on both sides along the depth; 0 if there is no depth
    int padW,              // zeros added on both sides along the width
    int padH,              // zeros added on both sides along the height; 0 if there is no height
    int dilationT,         // distance between kernel elements along the depth; 1 if there is no depth
    int dilationW,         // distance between kernel elements along the width
    int dilationH,         // distance between kernel elements along the height; 1 if there is no height
    int groups,            // number of groups of the input and output channels
    accreal scale);        // factor of the gradients added

/* FullConvolution: transposed Convolution, the gradInput of Convolution as a forward function. Each input element,
   times a filter, is added to a patch of output.

     output[n, g*O/groups + o, Y, X] = bias[g*O/groups + o] + sum over i, y, x, kh, kw with
         Y = y*dH + kh*dilationH - padH and X = x*dW + kw*dilationW - padW of weight[i,o,kh,kw] * input[n,i,y,x],
         where i is in group g and 0 <= o < O/groups

   Shapes, in two dimensions: input (N, I, H, W) or (I, H, W); weight (I, O/groups, kH, kW); bias (O) or None;
   output (N, O, oH, oW) with oH = (H - 1)*dH - 2*padH + dilationH*(kH - 1) + 1 + adjH and oW likewise. One and
   three dimensions and groups as in Convolution.
   Errors: as Convolution; also ValueError for an adj below 0 or not below the larger of stride and dilation. Source:
   torch.nn.functional.conv_transpose1d, conv_transpose2d and conv_transpose3d.
   [DERIVATIVE bilinear] */
TH_API void THNN_(FullConvolution_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, I, H, W) or (I, H, W)
    THTensor *output,  // [OUT] result (N, O, oH, oW)
    THTensor *weight,  // filters (I, O/groups, kH, kW)
    THTensor *bias,    // [OPTIONAL] one value per output channel (O)
    int dT,            // stride along the depth; 1 if there is no depth
    int dW,            // stride along the width
    int dH,            // stride along the height; 1 if there is no height
    int padT,          // output slices cropped on both sides along the depth; 0 if there is no depth
    int padW,          // output columns cropped on both sides along the width
    int padH,          // output rows cropped on both sides along the height; 0 if there is no height
    int dilationT,     // distance between kernel elements along the depth; 1 if there is no depth
    int dilationW,     // distance between kernel elements along the width
    int dilationH,     // distance between kernel elements along the height; 1 if there is no height
    int adjT,          // slices added to the output at its end; 0 if there is no depth
    int adjW,          // columns added to the output at the right
    int adjH,          // rows added to the output at the bottom; 0 if there is no height
    int groups);       // number of groups of the input and output channels

/* Gradient of FullConvolution w.r.t. its input: gradOutput correlated with the filters. */
TH_API void THNN_(FullConvolution_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,      // filters (I, O/groups, kH, kW)
    int dT,                // stride along the depth; 1 if there is no depth
    int dW,                // stride along the width
    int dH,                // stride along the height; 1 if there is no height
    int padT,              // output slices cropped on both sides along the depth; 0 if there is no depth
    int padW,              // output columns cropped on both sides along the width
    int padH,              // output rows cropped on both sides along the height; 0 if there is no height
    int dilationT,         // distance between kernel elements along the depth; 1 if there is no depth
    int dilationW,         // distance between kernel elements along the width
    int dilationH,         // distance between kernel elements along the height; 1 if there is no height
    int adjT,              // slices added to the output at its end; 0 if there is no depth
    int adjW,              // columns added to the output at the right
    int adjH,              // rows added to the output at the bottom; 0 if there is no height
    int groups);           // number of groups of the input and output channels

/* Gradients of FullConvolution w.r.t. its parameters, accumulated:
     gradWeight[i,o,kh,kw] += scale * sum over n, y, x of input[n,i,y,x] *
         gradOutput[n, g*O/groups + o, y*dH + kh*dilationH - padH, x*dW + kw*dilationW - padW], where i is in group g
     gradBias[o] += scale * sum over n, Y, X of gradOutput[n,o,Y,X] */
TH_API void THNN_(FullConvolution_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] sized as bias
    int dT,                // stride along the depth; 1 if there is no depth
    int dW,                // stride along the width
    int dH,                // stride along the height; 1 if there is no height
    int padT,              // output slices cropped on both sides along the depth; 0 if there is no depth
    int padW,              // output columns cropped on both sides along the width
    int padH,              // output rows cropped on both sides along the height; 0 if there is no height
    int dilationT,         // distance between kernel elements along the depth; 1 if there is no depth
    int dilationW,         // distance between kernel elements along the width
    int dilationH,         // distance between kernel elements along the height; 1 if there is no height
    int adjT,              // slices added to the output at its end; 0 if there is no depth
    int adjW,              // columns added to the output at the right
    int adjH,              // rows added to the output at the bottom; 0 if there is no height
    int groups,            // number of groups of the input and output channels
    accreal scale);        // factor of the gradients added

/* SpatialConvolutionLocal: convolution with separate filters at each output position.

     output[n,o,y,x] = bias[o,y,x] + sum over i, kh, kw of
                       weight[y,x,o,i,kh,kw] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]

   Shapes: input (N, I, H, W) or (I, H, W); weight (oH*oW, O, I*kH*kW) or (oH, oW, O, I, kH, kW); bias (O, oH, oW);
   output (N, O, oH, oW) with oH = floor((H + 2*padH - kH) / dH) + 1 and oW likewise. Input is 0 outside the image.
   Errors: ValueError for a kernel or stride below 1, negative padding, an empty output, sizes that do not
   fit, and size arguments that differ from the sizes of the tensors. Source: Torch7 nn.SpatialConvolutionLocal.
   [DERIVATIVE bilinear] */
TH_API void THNN_(SpatialConvolutionLocal_updateOutput)(
    THNNState *state,       // library state
    THTensor *input,        // input (N, I, H, W) or (I, H, W)
    THTensor *output,       // [OUT] result (N, O, oH, oW)
    THTensor *weight,       // filters (oH*oW, O, I*kH*kW) or (oH, oW, O, I, kH, kW)
    THTensor *bias,         // one value per output element (O, oH, oW)
    THTensor *finput,       // [BUFFER] unused
    THTensor *fgradInput,   // [BUFFER] unused
    int kW,                 // kernel width
    int kH,                 // kernel height
    int dW,                 // stride along the width
    int dH,                 // stride along the height
    int padW,               // zeros added left and right
    int padH,               // zeros added above and below
    int64_t inputWidth,     // width of the input
    int64_t inputHeight,    // height of the input
    int64_t outputWidth,    // width of the output
    int64_t outputHeight);  // height of the output

/* Gradient of SpatialConvolutionLocal w.r.t. its input: each element of gradOutput times its filter, added to
   its patch. */
TH_API void THNN_(SpatialConvolutionLocal_updateGradInput)(
    THNNState *state,       // library state
    THTensor *input,        // input
    THTensor *gradOutput,   // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,    // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,       // filters (oH*oW, O, I*kH*kW) or (oH, oW, O, I, kH, kW)
    THTensor *finput,       // [BUFFER] unused
    THTensor *fgradInput,   // [BUFFER] unused
    int kW,                 // kernel width
    int kH,                 // kernel height
    int dW,                 // stride along the width
    int dH,                 // stride along the height
    int padW,               // zeros added left and right
    int padH,               // zeros added above and below
    int64_t inputWidth,     // width of the input
    int64_t inputHeight,    // height of the input
    int64_t outputWidth,    // width of the output
    int64_t outputHeight);  // height of the output

/* Gradients of SpatialConvolutionLocal w.r.t. its parameters, accumulated:
     gradWeight[y,x,o,i,kh,kw] += scale * sum over n of
                                  gradOutput[n,o,y,x] * input[n, i, y*dH + kh - padH, x*dW + kw - padW]
     gradBias[o,y,x] += scale * sum over n of gradOutput[n,o,y,x] */
TH_API void THNN_(SpatialConvolutionLocal_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [MODIFIED] sized as bias
    THTensor *finput,      // [BUFFER] unused
    THTensor *fgradInput,  // [BUFFER] unused
    int kW,                // kernel width
    int kH,                // kernel height
    int dW,                // stride along the width
    int dH,                // stride along the height
    int padW,              // zeros added left and right
    int padH,              // zeros added above and below
    int64_t inputWidth,    // width of the input
    int64_t inputHeight,   // height of the input
    int64_t outputWidth,   // width of the output
    int64_t outputHeight,  // height of the output
    accreal scale);        // factor of the gradients added

/* SpatialConvolutionMap: convolution of the pairs of channels in a connection table, with a separate kernel per pair.

     output[n,o,y,x] = bias[o] + sum over c, kh, kw with connTable[c] = (i, o) of
                       weight[c,kh,kw] * input[n, i, y*dH + kh, x*dW + kw]

   Shapes: input (N, nInputPlane, H, W) or (nInputPlane, H, W); connTable (K, 2), whole numbers from 0; weight
   (K, kH, kW); bias (nOutputPlane); output (N, nOutputPlane, oH, oW) with oH = floor((H - kH) / dH) + 1 and oW
   likewise. A pair that occurs several times in the table counts several times. An output channel that is not in
   the table equals its bias.
   Errors: ValueError for a stride or number of channels below 1, a kernel larger than the image, sizes that do not fit;
   IndexError for a row of connTable with a number that is not a channel.
   Source: LeCun et al. 1998; Torch7 nn.SpatialConvolutionMap.
   [DERIVATIVE bilinear] */
TH_API void THNN_(SpatialConvolutionMap_updateOutput)(
    THNNState *state,     // library state
    THTensor *input,      // input (N, nInputPlane, H, W) or (nInputPlane, H, W)
    THTensor *output,     // [OUT] result (N, nOutputPlane, oH, oW)
    THTensor *weight,     // kernels (K, kH, kW)
    THTensor *bias,       // one value per output channel (nOutputPlane)
    THTensor *connTable,  // connection table (K, 2): input channel, output channel
    int nInputPlane,      // channels of the input
    int nOutputPlane,     // channels of the output
    int dW,               // stride along the width
    int dH);              // stride along the height

/* Gradient of SpatialConvolutionMap w.r.t. its input: for each connection gradOutput times the kernel, added to
   each window. Elements outside every window get 0. bias is not used. */
TH_API void THNN_(SpatialConvolutionMap_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,      // kernels (K, kH, kW)
    THTensor *bias,        // one value per output channel (nOutputPlane)
    THTensor *connTable,   // connection table (K, 2): input channel, output channel
    int nInputPlane,       // channels of the input
    int nOutputPlane,      // channels of the output
    int dW,                // stride along the width
    int dH);               // stride along the height

/* Gradients of SpatialConvolutionMap w.r.t. its parameters, accumulated, for each row c of connTable = (i, o):
   gradWeight[c,kh,kw] += scale * sum over n, y, x of gradOutput[n,o,y,x] * input[n, i, y*dH + kh, x*dW + kw];
   gradBias[o] += scale * sum over n, y, x of gradOutput[n,o,y,x]. */
TH_API void THNN_(SpatialConvolutionMap_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [MODIFIED] sized as bias
    THTensor *connTable,   // connection table (K, 2): input channel, output channel
    int nInputPlane,       // channels of the input
    int nOutputPlane,      // channels of the output
    int dW,                // stride along the width
    int dH,                // stride along the height
    accreal scale);        // factor of the gradients added

/* SpatialFullConvolutionMap: transposed SpatialConvolutionMap. Every element of input, times a kernel, is added to a
   window of output.

     output[n,o,Y,X] = bias[o] + sum over c, y, x, kh, kw with connTable[c] = (i, o), Y = y*dH + kh and X = x*dW + kw of
                       weight[c,kh,kw] * input[n,i,y,x]

   Shapes: input (N, nInputPlane, H, W) or (nInputPlane, H, W); connTable (K, 2), whole numbers from 0; weight
   (K, kH, kW); bias (nOutputPlane); output (N, nOutputPlane, oH, oW) with oH = (H - 1)*dH + kH and oW likewise.
   Errors: ValueError for a stride or number of channels below 1, an output larger than memory can hold, sizes that
   do not fit; IndexError for a row of connTable with a number that is not a channel. Source: Torch7
   nn.SpatialFullConvolutionMap.
   [DERIVATIVE bilinear] */
TH_API void THNN_(SpatialFullConvolutionMap_updateOutput)(
    THNNState *state,     // library state
    THTensor *input,      // input (N, nInputPlane, H, W) or (nInputPlane, H, W)
    THTensor *output,     // [OUT] result (N, nOutputPlane, oH, oW)
    THTensor *weight,     // kernels (K, kH, kW)
    THTensor *bias,       // one value per output channel (nOutputPlane)
    THTensor *connTable,  // connection table (K, 2): input channel, output channel
    int nInputPlane,      // channels of the input
    int nOutputPlane,     // channels of the output
    int dW,               // stride along the width
    int dH);              // stride along the height

/* Gradient of SpatialFullConvolutionMap w.r.t. its input: gradOutput correlated with the kernel of each connection.
   bias is not used. */
TH_API void THNN_(SpatialFullConvolutionMap_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,      // kernels (K, kH, kW)
    THTensor *bias,        // one value per output channel (nOutputPlane)
    THTensor *connTable,   // connection table (K, 2): input channel, output channel
    int nInputPlane,       // channels of the input
    int nOutputPlane,      // channels of the output
    int dW,                // stride along the width
    int dH);               // stride along the height

/* Gradients of SpatialFullConvolutionMap w.r.t. its parameters, accumulated, for each row c of connTable = (i, o):
   gradWeight[c,kh,kw] += scale * sum over n, y, x of gradOutput[n, o, y*dH + kh, x*dW + kw] * input[n,i,y,x];
   gradBias[o] += scale * sum of gradOutput[n,o] over n and all pixels. */
TH_API void THNN_(SpatialFullConvolutionMap_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [MODIFIED] sized as bias
    THTensor *connTable,   // connection table (K, 2): input channel, output channel
    int nInputPlane,       // channels of the input
    int nOutputPlane,      // channels of the output
    int dW,                // stride along the width
    int dH,                // stride along the height
    accreal scale);        // factor of the gradients added

/* -----------------------------------------------------------------------------------------------------------------
   [FAMILY linear] */

/* Linear: output = input * weight^T + bias.

   Shapes: input (N, I) or (I); weight (O, I); bias (O) or None; output (N, O) or (O).
   Errors: ValueError for other dimensions or sizes. Source: Torch7 nn.Linear.
   [DERIVATIVE bilinear] */
TH_API void THNN_(Linear_updateOutput)(
    THNNState *state,      // library state
    THTensor *input,       // input (N, I) or (I)
    THTensor *output,      // [OUT] result (N, O) or (O)
    THTensor *weight,      // matrix (O, I)
    THTensor *bias,        // [OPTIONAL] vector (O)
    THTensor *addBuffer);  // [BUFFER] unused

/* Gradient of Linear w.r.t. its input: gradInput = gradOutput * weight. */
TH_API void THNN_(Linear_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight);     // matrix (O, I)

/* Gradients of Linear w.r.t. its parameters, accumulated: gradWeight += scale * gradOutput^T * input and, where bias
   is given, gradBias += scale * the sum of gradOutput over N. */
TH_API void THNN_(Linear_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OPTIONAL] unused
    THTensor *weight,      // matrix (O, I)
    THTensor *bias,        // [OPTIONAL] vector (O)
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] sized as bias
    THTensor *addBuffer,   // [BUFFER] unused
    accreal scale);        // factor of the gradients added

/* -----------------------------------------------------------------------------------------------------------------
   [FAMILY unfolding] */

/* Im2Col: the patches of an image under a sliding window, one per column. Here dH and dW are dilations, and
   sH and sW strides.

     output[n, (c*kH + kh)*kW + kw, y*oW + x] = input[n, c, y*sH + kh*dH - padH, x*sW + kw*dW - padW]

   Shapes: input (N, C, H, W) or (C, H, W); output (N, C*kH*kW, oH*oW) or (C*kH*kW, oH*oW) with
   oH = floor((H + 2*padH - dH*(kH - 1) - 1) / sH) + 1 and oW likewise. Input is 0 outside the image.
   Errors: ValueError for a kernel, dilation or stride below 1, negative padding, an empty output, sizes that
   do not fit. Source: torch.nn.functional.unfold, which gives the same result.
   [DERIVATIVE linear] */
TH_API void THNN_(Im2Col_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // images (N, C, H, W) or (C, H, W)
    THTensor *output,  // [OUT] columns (N, C*kH*kW, oH*oW)
    int kH,            // kernel height
    int kW,            // kernel width
    int dH,            // dilation along the height
    int dW,            // dilation along the width
    int padH,          // zeros added above and below
    int padW,          // zeros added left and right
    int sH,            // stride along the height
    int sW);           // stride along the width

/* Gradient of Im2Col w.r.t. its input: each element of gradOutput is added to the input element that its output element
   was copied from; elements outside every window get 0. */
TH_API void THNN_(Im2Col_updateGradInput)(
    THNNState *state,      // library state
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] gradient of the loss w.r.t. input (N, C, inputHeight, inputWidth)
    int inputHeight,       // [SIZE input -2] height of the images
    int inputWidth,        // [SIZE input -1] width of the images
    int kH,                // kernel height
    int kW,                // kernel width
    int dH,                // dilation along the height
    int dW,                // dilation along the width
    int padH,              // zeros added above and below
    int padW,              // zeros added left and right
    int sH,                // stride along the height
    int sW);               // stride along the width

/* Col2Im: columns summed into images, the transpose of Im2Col. Here dH and dW are dilations, and sH and sW strides.

     output[n,c,Y,X] = sum over y, x, kh, kw with Y = y*sH + kh*dH - padH and X = x*sW + kw*dW - padW of
                       input[n, (c*kH + kh)*kW + kw, y*oW + x]

   Shapes: input (N, C*kH*kW, oH*oW) or (C*kH*kW, oH*oW), oH and oW as in Im2Col for images of the size of the output;
   output (N, C, outputHeight, outputWidth) or (C, outputHeight, outputWidth).
   Errors: ValueError for a size, kernel, dilation or stride below 1, negative padding, sizes that do not fit.
   Source: torch.nn.functional.fold, which gives the same result.
   [DERIVATIVE linear] */
TH_API void THNN_(Col2Im_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // columns (N, C*kH*kW, oH*oW) or (C*kH*kW, oH*oW)
    THTensor *output,  // [OUT] images (N, C, outputHeight, outputWidth)
    int outputHeight,  // height of the images
    int outputWidth,   // width of the images
    int kH,            // kernel height
    int kW,            // kernel width
    int dH,            // dilation along the height
    int dW,            // dilation along the width
    int padH,          // zeros added above and below
    int padW,          // zeros added left and right
    int sH,            // stride along the height
    int sW);           // stride along the width

/* Gradient of Col2Im w.r.t. its input: Im2Col of gradOutput. */
TH_API void THNN_(Col2Im_updateGradInput)(
    THNNState *state,      // library state
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] gradient of the loss w.r.t. input
    int kH,                // kernel height
    int kW,                // kernel width
    int dH,                // dilation along the height
    int dW,                // dilation along the width
    int padH,              // zeros added above and below
    int padW,              // zeros added left and right
    int sH,                // stride along the height
    int sW);               // stride along the width

/* unfolded_copy: the patches of one image under a sliding window, one per column, as Im2Col without dilation.

     finput[(c*kH + kh)*kW + kw, y*outputWidth + x] = input[c, y*dH + kh - padH, x*dW + kw - padW], 0 outside the image

   The function takes no state. Shapes: input (nInputPlane, inputHeight, inputWidth); finput (nInputPlane*kH*kW,
   outputHeight*outputWidth), which is not resized, with outputHeight = floor((inputHeight + 2*padH - kH) / dH) + 1 and
   outputWidth likewise.
   Errors: ValueError for a kernel or stride below 1, negative padding, sizes that do not fit. Source: Torch7's
   unfold. */
TH_API void THNN_(unfolded_copy)(
    THTensor *finput,   // [INPUT] [MODIFIED] columns; completely overwritten, keeps its size
    THTensor *input,    // image (nInputPlane, inputHeight, inputWidth)
    int kW,             // kernel width
    int kH,             // kernel height
    int dW,             // stride along the width
    int dH,             // stride along the height
    int padW,           // zeros added left and right
    int padH,           // zeros added above and below
    int nInputPlane,    // channels of the input
    int inputWidth,     // width of the input
    int inputHeight,    // height of the input
    int outputWidth,    // width of the output
    int outputHeight);  // height of the output

/* unfolded_acc: the transpose of unfolded_copy: each element of finput is added to the element of input that
   unfolded_copy copies it from. Shapes and errors as in unfolded_copy. */
TH_API void THNN_(unfolded_acc)(
    THTensor *finput,   // [INPUT] columns
    THTensor *input,    // [MODIFIED] image, accumulated into (nInputPlane, inputHeight, inputWidth)
    int kW,             // kernel width
    int kH,             // kernel height
    int dW,             // stride along the width
    int dH,             // stride along the height
    int padW,           // zeros added left and right
    int padH,           // zeros added above and below
    int nInputPlane,    // channels of the input
    int inputWidth,     // width of the input
    int inputHeight,    // height of the input
    int outputWidth,    // width of the output
    int outputHeight);  // height of the output

/* -----------------------------------------------------------------------------------------------------------------
   [FAMILY pooling] */

/* TemporalSubSampling: the sum of each window along time, scaled and shifted per feature.

     output[t,f] = bias[f] + weight[f] * sum over k of input[t*dW + k, f]

   Shapes: input (T, inputFrameSize) or, as an extension, (N, T, inputFrameSize); weight and bias (inputFrameSize);
   output (oT, inputFrameSize) with oT = floor((T - kW) / dW) + 1.
   Errors: ValueError for a kernel or stride below 1, a kernel longer than the input, sizes that do not fit.
   Source: Torch7 nn.TemporalSubSampling.
   [DERIVATIVE bilinear] */
TH_API void THNN_(TemporalSubSampling_updateOutput)(
    THNNState *state,     // library state
    THTensor *input,      // input (T, inputFrameSize)
    THTensor *output,     // [OUT] result (oT, inputFrameSize)
    THTensor *weight,     // factor of each feature (inputFrameSize)
    THTensor *bias,       // added to each feature (inputFrameSize)
    int kW,               // kernel length
    int dW,               // stride
    int inputFrameSize);  // features of the input

/* Gradient of TemporalSubSampling w.r.t. its input: weight * gradOutput is added to its window. Frames outside
   every window get 0. */
TH_API void THNN_(TemporalSubSampling_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,      // factor of each feature (inputFrameSize)
    int kW,                // kernel length
    int dW);               // stride

/* Gradients of TemporalSubSampling w.r.t. its parameters, accumulated: gradWeight[f] += scale * sum over t of
   gradOutput[t,f] * the sum of the window; gradBias[f] += scale * sum over t of gradOutput[t,f]. */
TH_API void THNN_(TemporalSubSampling_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [MODIFIED] sized as bias
    int kW,                // kernel length
    int dW,                // stride
    accreal scale);        // factor of the gradients added

/* SpatialSubSampling: the sum of each window, scaled and shifted per channel.

     output[n,c,y,x] = bias[c] + weight[c] * sum over kh, kw of input[n, c, y*dH + kh, x*dW + kw]

   Shapes: input (N, C, H, W) or (C, H, W); weight and bias (C); output (N, C, oH, oW) with
   oH = floor((H - kH) / dH) + 1 and oW likewise.
   Errors: ValueError for a kernel or stride below 1, a kernel larger than the image, sizes that do not fit.
   Source: LeCun et al. 1998; Torch7 nn.SpatialSubSampling.
   [DERIVATIVE bilinear] */
TH_API void THNN_(SpatialSubSampling_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, C, H, W) or (C, H, W)
    THTensor *output,  // [OUT] result (N, C, oH, oW)
    THTensor *weight,  // factor of each channel (C)
    THTensor *bias,    // added to each channel (C)
    int kW,            // kernel width
    int kH,            // kernel height
    int dW,            // stride along the width
    int dH);           // stride along the height

/* Gradient of SpatialSubSampling w.r.t. its input: weight * gradOutput is added to its window. Elements outside every
   window get 0. */
TH_API void THNN_(SpatialSubSampling_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,      // factor of each channel (C)
    int kW,                // kernel width
    int kH,                // kernel height
    int dW,                // stride along the width
    int dH);               // stride along the height

/* Gradients of SpatialSubSampling w.r.t. its parameters, accumulated: gradWeight[c] += scale * sum over n, y, x of
   gradOutput[n,c,y,x] * the sum of the window; gradBias[c] += scale * sum over n, y, x of gradOutput[n,c,y,x]. */
TH_API void THNN_(SpatialSubSampling_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [MODIFIED] sized as bias
    int kW,                // kernel width
    int kH,                // kernel height
    int dW,                // stride along the width
    int dH,                // stride along the height
    accreal scale);        // factor of the gradients added

/* SpatialMaxPooling: the largest value of each window.

   Shapes: input (N, C, H, W) or (C, H, W); output and indices (N, C, oH, oW) with
   oH = floor((H + 2*padH - kH) / dH) + 1, or ceil instead of floor with ceil_mode. If padW or padH is above 0, a last
   window that starts beyond the image, (oH - 1)*dH >= H + padH, is dropped. oW likewise.
   indices holds h*W + w of the maximum within its plane. The first of equal values in row order wins, and padding never
   does. NaN counts as larger than anything, so the last NaN wins (as in torch). A window without an input element gives
   the lowest finite value and index -1.
   Errors: ValueError for a kernel or stride below 1, padding below 0 or above half the kernel, an empty
   output.
   Source: Torch7 nn.SpatialMaxPooling. */
TH_API void THNN_(SpatialMaxPooling_updateOutput)(
    THNNState *state,        // library state
    THTensor *input,         // input (N, C, H, W) or (C, H, W)
    THTensor *output,        // [OUT] result (N, C, oH, oW)
    THIndexTensor *indices,  // [OUT] [SAVED] position of each maximum in its plane, or -1
    int kW,                  // kernel width
    int kH,                  // kernel height
    int dW,                  // stride along the width
    int dH,                  // stride along the height
    int padW,                // padding left and right
    int padH,                // padding above and below
    bool ceil_mode);         // [DEFAULT false] round output sizes up

/* Gradient of SpatialMaxPooling w.r.t. its input: gradOutput is added at indices; index -1 is skipped.
   Errors: also IndexError for an index outside its plane. */
TH_API void THNN_(SpatialMaxPooling_updateGradInput)(
    THNNState *state,        // library state
    THTensor *input,         // input
    THTensor *gradOutput,    // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,     // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THIndexTensor *indices,  // [SAVED] as the forward left them
    int kW,                  // kernel width
    int kH,                  // kernel height
    int dW,                  // stride along the width
    int dH,                  // stride along the height
    int padW,                // padding left and right
    int padH,                // padding above and below
    bool ceil_mode);         // as in the forward

/* SpatialDilatedMaxPooling: the largest value of each window, whose elements are `dilation` apart.

   Shapes: input (N, C, H, W) or (C, H, W); output and indices (N, C, oH, oW) with
   oH = floor((H + 2*padH - dilationH*(kH - 1) - 1) / dH) + 1, or ceil instead of floor with ceil_mode. If padW or padH
   is above 0, a last window that starts beyond the image, (oH - 1)*dH >= H + padH, is dropped. oW likewise.
   indices as in SpatialMaxPooling.
   Errors: ValueError for a kernel, stride or dilation below 1, padding below 0 or above half the kernel, an
   empty output.
   Source: Torch7 nn.SpatialDilatedMaxPooling. */
TH_API void THNN_(SpatialDilatedMaxPooling_updateOutput)(
    THNNState *state,        // library state
    THTensor *input,         // input (N, C, H, W) or (C, H, W)
    THTensor *output,        // [OUT] result (N, C, oH, oW)
    THIndexTensor *indices,  // [OUT] [SAVED] position of each maximum in its plane, or -1
    int kW,                  // kernel width
    int kH,                  // kernel height
    int dW,                  // stride along the width
    int dH,                  // stride along the height
    int padW,                // padding left and right
    int padH,                // padding above and below
    int dilationW,           // distance between kernel elements along the width
    int dilationH,           // distance between kernel elements along the height
    bool ceil_mode);         // [DEFAULT false] round output sizes up

/* Gradient of SpatialDilatedMaxPooling w.r.t. its input: gradOutput is added at indices; index -1 is skipped.
   Errors: also IndexError for an index outside its plane. */
TH_API void THNN_(SpatialDilatedMaxPooling_updateGradInput)(
    THNNState *state,        // library state
    THTensor *input,         // input
    THTensor *gradOutput,    // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,     // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THIndexTensor *indices,  // [SAVED] as the forward left them
    int kW,                  // kernel width
    int kH,                  // kernel height
    int dW,                  // stride along the width
    int dH,                  // stride along the height
    int padW,                // padding left and right
    int padH,                // padding above and below
    int dilationW,           // distance between kernel elements along the width
    int dilationH,           // distance between kernel elements along the height
    bool ceil_mode);         // as in the forward

/* TemporalMaxPooling: the largest value of each feature in each window of frames.

   Shapes: input (N, T, C) or (T, C); output and indices (N, oT, C) with oT = floor((T - kW) / dW) + 1.
   indices holds the offset of the maximum in its window, 0 to kW - 1: it is frame t*dW + indices. The first of equal
   values wins. NaN counts as larger than anything, so the last NaN wins.
   Errors: ValueError for a kernel or stride below 1, a kernel longer than the input.
   Source: Torch7 nn.TemporalMaxPooling. */
TH_API void THNN_(TemporalMaxPooling_updateOutput)(
    THNNState *state,        // library state
    THTensor *input,         // input (N, T, C) or (T, C)
    THTensor *output,        // [OUT] result (N, oT, C)
    THIndexTensor *indices,  // [OUT] [SAVED] offset of each maximum in its window
    int kW,                  // kernel length
    int dW);                 // stride

/* Gradient of TemporalMaxPooling w.r.t. its input: gradOutput is added at indices; index -1 is skipped.
   Errors: also IndexError for another index outside the window. */
TH_API void THNN_(TemporalMaxPooling_updateGradInput)(
    THNNState *state,        // library state
    THTensor *input,         // input
    THTensor *gradOutput,    // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,     // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THIndexTensor *indices,  // [SAVED] as the forward left them
    int kW,                  // kernel length
    int dW);                 // stride

/* VolumetricMaxPooling: the largest value of each window.

   Shapes: input (N, C, T, H, W) or (C, T, H, W); output and indices (N, C, oT, oH, oW) with
   oT = floor((T + 2*pT - kT) / dT) + 1, or ceil instead of floor with ceilMode. If pT, pW or pH is above 0, a last
   window that starts beyond the volume, (oT - 1)*dT >= T + pT, is dropped. oH and oW likewise.
   indices holds the kernel element of the maximum, one byte per axis: kt + (kh << 8) + (kw << 16). The first of equal
   values in row order wins, padding never does, NaN counts as larger than anything, so the last NaN wins. A window
   without any element gives the lowest finite value and index -1.
   Errors: ValueError for a kernel or stride below 1, a kernel above 256, padding below 0 or above half the kernel, an
   empty output.
   Source: Torch7 nn.VolumetricMaxPooling. */
TH_API void THNN_(VolumetricMaxPooling_updateOutput)(
    THNNState *state,        // library state
    THTensor *input,         // input (N, C, T, H, W) or (C, T, H, W)
    THTensor *output,        // [OUT] result (N, C, oT, oH, oW)
    THIndexTensor *indices,  // [OUT] [SAVED] element of the kernel, packed
    int kT,                  // kernel depth
    int kW,                  // kernel width
    int kH,                  // kernel height
    int dT,                  // stride along the depth
    int dW,                  // stride along the width
    int dH,                  // stride along the height
    int pT,                  // padding in front and behind
    int pW,                  // padding left and right
    int pH,                  // padding above and below
    bool ceilMode);          // [DEFAULT false] round output sizes up

/* Gradient of VolumetricMaxPooling w.r.t. its input: gradOutput is added at indices; index -1 is skipped.
   Errors: also IndexError for an index that is not an element of its window. */
TH_API void THNN_(VolumetricMaxPooling_updateGradInput)(
    THNNState *state,        // library state
    THTensor *input,         // input
    THTensor *gradOutput,    // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,     // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THIndexTensor *indices,  // [SAVED] as the forward left them
    int kT,                  // kernel depth
    int kW,                  // kernel width
    int kH,                  // kernel height
    int dT,                  // stride along the depth
    int dW,                  // stride along the width
    int dH,                  // stride along the height
    int pT,                  // padding in front and behind
    int pW,                  // padding left and right
    int pH,                  // padding above and below
    bool ceilMode);          // as in the forward

/* VolumetricDilatedMaxPooling: the largest value of each window, whose elements are `dilation` apart.

   Shapes: input (N, C, T, H, W) or (C, T, H, W); output and indices (N, C, oT, oH, oW) with
   oT = floor((T + 2*pT - dilationT*(kT - 1) - 1) / dT) + 1, or ceil instead of floor with ceilMode. If pT, pW or pH is
   above 0, a last window that starts beyond the volume, (oT - 1)*dT >= T + pT, is dropped. oH and oW likewise.
   indices holds the kernel element of the maximum, one byte per axis: kt + (kh << 8) + (kw << 16). The first of equal
   values in row order wins, and padding never does. NaN counts as larger than anything, so the last NaN wins. A window
   without any element gives the lowest finite value and index -1.
   Errors: ValueError for a kernel, stride or dilation below 1, a kernel above 256, padding below 0 or above half the
   kernel, an empty output.
   Source: Torch7 nn.VolumetricDilatedMaxPooling. */
TH_API void THNN_(VolumetricDilatedMaxPooling_updateOutput)(
    THNNState *state,        // library state
    THTensor *input,         // input (N, C, T, H, W) or (C, T, H, W)
    THTensor *output,        // [OUT] result (N, C, oT, oH, oW)
    THIndexTensor *indices,  // [OUT] [SAVED] element of the kernel, packed
    int kT,                  // kernel depth
    int kW,                  // kernel width
    int kH,                  // kernel height
    int dT,                  // stride along the depth
    int dW,                  // stride along the width
    int dH,                  // stride along the height
    int pT,                  // padding in front and behind
    int pW,                  // padding left and right
    int pH,                  // padding above and below
    int dilationT,           // distance between kernel elements along the depth
    int dilationW,           // distance between kernel elements along the width
    int dilationH,           // distance between kernel elements along the height
    bool ceilMode);          // [DEFAULT false] round output sizes up

/* Gradient of VolumetricDilatedMaxPooling w.r.t. its input: gradOutput is added at indices; index -1 is skipped.
   Errors: also IndexError for an index that is not an element of its window. */
TH_API void THNN_(VolumetricDilatedMaxPooling_updateGradInput)(
    THNNState *state,        // library state
    THTensor *input,         // input
    THTensor *gradOutput,    // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,     // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THIndexTensor *indices,  // [SAVED] as the forward left them
    int kT,                  // kernel depth
    int kW,                  // kernel width
    int kH,                  // kernel height
    int dT,                  // stride along the depth
    int dW,                  // stride along the width
    int dH,                  // stride along the height
    int pT,                  // padding in front and behind
    int pW,                  // padding left and right
    int pH,                  // padding above and below
    int dilationT,           // distance between kernel elements along the depth
    int dilationW,           // distance between kernel elements along the width
    int dilationH,           // distance between kernel elements along the height
    bool ceilMode);          // as in the forward

/* SpatialAveragePooling: the mean of each window. With count_include_pad the window is clipped to the padded
   image, whose zeros count in the divisor; otherwise it is clipped to the image.

   Shapes: input (N, C, H, W) or (C, H, W); output (N, C, oH, oW), sizes as in SpatialMaxPooling.
   Errors: ValueError for a kernel or stride below 1, padding below 0 or above half the kernel, an empty
   output.
   Source: Torch7 nn.SpatialAveragePooling.
   [DERIVATIVE linear] */
TH_API void THNN_(SpatialAveragePooling_updateOutput)(
    THNNState *state,         // library state
    THTensor *input,          // input (N, C, H, W) or (C, H, W)
    THTensor *output,         // [OUT] result (N, C, oH, oW)
    int kW,                   // kernel width
    int kH,                   // kernel height
    int dW,                   // stride along the width
    int dH,                   // stride along the height
    int padW,                 // zeros added left and right
    int padH,                 // zeros added above and below
    bool ceil_mode,           // [DEFAULT false] round output sizes up
    bool count_include_pad);  // [DEFAULT true] count padding in the divisor

/* Gradient of SpatialAveragePooling w.r.t. its input: each gradOutput, divided by its divisor, is added to
   its window. */
TH_API void THNN_(SpatialAveragePooling_updateGradInput)(
    THNNState *state,         // library state
    THTensor *input,          // input
    THTensor *gradOutput,     // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,      // [OUT] [LIKE input] gradient of the loss w.r.t. input
    int kW,                   // kernel width
    int kH,                   // kernel height
    int dW,                   // stride along the width
    int dH,                   // stride along the height
    int padW,                 // zeros added left and right
    int padH,                 // zeros added above and below
    bool ceil_mode,           // as in the forward
    bool count_include_pad);  // as in the forward

/* VolumetricAveragePooling: the mean of each window, as in SpatialAveragePooling.

   Shapes: input (N, C, T, H, W) or (C, T, H, W); output (N, C, oT, oH, oW), sizes as in VolumetricMaxPooling.
   Errors: ValueError for a kernel or stride below 1, a kernel larger than the unpadded input, padding below 0 or above
   half the kernel, an empty output.
   Source: Torch7 nn.VolumetricAveragePooling.
   [DERIVATIVE linear] */
TH_API void THNN_(VolumetricAveragePooling_updateOutput)(
    THNNState *state,         // library state
    THTensor *input,          // input (N, C, T, H, W) or (C, T, H, W)
    THTensor *output,         // [OUT] result (N, C, oT, oH, oW)
    int kT,                   // kernel depth
    int kW,                   // kernel width
    int kH,                   // kernel height
    int dT,                   // stride along the depth
    int dW,                   // stride along the width
    int dH,                   // stride along the height
    int padT,                 // zeros added in front and behind
    int padW,                 // zeros added left and right
    int padH,                 // zeros added above and below
    bool ceil_mode,           // [DEFAULT false] round output sizes up
    bool count_include_pad);  // [DEFAULT true] count padding in the divisor

/* Gradient of VolumetricAveragePooling w.r.t. its input: each gradOutput, divided by its divisor, is added to
   its window. */
TH_API void THNN_(VolumetricAveragePooling_updateGradInput)(
    THNNState *state,         // library state
    THTensor *input,          // input
    THTensor *gradOutput,     // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,      // [OUT] [LIKE input] gradient of the loss w.r.t. input
    int kT,                   // kernel depth
    int kW,                   // kernel width
    int kH,                   // kernel height
    int dT,                   // stride along the depth
    int dW,                   // stride along the width
    int dH,                   // stride along the height
    int padT,                 // zeros added in front and behind
    int padW,                 // zeros added left and right
    int padH,                 // zeros added above and below
    bool ceil_mode,           // as in the forward
    bool count_include_pad);  // as in the forward

/* SpatialAdaptiveAveragePooling: the mean of each of osizeH x osizeW regions, whatever the size of the input. Region y
   covers the rows floor(y * H / osizeH) to ceil((y + 1) * H / osizeH) - 1, columns likewise.

   Shapes: input (N, C, H, W) or (C, H, W); output (N, C, osizeH, osizeW).
   Errors: ValueError for a size below 1. Source: He et al. 2014; Torch7 nn.SpatialAdaptiveAveragePooling.
   [DERIVATIVE linear] */
TH_API void THNN_(SpatialAdaptiveAveragePooling_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, C, H, W) or (C, H, W)
    THTensor *output,  // [OUT] result (N, C, osizeH, osizeW)
    int osizeW,        // width of the output
    int osizeH);       // height of the output

/* Gradient of SpatialAdaptiveAveragePooling w.r.t. its input: each gradOutput, divided by the size of its region, is
   added to the region. */
TH_API void THNN_(SpatialAdaptiveAveragePooling_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput);  // [OUT] [LIKE input] gradient of the loss w.r.t. input

/* VolumetricAdaptiveAveragePooling: the mean of each of osizeT x osizeH x osizeW regions, as in
   SpatialAdaptiveAveragePooling.

   Shapes: input (N, C, T, H, W) or (C, T, H, W); output (N, C, osizeT, osizeH, osizeW).
   Errors: ValueError for a size below 1. Source: PyTorch nn.AdaptiveAvgPool3d.
   [DERIVATIVE linear] */
TH_API void THNN_(VolumetricAdaptiveAveragePooling_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, C, T, H, W) or (C, T, H, W)
    THTensor *output,  // [OUT] result (N, C, osizeT, osizeH, osizeW)
    int osizeT,        // depth of the output
    int osizeW,        // width of the output
    int osizeH);       // height of the output

/* Gradient of VolumetricAdaptiveAveragePooling w.r.t. its input: each gradOutput, divided by the size of its region, is
   added to the region. */
TH_API void THNN_(VolumetricAdaptiveAveragePooling_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput);  // [OUT] [LIKE input] gradient of the loss w.r.t. input

/* SpatialAdaptiveMaxPooling: the largest value of each of oheight x owidth regions, the same regions as in
   SpatialAdaptiveAveragePooling.

   Shapes: input (N, C, H, W) or (C, H, W); output and indices (N, C, oheight, owidth).
   indices holds h*W + w of the maximum within its plane. The first of equal values in row order wins, NaN counts
   as larger than anything, so the last NaN wins.
   Errors: ValueError for a size below 1. Source: Torch7 nn.SpatialAdaptiveMaxPooling. */
TH_API void THNN_(SpatialAdaptiveMaxPooling_updateOutput)(
    THNNState *state,        // library state
    THTensor *input,         // input (N, C, H, W) or (C, H, W)
    THTensor *output,        // [OUT] result (N, C, oheight, owidth)
    THIndexTensor *indices,  // [OUT] [SAVED] position of each maximum in its plane
    int owidth,              // width of the output
    int oheight);            // height of the output

/* Gradient of SpatialAdaptiveMaxPooling w.r.t. its input: gradOutput is added at indices.
   Errors: also IndexError for an index outside its plane. */
TH_API void THNN_(SpatialAdaptiveMaxPooling_updateGradInput)(
    THNNState *state,         // library state
    THTensor *input,          // input
    THTensor *gradOutput,     // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,      // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THIndexTensor *indices);  // [SAVED] as the forward left them

/* SpatialFractionalMaxPooling: the largest value of each of outputH x outputW regions of poolSizeH x poolSizeW, whose
   stride is a fraction. Along an axis of size I with the random sample u, region j < O - 1 begins at
   trunc((j + u) * a) - trunc(u * a) with a = (I - poolSize) / (O - 1), and the last region at I - poolSize.

   Shapes: input (N, C, H, W) or (C, H, W); output and indices (N, C, outputH, outputW); randomSamples (N, C, 2),
   without N also (C, 2).
   indices holds h*W + w of the maximum within its plane. The first of equal values in row order wins, NaN counts
   as larger than anything, so the last NaN wins.
   Errors: ValueError for a size below 1, output + poolSize - 1 not below the size of the input, a sample not in [0, 1].
   Source: Graham 2014; Torch7 nn.SpatialFractionalMaxPooling. */
TH_API void THNN_(SpatialFractionalMaxPooling_updateOutput)(
    THNNState *state,          // library state
    THTensor *input,           // input (N, C, H, W) or (C, H, W)
    THTensor *output,          // [OUT] result (N, C, outputH, outputW)
    int outputW,               // width of the output
    int outputH,               // height of the output
    int poolSizeW,             // width of a region
    int poolSizeH,             // height of a region
    THIndexTensor *indices,    // [OUT] [SAVED] position of each maximum in its plane
    THTensor *randomSamples);  // two numbers in [0, 1] for each plane: for the width and for the height

/* Gradient of SpatialFractionalMaxPooling w.r.t. its input: gradOutput is added at indices.
   Errors: also IndexError for an index outside its plane. */
TH_API void THNN_(SpatialFractionalMaxPooling_updateGradInput)(
    THNNState *state,         // library state
    THTensor *input,          // input
    THTensor *gradOutput,     // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,      // [OUT] [LIKE input] gradient of the loss w.r.t. input
    int outputW,              // width of the output
    int outputH,              // height of the output
    int poolSizeW,            // width of a region
    int poolSizeH,            // height of a region
    THIndexTensor *indices);  // [SAVED] as the forward left them

/* VolumetricFractionalMaxPooling: SpatialFractionalMaxPooling for volumes, with the depth T last.

   Shapes: input (N, C, H, W, T) or (C, H, W, T); output and indices (N, C, outputH, outputW, outputT); randomSamples
   (N, C, 3), without N also (C, 3).
   indices holds (h*W + w)*T + t of the maximum within its volume. The first of equal values in row order wins, NaN
   counts as larger than anything, so the last NaN wins.
   Errors: ValueError for a size below 1, output + poolSize - 1 not below the size of the input, a sample not in [0, 1].
   Source: Graham 2014; Torch7 nn.VolumetricFractionalMaxPooling. */
TH_API void THNN_(VolumetricFractionalMaxPooling_updateOutput)(
    THNNState *state,          // library state
    THTensor *input,           // input (N, C, H, W, T) or (C, H, W, T)
    THTensor *output,          // [OUT] result (N, C, outputH, outputW, outputT)
    int outputT,               // depth of the output
    int outputW,               // width of the output
    int outputH,               // height of the output
    int poolSizeT,             // depth of a region
    int poolSizeW,             // width of a region
    int poolSizeH,             // height of a region
    THIndexTensor *indices,    // [OUT] [SAVED] position of each maximum in its volume
    THTensor *randomSamples);  // three numbers in [0, 1] for each volume: for depth, width and height

/* Gradient of VolumetricFractionalMaxPooling w.r.t. its input: gradOutput is added at indices.
   Errors: also IndexError for an index outside its volume. */
TH_API void THNN_(VolumetricFractionalMaxPooling_updateGradInput)(
    THNNState *state,         // library state
    THTensor *input,          // input
    THTensor *gradOutput,     // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,      // [OUT] [LIKE input] gradient of the loss w.r.t. input
    int outputT,              // depth of the output
    int outputW,              // width of the output
    int outputH,              // height of the output
    int poolSizeT,            // depth of a region
    int poolSizeW,            // width of a region
    int poolSizeH,            // height of a region
    THIndexTensor *indices);  // [SAVED] as the forward left them

/* SpatialMaxUnpooling: the inverse of a max pooling: output is 0 except at indices, where it is input. Among equal
   indices the last one in row order counts.

   Shapes: input and indices (N, C, H, W) or (C, H, W); output (N, C, oheight, owidth).
   Errors: ValueError for a size below 1 and for sizes that do not fit, IndexError for an index outside the output.
   Source: Zeiler and Fergus 2014; Torch7 nn.SpatialMaxUnpooling. */
TH_API void THNN_(SpatialMaxUnpooling_updateOutput)(
    THNNState *state,        // library state
    THTensor *input,         // input (N, C, H, W) or (C, H, W)
    THTensor *output,        // [OUT] result (N, C, oheight, owidth)
    THIndexTensor *indices,  // position of each input in its plane of the output
    int owidth,              // width of the output
    int oheight);            // height of the output

/* Gradient of SpatialMaxUnpooling w.r.t. its input: gradOutput at indices. */
TH_API void THNN_(SpatialMaxUnpooling_updateGradInput)(
    THNNState *state,        // library state
    THTensor *input,         // input
    THTensor *gradOutput,    // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,     // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THIndexTensor *indices,  // position of each input in its plane of the output
    int owidth,              // width of the output
    int oheight);            // height of the output

/* VolumetricMaxUnpooling: the inverse of VolumetricMaxPooling with the same stride and padding. output is 0 except at
   (t*dT - pT + kt, y*dH - pH + kh, x*dW - pW + kw), where it is input[n,c,t,y,x] with the index kt + (kh << 8) +
   (kw << 16). Among equal positions the last one in row order counts.

   Shapes: input and indices (N, C, T, H, W) or (C, T, H, W); output (N, C, oT, oH, oW).
   Errors: ValueError for a size or stride below 1, negative padding, and for sizes that do not fit, IndexError for a
   position outside the output.
   Source: Torch7 nn.VolumetricMaxUnpooling. */
TH_API void THNN_(VolumetricMaxUnpooling_updateOutput)(
    THNNState *state,        // library state
    THTensor *input,         // input (N, C, T, H, W) or (C, T, H, W)
    THTensor *output,        // [OUT] result (N, C, oT, oH, oW)
    THIndexTensor *indices,  // element of the kernel, packed
    int oT,                  // depth of the output
    int oW,                  // width of the output
    int oH,                  // height of the output
    int dT,                  // stride along the depth
    int dW,                  // stride along the width
    int dH,                  // stride along the height
    int pT,                  // padding in front and behind
    int pW,                  // padding left and right
    int pH);                 // padding above and below

/* Gradient of VolumetricMaxUnpooling w.r.t. its input: gradOutput at the positions of the forward. */
TH_API void THNN_(VolumetricMaxUnpooling_updateGradInput)(
    THNNState *state,        // library state
    THTensor *input,         // input
    THTensor *gradOutput,    // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,     // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THIndexTensor *indices,  // element of the kernel, packed
    int oT,                  // depth of the output
    int oW,                  // width of the output
    int oH,                  // height of the output
    int dT,                  // stride along the depth
    int dW,                  // stride along the width
    int dH,                  // stride along the height
    int pT,                  // padding in front and behind
    int pW,                  // padding left and right
    int pH);                 // padding above and below

/* FeatureLPPooling: the p-norm of windows that slide along the features.

     output[n,o,...] = (sum over k < width of input[n, o*stride + k, ...]^power)^(1/power)

   With an odd power a sum may be negative; output is then minus the root of its magnitude. With a power that is not a
   whole number, a negative input gives NaN.
   Shapes: input (N, F), (N, F, A) or (N, F, A, B) with batchMode, otherwise without N; output with
   oF = floor((F - width) / stride) + 1 features.
   Errors: ValueError for a power that is not positive and finite, a width not in 2 to 16, a stride not in 1 to 4,
   fewer features than the width.
   Source: Boureau et al. 2010; Torch7 nn.FeatureLPPooling. */
TH_API void THNN_(FeatureLPPooling_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, F, ...) or (F, ...)
    THTensor *output,  // [OUT] result (N, oF, ...)
    accreal power,     // exponent
    int width,         // features of a window
    int stride,        // features from one window to the next
    bool batchMode);   // dimension 0 is the batch

/* Gradient of FeatureLPPooling w.r.t. its input: gradOutput * (input / output)^(power - 1) is added to each element of
   its window. A window whose output is 0 adds nothing. */
TH_API void THNN_(FeatureLPPooling_updateGradInput)(
    THNNState *state,      // library state
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *input,       // input
    THTensor *output,      // as the forward left it
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    accreal power,         // exponent
    int width,             // features of a window
    int stride,            // features from one window to the next
    bool batchMode);       // dimension 0 is the batch

/* -----------------------------------------------------------------------------------------------------------------
   [FAMILY padding] */

/* TemporalReplicationPadding: a series extended by its first and last element.

     output[n,c,x] = input[n, c, min(max(x - pad_l, 0), W - 1)]

   Shapes: input (N, C, W) or (C, W); output (N, C, W + pad_l + pad_r). Negative padding crops.
   Errors: ValueError for an empty output. Source: Torch7 nn.TemporalReplicationPadding.
   [DERIVATIVE linear] */
TH_API void THNN_(TemporalReplicationPadding_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, C, W) or (C, W)
    THTensor *output,  // [OUT] padded input
    int pad_l,         // elements added left; negative: cropped
    int pad_r);        // elements added right

/* Gradient of TemporalReplicationPadding w.r.t. its input: each element of gradOutput is added to
   the input element that its output element was copied from. */
TH_API void THNN_(TemporalReplicationPadding_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    int pad_l,             // elements added left; negative: cropped
    int pad_r);            // elements added right

/* TemporalReflectionPadding: a series extended by its mirror images at the first and at the last element, which are not
   repeated.

     output[n,c,x] = input[n, c, mirror(x - pad_l, W)]
     mirror(i, size) = 2*(size - 1) - i where i >= size, else |i|

   Shapes: input (N, C, W) or (C, W); output (N, C, W + pad_l + pad_r). Negative padding crops.
   Errors: ValueError for padding of W or more, and for an empty output.
   Source: Torch7 nn.TemporalReflectionPadding.
   [DERIVATIVE linear] */
TH_API void THNN_(TemporalReflectionPadding_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, C, W) or (C, W)
    THTensor *output,  // [OUT] padded input
    int pad_l,         // elements added left; negative: cropped
    int pad_r);        // elements added right

/* Gradient of TemporalReflectionPadding w.r.t. its input: each element of gradOutput is added to
   the input element that its output element was copied from. */
TH_API void THNN_(TemporalReflectionPadding_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    int pad_l,             // elements added left; negative: cropped
    int pad_r);            // elements added right

/* SpatialReplicationPadding: images extended by their border pixels.

     output[n,c,y,x] = input[n, c, min(max(y - pad_t, 0), H - 1), min(max(x - pad_l, 0), W - 1)]

   Shapes: input (N, C, H, W) or (C, H, W); output (N, C, H + pad_t + pad_b, W + pad_l + pad_r). Negative padding crops.
   Errors: ValueError for an empty output. Source: Torch7 nn.SpatialReplicationPadding.
   [DERIVATIVE linear] */
TH_API void THNN_(SpatialReplicationPadding_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, C, H, W) or (C, H, W)
    THTensor *output,  // [OUT] padded input
    int pad_l,         // elements added left; negative: cropped
    int pad_r,         // elements added right
    int pad_t,         // rows added above
    int pad_b);        // rows added below

/* Gradient of SpatialReplicationPadding w.r.t. its input: each element of gradOutput is added to
   the input element that its output element was copied from. */
TH_API void THNN_(SpatialReplicationPadding_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    int pad_l,             // elements added left; negative: cropped
    int pad_r,             // elements added right
    int pad_t,             // rows added above
    int pad_b);            // rows added below

/* SpatialReflectionPadding: images extended by their mirror images at the border pixels, which are not repeated.

     output[n,c,y,x] = input[n, c, mirror(y - pad_t, H), mirror(x - pad_l, W)]
     mirror(i, size) = 2*(size - 1) - i where i >= size, else |i|

   Shapes: input (N, C, H, W) or (C, H, W); output (N, C, H + pad_t + pad_b, W + pad_l + pad_r). Negative padding crops.
   Errors: ValueError for padding that is not below the size, and for an empty output.
   Source: Torch7 nn.SpatialReflectionPadding.
   [DERIVATIVE linear] */
TH_API void THNN_(SpatialReflectionPadding_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, C, H, W) or (C, H, W)
    THTensor *output,  // [OUT] padded input
    int pad_l,         // elements added left; negative: cropped
    int pad_r,         // elements added right
    int pad_t,         // rows added above
    int pad_b);        // rows added below

/* Gradient of SpatialReflectionPadding w.r.t. its input: each element of gradOutput is added to
   the input element that its output element was copied from. */
TH_API void THNN_(SpatialReflectionPadding_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    int pad_l,             // elements added left; negative: cropped
    int pad_r,             // elements added right
    int pad_t,             // rows added above
    int pad_b);            // rows added below

/* VolumetricReplicationPadding: volumes extended by the elements at their borders, as images by
   SpatialReplicationPadding.

   Shapes: input (N, C, T, H, W) or (C, T, H, W); output (N, C, T + pfront + pback, H + ptop + pbottom,
   W + pleft + pright). Negative padding crops.
   Errors: ValueError for an empty output. Source: Torch7 nn.VolumetricReplicationPadding.
   [DERIVATIVE linear] */
TH_API void THNN_(VolumetricReplicationPadding_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, C, T, H, W) or (C, T, H, W)
    THTensor *output,  // [OUT] padded input
    int pleft,         // columns added left; negative: cropped
    int pright,        // columns added right
    int ptop,          // rows added above
    int pbottom,       // rows added below
    int pfront,        // slices added in front
    int pback);        // slices added behind

/* Gradient of VolumetricReplicationPadding w.r.t. its input: each element of gradOutput is added to
   the input element that its output element was copied from. */
TH_API void THNN_(VolumetricReplicationPadding_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    int pleft,             // columns added left; negative: cropped
    int pright,            // columns added right
    int ptop,              // rows added above
    int pbottom,           // rows added below
    int pfront,            // slices added in front
    int pback);            // slices added behind

/* -----------------------------------------------------------------------------------------------------------------
   [FAMILY resampling] */

/* TemporalUpSamplingNearest: every element of a series repeated scale_factor times.

     output[n,c,x] = input[n, c, floor(x / scale_factor)]

   Shapes: input (N, C, W) or (C, W); output (N, C, W*scale_factor).
   Errors: ValueError for a factor below 2. Source: Torch7 nn.TemporalUpSamplingNearest.
   [DERIVATIVE linear] */
TH_API void THNN_(TemporalUpSamplingNearest_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input (N, C, W) or (C, W)
    THTensor *output,   // [OUT] result (N, C, W*scale_factor)
    int scale_factor);  // repetitions along each axis

/* Gradient of TemporalUpSamplingNearest w.r.t. its input: the sum of gradOutput over the repetitions of each
   element. */
TH_API void THNN_(TemporalUpSamplingNearest_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    int scale_factor);     // repetitions along each axis

/* SpatialUpSamplingNearest: every pixel repeated scale_factor times along the height and the width.

     output[n,c,y,x] = input[n, c, floor(y / scale_factor), floor(x / scale_factor)]

   Shapes: input (N, C, H, W) or (C, H, W); output (N, C, H*scale_factor, W*scale_factor).
   Errors: ValueError for a factor below 2. Source: Torch7 nn.SpatialUpSamplingNearest.
   [DERIVATIVE linear] */
TH_API void THNN_(SpatialUpSamplingNearest_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input (N, C, H, W) or (C, H, W)
    THTensor *output,   // [OUT] result (N, C, H*scale_factor, W*scale_factor)
    int scale_factor);  // repetitions along each axis

/* Gradient of SpatialUpSamplingNearest w.r.t. its input: the sum of gradOutput over the repetitions of each element. */
TH_API void THNN_(SpatialUpSamplingNearest_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    int scale_factor);     // repetitions along each axis

/* VolumetricUpSamplingNearest: every element of a volume repeated scale_factor times along each axis.

     output[n,c,t,y,x] = input[n, c, floor(t / scale_factor), floor(y / scale_factor), floor(x / scale_factor)]

   Shapes: input (N, C, T, H, W) or (C, T, H, W); output (N, C, T*scale_factor, H*scale_factor, W*scale_factor).
   Errors: ValueError for a factor below 2. Source: Torch7 nn.VolumetricUpSamplingNearest.
   [DERIVATIVE linear] */
TH_API void THNN_(VolumetricUpSamplingNearest_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input (N, C, T, H, W) or (C, T, H, W)
    THTensor *output,   // [OUT] result (N, C, T*scale_factor, H*scale_factor, W*scale_factor)
    int scale_factor);  // repetitions along each axis

/* Gradient of VolumetricUpSamplingNearest w.r.t. its input: the sum of gradOutput over the repetitions of each
   element. */
TH_API void THNN_(VolumetricUpSamplingNearest_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    int scale_factor);     // repetitions along each axis

/* TemporalUpSamplingLinear: linear interpolation of a series to another length, so that the first and the last element
   of input and output coincide.

     output[n,c,x] = (1 - f) * input[n,c,i] + f * input[n,c,i+1]
                     with i + f = x * (W - 1) / (outputWidth - 1), 0 <= f < 1

   Shapes: input (N, C, W); output (N, C, outputWidth). If outputWidth is 1, output is the first element
   of input.
   Errors: ValueError for an output size below 1. Source: torch 0.2 nn.Upsample(mode='linear').
   [DERIVATIVE linear] */
TH_API void THNN_(TemporalUpSamplingLinear_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, C, W)
    THTensor *output,  // [OUT] result (N, C, outputWidth)
    int outputWidth);  // width of the output

/* Gradient of TemporalUpSamplingLinear w.r.t. its input: each element of gradOutput, times the forward's
   weights, is added to the input elements that its output element was computed from. */
TH_API void THNN_(TemporalUpSamplingLinear_updateGradInput)(
    THNNState *state,      // library state
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] gradient of the loss w.r.t. input (N, C, W)
    int nbatch,            // [SIZE input 0] N
    int nchannels,         // [SIZE input 1] C
    int inputWidth,        // [SIZE input -1] width of the input
    int outputWidth);      // width of the output

/* SpatialUpSamplingBilinear: linear interpolation of images along height and width, so that the corners of input and
   output coincide.

     output[n,c,y,x] = (1 - f) * (1 - g) * input[n,c,i,j] + (1 - f) * g * input[n,c,i,j+1]
                       + f * (1 - g) * input[n,c,i+1,j] + f * g * input[n,c,i+1,j+1]
     with i + f = y * (H - 1) / (outputHeight - 1), j + g = x * (W - 1) / (outputWidth - 1), 0 <= f < 1 and 0 <= g < 1

   Shapes: input (N, C, H, W); output (N, C, outputHeight, outputWidth). Along an axis with one output, only the
   first input is read.
   Errors: ValueError for an output size below 1. Source: Torch7 nn.SpatialUpSamplingBilinear.
   [DERIVATIVE linear] */
TH_API void THNN_(SpatialUpSamplingBilinear_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, C, H, W)
    THTensor *output,  // [OUT] result (N, C, outputHeight, outputWidth)
    int outputHeight,  // height of the output
    int outputWidth);  // width of the output

/* Gradient of SpatialUpSamplingBilinear w.r.t. its input: each element of gradOutput, times the forward's
   weights, is added to the input elements that its output element was computed from. */
TH_API void THNN_(SpatialUpSamplingBilinear_updateGradInput)(
    THNNState *state,      // library state
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] gradient of the loss w.r.t. input (N, C, H, W)
    int nbatch,            // [SIZE input 0] N
    int nchannels,         // [SIZE input 1] C
    int inputHeight,       // [SIZE input -2] height of the input
    int inputWidth,        // [SIZE input -1] width of the input
    int outputHeight,      // height of the output
    int outputWidth);      // width of the output

/* VolumetricUpSamplingTrilinear: linear interpolation of volumes along all three axes, as SpatialUpSamplingBilinear.

   Shapes: input (N, C, T, H, W); output (N, C, outputDepth, outputHeight, outputWidth).
   Errors: ValueError for an output size below 1. Source: torch 0.2 nn.Upsample(mode='trilinear').
   [DERIVATIVE linear] */
TH_API void THNN_(VolumetricUpSamplingTrilinear_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, C, T, H, W)
    THTensor *output,  // [OUT] result (N, C, outputDepth, outputHeight, outputWidth)
    int outputDepth,   // depth of the output
    int outputHeight,  // height of the output
    int outputWidth);  // width of the output

/* Gradient of VolumetricUpSamplingTrilinear w.r.t. its input: each element of gradOutput, times the forward's
   weights, is added to the input elements that its output element was computed from. */
TH_API void THNN_(VolumetricUpSamplingTrilinear_updateGradInput)(
    THNNState *state,      // library state
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] gradient of the loss w.r.t. input (N, C, T, H, W)
    int nbatch,            // [SIZE input 0] N
    int nchannels,         // [SIZE input 1] C
    int inputDepth,        // [SIZE input -3] depth of the input
    int inputHeight,       // [SIZE input -2] height of the input
    int inputWidth,        // [SIZE input -1] width of the input
    int outputDepth,       // depth of the output
    int outputHeight,      // height of the output
    int outputWidth);      // width of the output

/* SpatialGridSamplerBilinear: images sampled by linear interpolation at the positions of a grid.

     output[n,c,y,x] = sum over the four pixels i, j around (u, v) of (1 - |u - i|) * (1 - |v - j|) * input[n,c,i,j]
     with u = (grid[n,y,x,1] + 1) / 2 * (H - 1) and v = (grid[n,y,x,0] + 1) / 2 * (W - 1)

   -1 and 1 are the centres of the first and last pixels. Pixels outside of the image are 0. A position with a
   NaN gives NaN, unless its other coordinate is outside of the image.
   Shapes: input (N, C, H, W); grid (N, oH, oW, 2); output (N, C, oH, oW).
   Errors: ValueError for sizes that do not fit, and for images of 2^24 pixels or more along an axis.
   Source: Jaderberg et al., 2015; torch 0.2 nn.functional.grid_sample. */
TH_API void THNN_(SpatialGridSamplerBilinear_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input (N, C, H, W)
    THTensor *grid,     // positions (N, oH, oW, 2), the last dimension x, y
    THTensor *output);  // [OUT] result

/* Gradients of SpatialGridSamplerBilinear w.r.t. its input and the positions; the gradient w.r.t. a position is the
   slope between the pixels floor(u) and floor(u) + 1 (v likewise), also where u is a whole number. */
TH_API void THNN_(SpatialGridSamplerBilinear_updateGradInput)(
    THNNState *state,       // library state
    THTensor *input,        // input
    THTensor *gradInput,    // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *grid,         // positions
    THTensor *gradGrid,     // [OUT] [LIKE grid] gradient of the loss w.r.t. grid
    THTensor *gradOutput);  // gradient of the loss w.r.t. output, sized as output

/* VolumetricGridSamplerBilinear: SpatialGridSamplerBilinear for volumes, from the eight elements around a position.

   Shapes: input (N, C, T, H, W); grid (N, oT, oH, oW, 3), positions x, y, z along W, H, T; output (N, C, oT, oH, oW).
   Errors: as SpatialGridSamplerBilinear. Source: torch.nn.functional.grid_sample with align_corners. */
TH_API void THNN_(VolumetricGridSamplerBilinear_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input (N, C, T, H, W)
    THTensor *grid,     // positions (N, oT, oH, oW, 3), the last dimension x, y, z
    THTensor *output);  // [OUT] result

/* Gradients of VolumetricGridSamplerBilinear w.r.t. its input and the positions, as in SpatialGridSamplerBilinear. */
TH_API void THNN_(VolumetricGridSamplerBilinear_updateGradInput)(
    THNNState *state,       // library state
    THTensor *input,        // input
    THTensor *gradInput,    // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *grid,         // positions
    THTensor *gradGrid,     // [OUT] [LIKE grid] gradient of the loss w.r.t. grid
    THTensor *gradOutput);  // gradient of the loss w.r.t. output, sized as output

/* Interpolation: resampling of series, images or volumes to any size, nearest or linear, with aligned corners or
   not. The layers of thnn.nn call it. Its special cases are TemporalUpSamplingNearest, SpatialUpSamplingNearest,
   VolumetricUpSamplingNearest, TemporalUpSamplingLinear, SpatialUpSamplingBilinear and VolumetricUpSamplingTrilinear.

     nearest:           output[x] = input[floor(x * s)]
     linear:            output[x] = (1 - f) * input[i] + f * input[i + 1] with i + f = max((x + 1/2) * s - 1/2, 0)
     and align_corners: i + f = x * (W - 1) / (outputWidth - 1)

   with s = scaleWidth, or W / outputWidth if scaleWidth is 0; other axes likewise. As in torch, the scale has no effect
   on linear resampling if outputWidth is W, nor on nearest resampling of images if it is W or 2 * W. Positions beyond
   the last input are moved to the last input.
   Shapes, in two dimensions: input (N, C, H, W); output (N, C, outputHeight, outputWidth). One dimension has only W,
   three have T before H.
   Errors: ValueError for an output size below 1, or other than 1 in a dimension that input does not have; for a
   scale that is negative or not finite; for align_corners without linear, or with a scale. Source:
   torch.nn.functional.interpolate.
   [DERIVATIVE linear] */
TH_API void THNN_(Interpolation_updateOutput)(
    THNNState *state,     // library state
    THTensor *input,      // input (N, C, H, W)
    THTensor *output,     // [OUT] result (N, C, outputHeight, outputWidth)
    int outputDepth,      // depth of the output; 1 if there is no depth
    int outputHeight,     // height of the output; 1 if there is no height
    int outputWidth,      // width of the output
    bool linear,          // [DEFAULT false] linear, otherwise nearest
    bool align_corners,   // [DEFAULT false] the first and last elements of input and output coincide
    accreal scaleDepth,   // [DEFAULT 0] inputs per output along the depth, 0: the ratio of the sizes
    accreal scaleHeight,  // [DEFAULT 0] inputs per output along the height, 0: the ratio of the sizes
    accreal scaleWidth);  // [DEFAULT 0] inputs per output along the width, 0: the ratio of the sizes

/* Gradient of Interpolation w.r.t. its input: each element of gradOutput, times the forward's
   weights, is added to the input elements that its output element was computed from. */
TH_API void THNN_(Interpolation_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    int outputDepth,       // depth of the output; 1 if there is no depth
    int outputHeight,      // height of the output; 1 if there is no height
    int outputWidth,       // width of the output
    bool linear,           // [DEFAULT false] linear, otherwise nearest
    bool align_corners,    // [DEFAULT false] the first and last elements of input and output coincide
    accreal scaleDepth,    // [DEFAULT 0] inputs per output along the depth, 0: the ratio of the sizes
    accreal scaleHeight,   // [DEFAULT 0] inputs per output along the height, 0: the ratio of the sizes
    accreal scaleWidth);   // [DEFAULT 0] inputs per output along the width, 0: the ratio of the sizes

/* -----------------------------------------------------------------------------------------------------------------
   [FAMILY activation] */

/* Threshold: output = val where input <= threshold, else input. Any shape. With threshold and val 0 this is ReLU.
   NaN is not at or below the threshold: it stays NaN.
   Errors: ValueError if inplace and val > threshold, where the backward could no longer tell the two cases apart.
   Source: Torch7 nn.Threshold. */
TH_API void THNN_(Threshold_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // [MODIFIED] input, any shape; overwritten if inplace
    THTensor *output,   // [OUT] [LIKE input] result
    accreal threshold,  // values above it are kept
    accreal val,        // replaces the other values
    bool inplace);      // [DEFAULT false] write the result into input

/* Gradient of Threshold w.r.t. its input: 0 where input <= threshold, else gradOutput. */
TH_API void THNN_(Threshold_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // [MODIFIED] sized as output; overwritten if inplace
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    accreal threshold,     // values above it are kept
    accreal val,           // replaces the other values
    bool inplace);         // write the result into gradOutput

/* LeakyReLU: output = input where input > 0, else negval * input. Any shape.
   Source: Maas, Hannun and Ng 2013. */
TH_API void THNN_(LeakyReLU_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // [MODIFIED] input, any shape; overwritten if inplace
    THTensor *output,  // [OUT] [LIKE input] result
    accreal negval,    // slope where input is not positive
    bool inplace);     // [DEFAULT false] write the result into input

/* Gradient of LeakyReLU w.r.t. its input: gradOutput where input > 0, else negval * gradOutput. */
TH_API void THNN_(LeakyReLU_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // [MODIFIED] sized as output; overwritten if inplace
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    accreal negval,        // slope where input is not positive
    bool inplace);         // write the result into gradOutput

/* Sigmoid: output = 1 / (1 + exp(-input)). Any shape. Source: Torch7 nn.Sigmoid. */
TH_API void THNN_(Sigmoid_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *output);  // [OUT] [LIKE input] result

/* Gradient of Sigmoid w.r.t. its input: gradOutput * output * (1 - output). */
TH_API void THNN_(Sigmoid_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // [OPTIONAL] unused
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE gradOutput] gradient of the loss w.r.t. input
    THTensor *output);     // result of the forward

/* Tanh: output = tanh(input). Any shape. Source: Torch7 nn.Tanh. */
TH_API void THNN_(Tanh_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *output);  // [OUT] [LIKE input] result

/* Gradient of Tanh w.r.t. its input: gradOutput * (1 - output^2). */
TH_API void THNN_(Tanh_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // [OPTIONAL] unused
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE gradOutput] gradient of the loss w.r.t. input
    THTensor *output);     // result of the forward

/* SoftMax: output = exp(input) / sum over channels of exp(input), computed after subtracting the maximum.

   Shapes: input (C), (N, C), (C, H, W) or (N, C, H, W). Errors: ValueError for other dimensions.
   Source: Torch7 nn.SoftMax. */
TH_API void THNN_(SoftMax_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input (C), (N, C), (C, H, W) or (N, C, H, W)
    THTensor *output);  // [OUT] [LIKE input] result

/* Gradient of SoftMax w.r.t. its input: output * (gradOutput - sum over channels of gradOutput * output). */
TH_API void THNN_(SoftMax_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // [OPTIONAL] unused
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE gradOutput] gradient of the loss w.r.t. input
    THTensor *output);     // result of the forward

/* LogSoftMax: output = input - log(sum over channels of exp(input)), the logarithm of SoftMax.

   Shapes: input (C), (N, C), (C, H, W) or (N, C, H, W). Errors: ValueError for other dimensions.
   Source: Torch7 nn.LogSoftMax. */
TH_API void THNN_(LogSoftMax_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input (C), (N, C), (C, H, W) or (N, C, H, W)
    THTensor *output);  // [OUT] [LIKE input] result

/* Gradient of LogSoftMax w.r.t. its input: gradOutput - exp(output) * sum over channels of gradOutput. */
TH_API void THNN_(LogSoftMax_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // [OPTIONAL] unused
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE gradOutput] gradient of the loss w.r.t. input
    THTensor *output);     // result of the forward

/* Abs: output = |input|. Any shape. Source: Torch7 nn.Abs. */
TH_API void THNN_(Abs_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *output);  // [OUT] [LIKE input] result

/* Gradient of Abs w.r.t. its input: -gradOutput where input < 0, else gradOutput. */
TH_API void THNN_(Abs_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput);  // [OUT] [LIKE input] gradient of the loss w.r.t. input

/* Sqrt: output = sqrt(input), NaN where input < 0. Any shape. Source: Torch7 nn.Sqrt. */
TH_API void THNN_(Sqrt_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input, any shape
    THTensor *output,  // [OUT] [LIKE input] result
    accreal eps);      // [DEFAULT 0] unused

/* Gradient of Sqrt w.r.t. its input: gradOutput / (2 * output), and 0 where output is 0. */
TH_API void THNN_(Sqrt_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // [OPTIONAL] unused
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE gradOutput] gradient of the loss w.r.t. input
    THTensor *output);     // result of the forward

/* Square: output = input^2. Any shape. Source: Torch7 nn.Square. */
TH_API void THNN_(Square_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *output);  // [OUT] [LIKE input] result

/* Gradient of Square w.r.t. its input: 2 * input * gradOutput. */
TH_API void THNN_(Square_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput);  // [OUT] [LIKE input] gradient of the loss w.r.t. input

/* HardTanh: output = min(max(input, min_val), max_val). Any shape; NaN stays NaN.
   Errors: ValueError if min_val > max_val. Source: Torch7 nn.HardTanh. */
TH_API void THNN_(HardTanh_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // [MODIFIED] input, any shape; overwritten if inplace
    THTensor *output,  // [OUT] [LIKE input] result
    accreal min_val,   // [DEFAULT -1] least value of output
    accreal max_val,   // [DEFAULT 1] largest value of output
    bool inplace);     // [DEFAULT false] write the result into input

/* Gradient of HardTanh w.r.t. its input: gradOutput between the limits, 0 at the limits and beyond. */
TH_API void THNN_(HardTanh_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // [MODIFIED] sized as output; overwritten if inplace
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    accreal min_val,       // least value of output
    accreal max_val,       // largest value of output
    bool inplace);         // write the result into gradOutput

/* HardShrink: output = 0 where -lambda <= input <= lambda, else input. Any shape; NaN stays NaN. Source: Torch7
   nn.HardShrink. */
TH_API void THNN_(HardShrink_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input, any shape
    THTensor *output,  // [OUT] [LIKE input] result
    accreal lambda);   // [DEFAULT 0.5] limit of the values that become 0

/* Gradient of HardShrink w.r.t. its input: 0 where -lambda <= input <= lambda, else gradOutput. */
TH_API void THNN_(HardShrink_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    accreal lambda);       // limit of the values that become 0

/* SoftShrink: output = input - lambda where input > lambda, input + lambda where input < -lambda, else 0. Any shape;
   NaN stays NaN. Source: Torch7 nn.SoftShrink. */
TH_API void THNN_(SoftShrink_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input, any shape
    THTensor *output,  // [OUT] [LIKE input] result
    accreal lambda);   // [DEFAULT 0.5] distance by which values move towards 0

/* Gradient of SoftShrink w.r.t. its input: 0 where -lambda <= input <= lambda, else gradOutput. */
TH_API void THNN_(SoftShrink_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    accreal lambda);       // distance by which values move towards 0

/* ELU: output = input where input > 0, else alpha * (exp(input) - 1). Any shape. Source: Clevert, Unterthiner and
   Hochreiter 2015. */
TH_API void THNN_(ELU_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // [MODIFIED] input, any shape; overwritten if inplace
    THTensor *output,  // [OUT] [LIKE input] result
    accreal alpha,     // [DEFAULT 1] output tends to -alpha for negative inputs
    bool inplace);     // [DEFAULT false] write the result into input

/* Gradient of ELU w.r.t. its input: gradOutput where output > 0, else gradOutput * (output + alpha).
   Errors: ValueError if alpha < 0, where the sign of output does not determine the sign of input. */
TH_API void THNN_(ELU_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // [OPTIONAL] unused
    THTensor *gradOutput,  // [MODIFIED] sized as output; overwritten if inplace
    THTensor *gradInput,   // [OUT] [LIKE gradOutput] gradient of the loss w.r.t. input
    THTensor *output,      // result of the forward
    accreal alpha,         // at least 0
    bool inplace);         // write the result into gradOutput

/* SoftPlus: output = log(1 + exp(beta * input)) / beta, and input where beta * input > threshold. Any shape. Source:
   Torch7 nn.SoftPlus. */
TH_API void THNN_(SoftPlus_updateOutput)(
    THNNState *state,    // library state
    THTensor *input,     // input, any shape
    THTensor *output,    // [OUT] [LIKE input] result
    accreal beta,        // [DEFAULT 1] steepness
    accreal threshold);  // [DEFAULT 20] output is input where beta * input is above it

/* Gradient of SoftPlus w.r.t. its input: gradOutput where beta * output > threshold, else gradOutput * (1 - exp(-beta *
   output)). */
TH_API void THNN_(SoftPlus_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // [OPTIONAL] unused
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE gradOutput] gradient of the loss w.r.t. input
    THTensor *output,      // result of the forward
    accreal beta,          // steepness
    accreal threshold);    // the slope is 1 where beta * output is above it

/* LogSigmoid: output = log(1 / (1 + exp(-input))), without overflow. Any shape. Source: Torch7 nn.LogSigmoid. */
TH_API void THNN_(LogSigmoid_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *output,   // [OUT] [LIKE input] result
    THTensor *buffer);  // [SCRATCH] unused

/* Gradient of LogSigmoid w.r.t. its input: gradOutput / (1 + exp(input)). */
TH_API void THNN_(LogSigmoid_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *buffer);     // [SCRATCH] unused

/* PReLU: output = input where input > 0, else weight * input; one weight per channel, or one for all.

   Shapes: input (N, C, ...) or (C) with weight (C) and nOutputPlane C; input of any shape with one weight and
   nOutputPlane 0. Errors: ValueError for sizes that do not fit. Source: He, Zhang, Ren and Sun 2015. */
TH_API void THNN_(PReLU_updateOutput)(
    THNNState *state,         // library state
    THTensor *input,          // input (N, C, ...) or (C); any shape for a shared slope
    THTensor *output,         // [OUT] [LIKE input] result
    THTensor *weight,         // slopes (C), or one element
    THIndex_t nOutputPlane);  // [DEFAULT 0] C, or 0 for a shared slope

/* Gradient of PReLU w.r.t. its input: gradOutput where input > 0, else weight * gradOutput. */
TH_API void THNN_(PReLU_updateGradInput)(
    THNNState *state,         // library state
    THTensor *input,          // input
    THTensor *gradOutput,     // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,      // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,         // slopes (C), or one element
    THIndex_t nOutputPlane);  // C, or 0 for a shared slope

/* Gradient of PReLU w.r.t. its slopes, accumulated: gradWeight[c] += scale * sum of input * gradOutput over the
   elements of channel c (of all channels if nOutputPlane is 0) with input <= 0. */
TH_API void THNN_(PReLU_accGradParameters)(
    THNNState *state,          // library state
    THTensor *input,           // input
    THTensor *gradOutput,      // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,       // [OPTIONAL] unused
    THTensor *weight,          // slopes (C), or one element
    THTensor *gradWeight,      // [MODIFIED] sized as weight
    THTensor *gradWeightBuf,   // [BUFFER] unused
    THTensor *gradWeightBuf2,  // [BUFFER] unused
    THIndex_t nOutputPlane,    // C, or 0 for a shared slope
    accreal scale);            // factor of the gradient added

/* GatedLinear: output = a * sigmoid(b), where a and b are the halves of input along dimension dim.

   Shapes: output is sized as a. Errors: ValueError for a dim that input lacks or that has an odd size. Source:
   Dauphin, Fan, Auli and Grangier 2016. */
TH_API void THNN_(GatedLinear_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input, an even size along dim
    THTensor *output,  // [OUT] result, half as large along dim
    int dim);          // dimension of the halves, from 0

/* Gradient of GatedLinear w.r.t. its input: gradOutput * s for the first half, gradOutput * a * s * (1 - s) for the
   second, s = sigmoid(b). */
TH_API void THNN_(GatedLinear_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input, an even size along dim
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    int dim);              // dimension of the halves, from 0

/* RReLU: output = input where input > 0, else slope * input. The slope is (lower + upper) / 2 or, if train, a
   random number for each element, uniform between lower and upper. Any shape.

   The slopes depend on the generator, which gives one number per call, and on the index of the element, but neither
   on strides nor on threads.
   Errors: ValueError if lower > upper or either is not finite. Source: Xu, Wang, Chen and Li 2015. */
TH_API void THNN_(RReLU_updateOutput)(
    THNNState *state,         // library state
    THTensor *input,          // [MODIFIED] input, any shape; overwritten if inplace
    THTensor *output,         // [OUT] [LIKE input] result
    THTensor *noise,          // [SAVED] [LIKE input] the slope of each element, 1 where input > 0; written if train
    accreal lower,            // [DEFAULT 0.125] least slope
    accreal upper,            // [DEFAULT 0.3333333333333333] largest slope
    bool train,               // [DEFAULT false] random slopes
    bool inplace,             // [DEFAULT false] write the result into input
    THGenerator *generator);  // random numbers

/* Gradient of RReLU w.r.t. its input: gradOutput * noise if train and upper - lower > 1e-6, otherwise gradOutput where
   input > 0 and gradOutput * (lower + upper) / 2 elsewhere. */
TH_API void THNN_(RReLU_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // [MODIFIED] sized as output; overwritten if inplace
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *noise,       // as the forward left it; read if train and upper - lower > 1e-6
    accreal lower,         // least slope
    accreal upper,         // largest slope
    bool train,            // random slopes
    bool inplace);         // write the result into gradOutput

/* GELU: output = input * P(input), where P is the distribution function of the standard normal distribution,
   P(x) = (1 + erf(x / sqrt(2))) / 2. Any shape. Added after 2017. Source: Hendrycks and Gimpel 2016; torch.nn.GELU. */
TH_API void THNN_(GELU_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *output);  // [OUT] [LIKE input] result

/* Gradient of GELU w.r.t. its input: gradOutput * (P(input) + input * exp(-input^2 / 2) / sqrt(2 * pi)). */
TH_API void THNN_(GELU_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput);  // [OUT] [LIKE input] gradient of the loss w.r.t. input

/* GELUTanh: output = 0.5 * input * (1 + tanh(u)) with u = sqrt(2 / pi) * (input + 0.044715 * input^3), an approximation
   of GELU. Any shape. Added after 2017. Source: Hendrycks and Gimpel 2016; torch.nn.GELU(approximate='tanh'). */
TH_API void THNN_(GELUTanh_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *output);  // [OUT] [LIKE input] result

/* Gradient of GELUTanh w.r.t. its input: gradOutput * (s + 2 * input * s * (1 - s) * du/dinput), where s is
   (1 + tanh(u)) / 2. */
TH_API void THNN_(GELUTanh_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput);  // [OUT] [LIKE input] gradient of the loss w.r.t. input

/* SiLU: output = input * sigmoid(input). Any shape. Added after 2017. Source: Elfwing, Uchibe and Doya 2017;
   torch.nn.SiLU. */
TH_API void THNN_(SiLU_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // [MODIFIED] input, any shape; overwritten if inplace
    THTensor *output,  // [OUT] [LIKE input] result
    bool inplace);     // [DEFAULT false] write the result into input

/* Gradient of SiLU w.r.t. its input: gradOutput * s * (1 + input * (1 - s)), s = sigmoid(input). */
TH_API void THNN_(SiLU_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input before the forward
    THTensor *gradOutput,  // [MODIFIED] sized as output; overwritten if inplace
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool inplace);         // write the result into gradOutput

/* Mish: output = input * tanh(log(1 + exp(input))). Any shape. Added after 2017. Source: Misra 2019; torch.nn.Mish. */
TH_API void THNN_(Mish_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // [MODIFIED] input, any shape; overwritten if inplace
    THTensor *output,  // [OUT] [LIKE input] result
    bool inplace);     // [DEFAULT false] write the result into input

/* Gradient of Mish w.r.t. its input: gradOutput * (t + input * (1 - t^2) * sigmoid(input)), where t is
   tanh(log(1 + exp(input))). */
TH_API void THNN_(Mish_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input before the forward
    THTensor *gradOutput,  // [MODIFIED] sized as output; overwritten if inplace
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool inplace);         // write the result into gradOutput

/* HardSwish: output = input * min(max(input + 3, 0), 6) / 6. Any shape. Added after 2017. Source: Howard et al. 2019;
   torch.nn.Hardswish. */
TH_API void THNN_(HardSwish_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // [MODIFIED] input, any shape; overwritten if inplace
    THTensor *output,  // [OUT] [LIKE input] result
    bool inplace);     // [DEFAULT false] write the result into input

/* Gradient of HardSwish w.r.t. its input: 0 where input <= -3, gradOutput where input >= 3, else
   gradOutput * (input / 3 + 0.5). */
TH_API void THNN_(HardSwish_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input before the forward
    THTensor *gradOutput,  // [MODIFIED] sized as output; overwritten if inplace
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool inplace);         // write the result into gradOutput

/* HardSigmoid: output = min(max(input + 3, 0), 6) / 6. Any shape. Added after 2017. Source: Howard et al. 2019;
   torch.nn.Hardsigmoid. */
TH_API void THNN_(HardSigmoid_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // [MODIFIED] input, any shape; overwritten if inplace
    THTensor *output,  // [OUT] [LIKE input] result
    bool inplace);     // [DEFAULT false] write the result into input

/* Gradient of HardSigmoid w.r.t. its input: gradOutput / 6 where -3 < input < 3, else 0. */
TH_API void THNN_(HardSigmoid_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input before the forward
    THTensor *gradOutput,  // [MODIFIED] sized as output; overwritten if inplace
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool inplace);         // write the result into gradOutput

/* CELU: output = input where input > 0, else alpha * (exp(input / alpha) - 1). Any shape.
   Errors: ValueError for an alpha that is not above 0. Added after 2017. Source: Barron 2017; torch.nn.CELU. */
TH_API void THNN_(CELU_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // [MODIFIED] input, any shape; overwritten if inplace
    THTensor *output,  // [OUT] [LIKE input] result
    accreal alpha,     // [DEFAULT 1] above 0; output tends to -alpha for negative inputs
    bool inplace);     // [DEFAULT false] write the result into input

/* Gradient of CELU w.r.t. its input: gradOutput where output > 0, else gradOutput * (output / alpha + 1).
   Errors: ValueError for an alpha that is not above 0. */
TH_API void THNN_(CELU_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // [OPTIONAL] unused
    THTensor *gradOutput,  // [MODIFIED] sized as output; overwritten if inplace
    THTensor *gradInput,   // [OUT] [LIKE gradOutput] gradient of the loss w.r.t. input
    THTensor *output,      // result of the forward
    accreal alpha,         // above 0
    bool inplace);         // write the result into gradOutput

/* SELU: output = scale * input where input > 0, else scale * alpha * (exp(input) - 1), with
   scale = 1.0507009873554805 and alpha = 1.6732632423543772. Any shape. Added after 2017. Source: Klambauer,
   Unterthiner, Mayr and Hochreiter 2017; torch.nn.SELU. */
TH_API void THNN_(SELU_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // [MODIFIED] input, any shape; overwritten if inplace
    THTensor *output,  // [OUT] [LIKE input] result
    bool inplace);     // [DEFAULT false] write the result into input

/* Gradient of SELU w.r.t. its input: scale * gradOutput where output > 0, else
   gradOutput * (output + scale * alpha). */
TH_API void THNN_(SELU_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // [OPTIONAL] unused
    THTensor *gradOutput,  // [MODIFIED] sized as output; overwritten if inplace
    THTensor *gradInput,   // [OUT] [LIKE gradOutput] gradient of the loss w.r.t. input
    THTensor *output,      // result of the forward
    bool inplace);         // write the result into gradOutput

/* SoftSign: output = input / (1 + |input|). Any shape. Added after 2017. Source: Torch7 nn.SoftSign;
   torch.nn.Softsign. */
TH_API void THNN_(SoftSign_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *output);  // [OUT] [LIKE input] result

/* Gradient of SoftSign w.r.t. its input: gradOutput / (1 + |input|)^2. */
TH_API void THNN_(SoftSign_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput);  // [OUT] [LIKE input] gradient of the loss w.r.t. input

/* TanhShrink: output = input - tanh(input). Any shape. Added after 2017. Source: Torch7 nn.TanhShrink;
   torch.nn.Tanhshrink. */
TH_API void THNN_(TanhShrink_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *output);  // [OUT] [LIKE input] result

/* Gradient of TanhShrink w.r.t. its input: gradOutput * tanh(input)^2. */
TH_API void THNN_(TanhShrink_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput);  // [OUT] [LIKE input] gradient of the loss w.r.t. input

/* -----------------------------------------------------------------------------------------------------------------
   [FAMILY criterion] */

/* ClassNLLCriterion: negative log-likelihood of the target classes, the sum of -weights[t] * input[n, t] over the
   targets t = target[n] that are not ignore_index. If sizeAverage the loss is divided by total_weight, the sum of
   the weights[t], unless total_weight is 0.

   Shapes: input (N, C) or (C), log-probabilities; target (N) or (1), or without dimensions, classes 0 <= t < C;
   weights (C) or None for 1 each; output and total_weight one element.
   Errors: IndexError for a target that is neither a class nor ignore_index; ValueError for sizes that do not fit.
   Source: Torch7 nn.ClassNLLCriterion.
   [DERIVATIVE constant] */
TH_API void THNN_(ClassNLLCriterion_updateOutput)(
    THNNState *state,        // library state
    THTensor *input,         // log-probabilities (N, C) or (C)
    THIndexTensor *target,   // [TARGET] classes (N) or (1)
    THTensor *output,        // [OUT] the loss, one element
    bool sizeAverage,        // [DEFAULT true] divide by total_weight
    THTensor *weights,       // [OPTIONAL] one value per class (C)
    THTensor *total_weight,  // [SAVED] [MIXED] [LIKE output] sum of the weights of the targets, one element
    int64_t ignore_index);   // [DEFAULT -100] targets of this value are ignored

/* Gradient of ClassNLLCriterion w.r.t. its input: -weights[t] at each target t, divided by total_weight if sizeAverage,
   which gives -1 for an input (C); 0 elsewhere and for ignored targets; 0 everywhere if total_weight is not above 0. */
TH_API void THNN_(ClassNLLCriterion_updateGradInput)(
    THNNState *state,        // library state
    THTensor *input,         // log-probabilities (N, C) or (C)
    THIndexTensor *target,   // [TARGET] classes (N) or (1)
    THTensor *gradInput,     // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage,        // divide by total_weight
    THTensor *weights,       // [OPTIONAL] one value per class (C)
    THTensor *total_weight,  // [SAVED] [MIXED] as the forward left it
    int64_t ignore_index);   // targets of this value are ignored

/* MSECriterion: sum of (input - target)^2, divided by the number of elements if sizeAverage.

   Shapes: input and target with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ. Source: Torch7 nn.MSECriterion. */
TH_API void THNN_(MSECriterion_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *target,   // [TARGET] with as many elements as input
    THTensor *output,   // [OUT] the loss, one element
    bool sizeAverage);  // [DEFAULT true] divide by the number of elements

/* Gradient of MSECriterion w.r.t. its input: 2 * (input - target), divided by the number of elements if sizeAverage. */
TH_API void THNN_(MSECriterion_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // input, any shape
    THTensor *target,     // [TARGET] with as many elements as input
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage);    // divide by the number of elements

/* SmoothL1Criterion: sum of 0.5 * d^2 where |d| < 1 and |d| - 0.5 elsewhere, d = input - target, divided by the
   number of elements if sizeAverage.

   Shapes: input and target with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ.
   Source: Girshick 2015 (Huber's loss). */
TH_API void THNN_(SmoothL1Criterion_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *target,   // [TARGET] with as many elements as input
    THTensor *output,   // [OUT] the loss, one element
    bool sizeAverage);  // [DEFAULT true] divide by the number of elements

/* Gradient of SmoothL1Criterion w.r.t. its input: d clamped to [-1, 1], divided by the number of elements if
   sizeAverage. */
TH_API void THNN_(SmoothL1Criterion_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // input, any shape
    THTensor *target,     // [TARGET] with as many elements as input
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage);    // divide by the number of elements

/* BCECriterion: binary cross entropy, the sum of -weights * (target * log(input) + (1 - target) * log(1 - input))
   with each logarithm at least -100, divided by the number of elements (not by the sum of the weights) if
   sizeAverage.

   Shapes: input, target and weights with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ and for an input outside [0, 1], NaN included.
   Source: Torch7 nn.BCECriterion; torch.nn.BCELoss for the bound of the logarithms. */
TH_API void THNN_(BCECriterion_updateOutput)(
    THNNState *state,    // library state
    THTensor *input,     // input, any shape
    THTensor *target,    // [TARGET] with as many elements as input
    THTensor *output,    // [OUT] the loss, one element
    bool sizeAverage,    // [DEFAULT true] divide by the number of elements
    THTensor *weights);  // [OPTIONAL] factor of each element, as many as input has

/* Gradient of BCECriterion w.r.t. its input: weights * (input - target) / max(input * (1 - input), 1e-12), divided by
   the number of elements if sizeAverage. */
TH_API void THNN_(BCECriterion_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // input, any shape
    THTensor *target,     // [TARGET] with as many elements as input
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage,     // divide by the number of elements
    THTensor *weights);   // [OPTIONAL] factor of each element, as many as input has

/* AbsCriterion: sum of |input - target|, divided by the number of elements if sizeAverage.

   Shapes: input and target with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ. Source: Torch7 nn.AbsCriterion. */
TH_API void THNN_(AbsCriterion_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *target,   // [TARGET] with as many elements as input
    THTensor *output,   // [OUT] the loss, one element
    bool sizeAverage);  // [DEFAULT true] divide by the number of elements

/* Gradient of AbsCriterion w.r.t. its input: 1 where input >= target, else -1, divided by the number of elements if
   sizeAverage. */
TH_API void THNN_(AbsCriterion_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // input, any shape
    THTensor *target,     // [TARGET] with as many elements as input
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage);    // divide by the number of elements

/* DistKLDivCriterion: Kullback-Leibler divergence, the sum of target * (log(target) - input) over the elements with
   target > 0, divided by the number of elements if sizeAverage.

   Shapes: input and target with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ. Source: Torch7 nn.DistKLDivCriterion.
   [DERIVATIVE constant] */
TH_API void THNN_(DistKLDivCriterion_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // log-probabilities, any shape
    THTensor *target,   // [TARGET] probabilities, as many as input has
    THTensor *output,   // [OUT] the loss, one element
    bool sizeAverage);  // [DEFAULT true] divide by the number of elements

/* Gradient of DistKLDivCriterion w.r.t. its input: -target where target > 0, else 0, divided by the number of elements
   if sizeAverage. */
TH_API void THNN_(DistKLDivCriterion_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // log-probabilities, any shape
    THTensor *target,     // [TARGET] probabilities, as many as input has
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage);    // divide by the number of elements

/* L1Cost: sum of |input|, a penalty without a target. Any shape; output one element. Source: Torch7 nn.L1Cost. */
TH_API void THNN_(L1Cost_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *output);  // [OUT] the loss, one element

/* Gradient of L1Cost w.r.t. its input: the sign of input, 0 for 0. */
TH_API void THNN_(L1Cost_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input, any shape
    THTensor *gradOutput,  // [OPTIONAL] unused
    THTensor *gradInput);  // [OUT] [LIKE input] gradient of the loss w.r.t. input

/* MarginCriterion: hinge loss, the sum of max(0, margin - input * target), divided by the number of elements if
   sizeAverage.

   Shapes: input and target with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ. Source: Torch7 nn.MarginCriterion.
   [DERIVATIVE constant] */
TH_API void THNN_(MarginCriterion_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input, any shape
    THTensor *target,  // [TARGET] -1 or 1, as many as input has
    THTensor *output,  // [OUT] the loss, one element
    bool sizeAverage,  // [DEFAULT true] divide by the number of elements
    accreal margin);   // [DEFAULT 1] products above it cost nothing

/* Gradient of MarginCriterion w.r.t. its input: -target where input * target < margin, else 0, divided by the number of
   elements if sizeAverage. */
TH_API void THNN_(MarginCriterion_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // input, any shape
    THTensor *target,     // [TARGET] -1 or 1, as many as input has
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage,     // divide by the number of elements
    accreal margin);      // products above it cost nothing

/* SoftMarginCriterion: logistic loss, the sum of log(1 + exp(-input * target)), without overflow, divided by the
   number of elements if sizeAverage.

   Shapes: input and target with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ. Source: Torch7 nn.SoftMarginCriterion. */
TH_API void THNN_(SoftMarginCriterion_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *target,   // [TARGET] -1 or 1, as many as input has
    THTensor *output,   // [OUT] the loss, one element
    bool sizeAverage);  // [DEFAULT true] divide by the number of elements

/* Gradient of SoftMarginCriterion w.r.t. its input: -target / (1 + exp(input * target)), divided by the number of
   elements if sizeAverage. */
TH_API void THNN_(SoftMarginCriterion_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // input, any shape
    THTensor *target,     // [TARGET] -1 or 1, as many as input has
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage);    // divide by the number of elements

/* SpatialClassNLLCriterion: ClassNLLCriterion of every pixel, the sum of -weights[t] * input[n,t,h,w] over the
   targets t = target[n,h,w] that are not ignore_index. If sizeAverage it is divided by total_weight, the sum of their
   weights, unless that is 0.

   Shapes: input (N, C, H, W), log-probabilities; target (N, H, W), classes 0 <= t < C; weights (C) or None for 1
   each; output and total_weight one element.
   Errors: IndexError for a target that is neither a class nor ignore_index; ValueError for sizes that do not fit.
   Source: Torch7 nn.SpatialClassNLLCriterion.
   [DERIVATIVE constant] */
TH_API void THNN_(SpatialClassNLLCriterion_updateOutput)(
    THNNState *state,        // library state
    THTensor *input,         // log-probabilities (N, C, H, W)
    THIndexTensor *target,   // [TARGET] classes (N, H, W)
    THTensor *output,        // [OUT] the loss, one element
    bool sizeAverage,        // [DEFAULT true] divide by total_weight
    THTensor *weights,       // [OPTIONAL] one per class (C)
    THTensor *total_weight,  // [SAVED] [MIXED] [LIKE output] sum of the weights of the targets, one element
    int64_t ignore_index);   // [DEFAULT -100] targets of this value are ignored

/* Gradient of SpatialClassNLLCriterion w.r.t. its input: -weights[t] at the targets, divided by total_weight if
   sizeAverage, 0 elsewhere, and 0 everywhere if total_weight is not above 0. */
TH_API void THNN_(SpatialClassNLLCriterion_updateGradInput)(
    THNNState *state,        // library state
    THTensor *input,         // log-probabilities (N, C, H, W)
    THIndexTensor *target,   // [TARGET] classes (N, H, W)
    THTensor *gradInput,     // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage,        // divide by total_weight
    THTensor *weights,       // [OPTIONAL] one per class (C)
    THTensor *total_weight,  // [SAVED] [MIXED] as the forward left it
    int64_t ignore_index);   // targets of this value are ignored

/* MultiMarginCriterion: hinge loss of the target class against every other class, the sum over n and j != t of
   weights[t] * max(0, margin - input[n,t] + input[n,j])^p / C with t = target[n], divided by N if sizeAverage.

   Shapes: input (N, C) or (C); target (N) or (1), or without dimensions, classes 0 <= t < C; weights (C) or None for
   1 each; output one element.
   Errors: IndexError for a target that is not a class; ValueError for a p other than 1 and 2 and for sizes that do not
   fit. Source: Torch7 nn.MultiMarginCriterion. */
TH_API void THNN_(MultiMarginCriterion_updateOutput)(
    THNNState *state,       // library state
    THTensor *input,        // scores (N, C) or (C)
    THIndexTensor *target,  // [TARGET] classes (N) or (1)
    THTensor *output,       // [OUT] the loss, one element
    bool sizeAverage,       // [DEFAULT true] divide by N
    int p,                  // [DEFAULT 1] exponent, 1 or 2
    THTensor *weights,      // [OPTIONAL] one per class (C)
    accreal margin);        // [DEFAULT 1] least difference that costs nothing

/* Gradient of MultiMarginCriterion w.r.t. its input: with z = margin - input[n,t] + input[n,j] and the slope k =
   weights[t] * p * z^(p-1) / C where z > 0, else 0, it is k for every class j != t and minus the sum of these for t,
   divided by N if sizeAverage. */
TH_API void THNN_(MultiMarginCriterion_updateGradInput)(
    THNNState *state,       // library state
    THTensor *input,        // scores (N, C) or (C)
    THIndexTensor *target,  // [TARGET] classes (N) or (1)
    THTensor *gradInput,    // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage,       // divide by N
    int p,                  // exponent, 1 or 2
    THTensor *weights,      // [OPTIONAL] one per class (C)
    accreal margin);        // least difference that costs nothing

/* MultiLabelMarginCriterion: hinge loss of the classes of each row against the other classes, the sum over n, over
   the classes t of row n and over all other classes j, of max(0, 1 - input[n,t] + input[n,j]) / C,
   divided by N if sizeAverage. A row of target has class numbers up to the first -1; a class listed twice counts
   twice.

   Shapes: input and target (N, C) or (C); output one element.
   Errors: IndexError for a number before the first -1 that is not a class; ValueError for sizes that do not fit.
   Source: Torch7 nn.MultiLabelMarginCriterion.
   [DERIVATIVE constant] */
TH_API void THNN_(MultiLabelMarginCriterion_updateOutput)(
    THNNState *state,       // library state
    THTensor *input,        // scores (N, C) or (C)
    THIndexTensor *target,  // [TARGET] sized as input: classes, then -1
    THTensor *output,       // [OUT] the loss, one element
    THTensor *isTarget,     // [SAVED] [LIKE input] 1 for the classes of the row, 0 for the others
    bool sizeAverage);      // [DEFAULT true] divide by N

/* Gradient of MultiLabelMarginCriterion w.r.t. its input: every positive term adds 1 / C for its j and subtracts it for
   its t, divided by N if sizeAverage. */
TH_API void THNN_(MultiLabelMarginCriterion_updateGradInput)(
    THNNState *state,       // library state
    THTensor *input,        // scores (N, C) or (C)
    THIndexTensor *target,  // [TARGET] sized as input: classes, then -1
    THTensor *gradInput,    // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *isTarget,     // [SAVED] as the forward left it
    bool sizeAverage);      // divide by N

/* BCEWithLogitsCriterion: BCECriterion of sigmoid(input), without its rounding: the sum of
   weights * (max(input, 0) - input * target + log(1 + exp(-|input|))), divided by the number of elements (not by the
   sum of the weights) if sizeAverage.

   Shapes: input, target and weights with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ. Added after 2017. Source: torch.nn.BCEWithLogitsLoss. */
TH_API void THNN_(BCEWithLogitsCriterion_updateOutput)(
    THNNState *state,    // library state
    THTensor *input,     // input, any shape
    THTensor *target,    // [TARGET] with as many elements as input
    THTensor *output,    // [OUT] the loss, one element
    bool sizeAverage,    // [DEFAULT true] divide by the number of elements
    THTensor *weights);  // [OPTIONAL] factor of each element, as many as input has

/* Gradient of BCEWithLogitsCriterion w.r.t. its input: weights * (sigmoid(input) - target), divided by the number of
   elements if sizeAverage. */
TH_API void THNN_(BCEWithLogitsCriterion_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // input, any shape
    THTensor *target,     // [TARGET] with as many elements as input
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage,     // divide by the number of elements
    THTensor *weights);   // [OPTIONAL] factor of each element, as many as input has

/* HuberCriterion: sum of 0.5 * d^2 where |d| <= delta and delta * (|d| - 0.5 * delta) elsewhere, d = input - target,
   divided by the number of elements if sizeAverage.

   Shapes: input and target with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ and for a delta that is not above 0. Added after 2017. Source:
   Huber 1964; torch.nn.HuberLoss. */
TH_API void THNN_(HuberCriterion_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input, any shape
    THTensor *target,  // [TARGET] with as many elements as input
    THTensor *output,  // [OUT] the loss, one element
    bool sizeAverage,  // [DEFAULT true] divide by the number of elements
    accreal delta);    // [DEFAULT 1] |d| from which the loss is linear, above 0

/* Gradient of HuberCriterion w.r.t. its input: d clamped to [-delta, delta], divided by the number of elements if
   sizeAverage. Errors: as the forward. */
TH_API void THNN_(HuberCriterion_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // input, any shape
    THTensor *target,     // [TARGET] with as many elements as input
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage,     // divide by the number of elements
    accreal delta);       // |d| from which the loss is linear, above 0

/* PoissonNLLCriterion: negative log-likelihood of counts with a Poisson distribution, given the logarithm of its rate,
   without the logarithm of the factorial: the sum of exp(input) - target * input, divided by the number of elements if
   sizeAverage.

   Shapes: input and target with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ. Added after 2017. Source: torch.nn.PoissonNLLLoss. */
TH_API void THNN_(PoissonNLLCriterion_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *target,   // [TARGET] with as many elements as input
    THTensor *output,   // [OUT] the loss, one element
    bool sizeAverage);  // [DEFAULT true] divide by the number of elements

/* Gradient of PoissonNLLCriterion w.r.t. its input: exp(input) - target, divided by the number of elements if
   sizeAverage. */
TH_API void THNN_(PoissonNLLCriterion_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // input, any shape
    THTensor *target,     // [TARGET] with as many elements as input
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage);    // divide by the number of elements

/* PoissonRateNLLCriterion: PoissonNLLCriterion, given the rate: the sum of input - target * log(input + eps), divided
   by the number of elements if sizeAverage.

   Shapes: input and target with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ. Added after 2017. Source:
   torch.nn.PoissonNLLLoss(log_input=False). */
TH_API void THNN_(PoissonRateNLLCriterion_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input, any shape
    THTensor *target,  // [TARGET] with as many elements as input
    THTensor *output,  // [OUT] the loss, one element
    bool sizeAverage,  // [DEFAULT true] divide by the number of elements
    accreal eps);      // [DEFAULT 1e-8] keeps the logarithm of a rate of 0 finite

/* Gradient of PoissonRateNLLCriterion w.r.t. its input: 1 - target / (input + eps), divided by the number of elements
   if sizeAverage. */
TH_API void THNN_(PoissonRateNLLCriterion_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // input, any shape
    THTensor *target,     // [TARGET] with as many elements as input
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage,     // divide by the number of elements
    accreal eps);         // keeps the logarithm of a rate of 0 finite

/* MarginRankingCriterion: sum of max(0, margin - target * input), where input is the difference of two scores and
   target is 1 if the first one should be larger, else -1; divided by the number of elements if sizeAverage.

   Shapes: input and target with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ. Added after 2017. Source: torch.nn.MarginRankingLoss.
   [DERIVATIVE constant] */
TH_API void THNN_(MarginRankingCriterion_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input, any shape
    THTensor *target,  // [TARGET] with as many elements as input
    THTensor *output,  // [OUT] the loss, one element
    bool sizeAverage,  // [DEFAULT true] divide by the number of elements
    accreal margin);   // [DEFAULT 0] no loss where target * input is above it

/* Gradient of MarginRankingCriterion w.r.t. its input: -target where target * input <= margin (in MarginCriterion:
   below margin), else 0, divided by the number of elements if sizeAverage. */
TH_API void THNN_(MarginRankingCriterion_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // input, any shape
    THTensor *target,     // [TARGET] with as many elements as input
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage,     // divide by the number of elements
    accreal margin);      // no loss where target * input is above it

/* HingeEmbeddingCriterion: sum of input where target is 1 and of max(0, margin - input) where target is -1, and of both
   for any other target, divided by the number of elements if sizeAverage.

   Shapes: input and target with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ. Added after 2017. Source: torch.nn.HingeEmbeddingLoss.
   [DERIVATIVE constant] */
TH_API void THNN_(HingeEmbeddingCriterion_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input, any shape
    THTensor *target,  // [TARGET] with as many elements as input
    THTensor *output,  // [OUT] the loss, one element
    bool sizeAverage,  // [DEFAULT true] divide by the number of elements
    accreal margin);   // [DEFAULT 1] no loss for target -1 where input is above it

/* Gradient of HingeEmbeddingCriterion w.r.t. its input: 1 where target is 1; -1 where target is -1 and input <= margin,
   else 0; the sum of both for any other target. Divided by the number of elements if sizeAverage. */
TH_API void THNN_(HingeEmbeddingCriterion_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // input, any shape
    THTensor *target,     // [TARGET] with as many elements as input
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss w.r.t. input
    bool sizeAverage,     // divide by the number of elements
    accreal margin);      // no loss for target -1 where input is above it

/* GaussianNLLCriterion: negative log-likelihood of a target with a normal distribution, given its mean and its
   variance, without the constant log(2 * pi) / 2: the sum of (log(v) + (input - target)^2 / v) / 2 with v =
   max(var, eps), divided by the number of elements if sizeAverage.

   Shapes: input, target and var with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ and for a variance below 0. Added after 2017. Source: Nix
   and Weigend 1994; torch.nn.GaussianNLLLoss. */
TH_API void THNN_(GaussianNLLCriterion_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // means, any shape
    THTensor *target,  // [TARGET] with as many elements as input
    THTensor *var,     // [INPUT] variances, as many as input has elements
    THTensor *output,  // [OUT] the loss, one element
    bool sizeAverage,  // [DEFAULT true] divide by the number of elements
    accreal eps);      // [DEFAULT 1e-6] least variance

/* Gradients of GaussianNLLCriterion: gradInput = (input - target) / v; gradVar = 0.5 / v * (1 - (input - target)^2
   / v), also where var is below eps; both divided by the number of elements if sizeAverage. */
TH_API void THNN_(GaussianNLLCriterion_backward)(
    THNNState *state,     // library state
    THTensor *input,      // means, any shape
    THTensor *target,     // [TARGET] with as many elements as input
    THTensor *var,        // [INPUT] variances, as many as input has elements
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *gradVar,    // [OUT] [LIKE var] gradient of the loss w.r.t. var
    bool sizeAverage,     // divide by the number of elements
    accreal eps);         // least variance

/* CosineEmbeddingCriterion: the sum over pairs of rows of 1 - c where target is 1 and of max(0, c - margin) where
   target is -1, divided by the number of pairs if sizeAverage; c is the cosine of the rows, input1 . input2 /
   sqrt((|input1|^2 + 1e-12) * (|input2|^2 + 1e-12)). Other targets cost nothing.

   Shapes: input1 and input2 (N, D), target (N), output one element.
   Errors: ValueError for sizes that do not fit. Added after 2017. Source: Torch7 nn.CosineEmbeddingCriterion;
   torch.nn.CosineEmbeddingLoss. */
TH_API void THNN_(CosineEmbeddingCriterion_updateOutput)(
    THNNState *state,  // library state
    THTensor *input1,  // rows (N, D)
    THTensor *input2,  // rows (N, D)
    THTensor *target,  // [TARGET] 1 or -1 for each pair (N)
    THTensor *output,  // [OUT] the loss, one element
    bool sizeAverage,  // [DEFAULT true] divide by the number of pairs
    accreal margin);   // [DEFAULT 0] no loss for target -1 where the cosine is below it

/* Gradients of CosineEmbeddingCriterion: for target 1 minus, and for target -1 and c >= margin, the gradient of c,
   which is input2 / sqrt(...) - c * input1 / (|input1|^2 + 1e-12) w.r.t. input1; else 0. Divided by the number of
   pairs if sizeAverage. */
TH_API void THNN_(CosineEmbeddingCriterion_backward)(
    THNNState *state,      // library state
    THTensor *input1,      // rows (N, D)
    THTensor *input2,      // rows (N, D)
    THTensor *target,      // [TARGET] 1 or -1 for each pair (N)
    THTensor *gradInput1,  // [OUT] [LIKE input1] gradient of the loss w.r.t. input1
    THTensor *gradInput2,  // [OUT] [LIKE input2] gradient of the loss w.r.t. input2
    bool sizeAverage,      // divide by the number of pairs
    accreal margin);       // no loss for target -1 where the cosine is below it

/* PairwiseDistance: the distance of each pair of rows, the p-norm of x1 - x2 + eps.

   Shapes: x1 and x2 (N, D), output (N).
   Errors: ValueError for sizes that do not fit and for another p than 1 and 2. Added after 2017. Source: Torch7
   nn.PairwiseDistance; torch.nn.PairwiseDistance. */
TH_API void THNN_(PairwiseDistance_updateOutput)(
    THNNState *state,  // library state
    THTensor *x1,  // [INPUT] rows (N, D)
    THTensor *x2,  // [INPUT] rows (N, D)
    THTensor *output,  // [OUT] distances (N)
    int p,             // [DEFAULT 2] the norm: 1, a sum of magnitudes, or 2, the Euclidean norm
    accreal eps);      // [DEFAULT 1e-6] added to each difference

/* Gradients of PairwiseDistance: with d = x1 - x2 + eps, gradX1 = gradOutput * d / output, and 0 where
   output is 0, for p 2, gradOutput * sign(d) for p 1; gradX2 = -gradX1. */
TH_API void THNN_(PairwiseDistance_backward)(
    THNNState *state,      // library state
    THTensor *x1,      // [INPUT] rows (N, D)
    THTensor *x2,      // [INPUT] rows (N, D)
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradX1,  // [OUT] [LIKE x1] gradient of the loss w.r.t. x1
    THTensor *gradX2,  // [OUT] [LIKE x2] gradient of the loss w.r.t. x2
    THTensor *output,      // result of the forward
    int p,                 // 1 or 2
    accreal eps);          // added to each difference

/* -----------------------------------------------------------------------------------------------------------------
   [FAMILY tables] */

/* LookupTable: rows of a table, an embedding.

     output[i,d] = weight[input[i],d]

   The autograd class has a gradient w.r.t. weight only. LookupTable_renorm, called before it, limits the norms of the
   rows in use. Shapes: input (...) of row numbers from 0; weight (rows, D); output (..., D).
   Errors: IndexError for a row number outside of the table, ValueError for a weight that is not a matrix. Source:
   Torch7 nn.LookupTable, torch.nn.Embedding; the original THNN had only the gradient. */
TH_API void THNN_(LookupTable_updateOutput)(
    THNNState *state,      // library state
    THIndexTensor *input,  // row numbers (...)
    THTensor *output,      // [OUT] the rows (..., D)
    THTensor *weight,      // the table (rows, D)
    bool scaleGradByFreq,  // [DEFAULT false] read by the backward only
    int paddingValue);     // [DEFAULT -1] read by the backward only

/* Gradient of LookupTable w.r.t. its table, accumulated: gradWeight[input[i],d] += scale * gradOutput[i,d] for each i
   with input[i] != paddingValue, divided by the number of occurrences of input[i] in input if scaleGradByFreq.

   Shapes: gradOutput (..., D) or (n, D), with n the number of indices; gradWeight (rows, D). */
TH_API void THNN_(LookupTable_accGradParameters)(
    THNNState *state,         // library state
    THIndexTensor *input,     // row numbers (...)
    THTensor *gradOutput,     // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,     // [MODIFIED] sized as weight
    THIntegerTensor *count,   // [BUFFER] unused
    THTensor *sorted,         // [BUFFER] [OPTIONAL] unused
    THIndexTensor *indices,   // [BUFFER] [OPTIONAL] unused
    bool scaleGradByFreq,     // divide each row's gradient by the number of occurrences of the row in input
    int paddingValue,         // row number that gets no gradient; -1 for none
    accreal scale);           // factor of the gradients added

/* Limits the norm of rows in place: every row that idx names is multiplied by maxNorm / (norm + 1e-7) if its norm is
   above maxNorm, and only once if idx names it several times; norm = (sum over d of |weight[row,d]|^normType)^(1 /
   normType), the largest |weight[row,d]| for an infinite normType.
   Shapes: idx (...) of row numbers from 0; weight (rows, D).
   Errors: IndexError for a row number outside of the table; ValueError for a weight that is not a matrix, a normType
   not above 0, a negative maxNorm. */
TH_API void THNN_(LookupTable_renorm)(
    THNNState *state,    // library state
    THIndexTensor *idx,  // row numbers (...)
    THTensor *weight,    // [MODIFIED] the table (rows, D)
    accreal maxNorm,     // largest norm of a row
    accreal normType);   // exponent of the norm, above 0

/* LookupTableBag: the sum, mean or maximum of the rows of a table that each bag of row numbers names.

     output[b,d] = sum, mean or maximum of weight[input[i],d] over the i in bag b with input[i] != paddingValue

   Bag b holds input[offsets[b]] to input[offsets[b+1] - 1]; the last bag extends to the end of input. Without offsets,
   bag b is row b of input. A bag without rows gives 0. NaN counts as larger than any number. The first of equal maxima
   gets the gradient. Shapes: input (n) with offsets (B), or input (B, L) without; weight (rows, D); output (B, D).
   Errors: IndexError for a row number outside of the table, offsets that decrease, exceed n or begin with a number
   other than 0; ValueError for an unknown mode, scaleGradByFreq with mode 2, sizes that do not fit. Source:
   torch.nn.EmbeddingBag. */
TH_API void THNN_(LookupTableBag_updateOutput)(
    THNNState *state,           // library state
    THIndexTensor *input,       // row numbers (n), or (B, L) without offsets
    THIndexTensor *offsets,     // [INPUT] [OPTIONAL] position in input of each bag's first row number (B)
    THTensor *output,           // [OUT] result (B, D)
    THTensor *weight,           // the table (rows, D)
    THIndexTensor *bagSize,     // [OUT] [SAVED] row numbers per bag without paddingValue (B)
    THIndexTensor *maxIndices,  // [OUT] [SAVED] in mode 2, rows of the maxima (B, D), -1 in an empty bag;
                                // otherwise (0, D)
    int mode,                   // [DEFAULT 0] 0 sum, 1 mean, 2 maximum
    bool scaleGradByFreq,       // [DEFAULT false] read by the backward only
    int paddingValue);          // [DEFAULT -1] row number that bags leave out; -1 for none

/* Gradient of LookupTableBag w.r.t. its table, accumulated: for each i in bag b with input[i] != paddingValue,
   gradWeight[input[i],d] += scale * gradOutput[b,d], divided by bagSize[b] for a mean and by the number of
   occurrences of input[i] in input if scaleGradByFreq; for a maximum
   gradWeight[maxIndices[b,d],d] += scale * gradOutput[b,d]. */
TH_API void THNN_(LookupTableBag_accGradParameters)(
    THNNState *state,           // library state
    THIndexTensor *input,       // row numbers (n), or (B, L) without offsets
    THIndexTensor *offsets,     // [INPUT] [OPTIONAL] position in input of each bag's first row number (B)
    THTensor *gradOutput,       // gradient of the loss w.r.t. output, sized as output
    THTensor *gradWeight,       // [MODIFIED] sized as weight
    THIndexTensor *bagSize,     // [SAVED] as the forward left it (B)
    THIndexTensor *maxIndices,  // [SAVED] as the forward left it
    int mode,                   // 0 sum, 1 mean, 2 maximum
    bool scaleGradByFreq,       // divide each row's gradient by the number of occurrences of the row in input
    int paddingValue,           // row number that bags leave out; -1 for none
    accreal scale);             // factor of the gradients added

/* IndexLinear: a linear layer of sparse rows, given as keys and values.

     output[s,o] = bias[o] + sum over the keys of sample s of value * weight[key + keysOffset, o]

   If weight has O + 4 columns (largest |value|, its inverse, rate, shift, weights...), values are normalized: the sum
   uses value * inverse + shift, or sign(value) + shift where |value| is above the largest. In training,
   entries are normalized in their order: a |value| above the largest of its key so far first replaces it, and the
   inverse; the rate of each key is set to 1. The normalized values are stored in normalizedValues, for
   accGradParameters. The module has no class.
   Shapes: keys and values (n); sizes and cumSumSizes (N); weight (rows, O) or (rows, O + 4); bias (O); output (N, O).
   Errors: IndexError for a key outside of the table, for sizes whose sum is not n, and for cumSumSizes that are not
   their running sums; ValueError for sizes of tensors that do not fit. Source: Torch7 nn.IndexLinear.
   [DERIVATIVE none] */
TH_API void THNN_(IndexLinear_updateOutput)(
    THNNState *state,            // library state
    THIndexTensor *keys,         // keys of all samples, one sample after the other (n)
    int64_t keysOffset,          // number added to a key to give its row of weight
    THTensor *values,            // value of each key (n)
    THIndexTensor *sizes,        // number of keys of each sample (N)
    THIndexTensor *cumSumSizes,  // running sum of sizes, inclusive (N)
    THTensor *output,            // [OUT] result (N, O)
    THTensor *weight,            // [MODIFIED] the table (rows, O) or (rows, O + 4)
    THTensor *bias,              // one per output (O)
    THTensor *normalizedValues,  // [OUT] [SAVED] the values used (n); unchanged where values are not normalized
    int train);                  // not 0: update the first three columns of normalizing tables

/* Gradients of IndexLinear w.r.t. its parameters, one row per key: gradWeight is resized and overwritten,
   gradWeight[i,o] = scale * values[i] * gradOutput[s,o] for key i of sample s; where values are normalized, gradWeight
   has 2 * O columns: gradWeight[i,o] = scale * gradOutput[s,o], for the shift, and
   gradWeight[i,O+o] = scale * values[i] * gradOutput[s,o], for the weights. gradBias accumulates:
   gradBias[o] += scale * sum over s of gradOutput[s,o]. */
TH_API void THNN_(IndexLinear_accGradParameters)(
    THNNState *state,            // library state
    THIndexTensor *keys,         // keys of all samples, one sample after the other (n)
    int64_t keysOffset,          // number added to a key to give its row of weight
    THTensor *values,            // value of each key (n); if normalized, normalizedValues of the forward
    THIndexTensor *sizes,        // number of keys of each sample (N)
    THIndexTensor *cumSumSizes,  // running sum of sizes, inclusive (N)
    THTensor *gradOutput,        // gradient of the loss w.r.t. output (N, O)
    THTensor *gradWeight,        // [OUT] gradient of each key (n, O) or (n, 2 * O)
    THTensor *gradBias,          // [MODIFIED] sized as bias
    THTensor *weight,            // the table (rows, O) or (rows, O + 4)
    THTensor *bias,              // one per output (O)
    THTensor *valuesBuffer,      // [BUFFER] unused
    accreal weightDecay,         // unused
    accreal scale);              // factor of the gradients

/* accGradParameters and updateParameters in one step; scale is the learning rate: bias[o] -= scale * sum over s of
   gradOutput[s,o], and the rows of the keys are updated in order as in updateParameters. */
TH_API void THNN_(IndexLinear_accUpdateGradParameters)(
    THNNState *state,            // library state
    THIndexTensor *keys,         // keys of all samples, one sample after the other (n)
    int64_t keysOffset,          // number added to a key to give its row of weight
    THTensor *values,            // value of each key (n); if normalized, normalizedValues of the forward
    THIndexTensor *sizes,        // number of keys of each sample (N)
    THIndexTensor *cumSumSizes,  // running sum of sizes, inclusive (N)
    THTensor *gradOutput,        // gradient of the loss w.r.t. output (N, O)
    THTensor *weight,            // [MODIFIED] the table (rows, O) or (rows, O + 4)
    THTensor *bias,              // [MODIFIED] one per output (O)
    accreal weightDecay,         // factor of the weights in the step
    accreal scale);              // learning rate

/* A step of gradient descent on the rows of some keys, one key after the other: bias -= learningRate * gradBias; for
   key i with the weights w, the last O columns of its row of weight, w -= weightDecay * w + learningRate * the last O
   columns of gradWeight[i]. Where values are normalized, both factors are multiplied by the row's rate, and shift -=
   learningRate * rate * sum over o of gradWeight[i,o] * w[o] with w before the step. */
TH_API void THNN_(IndexLinear_updateParameters)(
    THNNState *state,            // library state
    THTensor *gradWeight,        // [INPUT] gradient of each key (n, O) or (n, 2 * O)
    THTensor *gradBias,          // [INPUT] sized as bias
    THTensor *weight,            // [MODIFIED] the table (rows, O) or (rows, O + 4)
    THTensor *bias,              // [MODIFIED] one per output (O)
    THIndexTensor *runningKeys,  // the keys of gradWeight (n)
    THIndexTensor *cumSumSizes,  // unused
    int64_t keysOffset,          // number added to a key to give its row of weight
    accreal weightDecay,         // factor of the weights in the step
    accreal learningRate);       // factor of the gradients in the step

/* SparseLinear: a linear layer of sparse rows.

     output[n,o] = bias[o] + sum over the entries of row n of value * weight[o, column]

   Entries may come in any order and may repeat. The module has no class.
   Shapes: input (nnz, 3), an entry (sample, column, value) per row, samples and columns from 1; weight (O, I);
   bias (O); output (N, O), which has to come with its size.
   Errors: IndexError for a sample or column outside of the matrix, ValueError for sizes that do not fit. Source: Torch7
   nn.SparseLinear.
   [DERIVATIVE none] */
TH_API void THNN_(SparseLinear_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // rows (sample, column, value) (nnz, 3), samples and columns from 1
    THTensor *output,   // [OUT] [MODIFIED] result, given with its size (N, O), N being the number of samples
    THTensor *weight,   // weights (O, I)
    THTensor *bias);    // one per output (O)

/* Gradients of SparseLinear w.r.t. its parameters, accumulated: for each entry,
   gradWeight[o, column] += scale * value * gradOutput[sample, o]; gradBias[o] += scale * sum over n of gradOutput[n,o];
   then gradWeight += weightDecay * weight. */
TH_API void THNN_(SparseLinear_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // rows (sample, column, value) (nnz, 3), samples and columns from 1
    THTensor *gradOutput,  // gradient of the loss w.r.t. output (N, O)
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [MODIFIED] sized as bias
    THTensor *weight,      // weights (O, I)
    THTensor *bias,        // one per output (O)
    accreal weightDecay,   // factor of weight in gradWeight
    accreal scale);        // factor of the gradients added

/* Sets gradBias to 0, and the columns of gradWeight that an entry of lastInput with a value other than 0 names. */
TH_API void THNN_(SparseLinear_zeroGradParameters)(
    THNNState *state,      // library state
    THTensor *gradWeight,  // [PARAMETER] [MODIFIED] (O, I)
    THTensor *gradBias,    // [PARAMETER] [MODIFIED] (O)
    THTensor *lastInput);  // rows (sample, column, value) (nnz, 3), samples and columns from 1

/* A step of gradient descent: bias -= learningRate * gradBias, and weight -= learningRate * gradWeight in the
   columns that an entry of lastInput with a value other than 0 names. */
TH_API void THNN_(SparseLinear_updateParameters)(
    THNNState *state,       // library state
    THTensor *weight,       // [MODIFIED] weights (O, I)
    THTensor *bias,         // [MODIFIED] one per output (O)
    THTensor *gradWeight,   // [INPUT] sized as weight
    THTensor *gradBias,     // [INPUT] sized as bias
    THTensor *lastInput,    // rows (sample, column, value) (nnz, 3), samples and columns from 1
    accreal learningRate);  // length of the step

/* SparseLinear_updateOutput for the older form of input, pairs (column, value) per sample: input (N, nnz, 2). output is
   resized. */
TH_API void THNN_(SparseLinear_legacyUpdateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // pairs (column, value) of each sample (N, nnz, 2), columns from 1
    THTensor *output,   // [OUT] result (N, O)
    THTensor *weight,   // weights (O, I)
    THTensor *bias);    // one per output (O)

/* SparseLinear_accGradParameters for the older form of input. */
TH_API void THNN_(SparseLinear_legacyAccGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // pairs (column, value) of each sample (N, nnz, 2), columns from 1
    THTensor *gradOutput,  // gradient of the loss w.r.t. output (N, O)
    THTensor *gradWeight,  // [MODIFIED] sized as weight
    THTensor *gradBias,    // [MODIFIED] sized as bias
    THTensor *weight,      // weights (O, I)
    THTensor *bias,        // one per output (O)
    accreal weightDecay,   // factor of weight in gradWeight
    accreal scale);        // factor of the gradients added

/* SparseLinear_zeroGradParameters for the older form of input. */
TH_API void THNN_(SparseLinear_legacyZeroGradParameters)(
    THNNState *state,      // library state
    THTensor *gradWeight,  // [PARAMETER] [MODIFIED] (O, I)
    THTensor *gradBias,    // [PARAMETER] [MODIFIED] (O)
    THTensor *lastInput);  // pairs (column, value) of each sample (N, nnz, 2), columns from 1

/* SparseLinear_updateParameters for the older form of input. */
TH_API void THNN_(SparseLinear_legacyUpdateParameters)(
    THNNState *state,       // library state
    THTensor *weight,       // [MODIFIED] weights (O, I)
    THTensor *bias,         // [MODIFIED] one per output (O)
    THTensor *gradWeight,   // [INPUT] sized as weight
    THTensor *gradBias,     // [INPUT] sized as bias
    THTensor *lastInput,    // pairs (column, value) of each sample (N, nnz, 2), columns from 1
    accreal learningRate);  // length of the step

/* -----------------------------------------------------------------------------------------------------------------
   [FAMILY recurrent] */

/* LSTMFused: the arithmetic of a long short-term memory cell after its two linear layers. With the four blocks i, f, g
   and o of H columns of input + bias1 + hidden + bias2:

     outputCell = sigmoid(f) * cell + sigmoid(i) * tanh(g)
     output     = sigmoid(o) * tanh(outputCell)

   hidden is overwritten with (sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)), which the backward takes as storage. The
   Python class LSTMFusedFunction does not modify its argument hidden, and returns (output, outputCell).
   Shapes: input and hidden (N, 4H) or (4H); bias1 and bias2 (4H), (1, 4H) or None; cell, output and outputCell
   (N, H) or (H).
   Errors: ValueError for sizes that do not fit. Source: torch.nn.LSTMCell; the original THNN had it for CUDA only. */
TH_API void THNN_(LSTMFused_updateOutput)(
    THNNState *state,       // library state
    THTensor *input,        // gates of the input (N, 4H)
    THTensor *hidden,       // [MODIFIED] gates of the hidden state (N, 4H)
    THTensor *bias1,        // [OPTIONAL] bias of input (4H)
    THTensor *bias2,        // [OPTIONAL] bias of hidden (4H)
    THTensor *cell,         // cell state (N, H)
    THTensor *output,       // [OUT] [LIKE cell] new hidden state (N, H)
    THTensor *outputCell);  // [OUT] [LIKE cell] new cell state (N, H)

/* Gradients of LSTMFused w.r.t. its gates and its cell state. The gradient w.r.t. the gates is also the gradient w.r.t.
   input and w.r.t. hidden and, summed over the batch, w.r.t. each bias. */
TH_API void THNN_(LSTMFused_updateGradInput)(
    THNNState *state,          // library state
    THTensor *storage,         // hidden as the forward left it (N, 4H)
    THTensor *gradInGates,     // [OUT] [LIKE storage] gradient of the loss w.r.t. input and w.r.t. hidden (N, 4H)
    THTensor *cx,              // cell, the state before (N, H)
    THTensor *cy,              // outputCell, the state after (N, H)
    THTensor *gradOutput,      // [OPTIONAL] gradient of the loss w.r.t. output, None for zeros
    THTensor *gradOutputCell,  // [OPTIONAL] gradient of the loss w.r.t. outputCell, None for zeros
    THTensor *gradInputCx);    // [OUT] [LIKE cx] gradient of the loss w.r.t. cell (N, H)

/* LSTMFused_updateOutput without overwriting hidden: the activated gates are written to gates, unless it is None. */
TH_API void THNN_(LSTMFused_cell)(
    THNNState *state,      // library state
    THTensor *input,       // gates of the input (N, 4H)
    THTensor *hidden,      // gates of the hidden state (N, 4H)
    THTensor *bias1,       // [OPTIONAL] bias of input (4H)
    THTensor *bias2,       // [OPTIONAL] bias of hidden (4H)
    THTensor *cell,        // cell state (N, H)
    THTensor *output,      // [OUT] [LIKE cell] new hidden state (N, H)
    THTensor *outputCell,  // [OUT] [LIKE cell] new cell state (N, H)
    THTensor *gates);      // [OUT] [OPTIONAL] [LIKE input] storage of the backward (N, 4H), None in inference

/* All steps of a long short-term memory over sequences: in each step LSTMFused_cell, where input is the product of the
   step's rows with weight1 transposed, and hidden is the product of the hidden state with weight2 transposed.

   The sequences are sorted by length, longest first: step l has the first sizes[l] of them, and the rows of later steps
   are below, as in torch.nn.utils.rnn.PackedSequence. Each sequence begins with its row of hx and of cell, in step 0
   or, if reverse, in its last step.
   Shapes: input (rows, I), rows being the sum of sizes; weight1 (4H, I); weight2 (4H, H); bias1 and bias2 (4H), (1, 4H)
   or None; hx and cell (N, H); sizes (L), L of at least 1; output and outputCell (rows, H).
   Errors: ValueError for sizes that do not fit, for sizes that do not begin with N or do not add up to rows, for a step
   with more sequences than the one before it, and for a buffer larger than memory can hold. Source: torch.nn.LSTM. */
TH_API void THNN_(LSTMFused_steps)(
    THNNState *state,      // library state
    THTensor *input,       // input of all steps (rows, I)
    THTensor *weight1,     // weight of input (4H, I)
    THTensor *weight2,     // weight of the hidden state (4H, H)
    THTensor *bias1,       // [OPTIONAL] bias of input (4H)
    THTensor *bias2,       // [OPTIONAL] bias of the hidden state (4H)
    THTensor *hx,          // initial hidden states (N, H)
    THTensor *cell,        // initial cell states (N, H)
    THIndexTensor *sizes,  // number of sequences of each step (L)
    THTensor *output,      // [OUT] hidden states after each step (rows, H)
    THTensor *outputCell,  // [OUT] cell states after each step (rows, H)
    THTensor *gates,       // [OUT] [OPTIONAL] storage of LSTMFused_gradSteps (rows, 4H), None in inference
    THTensor *buffer,      // [BUFFER] packed weights, and packed rows and sums of some steps
    bool reverse);         // the last step is computed first

/* Gradients of LSTMFused_steps w.r.t. the gates and the initial states, given the gradients w.r.t. output and the final
   states. The gradients w.r.t. input, weights and biases are the gradients of two Linear functions over all rows: their
   gradOutput is gradInGates, and their inputs are input and the hidden states before each step.
   Errors: as in the forward. */
TH_API void THNN_(LSTMFused_gradSteps)(
    THNNState *state,       // library state
    THTensor *storage,      // gates as the forward wrote them (rows, 4H)
    THTensor *weight2,      // weight of the hidden state (4H, H)
    THTensor *cell,         // initial cell states (N, H)
    THTensor *outputCell,   // [INPUT] cell states after each step (rows, H)
    THIndexTensor *sizes,   // number of sequences of each step (L)
    THTensor *gradOutput,   // [OPTIONAL] gradient of the loss w.r.t. output (rows, H), None for zeros
    THTensor *gradInGates,  // [OUT] [LIKE storage] gradient of the loss w.r.t. the gates (rows, 4H)
    THTensor *gradHx,       // [MODIFIED] in: dL/dh of the final states; out: dL/dhx (N, H)
    THTensor *gradCell,     // [MODIFIED] in: dL/dc of the final states; out: dL/dcell (N, H)
    THTensor *buffer,       // [BUFFER] packed weight, and packed rows of two steps
    bool reverse);          // as in the forward

/* GRUFused: the arithmetic of a gated recurrent unit after its two linear layers. With the three blocks r, z and n of H
   columns of input + bias1, and rh, zh and nh of hidden + bias2:

     new    = tanh(n + sigmoid(r + rh) * nh)
     output = new + sigmoid(z + zh) * (hx - new)

   storage is (sigmoid(r + rh), sigmoid(z + zh), new, hx, nh), for the backward.
   Shapes: input and hidden (N, 3H) or (3H); bias1 and bias2 (3H), (1, 3H) or None; hx and output (N, H) or (H); storage
   (N, 5H) or (5H), or (N * 5H) if it comes with that size.
   Errors: ValueError for sizes that do not fit. Source: torch.nn.GRUCell; the original THNN had it for CUDA only. */
TH_API void THNN_(GRUFused_updateOutput)(
    THNNState *state,    // library state
    THTensor *input,     // gates of the input (N, 3H)
    THTensor *hidden,    // gates of the hidden state (N, 3H)
    THTensor *bias1,     // [OPTIONAL] bias of input (3H)
    THTensor *bias2,     // [OPTIONAL] bias of hidden (3H)
    THTensor *hx,        // hidden state (N, H)
    THTensor *output,    // [OUT] [LIKE hx] new hidden state (N, H)
    THTensor *storage);  // [OUT] values for the backward (N, 5H)

/* Gradients of GRUFused w.r.t. the gates of the input, the gates of the hidden state (and, summed over the batch, their
   biases), and the hidden state. */
TH_API void THNN_(GRUFused_updateGradInput)(
    THNNState *state,        // library state
    THTensor *gradInInput,   // [OUT] gradient of the loss w.r.t. input (N, 3H)
    THTensor *gradInHidden,  // [OUT] gradient of the loss w.r.t. hidden (N, 3H)
    THTensor *gradOutput,    // gradient of the loss w.r.t. output (N, H)
    THTensor *gradInputHx,   // [OUT] [LIKE gradOutput] gradient of the loss w.r.t. hx (N, H)
    THTensor *storage);      // as the forward left it (N, 5H)

/* All steps of a gated recurrent unit over sequences: in each step GRUFused, where input is the product of the step's
   rows with weight1 transposed, and hidden is the product of the hidden state with weight2 transposed. Rows are ordered
   as in LSTMFused_steps.

   Shapes: input (rows, I), rows being the sum of sizes; weight1 (3H, I); weight2 (3H, H); bias1 and bias2 (3H), (1, 3H)
   or None; hx (N, H); sizes (L), L of at least 1; output (rows, H); gates (rows, 5H), the storage of GRUFused.
   Errors: as in LSTMFused_steps. Source: torch.nn.GRU. */
TH_API void THNN_(GRUFused_steps)(
    THNNState *state,      // library state
    THTensor *input,       // input of all steps (rows, I)
    THTensor *weight1,     // weight of input (3H, I)
    THTensor *weight2,     // weight of the hidden state (3H, H)
    THTensor *bias1,       // [OPTIONAL] bias of input (3H)
    THTensor *bias2,       // [OPTIONAL] bias of the hidden state (3H)
    THTensor *hx,          // initial hidden states (N, H)
    THIndexTensor *sizes,  // number of sequences of each step (L)
    THTensor *output,      // [OUT] hidden states after each step (rows, H)
    THTensor *gates,       // [OUT] [OPTIONAL] storage of GRUFused_gradSteps (rows, 5H), None in inference
    THTensor *buffer,      // [BUFFER] packed weights, and packed rows and sums of some steps
    bool reverse);         // the last step is computed first

/* Gradients of GRUFused_steps w.r.t. the gates of the input, the gates of the hidden state, and the initial states,
   given the gradients w.r.t. output and the final states. The gradients w.r.t. input, weights and biases are the
   gradients of two Linear functions over all rows: their gradOutput is gradInInput and gradInHidden, and their inputs
   are input and the hidden states before each step.
   Errors: as in the forward. */
TH_API void THNN_(GRUFused_gradSteps)(
    THNNState *state,        // library state
    THTensor *storage,       // gates as the forward wrote them (rows, 5H)
    THTensor *weight2,       // weight of the hidden state (3H, H)
    THIndexTensor *sizes,    // number of sequences of each step (L)
    THTensor *gradOutput,    // [OPTIONAL] gradient of the loss w.r.t. output (rows, H), None for zeros
    THTensor *gradInInput,   // [OUT] gradient of the loss w.r.t. the gates of input (rows, 3H)
    THTensor *gradInHidden,  // [OUT] gradient of the loss w.r.t. the gates of the hidden state (rows, 3H)
    THTensor *gradHx,        // [MODIFIED] in: dL/dh of the final states; out: dL/dhx (N, H)
    THTensor *buffer,        // [BUFFER] packed weight, and packed rows of two steps
    bool reverse);           // as in the forward

/* -----------------------------------------------------------------------------------------------------------------
   [FAMILY normalization] */

/* BatchNormalization: each channel of a batch normalized to mean 0 and variance 1, then scaled by weight and
   shifted by bias.

     output = (input - mean) / sqrt(variance + eps) * weight + bias

   Shapes: input (N, C) or (N, C, ...), any number of trailing dimensions; weight, bias, running_mean, running_var,
   save_mean, save_std (C). n is the number of values per channel.
   Training: mean and variance (biased) of the batch; save_mean = mean, save_std = 1 / sqrt(variance + eps), that is the
   inverse deviation; running_mean = momentum * mean + (1 - momentum) * running_mean, and running_var likewise with the
   unbiased variance, which is variance * n / (n - 1). Evaluation: running_mean and running_var instead; save_mean
   and save_std are resized like any output, but no value is written to them.
   If variance and eps are both 0 the inverse deviation is 0.
   Errors: ValueError for fewer than 2 dimensions, sizes that do not fit, a negative eps, and in training for fewer
   than 2 values per channel, an empty batch included (the running statistics stay as they were); TypeError where the
   statistics that the mode needs are None.
   Source: Ioffe and Szegedy 2015, algorithm 1; variance by shifted sums, never E[x^2] - E[x]^2.
   The functions statistics, saveStatistics and normalize, below, are its stages. */
TH_API void THNN_(BatchNormalization_updateOutput)(
    THNNState *state,        // library state
    THTensor *input,         // input (N, C, ...)
    THTensor *output,        // [OUT] [LIKE input] result
    THTensor *weight,        // [OPTIONAL] [MIXED] scale (C), 1 where None
    THTensor *bias,          // [OPTIONAL] [MIXED] shift (C), 0 where None
    THTensor *running_mean,  // [OPTIONAL] [MODIFIED] [MIXED] running mean (C), None to keep none
    THTensor *running_var,   // [OPTIONAL] [MODIFIED] [MIXED] running variance (C), None to keep none
    THTensor *save_mean,     // [OPTIONAL] [SAVED] [MIXED] mean of the batch (C), written in training
    THTensor *save_std,      // [OPTIONAL] [SAVED] [MIXED] inverse deviation of the batch (C), written in training
    bool train,              // training: statistics of the batch; evaluation: running statistics
    double momentum,         // factor of the batch in the running statistics
    double eps);             // added to the variance

/* Gradients of BatchNormalization, each optional; gradWeight and gradBias accumulate. With inv the inverse
   deviation and xc = input - mean (saved in training, running in evaluation):
     gradWeight += scale * inv * sum(gradOutput * xc);  gradBias += scale * sum(gradOutput)
     training:   gradInput = (gradOutput - mean(gradOutput) - xc * inv^2 * sum(gradOutput * xc) / n) * inv * weight
     evaluation: gradInput = gradOutput * inv * weight
   The functions gradSums and gradInput, below, are its stages. */
TH_API void THNN_(BatchNormalization_backward)(
    THNNState *state,        // library state
    THTensor *input,         // input
    THTensor *gradOutput,    // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,     // [OPTIONAL] [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *gradWeight,    // [OPTIONAL] [MODIFIED] [MIXED] (C)
    THTensor *gradBias,      // [OPTIONAL] [MODIFIED] [MIXED] (C)
    THTensor *weight,        // [OPTIONAL] [MIXED] scale (C), 1 where None
    THTensor *running_mean,  // [OPTIONAL] [MIXED] running mean (C), read in evaluation
    THTensor *running_var,   // [OPTIONAL] [MIXED] running variance (C), read in evaluation
    THTensor *save_mean,     // [OPTIONAL] [SAVED] [MIXED] mean of the batch (C), read in training
    THTensor *save_std,      // [OPTIONAL] [SAVED] [MIXED] inverse deviation of the batch (C), read in training
    bool train,              // as in the forward
    double scale,            // factor of the gradients added to gradWeight and gradBias
    double eps);             // as in the forward

/* Mean and centred sum of squares of each channel; zeros for an empty batch.

   The first stage of batch normalization. With the stages, the parts of a batch can be computed by different threads or
   processes: statistics of each part, mergeStatistics, saveStatistics, normalize of each part; in the backward gradSums
   of each part, whose sums are added, and gradInput of each part. The statistics are 2*C + 1 accreal numbers: the mean
   of each channel (C), its centred sum of squares sum((x - mean)^2) (C), and the number of values per channel.

   Shapes: input (N, C) or (N, C, ...); statistics (2C + 1).
   Errors: ValueError for fewer than 2 dimensions. Source: shifted sums in blocks, merged as in
   mergeStatistics. */
TH_API void THNN_(BatchNormalization_statistics)(
    THNNState *state,              // library state
    THTensor *input,               // input (N, C, ...)
    THAccrealTensor *statistics);  // [OUT] mean, centred sum of squares, number of values (2C + 1)

/* Statistics of a batch, merged from the statistics of its parts in their order; parts without values are skipped. For
   parts a and b of n_a and n_b values, n = n_a + n_b and d = mean_b - mean_a:
     mean = mean_a + d * n_b / n;  squares = squares_a + squares_b + d^2 * n_a * n_b / n

   Shapes: parts (K, 2C + 1), as statistics gives them; statistics (2C + 1). If K is 0, statistics are zeros.
   Errors: ValueError for other sizes, and for a number of values that is negative or NaN.
   Source: Chan, Golub and LeVeque 1979, "Updating formulae and a pairwise algorithm for computing sample variances". */
TH_API void THNN_(BatchNormalization_mergeStatistics)(
    THNNState *state,              // library state
    THAccrealTensor *parts,        // [INPUT] statistics of each part (K, 2C + 1)
    THAccrealTensor *statistics);  // [OUT] statistics of the batch (2C + 1)

/* Mean and inverse deviation from statistics; updates the running statistics. With n the number of values and squares
   the centred sum of squares:
     save_mean = mean;  save_std = 1 / sqrt(squares / n + eps), 0 where that root is 0
     running_mean = momentum * mean + (1 - momentum) * running_mean
     running_var = momentum * squares / m + (1 - momentum) * running_var, m being n - 1 if unbiased, else n

   Shapes: statistics (2C + 1), all others (C).
   Errors: ValueError for sizes that do not fit, a negative eps, and for fewer than two values per channel, which have
   no variance (nothing is written). */
TH_API void THNN_(BatchNormalization_saveStatistics)(
    THNNState *state,             // library state
    THAccrealTensor *statistics,  // [INPUT] mean, centred sum of squares, number of values (2C + 1)
    THTensor *save_mean,          // [OUT] [MIXED] mean (C)
    THTensor *save_std,           // [OUT] [MIXED] inverse deviation (C)
    THTensor *running_mean,       // [OPTIONAL] [MODIFIED] [MIXED] running mean (C)
    THTensor *running_var,        // [OPTIONAL] [MODIFIED] [MIXED] running variance (C)
    double momentum,              // factor of these statistics in the running statistics
    double eps,                   // added to the variance
    bool unbiased);               // running variance from squares / (n - 1)

/* Normalization with given mean and inverse deviation, followed by min(limit, max(0, .)) if relu:
     output = (input - save_mean) * save_std * weight + bias

   Shapes: input and output (N, C) or (N, C, ...), all others (C).
   Errors: ValueError for fewer than 2 dimensions, for sizes that do not fit, and for a limit that is not above 0. */
TH_API void THNN_(BatchNormalization_normalize)(
    THNNState *state,     // library state
    THTensor *input,      // input (N, C, ...)
    THTensor *output,     // [OUT] [LIKE input] result
    THTensor *weight,     // [OPTIONAL] [MIXED] scale (C), 1 where None
    THTensor *bias,       // [OPTIONAL] [MIXED] shift (C), 0 where None
    THTensor *save_mean,  // [MIXED] mean (C)
    THTensor *save_std,   // [MIXED] inverse deviation (C)
    bool relu,            // apply min(limit, max(0, .)); NaN stays NaN
    double limit);        // largest output of relu; inf for none

/* Sums of each channel for the backward: sum(g) (C), then sum(g * (input - save_mean)) (C), where g is gradOutput
   or, if relu, gradOutput where normalize gives more than 0 and less than a finite limit (or NaN), and 0 elsewhere.
   Zeros for an empty batch.
   gradBias is the first sum; gradWeight is save_std times the second.

   Shapes: input and gradOutput (N, C) or (N, C, ...), sums (2C), all others (C).
   Errors: ValueError for fewer than 2 dimensions, for sizes that do not fit, and for a limit that is not above 0. */
TH_API void THNN_(BatchNormalization_gradSums)(
    THNNState *state,       // library state
    THTensor *input,        // input (N, C, ...)
    THTensor *gradOutput,   // gradient of the loss w.r.t. output, sized as input
    THTensor *weight,       // [OPTIONAL] [MIXED] scale (C), 1 where None; read if relu
    THTensor *bias,         // [OPTIONAL] [MIXED] shift (C), 0 where None; read if relu
    THTensor *save_mean,    // [MIXED] mean (C)
    THTensor *save_std,     // [MIXED] inverse deviation (C); read if relu
    THAccrealTensor *sums,  // [OUT] sum(g), then sum(g * (input - save_mean)) (2C)
    bool relu,              // as in normalize
    double limit);          // as in normalize

/* Gradient of normalization w.r.t. the input, from sums over the whole batch of `count` values per channel; g as in
   gradSums:
     gradInput = (g - sum(g) / count - (input - save_mean) * save_std^2 * sum(g * (input - save_mean)) / count)
                 * save_std * weight
   If sums is None the statistics are constants: gradInput = g * save_std * weight.

   Shapes: input, gradOutput and gradInput (N, C) or (N, C, ...), sums (2C), all others (C).
   Errors: ValueError for fewer than 2 dimensions, sizes that do not fit, a limit that is not above 0, and with sums a
   count that is not above 0. */
TH_API void THNN_(BatchNormalization_gradInput)(
    THNNState *state,       // library state
    THTensor *input,        // input (N, C, ...)
    THTensor *gradOutput,   // gradient of the loss w.r.t. output, sized as input
    THTensor *gradInput,    // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *weight,       // [OPTIONAL] [MIXED] scale (C), 1 where None
    THTensor *bias,         // [OPTIONAL] [MIXED] shift (C), 0 where None; read if relu
    THTensor *save_mean,    // [MIXED] mean (C)
    THTensor *save_std,     // [MIXED] inverse deviation (C)
    THAccrealTensor *sums,  // [INPUT] [OPTIONAL] sums of the whole batch (2C); None: the statistics are constants
    double count,           // values per channel in the whole batch
    bool relu,              // as in normalize
    double limit);          // as in normalize

/* BatchNormalizationReLU: batch normalization followed by max(0, .) or, with a limit, by min(limit, max(0, .)), with no
   more memory traffic than batch normalization. With limit 6 this is batch normalization and ReLU6.

     output = min(limit, max(0, (input - mean) / sqrt(variance + eps) * weight + bias))

   Shapes, arguments and errors as in BatchNormalization; also ValueError for a limit that is not above 0. NaN stays
   NaN. Source: BatchNormalization, then torch.nn.ReLU or, with limit 6, torch.nn.ReLU6. */
TH_API void THNN_(BatchNormalizationReLU_updateOutput)(
    THNNState *state,        // library state
    THTensor *input,         // input (N, C, ...)
    THTensor *output,        // [OUT] [LIKE input] result
    THTensor *weight,        // [OPTIONAL] [MIXED] scale (C), 1 where None
    THTensor *bias,          // [OPTIONAL] [MIXED] shift (C), 0 where None
    THTensor *running_mean,  // [OPTIONAL] [MODIFIED] [MIXED] running mean (C), None to keep none
    THTensor *running_var,   // [OPTIONAL] [MODIFIED] [MIXED] running variance (C), None to keep none
    THTensor *save_mean,     // [OPTIONAL] [SAVED] [MIXED] mean of the batch (C), written in training
    THTensor *save_std,      // [OPTIONAL] [SAVED] [MIXED] inverse deviation of the batch (C), written in training
    bool train,              // training: statistics of the batch; evaluation: running statistics
    double momentum,         // factor of the batch in the running statistics
    double eps,              // added to the variance
    double limit);           // [DEFAULT inf] largest output; inf for none

/* Gradients of BatchNormalizationReLU, each optional: BatchNormalization's gradients for gradOutput where output is
   above 0 and below a finite limit (or NaN), and 0 elsewhere. This mask is recomputed from input, not saved. */
TH_API void THNN_(BatchNormalizationReLU_backward)(
    THNNState *state,        // library state
    THTensor *input,         // input
    THTensor *gradOutput,    // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,     // [OPTIONAL] [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *gradWeight,    // [OPTIONAL] [MODIFIED] [MIXED] (C)
    THTensor *gradBias,      // [OPTIONAL] [MODIFIED] [MIXED] (C)
    THTensor *weight,        // [OPTIONAL] [MIXED] scale (C), 1 where None
    THTensor *bias,          // [OPTIONAL] [MIXED] shift (C), 0 where None
    THTensor *running_mean,  // [OPTIONAL] [MIXED] running mean (C), read in evaluation
    THTensor *running_var,   // [OPTIONAL] [MIXED] running variance (C), read in evaluation
    THTensor *save_mean,     // [OPTIONAL] [SAVED] [MIXED] mean of the batch (C), read in training
    THTensor *save_std,      // [OPTIONAL] [SAVED] [MIXED] inverse deviation of the batch (C), read in training
    bool train,              // as in the forward
    double scale,            // factor of the gradients added to gradWeight and gradBias
    double eps,              // as in the forward
    double limit);           // as in the forward

/* BatchNormalizationAdd: batch normalization, plus a residual, followed by min(limit, max(0, .)) if relu.

     y = (input - mean) / sqrt(variance + eps) * weight + bias + residual
     output = min(limit, max(0, y)) where relu, else y

   NaN stays NaN. In training a large input is read for its statistics; then input and residual are read and output is
   written: 4 tensors pass through memory, where three functions move 8, or 7 where relu overwrites the sum.
   Shapes: residual and output sized as input; all others as in BatchNormalization.
   Errors: as in BatchNormalization; also ValueError for a limit that is not above 0.
   Source: BatchNormalization, then an addition and torch.nn.ReLU or, with limit 6, torch.nn.ReLU6; He et al. 2015, the end
   of a block. Added after 2017. */
TH_API void THNN_(BatchNormalizationAdd_updateOutput)(
    THNNState *state,        // library state
    THTensor *input,         // input (N, C, ...)
    THTensor *residual,      // [INPUT] added to the normalized input, sized as input
    THTensor *output,        // [OUT] [LIKE input] result
    THTensor *weight,        // [OPTIONAL] [MIXED] scale (C), 1 where None
    THTensor *bias,          // [OPTIONAL] [MIXED] shift (C), 0 where None
    THTensor *running_mean,  // [OPTIONAL] [MODIFIED] [MIXED] running mean (C), None to keep none
    THTensor *running_var,   // [OPTIONAL] [MODIFIED] [MIXED] running variance (C), None to keep none
    THTensor *save_mean,     // [OPTIONAL] [SAVED] [MIXED] mean of the batch (C), written in training
    THTensor *save_std,      // [OPTIONAL] [SAVED] [MIXED] inverse deviation of the batch (C), written in training
    bool train,              // training: statistics of the batch; evaluation: running statistics
    double momentum,         // factor of the batch in the running statistics
    double eps,              // added to the variance
    bool relu,               // [DEFAULT true] apply min(limit, max(0, .))
    double limit);           // [DEFAULT inf] largest output of relu; inf for none

/* Gradients of BatchNormalizationAdd. gradResidual is gradOutput or, with relu, gradOutput where output is above 0 and
   below a finite limit (or NaN), and 0 elsewhere; in half types an output that was rounded to the limit is at the limit.
   All others are optional: the gradients of BatchNormalization with gradResidual in place of gradOutput, which is why
   gradResidual is always computed. The residual is not read. A large output, gradOutput and input are read and
   gradResidual is written for the sums, then gradResidual and input are read and gradInput is written: 7 tensors pass
   through memory, where separate functions move 8. */
TH_API void THNN_(BatchNormalizationAdd_backward)(
    THNNState *state,        // library state
    THTensor *input,         // input
    THTensor *output,        // output; read if relu
    THTensor *gradOutput,    // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,     // [OPTIONAL] [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *gradResidual,  // [OUT] [LIKE input] gradient of the loss w.r.t. residual
    THTensor *gradWeight,    // [OPTIONAL] [MODIFIED] [MIXED] (C)
    THTensor *gradBias,      // [OPTIONAL] [MODIFIED] [MIXED] (C)
    THTensor *weight,        // [OPTIONAL] [MIXED] scale (C), 1 where None
    THTensor *running_mean,  // [OPTIONAL] [MIXED] running mean (C), read in evaluation
    THTensor *running_var,   // [OPTIONAL] [MIXED] running variance (C), read in evaluation
    THTensor *save_mean,     // [OPTIONAL] [SAVED] [MIXED] mean of the batch (C), read in training
    THTensor *save_std,      // [OPTIONAL] [SAVED] [MIXED] inverse deviation of the batch (C), read in training
    bool train,              // as in the forward
    double scale,            // factor of the gradients added to gradWeight and gradBias
    double eps,              // as in the forward
    bool relu,               // as in the forward
    double limit);           // as in the forward

/* GroupNormalization: each group of channels of each sample normalized to mean 0 and variance 1, then scaled by weight
   and shifted by bias, which have one number per channel.

     output = (input - mean) / sqrt(variance + eps) * weight + bias

   Shapes: input (N, C) or (N, C, ...), any number of trailing dimensions; weight, bias (C); save_mean, save_std
   (N, numGroups). Channel c belongs to group c / (C / numGroups), rounded down. mean and variance (biased) are those of the
   C / numGroups channels and all positions of a group; save_mean = mean, save_std = 1 / sqrt(variance + eps), the inverse
   deviation, 0 if variance and eps are both 0. numGroups = C is instance normalization.
   Errors: ValueError for fewer than 2 dimensions, a numGroups that does not divide C, sizes that do not fit, a negative eps.
   Source: Wu and He 2018; Ulyanov, Vedaldi and Lempitsky 2016 for instance normalization. Later than the THNN of
   2017. */
TH_API void THNN_(GroupNormalization_updateOutput)(
    THNNState *state,     // library state
    THTensor *input,      // input (N, C, ...)
    THTensor *output,     // [OUT] [LIKE input] result
    THTensor *weight,     // [OPTIONAL] [MIXED] scale (C), 1 where None
    THTensor *bias,       // [OPTIONAL] [MIXED] shift (C), 0 where None
    THTensor *save_mean,  // [SAVED] [MIXED] mean of each group (N, numGroups)
    THTensor *save_std,   // [SAVED] [MIXED] inverse deviation of each group (N, numGroups)
    int64_t numGroups,    // number of groups of channels
    double eps);          // [DEFAULT 1e-5] added to the variance

/* Gradients of GroupNormalization, each optional; gradWeight and gradBias accumulate. With g = gradOutput * weight,
   inv the inverse deviation, xc = input - mean, and means over each group of a sample:
     gradInput = (g - mean(g) - xc * inv^2 * mean(g * xc)) * inv
     gradWeight += scale * sum(gradOutput * xc * inv);  gradBias += scale * sum(gradOutput), over each channel */
TH_API void THNN_(GroupNormalization_backward)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OPTIONAL] [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *gradWeight,  // [OPTIONAL] [MODIFIED] [MIXED] (C)
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] [MIXED] (C)
    THTensor *weight,      // [OPTIONAL] [MIXED] scale (C), 1 where None
    THTensor *save_mean,   // [SAVED] [MIXED] mean of each group (N, numGroups)
    THTensor *save_std,    // [SAVED] [MIXED] inverse deviation of each group (N, numGroups)
    int64_t numGroups,     // as in the forward
    double scale);         // [DEFAULT 1] factor of the gradients added to gradWeight and gradBias

/* LayerNormalization: each row of the last `dims` dimensions normalized to mean 0 and variance 1, then scaled by weight
   and shifted by bias, which have one number per element of a row.

     output = (input - mean) / sqrt(variance + eps) * weight + bias

   Shapes: input (..., S), where S are `dims` sizes; weight, bias (S); save_mean, save_std (rows), where rows is the
   product of the other sizes of input. mean and variance (biased) are those of a row; save_mean = mean, save_std = 1 /
   sqrt(variance + eps), the inverse deviation, 0 if variance and eps are both 0.
   Errors: ValueError for dims below 1 or above the dimensions of input, sizes that do not fit, a negative eps.
   Source: Ba, Kiros and Hinton 2016. Later than the THNN of 2017. */
TH_API void THNN_(LayerNormalization_updateOutput)(
    THNNState *state,     // library state
    THTensor *input,      // input (..., S)
    THTensor *output,     // [OUT] [LIKE input] result
    THTensor *weight,     // [OPTIONAL] [MIXED] scale (S), 1 where None
    THTensor *bias,       // [OPTIONAL] [MIXED] shift (S), 0 where None
    THTensor *save_mean,  // [SAVED] [MIXED] mean of each row (rows)
    THTensor *save_std,   // [SAVED] [MIXED] inverse deviation of each row (rows)
    int64_t dims,         // [DEFAULT 1] number of dimensions of a row
    double eps);          // [DEFAULT 1e-5] added to the variance

/* Gradients of LayerNormalization, each optional; gradWeight and gradBias accumulate. With g = gradOutput * weight, inv
   the inverse deviation, xc = input - mean, and means over each row:
     gradInput = (g - mean(g) - xc * inv^2 * mean(g * xc)) * inv
     gradWeight += scale * sum(gradOutput * xc * inv);  gradBias += scale * sum(gradOutput), over all rows */
TH_API void THNN_(LayerNormalization_backward)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OPTIONAL] [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *gradWeight,  // [OPTIONAL] [MODIFIED] [MIXED] (S)
    THTensor *gradBias,    // [OPTIONAL] [MODIFIED] [MIXED] (S)
    THTensor *weight,      // [OPTIONAL] [MIXED] scale (S), 1 where None
    THTensor *save_mean,   // [SAVED] [MIXED] mean of each row (rows)
    THTensor *save_std,    // [SAVED] [MIXED] inverse deviation of each row (rows)
    int64_t dims,          // as in the forward
    double scale);         // [DEFAULT 1] factor of the gradients added to gradWeight and gradBias

/* RMSNormalization: each row of the last `dims` dimensions divided by its root mean square, then scaled by weight, which
   has one number per element of a row.

     output = input / sqrt(mean(input^2) + eps) * weight

   Shapes: input (..., S), where S are `dims` sizes; weight (S); save_std (rows), where rows is the product of the other
   sizes of input: save_std = 1 / sqrt(mean(input^2) + eps), 0 if mean and eps are both 0.
   Errors: ValueError for dims below 1 or above the dimensions of input, sizes that do not fit, a negative eps.
   Source: Zhang and Sennrich 2019. Later than the THNN of 2017. */
TH_API void THNN_(RMSNormalization_updateOutput)(
    THNNState *state,    // library state
    THTensor *input,     // input (..., S)
    THTensor *output,    // [OUT] [LIKE input] result
    THTensor *weight,    // [OPTIONAL] [MIXED] scale (S), 1 where None
    THTensor *save_std,  // [SAVED] [MIXED] inverse root mean square of each row (rows)
    int64_t dims,        // [DEFAULT 1] number of dimensions of a row
    double eps);         // [DEFAULT 1e-5] added to the mean square

/* Gradients of RMSNormalization, each optional; gradWeight accumulates. With g = gradOutput * weight, inv the inverse
   root mean square, and means over each row:
     gradInput = (g - input * inv^2 * mean(g * input)) * inv
     gradWeight += scale * sum(gradOutput * input * inv), over all rows */
TH_API void THNN_(RMSNormalization_backward)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OPTIONAL] [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *gradWeight,  // [OPTIONAL] [MODIFIED] [MIXED] (S)
    THTensor *weight,      // [OPTIONAL] [MIXED] scale (S), 1 where None
    THTensor *save_std,    // [SAVED] [MIXED] inverse root mean square of each row (rows)
    int64_t dims,          // as in the forward
    double scale);         // [DEFAULT 1] factor of the gradients added to gradWeight

/* SpatialCrossMapLRN: local response normalization, each element divided by
   (k + alpha * the mean square of the elements at its position in neighbouring channels)^beta.

     output[n,c,y,x] = input[n,c,y,x] * scales[n,c,y,x]^-beta
     scales[n,c,y,x] = k + alpha / size * sum over c - size / 2 <= j <= c + (size - 1) / 2 of input[n,j,y,x]^2

   where the sum is over the channels that exist, and the halves are rounded down.
   Shapes: input, output and scales (N, C, H, W) or (C, H, W).
   Errors: ValueError for other numbers of dimensions, a size below 1. Source: Torch7 nn.SpatialCrossMapLRN,
   torch.nn.LocalResponseNorm; the original THNN had it for CUDA only. */
TH_API void THNN_(SpatialCrossMapLRN_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, C, H, W) or (C, H, W)
    THTensor *output,  // [OUT] [LIKE input] result
    THTensor *scales,  // [OUT] [SAVED] [LIKE input] k + alpha / size * the sum of squares of each window,
                       // for the backward
    int size,          // channels of a window
    accreal alpha,     // [DEFAULT 0.0001] factor of the mean of the window's squares
    accreal beta,      // [DEFAULT 0.75] exponent
    accreal k);        // [DEFAULT 1] constant term of scales

/* Gradient of SpatialCrossMapLRN w.r.t. its input: gradOutput * scales^-beta
   - 2 * alpha * beta / size * input * the sum of gradOutput * output / scales
   over the windows that the channel is in. */
TH_API void THNN_(SpatialCrossMapLRN_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss w.r.t. output, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss w.r.t. input
    THTensor *scales,      // [SAVED] as the forward left it
    THTensor *output,      // result of the forward
    int size,              // channels of a window
    accreal alpha,         // factor of the mean of the window's squares
    accreal beta,          // exponent
    accreal k);            // constant term of scales
