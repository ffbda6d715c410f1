#include "binding/binding.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "binding/allocation.h"

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

/* The two ways from a tensor to its DLTensor. Both NULL: Python fills the views. */
static const ExchangeAPI *exchange;
static PyObject *toCapsule; /* torch.utils.dlpack.to_dlpack, where torch lacks the exchange API; otherwise NULL */

static PyObject *strideName, *numThreads, *allocateMarker, *generatorClass;

void thnn_keepReference(PyObject **kept, uintptr_t given)
{
  Py_XINCREF((PyObject *)given);
  Py_XDECREF(*kept);
  *kept = (PyObject *)given;
}

int thnn_connect(uintptr_t api, uintptr_t toDlpack, uintptr_t getNumThreads, uintptr_t allocate,
                 uintptr_t generator)
{
  PyGILState_STATE gil = PyGILState_Ensure();
  exchange = NULL;
  if (strideName == NULL) strideName = PyUnicode_InternFromString("stride");
  thnn_keepReference(&numThreads, getNumThreads);
  thnn_keepReference(&allocateMarker, allocate);
  thnn_keepReference(&generatorClass, generator);
  if (api != 0) {
    const ExchangeAPI *found = PyCapsule_GetPointer((PyObject *)api, "dlpack_exchange_api");
    for (; found != NULL && found->header.major != 1; found = found->header.previous) {
    }
    if (found != NULL && found->dltensor_from_py_object_no_sync != NULL) exchange = found;
    PyErr_Clear();
  }
  thnn_keepReference(&toCapsule, exchange == NULL && strideName != NULL ? toDlpack : 0);
  PyGILState_Release(gil);
  return exchange != NULL ? THNN_EXCHANGE_API : toCapsule != NULL ? THNN_EXCHANGE_CAPSULES : THNN_EXCHANGE_VIEWS;
}

/* An opened library, and the library for another device that has the same functions in the same order, NULL while there
   is none. */
typedef struct OpenLibrary {
  const THNNLibrary *library;
  const THNNLibrary *_Atomic device;
  PyObject *computeMissing; /* computes the functions that `device` lacks (thnn_setDeviceLibrary) */
  struct OpenLibrary *next;
} OpenLibrary;

/* Threads may open a library, set the observer and call functions at once where Python has no GIL. The list grows at its
   head, so that calls read it without the lock. What thnn_connect() and its like set is set while thnn is imported, and is
   only read afterwards. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static OpenLibrary *_Atomic openLibraries;

static OpenLibrary *openLibraryOf(const THNNLibrary *library)
{
  OpenLibrary *open = openLibraries;
  while (open != NULL && open->library != library) open = open->next;
  return open;
}

/* The library that has a function. */
static OpenLibrary *openLibraryWith(const THNNFunction *function)
{
  OpenLibrary *open = openLibraries;
  while (open != NULL &&
         (function < open->library->functions || function >= open->library->functions + open->library->count))
    open = open->next;
  return open;
}

/* Lists a library, unless it was opened before. */
static void addOpenLibrary(const THNNLibrary *library)
{
  pthread_mutex_lock(&lock);
  if (openLibraryOf(library) == NULL) {
    OpenLibrary *open = malloc(sizeof *open);
    if (open == NULL) abort();
    *open = (OpenLibrary){library, NULL, NULL, openLibraries};
    openLibraries = open;
  }
  pthread_mutex_unlock(&lock);
}

const THNNLibrary *thnn_open(const char *path, char *reason, int64_t room)
{
  reason[0] = 0;
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    snprintf(reason, (size_t)room, "%s", dlerror());
    return NULL;
  }
  const THNNLibrary *(*table)(void) = (const THNNLibrary *(*)(void))dlsym(handle, "THNN_library");
  const THNNLibrary *library = table ? table() : NULL;
  if (library != NULL && library->abi == THNN_ABI) {
    addOpenLibrary(library);
    return library;
  }
  snprintf(reason, (size_t)room,
           library ? "%s was built for another version of the binding" : "%s has no THNN_library", path);
  dlclose(handle);
  return NULL;
}

int thnn_hasEntry(const THNNFunction *function)
{
  for (int type = 0; type < THNN_REAL_TYPES; type++)
    if (function->call[type] != NULL) return true;
  return false;
}

