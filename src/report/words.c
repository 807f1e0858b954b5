/* The words say what was seen and do not guess: "after a value read" states an order of events that the capture
 * shows. */
#include "report/words.h"

#include "report/text.h"

const char xp_annotate_words[] =
    "Annotate its steps and scopes, and capture again. torch_xla: xp.StepTrace and xp.Trace, with XLA_HLO_DEBUG=1 set "
    "before the program starts; C: XP_STEP and XP_TRACE, likewise; JAX: jax.named_scope inside of the compiled "
    "function.";

const char *xp_cause_words(xp_cause cause)
{
  static const char *const words[XP_CAUSE_COUNT] = {
      [XP_CAUSE_IN_PROGRAM] = "the device paused inside one of its own programs; the host had no part in it",
      [XP_CAUSE_COMPILE] = "a program was being compiled",
      [XP_CAUSE_VALUE_REQUEST] =
          "the host was fetching a value from the device (.item(), print, float(x) and the like)",
      [XP_CAUSE_WAIT] = "the host waited for a device or for a lock",
      [XP_CAUSE_UPLOAD] = "data was being sent from the host to the device",
      [XP_CAUSE_TRACING] = "the host was building or lowering the graph of the next program",
      [XP_CAUSE_INPUT] = "the host was getting input data",
      [XP_CAUSE_DISPATCH] = "the host was inside the call that starts a program",
      [XP_CAUSE_HOST] = "other code ran on the host",
      [XP_CAUSE_LAUNCH] = "the program was launched already; the device had not started it yet",
      [XP_CAUSE_UNKNOWN] = "the capture shows no event of the host for this time",
      [XP_CAUSE_PROFILER] = "the profiler itself was starting or stopping",
      [XP_CAUSE_SHORT] = "gaps that are too short to be looked at one by one",
  };
  return words[cause];
}

/* " in watermark"; for the cause unknown the scope says nothing of what happened. */
static xp_str where_words(xp_arena *arena, const xp_gap *gap)
{
  if (gap->scope.len == 0 || gap->cause == XP_CAUSE_UNKNOWN || gap->cause == XP_CAUSE_PROFILER) {
    return xp_str_c("");
  }
  xp_str scope = xp_text_fit(arena, xp_text_printable(arena, gap->scope), 60);
  return xp_arena_format(arena, " (in %.*s)", XP_STR_ARG(scope));
}

/* What made the host late; after the last work there is nothing that it could be late with. */
static xp_str late_words(xp_arena *arena, const xp_gap *gap)
{
  xp_str scope = xp_text_fit(arena, xp_text_printable(arena, gap->trigger_scope), 60);
  const char *open = scope.len > 0 ? " (in " : "", *close = scope.len > 0 ? ")" : "";
  if (gap->where == XP_WHERE_TAIL) {
    return xp_str_c("");
  }
  switch (gap->trigger) {
  case XP_TRIGGER_VALUE_REQUEST:
    return xp_arena_format(arena, "The host was late because it had first read a value back from the device%s%.*s%s.",
                           open, XP_STR_ARG(scope), close);
  case XP_TRIGGER_WAIT:
    return xp_arena_format(arena, "The host was late because it had first waited%s%.*s%s.", open, XP_STR_ARG(scope),
                           close);
  case XP_TRIGGER_COMPILE:
    return xp_str_c("The host was late because a program had to be compiled first.");
  default:
    return gap->tracing_bound
               ? xp_str_c("No read and no wait came before it: the graph building itself is the limit here.")
               : xp_str_c("");
  }
}

xp_str xp_gap_words(xp_arena *arena, const xp_gap *gap)
{
  const char *words = xp_cause_words(gap->cause);
  xp_str where = where_words(arena, gap), late = late_words(arena, gap);
  char capital = (char)(words[0] & ~0x20);
  if (gap->where == XP_WHERE_LEAD_IN && !gap->ranked) {
    return xp_str_c("Nothing shows why; the device may have been working on something launched before the session.");
  }
  return xp_arena_format(arena, "%c%s%.*s.%s%.*s", capital, words + 1, XP_STR_ARG(where), late.len > 0 ? " " : "",
                         XP_STR_ARG(late));
}

xp_str xp_trigger_words(xp_arena *arena, xp_trigger trigger, xp_str scope)
{
  static const char *const words[] = {"-", "read", "wait", "compile"};
  if (trigger == XP_TRIGGER_NONE || scope.len == 0) {
    return xp_str_c(words[trigger]);
  }
  scope = xp_text_printable(arena, scope);
  return xp_arena_format(arena, "%s in %.*s", words[trigger], XP_STR_ARG(scope));
}
