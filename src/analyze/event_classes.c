/* The tables of event_classes.h, and the few lines that search them.
 *
 * Two tables: one gives the class (the first match wins), the other adds flags (all matches).  Names are classified
 * once for each metadata entry, never for each event, so a plain search is fast enough.
 */
#include "analyze/event_classes.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const xp_name_pattern patterns[] = {
    /* compile */
    {"PjRtComputationClient::Compile", XP_CAUSE_COMPILE, XP_NAME_COMPILES | XP_NAME_TORCH},
    {"IfrtComputationClient::Compile", XP_CAUSE_COMPILE, XP_NAME_COMPILES | XP_NAME_TORCH},
    {"XLAGraphExecutor::Compile", XP_CAUSE_COMPILE, XP_NAME_TORCH},
    {"backend_compile*", XP_CAUSE_COMPILE, XP_NAME_COMPILES},
    {"PjRt*Client::Compile*", XP_CAUSE_COMPILE, XP_NAME_CLIENT_COMPILES},
    {"CommonPjRtClient::Compile*", XP_CAUSE_COMPILE, XP_NAME_CLIENT_COMPILES},
    {"Tfrt*Client::Compile*", XP_CAUSE_COMPILE, XP_NAME_CLIENT_COMPILES},
    {"PJRT_Client_Compile", XP_CAUSE_COMPILE, 0},
    {"XlaCompilationCache::*", XP_CAUSE_COMPILE, 0},
    {"XlaCompiler::Compile*", XP_CAUSE_COMPILE, 0},
    /* value_request: the host asked for a value that lives on a device */
    {"PjRtComputationClient::TransferFromDevice", XP_CAUSE_VALUE_REQUEST, XP_NAME_READS | XP_NAME_TORCH},
    {"IfrtComputationClient::TransferFromDevice", XP_CAUSE_VALUE_REQUEST, XP_NAME_READS | XP_NAME_TORCH},
    {"np.asarray(jax.Array)", XP_CAUSE_VALUE_REQUEST, XP_NAME_READS},
    {"ArrayImpl.copy_to_host_async", XP_CAUSE_VALUE_REQUEST, 0}, /* JAX's own; what waits for the value is the read */
    {"*::ToLiteral*", XP_CAUSE_VALUE_REQUEST, XP_NAME_LITERAL_READS},
    {"*D2H*", XP_CAUSE_VALUE_REQUEST, 0},
    {"cuMemcpyDtoH*", XP_CAUSE_VALUE_REQUEST, XP_NAME_MEMCPY},
    {"hipMemcpyDtoH*", XP_CAUSE_VALUE_REQUEST, XP_NAME_MEMCPY},
    /* wait: for a device or a lock */
    {"ThunkExecutor::Execute (wait for completion)", XP_CAUSE_WAIT, XP_NAME_COMPLETION},
    {"Wait for *", XP_CAUSE_WAIT, 0},
    {"TensorCollectionBarrier", XP_CAUSE_WAIT, XP_NAME_TORCH},
    {"DeviceBarrier", XP_CAUSE_WAIT, XP_NAME_TORCH},
    {"*::Await*", XP_CAUSE_WAIT, 0},
    {"$* block_until_ready", XP_CAUSE_WAIT, 0},
    {"*block_until_ready*", XP_CAUSE_WAIT, 0},
    {"*::BlockHostUntil*", XP_CAUSE_WAIT, 0},
    {"cuStreamSynchronize", XP_CAUSE_WAIT, 0},
    {"cuCtxSynchronize", XP_CAUSE_WAIT, 0},
    {"cuEventSynchronize", XP_CAUSE_WAIT, 0},
    {"hipStreamSynchronize", XP_CAUSE_WAIT, 0},
    {"hipDeviceSynchronize", XP_CAUSE_WAIT, 0},
    {"hipEventSynchronize", XP_CAUSE_WAIT, 0},
    /* upload: host data goes to a device */
    {"PjRtComputationClient::TransferToDevice", XP_CAUSE_UPLOAD, XP_NAME_UPLOADS | XP_NAME_TORCH},
    {"IfrtComputationClient::TransferToDevice", XP_CAUSE_UPLOAD, XP_NAME_UPLOADS | XP_NAME_TORCH},
    {"*::TransferToDevice*", XP_CAUSE_UPLOAD, 0},
    {"*::TransferShardsToDevice*", XP_CAUSE_UPLOAD, 0},
    {"*H2D*", XP_CAUSE_UPLOAD, 0},
    {"*BufferFromHost*", XP_CAUSE_UPLOAD, 0},
    {"DevicePut*", XP_CAUSE_UPLOAD, 0},
    {"batched_copy_array_to_devices*", XP_CAUSE_UPLOAD, 0},
    {"cuMemcpyHtoD*", XP_CAUSE_UPLOAD, XP_NAME_MEMCPY},
    {"hipMemcpyHtoD*", XP_CAUSE_UPLOAD, XP_NAME_MEMCPY},
    /* tracing: the graph is built or lowered */
    {"StepMarker", XP_CAUSE_TRACING, XP_NAME_SYNC | XP_NAME_TORCH},
    {"SyncLiveTensorsGraph", XP_CAUSE_TRACING, XP_NAME_LAZY_SYNC | XP_NAME_TORCH},
    {"SyncTensorsGraph*", XP_CAUSE_TRACING, XP_NAME_LAZY_SYNC | XP_NAME_TORCH},
    {"RunPostOrder", XP_CAUSE_TRACING, XP_NAME_TORCH},
    {"CollectSyncTensors", XP_CAUSE_TRACING, XP_NAME_TORCH},
    {"ExtractIRAndPrepareXlaData_", XP_CAUSE_TRACING, XP_NAME_TORCH},
    {"SetTensorData", XP_CAUSE_TRACING, XP_NAME_TORCH},
    {"ScheduleSyncTensorsGraph", XP_CAUSE_TRACING, XP_NAME_TORCH},
    {"trace_to_jaxpr*", XP_CAUSE_TRACING, XP_NAME_LOWERING},
    {"lower_*", XP_CAUSE_TRACING, XP_NAME_LOWERING},
    /* input: the next batch is fetched */
    {"cpu_loader.next", XP_CAUSE_INPUT, 0},
    {"get_batch_from_cpu_queue", XP_CAUSE_INPUT, 0},
    {"cpu_data_to_xla_device", XP_CAUSE_INPUT, 0},
    {"Iterator::*", XP_CAUSE_INPUT, 0},
    {"IteratorGetNext*", XP_CAUSE_INPUT, 0},
    {"data", XP_CAUSE_INPUT, XP_NAME_INPUT_SCOPE},
    {"load", XP_CAUSE_INPUT, XP_NAME_INPUT_SCOPE},
    {"loader", XP_CAUSE_INPUT, XP_NAME_INPUT_SCOPE},
    {"dataloader", XP_CAUSE_INPUT, XP_NAME_INPUT_SCOPE},
    {"input", XP_CAUSE_INPUT, XP_NAME_INPUT_SCOPE},
    /* dispatch: inside an execute call */
    {"PjRtComputationClient::ExecuteComputation", XP_CAUSE_DISPATCH, XP_NAME_EXECUTES | XP_NAME_TORCH},
    {"PjRtComputationClient::ExecuteReplicated", XP_CAUSE_DISPATCH, XP_NAME_EXECUTES | XP_NAME_TORCH},
    {"IfrtComputationClient::ExecuteReplicated", XP_CAUSE_DISPATCH, XP_NAME_EXECUTES | XP_NAME_TORCH},
    {"PJRT_LoadedExecutable_Execute", XP_CAUSE_DISPATCH, XP_NAME_LAUNCH},
    {"PJRT_LoadedExecutable_Execute*", XP_CAUSE_DISPATCH, 0},
    {"*LoadedExecutable::ExecuteHelper*", XP_CAUSE_DISPATCH, 0}, /* of one device, often on a pool thread */
    {"*LoadedExecutable::Execute*", XP_CAUSE_DISPATCH, XP_NAME_LAUNCH},
    {"PjRt*Execute*", XP_CAUSE_DISPATCH, 0},
    {"GpuExecutable::ExecuteThunks", XP_CAUSE_DISPATCH, 0},
    {"ExecuteComputation", XP_CAUSE_DISPATCH, XP_NAME_LAUNCH | XP_NAME_TORCH},
    {"ExecuteReplicated", XP_CAUSE_DISPATCH, XP_NAME_LAUNCH},
    {"ExecuteReplicated.__call__", XP_CAUSE_DISPATCH, 0},
    /* no class of their own */
    {"PjitFunction(*", XP_CAUSE_COUNT, XP_NAME_PJIT},
    {"shard_args", XP_CAUSE_COUNT, XP_NAME_QUALIFIED}, /* JAX's own, part of a call */
    {"pickle_util.dumps", XP_CAUSE_COUNT, XP_NAME_QUALIFIED},
    {"pickle_util.loads", XP_CAUSE_COUNT, XP_NAME_QUALIFIED},
    {"ThreadpoolListener::Record", XP_CAUSE_COUNT, XP_NAME_RECORD},
    {"ThreadpoolListener::StartRegion", XP_CAUSE_COUNT, XP_NAME_REGION},
    {"ThreadpoolListener::StopRegion", XP_CAUSE_COUNT, XP_NAME_REGION_END},
    {"BufferSequencingEvent::Execute", XP_CAUSE_COUNT, XP_NAME_POOL_TASK},
    {"end: *", XP_CAUSE_COUNT, XP_NAME_OP_END},
    {"$profiler.py:* start_trace", XP_CAUSE_COUNT, XP_NAME_PROFILER},
    {"$profiler.py:* stop_trace", XP_CAUSE_COUNT, XP_NAME_PROFILER},
    {"cuMemcpy*", XP_CAUSE_COUNT, XP_NAME_MEMCPY},
    {"hipMemcpy*", XP_CAUSE_COUNT, XP_NAME_MEMCPY},
    {"cudaMemcpy*", XP_CAUSE_COUNT, XP_NAME_MEMCPY},
};

