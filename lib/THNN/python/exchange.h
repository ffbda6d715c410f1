#ifndef THNN_EXCHANGE_H
#define THNN_EXCHANGE_H

#include "../state.h"

/* From torch tensors to THNNTensor views.

   A call gets its tensors as the id of a tuple that the caller keeps alive: torch tensors, None for absent ones,
   Ellipsis for outputs that the caller will allocate once it knows the shape. (One tuple costs a third of what
   eight integers do.) With THNN_CALL_VIEWS it gets the address of an array of THNNTensor pointers instead, that
   Python filled itself; NULL and THNN_ALLOCATE stand for None and Ellipsis. */

#define THNN_ALLOCATE ((const THNNTensor *)1)

enum { THNN_CALL_FLOAT = 0, THNN_CALL_DOUBLE = 1, THNN_CALL_ANY = 2, THNN_CALL_TYPE = 3, THNN_CALL_VIEWS = 4, THNN_CALL_META = 8 };

/* Status of a call whose tensors could not be taken as they are: Python looks at them and says why. */
#define THNN_UNPACK 6

typedef enum GlueKind { GLUE_REAL, GLUE_INDEX, GLUE_INTEGER } GlueKind;

typedef struct GlueArgument {
  unsigned char kind;
  bool optional;
  unsigned char position; /* among the function's arguments, the state being 0 */
} GlueArgument;

/* Fills `views` and `tensors` (NULL for absent ones); returns the element type of the call, or -1 with
   THNN_UNPACK in the state. Called without the GIL, which it takes while it looks at Python objects. */
int thnn_unpack(THNNState *state, int flags, uintptr_t given, int count, const GlueArgument *arguments,
                THNNTensor *views, THNNTensor **tensors);

/* Gives the glue torch's DLPack exchange capsule (0: there is none) and torch.get_num_threads, as ids.
   Returns whether the fast route is open. */
int thnn_open_exchange(uintptr_t capsule, uintptr_t get_num_threads);

const char *thnn_message(void);
/* How many outputs the last call on this thread asks to resize; request i as {argument, like, layout, ndim,
   size...}. */
int thnn_request_count(void);
void thnn_request(int i, int64_t *out);

#endif
