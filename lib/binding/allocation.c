#include "binding/allocation.h"

#include <string.h>

#include "binding/binding.h"

/* Objects of torch, in the order of thnn_connectAllocation(). OPTIONS has a dictionary of keywords per THNNType. */
enum {
  TENSOR,
  PARAMETER,
  IS_NEG,
  EMPTY_LIKE,
  ZEROS_LIKE,
  EMPTY_STRIDED,
  OPTIONS,
  OBJECTS = OPTIONS + THNN_TYPE_OTHER
};

static PyObject *objects[OBJECTS];

/* libtorch's stable C interface, and the function of its Python binding that wraps an at::Tensor. emptyStrided is NULL
   if torch lacks one of them. */
static int32_t (*emptyStrided)(int64_t ndim, const int64_t *size, const int64_t *stride, int32_t dtype,
                               int32_t device, int32_t deviceIndex, void **tensor);
static int32_t (*dataPointer)(void *tensor, void **data);
static int32_t (*deleteTensor)(void *tensor);
static PyObject *(*wrapTensor)(const void *tensor);

/* libtorch's numbers of element types, by THNNType. */
static const int32_t dtypes[] = {6, 7, 5, 15, 4, 3};

/* The bytes of an element, by THNNType. */
static const int64_t elementSizes[] = {4, 8, 2, 2, 8, 4};

/* Larger tensors on the CPU come from Python functions, whose time does not matter then. */
enum { SMALL_BYTES = 1 << 20 };

int thnn_connectAllocation(uintptr_t tuple, uintptr_t empty, uintptr_t data, uintptr_t deletion, uintptr_t wrap)
{
  PyGILState_STATE gil = PyGILState_Ensure();
  const bool done = PyTuple_Size((PyObject *)tuple) == OBJECTS;
  for (int i = 0; done && i < OBJECTS; i++) {
    PyObject *object = PyTuple_GetItem((PyObject *)tuple, i);
    Py_INCREF(object);
    Py_XDECREF(objects[i]);
    objects[i] = object;
  }
  const bool hasAll = empty != 0 && data != 0 && deletion != 0 && wrap != 0;
  emptyStrided = (__typeof__(emptyStrided))(hasAll ? empty : 0);
  dataPointer = (__typeof__(dataPointer))data;
  deleteTensor = (__typeof__(deleteTensor))deletion;
  wrapTensor = (__typeof__(wrapTensor))wrap;
  PyGILState_Release(gil);
  return done;
}

bool allocationIsPlain(PyObject *tensor)
{
  PyObject *class = (PyObject *)Py_TYPE(tensor);
  return class == objects[TENSOR] || class == objects[PARAMETER];
}

bool allocationIsNegative(PyObject *tensor)
{
  PyObject *answer = PyObject_CallFunctionObjArgs(objects[IS_NEG], tensor, NULL);
  bool negative = answer == NULL || answer == Py_True;
  Py_XDECREF(answer);
  PyErr_Clear();
  return negative;
}

void allocationSetStrides(THNNTensor *view, bool isChannelsLast)
{
  int64_t stride = 1;
  const int last = view->ndim - 1;
  for (int i = last; i >= 0; i--) {
    /* Channels-last order, from the innermost dimension: channels (1), the image from its last dimension, batch (0). */
    const int d = !isChannelsLast || i == 0 ? i : i == last ? 1 : i + 1;
    view->stride[d] = stride;
    /* torch's strides of an empty tensor count a size of 0 as 1. */
    stride *= view->size[d] > 1 ? view->size[d] : 1;
  }
}

/* The bytes of a dense tensor, or SMALL_BYTES + 1 if they are more than SMALL_BYTES. */
static int64_t bytesOf(const THNNTensor *view)
{
  int64_t bytes = elementSizes[view->type];
  for (int d = 0; d < view->ndim; d++)
    if (view->size[d] == 0) return 0;
  for (int d = 0; d < view->ndim; d++) {
    if (view->size[d] > SMALL_BYTES / bytes) return SMALL_BYTES + 1;
    bytes *= view->size[d];
  }
  return bytes;
}

