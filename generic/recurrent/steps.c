#include "recurrent/steps.h"
#include "gemm/microkernel.h"
#include "gemm/transpose.h"

/* Columns of the states are divided into panels of GEMM_NR, rows into micro-tiles of nearly equal heights. Weights are
   packed [panel][gate][k][n], rows [micro-tile][k][m], and sums [panel][block][row][n]. Packed rows are
   double-buffered: products read one buffer while the other gets the rows for the next step. */

/* Input products are computed for several steps at once, about this many rows, but at least one step. */
#define INPUT_ROWS (8 * GEMM_MR)

static int64_t panelsOf(int64_t columns) { return ceilDivide(columns, GEMM_NR); }
static int columnsOf(int64_t columns, int64_t panel) { return (int)MIN(GEMM_NR, columns - panel * GEMM_NR); }
/* Columns of a panel with padding. */
static int widthOf(int64_t columns, int64_t panel) { return columnsOf(columns, panel) > VL ? GEMM_NR : VL; }

/* Threads divide either panels or rows. With panels, each thread reads few of the weights, but rows that other threads
   have written; with rows, it reads only rows that it has written itself, but all weights. So they divide rows if all
   weights fit into half of a second-level cache of 1 MiB, or all of it in the backward, whose rows are longer. */
#define FORWARD_WEIGHTS ((int64_t)1 << 19)
#define BACKWARD_WEIGHTS ((int64_t)1 << 20)

static bool dividesRows(int64_t columns, int gates, int64_t most)
{
  return gates * columns * columns * (int64_t)sizeof(real) <= most;
}

/* If rows are divided, there is an even number of micro-tiles. */
static int64_t tilesOf(int64_t rows, bool isEven)
{
  const int64_t tiles = ceilDivide(rows, GEMM_MR);
  return isEven && tiles > 1 ? (tiles + 1) / 2 * 2 : tiles;
}
static int64_t rowReals(int64_t rows, int64_t terms) { return tilesOf(rows, true) * GEMM_MR * terms; }
static int64_t panelReals(int64_t columns, int64_t rows) { return panelsOf(columns) * GEMM_NR * rows; }

typedef struct PackedRows {
  real *data;
  int64_t rows, tiles, terms;
} PackedRows;

static int64_t firstRow(const PackedRows *a, int64_t tile) { return tile * a->rows / a->tiles; }

/* The number of micro-tiles that have some of the first n rows. */
static int64_t tilesWith(const PackedRows *a, int64_t n)
{
  int64_t tiles = a->tiles;
  while (tiles > 0 && firstRow(a, tiles - 1) >= n) tiles--;
  return tiles;
}

/* Packs columns of m as terms from `term` on, in `rows` rows of a micro-tile. `from` is the first element. */
static void packTile(const PackedRows *a, int64_t tile, int64_t term, const real *from, int64_t rowStride,
                     int64_t columnStride, int64_t rows, int64_t columns)
{
  THNN_(copyMatrix)(a->data + (tile * a->terms + term) * GEMM_MR, 1, GEMM_MR, from, rowStride, columnStride, rows,
                    columns);
}

/* Micro-tiles [tile, endTile) of a panel: a part of a task. */
typedef struct PanelPart {
  int64_t panel, tile, endTile;
} PanelPart;

/* Part number `part` of `parts`; `down` of them divide the rows: micro-tiles [tile, endTile), and [at, end) of them in
   all panels, one panel after the other. */
typedef struct Part {
  int64_t tile, endTile, at, end;
} Part;

static Part makePart(int64_t part, int64_t parts, int64_t down, int64_t panels, int64_t tiles)
{
  const int64_t row = part % down, column = part / down, across = parts / down;
  Part p = {row * tiles / down, (row + 1) * tiles / down, 0, 0};
  p.at = column * panels * (p.endTile - p.tile) / across;
  p.end = (column + 1) * panels * (p.endTile - p.tile) / across;
  return p;
}

static PanelPart nextPart(Part *p)
{
  const int64_t tiles = p->endTile - p->tile, panel = p->at / tiles, tile = p->at % tiles,
                count = MIN(tiles - tile, p->end - p->at);
  p->at += count;
  return (PanelPart){panel, p->tile + tile, p->tile + tile + count};
}