int thnn_setDeviceLibrary(const THNNLibrary *host, const THNNLibrary *device, uintptr_t compute)
{
  if (device != NULL && (host->count != device->count || strcmp(host->digest, device->digest) != 0)) return false;
  PyGILState_STATE gil = PyGILState_Ensure();
  OpenLibrary *open = openLibraryOf(host);
  thnn_keepReference(&open->computeMissing, compute);
  open->device = device; /* last: a call that reads it calls computeMissing */
  PyGILState_Release(gil);
  return true;
}

/* A function with the flags of its calls: the `self` of the Python function that thnn_bind() makes. */
typedef struct BoundCall {
  const THNNFunction *function;
  const OpenLibrary *open; /* the library of the function */
  int flags;
  char *results;    /* a letter per argument (binding.h), or NULL: calls return reports */
  PyObject *repeat; /* called with the arguments and the report of a call that has not succeeded */
} BoundCall;

/* The function in the device library if that is for the device of a call (in emulation, the CPU), otherwise NULL. */
static const THNNFunction *onDevice(const BoundCall *bound, const THNNState *state)
{
  const THNNLibrary *device = bound->open->device;
  if (device == NULL || device->device != state->device) return NULL;
  return &device->functions[bound->function - bound->open->library->functions];
}

/* The entry that computes on the device of a call; NULL if there is none, or if the flags exclude the device. A meta
   call checks arguments and computes nothing, so the CPU's entries serve every device, and the entry for float also
   serves types that the CPU lacks. */
static THNNCall callFor(const BoundCall *bound, int type, const THNNState *state)
{
  const THNNFunction *function = bound->function, *there = onDevice(bound, state);
  if (state->meta) return function->call[type] != NULL ? function->call[type] : function->call[THNN_TYPE_FLOAT];
  if ((bound->flags & THNN_CALL_DEVICE) && there == NULL) return NULL;
  if ((bound->flags & THNN_CALL_HOST) && state->device != THNN_DEVICE_CPU) return NULL;
  if (there != NULL) return there->call[type];
  return state->device == THNN_DEVICE_CPU ? function->call[type] : NULL;
}

/* True if the device library computes for the device of a call, but lacks the function. */
static bool isMissing(const BoundCall *bound, const THNNState *state)
{
  if (state->meta || ((bound->flags & THNN_CALL_HOST) && state->device != THNN_DEVICE_CPU)) return false;
  const THNNFunction *there = onDevice(bound, state);
  return there != NULL && !thnn_hasEntry(there);
}

/* --- temporary memory ----------------------------------------------------------------------------------------- */

typedef struct Allocation {
  struct Allocation *next;
  DLManagedTensor *tensor;
} Allocation;

static void ignoreError(void *context, const char *kind, const char *message)
{
  (void)context, (void)kind, (void)message;
}

/* THNNState.allocate: from torch's allocator, without Python. */
static void *allocateTemporary(THNNState *state, int64_t bytes)
{
  if (exchange == NULL || exchange->managed_tensor_allocator == NULL) return NULL;
  int64_t stride = 1;
  const bool onCuda = state->device == THNN_DEVICE_CUDA;
  DLTensor prototype = {NULL, {onCuda ? DL_CUDA : DL_CPU, state->deviceIndex}, 1, {DL_UINT, 8, 1}, &bytes, &stride,
                        0};
  Allocation *allocation = malloc(sizeof *allocation);
  if (allocation == NULL) abort();
  if (exchange->managed_tensor_allocator(&prototype, &allocation->tensor, NULL, ignoreError) != 0) {
    free(allocation);
    return NULL;
  }
  allocation->next = state->allocations;
  state->allocations = allocation;
  return (char *)allocation->tensor->tensor.data + allocation->tensor->tensor.byte_offset;
}

/* torch's allocator gives the memory to a later call on the same stream only, hence kernels may still use it. */
static void freeTemporaries(THNNState *state)
{
  for (Allocation *next, *a = state->allocations; a != NULL; a = next) {
    next = a->next;
    if (a->tensor->deleter != NULL) a->tensor->deleter(a->tensor);
    free(a);
  }
  state->allocations = NULL;
}

/* --- arguments ----------------------------------------------------------------------------------------------- */

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

/* Fills a view of a tensor from its DLTensor; false if that fails. Calling is_neg() costs more than the view itself, hence
   `mayBeNegative` is set only for tensors that may be negative views: imaginary parts of complex tensors, which have
   gaps between elements. */
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
  /* Only tensors without elements, and fake tensors, have no memory. Fake tensors are refused. Without elements they
     are recognized by their class, which is not plain; on the CPU they do no harm then. */
  return view->data != NULL || (numel == 0 && (view->device == THNN_DEVICE_CPU || allocationIsPlain(object)));
}

