#ifndef THNN_RESAMPLING_TAPS_H
#define THNN_RESAMPLING_TAPS_H

/* The results of an axis as weighted sums of elements of the source. In the forward, results are outputs and the source
   is the input; in the backward, results are inputs and the source is gradOutput. */

#include "resampling/resampling.h"
#include "runtime/integer.h"

typedef struct Tap {
  int64_t index;
  real weight; /* not 0 */
} Tap;

/* The taps of the results first to end - 1, in the order of their indices. A list that is too long for a table begins a
   table with only this result; later tables continue it, and the last of them also has the following results. */
#define TABLE_RESULTS 1024
#define TABLE_TAPS 2560
typedef struct TapTable {
  const ResampleAxis *axis;
  bool backward;
  int64_t first, end;
  int64_t skipped; /* taps of the first result that precede the table */
  bool continues;  /* more taps of the last result follow */
  int32_t start[TABLE_RESULTS + 1];
  Tap tap[TABLE_TAPS];
} TapTable;

static inline int64_t resultCount(const ResampleAxis *axis, bool backward)
{
  return backward ? axis->input : axis->output;
}

/* The outputs that read an input: up to three ranges from[i] <= o < end[i]. */
typedef struct Readers {
  int ranges;
  int64_t from[3], end[3];
} Readers;

static inline void addReaders(Readers *readers, const ResampleAxis *axis, int64_t from, int64_t end)
{
  from = MAX(from, 0);
  end = MIN(end, axis->output);
  if (from >= end) return;
  readers->from[readers->ranges] = from;
  readers->end[readers->ranges++] = end;
}

static inline Readers readersOfPadding(const ResampleAxis *axis, int64_t input)
{
  Readers readers = {0};
  const int64_t last = axis->input - 1, direct = axis->before + input, mirrored = direct + 2 * (last - input);
  if (axis->kind == RESAMPLE_REPLICATE) {
    addReaders(&readers, axis, input == 0 ? 0 : direct, input == last ? axis->output : direct + 1);
    return readers;
  }
  if (input != 0) addReaders(&readers, axis, axis->before - input, axis->before - input + 1);
  addReaders(&readers, axis, direct, direct + 1);
  if (input != last) addReaders(&readers, axis, mirrored, mirrored + 1);
  return readers;
}

static inline int64_t lastInput(const ResampleAxis *axis, int64_t o)
{
  const ResampleSource source = resampleSource(axis, o);
  return source.index + (source.fraction != 0);
}

/* The first output that reads `input` or a later input. */
static inline int64_t firstReader(const ResampleAxis *axis, int64_t input)
{
  int64_t low = 0, high = axis->output;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (lastInput(axis, middle) >= input) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* The readers of `input`. *from and *end are the range of an earlier input or, at first, both the first reader. */
static inline Readers nextReaders(const ResampleAxis *axis, int64_t input, int64_t *from, int64_t *end)
{
  Readers readers = {0};
  while (*from < axis->output && lastInput(axis, *from) < input) ++*from;
  *end = MAX(*end, *from);
  while (*end < axis->output && resampleSource(axis, *end).index <= input) ++*end;
  addReaders(&readers, axis, *from, *end);
  return readers;
}

static inline real tapWeight(const ResampleAxis *axis, int64_t input, int64_t output)
{
  if (axisIsPadding(axis)) return 1;
  const ResampleSource source = resampleSource(axis, output);
  return (real)(source.index == input ? 1 - source.fraction : source.fraction);
}

/* Fills a table from result `first` on, without its first `skip` taps. */
static __attribute__((noinline)) void tapTableFill(TapTable *t, const ResampleAxis *axis, bool backward,
                                                   int64_t first, int64_t skip)
{
  const bool searches = backward && !axisIsPadding(axis);
  const int64_t end = MIN(resultCount(axis, backward), first + TABLE_RESULTS);
  int64_t from = searches ? firstReader(axis, first) : 0, to = from, i = first;
  int32_t n = 0;
  t->axis = axis, t->backward = backward;
  t->first = first, t->skipped = skip, t->continues = false;
  for (; i < end && !t->continues; i++, skip = 0) {
    Readers r = {.ranges = 1};
    if (searches) {
      r = nextReaders(axis, i, &from, &to);
    } else if (backward) {
      r = readersOfPadding(axis, i);
    } else {
      const ResampleSource source = resampleSource(axis, i);
      r.from[0] = source.index;
      r.end[0] = source.index + 1 + (source.fraction != 0);
    }
    int64_t count = -skip;
    for (int k = 0; k < r.ranges; k++) count += r.end[k] - r.from[k];
    t->continues = n + count > TABLE_TAPS;
    if (t->continues && i > first) {
      t->continues = false;
      break;
    }
    t->start[i - first] = n;
    for (int k = 0; k < r.ranges; k++) {
      const int64_t some = MIN(skip, r.end[k] - r.from[k]);
      skip -= some;
      for (int64_t e = r.from[k] + some; e < r.end[k] && n < TABLE_TAPS; e++)
        t->tap[n++] = (Tap){e, backward ? tapWeight(axis, i, e) : tapWeight(axis, e, i)};
    }
  }
  t->end = i;
  t->start[i - first] = n;
}

static inline bool tableIsWhole(const TapTable *t)
{
  return t->first == 0 && t->end == resultCount(t->axis, t->backward) && t->skipped == 0 && !t->continues;
}

/* Sets *list to the taps of a result after the first `skip`, and returns how many of them the table has; 0 if none are
   left. The caller begins with skip 0 and adds the numbers returned. Fills the table again if it lacks the taps. */
static inline int64_t tapsOf(TapTable *t, int64_t result, int64_t skip, const Tap **list)
{
  const int64_t some = result == t->first ? t->skipped : 0;
  const bool inside = result >= t->first && result < t->end;
  int64_t count = inside ? t->start[result - t->first + 1] - t->start[result - t->first] : 0;
  if (inside && skip == some + count && !t->continues) return 0;
  if (!inside || skip != some) {
    tapTableFill(t, t->axis, t->backward, result, skip);
    count = t->start[1];
  }
  *list = t->tap + t->start[result - t->first];
  return count;
}

/* The tap of a result with a single tap, if the table has it; otherwise NULL. */
static inline const Tap *onlyTap(const TapTable *t, int64_t result)
{
  const int64_t i = result - t->first;
  if (result < t->first + (t->skipped > 0) || result >= t->end || t->start[i + 1] - t->start[i] != 1) return NULL;
  return t->continues ? NULL : t->tap + t->start[i];
}

#endif
