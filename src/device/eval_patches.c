/* Patches: the columns of the matrix that makes a convolution a matrix product.
 *
 * For each position in the window, the pixels of a row of the output lie in the input at equal distances, but for those
 * that fall outside or between the elements of a dilated input.  So the pixels are first turned into segments (where,
 * how many, how far apart, or zeros), and each channel is then copied by segments.
 */
#include "device/eval_patches.h"

size_t xp_dev_patches_scratch(size_t count)
{
  return xp_dev_round_up(xp_dev_segment_capacity(count) * sizeof(xp_dev_segment));
}

/* Where a window position over an output position lies in the input; -1 if nowhere. */
static int64_t input_position(const xp_dev_spatial *d, int64_t out, int64_t position)
{
  int64_t k = d->window.is_reversed ? d->window.size - 1 - position : position;
  int64_t at = out * d->window.stride + k * d->window.window_dilation - d->window.padding_low;
  if (at < 0 || at % d->window.base_dilation != 0) {
    return -1;
  }
  at /= d->window.base_dilation;
  return at < d->in ? at : -1;
}

static void add_segment(xp_dev_segment *segments, int64_t *n, int64_t at, int64_t count, int64_t from)
{
  if (*n > 0 && from < 0 && segments[*n - 1].from < 0) {
    segments[*n - 1].count += count;
  } else {
    segments[(*n)++] = (xp_dev_segment){at, count, from};
  }
}

/* Pixels j .. j + count - 1 of one output row, whose input row begins at `row` (-1: outside). */
static void add_row(const xp_dev_spatial *d, int64_t position, int64_t row, int64_t at, int64_t j, int64_t count,
                    xp_dev_segment *segments, int64_t *n)
{
  if (row < 0) {
    add_segment(segments, n, at, count, -1);
    return;
  }
  for (int64_t i = 0; i < count;) {
    int64_t x = input_position(d, j + i, position), run = 1;
    if (x >= 0 && d->window.base_dilation == 1) {
      int64_t inside = (d->in - 1 - x) / d->window.stride + 1;
      run = inside < count - i ? inside : count - i;
    }
    add_segment(segments, n, at + i, run, x < 0 ? -1 : row + x * d->in_stride);
    i += run;
  }
}

int64_t xp_dev_patches_segments(const xp_dev_patches *patches, int64_t first, int64_t count, const int64_t *position,
                                xp_dev_segment *segments)
{
  const xp_dev_patches *p = patches;
  const xp_dev_spatial *last = &p->dims[p->rank - 1];
  int64_t n = 0;
  for (int64_t done = 0; done < count;) {
    int64_t pixel = first + done, image = pixel / p->pixel_count, rest = pixel % p->pixel_count;
    int64_t j = rest % last->out, row = image * p->batch_stride;
    int64_t run = last->out - j < count - done ? last->out - j : count - done;
    rest /= last->out;
    for (int d = p->rank - 2; d >= 0; d--) {
      int64_t x = input_position(&p->dims[d], rest % p->dims[d].out, position[d]);
      row = row < 0 || x < 0 ? -1 : row + x * p->dims[d].in_stride;
      rest /= p->dims[d].out;
    }
    add_row(last, position[p->rank - 1], row, done, j, run, segments, &n);
    done += run;
  }
  return n;
}

bool xp_dev_patches_advance(const xp_dev_patches *patches, int64_t *position)
{
  for (int d = patches->rank - 1; d >= 0; d--) {
    if (++position[d] < patches->dims[d].window.size) {
      return true;
    }
    position[d] = 0;
  }
  return false;
}

#define COPY(name, T)                                                                                                  \
  static void name(T *to, const T *from, int64_t count, int64_t step)                                                  \
  {                                                                                                                    \
    for (int64_t i = 0; i < count; i++) {                                                                              \
      to[i] = from[i * step];                                                                                          \
    }                                                                                                                  \
  }

COPY(copy_8, uint8_t)
COPY(copy_16, uint16_t)
COPY(copy_32, uint32_t)
COPY(copy_64, uint64_t)

static void copy_run(size_t size, char *to, const char *from, int64_t count, int64_t step)
{
  if (step == 1) {
    memcpy(to, from, (size_t)count * size);
  } else if (size == 4) {
    copy_32((uint32_t *)to, (const uint32_t *)from, count, step);
  } else if (size == 8) {
    copy_64((uint64_t *)to, (const uint64_t *)from, count, step);
  } else if (size == 2) {
    copy_16((uint16_t *)to, (const uint16_t *)from, count, step);
  } else {
    copy_8((uint8_t *)to, (const uint8_t *)from, count, step);
  }
}

