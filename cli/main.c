/* xlaprof: the program.  Finds the command, reads its options, runs it. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "suggest.h"
#include "terminal.h"

static bool is_help(const char *word)
{
  return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static bool asks_for_help(int count, char **words)
{
  for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
    if (is_help(words[i])) {
      return true;
    }
  }
  return false;
}

static int usage_error(const char *what, const char *word)
{
  const char *near = command_nearest(word);
  char text[512];
  snprintf(text, sizeof text, "%s \"%.200s\". %s%s%sxlaprof help lists the commands", what, word,
           near ? "Did you mean " : "", near ? near : "", near ? "? " : "");
  complain("", xp_str_c(text));
  return 2;
}

static int run_help(int count, char **words)
{
  if (count == 0 || is_help(words[0])) {
    print_help(stdout);
    return 0;
  }
  const command *c = command_find(words[0]);
  if (c == NULL) {
    return usage_error("There is no command", words[0]);
  }
  print_command_help(stdout, c);
  return 0;
}

static int run_command(const command *c, int count, char **words)
{
  xp_error err = {0};
  options o = {.command = (command_id)(c - commands)};
  if (asks_for_help(count, words)) {
    print_command_help(stdout, c);
    return 0;
  }
  if (!options_parse(&o, count, words, &err)) {
    complain("", xp_str_c(err.text));
    return 2;
  }
  return c->run(&o);
}

static bool exists(const char *path)
{
  struct stat s;
  return strcmp(path, "-") == 0 || stat(path, &s) == 0;
}

/* A word that is neither a command nor a path: which of the two was meant? */
static bool is_mistyped_command(int count, char **words)
{
  if (words[0][0] == '-' || exists(words[0])) {
    return false;
  }
  bool plain = strpbrk(words[0], "/.") == NULL;
  bool more = count > 1 && words[1][0] != '-';
  return plain && (more || command_nearest(words[0]) != NULL);
}

static int dispatch(int count, char **words)
{
  if (count == 0) {
    print_help(stderr);
    return 2;
  }
  if (strcmp(words[0], "--version") == 0) {
    printf("xlaprof %s\n", XP_VERSION);
    return 0;
  }
  if (strcmp(words[0], "help") == 0 || is_help(words[0])) {
    return run_help(count - 1, words + 1);
  }
  const command *c = command_find(words[0]);
  if (c != NULL) {
    return run_command(c, count - 1, words + 1);
  }
  if (is_mistyped_command(count, words)) {
    return usage_error("There is no command", words[0]);
  }
  return run_command(&commands[CMD_REPORT], count, words);
}

/* Whoever starts the program without one of the three streams must not find messages in the file that is opened next
 * under its number.  Writing to stdout fails as before. */
static void fill_missing_streams(void)
{
  for (int fd = 0; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0) {
      return;
    }
  }
}

int main(int argc, char **argv)
{
  fill_missing_streams();
  terminal_watch_files();
  return terminal_finish(dispatch(argc - 1, argv + 1));
}
