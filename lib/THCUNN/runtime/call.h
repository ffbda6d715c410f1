#ifndef THCUNN_RUNTIME_CALL_H
#define THCUNN_RUNTIME_CALL_H

#include "runtime/device.h"
#include "runtime/state.h"

namespace thcunn
{

/* Sets the new gradients of parameters to 0, except those that the kernel's function overwrites (THNN_overwrites). */
void fillZeros(THNNState *state);

/* The stream of the call: torch's current one on the device of its tensors. Before the first launch, new gradients are
   set to 0. */
static inline cudaStream_t streamOf(THNNState *state)
{
  if (state->zeroCount > 0) fillZeros(state);
  return (cudaStream_t)state->stream;
}

/* Temporary memory of the call, on its device, from torch's caching allocator; aligned to 16 bytes, not initialized.
   NULL, with the status set, if there is none. */
void *scratch(THNNState *state, int64_t bytes);

/* The gradient factor of a criterion (runtime/state.h). A kernel multiplies every element of gradInput by it, zeros
   too, since the factor may be infinite or NaN. */
template <class T> struct GradientFactor {
  const T *data;

  GradientFactor(const THNNState *state) : data((const T *)state->gradientFactor) {}
  __device__ typename Arithmetic<T>::type value() const { return data ? load(data) : 1; }
};

/* Begins and ends a call: makes the device of its tensors the current one, and turns an error of a launch, or a bad
   element that an earlier call met on the device, into an error of this call. */
class Call
{
public:
  Call(THNNState *state);
  ~Call();

private:
  THNNState *state;
  int previousDevice;
};

/* The first element that kernels of a device rejected, such as a class number out of range. It lies in memory of the
   host that the device writes. */
struct BadElement {
  int32_t isClaimed, isComplete;
  int64_t index; /* the element, if it is an integer */
  float number;  /* the element, if it is a real number */
  bool isReal;
  int64_t position;   /* row-major position of the element in its tensor, or -1 */
  int64_t first, end; /* the expected range, first <= element < end, of an integer or of a whole real number */
  const char *function, *argument, *place; /* texts of the host; opaque to the device */
  const char *expected;                    /* the expected number in words; NULL for a range */
};

/* A check of elements that a kernel reads. A kernel cannot end its call, so it writes NaN, or nothing, in place of a
   result of a bad element, or leaves the element out; a later call on the device raises the error. In emulation, where
   a launch has ended when it returns, the call itself raises it. */
struct ElementCheck {
  BadElement *report;
  const char *function, *argument;
  const char *place; /* the words before a position in the message, such as "at position" */

  /* Reports a bad element, unless another one has been reported. */
  __device__ void write(int64_t index, float number, bool isReal, int64_t position, int64_t first, int64_t end,
                        const char *expected) const
  {
    if (atomicCAS(&report->isClaimed, 0, 1) != 0) return;
    report->index = index;
    report->number = number;
    report->isReal = isReal;
    report->position = position;
    report->first = first;
    report->end = end;
    report->function = function;
    report->argument = argument;
    report->place = place;
    report->expected = expected;
    __threadfence_system();
    *(volatile int32_t *)&report->isComplete = 1;
  }
};

/* Checks first <= value < end; an IndexError otherwise. The message has the position if it is at least 0. */
struct IndexCheck : ElementCheck {
  int64_t first, end;

  __device__ bool operator()(int64_t value, int64_t position = -1) const
  {
    if (value >= first && value < end) return true;
    refuse(value, position);
    return false;
  }
  /* As above, for an element of a real tensor, which must be a whole number. */
  template <class R> __device__ bool isWhole(R value, int64_t position = -1) const
  {
    const bool fits = value > (R)-9e18 && value < (R)9e18;
    const int64_t whole = fits ? (int64_t)value : first - 1;
    if (whole >= first && whole < end && (R)whole == value) return true;
    write(0, (float)value, true, position, first, end, NULL);
    return false;
  }
  /* Reports an integer that is bad for another reason. */
  __device__ void refuse(int64_t value, int64_t position = -1) const
  {
    write(value, 0, false, position, first, end, NULL);
  }
};

/* Reports a bad real number: a ValueError, "<expected>, got <number>". */
struct NumberCheck : ElementCheck {
  const char *expected;

  __device__ void refuse(float number, int64_t position = -1) const
  {
    write(0, number, true, position, 0, 0, expected);
  }
};

/* The checks of an argument; the status of the call is set if there is no memory for the report. */
IndexCheck indexCheck(THNNState *state, const char *argument, int64_t first, int64_t end,
                      const char *place = "at position");
NumberCheck numberCheck(THNNState *state, const char *argument, const char *expected,
                        const char *place = "at position");

} // namespace thcunn

#endif
