#ifndef THNN_RUNTIME_STATE_H
#define THNN_RUNTIME_STATE_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What one call has to say to its caller. NULL may be passed for the state: then the calling thread's own
   state is used, and THNN_lastState() returns it. */

typedef enum THNNStatus {
  THNN_OK,
  THNN_RESIZE, /* nothing was computed: resize the outputs named in `requests`, then call again */
  THNN_TYPE_ERROR,
  THNN_VALUE_ERROR,
  THNN_INDEX_ERROR,
  THNN_NOT_IMPLEMENTED
} THNNStatus;

typedef enum THNNLayout { THNN_CONTIGUOUS, THNN_CHANNELS_LAST } THNNLayout;

typedef struct THNNRequest {
  int32_t argument; /* which output */
  int32_t like;     /* take size and layout from this argument, or -1 */
  int32_t layout;
  int32_t ndim;
  int64_t size[THNN_MAX_DIM];
} THNNRequest;

#define THNN_MAX_REQUESTS 16

typedef struct THNNState {
  const char *function; /* the name that errors begin with */
  bool meta;            /* check, ask for shapes, and compute nothing */
  int32_t status;       /* THNNStatus */
  int32_t request_count;
  THNNRequest requests[THNN_MAX_REQUESTS];
  char message[1024];
} THNNState;

THNNState *THNN_lastState(void);
void THNNState_begin(THNNState *state, const char *function);

/* The first failure of a call counts; later ones are ignored. */
void THNN_fail(THNNState *state, THNNStatus status, const char *argument, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "4 (2, 3, 5, 5)": dimensions and sizes, for messages; valid until the eighth next call on this thread. */
const char *THNN_shape(const THNNTensor *tensor);
const char *THNN_shapeOf(int ndim, const int64_t *size);

/* Asks for a size unless the tensor has it; returns the tensor. Fails when a tensor that has the size maps
   several of its elements to one address. A NULL tensor is left alone. */
THNNTensor *THNN_resize(THNNState *state, const char *name, THNNTensor *tensor, int ndim, const int64_t *size,
                        THNNLayout layout);
THNNTensor *THNN_resizeLike(THNNState *state, const char *name, THNNTensor *tensor, const THNNTensor *like);

/* True when an output and another tensor share memory in a way that would spoil the result. Memory that is
   seen in just the same way by both is fine if `same_view_allowed`. */
bool THNN_overlaps(const THNNTensor *output, const THNNTensor *other, bool same_view_allowed);
/* The addresses from the first byte to behind the last one; only tensors whose ranges meet can overlap. */
void THNNTensor_byteRange(const THNNTensor *t, uintptr_t *first, uintptr_t *end);

#ifdef __cplusplus
}
#endif

#endif
