/* What recording threads write.
 *
 * The short way, an event without arguments in a chunk with room, is in record.h.  Here is the rest: arguments and
 * texts, the next chunk, and the functions of annotate.h that are events without a scope.
 *
 * When the pool is empty, a thread drops its new events or, if the newest are wanted, takes its own oldest chunk again.
 * Events in it that are still open (steps, most of all) move to its front and stay; all others count as dropped.  So at
 * any time, events written = events in the thread's chunks + events dropped.
 */
#include "annotate/record.h"

#include <string.h>

enum { TEXT_BYTES_MAX = 65535 };

xp_pool xp_record_pool;
bool xp_record_keeps_newest;
uint64_t xp_record_first_ticks;

XP_API int xp_recording_level = 0;

static size_t round_up(size_t bytes)
{
  return (bytes + 7) & ~(size_t)7;
}

/* ---------------------------------------------------------------- chunks */

static void begin_chunk(xp_tracer *self, xp_chunk *chunk)
{
  if (self->current != NULL) {
    self->current->end = self->pos;
    self->current->next = chunk;
  } else {
    self->first = chunk;
  }
  chunk->next = NULL;
  chunk->end = NULL;
  chunk->before = self->written;
  self->current = chunk;
  self->pos = xp_chunk_begin(chunk);
  self->limit = (char *)chunk + XP_CHUNK_BYTES;
  self->generation = chunk->generation;
}

/* Moves a slot to a lower address and turns its pointers into itself. */
static void move_slot(char *to, const xp_slot *from)
{
  ptrdiff_t distance = to - (const char *)from;
  memmove(to, from, xp_slot_bytes(from));
  xp_slot *slot = (xp_slot *)to;
  if (slot->head & XP_SLOT_COPIED_NAME) {
    slot->name += distance;
  }
  for (size_t i = 0; i < xp_slot_arg_count(slot); i++) {
    if (slot->args[i].type == XP_ARG_STR_COPY) {
      slot->args[i].value.s += distance;
    }
  }
}

/* Keeps the open events of the current chunk's last use, in order, at its front.  Returns how many there are. */
static uint64_t keep_open(xp_tracer *self, uint64_t last_generation)
{
  uint64_t count = 0;
  for (uint32_t i = 1; i <= self->depth; i++) {
    xp_entry *entry = &self->stack[i];
    if (entry->generation != last_generation) {
      continue;
    }
    move_slot(self->pos, entry->slot);
    entry->slot = (xp_slot *)self->pos;
    entry->generation = self->generation;
    self->pos += xp_slot_bytes(entry->slot);
    count++;
  }
  return count;
}

/* Takes the thread's oldest chunk again. */
static void recycle_chunk(xp_tracer *self)
{
  xp_chunk *chunk = self->first;
  uint64_t last_generation = chunk->generation;
  uint64_t held = (chunk->next != NULL ? chunk->next->before : self->written) - chunk->before;
  self->first = chunk->next;
  if (self->first == NULL) {
    self->current = NULL;
  }
  __atomic_store_n(&chunk->generation, xp_generation_new(), __ATOMIC_RELAXED);
  begin_chunk(self, chunk);
  uint64_t kept = keep_open(self, last_generation);
  self->written += kept;
  self->dropped += held - kept;
}

char *xp_record_room_slow(xp_tracer *self, size_t bytes)
{
  xp_chunk *chunk = xp_pool_take(&xp_record_pool, self);
  if (chunk != NULL) {
    begin_chunk(self, chunk);
  } else if (xp_record_keeps_newest && self->first != NULL) {
    recycle_chunk(self);
  } else {
    self->limit = self->pos; /* what comes now is newer than what was dropped */
    return NULL;
  }
  if ((size_t)(self->limit - self->pos) < bytes) {
    return NULL; /* open events fill the chunk */
  }
  char *at = self->pos;
  self->pos += bytes;
  return at;
}

bool xp_record_is_here(const xp_tracer *self, const void *slot, uint64_t generation)
{
  if (generation <= xp_record_pool.first_generation || generation == XP_NO_CHUNK) {
    return false;
  }
  const xp_chunk *chunk = xp_chunk_of(slot);
  return __atomic_load_n(&chunk->generation, __ATOMIC_RELAXED) == generation && chunk->owner == self;
}

/* ---------------------------------------------------------------- arguments */

