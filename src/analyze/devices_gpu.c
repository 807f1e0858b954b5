/* GPU planes: kernels and copies on stream lines.
 *
 * A copy is told by its memcpy_details, its name, or the API call that launched it: ROCm copies with a kernel.  A run
 * of a program is the kernels whose launch calls lie in one execute event of the host.
 */
#include "analyze/lanes.h"

static void note_program(xp_device_builder *b, const xp_device_stats *s)
{
  if (s->has_program) {
    xp_map_put(&b->device_programs, s->program, 0);
  }
  if (s->hlo_module.len) {
    xp_intern_add(&b->device_modules, s->hlo_module);
  }
}

static uint32_t module_of(xp_devices *all, const xp_device_stats *s)
{
  return xp_devices_module(all, (xp_module){s->hlo_module, s->program, s->has_program});
}

/* The run of a kernel, new with the first kernel of its launch.  `known`: run by launch. */
static uint32_t run_of(xp_device_builder *b, xp_device_data *d, xp_map *known, const xp_device_stats *s,
                       int64_t start_ps, int64_t end_ps)
{
  uint32_t launch = s->has_correlation ? xp_links_by_correlation(b->links, d->host, s->correlation) : XP_NONE;
  if (launch == XP_NONE || !xp_launch_is_execute(&b->links->launches[launch])) {
    return XP_NONE;
  }
  uint32_t run = xp_map_get(known, launch);
  if (run == XP_NONE) {
    run = xp_device_add_run(b->all, d,
                            (xp_device_run){.start_ps = start_ps, .end_ps = end_ps, .module = module_of(b->all, s)});
    d->runs[run].launch = launch;
    xp_map_put(known, launch, run);
  }
  xp_device_run *r = &d->runs[run];
  xp_device_run_extend(r, start_ps, end_ps);
  if (!b->all->modules[r->module].name.len) {
    r->module = module_of(b->all, s);
  }
  return run;
}

static void read_event(xp_device_builder *b, xp_device_data *d, xp_lane *lane, xp_event_cursor *cursor, size_t i,
                       xp_map *known)
{
  const xp_line *line = lane->line;
  xp_device_stats s;
  xp_device_stats_read(xp_event_stats(cursor, i), &s);
  note_program(b, &s);
  const xp_api_call *call = s.has_correlation ? xp_links_call(b->links, d->host, s.correlation) : NULL;
  bool copy = s.has_memcpy || xp_device_event_is_copy(xp_event_name(line, i)) || (call && call->memcpy_call);
  xp_role role = copy ? XP_ROLE_COPY : XP_ROLE_WORK;
  uint32_t run = copy ? XP_NONE : run_of(b, d, known, &s, line->start_ps[i], xp_event_end(line, i));
  xp_device_count_work(d, role);
  xp_lane_add_run(b->all, lane, i, xp_device_op(b, d->host, line, i, &s, role), run);
}

void xp_gpu_plane_read(xp_device_builder *b, xp_device_data *device, const xp_plane *plane)
{
  xp_map known;
  xp_map_init(&known, b->all->arena);
  for (size_t r = 0; r < device->run_count; r++) { /* a plane that occurs twice is one device */
    xp_map_put(&known, device->runs[r].launch, (uint32_t)r);
  }
  for (size_t l = 0; l < plane->line_count; l++) {
    const xp_line *line = &plane->lines[l];
    if (!xp_str_starts(line->name, "Stream")) {
      continue;
    }
    xp_event_cursor cursor = xp_event_cursor_open(line);
    xp_lane *lane = xp_lane_of(b->all, device, line);
    for (size_t i = 0; i < line->count; i++) {
      if (!xp_device_event_is_ignored(xp_event_name(line, i)) && !xp_device_event_is_lost(device, line, i)) {
        read_event(b, device, lane, &cursor, i, &known);
      }
    }
  }
}