/* Flags that depend on the form of the name, whatever its class. */
static const xp_name_pattern forms[] = {
    {"$*", XP_CAUSE_COUNT, XP_NAME_FRAME},
    {"*::*", XP_CAUSE_COUNT, XP_NAME_QUALIFIED},
    {"*::ExecuteThunks", XP_CAUSE_COUNT, XP_NAME_THUNKS},
};

/* Files of JAX, NumPy, torch and the standard library that stand between a user's line and the runtime.  Frames carry
 * base names only, so a user's file of the same name is taken for a library, too. */
static const char *const library_frames[] = {
    "$builtins *",
    "$<unknown> *",
    "$<frozen *",
    "$<string>*",
    "$api.py:*",
    "$array.py:*",
    "$array_constructors.py:*",
    "$abstract_arrays.py:*",
    "$basearray.py:*",
    "$compiler.py:*",
    "$config.py:*",
    "$contextlib.py:*",
    "$core.py:*",
    "$dispatch.py:*",
    "$dtypes.py:*",
    "$functools *",
    "$functools.py:*",
    "$indexing.py:*",
    "$interpreters.py:*",
    "$lax.py:*",
    "$lax_numpy.py:*",
    "$linear_util.py:*",
    "$literals.py:*",
    "$mlir.py:*",
    "$named_sharding.py:*",
    "$numpy *",
    "$partial_eval.py:*",
    "$pjit.py:*",
    "$prng.py:*",
    "$profiler.py:*",
    "$pxla.py:*",
    "$random.py:*",
    "$sharding_impls.py:*",
    "$slicing.py:*",
    "$source_info_util.py:*",
    "$stages.py:*",
    "$threading.py:*",
    "$traceback_util.py:*",
    "$tree_util.py:*",
    "$ufunc_api.py:*",
    "$ufuncs.py:*",
    "$util.py:*",
    "$xla_bridge.py:*",
    "$_tensor.py:*",
    "$functional.py:*",
    "$module.py:*",
    "$torch_xla.py:*",
    "$xla_model.py:*",
    "$typing.py:*",
    "$enum.py:*",
    "$posixpath.py:*",
    "$weakref.py:*",
    "$inspect.py:*",
};

