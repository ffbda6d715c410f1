#include "binding/operators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "binding/allocation.h"
#include "binding/binding.h"

/* An argument or a result of an operator, as libtorch's stable C interface passes it: a tensor, the bits of a number,
   or for an optional tensor the address of a tensor, 0 if it is absent. */
typedef uint64_t StableValue;
typedef void (*StableKernel)(StableValue *stack, uint64_t argumentCount, uint64_t resultCount);

/* c10::SourceLocation */
typedef struct SourceLocation {
  const char *function, *file;
  uint32_t line;
} SourceLocation;

/* std::string */
typedef struct String {
  _Alignas(16) char memory[32];
} String;

/* The exceptions of torch that become RuntimeError, TypeError, ... in Python. */
enum { RUNTIME_ERROR, TYPE_ERROR, VALUE_ERROR, INDEX_ERROR, NOT_IMPLEMENTED_ERROR, ERRORS };

/* Functions of libtorch; the ones that return int32_t return 0 for success. */
static struct Torch {
  int32_t (*dim)(void *tensor, int64_t *ndim);
  int32_t (*sizes)(void *tensor, int64_t **sizes);
  int32_t (*strides)(void *tensor, int64_t **strides);
  int32_t (*dtype)(void *tensor, int32_t *dtype);
  int32_t (*data)(void *tensor, void **data);
  int32_t (*emptyStrided)(int64_t ndim, const int64_t *size, const int64_t *stride, int32_t dtype, int32_t device,
                          int32_t deviceIndex, void **tensor);
  int32_t (*clone)(void *tensor, void **copy);
  int32_t (*deleteTensor)(void *tensor);
  int32_t (*deleteValue)(StableValue *value);
  int32_t (*numThreads)(uint32_t *count);
  int32_t (*initImpl)(const char *namespace, const char *key, const char *file, uint32_t line, void **library);
  int32_t (*impl)(void *library, const char *name, StableKernel kernel, uint64_t version);
  PyObject *(*wrap)(const void *tensor);
  /* libtorch's stable C interface has no function that throws. These belong to the C++ runtime and to libc10. */
  void *(*allocateException)(size_t size);
  void (*throwException)(void *exception, void *type, void (*destroy)(void *exception));
  void (*makeString)(String *string, const char *text, const void *allocator);
  void (*destroyString)(String *string);
  void (*makeError[ERRORS])(void *error, SourceLocation place, String *message);
  void *typeOfError[ERRORS];
} torch;

static bool isConnected;

int thnn_connectOperators(const uintptr_t *addresses, int count)
{
  if (count != (int)(sizeof torch / sizeof *addresses)) return false;
  isConnected = true;
  for (int i = 0; i < count; i++) isConnected &= addresses[i] != 0;
  if (isConnected) memcpy(&torch, addresses, sizeof torch);
  return true;
}

typedef struct Operator {
  const THNNFunction *function;
  char *letters;
  THNNSource *sources;
  int32_t *results;
  int count, resultCount; /* count: of arguments */
  THNNScaling scaling;
  PyObject *fallback;
} Operator;

/* --- tensors ------------------------------------------------------------------------------------------------- */

static bool viewOfHandle(void *tensor, int argument, THNNTensor *view)
{
  int64_t ndim, *sizes, *strides;
  int32_t dtype;
  if (torch.dim(tensor, &ndim) != 0 || ndim > THNN_MAX_DIM || torch.sizes(tensor, &sizes) != 0 ||
      torch.strides(tensor, &strides) != 0 || torch.dtype(tensor, &dtype) != 0 ||
      torch.data(tensor, &view->data) != 0)
    return false;
  view->type = 0;
  while (view->type < THNN_TYPE_OTHER && allocationDtypes[view->type] != dtype) view->type++;
  view->device = THNN_DEVICE_CPU;
  view->deviceIndex = 0;
  view->ndim = (int32_t)ndim;
  view->argument = argument;
  memcpy(view->size, sizes, sizeof *sizes * (size_t)ndim);
  memcpy(view->stride, strides, sizeof *strides * (size_t)ndim);
  return true;
}

/* The binding opens libTHNN at run time, and therefore cannot call THNNTensor_numel and THNNTensor_isDense. */

static int64_t numelOf(const THNNTensor *view)
{
  int64_t count = 1;
  for (int d = 0; d < view->ndim; d++) count *= view->size[d];
  return count;
}

