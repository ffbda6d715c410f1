#ifndef THNN_GENERIC_POINTWISE_H
#define THNN_GENERIC_POINTWISE_H

#include "elementwise/map.h"
#include "simd/vector_math.h"

#include <assert.h>

/* updateOutput and updateGradInput of a point-wise module or an element-wise criterion from one line of mathematics:

     POINTWISE(module, (arguments), FROM_INPUT, output of x, gradInput of x and g)
     POINTWISE(module, (arguments), FROM_OUTPUT, output of x, gradInput of y and g)
     CRITERION(module, (arguments), loss of x and t, gradInput of x, t and norm)
     COST(module, loss of x, gradInput of x and norm)            a criterion with neither target nor sizeAverage

   The expressions see one element: x of input, y of output, g of gradOutput, t of target. They do not depend on
   tensors, threads or vectors, so that another device can compile the same lines with its own THNN_MAP... and th_...
   norm is 1, or 1 / elements if sizeAverage, times the weight of the element and, on the CPU, the gradient factor of
   the call (CUDA multiplies the gradient by the factor).

   (arguments) lists the arguments after the tensors and sizeAverage, in the order of THNN.h:

     SCALAR(name)    accreal name_; the expressions see it as `name`, of type real. Names that the macros declare (x, y,
     g, t, w, norm, loss, ...) are rejected
     POSITIVE(name)  a SCALAR that must be above 0
     INPLACE         bool inplace
     WEIGHTS         THTensor *weights: a factor for each element, or NULL
     BUFFER(name)    THTensor *name, neither read nor written

   Further arguments of the macros are statements. Statements of POINTWISE precede all other checks of both functions;
   statements of CRITERION stand between the sum, `double loss`, and the store of the result. Where the two functions of
   a module take different arguments or statements, POINTWISE_OUTPUT and POINTWISE_GRAD_INPUT each define one of the
   two. */

#define FROM_INPUT input, x
#define FROM_OUTPUT output, y

/* clang-format off */

#define POINTWISE(module, arguments, source, f, gradient, ...)                                                  \
  POINTWISE_OUTPUT(module, arguments, f, __VA_ARGS__)                                                           \
  POINTWISE_GRAD_INPUT_(module, arguments, source, gradient, __VA_ARGS__)

#define POINTWISE_OUTPUT(module, arguments, f, ...)                                                             \
  void THNN_(module##_updateOutput)(THNNState *state, THTensor *input, THTensor *output                         \
                                    TH_EACH(TH_PARAMETER, arguments))                                          \
  {                                                                                                             \
    TH_EACH(TH_CHECK, arguments)                                                                                \
    __VA_ARGS__;                                                                                                \
    if (inplace) {                                                                                              \
      THNN_CHECK_DISTINCT_ADDRESSES(input);                                                                     \
    } else {                                                                                                    \
      THNN_RESIZE_LIKE(output, input);                                                                          \
      THNN_CHECK_SAME_OR_NO_OVERLAP(output, input);                                                             \
    }                                                                                                           \
    THNN_TAKES_HALF(state);                                                                                     \
    THNN_RETURN_IF_META(state);                                                                                 \
    TH_EACH(TH_CONSTANT, arguments)                                                                            \
    THNN_MAP2(result, inplace ? input : output, x, input, f);                                                   \
  }

#define POINTWISE_GRAD_INPUT(module, arguments, source, gradient, ...)                                          \
  POINTWISE_GRAD_INPUT_(module, arguments, source, gradient, __VA_ARGS__)
#define POINTWISE_GRAD_INPUT_(module, arguments, source, element, gradient, ...)                                \
  void THNN_(module##_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,                 \
                                       THTensor *gradInput TH_PARAMETER_##source                                \
                                       TH_EACH(TH_PARAMETER, arguments))                                       \
  {                                                                                                             \
    (void)input;                                                                                                \
    TH_EACH(TH_CHECK, arguments)                                                                                \
    __VA_ARGS__;                                                                                                \
    THNN_CHECK_SAME_COUNT(source, gradOutput);                                                                  \
    if (inplace) {                                                                                              \
      THNN_CHECK_DISTINCT_ADDRESSES(gradOutput);                                                                \
      THNN_CHECK_SAME_OR_NO_OVERLAP(gradOutput, source);                                                        \
    } else {                                                                                                    \
      THNN_RESIZE_LIKE(gradInput, source);                                                                      \
      THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, source);                                                         \
      THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, gradOutput);                                                     \
    }                                                                                                           \
    THNN_TAKES_HALF(state);                                                                                     \
    THNN_RETURN_IF_META(state);                                                                                 \
    TH_EACH(TH_CONSTANT, arguments)                                                                            \
    THNN_MAP3(result, inplace ? gradOutput : gradInput, element, source, g, gradOutput, gradient);              \
  }