static const char *const runtime_threads[] = {"tf_*", "py_xla_execute*", "pjrt_*", "Host Threads/*", "pt_autograd_*"};

static const char *const idle_ops[] = {"infeed", "outfeed", "send", "recv"};

static const char *const collectives[] = {
    "all-reduce*",  "all-gather*",        "reduce-scatter*", "all-to-all*",
    "collective-*", "ragged-all-to-all*", "nccl*",           "rccl*",
};

static const char *const ignored_device_events[] = {
    "MemoryAlloc*", "MemoryFree*", "MemAlloc*",     "MemFree*",     "Memory Alloc*",    "Memory Free*",
    "Mem Alloc*",   "Mem Free*",   "memory alloc*", "memory free*", "MemoryResidency*",
};

static const char *const copies[] = {"Memcpy*", "memcpy*", "MEMCPY*"};

static bool matches_any(xp_str name, const char *const *list, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (xp_str_glob(name, list[i])) {
      return true;
    }
  }
  return false;
}

xp_name_class xp_name_classify(xp_str name)
{
  xp_name_class found = {XP_CAUSE_COUNT, 0};
  for (size_t i = 0; i < LENGTH(forms); i++) {
    if (xp_str_glob(name, forms[i].pattern)) {
      found.flags |= forms[i].flags;
    }
  }
  found.flags |= (found.flags & XP_NAME_FRAME) && xp_frame_is_library(name) ? XP_NAME_LIBRARY : 0;
  for (size_t i = 0; i < LENGTH(patterns); i++) {
    const xp_name_pattern *p = &patterns[i];
    if ((found.flags & XP_NAME_FRAME) && p->pattern[0] != '$') {
      continue; /* a Python frame is never what its function's name says, but for the lines that begin with $ */
    }
    if (xp_str_glob(name, p->pattern)) {
      found.cause = p->cause;
      found.flags |= p->flags;
      break;
    }
  }
  return found;
}