/* Sets the strides of a view as the tensor has them. In a capsule, torch has set the strides of dimensions of less than
   two elements to 1; tensors that are allocated like the tensor have its strides. */
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

/* Fills a view of a tensor; false, without an exception, if that fails. */
static bool viewOf(PyObject *object, THNNTensor *view, bool *mayBeNegative)
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
  return viewOf(object, view, &ignored);
}

/* torch sets a thread's number of OpenMP threads when that thread first calls torch.get_num_threads. */
static void applyNumThreads(void)
{
  static _Thread_local bool done;
  if (done || numThreads == NULL) return;
  done = true;
  PyObject *answer = PyObject_CallObject(numThreads, NULL);
  Py_XDECREF(answer);
  PyErr_Clear();
}

/* None, a generator, or with THNN_CALL_VIEWS the seed that Python has drawn from it. */
static bool unpackGenerator(PyObject *object, int flags, THGenerator *generator)
{
  generator->seed = -1;
  if (object == Py_None || PyObject_IsInstance(object, generatorClass) == 1) return true;
  PyErr_Clear();
  if (!(flags & THNN_CALL_VIEWS) || !PyLong_Check(object)) return false;
  generator->seed = PyLong_AsLongLong(object);
  return true;
}

/* Subclasses of int may have methods in Python, which could change the tensors that were unpacked before. */
static bool isPlainInteger(PyObject *object) { return PyLong_CheckExact(object) || PyBool_Check(object); }

static bool unpackScalar(PyObject *object, char letter, int flags, THNNValue *value)
{
  if (letter == 'g') return unpackGenerator(object, flags, &value->generator);
  if (letter == 'b') {
    value->integer = object == Py_True;
    return object == Py_True || object == Py_False;
  }
  if (letter == 'd') {
    if (!PyFloat_Check(object) && !isPlainInteger(object)) return false;
    value->number = PyFloat_Check(object) ? PyFloat_AsDouble(object) : PyLong_AsDouble(object);
  } else {
    if (!isPlainInteger(object)) return false;
    int overflow;
    value->integer = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow || (letter == 'i' && value->integer != (int)value->integer)) return false;
  }
  if (PyErr_Occurred() == NULL) return true;
  PyErr_Clear();
  return false;
}

/* `mark`: '?' for an optional tensor, '*' for a buffer. A buffer that is None is unallocated: the kernel may request
   it. */
static bool unpackTensor(PyObject *object, int flags, char mark, int position, THNNTensor *view, THNNValue *value,
                         bool *mayBeNegative)
{
  *mayBeNegative = false;
  value->tensor = view;
  if (object == Py_None && mark != '*') {
    value->tensor = NULL;
    return mark == '?';
  }
  if (object == Py_None || object == allocateMarker) {
    view->data = NULL;
    view->ndim = THNN_UNALLOCATED;
  } else if (flags & THNN_CALL_VIEWS) {
    *view = *(const THNNTensor *)PyLong_AsVoidPtr(object);
  } else if (!viewOf(object, view, mayBeNegative)) {
    return false;
  }
  view->argument = position;
  return true;
}

/* Copies the view of an earlier argument that is the same tensor, such as the tensor that a result is like; false if
   there is none. */
static bool copyView(PyObject *const *objects, int position, const THNNValue *values, THNNTensor *view,
                     THNNValue *value)
{
  for (int i = 0; i < position; i++) {
    if (objects[i] != objects[position]) continue;
    const THNNTensor *source = values[i].tensor;
    memcpy(view, source, offsetof(THNNTensor, size));
    memcpy(view->size, source->size, sizeof *view->size * (size_t)source->ndim);
    memcpy(view->stride, source->stride, sizeof *view->stride * (size_t)source->ndim);
    view->argument = position + 1;
    value->tensor = view;
    return true;
  }
  return false;
}

static bool isTensorLetter(char letter) { return letter < 'a'; }