static bool isContiguous(const THNNTensor *view)
{
  int64_t stride = 1;
  for (int d = view->ndim - 1; d >= 0; d--) {
    if (view->size[d] == 0) return false;
    if (view->size[d] != 1 && view->stride[d] != stride) return false;
    stride *= view->size[d];
  }
  return true;
}

/* True if the tensor comes from libtorch's C function. */
static bool isMadeInC(const THNNTensor *view)
{
  return emptyStrided != NULL && (view->device == THNN_DEVICE_CUDA || bytesOf(view) <= SMALL_BYTES);
}

void *allocationRaw(THNNTensor *view, bool isDense)
{
  void *tensor;
  const bool onCuda = view->device == THNN_DEVICE_CUDA;
  if (!isMadeInC(view) || !(isDense || isContiguous(view)) ||
      emptyStrided(view->ndim, view->size, view->stride, dtypes[view->type], onCuda,
                   onCuda ? view->deviceIndex : -1, &tensor) != 0)
    return NULL;
  /* A dispatch mode may make a tensor without memory. */
  if (dataPointer(tensor, &view->data) == 0 && (view->data != NULL || bytesOf(view) == 0)) return tensor;
  deleteTensor(tensor);
  return NULL;
}

PyObject *allocationWrap(void *raw)
{
  PyObject *object = wrapTensor(raw);
  deleteTensor(raw);
  PyErr_Clear();
  return object;
}

/* A tensor from libtorch's C function; NULL if it cannot make one. */
static PyObject *newInC(THNNTensor *view, bool isDense)
{
  void *raw = allocationRaw(view, isDense);
  PyObject *object = raw != NULL ? allocationWrap(raw) : NULL;
  /* A dispatch mode may make a tensor of another class. */
  if (object != NULL && !allocationIsPlain(object)) Py_CLEAR(object);
  return object;
}

static PyObject *tupleOf(const int64_t *values, int count)
{
  PyObject *tuple = PyTuple_New(count);
  for (int i = 0; tuple != NULL && i < count; i++) PyTuple_SetItem(tuple, i, PyLong_FromLongLong(values[i]));
  return tuple;
}

/* Fills the view of a tensor that Python has made, and returns the tensor. NULL for NULL, or if that fails. */
static PyObject *withView(PyObject *object, THNNTensor *view)
{
  PyErr_Clear();
  const int32_t argument = view->argument;
  if (object != NULL && (!allocationIsPlain(object) || !thnn_viewOf(object, view))) {
    Py_DECREF(object);
    object = NULL;
  }
  view->argument = argument;
  return object;
}

PyObject *allocationNew(THNNTensor *view)
{
  if (isMadeInC(view)) return newInC(view, true);
  if (view->device != THNN_DEVICE_CPU) return NULL;
  PyObject *size = tupleOf(view->size, view->ndim), *stride = tupleOf(view->stride, view->ndim);
  PyObject *arguments = size != NULL && stride != NULL ? PyTuple_Pack(2, size, stride) : NULL;
  PyObject *object =
      arguments ? PyObject_Call(objects[EMPTY_STRIDED], arguments, objects[OPTIONS + view->type]) : NULL;
  Py_XDECREF(size);
  Py_XDECREF(stride);
  Py_XDECREF(arguments);
  return withView(object, view);
}

PyObject *allocationLike(PyObject *tensor, THNNTensor *view, bool isZero)
{
  if (isMadeInC(view) && isContiguous(view) && (view->device == THNN_DEVICE_CPU || !isZero)) {
    PyObject *object = newInC(view, false);
    if (object != NULL && isZero) memset(view->data, 0, (size_t)bytesOf(view));
    return object;
  }
  return withView(PyObject_CallFunctionObjArgs(objects[isZero ? ZEROS_LIKE : EMPTY_LIKE], tensor, NULL), view);
}
