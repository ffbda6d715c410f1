#include "binding/context.h"

#include <stdbool.h>
#include <string.h>

#include "binding/binding.h"

/* Functions of libtorch. */
static struct ContextFunctions {
  const void *const *(*layers)(void);  /* a std::vector, which begins with its first address and its end */
  const void *const *(*tracing)(void); /* a std::shared_ptr, which begins with an address */
  int64_t (*modes)(void);
  bool (*isGradEnabled)(void);
} reads;

static bool isContextKnown;
static PyObject *forwardModeNames, *contextInPython, *levelName, *requiresGradName;

int thnn_connectContext(const uintptr_t *addresses, int count, uintptr_t forwardMode, uintptr_t inPython)
{
  if (count != (int)(sizeof reads / sizeof *addresses)) return false;
  PyGILState_STATE gil = PyGILState_Ensure();
  thnn_keepReference(&forwardModeNames, forwardMode);
  thnn_keepReference(&contextInPython, inPython);
  if (levelName == NULL) levelName = PyUnicode_InternFromString("_current_level");
  if (requiresGradName == NULL) requiresGradName = PyUnicode_InternFromString("requires_grad");
  isContextKnown = levelName != NULL && requiresGradName != NULL;
  for (int i = 0; i < count; i++) isContextKnown &= addresses[i] != 0;
  if (isContextKnown) memcpy(&reads, addresses, sizeof reads);
  PyGILState_Release(gil);
  return true;
}

int contextOfThread(void)
{
  if (!isContextKnown) {
    PyObject *answer = PyObject_CallObject(contextInPython, NULL);
    const int found = answer == NULL ? -1 : (int)PyLong_AsLong(answer);
    Py_XDECREF(answer);
    return found;
  }
  const void *const *layers = reads.layers();
  if (layers[0] != layers[1] || *reads.tracing() != NULL || reads.modes() > 0) return THNN_CONTEXT_TRANSFORM;
  /* A borrowed reference, of a small integer, which Python never frees. */
  PyObject *level = PyDict_GetItemWithError(forwardModeNames, levelName);
  if (level == NULL || PyLong_AsLong(level) >= 0) return PyErr_Occurred() ? -1 : THNN_CONTEXT_TRANSFORM;
  return reads.isGradEnabled() ? THNN_CONTEXT_GRADIENT : THNN_CONTEXT_PLAIN;
}

static PyObject *answerOf(int found) { return found < 0 ? NULL : PyLong_FromLong(found); }

static PyObject *readContext(PyObject *self, PyObject *unused)
{
  (void)self, (void)unused;
  return answerOf(contextOfThread());
}

static PyObject *increment(PyObject *self, PyObject *tensor)
{
  (void)self;
  const int found = contextOfThread();
  return found < 0 ? NULL : PyBool_FromLong(found != THNN_CONTEXT_TRANSFORM && thnn_increment(tensor));
}

/* 1 if an object requires a gradient, 0 if not, -1 with an exception set. */
static int requiresGrad(PyObject *object)
{
  PyObject *answer = PyObject_GetAttr(object, requiresGradName);
  const int requires = answer == NULL       ? -1
                       : answer == Py_True  ? 1
                       : answer == Py_False ? 0
                                            : PyObject_IsTrue(answer);
  Py_XDECREF(answer);
  return requires;
}

enum { COUNT_BITS = 8 };

static PyObject *contextOfCall(PyObject *self, PyObject *arguments)
{
  int found = contextOfThread();
  if (found != THNN_CONTEXT_GRADIENT) return answerOf(found);
  const int64_t described = PyLong_AsLongLong(self), constants = described >> COUNT_BITS;
  const int count = (int)(described & ((1 << COUNT_BITS) - 1));
  found = THNN_CONTEXT_PLAIN;
  for (int i = 0; i < count; i++) {
    PyObject *object = PyTuple_GetItem(arguments, i);
    if (object == NULL) return NULL;
    const int requires = object == Py_None ? 0 : requiresGrad(object);
    if (requires < 0) {
      if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return NULL;
      PyErr_Clear();
      return answerOf(THNN_CONTEXT_PLAIN); /* not a tensor: the C function reports the error */
    }
    if (requires && (constants >> i & 1)) found = THNN_CONTEXT_CONSTANT;
    else if (requires && found == THNN_CONTEXT_PLAIN) found = THNN_CONTEXT_GRADIENT;
  }
  return answerOf(found);
}

int thnn_makeContextFunctions(uintptr_t list)
{
  static PyMethodDef reading = {"read_context", readContext, METH_NOARGS, NULL};
  static PyMethodDef incrementing = {"increment", increment, METH_O, NULL};
  PyGILState_STATE gil = PyGILState_Ensure();
  const bool done = thnn_appendFunction(&reading, NULL, list) && thnn_appendFunction(&incrementing, NULL, list);
  PyGILState_Release(gil);
  return done;
}

int thnn_makeContextOfCall(int tensors, int64_t constants, uintptr_t list)
{
  static PyMethodDef method = {"context_of_call", contextOfCall, METH_O, NULL};
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *described = PyLong_FromLongLong(constants << COUNT_BITS | tensors);
  const int done = described != NULL && thnn_appendFunction(&method, described, list);
  PyGILState_Release(gil);
  return done;
}