/* All micro-tiles of all panels, divided evenly among threads: each has the same ones in all steps of one size. For
   thnn_threads(), a multiply-add of vectors is a quarter of an element. */
#define FOR_PANEL_PARTS(part, panels, tiles, divideRows, multiplyAdds)                                         \
  const int64_t thnn_work = (multiplyAdds) / 4, thnn_parts = thnn_threads((panels) * (tiles), thnn_work),      \
                thnn_down =                                                                                    \
                    (divideRows) && ((tiles) % thnn_parts == 0 || (tiles) >= 4 * thnn_parts) ? thnn_parts : 1; \
  THNN_PARALLEL_FOR(thnn_part, thnn_parts, thnn_work)                                                          \
    for (Part thnn_range = makePart(thnn_part, thnn_parts, thnn_down, panels, tiles);                          \
         thnn_range.at < thnn_range.end;)                                                                      \
      for (PanelPart part = nextPart(&thnn_range), *thnn_once = &part; thnn_once; thnn_once = NULL)

/* The memory that the cell reads or writes after the products of a part, prefetched during the products: a column range
   of each block of H columns. A row has few adjacent columns of a panel, so hardware prefetchers miss them. */
typedef struct CellPrefetch {
  int64_t H, first;        /* columns per block, first column of the panel */
  int columns;             /* columns of the panel */
  int64_t products, terms; /* micro-kernel calls, terms per call */
  PrefetchPlan plans[5];
  int count, at;
} CellPrefetch;

static void addPrefetch(CellPrefetch *p, const CellMatrix *m, int64_t row, int64_t rows, int blocks)
{
  const int64_t stride = blocks == 1 ? m->rowStride : p->H;
  if (m->data == NULL || m->columnStride != 1 || m->rowStride != stride * blocks || rows <= 0) return;
  const PrefetchRegion region = {cellAddress(m, row, p->first), rows * blocks, stride, p->columns};
  p->plans[p->count++] = makePrefetchPlan(region, p->products, p->terms);
}

static PrefetchLines nextLines(CellPrefetch *p)
{
  while (p->at < p->count && p->plans[p->at].part >= p->plans[p->at].neededParts) p->at++;
  return p->at < p->count ? nextPrefetch(&p->plans[p->at]) : (PrefetchLines){0};
}

/* sums = initial + a * panel, in the first n rows of micro-tiles [tile, endTile). Rows of sums are `width` apart. If
   initialStride is 0, all rows of `initial` are the first one. `prefetch` may be NULL. */
static void multiply(const PackedRows *a, int64_t n, PanelPart part, const real *panel, int width, real *sums,
                     const real *initial, int64_t initialStride, CellPrefetch *prefetch)
{
  int32_t offset[GEMM_KC];
  for (int k = 0; k < GEMM_KC; k++) offset[k] = k * GEMM_MR;
  for (int64_t k = 0; k < a->terms || k == 0; k += GEMM_KC)
    for (int64_t tile = part.tile; tile < part.endTile; tile++) {
      const int64_t row = firstRow(a, tile), rows = MIN(firstRow(a, tile + 1), n) - row;
      const real *packed = a->data + (tile * a->terms + k) * GEMM_MR;
      real *sum = sums + row * width;
      const PrefetchLines lines = prefetch ? nextLines(prefetch) : (PrefetchLines){0};
      THNN_(microkernel)(1, (int)rows, width / VL, lines.run > 0)(
          sum, width, k ? sum : initial + row * initialStride, k ? width : initialStride, &packed,
          (KRange){offset, 0, MIN(GEMM_KC, a->terms - k)}, panel + k * width, width, &lines);
    }
}

/* Packs the columns of a panel: packed[k][n] = data[k * termStride + n * columnStride]. */
static void packPanel(real *packed, const real *data, int64_t termStride, int64_t columnStride, int64_t terms,
                      int columns, int width)
{
  if (columns < width) memset(packed, 0, sizeof(real) * (size_t)(terms * width));
  THNN_(copyMatrix)(packed, width, 1, data, termStride, columnStride, terms, columns);
}

