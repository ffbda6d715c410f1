#ifndef THNN_RUNTIME_PIECES_H
#define THNN_RUNTIME_PIECES_H

#include "runtime/check.h"
#include "runtime/parallel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tensors of a half type, converted to float32 piece by piece in the cache, for functions with independent leading
   dimensions: a sample, plane or row of the results depends only on the same one of the other tensors.

     THNN_TAKES_HALF(state);       above THNN_RETURN_IF_META
     ...
     const THNNPieceOf tensors[] = {THNN_WRITTEN(output), THNN_READ(input)};
     THNN_BY_PIECES(state, t, dims, tensors, { THNN_(pool)(&pooling, t[1], t[0]); });

   runs the statement, which may neither return nor break, for pieces of the tensors along their first `dims` dimensions,
   distributed over threads. In it t[k] is the piece of tensor k: a copy in float32 where the tensor is of a half type,
   otherwise a view. Pieces of written tensors are rounded to the type of the tensor. A NULL tensor stays NULL. Without
   tensors of a half type the statement runs once, with the tensors themselves. Bits do not depend on the pieces, if the
   bits of the statement do not depend on the other indices of the leading dimensions. */

#define THNN_PIECE_TENSORS 8

typedef struct THNNPieceOf {
  const THNNTensor *tensor;
  uint8_t access; /* THNNAccess */
} THNNPieceOf;

#define THNN_READ(tensor) {tensor, THNN_READS}
#define THNN_WRITTEN(tensor) {tensor, THNN_WRITES}

typedef struct THNNPieces {
  int64_t count, work;
  int tensors, threads;
  bool converts;
  int axis;          /* the dimension that is divided; a piece has one index of each dimension before it */
  int64_t run, runs; /* indices of the axis in a piece, pieces along the axis */
  const THNNPieceOf *given;
  int owner[THNN_PIECE_TENSORS]; /* the tensor whose copy tensor k shares, itself if it has one; -1: no copy */
  uint8_t access[THNN_PIECE_TENSORS]; /* of all tensors that share the copy */
  float *memory[THNN_PIECE_TENSORS];  /* the copy of the first thread */
  int64_t threadElements;             /* the distance between the copies of two threads */
  float *allocated;
} THNNPieces;

/* False after a failure. */
bool thnn_piecesBegin(THNNPieces *pieces, THNNState *state, int dims, int count, const THNNPieceOf *tensors);
/* Sets t[k] to the tensors of piece i; `views` has room for them. */
void thnn_pieceLoad(const THNNPieces *pieces, int64_t i, THNNTensor *views, THNNTensor **t);
void thnn_pieceStore(const THNNPieces *pieces, int64_t i, THNNTensor *const *t);
void thnn_piecesEnd(THNNPieces *pieces);

#define THNN_BY_PIECES(state, t, dims, tensors, ...)                                                              \
  do {                                                                                                            \
    THNNPieces thnn_pieces;                                                                                       \
    if (!thnn_piecesBegin(&thnn_pieces, state, dims, (int)(sizeof(tensors) / sizeof *(tensors)), tensors)) break; \
    THNN_PARALLEL_FOR(thnn_piece, thnn_pieces.count, thnn_pieces.work) {                                          \
      THNNTensor thnn_views[sizeof(tensors) / sizeof *(tensors)], *t[THNN_PIECE_TENSORS];                         \
      thnn_pieceLoad(&thnn_pieces, thnn_piece, thnn_views, t);                                                    \
      __VA_ARGS__                                                                                                 \
      thnn_pieceStore(&thnn_pieces, thnn_piece, t);                                                               \
    }                                                                                                             \
    thnn_piecesEnd(&thnn_pieces);                                                                                 \
  } while (0)

/* A float32 view for a copy of a tensor of a half type: dense, with the dimensions in the order of the tensor's strides,
   so that it has the tensor's layout; its data is not set. Returns the number of its elements. */
int64_t thnn_floatView(const THNNTensor *tensor, THNNTensor *view);
/* Converts the elements to the memory of the view, or with `store` back. */
void thnn_floatCopy(const THNNTensor *tensor, const THNNTensor *view, bool store);

#ifdef __cplusplus
}
#endif

#endif
