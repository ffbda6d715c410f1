#ifndef THCUNN_SEGMENT_SUM_SORT_H
#define THCUNN_SEGMENT_SUM_SORT_H

#include "runtime/loops.h"

namespace thcunn
{

/* Entries sorted by key; entries of the same key keep their order. A class of entries has

     int64_t key(int64_t i) const;   __device__: the key of entry i, at least 0; -1 leaves the entry out

   An item is a key and the position of its entry as one number, so that no two items are equal and the order of a sort
   is unique. Entries that are left out have the key `keys`, after all others. */
struct SortedItems {
  const uint64_t *item;
  int64_t count, keys;
  int positionBits;

  __device__ int64_t key(int64_t i) const { return (int64_t)(item[i] >> positionBits); }
  __device__ int64_t position(int64_t i) const { return (int64_t)(item[i] & (((uint64_t)1 << positionBits) - 1)); }
  /* True if item i is the first of a segment, the items of one key. */
  __device__ bool begins(int64_t i) const
  {
    const int64_t k = key(i);
    return k != keys && (i == 0 || key(i - 1) != k);
  }
  /* The first item with at least this key, in [0, count]. */
  __device__ int64_t firstOf(int64_t key) const;
};

/* The number of items in [first, end) of a sorted array that are smaller than `item`. */
__device__ static inline int64_t countSmaller(const uint64_t *items, int64_t first, int64_t end, uint64_t item)
{
  int64_t low = first, high = end;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (items[middle] < item) low = middle + 1;
    else high = middle;
  }
  return low - first;
}

__device__ inline int64_t SortedItems::firstOf(int64_t key) const
{
  return countSmaller(item, 0, count, (uint64_t)key << positionBits);
}

static const int SORT_THREADS = 1024, SORT_TILE_BITS = 11, SORT_TILE = 1 << SORT_TILE_BITS;
static_assert(SORT_TILE == 2 * SORT_THREADS, "a thread compares two items at a time");

/* Items of a tile of entries, sorted by a bitonic network (Batcher 1968). */
template <class E>
__global__ void __launch_bounds__(SORT_THREADS)
    sortTileKernel(E entries, int64_t count, int64_t keys, int positionBits, uint64_t *items)
{
  THCUNN_SHARED(uint64_t, tile, [SORT_TILE]);
  const int64_t first = (int64_t)blockIdx.x * SORT_TILE;
#pragma unroll
  for (int k = 0; k < 2; k++) {
    const int64_t i = first + k * SORT_THREADS + threadIdx.x;
    uint64_t item = ~(uint64_t)0;
    if (i < count) {
      const int64_t key = entries.key(i);
      item = (uint64_t)(key < 0 ? keys : key) << positionBits | (uint64_t)i;
    }
    tile[k * SORT_THREADS + threadIdx.x] = item;
  }
  for (int run = 2; run <= SORT_TILE; run *= 2)
    for (int distance = run / 2; distance > 0; distance /= 2) {
      __syncthreads();
      const int low = 2 * threadIdx.x - (threadIdx.x & (distance - 1)), high = low + distance;
      const uint64_t a = tile[low], b = tile[high];
      if ((a > b) == ((low & run) == 0)) {
        tile[low] = b;
        tile[high] = a;
      }
    }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 2; k++) {
    const int64_t i = first + k * SORT_THREADS + threadIdx.x;
    if (i < count) items[i] = tile[k * SORT_THREADS + threadIdx.x];
  }
}

/* Merges adjacent sorted runs of 2^runBits items: the place of an item is its place in its own run plus the number of
   smaller items in the other run. */
static inline void mergeRuns(THNNState *state, const uint64_t *from, uint64_t *to, int64_t count, int runBits)
{
  const int64_t length = (int64_t)1 << runBits;
  forEach(state, count, [=] __device__(int64_t i) {
    const int64_t own = i & -length, other = own ^ length;
    const int64_t first = other < count ? other : count, end = first + length < count ? first + length : count;
    const uint64_t item = from[i];
    to[(own < other ? own : other) + (i - own) + countSmaller(from, first, end, item)] = item;
  });
}

static inline int bitsOf(int64_t largest)
{
  int bits = 0;
  while (bits < 63 && largest >> bits != 0) bits++;
  return bits;
}

/* Sorts `count` entries with keys below `keys`. */
template <class E> SortedItems sortByKey(THNNState *state, const E &entries, int64_t count, int64_t keys)
{
  SortedItems sorted = {NULL, count, keys, bitsOf(count)};
  if (count == 0 || state->status != THNN_OK) return sorted;
  if (bitsOf(keys) + sorted.positionBits > 63) {
    THNN_fail(state, THNN_NOT_IMPLEMENTED, NULL, "%lld indices of %lld rows are too many to sort",
              (long long)count, (long long)keys);
    return sorted;
  }
  const bool merges = count > SORT_TILE;
  uint64_t *items = (uint64_t *)scratch(state, (merges ? 2 : 1) * count * (int64_t)sizeof(uint64_t));
  if (items == NULL) return sorted;
  uint64_t *other = items + count;
  const int64_t tiles = (count + SORT_TILE - 1) / SORT_TILE;
  THCUNN_LAUNCH(sortTileKernel<E>, (unsigned)tiles, SORT_THREADS, streamOf(state))
  (entries, count, keys, sorted.positionBits, items);
  for (int runBits = SORT_TILE_BITS; (int64_t)1 << runBits < count; runBits++) {
    mergeRuns(state, items, other, count, runBits);
    uint64_t *const merged = other;
    other = items;
    items = merged;
  }
  sorted.item = items;
  return sorted;
}

} // namespace thcunn

#endif