/* True if the elements fill one block of memory, in any order of dimensions; false for a tensor without elements. */
static bool isDense(const THNNTensor *view)
{
  int64_t step = 1;
  for (int remaining = view->ndim; remaining > 0; remaining--) {
    int d = 0;
    while (d < view->ndim && (view->size[d] == 1 || view->stride[d] != step)) d++;
    if (d == view->ndim || view->size[d] == 0) break;
    step *= view->size[d];
  }
  return step == numelOf(view);
}

/* A new tensor with the type, sizes and strides of the view, and its address in view->data; NULL if that fails. */
static void *newTensor(THNNTensor *view)
{
  void *tensor;
  if (torch.emptyStrided(view->ndim, view->size, view->stride, allocationDtypes[view->type], 0, -1, &tensor) != 0)
    return NULL;
  if (torch.data(tensor, &view->data) == 0) return tensor;
  torch.deleteTensor(tensor);
  return NULL;
}

static void *cloneOf(void *tensor, THNNTensor *view)
{
  void *copy;
  if (torch.clone(tensor, &copy) != 0) return NULL;
  if (viewOfHandle(copy, view->argument, view)) return copy;
  torch.deleteTensor(copy);
  return NULL;
}

/* A tensor as torch.empty_like makes it. A copy has the strides that torch chooses for a tensor with gaps or
   overlaps. */
static void *newLike(void *tensor, THNNTensor *view)
{
  return isDense(view) ? newTensor(view) : cloneOf(tensor, view);
}

/* --- calls in C ---------------------------------------------------------------------------------------------- */

static bool flagOf(StableValue value) { return (value & 0xff) != 0; }

/* False if the flag that the argument depends on is false. */
static bool isWanted(const THNNSource *source, const StableValue *stack)
{
  return source->flag < 0 || flagOf(stack[source->flag]);
}

static void *handleOf(StableValue value, char letter)
{
  if (letter == 'O') return value == 0 ? NULL : (void *)*(StableValue *)value;
  return letter == 'T' ? (void *)value : NULL;
}

/* The value of an argument of type `letter` of the C function; false if Python has to compute the call. */
static bool numberOf(const Operator *op, const THNNSource *source, const StableValue *stack, char letter,
                     THNNValue *value)
{
  int64_t integer = (int64_t)source->number;
  double number = source->number;
  if (source->kind == THNN_SOURCE_SIZE) {
    void *tensor = handleOf(stack[source->index], op->letters[source->index]);
    int64_t ndim, *sizes;
    if (tensor == NULL || torch.dim(tensor, &ndim) != 0 || torch.sizes(tensor, &sizes) != 0) return false;
    const int64_t d = source->dimension < 0 ? source->dimension + ndim : source->dimension;
    if (d < 0 || d >= ndim) return false;
    integer = sizes[d];
    number = (double)integer;
  } else if (source->kind == THNN_SOURCE_GIVEN) {
    const StableValue given = stack[source->index];
    if (op->letters[source->index] == 'd') memcpy(&number, &given, sizeof number);
    else integer = op->letters[source->index] == 'b' ? flagOf(given) : (int64_t)given;
  }
  if (letter == 'd') value->number = number;
  else value->integer = integer;
  return letter != 'i' || integer == (int)integer;
}

/* Fills the views and values of all arguments. The view of a new tensor that is like another one is that of the other
   one until allocateSources(). */
static bool fillValues(const Operator *op, const StableValue *stack, THNNTensor *views, THNNValue *values)
{
  const char *letter = op->function->arguments;
  for (int i = 0; i < op->function->argumentCount; i++, letter++) {
    const THNNSource *source = &op->sources[i];
    if (*letter >= 'a') {
      if (!numberOf(op, source, stack, *letter, &values[i])) return false;
      continue;
    }
    const char mark = letter[1] == '?' || letter[1] == '*' ? *++letter : 0;
    THNNTensor *view = values[i].tensor = views++;
    if (source->kind == THNN_SOURCE_NONE || source->kind == THNN_SOURCE_REQUESTED) {
      view->data = NULL;
      view->ndim = THNN_UNALLOCATED;
      view->argument = i + 1;
      const bool isAbsent = source->kind == THNN_SOURCE_NONE ? mark != '*' : !isWanted(source, stack);
      if (isAbsent) values[i].tensor = NULL;
    } else {
      void *tensor = handleOf(stack[source->index], op->letters[source->index]);
      if (tensor == NULL) values[i].tensor = NULL;
      else if (!viewOfHandle(tensor, i + 1, view)) return false;
    }
    if (values[i].tensor == NULL && mark != '?') return false;
  }
  return true;
}

