/* The table of scopes, and what a thread's stack of traces says at this moment. */
#include "lazy/scope.h"

#include <stdlib.h>

#include "base/map.h"
#include "lazy/runtime.h"
#include "lazy/variables.h"

enum { SCOPE_BYTES = 4096 };

static struct {
  xp_arena *arena; /* without escape */
  xp_map by_hash;  /* hash -> index */
  xl_scope **scopes;
  size_t count, capacity;
  int is_numbered; /* XL_SCOPE_NUMBERING; -1: not asked yet */
} table = {.is_numbered = -1};

static uint32_t lifetime = 1; /* of the table: what threads remember of an earlier one is gone */

static const xl_scope *find(uint64_t hash)
{
  const uint32_t i = table.arena != NULL ? xp_map_get(&table.by_hash, hash) : XP_NONE;
  return i != XP_NONE ? table.scopes[i] : NULL;
}

static bool prepare(void)
{
  if (table.arena == NULL) {
    table.arena = xp_arena_create();
    if (table.arena == NULL) {
      return false;
    }
    xp_map_init(&table.by_hash, table.arena);
  }
  xl_scope **grown = xp_arena_grow(table.arena, table.scopes, table.count, &table.capacity, sizeof *grown);
  if (grown == NULL) {
    return false;
  }
  table.scopes = grown;
  return true;
}

/* The one scope of a text. */
static const xl_scope *intern(xp_str text, bool is_prefix, bool has_no_lines)
{
  const uint64_t hash = xp_hash_mix(xp_str_hash(text), is_prefix + 2u * has_no_lines + 1);
  const xl_scope *known = find(hash);
  if (known != NULL) {
    return known;
  }
  if (!prepare()) {
    return NULL;
  }
  xl_scope *scope = xp_arena_alloc(table.arena, sizeof *scope);
  const xp_str copy = xp_arena_copy(table.arena, text);
  uint32_t *entry = xp_map_entry(&table.by_hash, hash);
  if (scope == NULL || copy.ptr == NULL || entry == NULL) {
    return NULL;
  }
  *scope = (xl_scope){hash, is_prefix, has_no_lines, copy};
  *entry = (uint32_t)table.count;
  table.scopes[table.count++] = scope;
  return scope;
}

static bool is_numbered(void)
{
  if (table.is_numbered < 0) {
    table.is_numbered = xl_variable_is_true("XL_SCOPE_NUMBERING");
  }
  return table.is_numbered != 0;
}

static const xl_scope *read_stack(void)
{
  char text[SCOPE_BYTES];
  size_t len = is_numbered() ? xp_scope_current(text, sizeof text) : xp_scope_names(text, sizeof text);
  if (len == 0) {
    return NULL;
  }
  len = len < sizeof text - 1 ? len : sizeof text - 2;
  for (size_t i = 0; i < len; i++) {
    text[i] = text[i] == ':' ? '_' : text[i];
  }
  text[len++] = '/';
  return intern(xp_str_from(text, len), false, false);
}

const xl_scope *xl_scope_here(xl_scope_memory *memory)
{
  const xp_scope_stack *stack = xp_scopes_of_thread;
  if (stack == NULL || stack->depth == 0) {
    return NULL;
  }
  const uint64_t tag = stack->open[stack->depth].tag;
  if (memory->depth != stack->depth || memory->tag != tag || memory->lifetime != lifetime) {
    const xl_scope *scope = read_stack();
    *memory = (xl_scope_memory){stack->depth, tag, lifetime, scope};
  }
  return memory->scope;
}

/* Bytes of the path components that both begin with. */
static size_t common(xp_str a, xp_str b)
{
  size_t same = 0;
  for (size_t i = 0; i < a.len && i < b.len && a.ptr[i] == b.ptr[i]; i++) {
    if (a.ptr[i] == '/') {
      same = i + 1;
    }
  }
  return same;
}

const xl_scope *xl_scope_join(const xl_scope *here, const xl_scope *forward)
{
  if (here == NULL || forward == NULL || forward->is_prefix) {
    return forward != NULL ? forward : here;
  }
  const xp_str rest = xp_str_skip(forward->text, common(here->text, forward->text));
  if (rest.len == 0) {
    return here;
  }
  char text[2 * SCOPE_BYTES];
  memcpy(text, here->text.ptr, here->text.len);
  memcpy(text + here->text.len, rest.ptr, rest.len);
  const size_t len = here->text.len + rest.len;
  return len <= SCOPE_BYTES ? intern(xp_str_from(text, len), false, false) : here;
}

const xl_scope *xl_scope_prefix(const char *text, bool has_no_lines)
{
  return intern(xp_str_c(text), true, has_no_lines);
}

void xl_scopes_end(void)
{
  xp_arena_destroy(table.arena);
  memset(&table, 0, sizeof table);
  table.is_numbered = -1;
  lifetime++;
}