#define CRITERION(module, arguments, f, gradient, ...)                                                          \
  void THNN_(module##_updateOutput)(THNNState *state, THTensor *input, THTensor *target, THTensor *output,      \
                                    bool sizeAverage TH_EACH(TH_PARAMETER, arguments))                         \
  {                                                                                                             \
    CRITERION_OUTPUT_(target, arguments, f, __VA_ARGS__)                                                        \
  }                                                                                                             \
  void THNN_(module##_updateGradInput)(THNNState *state, THTensor *input, THTensor *target,                     \
                                       THTensor *gradInput, bool sizeAverage TH_EACH(TH_PARAMETER, arguments)) \
  {                                                                                                             \
    CRITERION_GRAD_INPUT_(target, arguments, gradient)                                                          \
  }

#define COST(module, f, gradient)                                                                               \
  void THNN_(module##_updateOutput)(THNNState *state, THTensor *input, THTensor *output)                        \
  {                                                                                                             \
    CRITERION_OUTPUT_(input, (), ((void)t, f), )                                                                \
  }                                                                                                             \
  void THNN_(module##_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,                 \
                                       THTensor *gradInput)                                                     \
  {                                                                                                             \
    (void)gradOutput;                                                                                           \
    CRITERION_GRAD_INPUT_(input, (), ((void)t, gradient))                                                       \
  }

#define CRITERION_OUTPUT_(target, arguments, f, ...)                                                            \
  TH_EACH(TH_CHECK, arguments)                                                                                  \
  THNN_CHECK_SAME_COUNT(input, target);                                                                         \
  if (weights) THNN_CHECK_SAME_COUNT(input, weights);                                                           \
  THNN_RESIZE_TO_ONE(output);                                                                                   \
  THNN_CHECK_NO_OVERLAP(output, input);                                                                         \
  THNN_CHECK_NO_OVERLAP(output, target);                                                                        \
  THNN_CHECK_NO_OVERLAP(output, weights);                                                                       \
  THNN_TAKES_HALF(state);                                                                                       \
  THNN_RETURN_IF_META(state);                                                                                   \
  TH_EACH(TH_CONSTANT, arguments)                                                                              \
  THNN_STORE_LOSS(target, f, __VA_ARGS__)

/* Sums the loss of each element, and stores the sum, or the mean, after the statements. */
#ifndef THNN_STORE_LOSS
#define THNN_STORE_LOSS(target, f, ...)                                                                         \
  double loss;                                                                                                  \
  if (weights) THNN_SUM3(loss, x, input, t, target, w, weights, w * (f));                                       \
  else THNN_SUM2(loss, x, input, t, target, f);                                                                 \
  __VA_ARGS__;                                                                                                  \
  thnn_storeNumber(output, sizeAverage ? loss / (double)THNNTensor_numel(input) : loss);
#endif

#define CRITERION_GRAD_INPUT_(target, arguments, gradient)                                                      \
  TH_EACH(TH_CHECK, arguments)                                                                                  \
  THNN_CHECK_SAME_COUNT(input, target);                                                                         \
  if (weights) THNN_CHECK_SAME_COUNT(input, weights);                                                           \
  THNN_RESIZE_LIKE(gradInput, input);                                                                           \
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, input);                                                              \
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, target);                                                             \
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, weights);                                                            \
  THNN_TAKES_HALF(state);                                                                                       \
  THNN_RETURN_IF_META(state);                                                                                   \
  TH_EACH(TH_CONSTANT, arguments)                                                                              \
  THNN_STORE_GRADIENT(target, gradient)