/* Bytes of an argument's text that are copied, when `room` are left for it. */
static size_t text_bytes(const xp_arg *arg, size_t room)
{
  if (arg->type != XP_ARG_STR_COPY || arg->value.s == NULL) {
    return 0;
  }
  size_t len = arg->len < TEXT_BYTES_MAX ? arg->len : TEXT_BYTES_MAX;
  return len < room ? len : room;
}

/* Bytes of the texts of all arguments, rounded; at most room, a multiple of 8. */
static size_t all_text_bytes(const xp_arg *args, size_t count, size_t room)
{
  size_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    sum += round_up(text_bytes(&args[i], room - sum));
  }
  return sum;
}

/* Copies arguments field by field: copied as a whole they would be read in other pieces than the caller has just
 * written, for which the processor has to wait. */
static void put_args(xp_arg *to, const xp_arg *args, size_t count, char *texts, size_t room)
{
  for (size_t i = 0; i < count; i++) {
    const volatile xp_arg *from = &args[i];
    to[i].key = from->key;
    to[i].type = from->type;
    to[i].len = 0;
    to[i].value.u = from->value.u;
    if (__builtin_expect(args[i].type >= XP_ARG_STR, 0)) {
      size_t len = text_bytes(&args[i], room);
      if (args[i].type == XP_ARG_STR_COPY) {
        to[i].len = (uint32_t)len;
        to[i].value.s = texts;
        if (len > 0) {
          memcpy(texts, args[i].value.s, len);
        }
        texts += round_up(len);
        room -= round_up(len);
      } else if (args[i].value.s == NULL) {
        to[i].value.s = "";
      }
    }
  }
}

/* Copies a name, with its length before it.  Returns where it begins. */
static const char *put_name(char *at, const char *name, uint32_t len)
{
  memcpy(at, &len, sizeof len);
  memcpy(at + sizeof len, name, len);
  return at + sizeof len;
}

static size_t name_bytes(uint32_t len)
{
  return len == XP_NAME_STATIC ? 0 : round_up(sizeof len + len);
}

xp_slot *xp_record_event_slow(xp_tracer *self, const xp_record_what *what)
{
  size_t count = what->arg_count < XP_SLOT_ARGS_MAX ? what->arg_count : XP_SLOT_ARGS_MAX;
  size_t bytes = sizeof(xp_slot) + count * sizeof(xp_arg) + name_bytes(what->len);
  size_t texts = all_text_bytes(what->args, count, XP_CHUNK_ROOM - bytes);
  xp_slot *slot = (xp_slot *)xp_record_room(self, bytes + texts);
  if (slot == NULL) {
    self->dropped++;
    return NULL;
  }
  uint64_t flags = what->len == XP_NAME_STATIC ? 0 : XP_SLOT_COPIED_NAME;
  slot->head = xp_slot_head(flags, count, bytes + texts, what->serial);
  slot->name = what->name;
  if (flags != 0) {
    slot->name = put_name((char *)(slot->args + count), what->name, what->len);
  }
  slot->end = 0;
  put_args(slot->args, what->args, count, (char *)slot + bytes, texts);
  if (__builtin_expect(count < what->arg_count, 0)) {
    xp_slot_add_lost(slot, what->arg_count - count);
  }
  self->written++;
  return slot;
}

void xp_record_added(xp_tracer *self, xp_entry *entry, const xp_arg *arg)
{
  if (!xp_record_is_here(self, entry->slot, entry->generation)) {
    return; /* the event was dropped, and counted */
  }
  size_t bytes = sizeof(xp_slot) + sizeof *arg;
  size_t texts = all_text_bytes(arg, 1, XP_CHUNK_ROOM - bytes);
  xp_slot *slot = (xp_slot *)xp_record_room(self, bytes + texts);
  if (slot != NULL) {
    slot->head = xp_slot_head(XP_SLOT_ADDED, 1, bytes + texts, (uint32_t)entry->tag);
    put_args(slot->args, arg, 1, (char *)slot + bytes, texts);
    entry->added = entry->slot->head & XP_SLOT_HAS_ADDED ? entry->added + 1 : 1;
    slot->start = entry->added;
    entry->slot->head |= XP_SLOT_HAS_ADDED;
  } else {
    xp_slot_add_lost(entry->slot, 1);
  }
}

/* ---------------------------------------------------------------- open traces */

