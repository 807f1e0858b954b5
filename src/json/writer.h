/* Writing JSON to a stream: commas, indentation and escapes are right by construction.
 *
 * Strings are made valid UTF-8: bytes that are not become U+FFFD; control characters, NUL included, are escaped.
 * Integers are written in full (JSON numbers of any length), doubles with the fewest digits that read back the same,
 * infinities and NaN as null.
 */
#ifndef XP_JSON_WRITER_H
#define XP_JSON_WRITER_H

#include <stdio.h>

#include "base/str.h"

typedef struct {
  FILE *out;
  int depth;
  bool first;       /* nothing was written yet at this level */
  bool after_key;   /* the next value belongs to a key */
  bool compact[64]; /* levels written on one line */
  size_t used;      /* bytes of `room` that are not written yet */
  char room[4096];
} xp_json;

void xp_json_begin(xp_json *json, FILE *out);

void xp_json_object(xp_json *json);      /* opens { */
void xp_json_object_line(xp_json *json); /* opens { ; all inside stays on one line */
void xp_json_object_end(xp_json *json);
void xp_json_array(xp_json *json);
void xp_json_array_line(xp_json *json);
void xp_json_array_end(xp_json *json);

void xp_json_key(xp_json *json, const char *key);
void xp_json_key_str(xp_json *json, xp_str key);

void xp_json_str(xp_json *json, xp_str value);
void xp_json_text(xp_json *json, const char *value); /* NULL is null */
void xp_json_int(xp_json *json, int64_t value);
void xp_json_uint(xp_json *json, uint64_t value);
void xp_json_double(xp_json *json, double value);

/* value / 10^digits, exactly. */
void xp_json_decimal(xp_json *json, int64_t value, int digits);
void xp_json_bool(xp_json *json, bool value);
void xp_json_null(xp_json *json);

/* A newline behind the outermost value. */
void xp_json_finish(xp_json *json);

/* Writes to the stream what is still in the writer.  xp_json_finish does it, too. */
void xp_json_flush(xp_json *json);

/* A writer for further elements of the array that is open in `json`, into another stream; is_first: of the array.  It
 * ends with xp_json_flush.  What it wrote may then follow in the stream of `json`, which was flushed before; that one
 * goes on after a call of xp_json_joined. */
void xp_json_fork(const xp_json *json, xp_json *piece, FILE *out, bool is_first);

/* Elements were written by others: the array is not empty. */
void xp_json_joined(xp_json *json);

#endif
