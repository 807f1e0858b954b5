/* tensorflow.ProfileOptions: what a profiling session is asked for, by a remote client or of a plugin.
 *
 * Field numbers and defaults: xla/tsl/profiler/protobuf/profiler_options.proto, profiler_session.h (DefaultOptions).
 */
#ifndef XP_PJRT_PROFILE_OPTIONS_H
#define XP_PJRT_PROFILE_OPTIONS_H

#include "base/arena.h"
#include "base/error.h"
#include "wire/wire.h"

typedef enum {
  XP_ADVANCED_STR,
  XP_ADVANCED_BOOL,
  XP_ADVANCED_INT,
  XP_ADVANCED_UNSET /* a key whose value the sender left out */
} xp_advanced_type;

/* One entry of advanced_configuration. */
typedef struct {
  xp_str key;
  xp_advanced_type type;
  xp_str text;    /* of XP_ADVANCED_STR */
  int64_t number; /* of XP_ADVANCED_INT; 0 or 1 of XP_ADVANCED_BOOL */
} xp_advanced_option;

/* Every field as it stands in the message; what is not in it is 0, false or empty. */
typedef struct {
  bool include_dataset_ops, enable_hlo_proto, raise_error_on_start_failure;
  uint32_t host_tracer_level, device_tracer_level, python_tracer_level;
  uint32_t version;                  /* 0: see xp_profile_options_of_session */
  uint32_t device_type;              /* 0: any */
  uint64_t start_timestamp_ns;       /* Unix time; 0: at once */
  uint64_t duration_ms;              /* 0: collect at once */
  uint64_t host_traceme_filter_mask; /* 0: no filter */
  xp_str repository_path, session_id, override_hostname;
  xp_advanced_option *advanced; /* each key once */
  size_t advanced_count;
} xp_profile_options;

/* More advanced options than this are refused: the known ones are a few dozen. */
enum { XP_ADVANCED_MAX = 1024 };

/* What upstream's clients start from. */
xp_profile_options xp_profile_options_default(void);

/* What a session does when it is sent these options.  Version 0 marks a sender that knows nothing of the fields: all
 * but include_dataset_ops becomes the default then.  A server still waits for the duration_ms that was sent. */
xp_profile_options xp_profile_options_of_session(const xp_profile_options *sent);

/* Reads a message over what options holds already; begin with {0}.  (Parts of a message that come one after the other
 * make one.)  Strings are slices of the message, rows come from the arena.  XP_ERR_LIMIT above XP_ADVANCED_MAX. */
xp_status xp_profile_options_read(xp_str message, xp_arena *arena, xp_profile_options *options, xp_error *err);

/* Appends the fields to a message; those that are 0, false or empty are left out, as protobuf does. */
void xp_profile_options_put(xp_wire_writer *w, const xp_profile_options *options);

/* The entry of an advanced key, NULL if there is none. */
const xp_advanced_option *xp_profile_options_advanced(const xp_profile_options *options, const char *key);

#endif
