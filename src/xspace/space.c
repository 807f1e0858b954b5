/* The top level of an XSpace file: where its planes are, how the host is called, and what is wrong with the file.
 *
 * Planes are skipped by their length, so this touches a few bytes of each.  A cut or damaged top level cannot be
 * resumed, because nothing says where the next record begins: the planes before it are kept.  Zero bytes at the end are
 * what a file system leaves behind after a crash; they are no damage.
 */
#include "xspace/load.h"

enum { FIELD_PLANE = 1, FIELD_ERROR = 2, FIELD_WARNING = 3, FIELD_HOSTNAME = 4 };

static bool is_all_zero(const uint8_t *pos, const uint8_t *end)
{
  /* A long run of zeros is compared with itself, one byte later: memcmp is fast. */
  return pos == end || (*pos == 0 && memcmp(pos, pos + 1, (size_t)(end - pos) - 1) == 0);
}

typedef struct {
  size_t planes, messages, known;
  xp_str host_name;
  xp_wire_reader at_end; /* the reader where it stopped */
} overview;

static overview count_records(xp_str bytes)
{
  overview o = {.at_end = xp_wire_open(bytes)};
  xp_wire_field f;
  while (xp_wire_next(&o.at_end, &f)) {
    if (f.type != XP_WIRE_BYTES || f.number > FIELD_HOSTNAME) {
      continue;
    }
    o.known++;
    o.planes += f.number == FIELD_PLANE;
    o.messages += f.number == FIELD_ERROR || f.number == FIELD_WARNING;
    if (f.number == FIELD_HOSTNAME && o.host_name.len == 0) {
      o.host_name = f.bytes;
    }
  }
  if (o.at_end.status != XP_WIRE_OK && o.known > 0 && is_all_zero(o.at_end.pos, o.at_end.end)) {
    o.at_end.status = XP_WIRE_OK;
  }
  return o;
}

static void collect_records(xp_loader *loader, xp_host_draft *draft, const overview *o)
{
  xp_host *host = draft->host;
  xp_arena *arena = loader->capture.arena;
  draft->drafts = xp_arena_array(arena, o->planes, sizeof *draft->drafts);
  host->messages = xp_arena_array(arena, o->messages, sizeof *host->messages);
  xp_wire_reader r = xp_wire_open(host->file.bytes);
  xp_wire_field f;
  while (xp_wire_next(&r, &f)) {
    if (f.type != XP_WIRE_BYTES) {
      continue;
    }
    if (f.number == FIELD_PLANE) {
      xp_plane *plane = &draft->drafts[draft->draft_count].plane;
      plane->host = host;
      plane->index = (uint32_t)draft->draft_count++;
      plane->message = f.bytes;
    } else if (f.number == FIELD_ERROR || f.number == FIELD_WARNING) {
      host->messages[host->message_count++] = f.bytes;
    }
  }
}

/* False if the first bytes cannot be those of an XSpace, even of one that was cut. */
static bool may_be_space(xp_str bytes)
{
  uint8_t key = (uint8_t)bytes.ptr[0];
  return key % 8 == XP_WIRE_BYTES && key >> 3 >= FIELD_PLANE && key >> 3 <= FIELD_HOSTNAME;
}

static void tell_problem(xp_loader *loader, xp_host_draft *draft, const overview *o)
{
  xp_arena *arena = loader->capture.arena;
  xp_str bytes = draft->host->file.bytes;
  size_t at = (size_t)(o->at_end.pos - o->at_end.start);
  if (o->known == 0 && (o->at_end.status != XP_WIRE_TRUNCATED || !may_be_space(bytes))) {
    xp_host_problem(draft, XP_FILE_UNREADABLE, XP_ERR_FORMAT, xp_space_looks_like(arena, bytes));
    return;
  }
  const char *kept = o->planes > 0 ? "the planes before it were read" : "no plane is complete; copy the file again";
  if (o->at_end.status == XP_WIRE_TRUNCATED) {
    xp_host_problem(draft, XP_FILE_TRUNCATED, XP_ERR_TRUNCATED,
                    xp_arena_format(arena,
                                    "truncated: the file ends at byte %zu inside a record that began at byte %zu; %s",
                                    bytes.len, at, kept));
  } else if (o->at_end.status == XP_WIRE_BAD) {
    xp_host_problem(draft, XP_FILE_DAMAGED, XP_ERR_FORMAT,
                    xp_arena_format(arena, "damaged: byte %zu is not the beginning of a record; %s", at, kept));
  }
}

void xp_space_walk(xp_loader *loader, xp_host_draft *draft)
{
  xp_host *host = draft->host;
  if (host->status == XP_FILE_UNREADABLE) {
    return;
  }
  if (host->file.bytes.len == 0) {
    xp_host_problem(draft, XP_FILE_EMPTY, XP_ERR_EMPTY,
                    xp_str_c("empty: the file has 0 bytes; the profiler has not finished writing it, or failed"));
    return;
  }
  if (xp_space_is_text(host->file.bytes)) { /* a line feed is the key of a plane: a text may look like some */
    xp_str text = xp_space_looks_like(loader->capture.arena, host->file.bytes);
    xp_host_problem(draft, XP_FILE_UNREADABLE, XP_ERR_FORMAT, text);
    return;
  }
  overview o = count_records(host->file.bytes);
  collect_records(loader, draft, &o);
  if (o.host_name.len > 0) {
    host->name = o.host_name;
  }
  tell_problem(loader, draft, &o);
}