xp_record_open_trace xp_record_open_read(const xp_tracer *tracer, const xp_entry *entry)
{
  uint64_t tag = XP_GET(entry->tag);
  xp_record_open_trace open = {XP_GET(entry->name), tag & XP_ENTRY_COPIED ? XP_GET(entry->len) : XP_NAME_STATIC,
                               (uint32_t)tag, tag & XP_ENTRY_STEP, XP_GET(entry->step_number)};
  if (open.len != XP_NAME_STATIC) {
    size_t at = (size_t)((uintptr_t)open.name - (uintptr_t)tracer->texts);
    bool is_inside = at < XP_STACK_TEXT_BYTES && open.len <= XP_STACK_TEXT_BYTES - at;
    open.len = is_inside ? open.len : 0; /* name and length of two different traces */
  }
  return open;
}

size_t xp_record_open_bytes(const xp_record_open_trace *open)
{
  return sizeof(xp_slot) + (open->is_step ? 2 : 0) * sizeof(xp_arg) + name_bytes(open->len);
}

/* A copy of what may change while it is read; the caller finds out whether it did. */
__attribute__((no_sanitize("thread"))) static void copy_changing(char *to, const char *from, size_t bytes)
{
  const volatile char *source = from;
  for (size_t i = 0; i < bytes; i++) {
    to[i] = source[i];
  }
}

xp_slot *xp_record_open(char *at, const xp_record_open_trace *open, uint64_t start)
{
  xp_slot *slot = (xp_slot *)at;
  size_t arg_count = open->is_step ? 2 : 0;
  uint64_t flags = open->len == XP_NAME_STATIC ? 0 : XP_SLOT_COPIED_NAME;
  slot->head = xp_slot_head(flags, arg_count, xp_record_open_bytes(open), open->serial);
  slot->name = open->name;
  slot->start = start;
  slot->end = 0;
  if (open->is_step) {
    slot->args[0] = xp_arg_int("_r", 1);
    slot->args[1] = xp_arg_int("step_num", open->step_number);
  }
  if (flags != 0) {
    char *text = (char *)(slot->args + arg_count);
    memcpy(text, &open->len, sizeof open->len);
    slot->name = text + sizeof open->len;
    copy_changing(text + sizeof open->len, open->name, open->len);
  }
  return slot;
}

/* ---------------------------------------------------------------- regions, instants, past events */

xp_region xp_region_begin_recorded(const char *name, const xp_arg *args, size_t arg_count)
{
  xp_region region = {NULL, 0};
  xp_tracer *self = xp_tracer_get();
  if (self != NULL && xp_tracer_enter(self)) {
    xp_slot *slot = xp_record_event(self, name, XP_NAME_STATIC, 0, args, arg_count);
    if (__builtin_expect(slot != NULL, 1)) {
      region.slot = slot;
      region.generation = self->generation;
      slot->start = xp_clock_read();
    }
    xp_tracer_leave(self);
  }
  return region;
}

void xp_region_end_recorded(xp_region region)
{
  uint64_t now = xp_clock_read();
  xp_tracer *self = xp_tracer_get();
  if (self == NULL || !xp_tracer_enter(self)) {
    return;
  }
  if (__builtin_expect(region.generation == self->generation, 1) ||
      xp_record_is_here(self, region.slot, region.generation)) {
    ((xp_slot *)region.slot)->end = now;
  }
  xp_tracer_leave(self);
}

void xp_instant_recorded(const char *name, const xp_arg *args, size_t arg_count)
{
  xp_tracer *self = xp_tracer_get();
  if (self == NULL || !xp_tracer_enter(self)) {
    return;
  }
  xp_slot *slot = xp_record_event(self, name, XP_NAME_STATIC, 0, args, arg_count);
  if (slot != NULL) {
    slot->start = xp_clock_read();
    slot->end = slot->start;
  }
  xp_tracer_leave(self);
}

void xp_record(int level, const char *name, uint64_t start_ticks, uint64_t end_ticks, const xp_arg *args,
               size_t arg_count)
{
  xp_tracer *self = xp_is_recording(level) ? xp_tracer_get() : NULL;
  if (self == NULL || !xp_tracer_enter(self)) {
    return;
  }
  uint64_t now = xp_clock_read();
  uint64_t end = end_ticks < now ? end_ticks : now;
  uint64_t start = start_ticks < end ? start_ticks : end;
  if (end >= xp_record_first_ticks) { /* else it was over before the session */
    xp_slot *slot = xp_record_event(self, name, XP_NAME_STATIC, 0, args, arg_count);
    if (slot != NULL) {
      slot->start = start;
      slot->end = end;
    }
  }
  xp_tracer_leave(self);
}

uint64_t xp_flow_new(void)
{
  static uint64_t last;
  return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}
