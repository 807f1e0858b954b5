/* Growing devices, lanes and runs while planes are read. */
#include "analyze/lanes.h"

static xp_device_data *add_device(xp_devices *all, uint64_t key, xp_device_data device)
{
  all->devices = xp_arena_grow(all->arena, all->devices, all->count, &all->capacity, sizeof *all->devices);
  all->devices[all->count] = device;
  xp_map_put(&all->device_of, key, (uint32_t)all->count);
  return &all->devices[all->count++];
}

xp_device_data *xp_device_of(xp_devices *all, uint32_t host, xp_str name, xp_device_kind kind, int64_t ordinal)
{
  uint64_t key = xp_hash_mix(xp_str_hash(name), host);
  uint32_t i = xp_map_get(&all->device_of, key);
  if (i != XP_NONE && all->devices[i].host == host && xp_str_eq(all->devices[i].name, name)) {
    return &all->devices[i];
  }
  return add_device(all, key, (xp_device_data){.host = host, .name = name, .kind = kind, .ordinal = ordinal});
}

xp_device_data *xp_cpu_device_of(xp_devices *all, uint32_t host, int64_t ordinal)
{
  uint64_t key = xp_hash_mix(xp_hash_mix((uint64_t)ordinal, host), XP_DEVICE_CPU);
  uint32_t i = xp_map_get(&all->device_of, key);
  if (i != XP_NONE && all->devices[i].kind == XP_DEVICE_CPU) {
    return &all->devices[i];
  }
  xp_str name = xp_arena_format(all->arena, "CPU:%lld", (long long)ordinal);
  return add_device(all, key, (xp_device_data){.host = host, .name = name, .kind = XP_DEVICE_CPU, .ordinal = ordinal});
}

xp_lane *xp_lane_of(xp_devices *all, xp_device_data *device, const xp_line *line)
{
  if (device->lane_count && device->lanes[device->lane_count - 1].line == line) {
    return &device->lanes[device->lane_count - 1];
  }
  device->lanes =
      xp_arena_grow(all->arena, device->lanes, device->lane_count, &device->lane_capacity, sizeof *device->lanes);
  device->lanes[device->lane_count] = (xp_lane){.line = line};
  return &device->lanes[device->lane_count++];
}

void xp_lane_add(xp_devices *all, xp_lane *lane, size_t event, uint32_t op)
{
  size_t n = lane->count++;
  lane->event = xp_arena_grow(all->arena, lane->event, n, &lane->event_capacity, sizeof *lane->event);
  lane->op = xp_arena_grow(all->arena, lane->op, n, &lane->op_capacity, sizeof *lane->op);
  lane->event[n] = (uint32_t)event;
  lane->op[n] = op;
}

void xp_lane_add_run(xp_devices *all, xp_lane *lane, size_t event, uint32_t op, uint32_t run)
{
  xp_lane_add(all, lane, event, op);
  size_t n = lane->count - 1;
  lane->run = xp_arena_grow(all->arena, lane->run, n, &lane->run_capacity, sizeof *lane->run);
  lane->run[n] = run;
}

void xp_lane_add_end(xp_devices *all, xp_lane *lane, size_t event, uint32_t op, uint32_t run, int64_t end_ps)
{
  xp_lane_add_run(all, lane, event, op, run);
  size_t n = lane->count - 1;
  lane->end_ps = xp_arena_grow(all->arena, lane->end_ps, n, &lane->end_capacity, sizeof *lane->end_ps);
  lane->end_ps[n] = end_ps;
}

uint32_t xp_devices_module(xp_devices *all, xp_module module)
{
  uint64_t key = xp_hash_mix(xp_hash_mix(xp_str_hash(module.name), module.program), module.has_program);
  uint32_t i = xp_map_get(&all->module_of, key);
  if (i == XP_NONE) {
    all->modules = xp_arena_grow(all->arena, all->modules, all->module_count, &all->module_capacity, sizeof module);
    i = (uint32_t)all->module_count++;
    all->modules[i] = module;
    xp_map_put(&all->module_of, key, i);
  }
  return i;
}

uint32_t xp_device_add_run(xp_devices *all, xp_device_data *device, xp_device_run run)
{
  device->runs =
      xp_arena_grow(all->arena, device->runs, device->run_count, &device->run_capacity, sizeof *device->runs);
  run.launch = run.step = XP_NONE;
  device->runs[device->run_count] = run;
  return (uint32_t)device->run_count++;
}

void xp_device_run_extend(xp_device_run *run, int64_t start_ps, int64_t end_ps)
{
  run->start_ps = start_ps < run->start_ps ? start_ps : run->start_ps;
  run->end_ps = end_ps > run->end_ps ? end_ps : run->end_ps;
}

