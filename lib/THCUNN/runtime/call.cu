#include "runtime/call.h"

#include <stdio.h>

#include <atomic>

namespace thcunn
{

static const int MAX_DEVICES = 64;
static std::atomic<BadElement *> badElements[MAX_DEVICES];

static bool succeeded(THNNState *state, cudaError_t error)
{
  if (error != cudaSuccess) THNN_fail(state, THNN_RUNTIME_ERROR, NULL, "CUDA: %s", cudaGetErrorString(error));
  return error == cudaSuccess;
}

void *scratch(THNNState *state, int64_t bytes)
{
  void *memory = state->allocate == NULL ? NULL : state->allocate(state, bytes);
  if (memory == NULL)
    THNN_fail(state, THNN_RUNTIME_ERROR, NULL, "no temporary memory of %lld bytes on the device",
              (long long)bytes);
#ifdef THCUNN_EMULATE
  emulation::observeScratch(memory, (size_t)bytes);
#endif
  return memory;
}

static int64_t elementSize(int32_t type)
{
  return type == THNN_TYPE_DOUBLE ? sizeof(double) : type == THNN_TYPE_FLOAT ? sizeof(float) : sizeof(uint16_t);
}

void fillZeros(THNNState *state)
{
  for (; state->zeroCount > 0; state->zeroCount--) {
    const THNNTensor *t = state->zeros[state->zeroCount - 1];
    const int64_t bytes = THNNTensor_numel(t) * elementSize(t->type);
    if (bytes > 0) cudaMemsetAsync(t->data, 0, (size_t)bytes, (cudaStream_t)state->stream);
  }
}

/* Fails with the bad element that kernels on the device of the call have reported, and forgets it. */
static void raiseBadElement(THNNState *state, const char *when)
{
  BadElement *report = state->deviceIndex < MAX_DEVICES ? badElements[state->deviceIndex].load() : NULL;
  if (report == NULL || __atomic_load_n(&report->isComplete, __ATOMIC_ACQUIRE) == 0) return;
  const BadElement bad = *report;
  report->isComplete = 0;
  __atomic_store_n(&report->isClaimed, 0, __ATOMIC_RELEASE);
  state->function = bad.function;
  const long long first = bad.first, last = bad.end - 1;
  char where[64] = "";
  if (bad.position >= 0) snprintf(where, sizeof where, " %s %lld", bad.place, (long long)bad.position);
  if (bad.expected != NULL)
    THNN_fail(state, THNN_VALUE_ERROR, bad.argument, "%s, got %g%s%s", bad.expected, (double)bad.number, where,
              when);
  else if (bad.isReal)
    THNN_fail(state, THNN_INDEX_ERROR, bad.argument, "expected a whole number from %lld to %lld, got %g%s%s",
              first, last, (double)bad.number, where, when);
  else
    THNN_fail(state, THNN_INDEX_ERROR, bad.argument, "expected a number from %lld to %lld, got %lld%s%s", first,
              last, (long long)bad.index, where, when);
}

Call::Call(THNNState *state) : state(state)
{
  /* An error of cudaGetDevice is reported by the launch. */
  if (cudaGetDevice(&previousDevice) != cudaSuccess) previousDevice = state->deviceIndex;
  if (previousDevice != state->deviceIndex) cudaSetDevice(state->deviceIndex);
  raiseBadElement(state, " in an earlier call, which had returned when the device found it");
}

Call::~Call()
{
#ifdef THCUNN_EMULATE
  raiseBadElement(state, "");
#endif
  if (state->status == THNN_OK && !state->meta) fillZeros(state); /* without a launch */
  if (state->status == THNN_OK) succeeded(state, cudaGetLastError());
  if (previousDevice != state->deviceIndex) cudaSetDevice(previousDevice);
}

/* The report of the device of the call; NULL, with the status set, if there is no memory for it. */
static BadElement *reportOf(THNNState *state, const char *argument)
{
  if (state->deviceIndex >= MAX_DEVICES) {
    THNN_fail(state, THNN_NOT_IMPLEMENTED, argument, "expected one of the first %d devices", MAX_DEVICES);
    return NULL;
  }
  std::atomic<BadElement *> &report = badElements[state->deviceIndex];
  if (report.load() == NULL) {
    void *memory;
    /* A call that is captured in a CUDA graph may allocate this memory, which the graph does not own. */
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaThreadExchangeStreamCaptureMode(&mode);
    const cudaError_t error = cudaHostAlloc(&memory, sizeof(BadElement), cudaHostAllocMapped);
    cudaThreadExchangeStreamCaptureMode(&mode);
    if (!succeeded(state, error)) return NULL;
    memset(memory, 0, sizeof(BadElement));
    BadElement *none = NULL;
    report.compare_exchange_strong(none, (BadElement *)memory); /* the loser of a race leaves its memory unused */
  }
  return report.load();
}

IndexCheck indexCheck(THNNState *state, const char *argument, int64_t first, int64_t end, const char *place)
{
  return {{reportOf(state, argument), state->function, argument, place}, first, end};
}

NumberCheck numberCheck(THNNState *state, const char *argument, const char *expected, const char *place)
{
  return {{reportOf(state, argument), state->function, argument, place}, expected};
}

} // namespace thcunn
