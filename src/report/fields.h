/* A key and its value in one call. */
#ifndef XP_REPORT_FIELDS_H
#define XP_REPORT_FIELDS_H

#include "json/writer.h"

/* null for an empty text */
void xp_field_str(xp_json *json, const char *key, xp_str value);
void xp_field_text(xp_json *json, const char *key, const char *value);
void xp_field_int(xp_json *json, const char *key, int64_t value);
void xp_field_uint(xp_json *json, const char *key, uint64_t value);
void xp_field_real(xp_json *json, const char *key, double value);
void xp_field_bool(xp_json *json, const char *key, bool value);
void xp_field_null(xp_json *json, const char *key);

/* The value if there is one, else null. */
void xp_field_int_or_null(xp_json *json, const char *key, bool known, int64_t value);

/* A list of texts. */
void xp_field_strs(xp_json *json, const char *key, const xp_str *values, size_t count);

#endif