/* The gradient factor, as setGradientFactor() in binding.c; false if it must not be used. */
static bool factorOf(StableValue value, int type, bool mustBeFinite, THNNTensor *view)
{
  if (!viewOfHandle((void *)value, 0, view) || view->type != type || view->ndim != 0) return false;
  return !mustBeFinite || isfinite(type == THNN_TYPE_FLOAT ? *(float *)view->data : *(double *)view->data);
}

static void multiply(THNNTensor *view, const THNNTensor *factor)
{
  const int64_t count = numelOf(view);
  if (view->type == THNN_TYPE_FLOAT)
    for (int64_t i = 0; i < count; i++) ((float *)view->data)[i] *= *(const float *)factor->data;
  else
    for (int64_t i = 0; i < count; i++) ((double *)view->data)[i] *= *(const double *)factor->data;
}

static bool allocateSources(const Operator *op, const StableValue *stack, const THNNValue *values, void **made,
                            THNNState *state)
{
  for (int i = 0; i < op->function->argumentCount; i++) {
    const THNNSource *source = &op->sources[i];
    if (source->kind < THNN_SOURCE_EMPTY || values[i].tensor == NULL || !isWanted(source, stack)) continue;
    THNNTensor *view = values[i].tensor;
    void *tensor = handleOf(stack[source->index], op->letters[source->index]);
    if (source->kind == THNN_SOURCE_SCALAR) {
      view->ndim = 0;
      view->type = thnn_typeOfArgument(op->function, i, view->type);
      made[i] = newTensor(view);
    } else if (source->kind == THNN_SOURCE_CLONE) {
      made[i] = cloneOf(tensor, view);
    } else {
      if (source->kind == THNN_SOURCE_ZEROS && !thnn_leavesZeros(state, view)) return false;
      made[i] = newLike(tensor, view);
    }
    if (made[i] == NULL) return false;
  }
  return true;
}

static bool allocateRequested(const Operator *op, const THNNState *state, int type, const THNNValue *values,
                              void **made)
{
  for (int i = 0; i < state->requestCount; i++) {
    const THNNRequest *request = &state->requests[i];
    const int position = request->argument - 1, like = request->like - 1;
    THNNTensor *view = values[position].tensor;
    if (view == NULL || view->ndim != THNN_UNALLOCATED) return false;
    if (like >= 0 && values[like].tensor->type == thnn_typeOfArgument(op->function, position, type)) {
      if (!isDense(values[like].tensor)) return false;
      *view = *values[like].tensor;
      view->argument = request->argument;
    } else {
      thnn_viewRequest(op->function, state, request, type, view);
    }
    made[position] = newTensor(view);
    if (made[position] == NULL) return false;
  }
  return true;
}

/* An empty tensor, of the type of the first argument, in place of an absent result. */
static void *newEmpty(const StableValue *stack)
{
  THNNTensor view;
  if (!viewOfHandle((void *)stack[0], 0, &view)) return NULL;
  view.ndim = 1;
  view.size[0] = 0;
  view.stride[0] = 1;
  return newTensor(&view);
}

/* Puts the results in the order of the operator; false if an allocation fails. */
static bool collect(const Operator *op, const StableValue *stack, void **made, void **results)
{
  for (int k = 0; k < op->resultCount; k++) {
    void **one = &made[op->results[k]];
    results[k] = *one != NULL ? *one : newEmpty(stack);
    *one = NULL;
    if (results[k] != NULL) continue;
    while (--k >= 0) torch.deleteTensor(results[k]);
    return false;
  }
  return true;
}

/* Calls the C function. Returns false, with nothing changed, if it fails or if Python has to compute the call. */
static bool computeInC(const Operator *op, const StableValue *stack, void **results)
{
  const THNNFunction *function = op->function;
  THNNTensor views[function->tensorCount + 1], factor;
  THNNValue values[function->argumentCount + 1];
  void *made[function->argumentCount + 1];
  memset(made, 0, sizeof made);
  THNNState state;
  thnn_beginCall(&state, function);
  if (!fillValues(op, stack, views, values)) return false;
  const int type = thnn_typeOfCall(function, THNN_CALL_ANY, values, &state);
  if (type < 0 || function->call[type] == NULL) return false;
  const bool functionScales = op->scaling == THNN_SCALING_FUNCTION;
  if (op->scaling != THNN_SCALING_NONE && !factorOf(stack[0], type, functionScales, &factor)) return false;
  if (functionScales) state.gradientFactor = factor.data;
  static _Thread_local bool hasNumThreads;
  uint32_t ignored;
  /* torch sets a thread's number of OpenMP threads when that thread first asks for the number. */
  if (!hasNumThreads) hasNumThreads = torch.numThreads(&ignored) == 0;
  bool done = allocateSources(op, stack, values, made, &state);
  if (done) {
    do function->call[type](&state, values);
    while (state.status == THNN_RESIZE && allocateRequested(op, &state, type, values, made));
    done = state.status == THNN_OK && state.zeroCount == 0; /* Python raises the errors */
    if (done && op->scaling == THNN_SCALING_KERNEL) multiply(values[op->results[0]].tensor, &factor);
  }
  done = done && collect(op, stack, made, results);
  for (int i = 0; i < function->argumentCount; i++)
    if (made[i] != NULL) torch.deleteTensor(made[i]);
  return done;
}

