/* yajl tells the pieces of the JSON text one by one; a table says which key takes which values.  Its memory comes from
 * the arena, so that memory that runs out anywhere in it jumps to the arena's escape, and nothing is left to free.
 */
#include "analyze/expected_gaps.h"

#include <stdio.h>
#include <yajl/yajl_parse.h>

#include "base/error.h"

typedef enum { KEY_SCOPE, KEY_TRIGGER_SCOPE, KEY_CAUSE, KEY_TRIGGER, KEY_COUNT, KEY_MIN, KEY_MAX, KEYS } key;

static const struct {
  const char *name, *values;
} keys[KEYS] = {
    [KEY_SCOPE] = {"scope", "a text, or null for gaps in no scope"},
    [KEY_TRIGGER_SCOPE] = {"trigger_scope", "a text, or null for gaps in no scope"},
    [KEY_CAUSE] = {"cause", "one of in_program, compile, value_request, wait, upload, tracing, input, dispatch, host, "
                            "launch, unknown, profiler"},
    [KEY_TRIGGER] = {"trigger", "one of none, value_request, wait, compile"},
    [KEY_COUNT] = {"count", "a whole number, or two of them: [least, most], where most may be null"},
    [KEY_MIN] = {"min_ps", "a whole number of picoseconds"},
    [KEY_MAX] = {"max_ps", "a whole number of picoseconds"},
};

typedef struct {
  const char *name; /* of the file */
  xp_str text;
  xp_arena *arena;
  xp_error *err;
  xp_status status;
  yajl_handle parser;
  xp_expected_gap *rows;
  size_t count, capacity;
  int depth; /* 1 in the list, 2 in a row, 3 in the two numbers of a count */
  key key;
  unsigned given;   /* bit for each key of the row */
  unsigned numbers; /* of a count in brackets */
} reading;

/* ---- memory for yajl: the size stands before each piece */

enum { PIECE_HEAD = 16 };

static void *piece_alloc(void *context, size_t size)
{
  char *piece = xp_arena_alloc(context, size + PIECE_HEAD);
  memcpy(piece, &size, sizeof size);
  return piece + PIECE_HEAD;
}

static void *piece_realloc(void *context, void *old, size_t size)
{
  char *piece = piece_alloc(context, size);
  if (old != NULL) {
    char *head = (char *)old - PIECE_HEAD;
    size_t before;
    memcpy(&before, head, sizeof before);
    memcpy(piece, old, before < size ? before : size);
    xp_arena_discard(context, head, before + PIECE_HEAD);
  }
  return piece;
}

static void piece_free(void *context, void *piece)
{
  (void)context;
  (void)piece;
}

/* ---- where and why it fails */

static size_t line_at(xp_str text, size_t offset)
{
  size_t line = 1;
  for (size_t at = xp_str_find(text, '\n', 0); at < offset && at < text.len; at = xp_str_find(text, '\n', at + 1)) {
    line++;
  }
  return line;
}

static size_t line_of(const reading *r)
{
  return line_at(r->text, yajl_get_bytes_consumed(r->parser));
}

/* Ends the reading: 0, which stops yajl. */
static int refuse(reading *r, const char *what, xp_str word, const char *hint)
{
  r->status = xp_fail(r->err, XP_ERR_FORMAT, "%.300s, line %zu: %s%s%.*s%s. %s", r->name, line_of(r), what,
                      word.len > 0 ? " \"" : "", (int)(word.len < 60 ? word.len : 60), word.len > 0 ? word.ptr : "",
                      word.len > 0 ? "\"" : "", hint);
  return 0;
}

static int wrong_value(reading *r, xp_str word)
{
  char what[64], hint[200];
  snprintf(what, sizeof what, "this is no value of \"%s\":", keys[r->key].name);
  snprintf(hint, sizeof hint, "Write %s", keys[r->key].values);
  return refuse(r, word.len > 0 ? what : "a value has the wrong kind", word, hint);
}

