/* Reading and writing tensorflow.ProfileOptions.
 *
 * Reading follows protobuf where a message is odd: the last value of a field counts, a field of an unexpected wire type
 * is an unknown one and skipped, a 32-bit number is the low half of what was sent, and of equal keys in
 * advanced_configuration the last entry counts.  Unknown fields are not kept.
 *
 * advanced_configuration is searched from end to end for each entry.  The limit of entries keeps that cheap whatever a
 * peer sends.
 */
#include "pjrt/profile_options.h"

enum {
  INCLUDE_DATASET_OPS = 1,
  HOST_TRACER_LEVEL = 2,
  DEVICE_TRACER_LEVEL = 3,
  PYTHON_TRACER_LEVEL = 4,
  VERSION = 5,
  DEVICE_TYPE = 6,
  ENABLE_HLO_PROTO = 7,
  START_TIMESTAMP_NS = 8,
  DURATION_MS = 9,
  REPOSITORY_PATH = 10,
  TRACE_OPTIONS = 11,
  ADVANCED_CONFIGURATION = 12,
  RAISE_ERROR_ON_START_FAILURE = 13,
  SESSION_ID = 14,
  OVERRIDE_HOSTNAME = 15
};
enum { TRACE_FILTER_MASK = 1 };                          /* of TraceOptions */
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };                 /* of an entry of a map */
enum { VALUE_STR = 1, VALUE_BOOL = 2, VALUE_INT64 = 3 }; /* of AdvancedConfigValue, a oneof */

xp_profile_options xp_profile_options_default(void)
{
  return (xp_profile_options){.include_dataset_ops = true,
                              .host_tracer_level = 2,
                              .device_tracer_level = 1,
                              .version = 1,
                              .enable_hlo_proto = true};
}

xp_profile_options xp_profile_options_of_session(const xp_profile_options *sent)
{
  if (sent->version != 0) {
    return *sent;
  }
  xp_profile_options options = xp_profile_options_default();
  options.include_dataset_ops = sent->include_dataset_ops;
  return options;
}

static const xp_advanced_option *find_advanced(const xp_profile_options *options, xp_str key)
{
  for (size_t i = 0; i < options->advanced_count; i++) {
    if (xp_str_eq(options->advanced[i].key, key)) {
      return &options->advanced[i];
    }
  }
  return NULL;
}

const xp_advanced_option *xp_profile_options_advanced(const xp_profile_options *options, const char *key)
{
  return find_advanced(options, xp_str_c(key));
}

/* ---------------------------------------------------------------- reading */

static xp_status read_trace_options(xp_str message, xp_profile_options *options, xp_error *err)
{
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.number == TRACE_FILTER_MASK && f.type == XP_WIRE_VARINT) {
      options->host_traceme_filter_mask = f.value;
    }
  }
  return xp_wire_finish(&r, "The field trace_options of ProfileOptions", err);
}

/* A field of the oneof takes the place of the one before it. */
static xp_status read_value(xp_str message, xp_advanced_option *option, xp_error *err)
{
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.number == VALUE_STR && f.type == XP_WIRE_BYTES) {
      *option = (xp_advanced_option){option->key, XP_ADVANCED_STR, f.bytes, 0};
    } else if (f.number == VALUE_BOOL && f.type == XP_WIRE_VARINT) {
      *option = (xp_advanced_option){option->key, XP_ADVANCED_BOOL, {NULL, 0}, f.value != 0};
    } else if (f.number == VALUE_INT64 && f.type == XP_WIRE_VARINT) {
      *option = (xp_advanced_option){option->key, XP_ADVANCED_INT, {NULL, 0}, (int64_t)f.value};
    }
  }
  return xp_wire_finish(&r, "A value in advanced_configuration of ProfileOptions", err);
}

static xp_status read_entry(xp_str message, xp_advanced_option *option, xp_error *err)
{
  *option = (xp_advanced_option){.type = XP_ADVANCED_UNSET};
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.number == ENTRY_KEY && f.type == XP_WIRE_BYTES) {
      option->key = f.bytes;
    } else if (f.number == ENTRY_VALUE && f.type == XP_WIRE_BYTES) {
      xp_status status = read_value(f.bytes, option, err);
      if (status != XP_OK) {
        return status;
      }
    }
  }
  return xp_wire_finish(&r, "An entry of advanced_configuration of ProfileOptions", err);
}

static xp_status add_entry(xp_str message, xp_arena *arena, xp_profile_options *options, xp_error *err)
{
  xp_advanced_option option;
  xp_status status = read_entry(message, &option, err);
  if (status != XP_OK) {
    return status;
  }
  const xp_advanced_option *old = find_advanced(options, option.key);
  if (old != NULL) {
    options->advanced[old - options->advanced] = option;
    return XP_OK;
  }
  if (options->advanced == NULL) {
    options->advanced = xp_arena_array(arena, XP_ADVANCED_MAX, sizeof *options->advanced);
    if (options->advanced == NULL) {
      return xp_fail(err, XP_ERR_MEMORY, "Memory ran out while ProfileOptions was read");
    }
  }
  if (options->advanced_count == XP_ADVANCED_MAX) {
    return xp_fail(err, XP_ERR_LIMIT, "advanced_configuration of ProfileOptions has more than %d keys; send fewer",
                   XP_ADVANCED_MAX);
  }
  options->advanced[options->advanced_count++] = option;
  return XP_OK;
}

