/* Finding devices and filling their lanes.
 *
 * TPU and custom planes: what an event ran is constant for its metadata entry, so stats are read once an entry.  For
 * GPU planes see devices_gpu.c, for XLA CPU devices_cpu.c.
 */
#include "analyze/lanes.h"

#include <stdlib.h>

/* ---- runs */

/* "jit_f(1219)" -> "jit_f"; *program = 1219. */
static xp_str module_name(xp_str event, uint64_t *program, bool *has_program)
{
  size_t open = xp_str_rfind(event, '(');
  *has_program = false;
  if (open < event.len && xp_str_ends(event, ")")) {
    xp_str id = xp_str_from(event.ptr + open + 1, event.len - open - 2);
    uint64_t value = 0;
    for (size_t i = 0; i < id.len; i++) {
      if (id.ptr[i] < '0' || id.ptr[i] > '9') {
        return event;
      }
      value = value * 10 + (uint64_t)(id.ptr[i] - '0');
    }
    *program = value;
    *has_program = id.len > 0;
    return xp_str_take(event, open);
  }
  return event;
}

static void read_modules(xp_devices *all, xp_device_data *d, const xp_line *line)
{
  xp_event_cursor cursor = xp_event_cursor_open(line);
  for (size_t i = 0; i < line->count; i++) {
    if (!xp_event_has_time(line, i)) {
      continue;
    }
    xp_device_stats stats;
    xp_device_stats_read(xp_event_stats(&cursor, i), &stats);
    xp_device_run run = {.start_ps = line->start_ps[i],
                         .end_ps = xp_event_end(line, i),
                         .run_id = stats.run_id,
                         .has_run_id = stats.has_run_id,
                         .flow = stats.consumer,
                         .flow_type = stats.consumer_type,
                         .has_flow = stats.has_consumer};
    xp_module module = {.has_program = false};
    module.name = module_name(xp_event_name(line, i), &module.program, &module.has_program);
    if (!module.has_program && stats.has_program) {
      module.program = stats.program;
      module.has_program = true;
    }
    run.module = xp_devices_module(all, module);
    xp_device_add_run(all, d, run);
    d->module_line = true;
  }
}

/* ---- TPU and custom planes */

static xp_role tpu_role(xp_str op)
{
  return xp_op_is_infeed(op) ? XP_ROLE_INFEED : xp_op_is_idle(op) ? XP_ROLE_TRANSFER : XP_ROLE_WORK;
}

static uint32_t op_of_meta(xp_device_builder *b, uint32_t host, const xp_plane *plane, uint32_t meta_index,
                           xp_stats stats, bool ops_line, bool copies)
{
  const xp_event_meta *meta = &plane->event_meta[meta_index];
  xp_device_stats s;
  xp_device_stats_read(stats, &s);
  xp_str name = meta->display_name.len ? meta->display_name : meta->name;
  bool copy = copies && (s.has_memcpy || xp_device_event_is_copy(name));
  return xp_ops_table_add(b->all, host, meta, &s, copy ? XP_ROLE_COPY : tpu_role(name), ops_line);
}

static void read_op_line(xp_device_builder *b, xp_device_data *d, const xp_line *line, bool ops_line)
{
  const xp_plane *plane = line->plane;
  uint32_t *op_of = xp_arena_array(b->all->arena, plane->event_meta_count, sizeof *op_of); /* 0: not yet, else op + 1 */
  xp_event_cursor cursor = xp_event_cursor_open(line);
  xp_lane *lane = xp_lane_of(b->all, d, line);
  for (size_t i = 0; i < line->count; i++) {
    uint32_t m = line->meta[i] & XP_EVENT_META_MASK;
    xp_str name = plane->event_meta[m].display_name.len ? plane->event_meta[m].display_name : plane->event_meta[m].name;
    if (xp_device_event_is_lost(d, line, i) || (!ops_line && xp_device_event_is_ignored(name))) {
      continue;
    }
    if (!op_of[m]) {
      op_of[m] =
          op_of_meta(b, d->host, plane, m, xp_event_stats(&cursor, i), ops_line, d->kind == XP_DEVICE_CUSTOM) + 1;
    }
    xp_device_count_work(d, b->all->ops[op_of[m] - 1].role);
    xp_lane_add(b->all, lane, i, op_of[m] - 1);
  }
}

