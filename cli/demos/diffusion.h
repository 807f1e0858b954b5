/* A small diffusion pipeline on lazy tensors: a text encoder, a U-Net, an Euler scheduler and a decoder.
 *
 * It is annotated as a user's pipeline would be: steps `denoise` and `decode`, scopes `text`, `unet`, `scheduler.step`,
 * `vae`, `tokenize` and `watermark`.  What it computes is seeded: the same image on every run.
 */
#ifndef XLAPROF_DIFFUSION_H
#define XLAPROF_DIFFUSION_H

#include "diffusion_layers.h"

enum { DIFFUSION_STEPS = 8, LATENT = 32, IMAGE = 4 * LATENT, PIXELS = 3 * IMAGE * IMAGE };

typedef struct {
  bool reads;       /* the scheduler decides on the host, as diffusers' do: two reads a step */
  bool edits;       /* half way the prompt changes, and the new one is tokenised on the host */
  bool edits_ahead; /* it is tokenised before, while the device is at work */
  bool marks;       /* the image gets a watermark on the host */
  bool is_plain;    /* no annotations */
  int images;
} diffusion_options;

typedef struct diffusion diffusion;

/* Makes the models on the device in use. */
xp_status diffusion_create(const diffusion_options *options, diffusion **pipeline, xp_error *err);
void diffusion_free(diffusion *pipeline);

/* Makes the images, one after the other; pixels (IMAGE rows of IMAGE RGB pixels) are those of the last one. */
xp_status diffusion_run(diffusion *pipeline, uint8_t pixels[PIXELS], xp_error *err);

/* How long the last run worked on the host: at watermarks, or at tokens. */
int64_t diffusion_host_ns(const diffusion *pipeline);

/* How long the next runs make tokens of prompts, at least: so the gap has a length that suits the device, whatever the
 * machine.  The image stays the same. */
void diffusion_set_tokenizing(diffusion *pipeline, int64_t ns);

#endif
