#ifndef THNN_RUNTIME_CHECK_H
#define THNN_RUNTIME_CHECK_H

#include "runtime/state.h"

/* Checks of a kernel's arguments. Each uses the variable `state` and returns from the function if the condition does
   not hold; `argument` is spelled as in the header:

     THNN_CHECK(input->ndim == 2, input, "expected 2 dimensions (N, C), got %s", THNN_shape(input));
     ->  Linear_updateOutput: input: expected 2 dimensions (N, C), got shape (2, 3, 4)                              */

#define THNN_CHECK_AS(kind, condition, argument, ...) \
  do {                                                \
    if (__builtin_expect(!(condition), 0)) {          \
      THNN_fail(state, kind, #argument, __VA_ARGS__); \
      return;                                         \
    }                                                 \
  } while (0)

#define THNN_CHECK(condition, argument, ...) THNN_CHECK_AS(THNN_VALUE_ERROR, condition, argument, __VA_ARGS__)
#define THNN_CHECK_INDEX(condition, argument, ...) \
  THNN_CHECK_AS(THNN_INDEX_ERROR, condition, argument, __VA_ARGS__)

/* Follows a call of a function that may have failed. */
#define THNN_RETURN_IF_FAILED(state)           \
  do {                                         \
    if ((state)->status > THNN_RESIZE) return; \
  } while (0)

#define THNN_CHECK_SAME_SIZE(a, b) \
  THNN_CHECK(THNNTensor_sameSize(a, b), b, "expected the size of %s, %s, got %s", #a, THNN_shape(a), THNN_shape(b))

#define THNN_CHECK_SAME_COUNT(a, b)                                                                            \
  THNN_CHECK(THNNTensor_numel(a) == THNNTensor_numel(b), b, "expected as many elements as %s, %s, got %s", #a, \
             THNN_shape(a), THNN_shape(b))

#define THNN_CHECK_DIM(tensor, n, sizes) \
  THNN_CHECK((tensor)->ndim == (n), tensor, "expected %d dimensions %s, got %s", n, sizes, THNN_shape(tensor))

static inline void thnn_checkAtLeast(THNNState *state, const char *name, int64_t value, int64_t least)
{
  if (value < least)
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected at least %lld, got %lld", (long long)least,
              (long long)value);
}

/* gradOutput must have the size of the output. */
static inline void thnn_checkGradOutput(THNNState *state, const THNNTensor *gradOutput, int ndim,
                                        const int64_t *size)
{
  if (!THNNTensor_hasSize(gradOutput, ndim, size))
    THNN_fail(state, THNN_VALUE_ERROR, "gradOutput", "expected the size of the output, %s, got %s",
              THNN_shapeOf(ndim, size), THNN_shape(gradOutput));
}

/* An output may not share memory with a tensor that is read. */
#define THNN_CHECK_NO_OVERLAP(output, other)                                                      \
  THNN_CHECK((other) == NULL || (output) == NULL || !THNN_overlaps(output, other, false), output, \
             "must not share memory with %s", #other)

/* An output of an element-wise function may be the same view as a tensor that is read. */
#define THNN_CHECK_SAME_OR_NO_OVERLAP(output, other)                                             \
  THNN_CHECK((other) == NULL || (output) == NULL || !THNN_overlaps(output, other, true), output, \
             "may be the same tensor as %s but must not share memory with it in any other way", #other)

/* Requests the size of an output. If the tensor has another size, the status becomes THNN_RESIZE and
   THNN_RETURN_IF_META returns: the caller resizes and calls again. */
#define THNN_RESIZE_TO(tensor, layout, ...)                                                              \
  do {                                                                                                   \
    const int64_t thnn_size[] = {__VA_ARGS__};                                                           \
    THNN_resize(state, #tensor, tensor, (int)(sizeof thnn_size / sizeof *thnn_size), thnn_size, layout); \
  } while (0)
#define THNN_RESIZE_LIKE(tensor, like) THNN_resizeLike(state, #tensor, tensor, like)

/* A result of one element may have any number of dimensions. */
#define THNN_RESIZE_TO_ONE(output)                                           \
  do {                                                                       \
    if ((output)->ndim == THNN_UNALLOCATED || THNNTensor_numel(output) != 1) \
      THNN_RESIZE_TO(output, THNN_CONTIGUOUS, 1);                            \
    else THNN_RESIZE_LIKE(output, output);                                   \
  } while (0)

/* Fails if several elements of a tensor that is written share an address. Implemented as a request for the size that
   the tensor already has, which checks just this. The tensor may be NULL. */
#define THNN_CHECK_DISTINCT_ADDRESSES(tensor)     \
  do {                                            \
    if (tensor) THNN_RESIZE_LIKE(tensor, tensor); \
  } while (0)

/* For tensors that are updated in place, such as gradients of parameters, which accumulate. gradBias may be NULL. */
#define THNN_CHECK_IN_PLACE_UPDATE(gradWeight, gradBias, input, gradOutput) \
  do {                                                                      \
    THNN_CHECK_DISTINCT_ADDRESSES(gradWeight);                              \
    THNN_CHECK_DISTINCT_ADDRESSES(gradBias);                                \
    THNN_RETURN_IF_FAILED(state);                                           \
    THNN_CHECK_NO_OVERLAP(gradWeight, input);                               \
    THNN_CHECK_NO_OVERLAP(gradWeight, gradOutput);                          \
    THNN_CHECK_NO_OVERLAP(gradBias, input);                                 \
    THNN_CHECK_NO_OVERLAP(gradBias, gradOutput);                            \
    THNN_CHECK_NO_OVERLAP(gradBias, gradWeight);                            \
  } while (0)

/* Declares, above THNN_RETURN_IF_META, that the loops below it also take tensors of float16 and bfloat16, and convert
   from and to float32 themselves (elementwise/map.h, runtime/pieces.h); or that they do so for this tensor, which may be
   NULL. Other functions and tensors get copies in float32 (half.h). */
#define THNN_TAKES_HALF(state) ((state)->takesHalf = true)
#define THNN_TAKES_HALF_OF(state, tensor)                                      \
  do {                                                                         \
    if ((state)->access != NULL && (tensor) != NULL && (tensor)->argument > 0) \
      (state)->access[(tensor)->argument] |= THNN_TAKEN;                       \
  } while (0)
/* Beside THNNAccess: the call converts the elements of the tensor itself. */
#define THNN_TAKEN 4

/* The end of the checks that do not read data. A meta call needs the sizes of outputs only, and a call whose outputs
   had other sizes is repeated with resized outputs. */
#define THNN_RETURN_IF_META(state)                           \
  do {                                                       \
    if ((state)->meta || (state)->status != THNN_OK) return; \
    if ((state)->zeroCount > 0) THNN_fillZeros(state);       \
  } while (0)

#endif
