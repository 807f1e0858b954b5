/* The pipeline: what the device computes is in diffusion_models.c, what the host does in diffusion_host.c.
 *
 * The U-Net comes last in a step and is left to work while the host goes on.  With reads the scheduler makes its
 * decisions on the host, which waits for the device there, twice a step: so the device has nothing to do while the host
 * builds the next step.
 */
#include "diffusion.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "diffusion_host.h"
#include "diffusion_models.h"

enum { TRAINED_STEPS = 100, MARK_ROUNDS = 200 };

static const char prompt[] = "a photograph of a lighthouse at the end of a long stone pier, heavy sea, low sun behind "
                             "torn clouds, gulls, a small "
                             "boat with a red sail, wet stones in the foreground, grass bent by the wind, a path with "
                             "a wooden handrail, far hills, "
                             "warm light on the tower, spray above the wall, fine grain, thirty five millimetre film, "
                             "wide angle, long exposure, "
                             "muted colours, soft shadows, high detail in the stones, a lantern that is lit, a keeper "
                             "at the door, a dog at his feet";

/* The prompt is edited into one of them; all are made ready. */
static const char *const styles[] = {"oil on canvas", "ink wash", "film photograph", "woodcut", "pastel"};

typedef struct {
  xl_tensor timesteps, sigmas, times[DIFFUSION_STEPS];
  double first_sigma;
} scheduler;

struct diffusion {
  diffusion_options options;
  noise_source source;
  text_encoder text;
  unet unet;
  decoder vae;
  scheduler scheduler;
  int64_t host_ns, tokenizing_ns;
  /* The tokeniser that works ahead. */
  pthread_t tokenizer;
  int64_t tokens[2 * TEXT_LENGTH];
  /* State of the image that is made. */
  xl_tensor context, latents, noise;
};

/* ---------------------------------------------------------------- scheduler */

/* Noise levels of Stable Diffusion's schedule, from the noisiest; the last is 0. */
static scheduler scheduler_make(void)
{
  scheduler s;
  float sigmas[DIFFUSION_STEPS + 1] = {0}, times[DIFFUSION_STEPS];
  double kept = 1, level[TRAINED_STEPS];
  for (int i = 0; i < TRAINED_STEPS; i++) {
    const double root = 0.0291548 + (0.1095445 - 0.0291548) * i / (TRAINED_STEPS - 1); /* of beta */
    kept *= 1 - root * root;
    level[i] = __builtin_sqrt((1 - kept) / kept);
  }
  for (int i = 0; i < DIFFUSION_STEPS; i++) {
    const int at = (TRAINED_STEPS - 1) * (DIFFUSION_STEPS - 1 - i) / (DIFFUSION_STEPS - 1);
    times[i] = (float)at;
    sigmas[i] = (float)level[at];
    s.times[i] = xl_from_host(XL_F32, XL_SHAPE(1), &times[i]);
  }
  s.first_sigma = (double)sigmas[0];
  s.timesteps = xl_from_host(XL_F32, XL_SHAPE(DIFFUSION_STEPS), times);
  s.sigmas = xl_from_host(XL_F32, XL_SHAPE(DIFFUSION_STEPS + 1), sigmas);
  return s;
}

static xl_tensor scaled(const scheduler *s, xl_tensor x, xl_tensor t)
{
  const xl_tensor here = xl_cast(xl_eq(s->timesteps, t), XL_F32);
  const xl_tensor sigma = xl_sum(xl_mul(xl_slice(s->sigmas, 0, 0, DIFFUSION_STEPS, 1), here));
  return xl_div(x, xl_sqrt(xl_add_scalar(xl_square(sigma), 1)));
}

enum { NOISE_LIMIT = 100 };

/* The noise within bounds.  The decision is made on the host, or on the device. */
static xl_tensor limited(xl_tensor noise, bool reads)
{
  const xl_tensor peak = xl_amax(xl_flatten(xl_abs(noise), 0, -1), 0, false);
  if (!reads) {
    return xl_div(noise, xl_clamp(xl_div_scalar(peak, NOISE_LIMIT), 1, 1e30));
  }
  double value = 0;
  xl_item(peak, &value, NULL);
  return value <= NOISE_LIMIT ? noise : xl_mul_scalar(noise, NOISE_LIMIT / value);
}

/* Where a step stands among all.  nonzero has as many results as there are: the host must know how many. */
static xl_tensor place(const scheduler *s, xl_tensor t, bool reads)
{
  const xl_tensor same = xl_eq(s->timesteps, t);
  const xl_tensor at = reads ? xl_nonzero(same) : xl_argmax(xl_cast(same, XL_I32), 0, false);
  return xl_reshape(at, XL_SHAPE(1));
}

