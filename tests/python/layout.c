/* Prints how the structures of the public headers lie in memory, for python/xlaprof.py to be held against: a line for
 * each with its name and size, then the names, offsets and sizes of its fields. */
#include <stddef.h>
#include <stdio.h>

#include "xlaprof/xlaprof.h"

#define STRUCT(type)       printf("%s%s %zu", is_first ? "" : "\n", #type, sizeof(type)), is_first = false
#define FIELD(type, field) printf(" %s %zu %zu", #field, offsetof(type, field), sizeof(((type *)0)->field))

static bool is_first = true;

static void print_annotations(void)
{
  STRUCT(xp_error);
  FIELD(xp_error, status);
  FIELD(xp_error, text);
  STRUCT(xp_arg);
  FIELD(xp_arg, key);
  FIELD(xp_arg, type);
  FIELD(xp_arg, len);
  FIELD(xp_arg, value);
  STRUCT(xp_trace);
  FIELD(xp_trace, thread);
  FIELD(xp_trace, depth);
  FIELD(xp_trace, serial);
  STRUCT(xp_step_barrier);
  FIELD(xp_step_barrier, wait);
  FIELD(xp_step_barrier, context);
}

static void print_sessions(void)
{
  STRUCT(xp_session_options);
  FIELD(xp_session_options, size);
  FIELD(xp_session_options, host_tracer_level);
  FIELD(xp_session_options, device_tracer_level);
  FIELD(xp_session_options, python_tracer_level);
  FIELD(xp_session_options, enable_hlo_proto);
  FIELD(xp_session_options, keep);
  FIELD(xp_session_options, buffer_limit_bytes);
  FIELD(xp_session_options, holder);
  FIELD(xp_session_options, expected_ns);
  FIELD(xp_session_options, logdir);
  FIELD(xp_session_options, advanced);
  STRUCT(xp_export_options);
  FIELD(xp_export_options, size);
  FIELD(xp_export_options, run);
  FIELD(xp_export_options, host);
  FIELD(xp_export_options, write_trace_json);
  STRUCT(xp_server_options);
  FIELD(xp_server_options, size);
  FIELD(xp_server_options, address);
  FIELD(xp_server_options, port);
  FIELD(xp_server_options, port_file);
  FIELD(xp_server_options, buffer_limit_bytes);
}

static void print_captures(void)
{
  STRUCT(xp_capture_options);
  FIELD(xp_capture_options, size);
  FIELD(xp_capture_options, duration_ms);
  FIELD(xp_capture_options, host_tracer_level);
  FIELD(xp_capture_options, device_tracer_level);
  FIELD(xp_capture_options, python_tracer_level);
  FIELD(xp_capture_options, attempts);
  FIELD(xp_capture_options, delay_ms);
  FIELD(xp_capture_options, interval_ms);
  FIELD(xp_capture_options, timeout_ms);
  FIELD(xp_capture_options, save_on_server);
  FIELD(xp_capture_options, session_id);
  FIELD(xp_capture_options, advanced);
  FIELD(xp_capture_options, tell);
  FIELD(xp_capture_options, tell_context);
  FIELD(xp_capture_options, cancel);
  STRUCT(xp_capture_result);
  FIELD(xp_capture_result, target);
  FIELD(xp_capture_result, outcome);
  FIELD(xp_capture_result, bytes);
  FIELD(xp_capture_result, tries);
  FIELD(xp_capture_result, path);
  FIELD(xp_capture_result, message);
}

static void print_metrics(void)
{
  STRUCT(xp_metric_sample);
  FIELD(xp_metric_sample, time_ns);
  FIELD(xp_metric_sample, value);
  STRUCT(xp_metric_data);
  FIELD(xp_metric_data, unit);
  FIELD(xp_metric_data, total);
  FIELD(xp_metric_data, sum);
  FIELD(xp_metric_data, count);
  FIELD(xp_metric_data, samples);
}

int main(void)
{
  print_annotations();
  print_sessions();
  print_captures();
  print_metrics();
  printf("\n");
  return 0;
}
