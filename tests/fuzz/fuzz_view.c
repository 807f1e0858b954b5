/* Fuzz target: the index of the viewer over a capture from anywhere, and every question that the page can ask of it.
 * What must hold: a row's blocks hold each of its items once, in order, and every answer is well-formed. */
#include <stdlib.h>

#include "web/site.h"

#define TOKEN "00112233445566778899aabbccddeeff"

static void require(bool holds)
{
  if (!holds) {
    abort();
  }
}

typedef struct {
  uint64_t items;
  int64_t last_start_ps;
} blocks_seen;

static void see_block(void *context, const xp_lod_block *block)
{
  blocks_seen *seen = context;
  require(block->count > 0 && block->last - block->first + 1 == block->count);
  require(block->start_ps >= seen->last_start_ps);
  seen->items += block->count;
  seen->last_start_ps = block->start_ps;
}

/* Seen from far enough, every item of a row is in some block. */
static void check_rows(const xp_track *track)
{
  uint64_t timed = 0;
  for (uint32_t r = 0; r < track->row_count; r++) {
    blocks_seen seen = {0, INT64_MIN};
    xp_lod_walk(track, r, INT64_MIN, INT64_MAX, 1e18, see_block, &seen);
    require(seen.items == track->rows[r].count ||
            xp_item_times(track, xp_row_item(&track->rows[r], 0)).end_ps == INT64_MIN);
    timed += track->rows[r].count;
  }
  require(timed == track->timed);
}

static void ask(const xp_site *site, const char *target, bool must_answer)
{
  xp_reply reply = {0};
  const xp_request request = {.method = xp_str_c("GET"), .target = xp_str_c(target), .host = xp_str_c("localhost")};
  xp_site_answer(site, &request, &reply);
  require(reply.status == 200 || (!must_answer && (reply.status == 400 || reply.status == 404)));
  require(reply.size == 0 || reply.bytes != NULL || reply.fixed != NULL);
  xp_reply_clear(&reply);
}

static void ask_about(const xp_site *site, uint32_t track)
{
  static const char *const spans[] = {"from=0&to=1000", "from=-1000000000&to=1000000000000", "from=5&to=6",
                                      "from=-2305843009213693951&to=2305843009213693951"};
  char text[300];
  for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
    snprintf(text, sizeof text, "/" TOKEN "/data/window?%s&width=50&tracks=%u&match=1", spans[i], track);
    ask(site, text, false);
    snprintf(text, sizeof text, "/" TOKEN "/data/sums?%s&tracks=%u", spans[i], track);
    ask(site, text, false);
    snprintf(text, sizeof text, "/" TOKEN "/data/minimap?%s&width=50", spans[i]);
    ask(site, text, true);
  }
  for (uint32_t item = 0; item < 5; item++) {
    snprintf(text, sizeof text, "/" TOKEN "/data/item?track=%u&item=%u", track, item * item * item);
    ask(site, text, false);
  }
  snprintf(text, sizeof text, "/" TOKEN "/data/next?track=%u&at=0&dir=next", track);
  ask(site, text, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char *const whole[] = {"meta",        "summary",
                                      "tracks",      "search?q=a&limit=20",
                                      "table/steps", "table/gaps",
                                      "table/names", "search?q=.&mode=regex&at=0&dir=prev",
                                      "table/ops",   "table/ops?by=scope&format=csv"};
  enum { MOST_TRACKS = 12 };
  xp_viewer *viewer;
  xp_error err;
  const xp_viewer_options options = {
      .path = "fuzz", .bytes = xp_str_from(size > 0 ? (const char *)data : "", size), .threads = 1, .version = "0"};
  require(xp_viewer_open(&options, &viewer, &err) == XP_OK);
  if (xp_viewer_wait(viewer, XP_VIEW_READY, -1) == XP_VIEW_READY) {
    const xp_site site = {.viewer = viewer, .folder = -1, .token = TOKEN};
    char text[200];
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
      snprintf(text, sizeof text, "/" TOKEN "/data/%s", whole[i]);
      ask(&site, text, true);
    }
    for (uint32_t t = 0; t < viewer->tracks.count; t++) {
      check_rows(&viewer->tracks.tracks[t]);
      if (t < MOST_TRACKS) {
        ask_about(&site, t);
      }
    }
  }
  xp_viewer_close(viewer);
  return 0;
}