/* `arePlain` tells whether all tensors are plain (allocation.h). */
static bool unpackAll(const THNNFunction *function, int flags, PyObject *tuple, THNNTensor *views,
                      THNNValue *values, bool *arePlain)
{
  *arePlain = true;
  const bool scaled = (flags & THNN_CALL_SCALED) != 0;
  if (!PyTuple_Check(tuple) || PyTuple_Size(tuple) != function->argumentCount + scaled) return false;
  bool calledPython = false;
  PyObject *objects[function->argumentCount + 1];
  const char *letter = function->arguments;
  for (int i = 0; i < function->argumentCount; i++, letter++) {
    PyObject *object = objects[i] = PyTuple_GetItem(tuple, i);
    if (!isTensorLetter(*letter)) {
      if (!unpackScalar(object, *letter, flags, &values[i])) return false;
      continue;
    }
    const char mark = letter[1] == '?' || letter[1] == '*' ? *++letter : 0;
    const bool isPlain = allocationIsPlain(object);
    *arePlain &= isPlain || object == Py_None || object == allocateMarker;
    if (isPlain && copyView(objects, i, values, views, &values[i])) {
      views++;
      continue;
    }
    bool mayBeNegative;
    if (!unpackTensor(object, flags, mark, i + 1, views++, &values[i], &mayBeNegative)) return false;
    if (!mayBeNegative) continue;
    if (allocationIsNegative(object)) return false;
    calledPython |= !isPlain;
  }
  /* is_neg() may have run a subclass's code, which may have changed tensors that were unpacked before. */
  letter = function->arguments;
  for (int i = 0; calledPython && i < function->argumentCount; i++, letter++) {
    if (!isTensorLetter(*letter)) continue;
    const char mark = letter[1] == '?' || letter[1] == '*' ? *++letter : 0;
    bool ignored;
    if (values[i].tensor != NULL &&
        !unpackTensor(PyTuple_GetItem(tuple, i), flags, mark, i + 1, values[i].tensor, &values[i], &ignored))
      return false;
  }
  applyNumThreads();
  return true;
}

static bool isNarrow(int type) { return type == THNN_TYPE_HALF || type == THNN_TYPE_BFLOAT16; }

/* The element type of the tensors of a call, or -1 if types or devices differ or no tensor tells the type. A function
   without letter R has type float if its tensors of letter M are float or absent. Views of meta tensors have the CPU as
   their device. */
static int typeOfCall(const THNNFunction *function, int flags, const THNNValue *values, THNNState *state)
{
  int type = flags & THNN_CALL_TYPE;
  bool hasReal = false, hasMixed = false, hasDevice = false;
  const char *letter = function->arguments;
  for (int i = 0; i < function->argumentCount; i++, letter++) {
    if (!isTensorLetter(*letter)) continue;
    const char kind = *letter;
    if (letter[1] == '?' || letter[1] == '*') letter++;
    hasReal |= kind == 'R';
    const THNNTensor *tensor = values[i].tensor;
    if (tensor == NULL || tensor->ndim == THNN_UNALLOCATED) continue;
    if (hasDevice && (tensor->device != state->device || tensor->deviceIndex != state->deviceIndex)) return -1;
    hasDevice = true;
    state->device = tensor->device;
    state->deviceIndex = tensor->deviceIndex;
    if (kind == 'M' && tensor->type == THNN_TYPE_FLOAT) {
      hasMixed = true;
    } else if (kind == 'R' || kind == 'M') {
      if (type == THNN_CALL_ANY) type = tensor->type;
      if (tensor->type != type) return -1;
    } else if (tensor->type != (kind == 'A'   ? THNN_TYPE_DOUBLE
                                : kind == 'L' ? THNN_TYPE_INDEX
                                              : THNN_TYPE_INTEGER)) {
      return -1;
    }
  }
  if (type == THNN_CALL_ANY) type = hasReal ? -1 : THNN_TYPE_FLOAT;
  if (hasMixed && type != THNN_TYPE_FLOAT && !isNarrow(type)) return -1;
  return type < THNN_REAL_TYPES ? type : -1;
}

/* Sets the gradient factor, with THNN_CALL_SCALED the last element of the tuple: a tensor with one number, of the type
   and on the device of the call. A kernel of the CPU may leave elements of 0 out of the multiplication, so there the
   number must be finite. */
