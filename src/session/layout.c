/* The XSpace of a profile: planes of devices, /host:metadata, /host:CPU, Task Environment; then errors, warnings and
 * the name of the host.
 *
 * Planes are grouped by name, since several plugins may write one of the same name.  A plane that stands alone is
 * copied as slices; one that does not is merged (plane_merge.h). Upstream: profiler_session.cc (CollectData),
 * post_process_single_host_xplane.cc.
 */
#include <stdio.h>
#include <unistd.h>

#include "json/utf8.h"
#include "session/host_plane.h"
#include "session/profile.h"
#include "xspace/write.h"

/* ---- planes of plugins, by name */

typedef struct {
  xp_str name; /* of planes that become /host:CPU: that */
  xp_str *planes;
  size_t count, capacity;
} plane_group;

typedef struct {
  xp_profile *profile;
  xp_rope *space;
  xp_arena *scratch;
  xp_plane_frame frame;
  plane_group *groups;
  size_t count, capacity;
} layout;

static plane_group *group_of(layout *l, xp_str name)
{
  for (size_t i = 0; i < l->count; i++) {
    if (xp_str_eq(l->groups[i].name, name)) {
      return &l->groups[i];
    }
  }
  plane_group *groups = xp_arena_grow(l->scratch, l->groups, l->count, &l->capacity, sizeof *groups);
  if (groups == NULL) {
    l->space->failed = true;
    return NULL;
  }
  l->groups = groups;
  groups[l->count] = (plane_group){.name = name};
  return &groups[l->count++];
}

static void add_plane(layout *l, xp_str plane)
{
  xp_str name = xp_plane_message_name(plane);
  plane_group *group = group_of(l, xp_is_host_plane(name) ? xp_str_c("/host:CPU") : name);
  if (group == NULL) {
    return;
  }
  xp_str *planes = xp_arena_grow(l->scratch, group->planes, group->count, &group->capacity, sizeof *planes);
  if (planes == NULL) {
    l->space->failed = true;
    return;
  }
  group->planes = planes;
  planes[group->count++] = plane;
}

/* Sorts a plugin's XSpace into groups; errors and warnings of it go into the capture as they are. */
static void take_apart(layout *l, const xp_collected *collected)
{
  xp_wire_reader r = xp_wire_open(collected->xspace);
  xp_wire_field f;
  while (xp_wire_next(&r, &f)) {
    if (f.number == 1 && f.type == XP_WIRE_BYTES) {
      add_plane(l, f.bytes);
    }
  }
  if (r.status != XP_WIRE_OK) {
    xp_profile_add_error(l->profile,
                         "What a plugin collected is damaged; the capture holds what came before the damage");
  }
}

static void put_messages(layout *l, uint32_t number)
{
  xp_wire_writer records = {0};
  xp_wire_field f;
  for (size_t i = 0; i < l->profile->plugin_count; i++) {
    for (xp_wire_reader r = xp_wire_open(l->profile->plugins[i].xspace); xp_wire_next(&r, &f);) {
      if (f.number == number && f.type == XP_WIRE_BYTES) {
        xp_wire_put_bytes(&records, number, f.bytes);
      }
    }
  }
  xp_rope_records(l->space, &records);
}

/* ---- the planes */

static void complain_of_plane(layout *l, xp_str name)
{
  xp_str text = xp_arena_format(l->scratch, "The plane \"%.*s\" that a plugin collected is damaged", XP_STR_ARG(name));
  xp_profile_add_error(l->profile, text.ptr != NULL ? text.ptr : "A plane that a plugin collected is damaged");
}

static void put_group(layout *l, const plane_group *group)
{
  if (group->count == 1) {
    if (!xp_plane_copy(l->space, group->planes[0], &l->frame, l->scratch)) {
      complain_of_plane(l, group->name);
    }
    return;
  }
  bool *damaged = xp_arena_array(l->scratch, group->count, sizeof *damaged);
  if (damaged == NULL) {
    l->space->failed = true;
    return;
  }
  xp_merged_plane_append(l->space, group->name, group->planes, group->count, damaged, &l->frame);
  for (size_t i = 0; i < group->count; i++) {
    if (damaged[i]) {
      complain_of_plane(l, group->name);
    }
  }
}

static void put_host(layout *l)
{
  plane_group *group = group_of(l, xp_str_c("/host:CPU"));
  bool *damaged = group != NULL ? xp_arena_array(l->scratch, group->count + 1, sizeof *damaged) : NULL;
  if (damaged == NULL) {
    l->space->failed = true;
    return;
  }
  xp_host_plane_append(l->space, l->profile->recording, group->planes, group->count, damaged, &l->frame);
  for (size_t i = 0; i < group->count; i++) {
    if (damaged[i]) {
      complain_of_plane(l, group->name);
    }
  }
}

