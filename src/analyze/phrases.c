/* The words, as a table by cause: without and with a scope. */
#include "analyze/phrases.h"

#include <stdio.h>

typedef struct {
  const char *plain, *scoped; /* scoped has one %.*s */
} phrase;

static const phrase causes[XP_CAUSE_COUNT] = {
    [XP_CAUSE_IN_PROGRAM] = {"the device stood still inside one program",
                             "the device stood still inside one program (`%.*s`)"},
    [XP_CAUSE_COMPILE] = {"the host compiled", "the host compiled in `%.*s`"},
    [XP_CAUSE_VALUE_REQUEST] = {"the host read a value back", "the host read a value back in `%.*s`"},
    [XP_CAUSE_WAIT] = {"the host waited for a device or a lock", "the host waited for a device or a lock in `%.*s`"},
    [XP_CAUSE_UPLOAD] = {"the host copied data to the device", "the host copied data to the device in `%.*s`"},
    [XP_CAUSE_TRACING] = {"the host built the graph", "the host built the graph in `%.*s`"},
    [XP_CAUSE_INPUT] = {"the next batch was not ready", "the next batch was not ready (`%.*s`)"},
    [XP_CAUSE_DISPATCH] = {"the host was inside the execute call", "the host was inside the execute call in `%.*s`"},
    [XP_CAUSE_HOST] = {"the host did other work", "the host did other work in `%.*s`"},
    [XP_CAUSE_LAUNCH] = {"the launch took time to reach the device",
                         "the launch took time to reach the device (`%.*s`)"},
    [XP_CAUSE_UNKNOWN] = {"nothing in the capture says what the host did",
                          "nothing in the capture says what the host did (`%.*s`)"},
    [XP_CAUSE_PROFILER] = {"the profiler itself", "the profiler itself"},
    [XP_CAUSE_SHORT] = {"gaps too short to list", "gaps too short to list"},
};

static const char *const triggers[] = {
    [XP_TRIGGER_NONE] = "",
    [XP_TRIGGER_VALUE_REQUEST] = ", after a value was read back",
    [XP_TRIGGER_WAIT] = ", after it had waited for the device",
    [XP_TRIGGER_COMPILE] = "",
};

static const char *const places[] = {
    [XP_WHERE_INSIDE] = "",
    [XP_WHERE_LEAD_IN] = " before the first device work",
    [XP_WHERE_TAIL] = " after the last device work",
};

static bool says_scope(const xp_cause_row *row)
{
  return row->scope.len && row->cause != XP_CAUSE_PROFILER && row->cause != XP_CAUSE_SHORT;
}

/* ", after a value was read back in `step` before the first device work" */
static xp_str phrase_trigger(xp_analysis *an, const xp_cause_row *row)
{
  bool said = row->cause == XP_CAUSE_WAIT && row->trigger == XP_TRIGGER_WAIT;
  bool elsewhere =
      row->trigger == XP_TRIGGER_VALUE_REQUEST && row->trigger_scope.len && !xp_str_eq(row->trigger_scope, row->scope);
  xp_str where = elsewhere ? xp_text(an, " in `%.*s`", XP_STR_ARG(row->trigger_scope)) : xp_str_from(NULL, 0);
  return xp_text(an, "%s%.*s%s", said ? "" : triggers[row->trigger], XP_STR_ARG(where), places[row->where]);
}

xp_str xp_phrase_cause(xp_analysis *an, const xp_cause_row *row)
{
  const phrase *p = &causes[row->cause];
  xp_str what = says_scope(row) ? xp_arena_format(an->arena, p->scoped, XP_STR_ARG(row->scope)) : xp_str_c(p->plain);
  return xp_text(an, "%.*s%.*s", XP_STR_ARG(what), XP_STR_ARG(phrase_trigger(an, row)));
}

xp_str xp_phrase_place(xp_analysis *an, const xp_cause_row *row)
{
  xp_str trigger = phrase_trigger(an, row);
  return says_scope(row) ? xp_text(an, " in `%.*s`%.*s", XP_STR_ARG(row->scope), XP_STR_ARG(trigger)) : trigger;
}

xp_str xp_phrase_count(xp_analysis *an, uint64_t count)
{
  char digits[32], text[48];
  size_t n = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)count), out = 0;
  for (size_t i = 0; i < n; i++) {
    if (i && (n - i) % 3 == 0) {
      text[out++] = ',';
    }
    text[out++] = digits[i];
  }
  return xp_text(an, "%.*s", (int)out, text);
}

xp_str xp_phrase_time(xp_analysis *an, int64_t ps)
{
  static const struct {
    double ps;
    const char *name;
  } units[] = {{1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}, {1, "ps"}};
  size_t u = 0;
  while (u < 4 && (double)ps < units[u].ps) {
    u++;
  }
  double value = (double)ps / units[u].ps;
  int decimals = units[u].ps == 1 || value >= 1000 ? 0 : value >= 100 ? 1 : value >= 10 ? 2 : 3;
  return xp_text(an, "%.*f %s", decimals, value, units[u].name);
}

const char *xp_cause_name(xp_cause cause)
{
  static const char *const names[XP_CAUSE_COUNT] = {"in_program", "compile",  "value_request", "wait", "upload",
                                                    "tracing",    "input",    "dispatch",      "host", "launch",
                                                    "unknown",    "profiler", "short"};
  return (unsigned)cause < XP_CAUSE_COUNT ? names[cause] : "unknown";
}

const char *xp_trigger_name(xp_trigger trigger)
{
  static const char *const names[] = {"none", "value_request", "wait", "compile"};
  return names[trigger];
}

const char *xp_where_name(xp_where where)
{
  static const char *const names[] = {"inside", "lead_in", "tail"};
  return names[where];
}

const char *xp_counter_name(int counter)
{
  static const char *const names[XP_COUNTER_COUNT] = {"compiles", "executes", "reads", "uploads", "syncs"};
  return names[counter];
}

const char *xp_step_source_name(xp_step_source source)
{
  static const char *const names[] = {"none", "annotation", "device", "module"};
  return names[source];
}

const char *xp_cut_kind_name(xp_cut_kind kind)
{
  static const char *const names[] = {"step_end", "sync", "read", "eager"};
  return names[kind];
}
