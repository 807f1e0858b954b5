/* The counters and metrics that the runtime raises, with torch_xla's names and at its events. */
#ifndef XL_COUNTERS_H
#define XL_COUNTERS_H

#include "xlaprof/metrics.h"

#define XL_COUNTS(X)                                                                                                   \
  X(MARK_STEP, "MarkStep")                                                                                             \
  X(CREATE_TENSOR, "CreateXlaTensor")                                                                                  \
  X(DESTROY_TENSOR, "DestroyXlaTensor")                                                                                \
  X(DESTROY_LTC_TENSOR, "DestroyLtcTensor")                                                                            \
  X(UNCACHED_COMPILE, "UncachedCompile")                                                                               \
  X(CACHED_COMPILE, "CachedCompile")                                                                                   \
  X(EXECUTE, "ExecuteComputation")                                                                                     \
  X(DEVICE_DATA_CACHE_MISS, "DeviceDataCacheMiss")                                                                     \
  X(CREATE_DATA_HANDLES, "CreateDataHandles")                                                                          \
  X(CREATE_COMPILE_HANDLES, "CreateCompileHandles")                                                                    \
  X(READ_SCALAR, "aten::_local_scalar_dense")                                                                          \
  X(NONZERO, "aten::nonzero")                                                                                          \
  X(EMPTY_STRIDED, "xla::empty_strided_symint")                                                                        \
  X(EMPTY, "xla::empty_symint")                                                                                        \
  X(FILL, "xla::fill_")

#define XL_METRICS(X)                                                                                                  \
  X(GRAPH_SIZE, "TensorsGraphSize", VALUE)                                                                             \
  X(ALIASES, "InputOutputAliasCount", VALUE)                                                                           \
  X(COMPILE, "CompileTime", TIME)                                                                                      \
  X(EAGER_COMPILE, "EagerOpCompileTime", TIME)                                                                         \
  X(EXECUTE_TIME, "ExecuteTime", TIME)                                                                                 \
  X(EAGER_EXECUTE, "EagerOpExecuteTime", TIME)                                                                         \
  X(TO_DEVICE, "TransferToDeviceTime", TIME)                                                                           \
  X(FROM_DEVICE, "TransferFromDeviceTime", TIME)                                                                       \
  X(OUTBOUND, "OutboundData", BYTES)                                                                                   \
  X(INBOUND, "InboundData", BYTES)                                                                                     \
  X(TENSOR_TO_DATA, "TensorToData", TIME)                                                                              \
  X(UPLOAD_VALUE, "IrValueTensorToXlaData", TIME)                                                                      \
  X(UNWRAP, "UnwrapXlaData", TIME)                                                                                     \
  X(WRAP, "WrapXlaData", TIME)                                                                                         \
  X(TRACING, "LazyTracing", TIME)                                                                                      \
  X(LOCK_WAIT, "DeviceLockWait", TIME)

#define XL_COUNT_ID(id, name)        XL_COUNT_##id,
#define XL_METRIC_ID(id, name, unit) XL_METRIC_##id,
typedef enum { XL_COUNTS(XL_COUNT_ID) XL_COUNT_COUNT } xl_count_id;
typedef enum { XL_METRICS(XL_METRIC_ID) XL_METRIC_COUNT } xl_metric_id;

extern xp_counter_handle *xl_counters[XL_COUNT_COUNT];
extern xp_metric_handle *xl_metrics[XL_METRIC_COUNT];

/* Finds them in the registry; once. */
void xl_counters_open(void);

static inline void xl_count(xl_count_id id, int64_t n)
{
  xp_counter_add(xl_counters[id], n);
}

/* The same under the runtime's lock, for counters that are raised nowhere else: some nodes raise four. */
static inline void xl_count_locked(xl_count_id id, int64_t n)
{
  xp_counter_add_exclusive(xl_counters[id], n);
}

static inline void xl_sample(xl_metric_id id, double value)
{
  xp_metric_add(xl_metrics[id], value);
}

#endif
