#include "binding/plan.h"

#include <stdlib.h>
#include <string.h>

#include "binding/call.h"
#include "binding/context.h"

enum { CALL, IN_PLACE, NORMALIZE, BEFORE_COMPUTE, AFTER_COMPUTE, BEFORE_FORWARD, DIFFERENTIATE, BACKWARDS };

typedef struct ClassPlan {
  THNNClassPlan plan;
  PyObject *objects; /* the tuple of thnn_bindClass() */
  const BoundCall *call, *inPlace, *backwards[THNN_MAX_KEPT];
} ClassPlan;

/* Names of attributes. */
static struct Names {
  PyObject *data, *toSave, *saveForBackward, *markDirty, *markNonDifferentiable, *scalars, *savedTensors,
      *plannedBackward, *needs;
} names;

static bool setNames(void)
{
  if (names.needs != NULL) return true;
  names.data = PyUnicode_InternFromString("data");
  names.toSave = PyUnicode_InternFromString("to_save");
  names.plannedBackward = PyUnicode_InternFromString("planned_backward");
  names.saveForBackward = PyUnicode_InternFromString("save_for_backward");
  names.markDirty = PyUnicode_InternFromString("mark_dirty");
  names.markNonDifferentiable = PyUnicode_InternFromString("mark_non_differentiable");
  names.scalars = PyUnicode_InternFromString("scalars");
  names.savedTensors = PyUnicode_InternFromString("saved_tensors");
  names.needs = PyUnicode_InternFromString("needs_input_grad");
  return names.needs != NULL;
}

static const char *const planName = "thnn.plan";

static const ClassPlan *planOf(PyObject *self) { return PyCapsule_GetPointer(self, planName); }

/* The value of a Python function of the plan; NULL with an exception set. */
static PyObject *ask(const ClassPlan *own, int function, PyObject *argument)
{
  return PyObject_CallFunctionObjArgs(PyTuple_GetItem(own->objects, function), argument, NULL);
}

/* True if a call succeeded; releases its value. */
static bool succeeded(PyObject *answer)
{
  Py_XDECREF(answer);
  return answer != NULL;
}

/* --- updateOutput --------------------------------------------------------------------------------------------- */

/* The arguments of `apply` in a tuple, after `offset` other objects. */
typedef struct Arguments {
  PyObject *tuple;
  int offset;
} Arguments;

static PyObject *argument(Arguments given, int position)
{
  return PyTuple_GetItem(given.tuple, position + given.offset);
}

static bool isSet(Arguments given, int position) { return position >= 0 && argument(given, position) == Py_True; }

static bool isFlag(Arguments given, int position)
{
  return position < 0 || argument(given, position) == Py_True || argument(given, position) == Py_False;
}

/* The arguments with True or False for the flags: a new reference to the tuple, or to another one; NULL with an exception
   set. */
static PyObject *normalized(const ClassPlan *own, Arguments given)
{
  const THNNClassPlan *plan = &own->plan;
  const Py_ssize_t size = PyTuple_Size(given.tuple);
  if (size != plan->arguments + given.offset) {
    PyErr_Format(PyExc_TypeError, "%s: expected %d arguments, got %d", own->call->function->name,
                 (int)plan->arguments, (int)size - given.offset);
    return NULL;
  }
  if (isFlag(given, plan->inplaceAt) && isFlag(given, plan->indicesAt)) {
    Py_INCREF(given.tuple);
    return given.tuple;
  }
  PyObject *before = PyTuple_GetSlice(given.tuple, 0, given.offset);
  PyObject *after = PyTuple_GetSlice(given.tuple, given.offset, size);
  PyObject *converted = after != NULL ? ask(own, NORMALIZE, after) : NULL;
  PyObject *all = before != NULL && converted != NULL ? PySequence_Concat(before, converted) : NULL;
  Py_XDECREF(before);
  Py_XDECREF(after);
  Py_XDECREF(converted);
  return all;
}

/* Passes the arguments to a Python function; false with an exception set. */
static bool pass(const ClassPlan *own, int function, Arguments given)
{
  PyObject *tuple = PyTuple_GetSlice(given.tuple, given.offset, PyTuple_Size(given.tuple));
  const bool done = tuple != NULL && succeeded(ask(own, function, tuple));
  Py_XDECREF(tuple);
  return done;
}

/* A result of a call: its value is a tensor, or a tuple. Borrowed. */
static PyObject *resultAt(PyObject *results, int number)
{
  return PyTuple_Check(results) ? PyTuple_GetItem(results, number) : results;
}

