#ifndef THNN_BINDING_CONTEXT_H
#define THNN_BINDING_CONTEXT_H

#include <stdint.h>

/* The context of a call of a function class: which machinery of torch has to see the call. */
typedef enum THNNContext {
  THNN_CONTEXT_PLAIN,     /* none */
  THNN_CONTEXT_GRADIENT,  /* autograd */
  THNN_CONTEXT_TRANSFORM, /* a transform of torch.func, forward mode, torch.jit.trace or a dispatch mode */
  THNN_CONTEXT_CONSTANT   /* autograd, which needs a gradient that the function does not have */
} THNNContext;

/* Sets the names of torch by which the context is read (_torch.py lists them): addresses of C functions, 0 where torch
   lacks one; by their ids the dictionary of the module torch.autograd.forward_ad, and a Python function that returns a
   THNNContext, which is called where an address is 0. False if another number of addresses is given. */
int thnn_connectContext(const uintptr_t *addresses, int count, uintptr_t forwardMode, uintptr_t inPython);

/* Appends two Python functions to a Python list, given by its id. The first one, without arguments, returns the
   THNNContext of the current thread: THNN_CONTEXT_GRADIENT means that autograd is enabled. The second one adds 1 to a
   tensor by thnn_increment(), and returns True if that is possible and the context is not THNN_CONTEXT_TRANSFORM. False if
   there is no memory for them. */
int thnn_makeContextFunctions(uintptr_t list);

/* Appends to a Python list, given by its id, a Python function of the tuple of the arguments of a class, which begins with
   `tensors` tensors; bit i of `constants` is set for a tensor without a gradient. The function returns the THNNContext
   of the call: THNN_CONTEXT_GRADIENT means that a tensor requires a gradient. An object that is no tensor makes it
   THNN_CONTEXT_PLAIN, since the C function reports the error. False if there is no memory for it. */
int thnn_makeContextOfCall(int tensors, int64_t constants, uintptr_t list);

#endif
