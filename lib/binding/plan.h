#ifndef THNN_BINDING_PLAN_H
#define THNN_BINDING_PLAN_H

#include <stdint.h>

/* The calls of a function class: compute, forward and backward of torch.autograd.Function, from a plan that Python made of
   the header (thnn/_plan.py). Positions count the arguments of `apply`: tensors, then scalars, then options of Python. */

#define THNN_MAX_KEPT 64

/* A tensor that forward saves: an argument, its `data` (an argument plus THNN_KEPT_DATA: the caller may change its elements
   before the backward), or a result (its number plus THNN_KEPT_RESULT). */
enum { THNN_KEPT_DATA = 1024, THNN_KEPT_RESULT = 2048 };

typedef struct THNNClassPlan {
  int32_t tensors, scalars, arguments;
  int32_t savesByAttribute;     /* true where `to_save` of the context is an attribute (_torch.py) */
  int32_t inplaceAt, indicesAt; /* positions of the flags `inplace` and `return_indices`; -1: none */
  int32_t output, indices;      /* the numbers of these results of updateOutput; indices -1: none */
  int32_t keptCount;
  int16_t kept[THNN_MAX_KEPT];
  /* If there are any, the output is saved in place of the first tensor where the scalars at these positions are 0. */
  int32_t zeroCount;
  int16_t zeros[THNN_MAX_KEPT];
  int32_t backwardCount;
  /* The results of all backward functions, in order: the argument whose gradient each is, and the number of its
     function. */
  int32_t gradientCount;
  int16_t gradients[THNN_MAX_KEPT], gradientCall[THNN_MAX_KEPT];
} THNNClassPlan;

/* Appends compute, forward and backward to a Python list, given by its id. `objects` is the id of a tuple. Its first two are
   functions of thnn_bind(): updateOutput of the arguments, and in place (or None). Five functions follow. `normalize` takes
   the arguments of a call whose flags are not all True or False, and returns them converted. A call in place passes the
   arguments to `beforeCompute` and `afterCompute`, or `beforeForward`. `differentiate` computes the gradients where
   torch has to see the backward: it takes the THNNContext, needs_input_grad and (gradOutput, *saved, *scalars). The backward
   functions of thnn_bind() follow, which take the last tuple. False if there is no memory for the functions. */
int thnn_bindClass(const THNNClassPlan *plan, uintptr_t objects, uintptr_t list);

/* Appends a method for subclasses of a class, given by its id, to a list: it calls the backward that is their attribute
   `planned_backward` with itself and its arguments. */
int thnn_makeBackwardMethod(uintptr_t base, uintptr_t list);

#endif