void THNN_(checkStepsApart)(THNNState *state, int writtenCount, THTensor *const *written, const char *const *names,
                            int readCount, const THNNTensor *const *read)
{
  for (int i = 0; i < writtenCount; i++) {
    if (written[i] == NULL) continue;
    for (int k = 0; k < readCount + i; k++) {
      const THNNTensor *other = k < readCount ? read[k] : written[k - readCount];
      if (other && THNN_overlaps(written[i], other, false))
        return THNN_fail(state, THNN_VALUE_ERROR, names[i], "must not share memory with other arguments");
    }
  }
}

static void checkSizes(THNNState *state, const THIndexTensor *sizes, int64_t sequences, int64_t rows)
{
  const int64_t *size = sizes->data, stride = sizes->stride[0];
  int64_t sum = 0;
  for (int64_t i = 0; i < sizes->size[0]; i++) {
    const int64_t value = size[i * stride], most = i == 0 ? sequences : size[(i - 1) * stride];
    THNN_CHECK(i > 0 || value == sequences, sizes, "expected %lld sequences in the first step, got %lld",
               (long long)sequences, (long long)value);
    THNN_CHECK(value >= 0 && value <= most, sizes,
               "expected at most the %lld sequences of the step before in step %lld, and at least 0, got %lld",
               (long long)most, (long long)i, (long long)value);
    THNN_CHECK(value <= rows - sum, sizes, "expected the sum %lld, the number of rows of all steps, got more",
               (long long)rows);
    sum += value;
  }
  THNN_CHECK(sum == rows, sizes, "expected the sum %lld, the number of rows of all steps, got %lld",
             (long long)rows, (long long)sum);
}

Steps THNN_(makeSteps)(THNNState *state, const Cell *cell, const THIndexTensor *sizes, bool reverse, int64_t rows,
                       const THTensor *hx, const THTensor *weight2, const THTensor *storage,
                       const THTensor *buffer)
{
  checkSizes(state, sizes, hx->size[0], rows);
  return (Steps){.cell = cell,
                 .count = sizes->size[0],
                 .rows = rows,
                 .sequences = hx->size[0],
                 .columns = hx->size[1],
                 .sizes = sizes->data,
                 .sizeStride = sizes->stride[0],
                 .reverse = reverse,
                 .weight2 = cellMatrix(weight2),
                 .storage = cellMatrix(storage),
                 .buffer = TH_DATA(buffer)};
}

/* A step: its number, its first row, and its number of rows. Steps before the first and after the last have none. */
typedef struct Step {
  int64_t number, first, size;
} Step;

static int64_t sizeOf(const Steps *s, int64_t number)
{
  return number < 0 || number >= s->count ? 0 : s->sizes[number * s->sizeStride];
}

/* The position before the first step or, if not `later`, after the last one, where nextStep() starts. */
static Step beyondSteps(const Steps *s, bool later)
{
  return later ? (Step){-1, 0, 0} : (Step){s->count, s->rows, 0};
}

static Step nextStep(const Steps *s, Step at, bool later)
{
  if (later) return (Step){at.number + 1, at.first + at.size, sizeOf(s, at.number + 1)};
  const int64_t size = sizeOf(s, at.number - 1);
  return (Step){at.number - 1, at.first - size, size};
}

/* The block that holds the hidden states' sum for a gate. */
static int hiddenBlock(const Steps *s, int gate)
{
  const Cell *cell = s->cell;
  return cell->blocks > cell->gates && gate == cell->gates - 1 ? cell->blocks - 1 : gate;
}

/* Copies between a matrix and `flat`, a panel or micro-tile whose rows are `width` apart. */
static void copyIn(real *flat, int width, const CellMatrix *m, int64_t row, int64_t column, int64_t rows,
                   int columns)
{
  if (rows <= 0) return;
  if (columns < width) memset(flat, 0, sizeof(real) * (size_t)(rows * width));
  THNN_(copyMatrix)(flat, width, 1, cellAddress(m, row, column), m->rowStride, m->columnStride, rows, columns);
}
static void copyOut(const real *flat, int width, const CellMatrix *m, int64_t row, int64_t column, int64_t rows,
                    int columns)
{
  THNN_(copyMatrix)(cellAddress(m, row, column), m->rowStride, m->columnStride, flat, width, 1, rows, columns);
}

/* Forward */

/* The buffer of the forward. States are stored [panel][state][row][n]. */
typedef struct ForwardLayout {
  real *weight1, *weight2, *bias, *sums, *states;
  int64_t sumRows;
  PackedRows input, hidden[2];
  bool dividesRows;
  int64_t reals; /* total size */
} ForwardLayout;