static xl_tensor scheduler_step(const scheduler *s, xl_tensor noise, xl_tensor t, xl_tensor x, bool reads)
{
  noise = limited(noise, reads);
  const xl_tensor at = place(s, t, reads);
  const xl_tensor sigma = xl_index_select(s->sigmas, 0, at);
  const xl_tensor following = xl_index_select(s->sigmas, 0, xl_add_scalar(at, 1));
  return xl_add(x, xl_mul(xl_sub(following, sigma), noise));
}

/* ---------------------------------------------------------------- annotations, or none */

static xp_trace enter(const diffusion *p, const char *name)
{
  return p->options.is_plain ? (xp_trace){NULL, 0, 0} : xp_trace_begin(name);
}

static xp_trace begin_step(const diffusion *p, const char *name, int number)
{
  return p->options.is_plain ? (xp_trace){NULL, 0, 0} : xp_step_begin(name, number);
}

/* The end of a step is a barrier in both cases. */
static xp_status end_step(const diffusion *p, xp_trace step, xp_error *err)
{
  return p->options.is_plain ? xl_sync(false, err) : xp_trace_end(step, err);
}

static void leave(xp_trace trace)
{
  xp_trace_end(trace, NULL);
}

/* ---------------------------------------------------------------- work on the host */

/* The prompt in each style, and in all of them again until the time is over; the tokens are those of the first. */
static void *run_tokenizer(void *context)
{
  enum { STYLES = sizeof styles / sizeof *styles, COUNT = 2 * TEXT_LENGTH };
  diffusion *p = context;
  const int64_t start_ns = xp_monotonic_ns();
  for (int i = 0; i < STYLES || xp_monotonic_ns() - start_ns < p->tokenizing_ns; i++) {
    int64_t others[COUNT];
    char text[4096];
    snprintf(text, sizeof text, "%s: %s", styles[i % STYLES], prompt);
    tokenize(text, WORDS, i == 0 ? p->tokens : others, COUNT);
  }
  p->host_ns += xp_monotonic_ns() - start_ns;
  return NULL;
}

/* The second prompt: tokenised now, or by then. */
static xl_tensor edited_prompt(diffusion *p)
{
  const xp_trace trace = enter(p, "tokenize");
  if (p->options.edits_ahead) {
    pthread_join(p->tokenizer, NULL);
  } else {
    run_tokenizer(p);
  }
  const xl_tensor ids = xl_from_host(XL_I64, XL_SHAPE(2, TEXT_LENGTH), p->tokens);
  leave(trace);
  return ids;
}

static void take_pixels(const float *image, uint8_t *pixels)
{
  for (size_t i = 0; i < (size_t)IMAGE * IMAGE; i++) {
    for (size_t channel = 0; channel < 3; channel++) {
      pixels[3 * i + channel] = (uint8_t)(image[channel * IMAGE * IMAGE + i] * 255 + 0.5f);
    }
  }
}

/* Reads the image and finishes it on the host. */
static xp_status finish_image(diffusion *p, xl_tensor image, uint8_t *pixels, xp_error *err)
{
  float *values = malloc(PIXELS * sizeof *values);
  if (values == NULL) {
    err->status = XP_ERR_MEMORY;
    return XP_ERR_MEMORY;
  }
  const xp_trace trace = enter(p, p->options.marks ? "watermark" : "output");
  const xp_status status = xl_to_host(image, values, PIXELS * sizeof *values, err);
  if (status == XP_OK && p->options.marks) {
    const int64_t start_ns = xp_monotonic_ns();
    watermark(values, IMAGE, MARK_ROUNDS);
    p->host_ns += xp_monotonic_ns() - start_ns;
  }
  if (status == XP_OK) {
    take_pixels(values, pixels);
  }
  leave(trace);
  free(values);
  return status;
}

/* ---------------------------------------------------------------- the pipeline */

static void replace(xl_tensor *slot, xl_tensor value)
{
  xl_keep(value);
  xl_free(*slot);
  *slot = value;
}

static void encode(diffusion *p, xl_tensor ids)
{
  const xp_trace trace = enter(p, "text");
  replace(&p->context, text_apply(&p->text, ids));
  leave(trace);
}

static void advance(diffusion *p, int number)
{
  const xp_trace trace = enter(p, "scheduler.step");
  replace(&p->latents,
          scheduler_step(&p->scheduler, p->noise, p->scheduler.times[number], p->latents, p->options.reads));
  leave(trace);
}

