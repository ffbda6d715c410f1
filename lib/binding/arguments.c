#include "binding/arguments.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "binding/allocation.h"
#include "binding/exchange.h"

static PyObject *numThreads, *allocateMarker, *generatorClass;

void argumentsConnect(uintptr_t getNumThreads, uintptr_t allocate, uintptr_t generator)
{
  thnn_keepReference(&numThreads, getNumThreads);
  thnn_keepReference(&allocateMarker, allocate);
  thnn_keepReference(&generatorClass, generator);
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
  } else if (!exchangeViewOf(object, view, mayBeNegative)) {
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

bool argumentsUnpack(const THNNFunction *function, int flags, PyObject *const *objects, THNNTensor *views,
                     THNNValue *values, bool *arePlain)
{
  *arePlain = true;
  bool calledPython = false;
  const char *letter = function->arguments;
  for (int i = 0; i < function->argumentCount; i++, letter++) {
    PyObject *object = objects[i];
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
        !unpackTensor(objects[i], flags, mark, i + 1, values[i].tensor, &values[i], &ignored))
      return false;
  }
  applyNumThreads();
  return true;
}

int argumentsType(const THNNFunction *function, int flags, const THNNValue *values, THNNState *state)
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
  if (hasMixed && type != THNN_TYPE_FLOAT && !isHalf(type)) return -1;
  return type < THNN_REAL_TYPES ? type : -1;
}

/* True for a finite number of an element type. */
static bool isFinite(int type, const void *number)
{
  const uint16_t exponent = type == THNN_TYPE_HALF ? 0x7c00 : 0x7f80; /* all ones in infinities and NaN */
  return type == THNN_TYPE_FLOAT    ? isfinite(*(const float *)number)
         : type == THNN_TYPE_DOUBLE ? isfinite(*(const double *)number)
                                    : (*(const uint16_t *)number & exponent) != exponent;
}

bool argumentsSetFactor(const BoundCall *bound, int type, PyObject *const *objects, THNNState *state)
{
  if (!(bound->flags & (THNN_CALL_SCALED | THNN_CALL_MULTIPLIED))) return true;
  PyObject *object = objects[bound->function->argumentCount];
  THNNTensor view;
  if (!allocationIsPlain(object) || !thnn_viewOf(object, &view)) return false;
  if (view.type != type || view.device != state->device || view.deviceIndex != state->deviceIndex) return false;
  for (int d = 0; d < view.ndim; d++)
    if (view.size[d] != 1) return false;
  if (allocationIsNegative(object)) return false;
  if (bound->flags & THNN_CALL_MULTIPLIED) return true;
  state->gradientFactor = view.data;
  if (onDevice(bound, state) != NULL) return true;
  return isFinite(type, view.data);
}
