#include "exchange.h"

#include <string.h>

/* The DLPack C exchange ABI, version 1 (dmlc/dlpack, dlpack.h), as far as it is used here. */

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

typedef struct ExchangeAPI {
  struct {
    uint32_t major, minor;
    struct ExchangeAPI *previous;
  } header;
  void *managed_tensor_allocator;
  void *managed_tensor_from_py_object_no_sync;
  void *managed_tensor_to_py_object_no_sync;
  int (*dltensor_from_py_object_no_sync)(void *object, DLTensor *out);
  void *current_work_stream;
} ExchangeAPI;

enum { DL_CPU = 1, DL_CUDA_HOST = 3, DL_INT = 0, DL_FLOAT = 2 };

static const ExchangeAPI *exchange;
static PyObject *get_num_threads;

int thnn_open_exchange(uintptr_t capsule, uintptr_t threads)
{
  PyGILState_STATE gil = PyGILState_Ensure();
  exchange = NULL;
  Py_XDECREF(get_num_threads);
  get_num_threads = (PyObject *)threads;
  Py_XINCREF(get_num_threads);
  if (capsule != 0) {
    const ExchangeAPI *api = PyCapsule_GetPointer((PyObject *)capsule, "dlpack_exchange_api");
    for (; api != NULL && api->header.major != 1; api = api->header.previous) {
    }
    if (api != NULL && api->dltensor_from_py_object_no_sync != NULL) exchange = api;
    PyErr_Clear();
  }
  PyGILState_Release(gil);
  return exchange != NULL;
}

static int typeOf(const DLTensor *t)
{
  if (t->dtype.lanes != 1) return THNN_TYPE_OTHER;
  if (t->dtype.code == DL_FLOAT) {
    if (t->dtype.bits == 32) return THNN_TYPE_FLOAT;
    if (t->dtype.bits == 64) return THNN_TYPE_DOUBLE;
  } else if (t->dtype.code == DL_INT) {
    if (t->dtype.bits == 64) return THNN_TYPE_INDEX;
    if (t->dtype.bits == 32) return THNN_TYPE_INTEGER;
  }
  return THNN_TYPE_OTHER;
}

/* A negative view (the imaginary part of a conjugate) passes through DLPack without its sign. */
static bool isNegativeView(PyObject *object)
{
  PyObject *answer = PyObject_CallMethod(object, "is_neg", NULL);
  bool negative = answer == NULL || answer == Py_True;
  Py_XDECREF(answer);
  PyErr_Clear();
  return negative;
}

static bool viewOf(PyObject *object, THNNTensor *view)
{
  DLTensor t;
  if (exchange->dltensor_from_py_object_no_sync(object, &t) != 0) {
    PyErr_Clear();
    return false;
  }
  if (t.ndim > THNN_MAX_DIM || (t.device.type != DL_CPU && t.device.type != DL_CUDA_HOST)) return false;
  view->type = typeOf(&t);
  view->ndim = t.ndim;
  view->data = t.data == NULL ? NULL : (char *)t.data + t.byte_offset;
  int64_t numel = 1, contiguous = 1;
  bool is_contiguous = true;
  for (int d = t.ndim - 1; d >= 0; d--) {
    view->size[d] = t.shape[d];
    view->stride[d] = t.strides == NULL ? contiguous : t.strides[d];
    is_contiguous &= view->size[d] == 1 || view->stride[d] == contiguous;
    contiguous *= t.shape[d] > 1 ? t.shape[d] : 1;
    numel *= t.shape[d];
  }
  if (numel != 0 && view->data == NULL) return false; /* a fake tensor */
  return (is_contiguous && numel > 1) || !isNegativeView(object);
}

/* torch sets a thread's number of OpenMP threads when that thread first asks for it. */
static void obeyNumThreads(void)
{
  static _Thread_local bool done;
  if (done || get_num_threads == NULL) return;
  done = true;
  PyObject *answer = PyObject_CallObject(get_num_threads, NULL);
  Py_XDECREF(answer);
  PyErr_Clear();
}

static bool unpackObjects(PyObject *tuple, int count, const GlueArgument *arguments, THNNTensor *views,
                          THNNTensor **tensors)
{
  if (exchange == NULL || PyTuple_Size(tuple) != count) return false;
  for (int i = 0; i < count; i++) {
    PyObject *object = PyTuple_GetItem(tuple, i);
    tensors[i] = &views[i];
    views[i].argument = arguments[i].position;
    if (object == Py_None) {
      if (!arguments[i].optional) return false;
      tensors[i] = NULL;
    } else if (object == Py_Ellipsis) {
      views[i].ndim = THNN_UNALLOCATED;
    } else if (!viewOf(object, &views[i])) {
      return false;
    }
  }
  return true;
}

static bool unpackViews(const THNNTensor *const *given, int count, const GlueArgument *arguments, THNNTensor *views,
                        THNNTensor **tensors)
{
  for (int i = 0; i < count; i++) {
    tensors[i] = &views[i];
    if (given[i] == NULL) {
      if (!arguments[i].optional) return false;
      tensors[i] = NULL;
    } else if (given[i] == THNN_ALLOCATE) {
      views[i].ndim = THNN_UNALLOCATED;
    } else {
      memcpy(&views[i], given[i], sizeof *views);
    }
    views[i].argument = arguments[i].position;
  }
  return true;
}

int thnn_unpack(THNNState *state, int flags, uintptr_t given, int count, const GlueArgument *arguments,
                THNNTensor *views, THNNTensor **tensors)
{
  state->meta = (flags & THNN_CALL_META) != 0;
  PyGILState_STATE gil = PyGILState_Ensure();
  bool unpacked = flags & THNN_CALL_VIEWS
                    ? unpackViews((const THNNTensor *const *)given, count, arguments, views, tensors)
                    : unpackObjects((PyObject *)given, count, arguments, views, tensors);
  obeyNumThreads();
  PyGILState_Release(gil);
  int type = flags & THNN_CALL_TYPE;
  static const int of_kind[] = {-1, THNN_TYPE_INDEX, THNN_TYPE_INTEGER};
  for (int i = 0; unpacked && i < count; i++) {
    if (tensors[i] == NULL || views[i].ndim == THNN_UNALLOCATED) continue;
    if (arguments[i].kind != GLUE_REAL) {
      unpacked = views[i].type == of_kind[arguments[i].kind];
      continue;
    }
    if (type == THNN_CALL_ANY) type = views[i].type;
    unpacked = views[i].type == type && type <= THNN_TYPE_DOUBLE;
  }
  if (unpacked && type != THNN_CALL_ANY) return type;
  state->status = THNN_UNPACK;
  state->request_count = 0;
  return -1;
}

const char *thnn_message(void) { return THNN_lastState()->message; }

int thnn_request_count(void) { return THNN_lastState()->request_count; }

void thnn_request(int i, int64_t *out)
{
  const THNNRequest *r = &THNN_lastState()->requests[i];
  out[0] = r->argument;
  out[1] = r->like;
  out[2] = r->layout;
  out[3] = r->ndim;
  memcpy(out + 4, r->size, sizeof(int64_t) * (size_t)r->ndim);
}