static int wrong_place(reading *r)
{
  if (r->depth == 2 || r->depth == 3) {
    return wrong_value(r, xp_str_c(""));
  }
  return refuse(r, "this is no list of rows", xp_str_c(""), "Write [{\"scope\": \"fwd\", \"cause\": \"host\"}, ..]");
}

static xp_expected_gap *row_of(reading *r)
{
  return &r->rows[r->count - 1];
}

/* ---- values */

static bool find_cause(xp_str word, xp_cause *cause)
{
  for (int i = 0; i < XP_CAUSE_COUNT; i++) {
    if (i != XP_CAUSE_SHORT && xp_str_is(word, xp_cause_name((xp_cause)i))) {
      *cause = (xp_cause)i;
      return true;
    }
  }
  return false;
}

static bool find_trigger(xp_str word, xp_trigger *trigger)
{
  for (int i = XP_TRIGGER_NONE; i <= XP_TRIGGER_COMPILE; i++) {
    if (xp_str_is(word, xp_trigger_name((xp_trigger)i))) {
      *trigger = (xp_trigger)i;
      return true;
    }
  }
  return false;
}

static int take_text(reading *r, xp_str text)
{
  xp_expected_gap *row = r->depth == 2 ? row_of(r) : NULL;
  if (row == NULL) {
    return wrong_place(r);
  }
  switch (r->key) {
  case KEY_SCOPE:
    row->scope = xp_arena_copy(r->arena, text);
    return row->has_scope = true;
  case KEY_TRIGGER_SCOPE:
    row->trigger_scope = xp_arena_copy(r->arena, text);
    return row->has_trigger_scope = true;
  case KEY_CAUSE:
    row->has_cause = find_cause(text, &row->cause);
    return row->has_cause ? 1 : wrong_value(r, text);
  case KEY_TRIGGER:
    row->has_trigger = find_trigger(text, &row->trigger);
    return row->has_trigger ? 1 : wrong_value(r, text);
  default:
    return wrong_value(r, text);
  }
}

static int take_number(reading *r, xp_str digits)
{
  int64_t value = 0;
  bool fits = xp_str_to_int64(digits, &value) && value >= 0;
  xp_expected_gap *row = r->depth >= 2 ? row_of(r) : NULL;
  if (row == NULL) {
    return wrong_place(r);
  }
  if (!fits || r->key == KEY_SCOPE || r->key == KEY_TRIGGER_SCOPE || r->key == KEY_CAUSE || r->key == KEY_TRIGGER ||
      r->numbers == 2) {
    return wrong_value(r, digits);
  }
  if (r->key == KEY_MIN) {
    row->min_ps = value;
  } else if (r->key == KEY_MAX) {
    row->max_ps = value;
  } else {
    row->least = r->numbers == 0 ? value : row->least;
    row->most = value;
    r->numbers += r->depth == 3;
  }
  return 1;
}

/* ---- what yajl calls */

static int on_null(void *context)
{
  reading *r = context;
  bool is_scope = r->depth == 2 && (r->key == KEY_SCOPE || r->key == KEY_TRIGGER_SCOPE);
  if (r->depth == 3 && r->numbers == 1) { /* [least, null] */
    row_of(r)->most = INT64_MAX;
    return (int)++r->numbers;
  }
  return is_scope ? take_text(r, xp_str_c("")) : wrong_place(r);
}

static int on_bool(void *context, int value)
{
  (void)value;
  return wrong_place(context);
}

static int on_number(void *context, const char *digits, size_t len)
{
  return take_number(context, xp_str_from(digits, len));
}

static int on_text(void *context, const unsigned char *text, size_t len)
{
  return take_text(context, xp_str_from((const char *)text, len));
}

static int on_key(void *context, const unsigned char *text, size_t len)
{
  reading *r = context;
  xp_str word = xp_str_from((const char *)text, len);
  for (r->key = 0; r->key < KEYS && !xp_str_is(word, keys[r->key].name); r->key++) {
  }
  if (r->key == KEYS) {
    return refuse(r, "there is no key", word,
                  "The keys of a row are scope, trigger_scope, cause, trigger, count, min_ps and max_ps");
  }
  if (r->given & 1u << r->key) {
    return refuse(r, "the row has this key twice:", word, "Leave one of them out");
  }
  r->given |= 1u << r->key;
  r->numbers = 0;
  return 1;
}

