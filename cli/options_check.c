/* What a command line must have, and what does not go together. */
#include "options_table.h"

#include "suggest.h"

static bool check_capture(const options *o, xp_error *err)
{
  if (o->path == NULL || o->logdir == NULL) {
    return options_fail(err, o->path == NULL ? "Nobody is named to" : "No directory for the capture is given to",
                        "capture", "Write xlaprof capture HOST:PORT LOGDIR");
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
    char hint[128];
    snprintf(hint, sizeof hint, "Name a file *.xplane.pb, or a directory that holds some: xlaprof %s PATH",
             command_name(o->command));
    return options_fail(err, "No capture is given to", command_name(o->command), hint);
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
  return true;
}
