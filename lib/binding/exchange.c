#include "binding/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "binding/allocation.h"
#include "binding/binding.h"

/* The DLPack C exchange ABI, version 1 (dmlc/dlpack, dlpack.h); unused members are void pointers. */

typedef struct DLTensor {
  void *data;
  struct {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
  struct {
    uint32_t major, minor;
  } version;
  void *context;
  void (*deleter)(struct DLManagedTensor *self);
  uint64_t flags;
  DLTensor tensor;
} DLManagedTensor;

typedef struct ExchangeAPI {
  struct {
    uint32_t major, minor;
    struct ExchangeAPI *previous;
  } header;
  int (*managed_tensor_allocator)(DLTensor *prototype, DLManagedTensor **made, void *errorContext,
                                  void (*setError)(void *context, const char *kind, const char *message));
  void *managed_tensor_from_py_object_no_sync;
  void *managed_tensor_to_py_object_no_sync;
  int (*dltensor_from_py_object_no_sync)(void *object, DLTensor *out);
  int (*current_work_stream)(int32_t deviceType, int32_t deviceIndex, void **stream);
} ExchangeAPI;

/* The contents of a capsule "dltensor", before DLPack had versions. */
typedef struct UnversionedTensor {
  DLTensor tensor;
  void *context;
  void (*deleter)(struct UnversionedTensor *self);
} UnversionedTensor;

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3, DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4 };

/* The two ways from a tensor to its DLTensor. Both NULL: Python fills the views. Set while thnn is imported. */
static const ExchangeAPI *exchange;
static PyObject *toCapsule; /* torch.utils.dlpack.to_dlpack, where torch lacks the exchange API; otherwise NULL */

static PyObject *strideName;

int exchangeConnect(uintptr_t api, uintptr_t toDlpack)
{
  exchange = NULL;
  if (strideName == NULL) strideName = PyUnicode_InternFromString("stride");
  if (api != 0) {
    const ExchangeAPI *found = PyCapsule_GetPointer((PyObject *)api, "dlpack_exchange_api");
    for (; found != NULL && found->header.major != 1; found = found->header.previous) {
    }
    if (found != NULL && found->dltensor_from_py_object_no_sync != NULL) exchange = found;
    PyErr_Clear();
  }
  thnn_keepReference(&toCapsule, exchange == NULL && strideName != NULL ? toDlpack : 0);
  return exchange != NULL ? THNN_EXCHANGE_API : toCapsule != NULL ? THNN_EXCHANGE_CAPSULES : THNN_EXCHANGE_VIEWS;
}

static int typeOf(const DLTensor *t)
{
  if (t->dtype.lanes != 1) return THNN_TYPE_OTHER;
  switch (t->dtype.code << 8 | t->dtype.bits) {
  case DL_FLOAT << 8 | 32:
    return THNN_TYPE_FLOAT;
  case DL_FLOAT << 8 | 64:
    return THNN_TYPE_DOUBLE;
  case DL_FLOAT << 8 | 16:
    return THNN_TYPE_HALF;
  case DL_BFLOAT << 8 | 16:
    return THNN_TYPE_BFLOAT16;
  case DL_INT << 8 | 64:
    return THNN_TYPE_INDEX;
  case DL_INT << 8 | 32:
    return THNN_TYPE_INTEGER;
  default:
    return THNN_TYPE_OTHER;
  }
}

static int deviceOf(const DLTensor *t)
{
  switch (t->device.type) {
  case DL_CPU:
  case DL_CUDA_HOST:
    return THNN_DEVICE_CPU;
  case DL_CUDA:
    return THNN_DEVICE_CUDA;
  default:
    return THNN_DEVICE_OTHER;
  }
}