static int on_row(void *context)
{
  reading *r = context;
  if (r->depth != 1) {
    return wrong_place(r);
  }
  if (r->count == XP_MOST_EXPECTED) {
    return refuse(r, "there are more than 4096 rows", xp_str_c(""), "Let a row stand for several gaps, with count");
  }
  r->depth = 2;
  r->given = 0;
  r->rows = xp_arena_grow(r->arena, r->rows, r->count, &r->capacity, sizeof *r->rows);
  r->rows[r->count++] = (xp_expected_gap){.least = 1, .most = INT64_MAX, .max_ps = INT64_MAX, .line = line_of(r)};
  return 1;
}

static int on_row_end(void *context)
{
  reading *r = context;
  const xp_expected_gap *row = row_of(r);
  r->depth = 1;
  if (row->least > row->most) {
    return refuse(r, "the two numbers of count stand the wrong way round", xp_str_c(""), "Write [least, most]");
  }
  if (row->min_ps > row->max_ps) {
    return refuse(r, "min_ps is above max_ps", xp_str_c(""), "No gap is so long and so short");
  }
  return 1;
}

static int on_list(void *context)
{
  reading *r = context;
  bool is_count = r->depth == 2 && r->key == KEY_COUNT;
  if (r->depth != 0 && !is_count) {
    return wrong_place(r);
  }
  r->depth = is_count ? 3 : 1;
  return 1;
}

static int on_list_end(void *context)
{
  reading *r = context;
  if (r->depth == 3 && r->numbers != 2) {
    return wrong_value(r, xp_str_c(""));
  }
  r->depth = r->depth == 3 ? 2 : 0;
  r->numbers = 0;
  return 1;
}

/* ---- the whole text */

static const yajl_callbacks callbacks = {.yajl_null = on_null,
                                         .yajl_boolean = on_bool,
                                         .yajl_number = on_number,
                                         .yajl_string = on_text,
                                         .yajl_start_map = on_row,
                                         .yajl_map_key = on_key,
                                         .yajl_end_map = on_row_end,
                                         .yajl_start_array = on_list,
                                         .yajl_end_array = on_list_end};

/* "lexical error: invalid char in json text.\n" -> without its end */
static void fail_of_yajl(reading *r, xp_str text)
{
  unsigned char *said = yajl_get_error(r->parser, 0, (const unsigned char *)text.ptr, text.len);
  xp_str words = xp_str_trim(xp_str_c((const char *)said));
  words.len -= xp_str_ends(words, ".");
  r->status = xp_fail(r->err, XP_ERR_FORMAT, "%.300s, line %zu: this is no JSON (%.*s). %s", r->name, line_of(r),
                      XP_STR_ARG(words), "Write [{\"scope\": \"fwd\", \"cause\": \"host\"}, ..]");
}

static void parse(void *context)
{
  reading *r = context;
  yajl_alloc_funcs memory = {piece_alloc, piece_realloc, piece_free, r->arena};
  r->parser = yajl_alloc(&callbacks, &memory, r);
  yajl_status end = yajl_parse(r->parser, (const unsigned char *)r->text.ptr, r->text.len);
  end = end == yajl_status_ok ? yajl_complete_parse(r->parser) : end;
  if (end == yajl_status_error) {
    fail_of_yajl(r, r->text);
  }
}

xp_status xp_expected_gaps_read(xp_str text, const char *name, xp_arena *arena, xp_expected_gap **rows, size_t *count,
                                xp_error *err)
{
  reading r = {.name = name, .text = text, .arena = arena, .err = err};
  if (text.len > XP_MOST_EXPECTED_BYTES) {
    return xp_fail(err, XP_ERR_FORMAT, "%.300s has more than 16 MiB: name the file with the predicted gaps", name);
  }
  if (!xp_arena_guard(arena, parse, &r)) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out while %.300s was read", name);
  }
  *rows = r.rows;
  *count = r.count;
  return r.status;
}
