/* Help comes from the tables of commands and options, so it cannot fall behind them. */
#include "commands.h"
#include "report/text.h"

enum { HELP_WIDTH = 80 };

void print_help(FILE *out)
{
  fputs("xlaprof says why an accelerator waited: it reads profiler captures (*.xplane.pb)\n"
        "of JAX, torch_xla and TensorFlow.\n\n"
        "  xlaprof PATH             the report of a capture\n"
        "  xlaprof COMMAND PATH     one part of it\n"
        "  xlaprof capture HOST:PORT LOGDIR\n"
        "                           capture a running program\n\n"
        "PATH is a capture, a directory that holds captures at any depth (the newest run\n"
        "is read), or - for standard input.\n\nCommands\n",
        out);
  for (size_t i = 0; i < CMD_COUNT; i++) {
    fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
  }
  fputs("\nxlaprof help COMMAND lists the options of a command. xlaprof --version\n\n"
        "Exit status: 0 done, 2 wrong usage, 3 input that cannot be used, 4 no connection,\n"
        "5 the input was read in part; capture has more.\n",
        out);
}

static void print_option(FILE *out, const option_help *option)
{
  char name[64];
  snprintf(name, sizeof name, "%s%s%s", option->name, option->argument ? " " : "",
           option->argument ? option->argument : "");
  fprintf(out, "  %-18s %s\n", name, option->help);
}

void print_command_help(FILE *out, const command *c)
{
  unsigned bit = 1u << (c - commands);
  const option_help *option;
  fprintf(out, "xlaprof %s %s [OPTION..]\n\n", c->name, c->operands);
  xp_text_wrap(out, xp_str_c(c->detail), "", "", HELP_WIDTH);
  fputs("\nOptions\n", out);
  for (size_t i = 0; (option = option_at(i)) != NULL; i++) {
    if (option->commands & bit) {
      print_option(out, option);
    }
  }
  fprintf(out, "\nExample\n  %s\n", c->example);
}