/* --- calls in Python ----------------------------------------------------------------------------------------- */

static PyObject *objectOf(StableValue value, char letter)
{
  double number;
  switch (letter) {
  case 'd':
    memcpy(&number, &value, sizeof number);
    return PyFloat_FromDouble(number);
  case 'b':
    return PyBool_FromLong(flagOf(value));
  case 'i':
    return PyLong_FromLongLong((int64_t)value);
  default: {
    void *tensor = handleOf(value, letter);
    if (tensor != NULL) return torch.wrap(tensor);
    Py_INCREF(Py_None);
    return Py_None;
  }
  }
}

/* A new tensor of libtorch with the elements of a tensor that the Python function returned, whose own handle belongs to
   Python; NULL if that fails, and for tensors with gaps. */
static void *copyOf(PyObject *object)
{
  THNNTensor view;
  if (!thnn_viewOf(object, &view) || view.device != THNN_DEVICE_CPU || view.type >= THNN_TYPE_OTHER) return NULL;
  const int64_t count = numelOf(&view);
  if (count != 0 && !isDense(&view)) return NULL;
  const void *data = view.data;
  void *tensor = newTensor(&view);
  if (tensor != NULL && count != 0) memcpy(view.data, data, (size_t)(count * allocationElementSize(view.type)));
  return tensor;
}

/* The exception of torch for the current one of Python, which it clears, and a copy of its text. */
static int takeError(char **text)
{
  PyObject *const classes[] = {PyExc_IndexError, PyExc_ValueError, PyExc_TypeError, PyExc_NotImplementedError};
  static const int errors[] = {INDEX_ERROR, VALUE_ERROR, TYPE_ERROR, NOT_IMPLEMENTED_ERROR};
  int error = RUNTIME_ERROR;
  for (int i = 3; i >= 0; i--)
    if (PyErr_ExceptionMatches(classes[i])) error = errors[i];
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyObject *string = value == NULL ? NULL : PyObject_Str(value);
  PyObject *utf8 = string == NULL ? NULL : PyUnicode_AsUTF8String(string);
  *text = strdup(utf8 == NULL ? "an operator of thnn failed" : PyBytes_AsString(utf8));
  if (*text == NULL) abort();
  PyErr_Clear();
  Py_XDECREF(utf8);
  Py_XDECREF(string);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return error;
}

/* Calls the Python function. After a failure returns false, and sets the exception and its text, which the caller
   frees. */
static bool computeInPython(const Operator *op, const StableValue *stack, void **results, int *error, char **text)
{
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *arguments = PyTuple_New(op->count), *answer = NULL;
  bool done = arguments != NULL;
  for (int i = 0; done && i < op->count; i++) {
    PyObject *object = objectOf(stack[i], op->letters[i]);
    done = object != NULL && PyTuple_SetItem(arguments, i, object) == 0;
  }
  if (done) answer = PyObject_CallObject(op->fallback, arguments);
  done = answer != NULL;
  int made = 0;
  for (; done && made < op->resultCount; made++) {
    results[made] = copyOf(PyTuple_Check(answer) ? PyTuple_GetItem(answer, made) : answer);
    if (results[made] == NULL) done = false;
    if (!done && !PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "a result of Python cannot be copied");
    if (!done) break;
  }
  if (!done) {
    *error = takeError(text);
    while (--made >= 0) torch.deleteTensor(results[made]);
  }
  Py_XDECREF(answer);
  Py_XDECREF(arguments);
  PyGILState_Release(gil);
  return done;
}

/* The first entry of a C++ object's table of virtual functions; of an exception it is the destructor. */
static void destroyException(void *exception) { (**(void (***)(void *))exception)(exception); }

