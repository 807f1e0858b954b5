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
        "Exit status: 0 done, 1 a check failed, 2 wrong usage, 3 input that cannot be\n"
        "used, 4 no connection, 5 the input was read in part; capture has more.\n",
        out);
}

/* "--from TIME", and its length. */
static int option_name(const option_help *option, char name[64])
{
  return snprintf(name, 64, "%s%s%s", option->name, option->argument ? " " : "",
                  option->argument ? option->argument : "");
}

static void print_options(FILE *out, unsigned command_bit)
{
  char name[64];
  const option_help *option;
  int width = 18;
  for (size_t i = 0; (option = option_at(i)) != NULL; i++) {
    int length = option->commands & command_bit ? option_name(option, name) : 0;
    width = length > width ? length : width;
  }
  for (size_t i = 0; (option = option_at(i)) != NULL; i++) {
    if (option->commands & command_bit) {
      option_name(option, name);
      fprintf(out, "  %-*s %s\n", width, name, option->help);
    }
  }
}

void print_command_help(FILE *out, const command *c)
{
  fprintf(out, "xlaprof %s %s [OPTION..]\n\n", c->name, c->operands);
  xp_text_wrap(out, xp_str_c(c->detail), "", "", HELP_WIDTH);
  fputs("\nOptions\n", out);
  print_options(out, 1u << (c - commands));
  fprintf(out, "\nExample\n  %s\n", c->example);
}
