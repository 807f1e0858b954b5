/* What a command line must have, and what does not go together. */
#include "options_table.h"

#include <inttypes.h>

#include "suggest.h"

static bool check_capture(const options *o, xp_error *err)
{
  if (o->path == NULL || o->logdir == NULL) {
    return options_fail(err, o->path == NULL ? "Nobody is named to" : "No directory for the capture is given to",
                        "capture", "Write xlaprof capture HOST:PORT LOGDIR");
  }
  const struct {
    const char *name;
    bool is_set;
    uint64_t value, least, most;
  } numbers[] = {
      {"--duration-ms", o->has_duration, o->duration_ms, 1, INT64_MAX / 1000000},
      {"--attempts", o->has_attempts, o->attempts, 1, UINT32_MAX},
      {"--interval-s", o->has_interval, o->interval_s, 1, INT32_MAX},
      {"--timeout-s", o->has_timeout, o->timeout_s, 0, INT32_MAX},
      {"--host-tracer-level", o->has_host_level, o->host_level, 0, 3},
      {"--device-tracer-level", o->has_device_level, o->device_level, 0, UINT32_MAX},
      {"--python-tracer-level", o->has_python_level, o->python_level, 0, INT32_MAX},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (numbers[i].is_set && (numbers[i].value < numbers[i].least || numbers[i].value > numbers[i].most)) {
      char hint[64];
      snprintf(hint, sizeof hint, "It goes from %" PRIu64 " to %" PRIu64, numbers[i].least, numbers[i].most);
      return options_fail(err, "This number is not possible:", numbers[i].name, hint);
    }
  }
  return true;
}

/* Each option acts on some of the demonstrations. */
static bool check_demo(const options *o, xp_error *err)
{
  if (o->path == NULL) {
    return options_fail(err, "No demonstration is named to", "demo", "Write xlaprof demo lab, demo sd21 or demo sdxl");
  }
  const bool is_lab = strcmp(o->path, "lab") == 0;
  if (is_lab && (o->is_fixed || o->image != NULL)) {
    return options_fail(err, "demo lab has no", o->is_fixed ? "--fixed" : "--image",
                        "It acts on demo sd21 and demo sdxl");
  }
  if (is_lab && o->is_plain && o->program == NULL) {
    return options_fail(err, "demo lab needs another option for", "--plain",
                        "Its counts are without names; --program FILE --plain writes its program without them, too");
  }
  if (!is_lab && o->program != NULL) {
    return options_fail(err, "Only demo lab has", "--program",
                        "Leave it out, or write xlaprof demo lab --program FILE");
  }
  return true;
}

bool options_check(const options *o, xp_error *err)
{
  if (o->command == CMD_CAPTURE) {
    return check_capture(o, err);
  }
  if (o->command == CMD_AOT && (o->path == NULL || o->plugin == NULL || o->topology == NULL)) {
    return options_fail(err, "Something is missing for", "aot",
                        "Write xlaprof aot PROGRAM --plugin libtpu.so --topology v5e:2x2x1");
  }
  if (o->command == CMD_CHECK && (o->path == NULL || o->step == NULL)) {
    return options_fail(err, "Something is missing for", "check", "Write xlaprof check PATH --step NAME");
  }
  if (o->command == CMD_DEMO && !check_demo(o, err)) {
    return false;
  }
  if (o->path == NULL) {
    return options_fail(err, "No capture is given to", command_name(o->command),
                        "Name a file *.xplane.pb, or a directory that holds some: xlaprof report PATH");
  }
  if (o->json && o->csv) {
    return options_fail(err, "Only one of two is possible:", "--json --csv", "Leave one of them out");
  }
  if (o->json && o->html != NULL) {
    return options_fail(err, "Only one of two is possible:", "--json --html", "Leave one of them out");
  }
  if (o->has_from && o->has_to && o->from_ps >= o->to_ps) {
    return options_fail(err, "The time is empty:", "--from --to", "Give a --from that is before --to");
  }
  if (o->width != 0 && (o->width < 40 || o->width > 10000)) {
    return options_fail(err, "This does not work:", "--width", "Give a width from 40 to 10000");
  }
  if (o->has_port && (o->port == 0 || o->port > UINT16_MAX)) {
    return options_fail(err, "This does not work:", "--port", "Give a port from 1 to 65535");
  }
  if (o->threads > 1024) {
    return options_fail(err, "This does not work:", "--threads", "Give at most 1024 threads");
  }
  return true;
}
