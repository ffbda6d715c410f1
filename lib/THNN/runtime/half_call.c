#include <stdlib.h>
#include <string.h>

#include "runtime/half.h"
#include "runtime/pieces.h"

/* A tensor of a half type, and its copy in float32. */
typedef struct Copy {
  const THNNTensor *tensor;
  THNNTensor view;
  int64_t offset; /* in the memory of all copies, in elements */
  uint8_t access; /* of the call to the tensor (THNNAccess) */
} Copy;

/* Elements to which copies are aligned: 64 bytes. */
enum { ALIGNMENT = 16 };

static bool isCopied(const THNNTensor *tensor)
{
  return tensor != NULL && tensor->ndim != THNN_UNALLOCATED && thnn_isHalf(tensor->type);
}

/* The copies of a call: one per tensor, also if the tensor is several arguments. */
typedef struct Copies {
  int count;
  int64_t elements;
  Copy *all;
} Copies;

/* The copy of a tensor, which the function gets in place of it. */
static Copy *copyOf(const Copies *copies, const THNNTensor *tensor)
{
  for (int i = 0; i < copies->count; i++)
    if (THNNTensor_sameView(copies->all[i].tensor, tensor)) return &copies->all[i];
  return NULL;
}

static void addCopy(Copies *copies, const THNNTensor *tensor, uint8_t access)
{
  Copy *copy = copyOf(copies, tensor);
  if (copy == NULL) {
    copy = &copies->all[copies->count++];
    copy->tensor = tensor;
    copy->access = 0;
    copy->offset = copies->elements;
    copies->elements += (thnn_floatView(copy->tensor, &copy->view) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  copy->access |= access;
}

/* The mark of the tensor at `letter` of a function's table entry ('?', '*', or ' ' without one), or 0 for a number;
   *letter becomes the letter of the next argument. */
static char nextTensor(const char **letter)
{
  const bool isTensor = **letter < 'a';
  ++*letter;
  const char mark = **letter == '?' || **letter == '*' ? *(*letter)++ : ' ';
  return isTensor ? mark : 0;
}

/* Calls the function with copies of the tensors that it does not take as they are. */
static void computeWithCopies(THNNState *state, const THNNValue *values, const THNNFunction *function,
                              THNNCall compute, const uint8_t *access)
{
  Copy all[function->tensorCount];
  Copies copies = {0, 0, all};
  const char *letter = function->arguments;
  for (int i = 0; i < function->argumentCount; i++) {
    const char mark = nextTensor(&letter);
    if (mark == 0 || !isCopied(values[i].tensor) || access[i + 1] & THNN_TAKEN) continue;
    /* A buffer has no value before or after the call. */
    addCopy(&copies, values[i].tensor, mark == '*' ? 0 : access[i + 1] ? access[i + 1] : THNN_READS);
  }

  float *const memory = aligned_alloc(64, sizeof(float) * (size_t)(copies.elements + ALIGNMENT));
  if (memory == NULL) {
    THNN_fail(state, THNN_RUNTIME_ERROR, NULL, "no memory for copies in float32, of %lld elements",
              (long long)copies.elements);
    return;
  }
  for (int i = 0; i < copies.count; i++) copies.all[i].view.data = memory + copies.all[i].offset;

  THNNTensor views[function->tensorCount];
  THNNValue given[function->argumentCount + 1];
  memcpy(given, values, sizeof *values * (size_t)function->argumentCount);
  letter = function->arguments;
  for (int i = 0, k = 0; i < function->argumentCount; i++) {
    const THNNTensor *tensor = values[i].tensor;
    if (!nextTensor(&letter) || !isCopied(tensor) || access[i + 1] & THNN_TAKEN) continue;
    Copy *copy = copyOf(&copies, tensor);
    views[k] = copy->view;
    views[k].argument = tensor->argument;
    given[i].tensor = &views[k++];
    for (int z = 0; z < state->zeroCount; z++) {
      if (state->zeros[z] != tensor) continue;
      state->zeros[z] = given[i].tensor;
      copy->access &= ~THNN_READS; /* not initialized yet */
    }
  }
  for (int i = 0; i < copies.count; i++)
    if (copies.all[i].access & THNN_READS) thnn_floatCopy(copies.all[i].tensor, &copies.all[i].view, false);
  compute(state, given);
  for (int i = 0; i < copies.count && state->status == THNN_OK; i++)
    if (copies.all[i].access & THNN_WRITES) thnn_floatCopy(copies.all[i].tensor, &copies.all[i].view, true);
  free(memory);
}

/* The half type among the tensors of a call; THNN_TYPE_OTHER if there is none. */
static int32_t halfType(const THNNValue *values, const THNNFunction *function)
{
  const char *letter = function->arguments;
  for (int i = 0; i < function->argumentCount; i++)
    if (nextTensor(&letter) && isCopied(values[i].tensor)) return values[i].tensor->type;
  return THNN_TYPE_OTHER;
}

void THNN_computeHalf(THNNState *state, const THNNValue *values, const THNNFunction *function, THNNCall compute)
{
  const int32_t type = halfType(values, function);
  if (state->meta || type == THNN_TYPE_OTHER) {
    compute(state, values);
    return;
  }
  const void *const givenFactor = state->gradientFactor;
  float factor;
  if (givenFactor != NULL) {
    thnn_widen(&factor, givenFactor, type, 1);
    state->gradientFactor = &factor;
  }
  uint8_t access[function->argumentCount + 1];
  memset(access, 0, sizeof access);
  state->access = access;
  state->takesHalf = false;
  state->meta = true;
  compute(state, values);
  state->meta = false;
  state->access = NULL;
  if (state->status == THNN_OK && state->takesHalf) compute(state, values);
  else if (state->status == THNN_OK) computeWithCopies(state, values, function, compute, access);
  state->gradientFactor = givenFactor;
}