bool xp_frame_is_library(xp_str name)
{
  return matches_any(name, library_frames, LENGTH(library_frames)) || xp_str_find_text(name, ".py:") == name.len;
}

bool xp_thread_is_runtime(xp_str line_name)
{
  return matches_any(line_name, runtime_threads, LENGTH(runtime_threads));
}

/* "infeed", "infeed.3", "%recv-done.4 = ..": the word, perhaps "-done", then nothing or one of ". -" or a digit. */
static bool is_op_called(xp_str op, const char *word)
{
  if (op.len && op.ptr[0] == '%') {
    op = xp_str_skip(op, 1);
  }
  if (!xp_str_starts(op, word)) {
    return false;
  }
  op = xp_str_skip(op, strlen(word));
  if (xp_str_starts(op, "-done")) {
    op = xp_str_skip(op, 5);
  }
  return op.len == 0 || strchr(". -0123456789", op.ptr[0]) != NULL;
}

bool xp_op_is_idle(xp_str op)
{
  for (size_t i = 0; i < LENGTH(idle_ops); i++) {
    if (is_op_called(op, idle_ops[i])) {
      return true;
    }
  }
  return false;
}

bool xp_op_is_infeed(xp_str op)
{
  return is_op_called(op, "infeed");
}

bool xp_op_is_collective(xp_str name)
{
  return matches_any(name, collectives, LENGTH(collectives));
}

bool xp_device_event_is_ignored(xp_str name)
{
  return matches_any(name, ignored_device_events, LENGTH(ignored_device_events));
}

bool xp_device_event_is_copy(xp_str name)
{
  return matches_any(name, copies, LENGTH(copies));
}

const xp_name_pattern *xp_name_patterns(size_t *count)
{
  *count = LENGTH(patterns);
  return patterns;
}
