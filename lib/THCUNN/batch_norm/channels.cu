#include "batch_norm/channels.h"

namespace THNN_(channels)
{

/* Appends a dimension of positions, or merges it with the one before. */
static void addDimension(THNNState *state, Channels *c, const THNNTensor *const *tensor, int d, int64_t size)
{
  const int last = c->dims - 1;
  bool merges = c->dims > 0;
  for (int k = 0; k < OPERANDS && merges; k++)
    merges = tensor[k] == NULL || tensor[k]->stride[d] == c->operand[k].stride[last] * c->size[last].divisor;
  if (merges) {
    c->size[last] = Divisor(c->size[last].divisor * size);
    return;
  }
  if (c->dims == POSITION_DIMS) {
    THNN_fail(state, THNN_NOT_IMPLEMENTED, NULL, "a tensor has more than %d dimensions that cannot be merged",
              POSITION_DIMS);
    return;
  }
  c->size[c->dims] = Divisor(size);
  for (int k = 0; k < OPERANDS; k++) c->operand[k].stride[c->dims] = tensor[k] ? tensor[k]->stride[d] : 0;
  c->dims++;
}

/* True if the tensor can be loaded in packs along the channels, or along the innermost positions. */
static bool isPacked(const Channels &c, bool alongChannels)
{
  const int64_t size = Pack<Element>::size;
  if ((alongChannels ? c.channels : c.dims == 0 ? 1 : c.size[0].divisor) % size != 0) return false;
  for (int k = 0; k < OPERANDS; k++) {
    const Channels::Operand &operand = c.operand[k];
    if (operand.data == NULL) continue;
    if ((uintptr_t)operand.data % sizeof(Pack<Element>) != 0) return false;
    if ((alongChannels ? operand.channelStride : operand.stride[0]) != 1) return false;
    if (!alongChannels && operand.channelStride % size != 0) return false;
    for (int d = alongChannels ? 0 : 1; d < c.dims; d++)
      if (operand.stride[d] % size != 0) return false;
  }
  return true;
}

Channels channelsOf(THNNState *state, int channelDim, const THNNTensor *a, const THNNTensor *b,
                    const THNNTensor *c)
{
  const THNNTensor *const tensor[OPERANDS] = {a, b, c}, *shape = a ? a : b ? b : c;
  Channels result;
  memset((void *)&result, 0, sizeof result);
  result.channels = channelDim < 0 ? 1 : shape->size[channelDim];
  result.positions = 1;
  for (int k = 0; k < OPERANDS; k++)
    if (tensor[k]) {
      result.operand[k].data = TH_DATA(tensor[k]);
      result.operand[k].channelStride = channelDim < 0 ? 0 : tensor[k]->stride[channelDim];
    }
  for (int d = shape->ndim - 1; d >= 0; d--) {
    if (d == channelDim) continue;
    result.positions *= shape->size[d];
    if (shape->size[d] != 1) addDimension(state, &result, tensor, d, shape->size[d]);
  }
  /* With few positions, the threads of a block have more than one channel. */
  const bool hasFew = result.positions <= WARP;
  if (isPacked(result, true)) result.kind = PACKED_CHANNELS;
  else result.kind = !hasFew && isPacked(result, false) ? PACKED_POSITIONS : SINGLE;
  const Channels::Operand &last = result.operand[c ? 2 : b ? 1 : 0];
  const bool adjoins = result.channels > 1 && last.channelStride == 1;
  result.adjacentChannels = result.kind == PACKED_CHANNELS || (result.kind == SINGLE && (hasFew || adjoins));
  return result;
}

} // namespace THNN_(channels)