/* The value of `apply`: the output, or with return_indices the output and the indices. Takes `results`. */
static PyObject *valueOf(const ClassPlan *own, Arguments given, PyObject *results)
{
  if (results == NULL || !PyTuple_Check(results)) return results;
  PyObject *value = resultAt(results, own->plan.output);
  if (isSet(given, own->plan.indicesAt)) value = PyTuple_Pack(2, value, resultAt(results, own->plan.indices));
  else Py_INCREF(value);
  Py_DECREF(results);
  return value;
}

static PyObject *compute(PyObject *self, PyObject *tuple)
{
  const ClassPlan *own = planOf(self);
  const Arguments given = {normalized(own, (Arguments){tuple, 0}), 0};
  if (given.tuple == NULL) return NULL;
  const bool inPlace = isSet(given, own->plan.inplaceAt);
  PyObject *results = NULL;
  if (!inPlace || pass(own, BEFORE_COMPUTE, given))
    results = callBound(inPlace ? own->inPlace : own->call, given.tuple, 0, NULL);
  if (results != NULL && inPlace && !pass(own, AFTER_COMPUTE, given)) Py_CLEAR(results);
  results = valueOf(own, given, results);
  Py_DECREF(given.tuple);
  return results;
}

/* A new reference to a tensor that forward saves. */
static PyObject *keptOf(int kept, Arguments given, PyObject *results)
{
  PyObject *object = kept >= THNN_KEPT_RESULT ? resultAt(results, kept - THNN_KEPT_RESULT)
                                              : argument(given, kept % THNN_KEPT_DATA);
  if (object != Py_None && kept >= THNN_KEPT_DATA && kept < THNN_KEPT_RESULT)
    return PyObject_GetAttr(object, names.data);
  Py_XINCREF(object);
  return object;
}

/* True if the output is saved in place of the first tensor. */
static bool keepsOutput(const THNNClassPlan *plan, Arguments given)
{
  bool areZero = plan->zeroCount > 0;
  for (int i = 0; i < plan->zeroCount; i++) areZero &= PyObject_IsTrue(argument(given, plan->zeros[i])) == 0;
  PyErr_Clear();
  return areZero;
}

/* ctx.save_for_backward(*kept), which sets an attribute of the nodes of torch. */
static bool keep(const THNNClassPlan *plan, PyObject *ctx, PyObject *kept)
{
  if (plan->savesByAttribute && PyObject_HasAttr((PyObject *)Py_TYPE(ctx), names.toSave))
    return PyObject_SetAttr(ctx, names.toSave, kept) == 0;
  PyObject *method = PyObject_GetAttr(ctx, names.saveForBackward);
  const bool done = method != NULL && succeeded(PyObject_CallObject(method, kept));
  Py_XDECREF(method);
  return done;
}

/* Gives the context the tensors and numbers that the backward reads; false with an exception set. */
static bool save(const ClassPlan *own, Arguments given, PyObject *results)
{
  const THNNClassPlan *plan = &own->plan;
  PyObject *ctx = PyTuple_GetItem(given.tuple, 0);
  PyObject *kept = PyTuple_New(plan->keptCount);
  for (int i = 0; kept != NULL && i < plan->keptCount; i++) {
    PyObject *object = keptOf(i == 0 && keepsOutput(plan, given) ? THNN_KEPT_RESULT + plan->output : plan->kept[i],
                              given, results);
    if (object == NULL) Py_CLEAR(kept);
    else PyTuple_SetItem(kept, i, object);
  }
  bool done = kept != NULL && keep(plan, ctx, kept);
  Py_XDECREF(kept);
  const Py_ssize_t first = plan->tensors + given.offset;
  PyObject *scalars = done ? PyTuple_GetSlice(given.tuple, first, first + plan->scalars) : NULL;
  done = scalars != NULL && PyObject_SetAttr(ctx, names.scalars, scalars) == 0;
  Py_XDECREF(scalars);
  return done;
}

/* Calls a method of the context with one tensor; false with an exception set. */
static bool mark(PyObject *ctx, PyObject *method, PyObject *tensor)
{
  return succeeded(PyObject_CallMethodObjArgs(ctx, method, tensor, NULL));
}

static PyObject *forward(PyObject *self, PyObject *tuple)
{
  const ClassPlan *own = planOf(self);
  const Arguments given = {normalized(own, (Arguments){tuple, 1}), 1};
  if (given.tuple == NULL) return NULL;
  PyObject *ctx = PyTuple_GetItem(given.tuple, 0);
  const bool inPlace = isSet(given, own->plan.inplaceAt);
  PyObject *results = NULL;
  if (!inPlace || pass(own, BEFORE_FORWARD, given))
    results = callBound(inPlace ? own->inPlace : own->call, given.tuple, 1, NULL);
  if (results != NULL && ((inPlace && !mark(ctx, names.markDirty, argument(given, 0))) ||
                          (isSet(given, own->plan.indicesAt) &&
                           !mark(ctx, names.markNonDifferentiable, resultAt(results, own->plan.indices))) ||
                          !save(own, given, results)))
    Py_CLEAR(results);
  results = valueOf(own, given, results);
  Py_DECREF(given.tuple);
  return results;
}

