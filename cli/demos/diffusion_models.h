/* The three models of the pipeline. */
#ifndef XLAPROF_DIFFUSION_MODELS_H
#define XLAPROF_DIFFUSION_MODELS_H

#include "diffusion_layers.h"

enum { TEXT_WIDTH = 32, TEXT_LENGTH = 8, WORDS = 64, TIME_WIDTH = 64 };

typedef struct {
  xl_tensor words, places, mask;
  layer norm1, norm2, norm3, widen, narrow;
  attention_layer attention;
} text_encoder;

typedef struct {
  layer time1, time2, enter, shrink, grow, norm, leave;
  res_block down, middle, up;
  transformer mix;
  xl_tensor frequencies;
} unet;

typedef struct {
  layer enter, norm, grow, leave;
} decoder;

text_encoder text_make(noise_source *source);
unet unet_make(noise_source *source);
decoder vae_make(noise_source *source);

/* ids [2, TEXT_LENGTH] to what the U-Net attends to, [2, TEXT_LENGTH, TEXT_WIDTH]. */
xl_tensor text_apply(const text_encoder *m, xl_tensor ids);

/* The noise in x [2, 4, size, size] at the times t [2]. */
xl_tensor unet_apply(const unet *m, xl_tensor x, xl_tensor t, xl_tensor context);

/* Colours from 0 to 1, [1, 3, 4 size, 4 size]. */
xl_tensor vae_apply(const decoder *m, xl_tensor latents);

#endif
