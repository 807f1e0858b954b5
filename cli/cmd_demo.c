/* demo: one table of the demonstrations, from which the right one is run. */
#include "commands.h"
#include "demo.h"
#include "terminal.h"

static const struct {
  const char *name;
  int (*run)(const options *o);
} demos[] = {
    {"lab", demo_lab},
    {"sd21", demo_sd21},
    {"sdxl", demo_sdxl},
};

enum { DEMO_COUNT = sizeof demos / sizeof demos[0] };

int run_demo(const options *o)
{
  for (size_t i = 0; i < DEMO_COUNT; i++) {
    if (strcmp(demos[i].name, o->path) == 0) {
      return demos[i].run(o);
    }
  }
  xp_error err = {0};
  size_t length = 0;
  char names[160] = "";
  for (size_t i = 0; i < DEMO_COUNT && length < sizeof names; i++) {
    length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i > 0 ? ", " : "", demos[i].name);
  }
  xp_fail(&err, XP_ERR_USAGE, "There is no demo \"%.100s\". There are: %s", o->path, names);
  return say(&err);
}
