/* From the words of the command line to the structure: each option writes one field of it (options_table.h). */
#include "options.h"

#include "options_table.h"
#include "suggest.h"

bool options_fail(xp_error *err, const char *what, const char *word, const char *hint)
{
  xp_fail(err, XP_ERR_USAGE, "%s \"%.100s\". %s", what, word, hint);
  return false;
}

/* The option that a word names, "--from" or "--from=1ms"; *value is what follows "=", else NULL.  Of two with one name
 * that of the command. */
static const option_row *find_option(const options *o, const char *word, const char **value)
{
  const option_row *other = NULL;
  size_t length = strcspn(word, "=");
  *value = word[length] == '=' ? word + length + 1 : NULL;
  for (size_t i = 0; i < option_row_count; i++) {
    bool is_family = option_rows[i].kind == KIND_TPU && strncmp(word, "--tpu-", 6) == 0 && length > 6;
    if (is_family ||
        (strlen(option_rows[i].shown.name) == length && strncmp(word, option_rows[i].shown.name, length) == 0)) {
      if (option_rows[i].shown.commands & (1u << o->command)) {
        return &option_rows[i];
      }
      other = &option_rows[i];
    }
  }
  return other;
}

static bool unknown_option(const options *o, const char *word, xp_error *err)
{
  const char *best = NULL;
  size_t length = strcspn(word, "="), distance = 3;
  for (size_t i = 0; i < option_row_count; i++) {
    if (!(option_rows[i].shown.commands & (1u << o->command))) {
      continue;
    }
    size_t d = edit_distance(word, length, option_rows[i].shown.name);
    if (d < distance) {
      distance = d;
      best = option_rows[i].shown.name;
    }
  }
  char hint[160];
  snprintf(hint, sizeof hint, "%s%s%sxlaprof help %s lists the options", best ? "Did you mean " : "", best ? best : "",
           best ? "? " : "", command_name(o->command));
  return options_fail(err, "There is no option", word, hint);
}

/* An option that another command takes: says which. */
static bool wrong_command(const options *o, const option_row *opt, xp_error *err)
{
  char names[160] = "";
  size_t length = 0, left = (size_t)__builtin_popcount(opt->shown.commands);
  if (strcmp(opt->shown.name, "--csv") == 0 && o->command == CMD_REPORT) {
    return options_fail(
        err, "This command has no option", opt->shown.name,
        "The report is no single table: use gaps, steps, ops, names or counters with --csv, or report --json");
  }
  for (int id = 0; id < CMD_COUNT; id++) {
    if (opt->shown.commands & (1u << id)) {
      left--;
      length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", command_name((command_id)id),
                                 left > 1    ? ", "
                                 : left == 1 ? " and "
                                             : "");
    }
  }
  const char *command = command_name(o->command);
  xp_fail(err, XP_ERR_USAGE, "%s acts on %s, not on %s. xlaprof help %s lists the options that do", opt->shown.name,
          names, command, command);
  return false;
}

/* Reads the option in words[*i] with its argument, which may be the next word. */
static bool read_option(options *o, int count, char **words, int *i, xp_error *err)
{
  const char *value;
  const option_row *opt = find_option(o, words[*i], &value);
  const char *word = words[*i];
  char hint[160];
  if (opt == NULL) {
    return unknown_option(o, words[*i], err);
  }
  if (!(opt->shown.commands & (1u << o->command))) {
    return wrong_command(o, opt, err);
  }
  snprintf(hint, sizeof hint, "xlaprof help %s lists its options", command_name(o->command));
  if (opt->kind == KIND_SWITCH && value != NULL) {
    return options_fail(err, "No value belongs behind the option", opt->shown.name, hint);
  }
  if (opt->kind != KIND_SWITCH && value == NULL) {
    if (*i + 1 >= count) {
      return options_fail(err, "A value is missing behind the option", opt->shown.name, hint);
    }
    value = words[++*i];
  }
  return options_set(o, opt, word, value, err);
}

bool options_parse(options *o, int count, char **words, xp_error *err)
{
  bool only_paths = false;
  for (int i = 0; i < count; i++) {
    const char *word = words[i];
    if (!only_paths && strcmp(word, "--") == 0) {
      only_paths = true;
    } else if (!only_paths && word[0] == '-' && word[1] != '\0') {
      if (!read_option(o, count, words, &i, err)) {
        return false;
      }
    } else if (o->path == NULL) {
      o->path = word;
    } else if (o->command == CMD_CAPTURE) {
      if (o->logdir != NULL) {
        return options_fail(err, "There is a third word:", word, "Write several programs as HOST:PORT,HOST:PORT");
      }
      o->logdir = word;
    } else if (o->command == CMD_DEMO) {
      return options_fail(err, "One demonstration runs at a time, and there is a second word:", word,
                          "Write xlaprof demo lab, demo sd21 or demo sdxl");
    } else {
      return options_fail(err, "One capture is read at a time, and there is a second:", word,
                          "To read several hosts together, name the directory that holds them");
    }
  }
  return options_check(o, err);
}
