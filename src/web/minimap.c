/* How much of each pixel of time the devices waited, by cause: the sum of what each gap covers of each pixel. */
#include "web/frame.h"
#include "web/handlers.h"

enum { MAGIC = 0x4d505856, MOST_WIDTH = 8192, HEADER_BYTES = 32 };

typedef struct {
  const xp_reading *reading;
  xp_times span;
  size_t width;
  double pixel_ps;
  float *shares; /* [cause][pixel] */
  float *busy;   /* [pixel] */
  double weight; /* of one device */
} minimap;

/* Adds a stretch of time to the pixels that it covers. */
static void cover(const minimap *m, float *pixels, int64_t start_ps, int64_t end_ps, double sign)
{
  double from = ((double)start_ps - (double)m->span.start_ps) / m->pixel_ps;
  double to = ((double)end_ps - (double)m->span.start_ps) / m->pixel_ps;
  from = from > 0 ? from : 0;
  to = to < (double)m->width ? to : (double)m->width;
  for (double at = from; at < to;) {
    size_t pixel = (size_t)at;
    double next = (double)(pixel + 1) < to ? (double)(pixel + 1) : to;
    pixels[pixel] += (float)((next - at) * m->weight * sign);
    at = next;
  }
}

static bool counts(const xp_device *device)
{
  return device->has_window && device->ranked;
}

static void add_device(const minimap *m, uint32_t index)
{
  const xp_device *device = &m->reading->devices[index];
  const xp_gap *gaps = m->reading->gaps;
  cover(m, m->busy, device->window_ps[0], device->window_ps[1], 1);
  for (size_t i = m->reading->analysis->timelines[index].first_gap;
       i < m->reading->gap_count && gaps[i].device == index; i++) {
    int64_t end_ps = xp_add_saturating(gaps[i].start_ps, gaps[i].dur_ps);
    cover(m, m->shares + (size_t)gaps[i].cause * m->width, gaps[i].start_ps, end_ps, 1);
    if (gaps[i].where == XP_WHERE_INSIDE) {
      cover(m, m->busy, gaps[i].start_ps, end_ps, -1);
    }
  }
}

static bool fill(xp_frame *f, minimap *m, int64_t device)
{
  size_t wanted = 0, first = device < 0 ? 0 : (size_t)device;
  size_t end = device < 0 ? m->reading->device_count : first + 1;
  for (size_t i = first; i < end; i++) {
    wanted += device >= 0 || counts(&m->reading->devices[i]);
  }
  m->weight = wanted > 0 ? 1 / (double)wanted : 0;
  for (size_t i = first; i < end; i++) {
    if (device >= 0 || counts(&m->reading->devices[i])) {
      add_device(m, (uint32_t)i);
    }
  }
  xp_frame_u32(f, MAGIC);
  xp_frame_u32(f, 1);
  xp_frame_u32(f, XP_CAUSE_COUNT);
  xp_frame_u32(f, (uint32_t)m->width);
  xp_frame_f64(f, (double)m->span.start_ps);
  xp_frame_f64(f, m->pixel_ps);
  for (size_t i = 0; i < (XP_CAUSE_COUNT + 1) * m->width; i++) {
    float share = m->shares[i];
    xp_frame_f32(f, share < 0 ? 0 : share > 1 ? 1 : share);
  }
  return true;
}

typedef struct {
  minimap *m;
  xp_arena *arena;
  xp_frame *frame;
  int64_t device;
  bool done;
} minimap_job;

static void answer(void *context)
{
  minimap_job *job = context;
  size_t cells = (XP_CAUSE_COUNT + 1) * job->m->width;
  job->m->shares = xp_arena_array(job->arena, cells, sizeof *job->m->shares);
  job->m->busy = job->m->shares + (size_t)XP_CAUSE_COUNT * job->m->width;
  job->done = xp_frame_open(job->frame, HEADER_BYTES + 4 * cells) && fill(job->frame, job->m, job->device);
}

void xp_web_minimap(xp_viewer *viewer, const xp_query *query, xp_reply *reply)
{
  minimap m = {.reading = viewer->reading};
  xp_frame frame = {NULL, 0, 0};
  int64_t width, device = -1;
  if (!xp_param_span(query, &m.span, reply) || !xp_param_int(query, "width", 1, MOST_WIDTH, &width, reply) ||
      !xp_param_int_or(query, "device", 0, (int64_t)m.reading->device_count - 1, &device, reply)) {
    return;
  }
  m.width = (size_t)width;
  m.pixel_ps = (double)(m.span.end_ps - m.span.start_ps) / (double)width;
  minimap_job job = {&m, xp_arena_create(), &frame, device, false};
  if (job.arena != NULL) {
    xp_arena_guard(job.arena, answer, &job);
  }
  xp_arena_destroy(job.arena);
  if (!job.done) {
    xp_reply_fail(reply, 500, "Memory ran out while the answer was written");
    return;
  }
  xp_reply_clear(reply);
  *reply =
      (xp_reply){.status = 200, .type = "application/octet-stream", .bytes = (char *)frame.bytes, .size = frame.used};
}
