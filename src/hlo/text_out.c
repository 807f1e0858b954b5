/* Appending text, and printing shapes. */
#include "hlo/text_out.h"

#include <stdarg.h>
#include <stdio.h>

void xp_hlo_out_str(xp_hlo_out *out, xp_str s)
{
  while (out->capacity - out->len < s.len) {
    out->data = xp_arena_grow(out->arena, out->data, out->capacity, &out->capacity, 1);
  }
  if (s.len > 0) {
    memcpy(out->data + out->len, s.ptr, s.len);
    out->len += s.len;
  }
}

void xp_hlo_out_format(xp_hlo_out *out, const char *format, ...)
{
  char text[256]; /* numbers and short words; names go through xp_hlo_out_str */
  va_list args;
  va_start(args, format);
  int len = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (len > 0) {
    xp_hlo_out_str(out, xp_str_from(text, (size_t)len < sizeof text ? (size_t)len : sizeof text - 1));
  }
}

void xp_hlo_out_quoted(xp_hlo_out *out, xp_str s)
{
  xp_hlo_out_text(out, "\"");
  for (size_t i = 0; i < s.len; i++) {
    unsigned char c = (unsigned char)s.ptr[i];
    if (c == '\n') {
      xp_hlo_out_text(out, "\\n");
    } else if (c == '\t') {
      xp_hlo_out_text(out, "\\t");
    } else if (c == '\r') {
      xp_hlo_out_text(out, "\\r");
    } else if (c == '"' || c == '\'' || c == '\\') {
      xp_hlo_out_format(out, "\\%c", c);
    } else if (c < 32 || c > 126) {
      xp_hlo_out_format(out, "\\%03o", c);
    } else {
      xp_hlo_out_str(out, xp_str_from(&s.ptr[i], 1));
    }
  }
  xp_hlo_out_text(out, "\"");
}

void xp_hlo_out_list(xp_hlo_out *out, const xp_hlo_list *list, const char *between)
{
  for (size_t i = 0; i < list->count; i++) {
    xp_hlo_out_format(out, "%s%lld", i > 0 ? between : "", (long long)list->values[i]);
  }
}

void xp_hlo_out_pairs(xp_hlo_out *out, const xp_hlo_pair *pairs, size_t count)
{
  const xp_hlo_pair *last = NULL;
  for (size_t printed = 0; printed < count; printed++) {
    const xp_hlo_pair *least = NULL; /* the smallest key behind the last one; there are a handful */
    for (size_t i = 0; i < count; i++) {
      bool is_behind = last == NULL || xp_str_cmp(pairs[i].key, last->key) > 0;
      if (is_behind && (least == NULL || xp_str_cmp(pairs[i].key, least->key) < 0)) {
        least = &pairs[i];
      }
    }
    if (least == NULL) {
      return; /* a key stood twice */
    }
    xp_hlo_out_text(out, printed > 0 ? "," : "");
    xp_hlo_out_str(out, least->key);
    xp_hlo_out_text(out, "=");
    xp_hlo_out_quoted(out, least->value);
    last = least;
  }
}

void xp_hlo_out_dims(xp_hlo_out *out, const char *name, const xp_hlo_list *list)
{
  xp_hlo_out_format(out, ", %s={", name);
  xp_hlo_out_list(out, list, ",");
  xp_hlo_out_text(out, "}");
}

void xp_hlo_out_int(xp_hlo_out *out, const char *name, int64_t value)
{
  xp_hlo_out_format(out, ", %s=%lld", name, (long long)value);
}

void xp_hlo_out_flag(xp_hlo_out *out, const char *name, bool is_set)
{
  if (is_set) {
    xp_hlo_out_format(out, ", %s=true", name);
  }
}

static void put_tuple(xp_hlo_out *out, const xp_hlo_shape *shape, bool with_layout)
{
  xp_hlo_out_text(out, "(");
  for (size_t i = 0; i < shape->part_count; i++) {
    if (i > 0) {
      xp_hlo_out_text(out, ", ");
    }
    if (i > 0 && i % 5 == 0) {
      xp_hlo_out_format(out, "/*index=%zu*/", i); /* XLA counts for its readers */
    }
    xp_hlo_out_shape(out, &shape->parts[i], with_layout);
  }
  xp_hlo_out_text(out, ")");
}

void xp_hlo_out_shape(xp_hlo_out *out, const xp_hlo_shape *shape, bool with_layout)
{
  if (shape->type == XP_HLO_TUPLE) {
    put_tuple(out, shape, with_layout);
    return;
  }
  xp_hlo_out_format(out, "%s[", xp_hlo_type_name(shape->type));
  for (size_t i = 0; i < shape->rank; i++) {
    xp_hlo_out_format(out, "%s%s%lld", i > 0 ? "," : "", shape->dynamic >> i & 1 ? "<=" : "",
                      (long long)shape->dims[i]);
  }
  xp_hlo_out_text(out, "]");
  if (with_layout && shape->has_layout && shape->rank > 0) {
    for (size_t i = 0; i < shape->rank; i++) {
      xp_hlo_out_format(out, "%s%d", i > 0 ? "," : "{", shape->minor_to_major[i]);
    }
    xp_hlo_out_text(out, "}");
  }
}
