#include "runtime/pieces.h"

#include <stdlib.h>

#include "elementwise/map.h"
#include "runtime/half.h"
#include "runtime/integer.h"
#include "runtime/openmp.h"

/* The most bytes of a piece's copies, unless it is one index of the leading dimensions: they stay in a
   second-level cache. */
#define PIECE_BYTES (256 << 10)
/* Elements to which copies are aligned: 64 bytes. */
#define ALIGNMENT 16
/* The fewest adjacent elements of a piece, where the divided dimension is the innermost in memory: a cache line of a half
   type is not divided. */
#define ADJACENT 32

/* The tensor without its repeated elements: sizes of 1 where the stride is 0. */
static THNNTensor withoutRepetition(const THNNTensor *tensor)
{
  THNNTensor distinct = *tensor;
  for (int d = 0; d < tensor->ndim; d++)
    if (tensor->stride[d] == 0 && tensor->size[d] > 1) distinct.size[d] = 1;
  return distinct;
}

int64_t thnn_floatView(const THNNTensor *tensor, THNNTensor *view)
{
  const THNNTensor distinct = withoutRepetition(tensor);
  int dims[THNN_MAX_DIM];
  thnn_memoryOrder(&distinct, dims);
  *view = *tensor;
  view->type = THNN_TYPE_FLOAT;
  int64_t count = 1;
  for (int i = distinct.ndim - 1; i >= 0; i--) {
    const int d = dims[i];
    if (distinct.size[d] == 1) continue;
    view->stride[d] = count;
    count *= distinct.size[d];
  }
  return count;
}

void thnn_floatCopy(const THNNTensor *tensor, const THNNTensor *view, bool store)
{
  const THNNTensor distinct = withoutRepetition(tensor), *const tensors[] = {&distinct};
  THNNMap map;
  thnn_mapBegin(&map, sizeof(float), true, 1, tensors);
  if (map.elements == 0) return;
  if (thnn_threads(map.blocks, map.elements) == 1) {
    thnn_mapCopyElements(&map, 0, map.elements, view->data, store);
    return;
  }
  THNN_PARALLEL_FOR(block, map.blocks, map.elements) {
    const int64_t first = block * THNN_MAP_BLOCK;
    thnn_mapCopyElements(&map, first, MIN(THNN_MAP_BLOCK, map.elements - first), (float *)view->data + first,
                         store);
  }
}

/* The piece of a tensor. */
static void cut(const THNNPieces *pieces, int64_t i, const THNNTensor *tensor, THNNTensor *piece)
{
  *piece = *tensor;
  if (pieces->count == 1) return;
  const int64_t first = i % pieces->runs * pieces->run;
  int64_t rest = i / pieces->runs, offset = first * tensor->stride[pieces->axis];
  piece->size[pieces->axis] = MIN(pieces->run, tensor->size[pieces->axis] - first);
  for (int d = pieces->axis - 1; d >= 0; rest /= tensor->size[d--]) {
    offset += rest % tensor->size[d] * tensor->stride[d];
    piece->size[d] = 1;
  }
  piece->data = (char *)tensor->data + offset * (int64_t)THNNTensor_elementSize(tensor);
}

/* True if pieces of `run` indices of dimension d divide cache lines of a tensor, or of the copy of a tensor with gaps
   between its elements. A piece of few channels would no longer be channels-last: other loops, with other rounding,
   would compute it, and results would depend on the number of pieces, and so on the number of threads. */
static bool dividesLines(const THNNPieces *pieces, int d, int64_t run)
{
  for (int k = 0; k < pieces->tensors; k++) {
    const THNNTensor *tensor = pieces->given[k].tensor;
    if (pieces->owner[k] != k || tensor->size[d] == 1 || run >= MIN(ADJACENT, tensor->size[d])) continue;
    THNNTensor view;
    thnn_floatView(tensor, &view);
    if (view.stride[d] == 1) return true;
  }
  return false;
}

