#ifndef THCUNN_RUNTIME_CALL_H
#define THCUNN_RUNTIME_CALL_H

#include "runtime/device.h"
#include "runtime/state.h"

namespace thcunn
{

/* The stream of the call: torch's current one on the device of its tensors. */
static inline cudaStream_t streamOf(const THNNState *state) { return (cudaStream_t)state->stream; }

/* Temporary memory of the call, on its device, from torch's caching allocator; aligned to 16 bytes, not initialised. NULL,
   with the status set, if there is none. */
void *scratch(THNNState *state, int64_t bytes);

/* Begins and ends a call: makes the device of its tensors the current one, and turns an error of a launch, or a bad element
   that an earlier call met on the device, into an error of this call. */
class Call
{
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
  int32_t isClaimed, isComplete, isIndex;
  int64_t value, first, end; /* of an index */
  double number, least, most; /* of another number */
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
  /* Reports an element that is bad for another reason. */
  __device__ void refuse(int64_t value) const
  {
    if (atomicCAS(&report->isClaimed, 0, 1) != 0) return;
    report->isIndex = 1;
    report->value = value;
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

/* The same check of numbers, least <= value <= most, which raises ValueError. */
struct NumberCheck {
  BadElement *report;
  const char *function, *argument;
  float least, most;

  template <class R> __device__ bool operator()(R value) const
  {
    if (value >= least && value <= most) return true;
    if (atomicCAS(&report->isClaimed, 0, 1) != 0) return false;
    report->isIndex = 0;
    report->number = value;
    report->least = least;
    report->most = most;
    report->function = function;
    report->argument = argument;
    __threadfence_system();
    *(volatile int32_t *)&report->isComplete = 1;
    return false;
  }
};

NumberCheck numberCheck(THNNState *state, const char *argument, float least, float most);

} // namespace thcunn

#endif
