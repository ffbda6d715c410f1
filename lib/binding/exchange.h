#ifndef THNN_BINDING_EXCHANGE_H
#define THNN_BINDING_EXCHANGE_H

#include "THNN/runtime/state.h"
#include "binding/python.h"

/* Tensors, temporary memory and streams of torch, through DLPack. */

/* Selects the route by which tensors are passed to C (the enumeration in binding.h), and returns it. */
int exchangeConnect(uintptr_t api, uintptr_t toDlpack);

/* Fills a view of a tensor; false, without an exception, if that fails. Calling is_neg() costs more than the view itself,
   hence `mayBeNegative` is set only for tensors that may be negative views: imaginary parts of complex tensors, which have
   gaps between elements. */
bool exchangeViewOf(PyObject *object, THNNTensor *view, bool *mayBeNegative);

/* THNNState.allocate: memory from torch's allocator, without Python. */
void *exchangeAllocate(THNNState *state, int64_t bytes);

/* Frees this memory. torch's allocator gives it to a later call on the same stream only, hence kernels may still use it. */
void exchangeFree(THNNState *state);

/* Sets torch's current stream on the device of the call; false if it is not known. */
bool exchangeSetStream(THNNState *state);

#endif
