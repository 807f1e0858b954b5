/* What the models of the pipeline are made of.  Each layer is a few operations; shapes are asked from the tensors. */
#include "diffusion_layers.h"

#include <math.h>
#include <stdlib.h>

enum { HEADS = 2, GROUPS = 4 };

/* ---------------------------------------------------------------- weights */

/* splitmix64 */
static uint64_t next(noise_source *source)
{
  uint64_t z = source->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

void noise_fill(noise_source *source, float *values, size_t count, float scale)
{
  for (size_t i = 0; i < count; i++) {
    values[i] = ((float)(next(source) >> 40) / (float)(1 << 23) - 1) * scale;
  }
}

static xl_tensor weights(noise_source *source, xl_shape shape, float scale)
{
  size_t count = 1;
  for (size_t i = 0; i < shape.rank; i++) {
    count *= (size_t)shape.dims[i];
  }
  float *values = malloc(count * sizeof *values);
  if (values == NULL) {
    return XL_NONE; /* what uses it reports that */
  }
  noise_fill(source, values, count, scale);
  const xl_tensor made = xl_from_host(XL_F32, shape, values);
  free(values);
  return made;
}

/* The usual scale of weights: one over the root of the inputs. */
static float scale_of(int64_t inputs)
{
  return 1 / sqrtf((float)inputs);
}

layer linear_make(noise_source *source, int64_t in, int64_t out)
{
  return (layer){weights(source, XL_SHAPE(out, in), scale_of(in)), weights(source, XL_SHAPE(out), scale_of(in))};
}

layer conv_make(noise_source *source, int64_t in, int64_t out, int64_t size)
{
  const float scale = scale_of(in * size * size);
  return (layer){weights(source, XL_SHAPE(out, in, size, size), scale), weights(source, XL_SHAPE(out), scale)};
}

layer norm_make(int64_t width)
{
  return (layer){xl_ones(XL_F32, XL_SHAPE(width)), xl_zeros(XL_F32, XL_SHAPE(width))};
}

xl_tensor embedding_make(noise_source *source, int64_t rows, int64_t width)
{
  return weights(source, XL_SHAPE(rows, width), 1);
}

static layer without_bias(noise_source *source, int64_t in, int64_t out)
{
  return (layer){weights(source, XL_SHAPE(out, in), scale_of(in)), XL_NONE};
}

attention_layer attention_make(noise_source *source, int64_t width, int64_t context)
{
  attention_layer l;
  l.q = without_bias(source, width, width);
  l.k = without_bias(source, context, width);
  l.v = without_bias(source, context, width);
  l.out = linear_make(source, width, width);
  return l;
}

res_block res_block_make(noise_source *source, int64_t before, int64_t after, int64_t time)
{
  res_block l;
  l.norm1 = norm_make(before);
  l.conv1 = conv_make(source, before, after, 3);
  l.time = linear_make(source, time, after);
  l.norm2 = norm_make(after);
  l.conv2 = conv_make(source, after, after, 3);
  l.skip = before != after ? conv_make(source, before, after, 1) : (layer){XL_NONE, XL_NONE};
  return l;
}

transformer transformer_make(noise_source *source, int64_t width, int64_t context)
{
  transformer l;
  l.norm = norm_make(width);
  l.norm1 = norm_make(width);
  l.norm2 = norm_make(width);
  l.norm3 = norm_make(width);
  l.own = attention_make(source, width, width);
  l.cross = attention_make(source, width, context);
  l.gate = linear_make(source, width, 4 * width);
  l.out = linear_make(source, 2 * width, width);
  return l;
}

/* ---------------------------------------------------------------- layers */

static xl_shape shape_of(xl_tensor x)
{
  xl_type type;
  xl_shape shape = XL_SCALAR;
  xl_describe(x, &type, &shape, NULL); /* of XL_NONE: the operations that follow give XL_NONE, too */
  return shape;
}

xl_tensor linear(const layer *l, xl_tensor x)
{
  return xl_linear(x, l->weight, l->bias);
}

xl_tensor conv(const layer *l, xl_tensor x, int64_t stride)
{
  const int64_t padding = shape_of(l->weight).dims[2] / 2;
  const xl_conv2d_options options = {{stride, stride}, {padding, padding}, {1, 1}, 1};
  return xl_conv2d(x, l->weight, l->bias, &options);
}

xl_tensor group_norm(const layer *l, xl_tensor x)
{
  return xl_group_norm(x, GROUPS, l->weight, l->bias, 1e-5);
}

xl_tensor layer_norm(const layer *l, xl_tensor x)
{
  return xl_layer_norm(x, 1, l->weight, l->bias, 1e-5);
}

/* [batch, length, width] to [batch, heads, length, width / heads] */
static xl_tensor split_heads(xl_tensor x)
{
  const xl_shape shape = shape_of(x);
  return xl_transpose(xl_reshape(x, XL_SHAPE(shape.dims[0], shape.dims[1], HEADS, -1)), 1, 2);
}

xl_tensor attend(const attention_layer *l, xl_tensor x, xl_tensor context, xl_tensor mask)
{
  const xl_tensor from = context.index != 0 ? context : x;
  const xl_tensor query = split_heads(linear(&l->q, x));
  const xl_tensor key = split_heads(linear(&l->k, from)), value = split_heads(linear(&l->v, from));
  const xl_tensor mixed = xl_attention(query, key, value, mask);
  return linear(&l->out, xl_reshape(xl_transpose(mixed, 1, 2), shape_of(x)));
}

xl_tensor res_block_apply(const res_block *l, xl_tensor x, xl_tensor time)
{
  const xl_tensor shift = linear(&l->time, xl_silu(time));
  xl_tensor h = conv(&l->conv1, xl_silu(group_norm(&l->norm1, x)), 1);
  h = xl_add(h, xl_unsqueeze(xl_unsqueeze(shift, -1), -1));
  h = conv(&l->conv2, xl_silu(group_norm(&l->norm2, h)), 1);
  return xl_add(l->skip.weight.index != 0 ? conv(&l->skip, x, 1) : x, h);
}

xl_tensor transformer_apply(const transformer *l, xl_tensor x, xl_tensor context)
{
  static const int channels_last[] = {0, 2, 3, 1}, channels_first[] = {0, 3, 1, 2};
  const xl_shape shape = shape_of(x);
  const int64_t width = shape.dims[1];
  xl_tensor h = xl_permute(group_norm(&l->norm, x), channels_last);
  h = xl_reshape(h, XL_SHAPE(shape.dims[0], shape.dims[2] * shape.dims[3], width));
  h = xl_add(h, attend(&l->own, layer_norm(&l->norm1, h), XL_NONE, XL_NONE));
  h = xl_add(h, attend(&l->cross, layer_norm(&l->norm2, h), context, XL_NONE));
  const xl_tensor both = linear(&l->gate, layer_norm(&l->norm3, h));
  const xl_tensor value = xl_slice(both, -1, 0, 2 * width, 1), gate = xl_slice(both, -1, 2 * width, 4 * width, 1);
  h = xl_add(h, linear(&l->out, xl_mul(value, xl_gelu(gate))));
  h = xl_reshape(h, XL_SHAPE(shape.dims[0], shape.dims[2], shape.dims[3], width));
  return xl_add(x, xl_permute(h, channels_first));
}