/* What the U-Net says for two prompts: that of the user, and none. */
static void predict(diffusion *p, int number)
{
  const xp_trace trace = enter(p, "unet");
  const xl_tensor t = p->scheduler.times[number];
  const xl_tensor pair = scaled(&p->scheduler, xl_cat((const xl_tensor[]){p->latents, p->latents}, 2, 0), t);
  const xl_tensor both = unet_apply(&p->unet, pair, xl_expand(t, XL_SHAPE(2)), p->context);
  const xl_tensor plain = xl_slice(both, 0, 0, 1, 1), guided = xl_slice(both, 0, 1, 2, 1);
  replace(&p->noise, xl_add_scaled(plain, xl_sub(guided, plain), 7.5));
  leave(trace);
}

static void start(diffusion *p, xl_tensor ids, xl_tensor latents)
{
  const double sigma = p->scheduler.first_sigma;
  encode(p, ids);
  replace(&p->latents, xl_mul_scalar(latents, __builtin_sqrt(sigma * sigma + 1)));
}

static xp_status denoise(diffusion *p, xl_tensor ids, xl_tensor latents, xp_error *err)
{
  xp_status status = XP_OK;
  for (int i = 0; i < DIFFUSION_STEPS && status == XP_OK; i++) {
    const xp_trace step = begin_step(p, "denoise", i);
    XL_POOL
    {
      if (i == 0) {
        start(p, ids, latents);
      } else {
        advance(p, i - 1);
      }
      if (p->options.edits && i == DIFFUSION_STEPS / 2) {
        encode(p, edited_prompt(p));
      }
      predict(p, i);
    }
    status = end_step(p, step, err);
  }
  return status;
}

static xp_status decode(diffusion *p, xl_tensor *image, xp_error *err)
{
  const xp_trace step = begin_step(p, "decode", 0);
  XL_POOL
  {
    advance(p, DIFFUSION_STEPS - 1);
    const xp_trace trace = enter(p, "vae");
    *image = xl_keep(vae_apply(&p->vae, p->latents));
    leave(trace);
  }
  return end_step(p, step, err);
}

static xp_status make_image(diffusion *p, int number, uint8_t *pixels, xp_error *err)
{
  noise_source source = {(uint64_t)number + 1};
  float values[4 * LATENT * LATENT];
  int64_t ids[2 * TEXT_LENGTH];
  noise_fill(&source, values, sizeof values / sizeof *values, 1.7320508f); /* uniform, of deviation 1 */
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    ids[i] = (int64_t)((i * 7 + (size_t)number * 13) % WORDS);
  }
  if (p->options.edits_ahead && pthread_create(&p->tokenizer, NULL, run_tokenizer, p) != 0) {
    err->status = XP_ERR_MEMORY;
    return XP_ERR_MEMORY;
  }
  const xl_tensor prompt_ids = xl_from_host(XL_I64, XL_SHAPE(2, TEXT_LENGTH), ids);
  const xl_tensor latents = xl_from_host(XL_F32, XL_SHAPE(1, 4, LATENT, LATENT), values);
  xl_tensor image = XL_NONE;
  xp_status status = denoise(p, prompt_ids, latents, err);
  if (status == XP_OK) {
    status = decode(p, &image, err);
  }
  if (status == XP_OK) {
    status = finish_image(p, image, pixels, err);
  }
  xl_free(prompt_ids);
  xl_free(latents);
  xl_free(image);
  return status;
}

xp_status diffusion_run(diffusion *p, uint8_t pixels[PIXELS], xp_error *err)
{
  xp_status status = XP_OK;
  p->host_ns = 0;
  for (int i = 0; i < p->options.images && status == XP_OK; i++) {
    status = make_image(p, i, pixels, err);
  }
  return status == XP_OK ? xl_wait(err) : status;
}

int64_t diffusion_host_ns(const diffusion *p)
{
  return p->host_ns;
}

void diffusion_set_tokenizing(diffusion *p, int64_t ns)
{
  p->tokenizing_ns = ns;
}

xp_status diffusion_create(const diffusion_options *options, diffusion **pipeline, xp_error *err)
{
  diffusion *p = calloc(1, sizeof *p);
  if (p == NULL) {
    err->status = XP_ERR_MEMORY;
    return XP_ERR_MEMORY;
  }
  p->options = *options;
  p->source.state = 2022;
  p->text = text_make(&p->source);
  p->unet = unet_make(&p->source);
  p->vae = vae_make(&p->source);
  p->scheduler = scheduler_make();
  *pipeline = p;
  return xl_sync(true, err);
}

/* Its tensors go with xl_shutdown. */
void diffusion_free(diffusion *pipeline)
{
  free(pipeline);
}
