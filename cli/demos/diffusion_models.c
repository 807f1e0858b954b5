/* Text encoder, U-Net and decoder, each from the layers of diffusion_layers.c. */
#include "diffusion_models.h"

enum { VAE_WIDTH = 16 };

text_encoder text_make(noise_source *source)
{
  text_encoder m;
  m.words = embedding_make(source, WORDS, TEXT_WIDTH);
  m.places = embedding_make(source, TEXT_LENGTH, TEXT_WIDTH);
  m.mask = xl_tril(xl_ones(XL_BOOL, XL_SHAPE(TEXT_LENGTH, TEXT_LENGTH)), 0);
  m.norm1 = norm_make(TEXT_WIDTH);
  m.norm2 = norm_make(TEXT_WIDTH);
  m.norm3 = norm_make(TEXT_WIDTH);
  m.attention = attention_make(source, TEXT_WIDTH, TEXT_WIDTH);
  m.widen = linear_make(source, TEXT_WIDTH, 2 * TEXT_WIDTH);
  m.narrow = linear_make(source, 2 * TEXT_WIDTH, TEXT_WIDTH);
  return m;
}

xl_tensor text_apply(const text_encoder *m, xl_tensor ids)
{
  xl_tensor x = xl_add(xl_embedding(m->words, ids), m->places);
  x = xl_add(x, attend(&m->attention, layer_norm(&m->norm1, x), XL_NONE, m->mask));
  x = xl_add(x, linear(&m->narrow, xl_gelu(linear(&m->widen, layer_norm(&m->norm2, x)))));
  return layer_norm(&m->norm3, x);
}

/* Frequencies from 1 down to about 1 / 10000, as positions are embedded. */
static xl_tensor make_frequencies(void)
{
  return xl_exp(xl_mul_scalar(xl_arange(XL_F32, 0, TIME_WIDTH / 2, 1), -9.21 / (TIME_WIDTH / 2)));
}

unet unet_make(noise_source *source)
{
  enum { WIDTH = TIME_WIDTH };
  unet m;
  m.frequencies = make_frequencies();
  m.time1 = linear_make(source, WIDTH, 2 * WIDTH);
  m.time2 = linear_make(source, 2 * WIDTH, 2 * WIDTH);
  m.enter = conv_make(source, 4, WIDTH, 3);
  m.down = res_block_make(source, WIDTH, WIDTH, 2 * WIDTH);
  m.shrink = conv_make(source, WIDTH, WIDTH, 3);
  m.middle = res_block_make(source, WIDTH, 2 * WIDTH, 2 * WIDTH);
  m.mix = transformer_make(source, 2 * WIDTH, TEXT_WIDTH);
  m.grow = conv_make(source, 2 * WIDTH, WIDTH, 3);
  m.up = res_block_make(source, 2 * WIDTH, WIDTH, 2 * WIDTH);
  m.norm = norm_make(WIDTH);
  m.leave = conv_make(source, WIDTH, 4, 3);
  return m;
}

static xl_tensor embed_time(const unet *m, xl_tensor t)
{
  const xl_tensor angles = xl_mul(xl_unsqueeze(t, 1), m->frequencies);
  return xl_cat((const xl_tensor[]){xl_cos(angles), xl_sin(angles)}, 2, -1);
}

xl_tensor unet_apply(const unet *m, xl_tensor x, xl_tensor t, xl_tensor context)
{
  const xl_tensor time = linear(&m->time2, xl_silu(linear(&m->time1, embed_time(m, t))));
  const xl_tensor first = res_block_apply(&m->down, conv(&m->enter, x, 1), time);
  xl_tensor h = res_block_apply(&m->middle, conv(&m->shrink, first, 2), time);
  h = transformer_apply(&m->mix, h, context);
  h = conv(&m->grow, xl_upsample_nearest2d(h, 2), 1);
  h = res_block_apply(&m->up, xl_cat((const xl_tensor[]){h, first}, 2, 1), time);
  return conv(&m->leave, xl_silu(group_norm(&m->norm, h)), 1);
}

decoder vae_make(noise_source *source)
{
  decoder m;
  m.enter = conv_make(source, 4, VAE_WIDTH, 3);
  m.norm = norm_make(VAE_WIDTH);
  m.grow = conv_make(source, VAE_WIDTH, VAE_WIDTH, 3);
  m.leave = conv_make(source, VAE_WIDTH, 3, 3);
  return m;
}

/* Colours from 0 to 1. */
xl_tensor vae_apply(const decoder *m, xl_tensor latents)
{
  xl_tensor h = xl_silu(group_norm(&m->norm, conv(&m->enter, xl_div_scalar(latents, 0.18215), 1)));
  h = xl_silu(conv(&m->grow, xl_upsample_nearest2d(h, 2), 1));
  h = conv(&m->leave, xl_upsample_nearest2d(h, 2), 1);
  return xl_clamp(xl_add_scalar(xl_mul_scalar(h, 0.5), 0.5), 0, 1);
}