static ForwardLayout forwardLayout(real *buffer, const Cell *cell, int64_t sequences, int64_t inputs,
                                   int64_t columns)
{
  ForwardLayout l = {.sumRows = sequences + INPUT_ROWS - 1,
                     .dividesRows = dividesRows(columns, cell->gates, FORWARD_WEIGHTS)};
  const int64_t tiles = tilesOf(sequences, l.dividesRows);
  int64_t at = 0;
#define TAKE(count) (at += (count), buffer ? buffer + at - (count) : NULL)
  l.weight1 = TAKE(panelReals(columns, cell->gates * inputs));
  l.weight2 = TAKE(panelReals(columns, cell->gates * columns));
  l.bias = TAKE(panelReals(columns, cell->blocks));
  l.sums = TAKE(panelReals(columns, cell->blocks * l.sumRows));
  l.states = TAKE(panelReals(columns, cell->states * sequences));
  for (int i = 0; i < 2; i++)
    l.hidden[i] = (PackedRows){TAKE(rowReals(sequences, columns)), sequences, tiles, columns};
  l.input = (PackedRows){TAKE(rowReals(l.sumRows, inputs)), 0, 0, inputs};
#undef TAKE
  l.reals = at;
  return l;
}

int64_t THNN_(forwardBuffer)(const Cell *cell, int64_t sequences, int64_t inputs, int64_t columns)
{
  return forwardLayout(NULL, cell, sequences, inputs, columns).reals;
}

static void packForward(const ForwardSteps *f, const ForwardLayout *l)
{
  const Steps *s = &f->steps;
  const int64_t H = s->columns, I = f->inputs;
  const CellMatrix *w1 = &f->weight1, *w2 = &s->weight2;
  THNN_PARALLEL_FOR(i, panelsOf(H) * s->cell->gates, s->cell->gates * H * (H + I)) {
    const int64_t panel = i / s->cell->gates, row = i % s->cell->gates * H + panel * GEMM_NR;
    const int gate = (int)(i % s->cell->gates), block = hiddenBlock(s, gate), n = columnsOf(H, panel),
              width = widthOf(H, panel);
    packPanel(l->weight1 + i * GEMM_NR * I, cellAddress(w1, row, 0), w1->columnStride, w1->rowStride, I, n, width);
    packPanel(l->weight2 + i * GEMM_NR * H, cellAddress(w2, row, 0), w2->columnStride, w2->rowStride, H, n, width);
    real bias1[CELL_TILE], bias2[CELL_TILE], *to = l->bias + panel * s->cell->blocks * GEMM_NR;
    const real *b1 = cellLoad(&f->bias1, 0, row, n, bias1), *b2 = cellLoad(&f->bias2, 0, row, n, bias2);
    for (int j = 0; j < width; j++) {
      const real x = j < n ? b1[j] : 0, h = j < n ? b2[j] : 0;
      to[gate * GEMM_NR + j] = block == gate ? x + h : x;
      if (block != gate) to[block * GEMM_NR + j] = h;
    }
  }
  /* In the reverse direction, sequences begin in later steps of the loop: until then both buffers have their initial
     states. */
  THNN_PARALLEL_FOR(i, 2 * l->hidden[0].tiles, 2 * s->sequences * H) {
    const PackedRows *a = &l->hidden[i % 2];
    const int64_t row = firstRow(a, i / 2), rows = firstRow(a, i / 2 + 1) - row;
    const CellMatrix *m = &f->initial[0];
    packTile(a, i / 2, 0, cellAddress(m, row, 0), m->rowStride, m->columnStride, rows, H);
  }
  THNN_PARALLEL_FOR(i, panelsOf(H) * s->cell->states, s->sequences * H)
    copyIn(l->states + i * s->sequences * GEMM_NR, widthOf(H, i / s->cell->states),
           &f->initial[i % s->cell->states], 0, i / s->cell->states * GEMM_NR, s->sequences,
           columnsOf(H, i / s->cell->states));
}

/* The sums of a block of a panel. */
static real *sumsOf(const ForwardSteps *f, const ForwardLayout *l, int64_t panel, int block)
{
  return l->sums + (panel * f->steps.cell->blocks + block) * l->sumRows * GEMM_NR;
}

