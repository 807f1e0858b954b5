/* Names out of the HLO protos of a capture, read when they are asked for.
 *
 * A capture may hold hundreds of megabytes of protos of which an analysis touches few.  A program is walked twice: to
 * count its instructions, and to read the few fields that the names need.  The lists of fused names belong to
 * computations and are shared by the fusions that call them, so that memory stays in proportion to the proto.
 *
 * Not safe for two threads at once: the first use of a program changes it.
 */
#include "xspace/hlo_names.h"

#include "xspace/hlo_proto.h"

typedef struct {
  xp_hlo_program program;
  xp_str proto;
  bool is_decoded;
  xp_intern names;
  uint32_t *first; /* by name number: the first instruction of this name */
} program_entry;

struct xp_hlo_names {
  xp_arena *arena;
  program_entry *entries;
  size_t count;
  xp_map by_id;
};

static void add_protos(xp_hlo_names *names, const xp_plane *plane, size_t *room)
{
  for (size_t i = 1; i < plane->event_meta_count; i++) {
    const xp_event_meta *meta = &plane->event_meta[i];
    xp_stat proto, id;
    if (!xp_stats_find(xp_meta_stats(plane, meta), XP_KEY_HLO_PROTO, &proto)) {
      continue;
    }
    uint64_t program_id = (uint64_t)meta->id;
    if (xp_stats_find(xp_meta_stats(plane, meta), XP_KEY_PROGRAM_ID, &id)) {
      program_id = (uint64_t)xp_stat_int(&id, meta->id);
    }
    names->entries = xp_arena_grow(names->arena, names->entries, names->count, room, sizeof *names->entries);
    program_entry *entry = &names->entries[names->count];
    *entry = (program_entry){.proto = xp_stat_text(&proto), .program.program_id = program_id};
    if (xp_map_get(&names->by_id, program_id) == XP_NONE) {
      xp_map_put(&names->by_id, program_id, (uint32_t)names->count);
    }
    names->count++;
  }
}

xp_hlo_names *xp_hlo_names_open(const xp_host *host, xp_arena *arena)
{
  xp_hlo_names *names = xp_arena_alloc(arena, sizeof *names);
  size_t room = 0;
  names->arena = arena;
  xp_map_init(&names->by_id, arena);
  for (size_t i = 0; i < host->plane_count; i++) {
    if (xp_str_is(host->planes[i].name, "/host:metadata")) {
      add_protos(names, &host->planes[i], &room);
    }
  }
  return names;
}

static const program_entry *decoded(xp_hlo_names *names, size_t i)
{
  program_entry *entry = &names->entries[i];
  if (entry->is_decoded) {
    return entry;
  }
  entry->is_decoded = true;
  xp_hlo_proto_read(names->arena, entry->proto, &entry->program);
  xp_intern_init(&entry->names, names->arena);
  entry->first = xp_arena_array(names->arena, entry->program.count, sizeof *entry->first);
  for (size_t k = 0; k < entry->program.count; k++) {
    size_t before = entry->names.count;
    uint32_t number = xp_intern_add(&entry->names, entry->program.instructions[k].name);
    if (number == before) {
      entry->first[number] = (uint32_t)k;
    }
  }
  return entry;
}

const xp_hlo_program *xp_hlo_program_find(xp_hlo_names *names, uint64_t program_id)
{
  uint32_t i = xp_map_get(&names->by_id, program_id);
  return i == XP_NONE ? NULL : &decoded(names, i)->program;
}

const xp_hlo_op *xp_hlo_op_find(xp_hlo_names *names, uint64_t program_id, xp_str instruction)
{
  uint32_t i = xp_map_get(&names->by_id, program_id);
  if (i == XP_NONE) {
    return NULL;
  }
  const program_entry *entry = decoded(names, i);
  uint32_t number = xp_intern_find(&entry->names, instruction);
  return number == XP_NONE ? NULL : &entry->program.instructions[entry->first[number]];
}

size_t xp_hlo_program_count(const xp_hlo_names *names)
{
  return names->count;
}

const xp_hlo_program *xp_hlo_program_at(xp_hlo_names *names, size_t i)
{
  return &decoded(names, i)->program;
}