static bool is_shown_line(xp_str name)
{
  static const char *const others[] = {"Steps",
                                       "XLA Modules",
                                       "Framework Name Scope",
                                       "Framework Ops",
                                       "Source code",
                                       "Launch Stats",
                                       "_counters_",
                                       "Async XLA Ops",
                                       "XLA TraceMe",
                                       "Sparse Core Steps",
                                       "Sparse Core Modules",
                                       "Host Offload Ops",
                                       "Tensor Core Sync Flag",
                                       "Sparse Core Syncs"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (xp_str_is(name, others[i])) {
      return true;
    }
  }
  return false;
}

static void read_program_plane(xp_device_builder *b, xp_device_data *d, const xp_plane *plane)
{
  const char *wanted = d->kind == XP_DEVICE_SPARSE_CORE ? "Sparse Core Ops" : "XLA Ops";
  bool has_ops = false;
  for (size_t i = 0; i < plane->line_count; i++) {
    const xp_line *line = &plane->lines[i];
    if (xp_str_is(line->name, "XLA Modules") || xp_str_is(line->name, "Sparse Core Modules")) {
      read_modules(b->all, d, line);
    }
    has_ops = has_ops || xp_str_is(line->name, wanted);
  }
  for (size_t i = 0; i < plane->line_count; i++) {
    const xp_line *line = &plane->lines[i];
    if (xp_str_is(line->name, wanted)) {
      read_op_line(b, d, line, true);
    } else if (d->kind == XP_DEVICE_CUSTOM && !has_ops && !is_shown_line(line->name)) {
      read_op_line(b, d, line, false);
    }
  }
}

/* ---- planes */

static int64_t ordinal_of(xp_str name)
{
  int64_t value = 0;
  size_t colon = xp_str_rfind(name, ':');
  return colon < name.len && xp_str_to_int64(xp_str_skip(name, colon + 1), &value) ? value : 0;
}

static bool device_kind(xp_str name, xp_device_kind *kind)
{
  if (xp_str_starts(name, "/device:TPU:")) {
    *kind = xp_str_find_text(name, "SparseCore") < name.len ? XP_DEVICE_SPARSE_CORE : XP_DEVICE_TPU;
  } else if (xp_str_starts(name, "/device:GPU:")) {
    *kind = XP_DEVICE_GPU;
  } else if (xp_str_starts(name, "/device:CUSTOM:")) {
    *kind = XP_DEVICE_CUSTOM;
  } else {
    return false;
  }
  return true;
}

static xp_str model_of(const xp_plane *plane)
{
  static const xp_key keys[] = {XP_KEY_DEVICE_TYPE, XP_KEY_GPU_DEVICE_NAME, XP_KEY_DEVICE_VENDOR};
  xp_stat stat;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    if (xp_stats_find(xp_plane_stats(plane), keys[i], &stat)) {
      return xp_stat_text(&stat);
    }
  }
  return xp_str_from(NULL, 0);
}

static size_t plane_events(const xp_plane *plane)
{
  size_t events = 0;
  for (size_t i = 0; i < plane->line_count; i++) {
    events += plane->lines[i].count;
  }
  return events;
}

static void read_device_planes(xp_device_builder *b, uint32_t host)
{
  const xp_host *h = &b->all->capture->hosts[host];
  for (size_t p = 0; p < h->plane_count; p++) {
    const xp_plane *plane = &h->planes[p];
    xp_device_kind kind;
    if (!device_kind(plane->name, &kind) || (kind == XP_DEVICE_CUSTOM && plane_events(plane) == 0)) {
      continue;
    }
    xp_device_data *d = xp_device_of(b->all, host, plane->name, kind, ordinal_of(plane->name));
    d->model = d->model.len ? d->model : model_of(plane);
    if (kind == XP_DEVICE_GPU) {
      xp_gpu_plane_read(b, d, plane);
    } else {
      read_program_plane(b, d, plane);
    }
  }
}