/* The products of the input with weight1 in rows [first, first + rows). */
static void multiplyInput(const ForwardSteps *f, ForwardLayout *l, int64_t first, int64_t rows)
{
  const int64_t H = f->steps.columns, I = f->inputs, tiles = tilesOf(rows, l->dividesRows);
  const int gates = f->steps.cell->gates;
  const CellMatrix *input = &f->input;
  l->input.rows = rows;
  l->input.tiles = tiles;
  THNN_PARALLEL_FOR(tile, tiles, rows * I) {
    const int64_t row = firstRow(&l->input, tile), count = firstRow(&l->input, tile + 1) - row;
    packTile(&l->input, tile, 0, cellAddress(input, first + row, 0), input->rowStride, input->columnStride, count,
             I);
  }
  FOR_PANEL_PARTS(part, panelsOf(H), tiles, l->dividesRows, rows * gates * H * I)
  for (int g = 0; g < gates; g++)
    multiply(&l->input, rows, part, l->weight1 + (part.panel * gates + g) * GEMM_NR * I, widthOf(H, part.panel),
             sumsOf(f, l, part.panel, g), l->bias + (part.panel * f->steps.cell->blocks + g) * GEMM_NR, 0, NULL);
}

/* A step whose first row is row `sumRow` of the sums. */
static void forwardStep(const ForwardSteps *f, const ForwardLayout *l, Step at, int64_t sumRow,
                        const PackedRows *hidden, const PackedRows *next)
{
  const Steps *s = &f->steps;
  const int64_t H = s->columns, tiles = tilesWith(hidden, at.size);
  FOR_PANEL_PARTS(part, panelsOf(H), tiles, l->dividesRows, at.size * s->cell->gates * H * H)
  {
    const int width = widthOf(H, part.panel), columns = columnsOf(H, part.panel);
    const int64_t first = part.panel * GEMM_NR;
    const int64_t begin = firstRow(hidden, part.tile), rows = MIN(firstRow(hidden, part.endTile), at.size) - begin;
    CellPrefetch prefetch = {.H = H,
                             .first = first,
                             .columns = columns,
                             .products = s->cell->gates * ceilDivide(H, GEMM_KC) * (part.endTile - part.tile),
                             .terms = MIN(H, GEMM_KC)};
    addPrefetch(&prefetch, &s->storage, at.first + begin, rows, s->cell->blocks);
    for (int k = 0; k < s->cell->states; k++) addPrefetch(&prefetch, &f->after[k], at.first + begin, rows, 1);
    for (int g = 0; g < s->cell->gates; g++) {
      const int block = hiddenBlock(s, g);
      real *sums = sumsOf(f, l, part.panel, block) + sumRow * width;
      multiply(hidden, at.size, part, l->weight2 + (part.panel * s->cell->gates + g) * GEMM_NR * H, width, sums,
               block == g ? sums : l->bias + (part.panel * s->cell->blocks + block) * GEMM_NR,
               block == g ? width : 0, &prefetch);
    }
    for (int64_t tile = part.tile; tile < part.endTile; tile++) {
      const int64_t row = firstRow(hidden, tile), rows = MIN(firstRow(hidden, tile + 1), at.size) - row;
      real *blocks[STEPS_MAX_BLOCKS], *states[STEPS_MAX_STATES];
      for (int k = 0; k < s->cell->blocks; k++) blocks[k] = sumsOf(f, l, part.panel, k) + (sumRow + row) * width;
      for (int k = 0; k < s->cell->states; k++)
        states[k] = l->states + (part.panel * s->cell->states + k) * s->sequences * GEMM_NR + row * width;
      s->cell->forward(blocks, states, rows * width);
      packTile(next, tile, first, states[0], width, 1, rows, columns);
      for (int k = 0; k < s->cell->states; k++)
        copyOut(states[k], width, &f->after[k], at.first + row, first, rows, columns);
      for (int k = 0; k < s->cell->blocks && s->storage.data; k++)
        copyOut(blocks[k], width, &s->storage, at.first + row, k * H + first, rows, columns);
    }
  }
}

