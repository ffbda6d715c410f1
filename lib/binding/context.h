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

/* The context of this thread, THNN_CONTEXT_GRADIENT if autograd is enabled; -1 with an exception set. */
int contextOfThread(void);

/* Sets the names of torch by which the context is read (_torch.py lists them): addresses of C functions, and the id of
   the dictionary of torch.autograd.forward_ad. Where an address is 0, the Python function with the id `inPython`
   returns the context. False if another number of addresses is given. */
int thnn_connectContext(const uintptr_t *addresses, int count, uintptr_t forwardMode, uintptr_t inPython);

/* Appends two Python functions to a Python list, given by its id. The first one returns the THNNContext of the thread:
   THNN_CONTEXT_GRADIENT if autograd is enabled. The second one calls thnn_increment() for a tensor, and returns its
   result; False in THNN_CONTEXT_TRANSFORM. False if there is no memory for them. */
int thnn_makeContextFunctions(uintptr_t list);

/* Appends to a Python list, given by its id, a Python function that returns the THNNContext of a call. Its argument is
   the tuple of the arguments of a class, the first `tensors` of them tensors; bit i of `constants` is set for a tensor
   without a gradient. False if there is no memory for it. */
int thnn_makeContextOfCall(int tensors, int64_t constants, uintptr_t list);

#endif