/* --- backward functions ---------------------------------------------------------------------------------------- */

/* (gradOutput, *saved, *scalars); NULL with an exception set. */
static PyObject *valuesOf(const THNNClassPlan *plan, PyObject *ctx, PyObject *gradOutput)
{
  PyObject *saved = PyObject_GetAttr(ctx, names.savedTensors);
  PyObject *scalars = saved != NULL ? PyObject_GetAttr(ctx, names.scalars) : NULL;
  PyObject *values = NULL;
  if (scalars != NULL && PyTuple_Check(saved) && PyTuple_Check(scalars)) {
    const Py_ssize_t first = 1 + PyTuple_Size(saved), count = first + PyTuple_Size(scalars);
    if (first == 1 + plan->keptCount && count == first + plan->scalars) values = PyTuple_New(count);
    else PyErr_SetString(PyExc_TypeError, "the context was not filled by the forward of this class");
    for (Py_ssize_t i = 0; values != NULL && i < count; i++) {
      PyObject *object = i == 0      ? gradOutput
                         : i < first ? PyTuple_GetItem(saved, i - 1)
                                     : PyTuple_GetItem(scalars, i - first);
      Py_INCREF(object);
      PyTuple_SetItem(values, i, object);
    }
  } else if (scalars != NULL) {
    PyErr_SetString(PyExc_TypeError, "the context was not filled by the forward of this class");
  }
  Py_XDECREF(saved);
  Py_XDECREF(scalars);
  return values;
}

static bool isNeeded(PyObject *needs, int position)
{
  PyObject *needed = PyTuple_GetItem(needs, position);
  return needed == Py_True;
}

/* Calls the backward functions of which a result is needed; false with an exception set. `gradients` gets the results by
   the positions of their arguments. `later`: see callBound(). */
static bool callBackwards(const ClassPlan *own, PyObject *needs, PyObject *values, PyObject **gradients,
                          PyObject *later)
{
  const THNNClassPlan *plan = &own->plan;
  for (int call = 0, first = 0, end; call < plan->backwardCount; call++, first = end) {
    bool wanted = plan->gradientCount == 1; /* otherwise autograd would not call the backward */
    for (end = first; end < plan->gradientCount && plan->gradientCall[end] == call; end++)
      wanted = wanted || isNeeded(needs, plan->gradients[end]);
    if (!wanted) continue;
    PyObject *results = callBound(own->backwards[call], values, 0, later);
    if (results == NULL) return false;
    for (int i = first; i < end; i++) {
      PyObject *gradient = end - first == 1 ? results : PyTuple_GetItem(results, i - first);
      Py_INCREF(gradient);
      Py_XDECREF(gradients[plan->gradients[i]]);
      gradients[plan->gradients[i]] = gradient;
    }
    Py_DECREF(results);
  }
  return true;
}

/* The same, with the functions that the device library lacks computed together. */
static bool computeGradients(const ClassPlan *own, PyObject *needs, PyObject *values, PyObject **gradients)
{
  if (own->plan.backwardCount < 2 || own->call->open->device == NULL)
    return callBackwards(own, needs, values, gradients, NULL);
  PyObject *later = PyList_New(0);
  bool done = later != NULL && callBackwards(own, needs, values, gradients, later);
  if (done && PyList_Size(later) > 0) done = computeMissing(own->call, later);
  Py_XDECREF(later);
  return done;
}

