#include "binding/dlpack.h"

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
static PyObject *get_num_threads, *allocate;

static void keep(PyObject **kept, uintptr_t given)
{
  Py_XINCREF((PyObject *)given);
  Py_XDECREF(*kept);
  *kept = (PyObject *)given;
}

int thnn_open_exchange(uintptr_t capsule, uintptr_t threads, uintptr_t sentinel)
{
  PyGILState_STATE gil = PyGILState_Ensure();
  exchange = NULL;
  keep(&get_num_threads, threads);
  keep(&allocate, sentinel);
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

/* `may_be_negative` tells what could be a negative view: they come from the imaginary parts of complex tensors, with
   a gap between elements. Asking torch costs more than the view itself. */
static bool viewOf(PyObject *object, THNNTensor *view, bool *may_be_negative)
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
  *may_be_negative = !is_contiguous || numel == 1;
  return numel == 0 || view->data != NULL; /* fake tensors have no memory */
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

static bool unpackScalar(PyObject *object, int kind, GlueValue *value)
{
  if (kind == GLUE_BOOL) {
    value->integer = object == Py_True;
    return object == Py_True || object == Py_False;
  }
  if (kind == GLUE_DOUBLE) {
    if (!PyFloat_Check(object) && !PyLong_Check(object)) return false;
    value->number = PyFloat_AsDouble(object);
  } else {
    if (!PyLong_Check(object)) return false;
    int overflow;
    value->integer = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow || (kind == GLUE_INT && value->integer != (int)value->integer)) return false;
  }
  if (PyErr_Occurred() == NULL) return true;
  PyErr_Clear();
  return false;
}

static bool unpackTensor(PyObject *object, int flags, const GlueArgument *argument, THNNTensor *view,
                         GlueValue *value, bool *may_be_negative)
{
  *may_be_negative = false;
  value->tensor = view;
  if (object == Py_None) {
    value->tensor = NULL;
    return argument->optional;
  }
  if (object == allocate) {
    view->ndim = THNN_UNALLOCATED;
  } else if (flags & THNN_CALL_VIEWS) {
    *view = *(const THNNTensor *)PyLong_AsVoidPtr(object);
  } else if (exchange == NULL || !viewOf(object, view, may_be_negative)) {
    return false;
  }
  view->argument = argument->position;
  return true;
}

static bool unpack(int flags, PyObject *tuple, int count, const GlueArgument *arguments, THNNTensor *views,
                   GlueValue *values)
{
  if (PyTuple_Size(tuple) != count) return false;
  bool asked = false;
  for (int i = 0, tensors = 0; i < count; i++) {
    PyObject *object = PyTuple_GetItem(tuple, i);
    if (arguments[i].kind > GLUE_INTEGER) {
      if (!unpackScalar(object, arguments[i].kind, &values[i])) return false;
      continue;
    }
    THNNTensor *view = &views[tensors++];
    bool may_be_negative;
    if (!unpackTensor(object, flags, &arguments[i], view, &values[i], &may_be_negative)) return false;
    if (may_be_negative) {
      if (isNegativeView(object)) return false;
      asked = true;
    }
  }
  /* Asking may have run a subclass's code: what was seen before it is seen again. */
  if (asked)
    for (int i = 0; i < count; i++) {
      bool known;
      if (arguments[i].kind <= GLUE_INTEGER && values[i].tensor != NULL &&
          !unpackTensor(PyTuple_GetItem(tuple, i), flags, &arguments[i], values[i].tensor, &values[i], &known))
        return false;
    }
  obeyNumThreads();
  return true;
}

/* The element type of a call, or -1 when its tensors do not agree. Where no argument is of that type, any will do. */
static int typeOfCall(int flags, int count, const GlueArgument *arguments, const GlueValue *values)
{
  static const int fixed[] = {
      [GLUE_ACCREAL] = THNN_TYPE_DOUBLE, [GLUE_INDEX] = THNN_TYPE_INDEX, [GLUE_INTEGER] = THNN_TYPE_INTEGER};
  int type = flags & THNN_CALL_TYPE;
  bool has_real = false;
  for (int i = 0; i < count; i++) {
    has_real |= arguments[i].kind == GLUE_REAL;
    const THNNTensor *tensor = arguments[i].kind <= GLUE_INTEGER ? values[i].tensor : NULL;
    if (tensor == NULL || tensor->ndim == THNN_UNALLOCATED) continue;
    if (arguments[i].kind != GLUE_REAL) {
      if (tensor->type != fixed[arguments[i].kind]) return -1;
      continue;
    }
    if (type == THNN_CALL_ANY) type = tensor->type;
    if (tensor->type != type || type > THNN_TYPE_DOUBLE) return -1;
  }
  if (type == THNN_CALL_ANY) return has_real ? -1 : THNN_TYPE_FLOAT;
  return type;
}

int thnn_unpack(THNNState *state, int flags, uintptr_t tuple, int count, const GlueArgument *arguments,
                THNNTensor *views, GlueValue *values)
{
  state->meta = (flags & THNN_CALL_META) != 0;
  PyGILState_STATE gil = PyGILState_Ensure();
  bool unpacked = unpack(flags, (PyObject *)tuple, count, arguments, views, values);
  PyGILState_Release(gil);
  int type = unpacked ? typeOfCall(flags, count, arguments, values) : -1;
  if (type < 0) {
    state->status = THNN_UNPACK;
    state->request_count = 0;
  }
  return type;
}

int thnn_increment(uintptr_t tensor)
{
  THNNTensor view;
  bool may_be_negative;
  PyGILState_STATE gil = PyGILState_Ensure();
  bool known = exchange != NULL && viewOf((PyObject *)tensor, &view, &may_be_negative) &&
               view.type == THNN_TYPE_INDEX && THNNTensor_numel(&view) == 1;
  if (known) ++*(int64_t *)view.data;
  PyGILState_Release(gil);
  return known;
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
