/* Layers of the small diffusion pipeline that the demonstrations sd21 and sdxl run, with seeded weights. */
#ifndef XLAPROF_DIFFUSION_LAYERS_H
#define XLAPROF_DIFFUSION_LAYERS_H

#include "xlaprof/lazy.h"

/* Weights of any layer; what a layer has not is XL_NONE. */
typedef struct {
  xl_tensor weight, bias;
} layer;

typedef struct {
  layer q, k, v, out;
} attention_layer;

typedef struct {
  layer norm1, conv1, time, norm2, conv2, skip;
} res_block;

typedef struct {
  layer norm, norm1, norm2, norm3, gate, out;
  attention_layer own, cross;
} transformer;

/* Random numbers for weights and inputs, the same on every machine. */
typedef struct {
  uint64_t state;
} noise_source;

/* Uniform in [-scale, scale). */
void noise_fill(noise_source *source, float *values, size_t count, float scale);

layer linear_make(noise_source *source, int64_t in, int64_t out);
layer conv_make(noise_source *source, int64_t in, int64_t out, int64_t size);
layer norm_make(int64_t width);
xl_tensor embedding_make(noise_source *source, int64_t rows, int64_t width);
attention_layer attention_make(noise_source *source, int64_t width, int64_t context);
res_block res_block_make(noise_source *source, int64_t before, int64_t after, int64_t time);
transformer transformer_make(noise_source *source, int64_t width, int64_t context);

xl_tensor linear(const layer *l, xl_tensor x);
xl_tensor conv(const layer *l, xl_tensor x, int64_t stride);
xl_tensor group_norm(const layer *l, xl_tensor x);
xl_tensor layer_norm(const layer *l, xl_tensor x);

/* x [batch, length, width]; context likewise (XL_NONE: x itself); mask as in xl_attention. */
xl_tensor attend(const attention_layer *l, xl_tensor x, xl_tensor context, xl_tensor mask);

/* x [batch, channels, height, breadth], time [batch, ..]. */
xl_tensor res_block_apply(const res_block *l, xl_tensor x, xl_tensor time);
xl_tensor transformer_apply(const transformer *l, xl_tensor x, xl_tensor context);

#endif
