/* What a session collected, from the stop until nobody needs it any more.  Its XSpace is laid out once, when it is
 * first asked for (layout.c): a program that throws a profile away does not pay for it.
 */
#include "session/profile.h"

#include <stdlib.h>

#include "json/utf8.h"

xp_profile *xp_profile_create(void)
{
  xp_profile *p = calloc(1, sizeof *p);
  xp_arena *arena = xp_arena_create();
  if (p == NULL || arena == NULL || pthread_mutex_init(&p->layout_lock, NULL) != 0) {
    free(p);
    xp_arena_destroy(arena);
    return NULL;
  }
  p->arena = arena;
  return p;
}

void xp_profile_free(xp_profile *p)
{
  if (p == NULL) {
    return;
  }
  for (size_t i = 0; i < p->plugin_count; i++) {
    xp_plugin_session_free(p->plugins[i].session);
  }
  xp_program_list_free(&p->programs);
  xp_recording_free(p->recording);
  pthread_mutex_destroy(&p->layout_lock);
  xp_arena_destroy(p->arena);
  free(p);
}

void xp_profile_add_error(xp_profile *p, const char *text)
{
  xp_str *errors = xp_arena_grow(p->arena, p->errors, p->error_count, &p->error_capacity, sizeof *errors);
  xp_str clean = xp_utf8_clean(xp_str_c(text), p->arena);
  xp_str copy = xp_arena_copy(p->arena, clean);
  if (errors == NULL || clean.ptr == NULL || copy.ptr == NULL) {
    p->lost_error = true;
    return;
  }
  p->errors = errors;
  errors[p->error_count++] = copy;
}

uint64_t xp_profile_dropped(const xp_profile *p)
{
  return p->recording != NULL ? p->recording->dropped : 0;
}

/* ---- is there any event? */

static bool has_field(xp_str message, uint32_t number)
{
  xp_wire_field f;
  for (xp_wire_reader r = xp_wire_open(message); xp_wire_next(&r, &f);) {
    if (f.number == number && f.type == XP_WIRE_BYTES) {
      return true;
    }
  }
  return false;
}

static bool plane_has_event(xp_str plane)
{
  xp_wire_field f;
  for (xp_wire_reader r = xp_wire_open(plane); xp_wire_next(&r, &f);) {
    if (f.number == 3 && f.type == XP_WIRE_BYTES && has_field(f.bytes, 4)) {
      return true;
    }
  }
  return false;
}

bool xp_profile_is_empty(const xp_profile *p)
{
  for (size_t i = 0; p->recording != NULL && i < p->recording->thread_count; i++) {
    if (p->recording->threads[i].count > 0) {
      return false;
    }
  }
  xp_wire_field f;
  for (size_t i = 0; i < p->plugin_count; i++) {
    for (xp_wire_reader r = xp_wire_open(p->plugins[i].xspace); xp_wire_next(&r, &f);) {
      if (f.number == 1 && f.type == XP_WIRE_BYTES && plane_has_event(f.bytes)) {
        return false;
      }
    }
  }
  return true;
}

const xp_rope *xp_profile_space(xp_profile *p, xp_error *err)
{
  pthread_mutex_lock(&p->layout_lock);
  if (!p->is_laid_out) {
    xp_arena *scratch = xp_arena_create();
    if (scratch != NULL) {
      xp_profile_lay_out(p, scratch);
    }
    p->space.failed |= scratch == NULL;
    xp_arena_destroy(scratch);
    p->is_laid_out = true;
  }
  bool failed = p->space.failed || p->lost_error;
  pthread_mutex_unlock(&p->layout_lock);
  if (failed) {
    xp_fail(err, XP_ERR_MEMORY, "No memory for the capture of this session: capture a shorter time");
    return NULL;
  }
  return &p->space;
}

uint64_t xp_profile_bytes(xp_profile *p)
{
  const xp_rope *space = xp_profile_space(p, NULL);
  return space == NULL ? 0 : space->bytes;
}
