#ifndef THCUNN_RUNTIME_CALL_H
#define THCUNN_RUNTIME_CALL_H

#include "runtime/device.h"
#include "runtime/state.h"

namespace thcunn {

/* The stream of the call: torch's current one on the device of its tensors. */
static inline cudaStream_t streamOf(const THNNState *state) { return (cudaStream_t)state->stream; }

/* Temporary memory of the call, on its device, from torch's caching allocator; aligned to 16 bytes, not initialised. NULL,
   with the status set, if there is none. */
void *scratch(THNNState *state, int64_t bytes);

/* Begins and ends a call: makes the device of its tensors the current one, and turns an error of a launch, or a bad element
   that an earlier call met on the device, into an error of this call. */
class Call {
public:
  Call(THNNState *state);
  ~Call();

private:
  THNNState *state;
  int previousDevice;
};

/* The first element that kernels of a device refused, such as a class number out of range. It lies in memory of the host
   that the device writes. */
struct BadElement {
  int32_t isClaimed, isComplete;
  int64_t value, first, end;
  float number;                    /* in place of the value, if this is a real element, */
  bool isReal;                     /* of which a whole number was expected */
  const char *function, *argument; /* of the host; opaque to the device */
};

/* The check of int64 elements that a kernel reads: first <= value < end. A kernel cannot end its call, so it writes NaN, or
   nothing, in place of a result of a bad element; the next call on the device raises IndexError for it. In emulation,
   where a launch has ended when it returns, the call itself raises it. */
struct IndexCheck {
  BadElement *report;
  const char *function, *argument;
  int64_t first, end;

  __device__ bool operator()(int64_t value) const
  {
    if (value >= first && value < end) return true;
    refuse(value);
    return false;
  }

  /* The same of a number of a real tensor, which must be whole. */
  template <class T> __device__ bool isWhole(T value) const
  {
    const bool fits = value > (T)-9e18 && value < (T)9e18;
    const int64_t whole = fits ? (int64_t)value : first - 1;
    if (whole >= first && whole < end && (T)whole == value) return true;
    writeReport(0, (float)value, true);
    return false;
  }

  /* Reports an element that is bad for another reason. */
  __device__ void refuse(int64_t value) const { writeReport(value, 0, false); }

  __device__ void writeReport(int64_t value, float number, bool isReal) const
  {
    if (atomicCAS(&report->isClaimed, 0, 1) != 0) return;
    report->value = value;
    report->number = number;
    report->isReal = isReal;
    report->first = first;
    report->end = end;
    report->function = function;
    report->argument = argument;
    __threadfence_system();
    *(volatile int32_t *)&report->isComplete = 1;
  }
};

/* The status of the call is set if there is no memory for the report. */
IndexCheck indexCheck(THNNState *state, const char *argument, int64_t first, int64_t end);

} // namespace thcunn

#endif
