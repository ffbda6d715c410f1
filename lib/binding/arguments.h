#ifndef THNN_BINDING_ARGUMENTS_H
#define THNN_BINDING_ARGUMENTS_H

#include "binding/call.h"

/* The arguments of a C function, from Python objects. False and -1 mean that Python has to repeat the call: it
   converts the arguments, or raises the error that names the wrong one. */

/* Sets, by their ids, torch.get_num_threads, the marker of a tensor to allocate, and torch.Generator. */
void argumentsConnect(uintptr_t getNumThreads, uintptr_t allocate, uintptr_t generator);

/* Fills `views`, one per tensor, and `values`, one per argument. `arePlain` tells whether all tensors are plain (allocation.h). */
bool argumentsUnpack(const THNNFunction *function, int flags, PyObject *const *objects, THNNTensor *views,
                     THNNValue *values, bool *arePlain);

/* The element type of the tensors of a call, or -1 if types or devices differ or no tensor tells the type. A function
   without letter R has type float if its tensors of letter M are float or absent. Views of meta tensors have the CPU as
   their device. */
int argumentsType(const THNNFunction *function, int flags, const THNNValue *values, THNNState *state);

/* Sets the gradient factor, with THNN_CALL_SCALED or THNN_CALL_MULTIPLIED the object after the arguments: a tensor with
   one number, of the type and on the device of the call. A kernel of the CPU may leave elements of 0 out of the
   multiplication, so there the number must be finite. */
bool argumentsSetFactor(const BoundCall *bound, int type, PyObject *const *objects, THNNState *state);

#endif