static void read_number(const xp_wire_field *f, xp_profile_options *options)
{
  switch (f->number) {
  case INCLUDE_DATASET_OPS:
    options->include_dataset_ops = f->value != 0;
    break;
  case HOST_TRACER_LEVEL:
    options->host_tracer_level = (uint32_t)f->value;
    break;
  case DEVICE_TRACER_LEVEL:
    options->device_tracer_level = (uint32_t)f->value;
    break;
  case PYTHON_TRACER_LEVEL:
    options->python_tracer_level = (uint32_t)f->value;
    break;
  case VERSION:
    options->version = (uint32_t)f->value;
    break;
  case DEVICE_TYPE:
    options->device_type = (uint32_t)f->value;
    break;
  case ENABLE_HLO_PROTO:
    options->enable_hlo_proto = f->value != 0;
    break;
  case START_TIMESTAMP_NS:
    options->start_timestamp_ns = f->value;
    break;
  case DURATION_MS:
    options->duration_ms = f->value;
    break;
  case RAISE_ERROR_ON_START_FAILURE:
    options->raise_error_on_start_failure = f->value != 0;
    break;
  default:
    break;
  }
}

static xp_status read_bytes(const xp_wire_field *f, xp_arena *arena, xp_profile_options *options, xp_error *err)
{
  switch (f->number) {
  case REPOSITORY_PATH:
    options->repository_path = f->bytes;
    return XP_OK;
  case TRACE_OPTIONS:
    return read_trace_options(f->bytes, options, err);
  case ADVANCED_CONFIGURATION:
    return add_entry(f->bytes, arena, options, err);
  case SESSION_ID:
    options->session_id = f->bytes;
    return XP_OK;
  case OVERRIDE_HOSTNAME:
    options->override_hostname = f->bytes;
    return XP_OK;
  default:
    return XP_OK;
  }
}

xp_status xp_profile_options_read(xp_str message, xp_arena *arena, xp_profile_options *options, xp_error *err)
{
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.type == XP_WIRE_VARINT) {
      read_number(&f, options);
    } else if (f.type == XP_WIRE_BYTES) {
      xp_status status = read_bytes(&f, arena, options, err);
      if (status != XP_OK) {
        return status;
      }
    }
  }
  return xp_wire_finish(&r, "The message ProfileOptions", err);
}

/* ---------------------------------------------------------------- writing */

/* The value of a oneof is written even if it is 0 or empty: which one it is matters. */
static void put_advanced(xp_wire_writer *w, const xp_advanced_option *option)
{
  xp_wire_writer entry = {0}, value = {0};
  switch (option->type) {
  case XP_ADVANCED_STR:
    xp_wire_put_bytes(&value, VALUE_STR, option->text);
    break;
  case XP_ADVANCED_BOOL:
    xp_wire_put_varint(&value, VALUE_BOOL, option->number != 0);
    break;
  case XP_ADVANCED_INT:
    xp_wire_put_varint(&value, VALUE_INT64, (uint64_t)option->number);
    break;
  case XP_ADVANCED_UNSET:
    break;
  }
  xp_wire_put_bytes(&entry, ENTRY_KEY, option->key);
  xp_wire_put_message(&entry, ENTRY_VALUE, &value);
  xp_wire_put_message(w, ADVANCED_CONFIGURATION, &entry);
  xp_wire_writer_free(&value);
  xp_wire_writer_free(&entry);
}

void xp_profile_options_put(xp_wire_writer *w, const xp_profile_options *options)
{
  xp_wire_put_number(w, INCLUDE_DATASET_OPS, options->include_dataset_ops);
  xp_wire_put_number(w, HOST_TRACER_LEVEL, options->host_tracer_level);
  xp_wire_put_number(w, DEVICE_TRACER_LEVEL, options->device_tracer_level);
  xp_wire_put_number(w, PYTHON_TRACER_LEVEL, options->python_tracer_level);
  xp_wire_put_number(w, VERSION, options->version);
  /* an enum is a signed number: one that we do not know keeps its sign */
  xp_wire_put_number(w, DEVICE_TYPE, (uint64_t)(int64_t)(int32_t)options->device_type);
  xp_wire_put_number(w, ENABLE_HLO_PROTO, options->enable_hlo_proto);
  xp_wire_put_number(w, START_TIMESTAMP_NS, options->start_timestamp_ns);
  xp_wire_put_number(w, DURATION_MS, options->duration_ms);
  xp_wire_put_text(w, REPOSITORY_PATH, options->repository_path);
  if (options->host_traceme_filter_mask != 0) {
    xp_wire_writer trace = {0};
    xp_wire_put_varint(&trace, TRACE_FILTER_MASK, options->host_traceme_filter_mask);
    xp_wire_put_message(w, TRACE_OPTIONS, &trace);
    xp_wire_writer_free(&trace);
  }
  for (size_t i = 0; i < options->advanced_count; i++) {
    put_advanced(w, &options->advanced[i]);
  }
  xp_wire_put_number(w, RAISE_ERROR_ON_START_FAILURE, options->raise_error_on_start_failure);
  xp_wire_put_text(w, SESSION_ID, options->session_id);
  xp_wire_put_text(w, OVERRIDE_HOSTNAME, options->override_hostname);
}
