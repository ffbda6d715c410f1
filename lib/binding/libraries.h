#ifndef THNN_BINDING_LIBRARIES_H
#define THNN_BINDING_LIBRARIES_H

#include "binding/binding.h"

/* An opened library, and the library for another device that has the same functions in the same order, NULL while there
   is none. */
typedef struct OpenLibrary {
  const THNNLibrary *library;
  const THNNLibrary *_Atomic device;
  PyObject *computeMissing; /* computes the functions that `device` lacks (thnn_setDeviceLibrary) */
  struct OpenLibrary *next;
} OpenLibrary;

/* The library that has a function. */
OpenLibrary *openLibraryWith(const THNNFunction *function);

#endif