void xp_device_count_work(xp_device_data *device, xp_role role)
{
  device->work_count += role == XP_ROLE_WORK;
  device->copy_count += role == XP_ROLE_COPY;
}

bool xp_device_event_is_lost(xp_device_data *device, const xp_line *line, size_t i)
{
  device->untimed += (line->meta[i] & XP_EVENT_UNTIMED) != 0;
  device->stray += (line->meta[i] & XP_EVENT_STRAY) != 0;
  return !xp_event_has_time(line, i);
}

uint32_t xp_device_op(xp_device_builder *b, uint32_t host, const xp_line *line, size_t i, const xp_device_stats *stats,
                      xp_role role)
{
  uint64_t key = xp_hash_mix(host, (uint64_t)(line->meta[i] & XP_EVENT_META_MASK));
  key = xp_hash_mix(xp_hash_mix(key, (uint64_t)(uintptr_t)line->plane), stats->program);
  key = xp_hash_mix(xp_hash_mix(key, xp_str_hash(stats->hlo_op)), xp_str_hash(stats->tf_op));
  key = xp_hash_mix(xp_hash_mix(key, xp_str_hash(stats->name)), (uint64_t)role * 2 + stats->has_program);
  uint32_t op = xp_map_get(&b->op_of, key);
  if (op == XP_NONE) {
    op = xp_ops_table_add(b->all, host, xp_event_meta_of(line, i), stats, role, false);
    xp_map_put(&b->op_of, key, op);
  }
  return op;
}

/* ---- the order of work */

size_t xp_work_count(const xp_device_data *device)
{
  size_t count = 0;
  for (size_t l = 0; l < device->lane_count; l++) {
    count += device->lanes[l].count;
  }
  return count;
}

xp_work xp_work_at(const xp_device_data *device, size_t i)
{
  xp_work_ref ref = device->order ? device->order[i] : (xp_work_ref){0, (uint32_t)i};
  const xp_lane *lane = &device->lanes[ref.lane];
  return (xp_work){ref.lane, ref.index, lane->op[ref.index], xp_lane_start(device, lane, ref.index),
                   xp_lane_end(device, lane, ref.index)};
}

static bool is_earlier(const xp_device_data *d, xp_work_ref a, xp_work_ref b)
{
  int64_t x = xp_lane_start(d, &d->lanes[a.lane], a.index), y = xp_lane_start(d, &d->lanes[b.lane], b.index);
  return x != y ? x < y : a.lane < b.lane;
}

/* Lets the first entry of a heap sink to its place. */
static void sink(const xp_device_data *d, xp_work_ref *heap, size_t count)
{
  for (size_t i = 0;;) {
    size_t child = 2 * i + 1;
    if (child >= count) {
      return;
    }
    child += child + 1 < count && is_earlier(d, heap[child + 1], heap[child]);
    if (!is_earlier(d, heap[child], heap[i])) {
      return;
    }
    xp_work_ref swap = heap[i];
    heap[i] = heap[child];
    heap[child] = swap;
    i = child;
  }
}

void xp_device_order(xp_device_data *device, xp_arena *arena)
{
  if (device->lane_count < 2) {
    return;
  }
  xp_work_ref *heap = xp_arena_array(arena, device->lane_count, sizeof *heap); /* the next piece of every lane */
  xp_work_ref *order = xp_arena_array(arena, xp_work_count(device), sizeof *order);
  size_t count = 0, n = 0;
  for (uint32_t l = 0; l < device->lane_count; l++) {
    if (device->lanes[l].count) {
      size_t i = count++;
      heap[i] = (xp_work_ref){l, 0};
      for (; i && is_earlier(device, heap[i], heap[(i - 1) / 2]); i = (i - 1) / 2) { /* let it rise */
        xp_work_ref swap = heap[i];
        heap[i] = heap[(i - 1) / 2];
        heap[(i - 1) / 2] = swap;
      }
    }
  }
  while (count) {
    order[n++] = heap[0];
    if (++heap[0].index == device->lanes[heap[0].lane].count) {
      heap[0] = heap[--count];
    }
    sink(device, heap, count);
  }
  device->order = order;
}

uint32_t xp_device_run_at(const xp_device_data *device, int64_t time_ps)
{
  size_t low = 0, high = device->run_count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (device->runs[mid].start_ps + device->shift_ps <= time_ps) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  for (size_t back = 0; low > 0 && back < 64; low--, back++) { /* runs of a device overlap rarely and little */
    if (device->runs[low - 1].end_ps + device->shift_ps > time_ps) {
      return (uint32_t)(low - 1);
    }
  }
  return XP_NONE;
}

uint32_t xp_work_run(const xp_device_data *device, const xp_work *work)
{
  const xp_lane *lane = &device->lanes[work->lane];
  return lane->run ? lane->run[work->index] : xp_device_run_at(device, work->start_ps);
}
