#ifndef THNN_BINDING_PYTHON_H
#define THNN_BINDING_PYTHON_H

/* Python's limited API, of 3.10; a free-threaded Python lacks it (tools/build.py). cffi's code has included Python.h. */
#if !defined _CFFI_NO_LIMITED_API && !defined Py_LIMITED_API
#define Py_LIMITED_API 0x030A0000
#endif
#include <Python.h>

#endif
