#include "binding/binding.h"

#include "binding/arguments.h"
#include "binding/exchange.h"

void thnn_keepReference(PyObject **kept, uintptr_t given)
{
  Py_XINCREF((PyObject *)given);
  Py_XDECREF(*kept);
  *kept = (PyObject *)given;
}

int thnn_appendFunction(PyMethodDef *method, PyObject *self, uintptr_t list)
{
  PyObject *function = PyCFunction_New(method, self);
  const bool done = function != NULL && PyList_Append((PyObject *)list, function) == 0;
  Py_XDECREF(function);
  Py_XDECREF(self);
  PyErr_Clear();
  return done;
}

int thnn_connect(uintptr_t api, uintptr_t toDlpack, uintptr_t getNumThreads, uintptr_t allocate,
                 uintptr_t generator)
{
  PyGILState_STATE gil = PyGILState_Ensure();
  argumentsConnect(getNumThreads, allocate, generator);
  const int route = exchangeConnect(api, toDlpack);
  PyGILState_Release(gil);
  return route;
}
