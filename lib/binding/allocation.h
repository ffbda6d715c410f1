#ifndef THNN_BINDING_ALLOCATION_H
#define THNN_BINDING_ALLOCATION_H

#include "THNN/runtime/tensor.h"
#include "binding/python.h"

/* New torch tensors for the results of a call. Small tensors on the CPU and tensors on a GPU come from libtorch's C
   functions, which take half the time of torch.empty; torch's Python functions make all others. After a failure, Python
   repeats the call, allocates, and raises the error (_binding/call.py). */

/* True for a tensor whose class is torch.Tensor or torch.nn.Parameter: for other classes Python allocates, because a
   subclass chooses the class of its results. */
bool allocationIsPlain(PyObject *tensor);

/* True if the tensor is a negative view (the imaginary part of a conjugate), which passes through DLPack without its
   sign. */
bool allocationIsNegative(PyObject *tensor);

/* A tensor of libtorch with the type, device, sizes and strides of `view`, and its address in view->data. NULL if it has to
   come from Python. Needs no GIL. `isDense`: the strides are those of allocationSetStrides(), or must be contiguous. */
void *allocationRaw(THNNTensor *view, bool isDense);

/* The object of such a tensor, which it releases; NULL, without an exception, if that fails. */
PyObject *allocationWrap(void *raw);

/* A tensor with the type, device, sizes and strides of `view`, and its address in view->data. NULL, without an
   exception, if that fails. */
PyObject *allocationNew(THNNTensor *view);

/* A tensor like `tensor`, whose view is `view`, as made by torch.empty_like or torch.zeros_like; `view` becomes the
   view of the new tensor. */
PyObject *allocationLike(PyObject *tensor, THNNTensor *view, bool isZero);

/* Sets the strides of a dense tensor in row-major or channels-last order. */
void allocationSetStrides(THNNTensor *view, bool isChannelsLast);

#endif