/* Divides the leading dimensions, whose copies have `elements` elements. */
static void divide(THNNPieces *pieces, const THNNTensor *leader, int dims, int64_t elements)
{
  const int64_t most = PIECE_BYTES / (int64_t)sizeof(float);
  int64_t outer = 1;
  pieces->count = 1;
  for (int d = 0; d < dims; outer *= leader->size[d++]) {
    const int64_t size = leader->size[d], each = MAX(1, elements / (outer * size)); /* elements of an index */
    const int64_t threads = thnn_threads(outer * size, elements);
    /* The same number of pieces for every thread, if only one dimension is divided. */
    int64_t runs = ceilDivide(size, MAX(1, most / each));
    if (outer == 1) runs = MIN(ceilDivide(runs, threads) * threads, size);
    const int64_t run = ceilDivide(size, runs);
    if (dividesLines(pieces, d, run)) return;
    runs = ceilDivide(size, run);
    if (outer * runs < threads && outer * runs == 1) continue;
    pieces->axis = d;
    pieces->run = run;
    pieces->runs = runs;
    pieces->count = outer * runs;
    pieces->threads = (int)thnn_threads(pieces->count, pieces->work);
    if (run * each <= most && pieces->count >= threads) return;
  }
}

bool thnn_piecesBegin(THNNPieces *pieces, THNNState *state, int dims, int count, const THNNPieceOf *tensors)
{
  pieces->given = tensors;
  pieces->tensors = count;
  pieces->count = 1;
  pieces->threads = 1;
  pieces->work = 0;
  pieces->allocated = NULL;
  const THNNTensor *leader = NULL;
  for (int k = 0; k < count; k++) {
    const THNNTensor *tensor = tensors[k].tensor;
    pieces->owner[k] = -1;
    if (tensor == NULL || !thnn_isHalf(tensor->type)) continue;
    leader = tensor;
    pieces->owner[k] = k;
    pieces->access[k] = 0;
    for (int j = 0; j < k; j++)
      if (pieces->owner[j] == j && THNNTensor_sameView(tensors[j].tensor, tensor)) pieces->owner[k] = j;
    pieces->access[pieces->owner[k]] |= tensors[k].access;
    if (pieces->owner[k] == k) pieces->work += THNNTensor_numel(tensor);
  }
  pieces->converts = leader != NULL;
  if (!pieces->converts) return true;
  if (pieces->work > 0) divide(pieces, leader, dims, pieces->work);

  /* The first piece is the largest. */
  int64_t offset[THNN_PIECE_TENSORS], total = 0;
  for (int k = 0; k < count; k++) {
    if (pieces->owner[k] != k) continue;
    THNNTensor piece, view;
    cut(pieces, 0, tensors[k].tensor, &piece);
    offset[k] = total;
    total += (thnn_floatView(&piece, &view) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  pieces->threadElements = total;
  total = total * pieces->threads + ALIGNMENT;
  pieces->allocated = aligned_alloc(64, sizeof(float) * (size_t)total);
  if (pieces->allocated == NULL) {
    THNN_fail(state, THNN_RUNTIME_ERROR, NULL, "no memory for copies in float32, of %lld elements",
              (long long)total);
    return false;
  }
  for (int k = 0; k < count; k++)
    if (pieces->owner[k] == k) pieces->memory[k] = pieces->allocated + offset[k];
  return true;
}

void thnn_pieceLoad(const THNNPieces *pieces, int64_t i, THNNTensor *views, THNNTensor **t)
{
  const int thread = pieces->threads == 1 ? 0 : omp_get_thread_num();
  for (int k = 0; k < pieces->tensors; k++) {
    const THNNTensor *tensor = pieces->given[k].tensor;
    t[k] = (THNNTensor *)tensor;
    if (!pieces->converts || tensor == NULL) continue;
    t[k] = &views[k];
    const int owner = pieces->owner[k];
    THNNTensor piece;
    cut(pieces, i, tensor, owner < 0 ? t[k] : &piece);
    if (owner < 0) continue;
    thnn_floatView(&piece, t[k]);
    t[k]->data = pieces->memory[owner] + thread * pieces->threadElements;
    if (owner == k && pieces->access[k] & THNN_READS) thnn_floatCopy(&piece, t[k], false);
  }
}

void thnn_pieceStore(const THNNPieces *pieces, int64_t i, THNNTensor *const *t)
{
  for (int k = 0; k < pieces->tensors; k++) {
    if (pieces->owner[k] != k || !(pieces->access[k] & THNN_WRITES)) continue;
    THNNTensor piece;
    cut(pieces, i, pieces->given[k].tensor, &piece);
    thnn_floatCopy(&piece, t[k], true);
  }
}

void thnn_piecesEnd(THNNPieces *pieces) { free(pieces->allocated); }