/* Our own plane of programs becomes a message in memory if a plugin has one, too: the two are merged then. */
static void join_programs(layout *l)
{
  if (l->profile->programs.count == 0) {
    return;
  }
  plane_group *group = group_of(l, xp_str_c("/host:metadata"));
  if (group == NULL || group->count == 0) {
    return;
  }
  xp_rope own;
  xp_rope_init(&own, l->scratch);
  xp_programs_append(&own, &l->profile->programs, &l->frame);
  char *bytes = own.failed ? NULL : xp_arena_alloc(l->space->arena, (size_t)own.bytes);
  if (bytes == NULL) {
    l->space->failed = true;
    return;
  }
  xp_rope_reader r = xp_rope_open(&own);
  size_t len = xp_rope_read(&r, bytes, (size_t)own.bytes);
  xp_rope_close(&r);
  xp_wire_reader records = xp_wire_open(xp_str_from(bytes, len));
  xp_wire_field plane;
  if (xp_wire_next(&records, &plane)) {
    add_plane(l, plane.bytes);
  }
}

static void put_programs(layout *l)
{
  plane_group *group = group_of(l, xp_str_c("/host:metadata"));
  if (group != NULL && group->count > 0) {
    put_group(l, group);
  } else if (l->profile->programs.count > 0) {
    xp_programs_append(l->space, &l->profile->programs, &l->frame);
  }
}

static void put_planes(layout *l)
{
  join_programs(l);
  for (size_t i = 0; i < l->count; i++) {
    bool is_late = xp_str_is(l->groups[i].name, "/host:CPU") || xp_str_is(l->groups[i].name, "/host:metadata");
    if (!is_late && l->groups[i].count > 0) {
      put_group(l, &l->groups[i]);
    }
  }
  put_programs(l);
  put_host(l);
}

static void put_task_environment(layout *l)
{
  const xp_profile *p = l->profile;
  xp_plane_writer *w = xp_plane_writer_create(xp_str_c("Task Environment"), 0);
  if (w == NULL) {
    l->space->failed = true;
    return;
  }
  xp_plane_writer_uint(w, xp_plane_writer_stat(w, xp_str_c("profile_start_time")), (uint64_t)p->start_unix_ns);
  xp_plane_writer_uint(w, xp_plane_writer_stat(w, xp_str_c("profile_stop_time")), (uint64_t)p->stop_unix_ns);
  if (p->options.len > 0) {
    xp_plane_writer_bytes(w, xp_plane_writer_stat(w, xp_str_c("profile_options")), p->options);
  }
  xp_wire_writer plane = {0};
  l->space->failed |= !xp_plane_writer_finish(w, &plane);
  xp_rope_records(l->space, &plane);
}

/* ---- what is not in planes */

static void put_own_messages(layout *l)
{
  const xp_profile *p = l->profile;
  xp_wire_writer records = {0};
  char text[256];
  for (size_t i = 0; i < p->error_count; i++) {
    xp_wire_put_bytes(&records, 2, p->errors[i]);
  }
  for (size_t i = 0; p->recording != NULL && i < p->recording->thread_count; i++) {
    const xp_recorded_thread *t = &p->recording->threads[i];
    if (t->dropped > 0) {
      snprintf(text, sizeof text, "Thread %s (%lld): %llu events were dropped, the buffers were full; %llu are here",
               t->name, (long long)t->tid, (unsigned long long)t->dropped, (unsigned long long)t->count);
      xp_str warning = xp_utf8_clean(xp_str_c(text), l->scratch);
      records.failed |= warning.ptr == NULL;
      xp_wire_put_bytes(&records, 3, warning);
    }
  }
  xp_rope_records(l->space, &records);
}

static void put_hostname(layout *l)
{
  char host[256] = "";
  xp_wire_writer record = {0};
  gethostname(host, sizeof host - 1);
  xp_str name = xp_utf8_clean(xp_str_c(host), l->scratch);
  record.failed |= name.ptr == NULL;
  xp_wire_put_bytes(&record, 4, name);
  xp_rope_records(l->space, &record);
}

void xp_profile_lay_out(xp_profile *p, xp_arena *scratch)
{
  layout l = {.profile = p, .space = &p->space, .scratch = scratch};
  l.frame = (xp_plane_frame){p->start_unix_ns, getpid()};
  xp_rope_init(&p->space, p->arena);
  for (size_t i = 0; i < p->plugin_count; i++) {
    take_apart(&l, &p->plugins[i]);
  }
  put_planes(&l);
  put_task_environment(&l);
  put_messages(&l, 2);
  put_messages(&l, 3);
  put_own_messages(&l);
  put_hostname(&l);
}