static void throwError(int error, char *text, const char *function)
{
  enum { SIZE = 1024 };     /* more than the size of c10::Error, about 200 bytes */
  const char allocator = 0; /* std::allocator<char> has no members */
  void *exception = torch.allocateException(SIZE);
  String message;
  torch.makeString(&message, text, &allocator);
  free(text);
  torch.makeError[error](exception, (SourceLocation){function, __FILE__, __LINE__}, &message);
  torch.destroyString(&message);
  torch.throwException(exception, torch.typeOfError[error], destroyException);
}

/* --- operators ----------------------------------------------------------------------------------------------- */

/* libtorch passes a kernel nothing that identifies the operator: each operator has a kernel of its own. */
#define KERNELS_8(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7)
#define KERNELS_64(F, n) \
  KERNELS_8(F, n##0)     \
  KERNELS_8(F, n##1)     \
  KERNELS_8(F, n##2)     \
  KERNELS_8(F, n##3)     \
  KERNELS_8(F, n##4) KERNELS_8(F, n##5) KERNELS_8(F, n##6) KERNELS_8(F, n##7)
#define KERNELS_512(F, n) \
  KERNELS_64(F, n##0)     \
  KERNELS_64(F, n##1)     \
  KERNELS_64(F, n##2)     \
  KERNELS_64(F, n##3)     \
  KERNELS_64(F, n##4) KERNELS_64(F, n##5) KERNELS_64(F, n##6) KERNELS_64(F, n##7)
/* F of each number in octal, 00000 to 01777. */
#define KERNELS(F) KERNELS_512(F, 00) KERNELS_512(F, 01)

enum { OPERATORS = 1024 };

static Operator operators[OPERATORS];
static int operatorCount;

static void runOperator(const Operator *op, StableValue *stack)
{
  void *results[op->resultCount];
  int error = 0;
  char *text = NULL;
  const bool done =
      (!thnn_isObserved() && computeInC(op, stack, results)) || computeInPython(op, stack, results, &error, &text);
  for (int i = 0; i < op->count; i++) {
    void *tensor = handleOf(stack[i], op->letters[i]);
    if (tensor != NULL) torch.deleteTensor(tensor);
    if (tensor != NULL && op->letters[i] == 'O') torch.deleteValue((StableValue *)stack[i]);
  }
  if (!done) throwError(error, text, op->function->name);
  for (int k = 0; k < op->resultCount; k++) stack[k] = (StableValue)results[k];
}

#define KERNEL(number)                                                                         \
  static void kernel##number(StableValue *stack, uint64_t argumentCount, uint64_t resultCount) \
  {                                                                                            \
    (void)argumentCount, (void)resultCount;                                                    \
    runOperator(&operators[number], stack);                                                    \
  }
KERNELS(KERNEL)

#define NAME(number) kernel##number,
static const StableKernel kernels[OPERATORS] = {KERNELS(NAME)};

static void *copyOfMemory(const void *memory, size_t bytes)
{
  void *copy = malloc(bytes + 1);
  if (copy == NULL) abort();
  return memcpy(copy, memory, bytes);
}

int thnn_implementOperator(const char *namespace, const char *name, uintptr_t function, const char *letters,
                           const THNNSource *sources, const int32_t *results, int resultCount, int scaling,
                           uintptr_t fallback)
{
  /* The release of torch whose encoding of values this file knows. */
  const uint64_t version = (uint64_t)2 << 56 | (uint64_t)13 << 48;
  const PyGILState_STATE gil = PyGILState_Ensure();
  void *library; /* kept for the rest of the process, since its end would remove the kernel */
  bool done = isConnected && operatorCount < OPERATORS;
  if (done) {
    const THNNFunction *entry = (const THNNFunction *)function;
    Operator *op = &operators[operatorCount];
    *op = (Operator){entry,
                     copyOfMemory(letters, strlen(letters) + 1),
                     copyOfMemory(sources, sizeof *sources * (size_t)entry->argumentCount),
                     copyOfMemory(results, sizeof *results * (size_t)resultCount),
                     (int)strlen(letters),
                     resultCount,
                     (THNNScaling)scaling,
                     (PyObject *)fallback};
    Py_INCREF(op->fallback);
    done = torch.initImpl(namespace, "CPU", __FILE__, __LINE__, &library) == 0 &&
           torch.impl(library, name, kernels[operatorCount], version) == 0;
    operatorCount += done;
  }
  PyGILState_Release(gil);
  return done;
}