void THNN_(stepsForward)(const ForwardSteps *f)
{
  const Steps *s = &f->steps;
  ForwardLayout l = forwardLayout(s->buffer, s->cell, s->sequences, f->inputs, s->columns);
  packForward(f, &l);
  Step at = beyondSteps(s, !s->reverse);
  for (int64_t i = 0, multiplied = 0, first = 0; i < s->count; i++) {
    at = nextStep(s, at, !s->reverse);
    if (multiplied == i) {
      Step last = at;
      int64_t rows = at.size;
      for (multiplied++; multiplied < s->count && rows < INPUT_ROWS; multiplied++, rows += last.size)
        last = nextStep(s, last, !s->reverse);
      first = MIN(at.first, last.first);
      multiplyInput(f, &l, first, rows);
    }
    forwardStep(f, &l, at, at.first - first, &l.hidden[i % 2], &l.hidden[(i + 1) % 2]);
  }
}

/* Backward */

/* The buffer of the backward. The terms of a product are the columns of all gates. State gradients are stored
   [panel][state][row][n]. */
typedef struct BackwardLayout {
  real *weight2, *gradStates;
  PackedRows gradients[2];
  bool dividesRows;
  int64_t reals;
} BackwardLayout;

static BackwardLayout backwardLayout(real *buffer, const Cell *cell, int64_t sequences, int64_t columns)
{
  BackwardLayout l = {.dividesRows = dividesRows(columns, cell->gates, BACKWARD_WEIGHTS)};
  const int64_t terms = cell->gates * columns, tiles = tilesOf(sequences, l.dividesRows);
  int64_t at = 0;
#define TAKE(count) (at += (count), buffer ? buffer + at - (count) : NULL)
  l.weight2 = TAKE(panelReals(columns, terms));
  l.gradStates = TAKE(panelReals(columns, cell->states * sequences));
  for (int i = 0; i < 2; i++)
    l.gradients[i] = (PackedRows){TAKE(rowReals(sequences, terms)), sequences, tiles, terms};
#undef TAKE
  l.reals = at;
  return l;
}

int64_t THNN_(backwardBuffer)(const Cell *cell, int64_t sequences, int64_t columns)
{
  return backwardLayout(NULL, cell, sequences, columns).reals;
}

static real *gradStateOf(const Steps *s, const BackwardLayout *l, int64_t panel, int state)
{
  return l->gradStates + (panel * s->cell->states + state) * s->sequences * GEMM_NR;
}

/* The cell in `rows` rows of a micro-tile. */
static void backwardTile(const BackwardSteps *b, const BackwardLayout *l, Step at, Step before, int64_t panel,
                         int64_t tile, int64_t row, int64_t rows, const PackedRows *next)
{
  enum { BEFORE = STEPS_MAX_BLOCKS, AFTER, GRADIENT, FLAT };
  real flat[FLAT][MICROTILE_REALS], *blocks[STEPS_MAX_BLOCKS], *gradStates[STEPS_MAX_STATES];
  const Steps *s = &b->steps;
  const int64_t H = s->columns, first = panel * GEMM_NR, begun = MAX(MIN(before.size - row, rows), 0);
  const int width = widthOf(H, panel), columns = columnsOf(H, panel);
  for (int k = 0; k < s->cell->blocks; k++) {
    blocks[k] = flat[k];
    copyIn(flat[k], width, &s->storage, at.first + row, k * H + first, rows, columns);
  }
  for (int k = 0; k < s->cell->states; k++) gradStates[k] = gradStateOf(s, l, panel, k) + row * width;
  if (b->outputCell.data) {
    copyIn(flat[BEFORE], width, &b->outputCell, before.first + row, first, begun, columns);
    copyIn(flat[BEFORE] + begun * width, width, &b->initialCell, row + begun, first, rows - begun, columns);
    copyIn(flat[AFTER], width, &b->outputCell, at.first + row, first, rows, columns);
  }
  if (b->gradOutput.data) {
    copyIn(flat[GRADIENT], width, &b->gradOutput, at.first + row, first, rows, columns);
#pragma omp simd
    for (int64_t i = 0; i < rows * width; i++) gradStates[0][i] += flat[GRADIENT][i];
  }
  s->cell->backward(blocks, gradStates, flat[BEFORE], flat[AFTER], rows * width);
  for (int g = 0; g < s->cell->gates; g++) {
    const real *byHidden = blocks[hiddenBlock(s, g)];
    packTile(next, tile, g * H + first, byHidden, width, 1, rows, columns);
    copyOut(blocks[g], width, &b->gradInput, at.first + row, g * H + first, rows, columns);
    if (b->gradHidden.data) copyOut(byHidden, width, &b->gradHidden, at.first + row, g * H + first, rows, columns);
  }
}

