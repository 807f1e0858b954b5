/* A list under one lock; protos are counted references, so a capture that is still being written does not care what the
 * program drops meanwhile.
 *
 * In the capture: one XEventMetadata for each program, named "module(program_id)", with the stats "Hlo Proto" and
 * program_id (xla/backends/profiler/cpu/metadata_collector.cc, metadata_utils.h, as written since 2026-03).
 */
#include "session/programs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/utf8.h"
#include "xlaprof/session.h"

struct xp_program {
  atomic_size_t holders;
  uint64_t program_id;
  bool is_dropped;
  size_t proto_bytes;
  char *name; /* "module(program_id)" */
  uint8_t proto[];
};

static struct {
  pthread_mutex_t lock;
  xp_program **programs;
  size_t count, capacity;
  bool keeps_dropped;
  pthread_once_t once;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static void release(xp_program *program)
{
  if (atomic_fetch_sub_explicit(&program->holders, 1, memory_order_acq_rel) == 1) {
    free(program->name);
    free(program);
  }
}

static xp_program *new_program(const char *module, uint64_t program_id, const void *proto, size_t bytes)
{
  enum { ID_ROOM = 24 };
  xp_str text = xp_str_c(module);
  xp_program *program = bytes > SIZE_MAX - sizeof *program ? NULL : calloc(1, sizeof *program + bytes);
  char *name = malloc(XP_UTF8_REPAIRED_ROOM(text.len) + ID_ROOM);
  if (program == NULL || name == NULL) {
    free(program);
    free(name);
    return NULL;
  }
  size_t len = xp_utf8_repair(text, name);
  snprintf(name + len, ID_ROOM, "(%llu)", (unsigned long long)program_id);
  atomic_init(&program->holders, 1);
  program->program_id = program_id;
  program->proto_bytes = bytes;
  program->name = name;
  if (bytes > 0) {
    memcpy(program->proto, proto, bytes);
  }
  return program;
}

static bool append(xp_program *program)
{
  if (registry.count == registry.capacity) {
    size_t capacity = registry.capacity == 0 ? 16 : registry.capacity * 2;
    xp_program **programs = realloc(registry.programs, capacity * sizeof *programs);
    if (programs == NULL) {
      return false;
    }
    registry.programs = programs;
    registry.capacity = capacity;
  }
  registry.programs[registry.count++] = program;
  return true;
}

/* Takes the programs out of the list for which it says so. */
static void remove_dropped(void)
{
  size_t kept = 0;
  for (size_t i = 0; i < registry.count; i++) {
    if (registry.programs[i]->is_dropped) {
      release(registry.programs[i]);
    } else {
      registry.programs[kept++] = registry.programs[i];
    }
  }
  registry.count = kept;
}

/* ---- fork: the child has the programs, but not the session that kept dropped ones */

static void lock_for_fork(void)
{
  pthread_mutex_lock(&registry.lock);
}

static void unlock_in_parent(void)
{
  pthread_mutex_unlock(&registry.lock);
}

static void forget_in_child(void)
{
  registry.keeps_dropped = false;
  remove_dropped();
  pthread_mutex_init(&registry.lock, NULL);
}

static void watch_forks(void)
{
  pthread_atfork(lock_for_fork, unlock_in_parent, forget_in_child);
}

/* ---- the list */

xp_status xp_session_add_program(const char *module, uint64_t program_id, const void *hlo_proto, size_t bytes,
                                 xp_error *err)
{
  if (module == NULL || (hlo_proto == NULL && bytes > 0)) {
    return xp_fail(err, XP_ERR_USAGE, "A program needs the name of its module and its HLO proto");
  }
  pthread_once(&registry.once, watch_forks);
  xp_program *program = new_program(module, program_id, hlo_proto, bytes);
  pthread_mutex_lock(&registry.lock);
  bool is_added = program != NULL && append(program);
  pthread_mutex_unlock(&registry.lock);
  if (is_added) {
    return XP_OK;
  }
  if (program != NULL) {
    release(program);
  }
  return xp_fail(err, XP_ERR_MEMORY, "No memory for the HLO proto of \"%.200s\" (%zu bytes)", module, bytes);
}

void xp_session_drop_program(uint64_t program_id)
{
  pthread_mutex_lock(&registry.lock);
  for (size_t i = 0; i < registry.count; i++) {
    registry.programs[i]->is_dropped |= registry.programs[i]->program_id == program_id;
  }
  if (!registry.keeps_dropped) {
    remove_dropped();
  }
  pthread_mutex_unlock(&registry.lock);
}

void xp_programs_keep_dropped(void)
{
  pthread_once(&registry.once, watch_forks);
  pthread_mutex_lock(&registry.lock);
  registry.keeps_dropped = true;
  pthread_mutex_unlock(&registry.lock);
}

bool xp_programs_take(xp_program_list *list)
{
  pthread_mutex_lock(&registry.lock);
  registry.keeps_dropped = false;
  *list = (xp_program_list){.programs = calloc(registry.count + 1, sizeof *list->programs)};
  for (size_t i = 0; list->programs != NULL && i < registry.count; i++) {
    atomic_fetch_add_explicit(&registry.programs[i]->holders, 1, memory_order_relaxed);
    list->programs[list->count++] = registry.programs[i];
  }
  remove_dropped();
  pthread_mutex_unlock(&registry.lock);
  return list->programs != NULL;
}

void xp_program_list_free(xp_program_list *list)
{
  for (size_t i = 0; i < list->count; i++) {
    release(list->programs[i]);
  }
  free(list->programs);
  *list = (xp_program_list){0};
}

/* ---- the plane */

enum { STAT_PROTO = 1, STAT_PROGRAM_ID = 2, STAT_PROCESS_ID = 3 };

static void put_proto_stat(xp_rope *message, const xp_program *program)
{
  xp_rope stat;
  xp_wire_writer id = {0}, value = {0};
  xp_rope_init(&stat, message->arena);
  xp_wire_put_varint(&id, 1, STAT_PROTO);
  xp_rope_records(&stat, &id);
  xp_wire_put_head(&value, 6, program->proto_bytes);
  xp_rope_records(&stat, &value);
  xp_rope_borrow(&stat, xp_str_from((const char *)program->proto, program->proto_bytes));
  xp_rope_nest(message, 5, &stat);
}

static void put_program(xp_rope *plane, const xp_program *program, uint64_t number)
{
  xp_rope message, entry;
  xp_wire_writer names = {0}, stat = {0}, stats = {0}, key = {0};
  xp_rope_init(&message, plane->arena);
  xp_rope_init(&entry, plane->arena);
  xp_wire_put_varint(&names, 1, number);
  xp_wire_put_bytes(&names, 2, xp_str_c(program->name));
  xp_wire_put_bytes(&names, 4, xp_str_c(program->name));
  xp_rope_records(&message, &names);
  put_proto_stat(&message, program);
  xp_wire_put_varint(&stat, 1, STAT_PROGRAM_ID);
  xp_wire_put_varint(&stat, 3, program->program_id);
  xp_wire_put_message(&stats, 5, &stat);
  xp_wire_writer_free(&stat);
  xp_rope_records(&message, &stats);
  xp_wire_put_varint(&key, 1, number);
  xp_rope_records(&entry, &key);
  xp_rope_nest(&entry, 2, &message);
  xp_rope_nest(plane, 4, &entry);
}

static void put_stat_name(xp_wire_writer *records, uint64_t id, const char *name)
{
  xp_wire_writer message = {0}, entry = {0};
  xp_wire_put_varint(&message, 1, id);
  xp_wire_put_bytes(&message, 2, xp_str_c(name));
  xp_wire_put_varint(&entry, 1, id);
  xp_wire_put_message(&entry, 2, &message);
  xp_wire_put_message(records, 5, &entry);
  xp_wire_writer_free(&message);
  xp_wire_writer_free(&entry);
}

void xp_programs_append(xp_rope *space, const xp_program_list *list, const xp_plane_frame *frame)
{
  xp_rope plane;
  xp_wire_writer name = {0}, tail = {0}, stat = {0};
  xp_rope_init(&plane, space->arena);
  xp_wire_put_bytes(&name, 2, xp_str_c("/host:metadata"));
  xp_rope_records(&plane, &name);
  for (size_t i = 0; i < list->count; i++) {
    put_program(&plane, list->programs[i], i + 1);
  }
  put_stat_name(&tail, STAT_PROTO, "Hlo Proto");
  put_stat_name(&tail, STAT_PROGRAM_ID, "program_id");
  put_stat_name(&tail, STAT_PROCESS_ID, "process_id");
  xp_wire_put_varint(&stat, 1, STAT_PROCESS_ID);
  xp_wire_put_varint(&stat, 4, (uint64_t)frame->process_id);
  xp_wire_put_message(&tail, 6, &stat);
  xp_wire_writer_free(&stat);
  xp_rope_records(&plane, &tail);
  xp_rope_nest(space, 1, &plane);
}
