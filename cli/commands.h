/* The commands: one table, from which main dispatches and help is written. */
#ifndef XLAPROF_COMMANDS_H
#define XLAPROF_COMMANDS_H

#include "options.h"

typedef struct {
  const char *name;
  const char *operands; /* "PATH" */
  const char *summary;  /* one line */
  const char *detail;   /* a paragraph for `help NAME` */
  const char *example;
  int (*run)(const options *o); /* returns the exit status */
} command;

extern const command commands[CMD_COUNT];

/* The command with a name, NULL if there is none. */
const command *command_find(const char *name);

/* The name that comes closest to a word; NULL if none is near. */
const char *command_nearest(const char *word);

int run_reading(const options *o); /* report, info, steps, gaps, ops, names */
int run_counters(const options *o);
int run_events(const options *o);
int run_view(const options *o);
int run_capture(const options *o);
int run_aot(const options *o);
int run_check(const options *o);
int run_demo(const options *o);

/* Says what went wrong; returns its exit status. */
int say(const xp_error *err);

/* Exit status of an error. */
int exit_status(xp_status status);

/* Loads the capture that the options name.  On an error says so, sets *status and returns NULL. */
xp_capture *load_capture(const options *o, bool no_events, int *status);

/* Says what of a capture could not be read; returns 5 instead of 0 if something is missing. */
int finish_capture(const xp_capture *capture, int status);

/* General help, or that of one command. */
void print_help(FILE *out);
void print_command_help(FILE *out, const command *c);

#endif
