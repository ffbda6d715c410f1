#include "binding/call.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
  state->message[0] = 0;
}

/* A call while its function runs. */
typedef struct Call {
  const BoundCall *bound;
  PyObject *arguments;
  const THNNValue *values;
  PyObject **made;
  int type;
  PyThreadState *thread;
} Call;

/* THNNState.allocateResult. */
static bool allocateResult(THNNState *state, const THNNRequest *request)
{
  Call *call = state->caller;
  PyEval_RestoreThread(call->thread);
  const bool done =
      resultsRequested(call->bound, call->arguments, state, request, call->type, call->values, call->made);
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
    Call running = {bound, arguments, values, made, type, NULL};
    state.caller = &running;
    if (bound->results != NULL) state.allocateResult = allocateResult;
    do { /* once, unless a function of the CUDA library lets the CPU's function check the arguments */
      running.thread = PyEval_SaveThread();
      entry(&state, values);
      PyEval_RestoreThread(running.thread);
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
  if (report == NULL) abort();
  *report = state;
  return report;
}

/* Threads may set the observer and call functions at once where Python has no GIL. */
static pthread_mutex_t observerLock = PTHREAD_MUTEX_INITIALIZER;
static PyObject *_Atomic observer;

/* A new reference to the observer; NULL without one. */
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

/* The tuple of the arguments, from the caller's; NULL with an exception set. */
static PyObject *argumentsOf(const BoundCall *bound, PyObject *given, int offset)
{
  static PyObject *shapeName;
  if (shapeName == NULL) shapeName = PyUnicode_InternFromString("shape");
  const Py_ssize_t count = PyTuple_Size(bound->constants);
  PyObject *arguments = PyTuple_New(count);
  for (Py_ssize_t i = 0; arguments != NULL && i < count; i++) {
    const Source source = bound->sources[i];
    PyObject *object = source.variable < 0 ? PyTuple_GetItem(bound->constants, i)
                                           : PyTuple_GetItem(given, source.variable + offset);
    if (object != NULL && source.variable >= 0 && source.dimension != THNN_WHOLE) {
      PyObject *shape = PyObject_GetAttr(object, shapeName);
      object = shape != NULL ? PySequence_GetItem(shape, source.dimension) : NULL;
      Py_XDECREF(shape);
    } else {
      Py_XINCREF(object);
    }
    if (object == NULL) Py_CLEAR(arguments);
    else PyTuple_SetItem(arguments, i, object);
  }
  return arguments;
}

/* The result, with THNN_CALL_MULTIPLIED multiplied by the factor; NULL with an exception set. */
static PyObject *multiplied(const BoundCall *bound, PyObject *arguments, PyObject *result)
{
  if (!(bound->flags & THNN_CALL_MULTIPLIED) || result == NULL) return result;
  PyObject *factor = PyTuple_GetItem(arguments, bound->function->argumentCount);
  PyObject *answer = PyObject_CallMethod(result, "mul_", "O", factor);
  Py_DECREF(result);
  return answer;
}

static PyObject *runCall(const BoundCall *bound, PyObject *arguments)
{
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
  else if (report == NULL) result = multiplied(bound, arguments, resultsOf(bound, arguments, made));
  else result = PyObject_CallFunction(bound->repeat, "ON", arguments, PyLong_FromVoidPtr(report));
  for (int i = 0; i < count; i++) Py_XDECREF(made[i]);
  return result;
}

PyObject *callBound(const BoundCall *bound, PyObject *given, int offset)
{
  if (bound->sources == NULL) return runCall(bound, given);
  PyObject *arguments = argumentsOf(bound, given, offset);
  PyObject *results = arguments != NULL ? runCall(bound, arguments) : NULL;
  Py_XDECREF(arguments);
  return results;
}

static PyObject *callFromPython(PyObject *self, PyObject *given)
{
  return callBound(PyCapsule_GetPointer(self, NULL), given, 0);
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
  BoundCall *bound = calloc(1, sizeof *bound);
  if (bound == NULL) abort();
  bound->function = (const THNNFunction *)binding->function;
  bound->open = openLibraryWith(bound->function);
  bound->flags = binding->flags;
  if (binding->repeat != 0) {
    bound->results = strdup(binding->results);
    if (bound->results == NULL) abort();
    thnn_keepReference(&bound->repeat, binding->repeat);
  }
  if (binding->constants != 0) {
    thnn_keepReference(&bound->constants, binding->constants);
    const size_t bytes = sizeof(Source) * (size_t)PyTuple_Size(bound->constants);
    bound->sources = malloc(bytes + 1);
    if (bound->sources == NULL) abort();
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