static bool setGradientFactor(const BoundCall *bound, int type, PyObject *tuple, THNNState *state)
{
  if (!(bound->flags & THNN_CALL_SCALED)) return true;
  PyObject *object = PyTuple_GetItem(tuple, bound->function->argumentCount);
  THNNTensor view;
  if (!allocationIsPlain(object) || !thnn_viewOf(object, &view)) return false;
  if (view.type != type || view.device != state->device || view.deviceIndex != state->deviceIndex) return false;
  for (int d = 0; d < view.ndim; d++)
    if (view.size[d] != 1) return false;
  if (allocationIsNegative(object)) return false;
  state->gradientFactor = view.data;
  if (onDevice(bound, state) != NULL) return true;
  return type == THNN_TYPE_FLOAT ? isfinite(*(const float *)view.data)
                                 : type == THNN_TYPE_DOUBLE && isfinite(*(const double *)view.data);
}

/* torch's current stream on the device of the call; false if it is not known. */
static bool setStream(THNNState *state)
{
  state->stream = NULL;
  if (state->device != THNN_DEVICE_CUDA || state->meta) return true;
  const bool isKnown = exchange != NULL && exchange->current_work_stream != NULL &&
                       exchange->current_work_stream(DL_CUDA, state->deviceIndex, &state->stream) == 0;
  PyErr_Clear();
  return isKnown;
}

/* --- calls --------------------------------------------------------------------------------------------------- */

static void releaseBoundCall(PyObject *capsule)
{
  BoundCall *bound = PyCapsule_GetPointer(capsule, NULL);
  Py_XDECREF(bound->repeat);
  free(bound->results);
  free(bound);
}

/* The type of the elements of an argument that a call of type `type` allocates. */
static int typeOfArgument(const THNNFunction *function, int position, int type)
{
  const char *letter = function->arguments;
  for (int i = 0; i < position; i++)
    if (*++letter == '?' || *letter == '*') letter++;
  return *letter == 'R'   ? type
         : *letter == 'M' ? isNarrow(type) ? THNN_TYPE_FLOAT : type
         : *letter == 'A' ? THNN_TYPE_DOUBLE
         : *letter == 'L' ? THNN_TYPE_INDEX
                          : THNN_TYPE_INTEGER;
}

/* Leaves it to the CPU's function to set a new tensor to 0, in parallel and without the GIL, or to overwrite it; false
   if the caller has to. `view` becomes the view of the tensor before the function is called. */
static bool leavesZeros(THNNState *state, const THNNTensor *view)
{
  if (state->zeroCount == THNN_MAX_ZEROS) return false;
  state->zeros[state->zeroCount++] = view;
  return true;
}

/* Allocates the results that are new tensors like an argument, and replaces the views of these arguments by the views
   of the results. `overwritten`: the computation writes new gradients of parameters, and does not add to them. */
