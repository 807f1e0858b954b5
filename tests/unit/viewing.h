/* A story (readings.h) opened in the viewer, and requests to it without a network. */
#ifndef XP_TESTS_VIEWING_H
#define XP_TESTS_VIEWING_H

#include "readings.h"
#include "web/site.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

typedef struct {
  story *s;
  xp_site site;
  xp_reply reply;
} show;

static inline int show_begin(void **state)
{
  show *w = calloc(1, sizeof *w);
  void *s;
  assert_non_null(w);
  story_begin(&s);
  w->s = s;
  w->site = (xp_site){.folder = -1, .token = TOKEN};
  *state = w;
  return 0;
}

static inline int show_end(void **state)
{
  show *w = *state;
  void *s = w->s;
  xp_reply_clear(&w->reply);
  xp_viewer_close(w->site.viewer);
  story_end(&s);
  free(w);
  return 0;
}

#define SHOW(test) cmocka_unit_test_setup_teardown(test, show_begin, show_end)

/* Opens what was told so far. */
static inline const xp_viewer *open_story(show *w)
{
  xp_error err;
  end_plane(w->s);
  const xp_viewer_options options = {.path = "test.xplane.pb", .bytes = written(&w->s->space), .version = "0"};
  assert_int_equal(xp_viewer_open(&options, &w->site.viewer, &err), XP_OK);
  if (xp_viewer_wait(w->site.viewer, XP_VIEW_READY, -1) != XP_VIEW_READY) {
    fail_msg("%s", w->site.viewer->error.text);
  }
  return w->site.viewer;
}

static inline xp_request page_request(const char *target)
{
  return (xp_request){.method = xp_str_c("GET"), .target = xp_str_c(target), .host = xp_str_c("localhost:8080")};
}

static inline unsigned answer_to(show *w, const xp_request *request)
{
  xp_reply_clear(&w->reply);
  xp_site_answer(&w->site, request, &w->reply);
  return w->reply.status;
}

static inline const char *body(const show *w)
{
  return w->reply.bytes != NULL ? w->reply.bytes : w->reply.fixed;
}

/* The answer to data/<what>, NUL-terminated as streams in memory are; it must be there. */
static inline const char *ask(show *w, const char *what)
{
  char target[9000];
  snprintf(target, sizeof target, "/" TOKEN "/data/%s", what);
  xp_request request = page_request(target);
  if (answer_to(w, &request) != 200) {
    fail_msg("%s: status %u, %s", what, w->reply.status, body(w));
  }
  return body(w);
}

/* The status of data/<what>. */
static inline unsigned status_of(show *w, const char *what)
{
  char target[9000];
  snprintf(target, sizeof target, "/" TOKEN "/data/%s", what);
  xp_request request = page_request(target);
  return answer_to(w, &request);
}

/* ---- binary answers, read as the page reads them */

static inline uint32_t u32_at(const show *w, size_t at)
{
  const uint8_t *b = (const uint8_t *)body(w) + at;
  assert_true(at + 4 <= w->reply.size);
  return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline double f32_at(const show *w, size_t at)
{
  uint32_t bits = u32_at(w, at);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline double f64_at(const show *w, size_t at)
{
  uint64_t bits = u32_at(w, at) | (uint64_t)u32_at(w, at + 4) << 32;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Where the columns of a window begin: places of x, w, busy, count, item, name, style, offsets, bytes. */
enum { X, WIDTH, BUSY, ITEMS, ITEM, NAME, STYLE, OFFSETS, BYTES, COLUMNS };

static inline void window_columns(const show *w, size_t at[COLUMNS])
{
  size_t rows = u32_at(w, 8), items = u32_at(w, 12), names = u32_at(w, 16);
  at[X] = 40 + 16 * rows;
  for (int i = WIDTH; i <= OFFSETS; i++) {
    at[i] = at[i - 1] + (4 * items + 7) / 8 * 8;
  }
  at[BYTES] = at[OFFSETS] + (4 * (names + 1) + 7) / 8 * 8;
  assert_int_equal(w->reply.size, at[BYTES] + u32_at(w, 20));
}

static inline uint32_t cell_u32(const show *w, int column, uint32_t i)
{
  size_t at[COLUMNS];
  window_columns(w, at);
  return u32_at(w, at[column] + 4 * (size_t)i);
}

static inline double cell_f32(const show *w, int column, uint32_t i)
{
  size_t at[COLUMNS];
  window_columns(w, at);
  return f32_at(w, at[column] + 4 * (size_t)i);
}

/* The track with a name; fails if there is none. */
static inline uint32_t track_of(const show *w, const char *name)
{
  const xp_tracks *tracks = &w->site.viewer->tracks;
  for (uint32_t i = 0; i < tracks->count; i++) {
    if (xp_str_is(tracks->tracks[i].name, name)) {
      return i;
    }
  }
  fail_msg("there is no track %s", name);
  return 0;
}

#endif
