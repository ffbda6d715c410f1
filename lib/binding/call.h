#ifndef THNN_BINDING_CALL_H
#define THNN_BINDING_CALL_H

#include "binding/libraries.h"

/* The origin of an argument: an object of the caller's tuple (-1: a constant), or a size of it. */
typedef struct Source {
  int16_t variable, dimension; /* dimension THNN_WHOLE: the object */
} Source;

/* A function with the flags of its calls: the `self` of the Python function that thnn_bind() makes. */
typedef struct BoundCall {
  const THNNFunction *function;
  const OpenLibrary *open; /* the library of the function */
  int flags;
  char *results;    /* a letter per argument (binding.h), or NULL: calls return reports */
  PyObject *repeat; /* called with the arguments and the report of a call that has not succeeded */
  /* An origin per argument and, with THNN_CALL_SCALED, of the factor; NULL: the caller's tuple has the arguments. */
  Source *sources;
  PyObject *constants; /* a tuple, of as many objects */
} BoundCall;

/* The function in the device library if that is for the device of a call (in emulation, the CPU), otherwise NULL. */
const THNNFunction *onDevice(const BoundCall *bound, const THNNState *state);

static inline bool isHalf(int type) { return type == THNN_TYPE_HALF || type == THNN_TYPE_BFLOAT16; }

/* The call of a Python function that thnn_bind() made. */
const BoundCall *boundCallOf(PyObject *function);

/* Calls the function: its results, or its report; NULL with an exception set. The caller's tuple begins at `offset` of
   `given`. If `later` is a list, a function that the device library lacks may be appended to it, and its results have
   values only after computeMissing(). */
PyObject *callBound(const BoundCall *bound, PyObject *given, int offset, PyObject *later);

/* Computes the calls of such a list, which are calls of one library; false with an exception set. */
bool computeMissing(const BoundCall *bound, PyObject *list);

#endif
