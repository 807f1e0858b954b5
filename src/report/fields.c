/* Thin wrappers: a key, then the value. */
#include "report/fields.h"

void xp_field_str(xp_json *json, const char *key, xp_str value)
{
  xp_json_key(json, key);
  if (value.len == 0) {
    xp_json_null(json);
  } else {
    xp_json_str(json, value);
  }
}

void xp_field_text(xp_json *json, const char *key, const char *value)
{
  xp_json_key(json, key);
  xp_json_text(json, value);
}

void xp_field_int(xp_json *json, const char *key, int64_t value)
{
  xp_json_key(json, key);
  xp_json_int(json, value);
}

void xp_field_uint(xp_json *json, const char *key, uint64_t value)
{
  xp_json_key(json, key);
  xp_json_uint(json, value);
}

void xp_field_real(xp_json *json, const char *key, double value)
{
  xp_json_key(json, key);
  xp_json_double(json, value);
}

void xp_field_bool(xp_json *json, const char *key, bool value)
{
  xp_json_key(json, key);
  xp_json_bool(json, value);
}

void xp_field_null(xp_json *json, const char *key)
{
  xp_json_key(json, key);
  xp_json_null(json);
}

void xp_field_int_or_null(xp_json *json, const char *key, bool known, int64_t value)
{
  if (known) {
    xp_field_int(json, key, value);
  } else {
    xp_field_null(json, key);
  }
}

void xp_field_strs(xp_json *json, const char *key, const xp_str *values, size_t count)
{
  xp_json_key(json, key);
  xp_json_array(json);
  for (size_t i = 0; i < count; i++) {
    xp_json_str(json, values[i]);
  }
  xp_json_array_end(json);
}
