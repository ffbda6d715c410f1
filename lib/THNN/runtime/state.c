#include "runtime/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/integer.h"
#include "runtime/parallel.h"

THNNState *THNN_lastState(void)
{
  static _Thread_local THNNState state;
  return &state;
}

void THNNState_begin(THNNState *state, const char *function)
{
  state->function = function;
  state->status = THNN_OK;
  state->requestCount = 0;
  state->message[0] = 0;
}

bool THNN_overwrites(THNNState *state, const THNNTensor *tensor)
{
  if (state->meta || state->status != THNN_OK) return false;
  for (int32_t i = 0; i < state->zeroCount; i++) {
    if (state->zeros[i] != tensor) continue;
    state->zeros[i] = state->zeros[--state->zeroCount];
    return true;
  }
  return false;
}

/* Bytes that one task of thnn_clear sets to 0. */
#define CLEAR_BYTES ((int64_t)1 << 18)

void thnn_clear(void *data, int64_t bytes)
{
  THNN_PARALLEL_FOR(i, ceilDivide(bytes, CLEAR_BYTES), bytes) {
    const int64_t first = i * CLEAR_BYTES;
    memset((char *)data + first, 0, (size_t)MIN(CLEAR_BYTES, bytes - first));
  }
}

void THNN_fillZeros(THNNState *state)
{
  for (; state->zeroCount > 0; state->zeroCount--) {
    const THNNTensor *t = state->zeros[state->zeroCount - 1];
    thnn_clear(t->data, THNNTensor_numel(t) * (int64_t)THNNTensor_elementSize(t));
  }
}

void THNN_fail(THNNState *state, THNNStatus status, const char *argument, const char *format, ...)
{
  if (state->status > THNN_RESIZE) return;
  state->status = status;
  int n = snprintf(state->message, sizeof state->message, "%s: %s%s", state->function ? state->function : "THNN",
                   argument ? argument : "", argument ? ": " : "");
  if (n < 0 || (size_t)n >= sizeof state->message) return;
  va_list rest;
  va_start(rest, format);
  vsnprintf(state->message + n, sizeof state->message - (size_t)n, format, rest);
  va_end(rest);
}

const char *THNN_shapeOf(int ndim, const int64_t *size)
{
  static _Thread_local char text[8][256];
  static _Thread_local unsigned next;
  char *s = text[next++ % 8];
  size_t room = sizeof text[0], n = (size_t)snprintf(s, room, "shape (");
  for (int d = 0; d < ndim && n < room; d++)
    n += (size_t)snprintf(s + n, room - n, "%s%lld", d ? ", " : "", (long long)size[d]);
  if (n < room) snprintf(s + n, room - n, ")");
  return s;
}

const char *THNN_shape(const THNNTensor *tensor) { return THNN_shapeOf(tensor->ndim, tensor->size); }

static THNNTensor *request(THNNState *state, const char *name, THNNTensor *tensor, int ndim, const int64_t *size,
                           THNNLayout layout, int like)
{
  if (tensor == NULL || state->status > THNN_RESIZE) return tensor;
  if (state->access != NULL && tensor->argument > 0)
    state->access[tensor->argument] |= like == tensor->argument ? THNN_READS | THNN_WRITES : THNN_WRITES;
  if (THNNTensor_hasSize(tensor, ndim, size)) {
    if (THNNTensor_overlapsItself(tensor))
      THNN_fail(state, THNN_VALUE_ERROR, name, "is written, but several of its elements share one address");
    return tensor;
  }
  if (state->requestCount == THNN_MAX_REQUESTS) {
    THNN_fail(state, THNN_VALUE_ERROR, name, "more than %d outputs to resize", THNN_MAX_REQUESTS);
    return tensor;
  }
  THNNRequest *r = &state->requests[state->requestCount];
  r->argument = tensor->argument;
  r->like = like;
  r->layout = layout;
  r->ndim = ndim;
  memcpy(r->size, size, sizeof(int64_t) * (size_t)ndim);
  if (!state->meta && tensor->ndim == THNN_UNALLOCATED && state->allocateResult != NULL &&
      state->allocateResult(state, r))
    return tensor;
  state->requestCount++;
  state->status = THNN_RESIZE;
  return tensor;
}

THNNTensor *THNN_resize(THNNState *state, const char *name, THNNTensor *tensor, int ndim, const int64_t *size,
                        THNNLayout layout)
{
  return request(state, name, tensor, ndim, size, layout, -1);
}

THNNTensor *THNN_resizeLike(THNNState *state, const char *name, THNNTensor *tensor, const THNNTensor *like)
{
  THNNLayout layout = THNNTensor_isChannelsLast(like) ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS;
  return request(state, name, tensor, like->ndim, like->size, layout, like->argument);
}