/* One window position of all channels, each channel a row of `count` pixels. */
static void fill_columns(const xp_dev_patches *p, char *to, const char *input, int64_t count,
                         const xp_dev_segment *segments, int64_t n)
{
  for (int64_t c = 0; c < p->channels; c++, to += count * (int64_t)p->size) {
    for (int64_t s = 0; s < n; s++) {
      char *at = to + segments[s].at * (int64_t)p->size;
      if (segments[s].from < 0) {
        memset(at, 0, (size_t)segments[s].count * p->size);
      } else {
        copy_run(p->size, at, input + (segments[s].from + c * p->channel_stride) * (int64_t)p->size, segments[s].count,
                 xp_dev_segment_step(p));
      }
    }
  }
}

/* One window position of all channels, each pixel's channels side by side; `row` elements from pixel to pixel. */
static void fill_rows(const xp_dev_patches *p, char *to, int64_t row, const char *input, const xp_dev_segment *segments,
                      int64_t n)
{
  size_t bytes = (size_t)p->channels * p->size;
  for (int64_t s = 0; s < n; s++) {
    for (int64_t i = 0; i < segments[s].count; i++) {
      char *at = to + (segments[s].at + i) * row * (int64_t)p->size;
      if (segments[s].from < 0) {
        memset(at, 0, bytes);
      } else {
        memcpy(at, input + (segments[s].from + i * xp_dev_segment_step(p)) * (int64_t)p->size, bytes);
      }
    }
  }
}

void xp_dev_patches_fill(const xp_dev_patches *patches, void *to, const void *input, int64_t first, int64_t count,
                         void *scratch)
{
  const xp_dev_patches *p = patches;
  int64_t position[XP_DEV_MAX_SPATIAL] = {0};
  bool are_rows = xp_dev_patches_are_rows(p);
  if (p->window_count == 0) {
    return;
  }
  int64_t w = 0;
  do {
    int64_t n = xp_dev_patches_segments(p, first, count, position, scratch);
    int64_t at = w * p->channels * (are_rows ? 1 : count);
    if (are_rows) {
      fill_rows(p, (char *)to + at * (int64_t)p->size, p->window_count * p->channels, input, scratch, n);
    } else {
      fill_columns(p, (char *)to + at * (int64_t)p->size, input, count, scratch, n);
    }
    w++;
  } while (xp_dev_patches_advance(p, position));
}

/* Pixels and window change places: the window's positions over one pixel are the pixels under one position. */
void xp_dev_patches_fill_turned(const xp_dev_patches *patches, void *to, int64_t row, const void *input, int64_t first,
                                int64_t count, void *scratch)
{
  xp_dev_patches turned = *patches;
  turned.pixel_count = patches->window_count;
  turned.window_count = patches->pixel_count;
  for (int d = 0; d < turned.rank; d++) {
    const xp_dev_spatial *from = &patches->dims[d];
    turned.dims[d].out = from->window.size;
    turned.dims[d].window.size = from->out;
    turned.dims[d].window.stride = from->window.window_dilation;
    turned.dims[d].window.window_dilation = from->window.stride;
  }
  int64_t segments = 0, size = (int64_t)patches->size;
  for (int64_t i = 0; i < count; i++) {
    int64_t image = (first + i) / patches->pixel_count, rest = (first + i) % patches->pixel_count;
    int64_t position[XP_DEV_MAX_SPATIAL];
    for (int d = turned.rank - 1; d >= 0; d--) {
      position[d] = rest % patches->dims[d].out;
      rest /= patches->dims[d].out;
    }
    if (i == 0 || patches->pixel_count > 1) {
      segments = xp_dev_patches_segments(&turned, 0, turned.pixel_count, position, scratch);
    }
    fill_columns(&turned, (char *)to + i * row * size, (const char *)input + image * patches->batch_stride * size,
                 turned.pixel_count, scratch, segments);
  }
}

int64_t xp_dev_common_divisor(int64_t a, int64_t b)
{
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

bool xp_dev_window_is_sound(xp_hlo_window_dim window, int64_t in, int64_t out)
{
  const xp_hlo_window_dim w = window;
  const int64_t most = INT64_C(1) << 30; /* products of two stay far below 63 bits */
  if (w.size < 1 || w.stride < 1 || w.window_dilation < 1 || w.base_dilation < 1 || w.size > most || w.stride > most ||
      w.window_dilation > most || w.base_dilation > most || w.padding_low > most || w.padding_low < -most ||
      w.padding_high > most || w.padding_high < -most || in > most) {
    return false;
  }
  int64_t padded = (in > 0 ? (in - 1) * w.base_dilation + 1 : 0) + w.padding_low + w.padding_high;
  int64_t span = (w.size - 1) * w.window_dilation + 1;
  return out == (padded < span ? 0 : (padded - span) / w.stride + 1);
}