/* The gradients of one call of the backward: by the arguments of `apply`, None without one. */
static PyObject *gradientsOf(const ClassPlan *own, PyObject *ctx, PyObject *gradOutput)
{
  const THNNClassPlan *plan = &own->plan;
  PyObject *values = valuesOf(plan, ctx, gradOutput);
  const int context = values != NULL ? contextOfThread() : -1;
  const bool readsNeeds = context > THNN_CONTEXT_PLAIN || plan->gradientCount > 1;
  PyObject *needs = context >= 0 && readsNeeds ? PyObject_GetAttr(ctx, names.needs) : NULL;
  PyObject *answer = NULL;
  if (context < 0 || (readsNeeds && needs == NULL)) {
    /* with an exception set */
  } else if (context > THNN_CONTEXT_PLAIN) {
    answer = PyObject_CallFunction(PyTuple_GetItem(own->objects, DIFFERENTIATE), "iOO", context, needs, values);
  } else {
    PyObject *gradients[plan->arguments + 1];
    memset(gradients, 0, sizeof gradients);
    const bool done = computeGradients(own, needs, values, gradients);
    answer = done ? PyTuple_New(plan->arguments) : NULL;
    for (int i = 0; i < plan->arguments; i++) {
      if (answer != NULL && gradients[i] == NULL) {
        Py_INCREF(Py_None);
        gradients[i] = Py_None;
      }
      if (answer != NULL) PyTuple_SetItem(answer, i, gradients[i]);
      else Py_XDECREF(gradients[i]);
    }
  }
  Py_XDECREF(needs);
  Py_XDECREF(values);
  return answer;
}

static PyObject *backward(PyObject *self, PyObject *tuple)
{
  const ClassPlan *own = planOf(self);
  if (PyTuple_Size(tuple) >= 2) return gradientsOf(own, PyTuple_GetItem(tuple, 0), PyTuple_GetItem(tuple, 1));
  PyErr_Format(PyExc_TypeError, "backward of %s: expected the context and gradOutput", own->call->function->name);
  return NULL;
}

/* function(node, *gradients) */
static PyObject *callWithNode(PyObject *function, PyObject *node, PyObject *gradients)
{
  PyObject *first = PyTuple_Pack(1, node), *all = first != NULL ? PySequence_Concat(first, gradients) : NULL;
  PyObject *answer = all != NULL ? PyObject_CallObject(function, all) : NULL;
  Py_XDECREF(first);
  Py_XDECREF(all);
  return answer;
}

static PyObject *backwardOfNode(PyObject *node, PyObject *gradients)
{
  PyObject *function = PyObject_GetAttr(node, names.plannedBackward);
  if (function == NULL) return NULL;
  PyObject *plan = PyCFunction_Check(function) ? PyCFunction_GetSelf(function) : NULL;
  /* A subclass may override backward by any callable object. */
  const bool isPlanned = plan != NULL && PyCapsule_IsValid(plan, planName) && PyTuple_Size(gradients) >= 1;
  PyObject *answer = isPlanned ? gradientsOf(planOf(plan), node, PyTuple_GetItem(gradients, 0))
                               : callWithNode(function, node, gradients);
  Py_DECREF(function);
  return answer;
}

int thnn_makeBackwardMethod(uintptr_t base, uintptr_t list)
{
  static PyMethodDef method = {"apply", backwardOfNode, METH_VARARGS, NULL};
  PyGILState_STATE gil = PyGILState_Ensure();
  PyObject *made = setNames() ? PyDescr_NewMethod((PyTypeObject *)base, &method) : NULL;
  const bool done = made != NULL && PyList_Append((PyObject *)list, made) == 0;
  Py_XDECREF(made);
  PyErr_Clear();
  PyGILState_Release(gil);
  return done;
}

/* --------------------------------------------------------------------------------------------------------------- */

static void releasePlan(PyObject *capsule)
{
  ClassPlan *own = PyCapsule_GetPointer(capsule, planName);
  Py_XDECREF(own->objects);
  free(own);
}

int thnn_bindClass(const THNNClassPlan *plan, uintptr_t objects, uintptr_t list)
{
  static PyMethodDef methods[] = {{"compute", compute, METH_VARARGS, NULL},
                                  {"forward", forward, METH_VARARGS, NULL},
                                  {"backward", backward, METH_VARARGS, NULL}};
  PyGILState_STATE gil = PyGILState_Ensure();
  ClassPlan *own = calloc(1, sizeof *own);
  if (own == NULL) {
    PyGILState_Release(gil);
    return 0;
  }
  own->plan = *plan;
  thnn_keepReference(&own->objects, objects);
  own->call = boundCallOf(PyTuple_GetItem(own->objects, CALL));
  PyObject *inPlace = PyTuple_GetItem(own->objects, IN_PLACE);
  own->inPlace = inPlace == Py_None ? NULL : boundCallOf(inPlace);
  for (int i = 0; i < plan->backwardCount; i++)
    own->backwards[i] = boundCallOf(PyTuple_GetItem(own->objects, BACKWARDS + i));
  PyObject *capsule = PyCapsule_New(own, planName, releasePlan);
  bool done = capsule != NULL && setNames();
  for (int i = 0; done && i < 3; i++) {
    Py_INCREF(capsule);
    done = thnn_appendFunction(&methods[i], capsule, list);
  }
  Py_XDECREF(capsule);
  PyGILState_Release(gil);
  return done;
}
