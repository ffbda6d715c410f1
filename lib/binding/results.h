#ifndef THNN_BINDING_RESULTS_H
#define THNN_BINDING_RESULTS_H

#include "binding/call.h"

/* The results of a call; `made` has the new tensors, by the positions of their arguments. */

/* Allocates the results that are new tensors like an argument, and replaces the views of these arguments by the views
   of the results. `overwritten`: the computation writes new gradients of parameters, and does not add to them. False if
   an allocation fails. */
bool resultsLike(const BoundCall *bound, PyObject *const *arguments, const THNNValue *values, bool overwritten,
                 PyObject **made, THNNState *state);

/* Allocates a requested tensor; false if one was given, whose memory Python resizes, or if the allocation fails. */
bool resultsRequested(const BoundCall *bound, PyObject *const *arguments, const THNNState *state,
                      const THNNRequest *request, int type, const THNNValue *values, PyObject **made);

/* Allocates a requested tensor without the GIL; false if it has to come from Python. */
bool resultsRaw(const BoundCall *bound, const THNNState *state, const THNNRequest *request, int type,
                const THNNValue *values, void **raw);

/* The results of a call that has succeeded: a tensor, or a tuple. Takes them from `made`. */
PyObject *resultsOf(const BoundCall *bound, PyObject *const *arguments, PyObject **made);

#endif
