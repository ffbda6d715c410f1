#include "binding/results.h"

#include <string.h>

#include "binding/allocation.h"

/* The type of the elements of an argument that a call of type `type` allocates. */
static int typeOfArgument(const THNNFunction *function, int position, int type)
{
  const char *letter = function->arguments;
  for (int i = 0; i < position; i++)
    if (*++letter == '?' || *letter == '*') letter++;
  return *letter == 'R'   ? type
         : *letter == 'M' ? isHalf(type) ? THNN_TYPE_FLOAT : type
         : *letter == 'A' ? THNN_TYPE_DOUBLE
         : *letter == 'L' ? THNN_TYPE_INDEX
                          : THNN_TYPE_INTEGER;
}

/* Lets the CPU's function set a new tensor to 0, in parallel and without the GIL, or overwrite it; false if the caller
   has to. `view` becomes the view of the tensor before the function is called. */
static bool leavesZeros(THNNState *state, const THNNTensor *view)
{
  if (state->zeroCount == THNN_MAX_ZEROS) return false;
  state->zeros[state->zeroCount++] = view;
  return true;
}

bool resultsLike(const BoundCall *bound, PyObject *const *arguments, const THNNValue *values, bool overwritten,
                 PyObject **made, THNNState *state)
{
  for (int i = 0; i < bound->function->argumentCount; i++) {
    const char letter = bound->results[i];
    if (letter == THNN_RESULT_NONE || letter == THNN_RESULT_GIVEN) continue;
    THNNTensor *view = values[i].tensor;
    if (view == NULL || view->ndim == THNN_UNALLOCATED) continue;
    if (letter == THNN_RESULT_SCALAR) {
      view->ndim = 0;
      view->type = typeOfArgument(bound->function, i, view->type);
      made[i] = allocationNew(view);
    } else if (letter == THNN_RESULT_EMPTY && isHalf(view->type) &&
               typeOfArgument(bound->function, i, view->type) != view->type) {
      view->type = typeOfArgument(bound->function, i, view->type);
      allocationSetStrides(view, false);
      made[i] = allocationNew(view);
    } else {
      const bool isZero = letter == THNN_RESULT_ZEROS && !overwritten && !leavesZeros(state, view);
      made[i] = allocationLike(arguments[i], view, isZero);
    }
    if (made[i] == NULL) return false;
  }
  return true;
}

/* Sets type, device, sizes and strides of the view of a tensor that a call of type `type` requests by its sizes. */
static void viewRequest(const THNNFunction *function, const THNNState *state, const THNNRequest *request, int type,
                        THNNTensor *view)
{
  view->ndim = request->ndim;
  view->device = state->device;
  view->deviceIndex = state->deviceIndex;
  view->type = typeOfArgument(function, request->argument - 1, type);
  memcpy(view->size, request->size, sizeof *view->size * (size_t)request->ndim);
  allocationSetStrides(view, request->layout == THNN_CHANNELS_LAST && (view->ndim == 4 || view->ndim == 5));
}

/* Makes the view of an argument that of the requested tensor. True if it is like another argument, whose strides it has. */
static bool viewRequested(const BoundCall *bound, const THNNState *state, const THNNRequest *request, int type,
                          const THNNValue *values)
{
  const int position = request->argument - 1, like = request->like - 1;
  THNNTensor *view = values[position].tensor;
  if (like < 0 || values[like].tensor->type != typeOfArgument(bound->function, position, type)) {
    viewRequest(bound->function, state, request, type, view);
    return false;
  }
  const int argument = view->argument;
  *view = *values[like].tensor;
  view->argument = argument;
  return true;
}

bool resultsRaw(const BoundCall *bound, const THNNState *state, const THNNRequest *request, int type,
                const THNNValue *values, void **raw)
{
  THNNTensor *view = values[request->argument - 1].tensor, unallocated = *view;
  const bool isLike = viewRequested(bound, state, request, type, values);
  *raw = allocationRaw(view, !isLike);
  if (*raw == NULL) *view = unallocated;
  return *raw != NULL;
}

bool resultsRequested(const BoundCall *bound, PyObject *const *arguments, const THNNState *state,
                      const THNNRequest *request, int type, const THNNValue *values, PyObject **made)
{
  const int position = request->argument - 1, like = request->like - 1;
  THNNTensor *view = values[position].tensor;
  if (view == NULL || view->ndim != THNN_UNALLOCATED) return false;
  if (viewRequested(bound, state, request, type, values))
    made[position] = allocationLike(made[like] != NULL ? made[like] : arguments[like], view, false);
  else made[position] = allocationNew(view);
  if (made[position] == NULL) view->ndim = THNN_UNALLOCATED;
  return made[position] != NULL;
}

PyObject *resultsOf(const BoundCall *bound, PyObject *const *arguments, PyObject **made)
{
  int count = 0, last = 0;
  for (int i = 0; i < bound->function->argumentCount; i++) {
    if (bound->results[i] == THNN_RESULT_NONE) continue;
    if (made[i] == NULL) {
      made[i] = arguments[i];
      Py_INCREF(made[i]);
    }
    count++;
    last = i;
  }
  if (count == 1) {
    PyObject *result = made[last];
    made[last] = NULL;
    return result;
  }
  PyObject *results = PyTuple_New(count);
  for (int i = 0, k = 0; results != NULL && i < bound->function->argumentCount; i++) {
    if (bound->results[i] == THNN_RESULT_NONE) continue;
    PyTuple_SetItem(results, k++, made[i]);
    made[i] = NULL;
  }
  return results;
}
