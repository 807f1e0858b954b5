/* The stats that some part of xlaprof asks for, by their exact names (xla/tsl/profiler/utils/xplane_schema.cc;
 * unfinished is our recorder's own). */
#ifndef XP_XSPACE_KEYS_H
#define XP_XSPACE_KEYS_H

#define XP_KEYS(X)                                                                                                     \
  X(HLO_OP, "hlo_op")                                                                                                  \
  X(HLO_MODULE, "hlo_module")                                                                                          \
  X(HLO_CATEGORY, "hlo_category")                                                                                      \
  X(HLO_PROTO, "Hlo Proto")                                                                                            \
  X(PROGRAM_ID, "program_id")                                                                                          \
  X(RUN_ID, "run_id")                                                                                                  \
  X(DEVICE_ORDINAL, "device_ordinal")                                                                                  \
  X(DEVICE_ID, "device_id")                                                                                            \
  X(CORRELATION_ID, "correlation_id")                                                                                  \
  X(TF_OP, "tf_op")                                                                                                    \
  X(NAME, "name")                                                                                                      \
  X(PREFIX, "prefix")                                                                                                  \
  X(SOURCE, "source")                                                                                                  \
  X(STEP_NUM, "step_num")                                                                                              \
  X(ROOT, "_r")                                                                                                        \
  X(UNFINISHED, "unfinished")                                                                                          \
  X(ASYNC, "_a")                                                                                                       \
  X(PRODUCER_TYPE, "_pt")                                                                                              \
  X(PRODUCER, "_p")                                                                                                    \
  X(CONSUMER_TYPE, "_ct")                                                                                              \
  X(CONSUMER, "_c")                                                                                                    \
  X(GROUP_ID, "group_id")                                                                                              \
  X(MEMCPY_DETAILS, "memcpy_details")                                                                                  \
  X(KERNEL_DETAILS, "kernel_details")                                                                                  \
  X(MODULE_NAME, "module_name")                                                                                        \
  X(REPLICA, "replica")                                                                                                \
  X(PARTITION, "partition")                                                                                            \
  X(GRAPH_HASH, "graph_hash")                                                                                          \
  X(PROFILE_START_TIME, "profile_start_time")                                                                          \
  X(PROFILE_STOP_TIME, "profile_stop_time")                                                                            \
  X(DEVICE_TYPE, "device_type_string")                                                                                 \
  X(DEVICE_VENDOR, "device_vendor")                                                                                    \
  X(GPU_DEVICE_NAME, "gpu_device_name")                                                                                \
  X(DEVICE_OFFSET_PS, "device_offset_ps")                                                                              \
  X(DEVICE_DURATION_PS, "device_duration_ps")                                                                          \
  X(QUEUE_ID, "queue_id")                                                                                              \
  X(DEDUPLICATED_NAME, "deduplicated_name")

typedef enum {
  XP_KEY_NONE,
#define XP_KEY_ENUM(key, name) XP_KEY_##key,
  XP_KEYS(XP_KEY_ENUM)
#undef XP_KEY_ENUM
      XP_KEY_COUNT
} xp_key;

/* The exact name of a key. */
const char *xp_key_name(xp_key key);

#endif
