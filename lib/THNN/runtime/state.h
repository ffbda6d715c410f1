#ifndef THNN_RUNTIME_STATE_H
#define THNN_RUNTIME_STATE_H

#include "tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The state of one call: where it runs, and what it reports to its caller. With NULL for the state a function uses the
   calling thread's own, which THNN_lastState() returns. */

typedef enum THNNStatus {
  THNN_OK,
  THNN_RESIZE, /* nothing was computed: resize the outputs and buffers named in `requests`, then call again */
  THNN_TYPE_ERROR,
  THNN_VALUE_ERROR,
  THNN_INDEX_ERROR,
  THNN_NOT_IMPLEMENTED,
  THNN_RUNTIME_ERROR,
  THNN_UNPACK,  /* of the Python binding: Python must convert the arguments, then call again */
  THNN_DRAW,    /* nothing was computed: draw the seed of the generator (generator.h), then call again */
  THNN_ALLOCATE /* of the Python binding: Python must allocate the results, then call again */
} THNNStatus;

/* The access of a call to the elements of a tensor that it requests. */
typedef enum THNNAccess { THNN_READS = 1, THNN_WRITES = 2 } THNNAccess;

typedef enum THNNLayout { THNN_CONTIGUOUS, THNN_CHANNELS_LAST } THNNLayout;

/* An output or a buffer that the caller must resize. */
typedef struct THNNRequest {
  int32_t argument; /* its position */
  int32_t like;     /* position of the argument whose size and layout it takes, or -1 */
  int32_t layout;   /* THNNLayout */
  int32_t ndim;
  int64_t size[THNN_MAX_DIM];
} THNNRequest;

#define THNN_MAX_REQUESTS 16
#define THNN_MAX_ZEROS 4

typedef struct THNNState {
  const char *function; /* the name that errors begin with */
  void *stream;         /* the device's stream that kernels are launched on; NULL on the CPU */
  int32_t device;       /* THNNDevice */
  int32_t deviceIndex;
  bool meta; /* check and request shapes, compute nothing */
  /* The factor of a criterion's gradInput: a number of the call's element type, on its device, or NULL for 1. */
  const void *gradientFactor;
  int32_t status; /* THNNStatus */
  int32_t requestCount;
  THNNRequest requests[THNN_MAX_REQUESTS];
  /* New gradients of parameters, to which the call adds: dense, not initialized yet. THNN_RETURN_IF_META, or on a
     device the first launch, sets them to 0, except those that the function overwrites (THNN_overwrites). */
  int32_t zeroCount;
  const THNNTensor *zeros[THNN_MAX_ZEROS];
  /* A function of the caller, or NULL: returns temporary memory on the device for the rest of the call, or NULL. The
     CPU's functions do not call it. */
  void *(*allocate)(struct THNNState *state, int64_t bytes);
  void *allocations; /* the caller's record of this memory */
  /* A function of the caller, or NULL: allocates a tensor that the function requests, so that the caller need not repeat
     the call; false if it cannot. */
  bool (*allocateResult)(struct THNNState *state, const THNNRequest *request);
  void *caller; /* for the caller's functions */
  /* For a call with tensors of a half type (half.h). By the positions of arguments, the THNNAccess of tensors for which the
     function requests a size, or NULL; and whether it reads and writes elements of a half type itself. */
  uint8_t *access;
  bool takesHalf;
  char message[1024];
} THNNState;

/* The calling thread's own state, for calls with NULL; it reports on the last of these calls on this thread. */
THNNState *THNN_lastState(void);

/* Clears the report of the previous call. */
void THNNState_begin(THNNState *state, const char *function);

/* Records a failure; only the first failure of a call is kept. */
void THNN_fail(THNNState *state, THNNStatus status, const char *argument, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "shape (2, 3, 5, 5)", for messages. A thread has eight of these texts; the ninth call overwrites the first. */
const char *THNN_shape(const THNNTensor *tensor);
const char *THNN_shapeOf(int ndim, const int64_t *size);

/* Requests a size unless the tensor has it; returns the tensor. Fails if a tensor of that size has several elements at
   one address. A NULL tensor is ignored. */
THNNTensor *THNN_resize(THNNState *state, const char *name, THNNTensor *tensor, int ndim, const int64_t *size,
                        THNNLayout layout);
THNNTensor *THNN_resizeLike(THNNState *state, const char *name, THNNTensor *tensor, const THNNTensor *like);

/* True if the tensor is a new gradient, which begins as 0; the function then writes all of it instead of adding to it.
   To be called above THNN_RETURN_IF_META. */
bool THNN_overwrites(THNNState *state, const THNNTensor *tensor);
/* Sets memory to 0, distributed over threads. */
void thnn_clear(void *data, int64_t bytes);
/* Sets the other new gradients to 0. */
void THNN_fillZeros(THNNState *state);

#ifdef __cplusplus
}
#endif

#endif