/* The gradients w.r.t. the hidden states before step `after`, then the gradients w.r.t. the gates of step `at`. Either
   step may have no rows. */
static void backwardStep(const BackwardSteps *b, const BackwardLayout *l, Step after, Step at, Step before,
                         const PackedRows *gradients, const PackedRows *next)
{
  const Steps *s = &b->steps;
  const int64_t H = s->columns, most = MAX(after.size, at.size), tiles = tilesWith(gradients, most),
                tilesAfter = tilesWith(gradients, after.size);
  FOR_PANEL_PARTS(part, panelsOf(H), tiles, l->dividesRows, most * s->cell->gates * H * H)
  {
    const int width = widthOf(H, part.panel), columns = columnsOf(H, part.panel);
    real *gradHidden = gradStateOf(s, l, part.panel, 0);
    const int64_t first = part.panel * GEMM_NR, begin = firstRow(gradients, part.tile),
                  rows = MIN(firstRow(gradients, part.endTile), at.size) - begin;
    CellPrefetch prefetch = {.H = H,
                             .first = first,
                             .columns = columns,
                             .products = ceilDivide(gradients->terms, GEMM_KC) * (part.endTile - part.tile),
                             .terms = MIN(gradients->terms, GEMM_KC)};
    addPrefetch(&prefetch, &s->storage, at.first + begin, rows, s->cell->blocks);
    addPrefetch(&prefetch, &b->gradInput, at.first + begin, rows, s->cell->gates);
    addPrefetch(&prefetch, &b->gradHidden, at.first + begin, rows, s->cell->gates);
    addPrefetch(&prefetch, &b->gradOutput, at.first + begin, rows, 1);
    addPrefetch(&prefetch, &b->outputCell, before.first + begin, MIN(rows, before.size - begin), 1);
    multiply(gradients, after.size, (PanelPart){part.panel, part.tile, MIN(part.endTile, tilesAfter)},
             l->weight2 + part.panel * GEMM_NR * gradients->terms, width, gradHidden, gradHidden, width,
             &prefetch);
    for (int64_t tile = part.tile; tile < part.endTile; tile++) {
      const int64_t row = firstRow(gradients, tile), rows = MIN(firstRow(gradients, tile + 1), at.size) - row;
      if (rows > 0) backwardTile(b, l, at, before, part.panel, tile, row, rows, next);
    }
  }
}

void THNN_(stepsBackward)(const BackwardSteps *b)
{
  const Steps *s = &b->steps;
  const BackwardLayout l = backwardLayout(s->buffer, s->cell, s->sequences, s->columns);
  const CellMatrix *w2 = &s->weight2;
  const int64_t H = s->columns, terms = s->cell->gates * H;
  THNN_PARALLEL_FOR(panel, panelsOf(H), H * terms) {
    const int width = widthOf(H, panel), columns = columnsOf(H, panel);
    packPanel(l.weight2 + panel * GEMM_NR * terms, cellAddress(w2, 0, panel * GEMM_NR), w2->rowStride,
              w2->columnStride, terms, columns, width);
    for (int k = 0; k < s->cell->states; k++)
      copyIn(gradStateOf(s, &l, panel, k), width, &b->gradStates[k], 0, panel * GEMM_NR, s->sequences, columns);
  }
  Step after = beyondSteps(s, s->reverse), at = nextStep(s, after, s->reverse);
  for (int64_t i = 0; i <= s->count; i++) {
    const Step before = nextStep(s, at, s->reverse);
    backwardStep(b, &l, after, at, before, &l.gradients[i % 2], &l.gradients[(i + 1) % 2]);
    after = at;
    at = before;
  }
  THNN_PARALLEL_FOR(panel, panelsOf(H), s->sequences * H * s->cell->states)
    for (int k = 0; k < s->cell->states; k++)
      copyOut(gradStateOf(s, &l, panel, k), widthOf(H, panel), &b->gradStates[k], 0, panel * GEMM_NR, s->sequences,
              columnsOf(H, panel));
}
