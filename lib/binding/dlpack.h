#ifndef THNN_BINDING_DLPACK_H
#define THNN_BINDING_DLPACK_H

#include "runtime/state.h"

/* From Python objects to what the C functions take.

   A call gets all its arguments but the state as the id of one tuple that the caller keeps alive; looking into it
   here costs a third of what cffi's conversions do, and refuses more. Tensors are torch tensors, None for absent
   ones, or one object that Python reserves for outputs that it will allocate once it knows the shape. With THNN_CALL_VIEWS they
   are the addresses of THNNTensor views that Python filled itself. Integers are ints, floating scalars floats or
   ints, flags True or False: anything else is left to Python (THNN_UNPACK), which converts or refuses it. */

enum {
  THNN_CALL_FLOAT = 0,
  THNN_CALL_DOUBLE = 1,
  THNN_CALL_ANY = 2,
  THNN_CALL_TYPE = 3,
  THNN_CALL_VIEWS = 4,
  THNN_CALL_META = 8
};

/* Status of a call whose tensors could not be taken as they are: Python looks at them and says why. */
#define THNN_UNPACK 6

typedef enum GlueKind {
  GLUE_REAL, /* THTensor */
  GLUE_ACCREAL,
  GLUE_INDEX,
  GLUE_INTEGER,
  GLUE_INT,
  GLUE_INT64,
  GLUE_BOOL,
  GLUE_DOUBLE
} GlueKind;

typedef struct GlueArgument {
  unsigned char kind;
  bool optional;
  unsigned char position; /* among the function's arguments, the state being 0 */
} GlueArgument;

typedef union GlueValue {
  THNNTensor *tensor; /* NULL for an absent one */
  int64_t integer;
  double number;
} GlueValue;

/* Fills `values`, and `views` for the tensors among them; returns the element type of the call, or -1 with
   THNN_UNPACK in the state. Called without the GIL, which it takes while it looks at Python objects. */
int thnn_unpack(THNNState *state, int flags, uintptr_t tuple, int count, const GlueArgument *arguments,
                THNNTensor *views, GlueValue *values);

/* Gives the glue, as ids, torch's DLPack exchange capsule (0: there is none), torch.get_num_threads, and the object
   that stands for an output to allocate. Returns whether the fast route is open. */
int thnn_open_exchange(uintptr_t capsule, uintptr_t get_num_threads, uintptr_t allocate);

/* Adds 1 to the int64 tensor of one element whose id this is; returns whether it is one that has memory here. */
int thnn_increment(uintptr_t tensor);

const char *thnn_message(void);
/* How many outputs the last call on this thread asks to resize; request i as {argument, like, layout, ndim,
   size...}. */
int thnn_request_count(void);
void thnn_request(int i, int64_t *out);

#endif
