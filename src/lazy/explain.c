/* The blocks of the analysis: every line has the same prefix, so that they can be found among other output. */
#include "lazy/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lazy/variables.h"

enum { NAME_MAX_SHOWN = 200 };

#define RULE "================================================================================"
#define LINE "--------------------------------------------------------------------------------"

static void print(FILE *out, const char *kind, const xl_explanation *why)
{
  const char *p = kind;
  fprintf(out, "\n%s Analysis: " RULE "\n%s Analysis: %s Cause\n%s Analysis:   %s\n", p, p, p, p, why->cause);
  fprintf(out, "%s Analysis: Graph Info: \n", p);
  if (why->graph_name != NULL) {
    fprintf(out, "%s Analysis:   Graph Name: %s\n", p, why->graph_name);
  }
  fprintf(out, "%s Analysis:   Graph Hash: %s\n", p, why->hash);
  fprintf(out, "%s Analysis:   Number of Graph Inputs: %zu\n", p, why->inputs);
  fprintf(out, "%s Analysis:   Number of Graph Outputs: %zu\n", p, why->outputs);
  if (why->step != NULL) {
    const int len = why->step->len < NAME_MAX_SHOWN ? (int)why->step->len : NAME_MAX_SHOWN;
    fprintf(out, "%s Analysis:   Step: %.*s %" PRId64 "\n", p, len, why->step->name, why->step->number);
  }
  if (why->place != NULL && why->place->file != NULL) {
    const char *function = why->place->function != NULL ? why->place->function : "";
    fprintf(out, "%s Analysis: Frame Triggered Execution: \n", p);
    fprintf(out, "%s Analysis:   %s (%s:%d)\n", p, function, why->place->file, why->place->line);
  }
  fprintf(out, "%s Analysis: " LINE "\n%s Analysis: " RULE "\n", p, p);
}

/* The file could be opened when the device was (lazy/variables.c); if it can't be any more, that is told. */
static void explain(const char *kind, const xl_explanation *why)
{
  const char *path = getenv("XL_DEBUG_FILE");
  const bool is_asked = path != NULL && *path != '\0';
  FILE *file = is_asked ? fopen(path, "a") : NULL;
  if (is_asked && file == NULL) {
    fprintf(stderr, "\n%s Analysis: XL_DEBUG_FILE, %s, can't be opened: %m\n", kind, path);
  }
  print(file != NULL ? file : stderr, kind, why);
  if (file != NULL) {
    fclose(file);
  }
}

int xl_explain_level(void)
{
  return (int)xl_variable_number("XL_DEBUG", 0);
}

void xl_explain_compile(const xl_explanation *why)
{
  explain("Compilation", why);
}

void xl_explain_execute(const xl_explanation *why)
{
  explain("Execution", why);
}
