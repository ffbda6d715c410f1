#include "tables/table_checks.h"

#define CHECK_TASKS 64

/* True if an index at positions [at, stop) is not in [first, end). */
static bool isAnyOutside(const Leading *leading, const THIndex_t *data, int64_t at, int64_t stop, int64_t first,
                         int64_t end)
{
  bool outside = false;
  if (leading->ndim == 1 && leading->stride[0] == 1)
    for (int64_t i = at; i < stop; i++) outside |= data[i] < first || data[i] >= end;
  else
    for (int64_t i = at; i < stop; i++) {
      const int64_t index = data[leadingOffset(leading, i)];
      outside |= index < first || index >= end;
    }
  return outside;
}

void THNN_(checkIndices)(THNNState *state, const char *name, const THIndexTensor *indices, int64_t first,
                         int64_t end)
{
  const Leading leading = leadingMake(indices, indices->ndim);
  const THIndex_t *const data = indices->data;
  int64_t wrong[CHECK_TASKS];
  THNN_PARALLEL_FOR(task, CHECK_TASKS, leading.count) {
    const int64_t stop = (task + 1) * leading.count / CHECK_TASKS;
    int64_t i = task * leading.count / CHECK_TASKS;
    wrong[task] = -1;
    if (!isAnyOutside(&leading, data, i, stop, first, end)) continue;
    for (; i < stop; i++) {
      const int64_t index = data[leadingOffset(&leading, i)];
      if (index < first || index >= end) break;
    }
    wrong[task] = i;
  }
  for (int task = 0; task < CHECK_TASKS; task++)
    if (wrong[task] >= 0)
      return THNN_fail(state, THNN_INDEX_ERROR, name,
                       "expected a number from %lld to %lld, got %lld at position %lld", (long long)first,
                       (long long)end - 1, (long long)data[leadingOffset(&leading, wrong[task])],
                       (long long)wrong[task]);
}
