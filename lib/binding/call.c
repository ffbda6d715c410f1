#include "binding/call.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "binding/allocation.h"
#include "binding/arguments.h"
#include "binding/exchange.h"
#include "binding/results.h"

const THNNFunction *onDevice(const BoundCall *bound, const THNNState *state)
{
  const THNNLibrary *device = bound->open->device;
  if (device == NULL || device->device != state->device) return NULL;
  return &device->functions[bound->function - bound->open->library->functions];
}

/* The entry that computes on the device of a call; NULL if there is none, or if the flags exclude the device. A meta
   call checks arguments and computes nothing, so the CPU's entries serve every device. */
static THNNCall callFor(const BoundCall *bound, int type, const THNNState *state)
{
  const THNNFunction *function = bound->function, *there = onDevice(bound, state);
  if (state->meta) return function->call[type];
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

static void releaseBoundCall(PyObject *capsule)
{
  BoundCall *bound = PyCapsule_GetPointer(capsule, NULL);
  Py_XDECREF(bound->repeat);
  Py_XDECREF(bound->constants);
  free(bound->results);
  free(bound->sources);
  free(bound);
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
  state->allocate = exchangeAllocate;
  state->allocations = NULL;
  state->allocateResult = NULL;
  state->caller = NULL;
  state->access = NULL;
  state->takesHalf = false;
  state->message[0] = 0;
}

/* A call while its function runs. */
typedef struct Call {
  const BoundCall *bound;
  PyObject *const *arguments;
  const THNNValue *values;
  PyObject **made;
  int type;
  PyThreadState *thread;
  void **raw; /* tensors that have no Python object yet, by the positions of their arguments */
} Call;

/* Makes the Python objects of the tensors that were allocated without the GIL; false if that fails. */
static bool wrapRaw(const Call *call)
{
  bool done = true;
  for (int i = 0; i < call->bound->function->argumentCount; i++) {
    if (call->raw[i] == NULL) continue;
    call->made[i] = allocationWrap(call->raw[i]);
    call->raw[i] = NULL;
    done &= call->made[i] != NULL;
  }
  return done;
}

/* THNNState.allocateResult. */
static bool allocateResult(THNNState *state, const THNNRequest *request)
{
  Call *call = state->caller;
  if (resultsRaw(call->bound, state, request, call->type, call->values, &call->raw[request->argument - 1]))
    return true;
  PyEval_RestoreThread(call->thread);
  const bool done = wrapRaw(call) && resultsRequested(call->bound, call->arguments, state, request, call->type,
                                                      call->values, call->made);
  call->thread = PyEval_SaveThread();
  return done;
}

/* Allocates all requested tensors. False if one was given, whose memory Python resizes, or if an allocation fails. */
static bool allocateRequests(const Call *call, const THNNState *state)
{
  for (int i = 0; i < state->requestCount; i++)
    if (!resultsRequested(call->bound, call->arguments, state, &state->requests[i], call->type, call->values,
                          call->made))
      return false;
  return true;
}

/* The report of a call that had no memory for its report. */
static THNNState noMemory;

/* Calls the function; `made` gets the tensors that the call allocates. NULL after success, otherwise a report, or
   &noMemory. For a function that the device library lacks, sets *missing, and only checks and allocates. */
static THNNState *compute(const BoundCall *bound, PyObject *const *arguments, PyObject **made, bool *missing)
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
  const bool unpacked = argumentsUnpack(function, flags, arguments, views, values, &arePlain);
  int type = unpacked ? argumentsType(function, flags, values, &state) : -1;
  if (type >= 0 && !argumentsSetFactor(bound, type, arguments, &state)) type = -1;
  *missing = type >= 0 && isMissing(bound, &state);
  state.meta |= *missing;
  const THNNCall entry = type < 0 ? NULL : callFor(bound, type, &state);
  if (entry == NULL) {
    state.status = THNN_UNPACK;
  } else if (!exchangeSetStream(&state)) {
    state.status = THNN_RUNTIME_ERROR;
    snprintf(state.message, sizeof state.message, "%s: torch does not tell its current stream on cuda:%d",
             function->name, (int)state.deviceIndex);
  } else if (bound->results != NULL &&
             !(arePlain && resultsLike(bound, arguments, values, *missing, made, &state))) {
    state.status = THNN_ALLOCATE;
  } else {
    void *raw[function->argumentCount + 1];
    memset(raw, 0, sizeof raw);
    Call running = {bound, arguments, values, made, type, NULL, raw};
    state.caller = &running;
    if (bound->results != NULL) state.allocateResult = allocateResult;
    do { /* once, unless a function of the CUDA library lets the CPU's function check the arguments */
      running.thread = PyEval_SaveThread();
      entry(&state, values);
      PyEval_RestoreThread(running.thread);
      if (!wrapRaw(&running) && state.status == THNN_OK) state.status = THNN_ALLOCATE;
    } while (state.status == THNN_RESIZE && bound->results != NULL && allocateRequests(&running, &state));
    exchangeFree(&state);
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
  if (report == NULL) return &noMemory;
  *report = state;
  return report;
}

/* Threads may set the call hook and call functions at once where Python has no GIL. */
static pthread_mutex_t observerLock = PTHREAD_MUTEX_INITIALIZER;
static PyObject *_Atomic observer;

/* A new reference to the call hook; NULL without one. */
static PyObject *currentObserver(void)
{
  pthread_mutex_lock(&observerLock);
  PyObject *current = observer;
  Py_XINCREF(current);
  pthread_mutex_unlock(&observerLock);
  return current;
}

static double seconds(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The objects that a call gets: its arguments, and the factor. */
static int countOf(const BoundCall *bound)
{
  return bound->function->argumentCount + ((bound->flags & (THNN_CALL_SCALED | THNN_CALL_MULTIPLIED)) != 0);
}

/* The tuple of these objects, with the tensors that the call allocated, if they are given. */
static PyObject *tupleOfArguments(const BoundCall *bound, PyObject *const *arguments, PyObject *const *made)
{
  const int size = countOf(bound);
  PyObject *all = PyTuple_New(size);
  for (int i = 0; all != NULL && i < size; i++) {
    PyObject *object =
        made != NULL && i < bound->function->argumentCount && made[i] != NULL ? made[i] : arguments[i];
    Py_INCREF(object);
    PyTuple_SetItem(all, i, object);
  }
  return all;
}

/* Appends a call after the checks, with the positions of new tensors, to a list; false with an exception set. */
static bool appendMissing(const BoundCall *bound, PyObject *const *arguments, PyObject **made, PyObject *list)
{
  PyObject *positions = PyList_New(0), *all = tupleOfArguments(bound, arguments, made), *call = NULL;
  for (int i = 0; positions != NULL && i < bound->function->argumentCount; i++) {
    PyObject *position = made[i] == NULL ? NULL : PyLong_FromLong(i);
    if (position != NULL) PyList_Append(positions, position);
    Py_XDECREF(position);
  }
  if (positions != NULL && all != NULL) call = Py_BuildValue("(sOO)", bound->function->name, all, positions);
  const bool done = call != NULL && PyList_Append(list, call) == 0;
  Py_XDECREF(positions);
  Py_XDECREF(all);
  Py_XDECREF(call);
  return done;
}

bool computeMissing(const BoundCall *bound, PyObject *list)
{
  PyObject *answer = PyObject_CallFunctionObjArgs(bound->open->computeMissing, list, NULL);
  Py_XDECREF(answer);
  return answer != NULL;
}

static bool callMissing(const BoundCall *bound, PyObject *const *arguments, PyObject **made)
{
  PyObject *list = PyList_New(0);
  const bool done = list != NULL && appendMissing(bound, arguments, made, list) && computeMissing(bound, list);
  Py_XDECREF(list);
  return done;
}

/* Calls the call hook, whose exceptions do not reach the caller. */
static void observe(const BoundCall *bound, double elapsed, const THNNState *report, PyObject *const *arguments,
                    PyObject **made)
{
  PyObject *current = currentObserver(); /* another thread may remove it during the call */
  if (current == NULL) return;
  PyObject *answer =
      PyObject_CallFunction(current, "sdNN", bound->function->name, elapsed, PyLong_FromVoidPtr((void *)report),
                            tupleOfArguments(bound, arguments, made));
  if (answer == NULL) PyErr_WriteUnraisable(current);
  Py_XDECREF(answer);
  Py_DECREF(current);
}

/* The value of a call without the right number of arguments: a report, or the value of `repeat` for it. */
static PyObject *reportUnpack(const BoundCall *bound, PyObject *given)
{
  THNNState *report = calloc(1, sizeof *report);
  if (report == NULL) return PyErr_NoMemory();
  beginCall(report, bound->function);
  report->status = THNN_UNPACK;
  PyObject *address = PyLong_FromVoidPtr(report);
  return bound->results == NULL ? address : PyObject_CallFunction(bound->repeat, "ON", given, address);
}

/* The result, with THNN_CALL_MULTIPLIED multiplied by the factor; NULL with an exception set. */
static PyObject *multiplied(const BoundCall *bound, PyObject *const *arguments, PyObject *result)
{
  if (!(bound->flags & THNN_CALL_MULTIPLIED) || result == NULL) return result;
  PyObject *factor = arguments[bound->function->argumentCount];
  PyObject *answer = PyObject_CallMethod(result, "mul_", "O", factor);
  Py_DECREF(result);
  return answer;
}

static PyObject *runCall(const BoundCall *bound, PyObject *const *arguments, PyObject *later)
{
  const int count = bound->function->argumentCount;
  PyObject *made[count + 1];
  memset(made, 0, sizeof made);
  const double start = observer == NULL ? -1 : seconds();
  bool missing;
  THNNState *report = compute(bound, arguments, made, &missing);
  if (report == &noMemory) PyErr_NoMemory();
  bool failed = report == &noMemory;
  if (report == NULL && missing) {
    const bool defers = later != NULL && start < 0 && !(bound->flags & THNN_CALL_MULTIPLIED);
    failed = !(defers ? appendMissing(bound, arguments, made, later) : callMissing(bound, arguments, made));
  }
  if (start >= 0 && !failed) observe(bound, seconds() - start, report, arguments, made);
  PyObject *result;
  if (failed) result = NULL;
  else if (bound->results == NULL) result = PyLong_FromVoidPtr(report);
  else if (report == NULL) result = multiplied(bound, arguments, resultsOf(bound, arguments, made));
  else
    result = PyObject_CallFunction(bound->repeat, "NN", tupleOfArguments(bound, arguments, NULL),
                                   PyLong_FromVoidPtr(report));
  for (int i = 0; i < count; i++) Py_XDECREF(made[i]);
  return result;
}

/* An argument of the caller, or a size of it; NULL with an exception set. New references of sizes go to *size. */
static PyObject *objectOf(Source source, PyObject *given, int offset, PyObject **size)
{
  PyObject *object = PyTuple_GetItem(given, source.variable + offset);
  if (source.dimension == THNN_WHOLE || object == NULL) return object;
  static PyObject *shapeName;
  if (shapeName == NULL) shapeName = PyUnicode_InternFromString("shape");
  PyObject *shape = PyObject_GetAttr(object, shapeName);
  *size = shape != NULL ? PySequence_GetItem(shape, source.dimension) : NULL;
  Py_XDECREF(shape);
  return *size;
}

PyObject *callBound(const BoundCall *bound, PyObject *given, int offset, PyObject *later)
{
  const int count = countOf(bound);
  PyObject *arguments[count + 1], *sizes[count + 1];
  bool done = true;
  int sizeCount = 0;
  if (bound->sources == NULL) {
    /* Python has to report another number of arguments. */
    if (!PyTuple_Check(given) || PyTuple_Size(given) != count) return reportUnpack(bound, given);
    for (int i = 0; i < count; i++) arguments[i] = PyTuple_GetItem(given, i);
  } else {
    for (int i = 0; done && i < count; i++) {
      PyObject *size = NULL;
      arguments[i] = bound->sources[i].variable < 0 ? PyTuple_GetItem(bound->constants, i)
                                                    : objectOf(bound->sources[i], given, offset, &size);
      if (size != NULL) sizes[sizeCount++] = size;
      done = arguments[i] != NULL;
    }
  }
  PyObject *results = done ? runCall(bound, arguments, later) : NULL;
  for (int i = 0; i < sizeCount; i++) Py_DECREF(sizes[i]);
  return results;
}

static PyObject *callFromPython(PyObject *self, PyObject *given)
{
  return callBound(PyCapsule_GetPointer(self, NULL), given, 0, NULL);
}

const BoundCall *boundCallOf(PyObject *function)
{
  return PyCapsule_GetPointer(PyCFunction_GetSelf(function), NULL);
}

int thnn_observe(uintptr_t object)
{
  PyGILState_STATE gil = PyGILState_Ensure();
  pthread_mutex_lock(&observerLock);
  PyObject *old = observer;
  const bool done = object == 0 || old == NULL;
  if (done) observer = (PyObject *)object;
  if (done) Py_XINCREF((PyObject *)object);
  pthread_mutex_unlock(&observerLock);
  if (done) Py_XDECREF(old);
  PyGILState_Release(gil);
  return done;
}

int thnn_bind(const THNNBinding *binding, uintptr_t list)
{
  static PyMethodDef method = {"call", callFromPython, METH_O, NULL};
  PyGILState_STATE gil = PyGILState_Ensure();
  const size_t bytes =
      binding->constants == 0 ? 0 : sizeof(Source) * (size_t)PyTuple_Size((PyObject *)binding->constants);
  BoundCall *bound = calloc(1, sizeof *bound);
  char *results = binding->repeat == 0 ? NULL : strdup(binding->results);
  Source *sources = binding->constants == 0 ? NULL : malloc(bytes + 1);
  if (bound == NULL || (results == NULL && binding->repeat != 0) || (sources == NULL && binding->constants != 0)) {
    free(bound);
    free(results);
    free(sources);
    PyGILState_Release(gil);
    return 0;
  }
  bound->function = (const THNNFunction *)binding->function;
  bound->open = openLibraryWith(bound->function);
  bound->flags = binding->flags;
  if (binding->repeat != 0) {
    bound->results = results;
    thnn_keepReference(&bound->repeat, binding->repeat);
  }
  if (binding->constants != 0) {
    thnn_keepReference(&bound->constants, binding->constants);
    bound->sources = sources;
    memcpy(bound->sources, binding->sources, bytes);
  }
  PyObject *capsule = PyCapsule_New(bound, NULL, releaseBoundCall);
  const int done = thnn_appendFunction(&method, capsule, list);
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
