/* What a convolution multiplies its kernel with: the input elements under the window, for a range of output pixels. */
#ifndef XP_DEVICE_EVAL_PATCHES_H
#define XP_DEVICE_EVAL_PATCHES_H

#include "device/eval_plan.h"

#define XP_DEV_MAX_SPATIAL XP_HLO_MAX_RANK

/* One spatial dimension: extents and strides (in elements) of input and output, and the window. */
typedef struct {
  int64_t in, out, in_stride, out_stride;
  xp_hlo_window_dim window;
} xp_dev_spatial;

typedef struct {
  int rank;
  xp_dev_spatial dims[XP_DEV_MAX_SPATIAL];
  int64_t window_count;                           /* positions in the window */
  int64_t pixel_count;                            /* of one image */
  int64_t channels, channel_stride, batch_stride; /* of the input, of one group */
  size_t size;                                    /* of an element */
} xp_dev_patches;

/* Output pixels under one position of the window whose input elements lie at equal distances. */
typedef struct {
  int64_t at, count; /* pixels, counted from the first of the range */
  int64_t from;      /* element of the input; -1: all are outside of it */
} xp_dev_segment;

/* Elements of the input from one pixel of a segment to the next. */
static inline int64_t xp_dev_segment_step(const xp_dev_patches *patches)
{
  const xp_dev_spatial *last = &patches->dims[patches->rank - 1];
  return last->window.stride * last->in_stride;
}

/* Segments that a range of `count` pixels has at most. */
static inline size_t xp_dev_segment_capacity(size_t count)
{
  return 3 * count;
}

/* Writes the segments of the pixels first .. first + count - 1 under a position of the window, and returns their
 * number. */
int64_t xp_dev_patches_segments(const xp_dev_patches *patches, int64_t first, int64_t count, const int64_t *position,
                                xp_dev_segment *segments);

/* Moves to the next position in the window; false after the last one.  Begin with all 0. */
bool xp_dev_patches_advance(const xp_dev_patches *patches, int64_t *position);

/* The greatest one of two numbers above 0; a, if b is 0. */
int64_t xp_dev_common_divisor(int64_t a, int64_t b);

/* False if a window and extents contradict each other, or are too large to be counted with. */
bool xp_dev_window_is_sound(xp_hlo_window_dim window, int64_t in, int64_t out);

/* Channels stand side by side in the input: a patch is a row then, [pixel][window position, channel].  Otherwise it is
 * a column, [window position, channel][pixel]. */
static inline bool xp_dev_patches_are_rows(const xp_dev_patches *patches)
{
  return patches->channel_stride == 1 && patches->channels > 1;
}

/* Bytes of scratch that xp_dev_patches_fill needs for `count` pixels. */
size_t xp_dev_patches_scratch(size_t count);

/* Fills the patches of pixels first .. first + count - 1, counted over all images.  `to` has count * window_count *
 * channels elements.  What lies outside of the input is 0. */
void xp_dev_patches_fill(const xp_dev_patches *patches, void *to, const void *input, int64_t first, int64_t count,
                         void *scratch);

/* The same in the order [pixel][channel][window position], with `row` elements from one pixel to the next, along the
 * window: fast where the window is larger than the output.  Neither dilated inputs nor reversed windows.  The scratch
 * is that of as many pixels as the window has positions. */
void xp_dev_patches_fill_turned(const xp_dev_patches *patches, void *to, int64_t row, const void *input, int64_t first,
                                int64_t count, void *scratch);

#endif