/* Stores the gradient of each element, times the gradient factor. */
#ifndef THNN_STORE_GRADIENT
#define THNN_STORE_GRADIENT(target, gradient)                                                                   \
  const real norm_ = (real)(THNNState_gradientFactor(state) /                                                 \
                            (sizeAverage ? (double)THNNTensor_numel(input) : 1.0));                              \
  if (weights) {                                                                                                \
    THNN_MAP4(result, gradInput, x, input, t, target, w, weights,                                               \
              ({ const real norm = norm_ * w; (real)(gradient); }));                                            \
  } else {                                                                                                      \
    const real norm = norm_;                                                                                    \
    THNN_MAP3(result, gradInput, x, input, t, target, gradient);                                                \
  }
#endif

/* --- arguments -------------------------------------------------------------------------------------------- */

/* Defaults of arguments that a function lacks; a parameter of the same name hides its default. */
enum { inplace = false, sizeAverage = false };
static THNNTensor *const weights __attribute__((unused)) = NULL;

/* The parameter of the function for each of (arguments). */
#define TH_PARAMETER_
#define TH_PARAMETER_SCALAR(name) , accreal name##_
#define TH_PARAMETER_POSITIVE(name) , accreal name##_
#define TH_PARAMETER_INPLACE , bool inplace
#define TH_PARAMETER_WEIGHTS , THTensor *weights
#define TH_PARAMETER_BUFFER(name) , THTensor *name __attribute__((unused))
#define TH_PARAMETER_input
#define TH_PARAMETER_output , THTensor *output

/* The constant that the expressions see for each of (arguments). */
#define TH_CONSTANT_
#define TH_CONSTANT_SCALAR(name)                                                                                \
  static_assert(TH_IS_FREE(name), "SCALAR(" #name "): the macro declares this name itself, choose another");   \
  const real name __attribute__((unused)) = (real)name##_;
#define TH_CONSTANT_POSITIVE(name) TH_CONSTANT_SCALAR(name)
#define TH_CONSTANT_INPLACE
#define TH_CONSTANT_WEIGHTS
#define TH_CONSTANT_BUFFER(name)

/* The check of each of (arguments). */
#define TH_CHECK_
#define TH_CHECK_SCALAR(name)
#define TH_CHECK_POSITIVE(name) THNN_CHECK(name##_ > 0, name, "expected above 0, got %g", name##_);
#define TH_CHECK_INPLACE
#define TH_CHECK_WEIGHTS
#define TH_CHECK_BUFFER(name)

/* True unless an inner declaration of the macros would hide a scalar of this name, or a scalar of this
   name would hide a default above. */
#define TH_IS_FREE(name)                                                                                        \
  (TH_DIFFERS(name, "x") && TH_DIFFERS(name, "y") && TH_DIFFERS(name, "g") && TH_DIFFERS(name, "t") &&          \
   TH_DIFFERS(name, "w") && TH_DIFFERS(name, "norm") && TH_DIFFERS(name, "loss") &&                             \
   TH_DIFFERS(name, "inplace") && TH_DIFFERS(name, "sizeAverage") &&                                            \
   TH_DIFFERS(name, "weights") && TH_DIFFERS(name, "x_data") && TH_DIFFERS(name, "y_data") &&                   \
   TH_DIFFERS(name, "g_data") && TH_DIFFERS(name, "t_data") && TH_DIFFERS(name, "w_data"))
#define TH_DIFFERS(name, other) (__builtin_strcmp(#name, other) != 0)

/* TH_EACH(prefix, (A, B(b))) is prefix_A prefix_B(b), for up to three arguments. */
#define TH_EACH(prefix, arguments) TH_EACH_(prefix, TH_UNWRAP arguments)
#define TH_UNWRAP(...) __VA_ARGS__
#define TH_EACH_(prefix, ...) TH_FOURTH(__VA_ARGS__, TH_EACH_3, TH_EACH_2, TH_EACH_1, )(prefix, __VA_ARGS__)
#define TH_FOURTH(a, b, c, d, ...) d
#define TH_EACH_1(prefix, a) prefix##_##a
#define TH_EACH_2(prefix, a, b) prefix##_##a prefix##_##b
#define TH_EACH_3(prefix, a, b, c) prefix##_##a prefix##_##b prefix##_##c

/* clang-format on */
#endif