/* Modules stand for the work of a device whose ops were not recorded. */
static void work_from_modules(xp_device_builder *b, uint32_t host)
{
  const xp_host *h = &b->all->capture->hosts[host];
  for (size_t i = 0; i < b->all->count; i++) {
    xp_device_data *d = &b->all->devices[i];
    if (d->host != host || d->work_count || !d->module_line) {
      continue;
    }
    for (size_t p = 0; p < h->plane_count; p++) {
      for (size_t l = 0; xp_str_eq(h->planes[p].name, d->name) && l < h->planes[p].line_count; l++) {
        if (xp_str_is(h->planes[p].lines[l].name, "XLA Modules")) {
          read_op_line(b, d, &h->planes[p].lines[l], false);
        }
      }
    }
  }
}

/* Module names stand in the names of modules and HLO protos, or as values of the stat hlo_module (which are stat
 * names). */
static bool detect_lazy(const xp_capture *capture)
{
  for (size_t h = 0; h < capture->host_count; h++) {
    for (size_t p = 0; p < capture->hosts[h].plane_count; p++) {
      const xp_plane *plane = &capture->hosts[h].planes[p];
      bool modules = xp_str_starts(plane->name, "/device:") || xp_str_is(plane->name, "/host:metadata");
      for (size_t m = 1; modules && m < plane->event_meta_count; m++) {
        if (xp_str_starts(plane->event_meta[m].name, "SyncTensorsGraph")) {
          return true;
        }
      }
      for (size_t s = 1; s < plane->stat_count; s++) {
        if (xp_str_starts(plane->stat_names[s], "SyncTensorsGraph.")) {
          return true;
        }
      }
    }
  }
  return false;
}

static int by_run_start(const void *a, const void *b)
{
  const xp_device_run *x = a, *y = b;
  if (x->start_ps != y->start_ps) {
    return x->start_ps < y->start_ps ? -1 : 1;
  }
  return (x->end_ps < y->end_ps) - (x->end_ps > y->end_ps);
}

/* Puts the runs in order of start.  Lanes refer to runs by index, so these follow. */
static void sort_runs(xp_devices *all, xp_device_data *d)
{
  size_t n = d->run_count;
  size_t in_order = 1;
  while (in_order < n && by_run_start(&d->runs[in_order - 1], &d->runs[in_order]) <= 0) {
    in_order++;
  }
  if (in_order >= n) {
    return;
  }
  for (size_t i = 0; i < n; i++) {
    d->runs[i].step = (uint32_t)i; /* borrowed for the old index */
  }
  qsort(d->runs, n, sizeof *d->runs, by_run_start);
  uint32_t *now = xp_arena_array(all->arena, n, sizeof *now);
  for (size_t i = 0; i < n; i++) {
    now[d->runs[i].step] = (uint32_t)i;
    d->runs[i].step = XP_NONE;
  }
  for (size_t l = 0; l < d->lane_count; l++) {
    for (size_t i = 0; d->lanes[l].run && i < d->lanes[l].count; i++) {
      d->lanes[l].run[i] = d->lanes[l].run[i] == XP_NONE ? XP_NONE : now[d->lanes[l].run[i]];
    }
  }
}

void xp_devices_open(xp_devices *devices, const xp_capture *capture, const xp_threads *threads, bool raw_names,
                     xp_arena *arena)
{
  *devices = (xp_devices){.arena = arena, .capture = capture, .threads = threads, .raw_names = raw_names};
  devices->lazy = detect_lazy(capture);
}

void xp_devices_build(xp_devices *devices, xp_links *links)
{
  const xp_capture *capture = devices->capture;
  xp_arena *arena = devices->arena;
  xp_map_init(&devices->device_of, arena);
  xp_map_init(&devices->module_of, arena);
  devices->hlo = xp_arena_array(arena, capture->host_count, sizeof *devices->hlo);
  xp_device_builder b = {.all = devices, .links = links};
  xp_map_init(&b.op_of, arena);
  for (uint32_t h = 0; h < capture->host_count; h++) {
    devices->hlo[h] = xp_hlo_names_open(&capture->hosts[h], arena);
    xp_map_init(&b.device_programs, arena);
    xp_intern_init(&b.device_modules, arena);
    read_device_planes(&b, h);
    work_from_modules(&b, h);
    xp_cpu_devices_read(&b, h);
  }
  for (size_t i = 0; i < devices->count; i++) {
    sort_runs(devices, &devices->devices[i]);
    xp_device_order(&devices->devices[i], arena);
  }
}