/* Fills a view of a tensor from its DLTensor; false if that fails. */
static bool fillView(PyObject *object, const DLTensor *t, THNNTensor *view, bool *mayBeNegative)
{
  if (t->ndim > THNN_MAX_DIM) return false;
  view->type = typeOf(t);
  view->device = deviceOf(t);
  view->deviceIndex = view->device == THNN_DEVICE_CPU ? 0 : t->device.id;
  view->ndim = t->ndim;
  view->data = t->data == NULL ? NULL : (char *)t->data + t->byte_offset;
  int64_t numel = 1, contiguous = 1;
  bool isContiguous = true;
  for (int d = t->ndim - 1; d >= 0; d--) {
    view->size[d] = t->shape[d];
    view->stride[d] = t->strides == NULL ? contiguous : t->strides[d];
    isContiguous &= view->size[d] == 1 || view->stride[d] == contiguous;
    contiguous *= t->shape[d] > 1 ? t->shape[d] : 1;
    numel *= t->shape[d];
  }
  *mayBeNegative = !isContiguous || numel == 1;
  /* Only tensors without elements, and fake tensors, have no memory. Fake tensors are rejected. Those without elements
     are recognized by their class, which is not plain; on the CPU they do no harm. */
  return view->data != NULL || (numel == 0 && (view->device == THNN_DEVICE_CPU || allocationIsPlain(object)));
}

/* Sets the strides of a view to the tensor's. In a capsule, torch sets the strides of dimensions of fewer than two
   elements to 1; tensors allocated like the tensor have its strides. */
static bool setStridesOfObject(PyObject *object, THNNTensor *view)
{
  int d = 0;
  while (d < view->ndim && view->size[d] > 1) d++;
  if (d == view->ndim) return true;
  PyObject *strides = PyObject_CallMethodObjArgs(object, strideName, NULL);
  const bool isKnown = strides != NULL && PyTuple_Check(strides) && PyTuple_Size(strides) == view->ndim;
  for (d = 0; isKnown && d < view->ndim; d++) view->stride[d] = PyLong_AsLongLong(PyTuple_GetItem(strides, d));
  Py_XDECREF(strides);
  return isKnown;
}

bool exchangeViewOf(PyObject *object, THNNTensor *view, bool *mayBeNegative)
{
  bool done;
  if (exchange != NULL) {
    DLTensor t;
    done = exchange->dltensor_from_py_object_no_sync(object, &t) == 0 && fillView(object, &t, view, mayBeNegative);
  } else {
    /* Not for subclasses, whose code torch may call. */
    const bool has = toCapsule != NULL && allocationIsPlain(object);
    PyObject *capsule = has ? PyObject_CallFunctionObjArgs(toCapsule, object, NULL) : NULL;
    const UnversionedTensor *made = capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, "dltensor");
    done =
        made != NULL && fillView(object, &made->tensor, view, mayBeNegative) && setStridesOfObject(object, view);
    Py_XDECREF(capsule);
  }
  if (!done) PyErr_Clear();
  return done;
}

bool thnn_viewOf(PyObject *object, THNNTensor *view)
{
  bool ignored;
  return exchangeViewOf(object, view, &ignored);
}

typedef struct Allocation {
  struct Allocation *next;
  DLManagedTensor *tensor;
} Allocation;

static void ignoreError(void *context, const char *kind, const char *message)
{
  (void)context, (void)kind, (void)message;
}

void *exchangeAllocate(THNNState *state, int64_t bytes)
{
  if (exchange == NULL || exchange->managed_tensor_allocator == NULL) return NULL;
  int64_t stride = 1;
  const bool onCuda = state->device == THNN_DEVICE_CUDA;
  DLTensor prototype = {NULL, {onCuda ? DL_CUDA : DL_CPU, state->deviceIndex}, 1, {DL_UINT, 8, 1}, &bytes, &stride,
                        0};
  Allocation *allocation = malloc(sizeof *allocation);
  if (allocation == NULL) return NULL;
  if (exchange->managed_tensor_allocator(&prototype, &allocation->tensor, NULL, ignoreError) != 0) {
    free(allocation);
    return NULL;
  }
  allocation->next = state->allocations;
  state->allocations = allocation;
  return (char *)allocation->tensor->tensor.data + allocation->tensor->tensor.byte_offset;
}

void exchangeFree(THNNState *state)
{
  for (Allocation *next, *a = state->allocations; a != NULL; a = next) {
    next = a->next;
    if (a->tensor->deleter != NULL) a->tensor->deleter(a->tensor);
    free(a);
  }
  state->allocations = NULL;
}

bool exchangeSetStream(THNNState *state)
{
  state->stream = NULL;
  if (state->device != THNN_DEVICE_CUDA || state->meta) return true;
  const bool isKnown = exchange != NULL && exchange->current_work_stream != NULL &&
                       exchange->current_work_stream(DL_CUDA, state->deviceIndex, &state->stream) == 0;
  PyErr_Clear();
  return isKnown;
}
