#ifndef THNN_BINDING_H
#define THNN_BINDING_H

#include "THNN/runtime/function_table.h"
#include "binding/python.h"

/* The Python binding: calls the functions of any library that exports a table (function_table.h) with torch tensors.
   docs/architecture.md has the steps of a call. */

/* A Python function of thnn_bind() takes one tuple: the arguments but the state or, with `constants`, the objects from
   which they come. An argument is a torch tensor, None if absent, or the marker of an output to allocate; an int; a float
   or an int; True or False. With THNN_CALL_VIEWS a tensor is the address of a THNNTensor. Another object makes the status
   THNN_UNPACK. */

/* It returns 0 after success, otherwise a report: the address of the call's state, for thnn_release(). With `repeat` it
   returns the outputs, which it allocates as the letters of `results` tell, and in place of a report the value of `repeat`
   for the arguments and the report. */

/* Flags of a call. The bits of THNN_CALL_TYPE are the THNNType that `real` tensors must have, or THNN_CALL_ANY. */
enum {
  THNN_CALL_TYPE = 15,
  THNN_CALL_ANY = 15,     /* the element type that the tensors have */
  THNN_CALL_VIEWS = 16,   /* tensors are addresses of THNNTensor views */
  THNN_CALL_META = 32,    /* check arguments and request sizes, compute nothing */
  THNN_CALL_SCALED = 64,  /* the tuple ends with a tensor of one element, the gradient factor of the state */
  THNN_CALL_HOST = 128,   /* tensors must be on the CPU */
  THNN_CALL_DEVICE = 256, /* tensors must be on the device of the device library */
  THNN_CALL_MULTIPLIED =
      512 /* the same tensor as with THNN_CALL_SCALED, by which the binding multiplies the result */
};

/* The letters of `results`, one per argument. */
enum {
  THNN_RESULT_NONE = '.',
  THNN_RESULT_GIVEN = 'g',  /* a result: the tensor given, or allocated as the function requests */
  THNN_RESULT_EMPTY = 'e',  /* a result: a new tensor like the tensor given */
  THNN_RESULT_ZEROS = 'z',  /* the same, filled with zeros */
  THNN_RESULT_SCALAR = 's', /* a result: a new tensor without dimensions, of the type of the tensor given */
};

/* Opens a library until the process ends; NULL with `reason` set if that fails. */
const THNNLibrary *thnn_open(const char *path, char *reason, int64_t room);

/* False for a function of a table that the library cannot compute. */
int thnn_hasEntry(const THNNFunction *function);

/* Sets the device library of `host`, or none if `device` is NULL: its functions compute calls of `host` with tensors on
   its device. False, without an effect, if the libraries were made from different declarations. `computeMissing` is the
   id of a Python function that computes calls of functions that `device` lacks (Library.compute_for). */
int thnn_setDeviceLibrary(const THNNLibrary *host, const THNNLibrary *device, uintptr_t computeMissing);

enum { THNN_WHOLE = -128 };

/* A C function and the origin of its arguments, of which thnn_bind() makes a Python function. Python objects are given
   by their ids, 0 for none. */
typedef struct THNNBinding {
  uintptr_t function; /* a THNNFunction */
  int32_t flags;
  const char *results;
  uintptr_t repeat;
  /* A tuple with a constant per argument and, with THNN_CALL_SCALED, for the factor; or none. `sources` then has two
     numbers for each: the position in the caller's tuple (-1: the constant), and THNN_WHOLE for the object there, or the
     dimension whose size is the argument. */
  uintptr_t constants;
  const int16_t *sources;
} THNNBinding;

/* Appends the Python function to a Python list, given by its id. False if there is no memory for it. */
int thnn_bind(const THNNBinding *binding, uintptr_t list);
void thnn_release(uintptr_t state);

/* Makes every Python function of thnn_bind() call a Python object, given by its id, after each call: with the name of
   the C function, the seconds, the report (0 after success), and the tuple with the tensors that the call allocated. 0
   removes the object. False, without an effect, if another object is set. */
int thnn_observe(uintptr_t observer);

/* How torch tensors are passed to C. */
enum {
  THNN_EXCHANGE_VIEWS,    /* as views that Python fills (THNN_CALL_VIEWS) */
  THNN_EXCHANGE_CAPSULES, /* as DLPack capsules, from torch.utils.dlpack.to_dlpack */
  THNN_EXCHANGE_API       /* by the DLPack C exchange API */
};

/* Sets, by their ids, torch's DLPack exchange API (a capsule; 0 if torch has none), torch.utils.dlpack.to_dlpack, which
   is called without the API (0 for none), torch.get_num_threads, the marker of an output to allocate, and
   torch.Generator. Returns how torch tensors are passed to C. */
int thnn_connect(uintptr_t api, uintptr_t toDlpack, uintptr_t getNumThreads, uintptr_t allocate,
                 uintptr_t generator);

/* Sets the names of torch with which tensors are allocated (library.py lists them): the id of a tuple of objects, and
   the addresses of C functions, 0 where torch lacks one. False if the tuple has another length. */
int thnn_connectAllocation(uintptr_t objects, uintptr_t emptyStrided, uintptr_t dataPointer,
                           uintptr_t deleteTensor, uintptr_t wrapTensor);

/* Replaces an object that is kept by another one, given by its id; 0 for none. */
void thnn_keepReference(PyObject **kept, uintptr_t given);

/* Appends a Python function, whose calls get `self` (a reference that the function takes, or NULL), to a list. */
int thnn_appendFunction(PyMethodDef *method, PyObject *self, uintptr_t list);

/* Fills a view of a torch tensor; false if that fails. */
bool thnn_viewOf(PyObject *object, THNNTensor *view);

/* Adds 1 to an int64 tensor of one element on the CPU; false if the tensor is of another kind, or cannot be viewed. */
bool thnn_increment(PyObject *tensor);

#endif