static bool allocateLike(const BoundCall *bound, PyObject *arguments, const THNNValue *values, bool overwritten,
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
    } else if (letter == THNN_RESULT_EMPTY && isNarrow(view->type) &&
               typeOfArgument(bound->function, i, view->type) != view->type) {
      view->type = typeOfArgument(bound->function, i, view->type);
      allocationSetStrides(view, false);
      made[i] = allocationNew(view);
    } else {
      const bool isZero = letter == THNN_RESULT_ZEROS && !overwritten && !leavesZeros(state, view);
      made[i] = allocationLike(PyTuple_GetItem(arguments, i), view, isZero);
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

/* Allocates the requested tensors; false if one was given, whose memory Python resizes, or if an allocation fails. */
static bool allocateRequests(const BoundCall *bound, PyObject *arguments, const THNNState *state, int type,
                             const THNNValue *values, PyObject **made)
{
  for (int i = 0; i < state->requestCount; i++) {
    const THNNRequest *request = &state->requests[i];
    const int position = request->argument - 1, like = request->like - 1;
    THNNTensor *view = values[position].tensor;
    if (view == NULL || view->ndim != THNN_UNALLOCATED) return false;
    if (like >= 0 && values[like].tensor->type == typeOfArgument(bound->function, position, type)) {
      PyObject *object = made[like] != NULL ? made[like] : PyTuple_GetItem(arguments, like);
      const int argument = view->argument;
      *view = *values[like].tensor;
      view->argument = argument;
      made[position] = allocationLike(object, view, false);
    } else {
      viewRequest(bound->function, state, request, type, view);
      made[position] = allocationNew(view);
    }
    if (made[position] == NULL) return false;
  }
  return true;
}

/* Sets the members of a state that is not a meta call. */
static void beginCall(THNNState *state, const THNNFunction *function)
{
  state->function = function->name;
  state->stream = NULL;
  state->device = THNN_DEVICE_CPU;
  state->deviceIndex = 0;
  state->meta = false;
  state->gradientFactor = NULL;
  state->status = THNN_OK;
  state->requestCount = 0;
  state->zeroCount = 0;
  state->allocate = allocateTemporary;
  state->allocations = NULL;
  state->message[0] = 0;
}

/* Calls the function; `made` gets the tensors that the call allocates. NULL after success, otherwise a report. For a
   function that the device library lacks, sets *missing, and only checks and allocates. */
static THNNState *compute(const BoundCall *bound, PyObject *arguments, PyObject **made, bool *missing)
{
  const THNNFunction *function = bound->function;
  const int flags = bound->flags;
  THNNTensor views[function->tensorCount + 1];
  THNNValue values[function->argumentCount + 1];
  /* On the stack, so that calls may be nested: a tensor subclass may call thnn while its arguments are unpacked. */
  THNNState state;
  beginCall(&state, function);
  state.meta = (flags & THNN_CALL_META) != 0;
  bool arePlain;
  const bool unpacked = unpackAll(function, flags, arguments, views, values, &arePlain);
  int type = unpacked ? typeOfCall(function, flags, values, &state) : -1;
  if (type >= 0 && !setGradientFactor(bound, type, arguments, &state)) type = -1;
  *missing = type >= 0 && isMissing(bound, &state);
  state.meta |= *missing;
  const THNNCall call = type < 0 ? NULL : callFor(bound, type, &state);
  if (call == NULL) {
    state.status = THNN_UNPACK;
  } else if (!setStream(&state)) {
    state.status = THNN_RUNTIME_ERROR;
    snprintf(state.message, sizeof state.message, "%s: torch does not tell its current stream on cuda:%d",
             function->name, (int)state.deviceIndex);
  } else if (bound->results != NULL &&
             !(arePlain && allocateLike(bound, arguments, values, *missing, made, &state))) {
    state.status = THNN_ALLOCATE;
  } else {
    do {
      PyThreadState *thread = PyEval_SaveThread();
      call(&state, values);
      PyEval_RestoreThread(thread);
    } while (state.status == THNN_RESIZE && bound->results != NULL &&
             allocateRequests(bound, arguments, &state, type, values, made));
    freeTemporaries(&state);
    if (state.status == THNN_OK && !state.meta && state.zeroCount > 0) {
      state.status = THNN_RUNTIME_ERROR;
      snprintf(state.message, sizeof state.message,
               "%s: the kernel adds to new gradients without THNN_RETURN_IF_META, which sets them to 0",
               function->name);
    }
  }
  if (state.status == THNN_OK) return NULL;
  /* A copy that the caller owns, because Python code that runs before the caller reads it (a signal handler, a dispatch
     mode) may call thnn again. */
  THNNState *report = malloc(sizeof *report);
  if (report == NULL) abort();
  *report = state;
  return report;
}

/* The results of a call that has succeeded: a tensor, or a tuple. */
static PyObject *resultsOf(const BoundCall *bound, PyObject *arguments, PyObject **made)
{
  int count = 0, last = 0;
  for (int i = 0; i < bound->function->argumentCount; i++) {
    if (bound->results[i] == THNN_RESULT_NONE) continue;
    if (made[i] == NULL) {
      made[i] = PyTuple_GetItem(arguments, i);
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

static PyObject *_Atomic observer;

/* A new reference to the observer; NULL without one. */
static PyObject *currentObserver(void)
{
  pthread_mutex_lock(&lock);
  PyObject *current = observer;
  Py_XINCREF(current);
  pthread_mutex_unlock(&lock);
  return current;
}

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The arguments of a call with the tensors that it allocated. */
static PyObject *withMade(const BoundCall *bound, PyObject *arguments, PyObject **made)
{
  const Py_ssize_t size = PyTuple_Size(arguments);
  PyObject *all = PyTuple_New(size);
  for (Py_ssize_t i = 0; all != NULL && i < size; i++) {
    PyObject *object =
        i < bound->function->argumentCount && made[i] != NULL ? made[i] : PyTuple_GetItem(arguments, i);
    Py_INCREF(object);
    PyTuple_SetItem(all, i, object);
  }
  return all;
}

/* Calls computeMissing after the checks; false with an exception set. */
static bool callMissing(const BoundCall *bound, PyObject *arguments, PyObject **made)
{
  PyObject *positions = PyList_New(0), *all = withMade(bound, arguments, made), *answer = NULL;
  for (int i = 0; positions != NULL && i < bound->function->argumentCount; i++) {
    PyObject *position = made[i] == NULL ? NULL : PyLong_FromLong(i);
    if (position != NULL) PyList_Append(positions, position);
    Py_XDECREF(position);
  }
  if (positions != NULL && all != NULL)
    answer = PyObject_CallFunction(bound->open->computeMissing, "sOO", bound->function->name, all, positions);
  Py_XDECREF(positions);
  Py_XDECREF(all);
  Py_XDECREF(answer);
  return answer != NULL;
}

/* Calls the observer, whose exceptions do not reach the caller. */
static void observe(const BoundCall *bound, double elapsed, const THNNState *report, PyObject *arguments,
                    PyObject **made)
{
  PyObject *current = currentObserver(); /* another thread may remove it during the call */
  if (current == NULL) return;
  PyObject *answer = PyObject_CallFunction(current, "sdNN", bound->function->name, elapsed,
                                           PyLong_FromVoidPtr((void *)report), withMade(bound, arguments, made));
  if (answer == NULL) PyErr_WriteUnraisable(current);
  Py_XDECREF(answer);
  Py_DECREF(current);
}

static PyObject *callBound(PyObject *self, PyObject *arguments)
{
  const BoundCall *bound = PyCapsule_GetPointer(self, NULL);
  const int count = bound->function->argumentCount;
  PyObject *made[count + 1];
  memset(made, 0, sizeof made);
  const double start = observer == NULL ? -1 : seconds();
  bool missing;
  THNNState *report = compute(bound, arguments, made, &missing);
  const bool failed = report == NULL && missing && !callMissing(bound, arguments, made);
  if (start >= 0 && !failed && PyTuple_Check(arguments))
    observe(bound, seconds() - start, report, arguments, made);
  PyObject *result;
  if (failed) result = NULL;
  else if (bound->results == NULL) result = PyLong_FromVoidPtr(report);
  else if (report == NULL) result = resultsOf(bound, arguments, made);
  else result = PyObject_CallFunction(bound->repeat, "ON", arguments, PyLong_FromVoidPtr(report));
  for (int i = 0; i < count; i++) Py_XDECREF(made[i]);
  return result;
}

int thnn_observe(uintptr_t object)
{
  PyGILState_STATE gil = PyGILState_Ensure();
  pthread_mutex_lock(&lock);
  PyObject *old = observer;
  const bool done = object == 0 || old == NULL;
  if (done) observer = (PyObject *)object;
  if (done) Py_XINCREF((PyObject *)object);
  pthread_mutex_unlock(&lock);
  if (done) Py_XDECREF(old);
  PyGILState_Release(gil);
  return done;
}

int thnn_bind(uintptr_t function, int flags, const char *results, uintptr_t repeat, uintptr_t list)
{
  static PyMethodDef method = {"call", callBound, METH_O, NULL};
  PyGILState_STATE gil = PyGILState_Ensure();
  BoundCall *bound = malloc(sizeof *bound);
  if (bound == NULL) abort();
  const THNNFunction *entry = (const THNNFunction *)function;
  *bound = (BoundCall){entry, openLibraryWith(entry), flags, NULL, NULL};
  if (repeat != 0) {
    bound->results = strdup(results);
    if (bound->results == NULL) abort();
    thnn_keepReference(&bound->repeat, repeat);
  }
  PyObject *capsule = PyCapsule_New(bound, NULL, releaseBoundCall);
  PyObject *call = capsule ? PyCFunction_New(&method, capsule) : NULL;
  const bool done = call != NULL && PyList_Append((PyObject *)list, call) == 0;
  Py_XDECREF(call);
  Py_XDECREF(capsule);
  PyErr_Clear();
  PyGILState_Release(gil);
  return done;
}

void thnn_release(uintptr_t state) { free((THNNState *)state); }

bool thnn_increment(PyObject *tensor)
{
  THNNTensor view;
  if (!thnn_viewOf(tensor, &view) || view.device != THNN_DEVICE_CPU || view.type != THNN_TYPE_INDEX) return false;
  for (int d = 0; d < view.ndim; d++)
    if (view.size[d] != 1) return false;
  ++*(int64_t *)view.data;
  return true;
}
