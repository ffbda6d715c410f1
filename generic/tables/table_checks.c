#include "tables/table_checks.h"

#define CHECK_TASKS 64

void THNN_(checkIndices)(THNNState *state, const char *name, const THIndexTensor *indices, int64_t first,
                         int64_t end)
{
  const Leading leading = leadingMake(indices, indices->ndim);
  const THIndex_t *const data = indices->data;
  int64_t wrong[CHECK_TASKS];
  THNN_PARALLEL_FOR(task, CHECK_TASKS, leading.count) {
    const int64_t stop = (task + 1) * leading.count / CHECK_TASKS;
    int64_t i = task * leading.count / CHECK_TASKS;
    for (; i < stop; i++) {
      const int64_t index = data[leadingOffset(&leading, i)];
      if (index < first || index >= end) break;
    }
    wrong[task] = i < stop ? i : -1;
  }
  for (int task = 0; task < CHECK_TASKS; task++)
    if (wrong[task] >= 0)
      return THNN_fail(state, THNN_INDEX_ERROR, name,
                       "expected a number from %lld to %lld, got %lld at position %lld", (long long)first,
                       (long long)end - 1, (long long)data[leadingOffset(&leading, wrong[task])],
                       (long long)wrong[task]);
}
