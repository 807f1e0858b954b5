/* The child writes its answer into a pipe: status, time, and the program or an error text.  What the plugin prints goes
 * into a temporary file, of which the end is shown if the child dies.
 */
#include "ahead.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "hlo/read.h"
#include "pjrt/client.h"

typedef struct {
  xp_status status;
  int64_t compile_ps;
  uint64_t bytes; /* of what follows: the program, or the error's text */
} answer_head;

/* ---- the child */

static bool write_all(int fd, const void *bytes, size_t count)
{
  const char *from = bytes;
  while (count > 0) {
    ssize_t written = write(fd, from, count);
    if (written <= 0 && errno != EINTR) {
      return false;
    }
    from += written > 0 ? written : 0;
    count -= written > 0 ? (size_t)written : 0;
  }
  return true;
}

static xp_status compile(const ahead_request *request, xp_pjrt_program *optimized, int64_t *compile_ps, xp_error *err)
{
  const xp_pjrt_plugin *plugin;
  xp_pjrt_topology *topology;
  xp_pjrt_executable *executable;
  xp_status status = xp_pjrt_plugin_load(request->plugin, &plugin, err);
  if (status == XP_OK) {
    status = xp_pjrt_topology_create(plugin, request->topology, NULL, 0, &topology, err);
  }
  if (status != XP_OK) {
    return status;
  }
  int64_t begin_ns = xp_monotonic_ns();
  const xp_pjrt_program program = {xp_str_c(request->format), request->program};
  status = xp_pjrt_topology_compile(topology, program, &executable, err);
  *compile_ps = (xp_monotonic_ns() - begin_ns) * 1000;
  return status == XP_OK ? xp_pjrt_executable_optimized(executable, optimized, err) : status;
}

static void answer(const ahead_request *request, int pipe_fd)
{
  xp_pjrt_program optimized = {0};
  xp_error err = {0};
  answer_head head = {0};
  head.status = compile(request, &optimized, &head.compile_ps, &err);
  xp_str bytes = head.status == XP_OK ? optimized.bytes : xp_str_c(err.text);
  head.bytes = bytes.len;
  bool is_written = write_all(pipe_fd, &head, sizeof head) && write_all(pipe_fd, bytes.ptr, bytes.len);
  _exit(is_written ? 0 : 1); /* without the plugin's own ending, which may hang or crash */
}

/* libtpu asks a metadata server of the cloud for its machine, many times, if it is not told otherwise; and it wants to
 * be the only one of the machine, which a program that has the TPU, or only a file that one left behind, would prevent.
 */
static void run_child(const ahead_request *request, int pipe_fd, FILE *said)
{
  setenv("TPU_SKIP_MDS_QUERY", "1", 0);
  setenv("ALLOW_MULTIPLE_LIBTPU_LOAD", "1", 0);
  dup2(fileno(said), STDOUT_FILENO);
  dup2(fileno(said), STDERR_FILENO);
  answer(request, pipe_fd);
}

/* ---- the parent */

static size_t read_all(int fd, void *bytes, size_t count)
{
  size_t done = 0;
  while (done < count) {
    ssize_t got = read(fd, (char *)bytes + done, count - done);
    if (got == 0 || (got < 0 && errno != EINTR)) {
      break;
    }
    done += got > 0 ? (size_t)got : 0;
  }
  return done;
}

/* The last line that the plugin printed, for a child that died. */
static void last_words(FILE *said, char *text, size_t room)
{
  char line[512];
  text[0] = '\0';
  rewind(said);
  while (fgets(line, sizeof line, said) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    bool is_fatal = line[0] == 'F' || strstr(line, "heck failed") != NULL; /* of an abort, before its stack */
    if (line[0] != '\0' && (is_fatal || text[0] != 'F')) {
      snprintf(text, room, "%s", line);
    }
    if (is_fatal) {
      return;
    }
  }
}

static xp_status fail_dead(const ahead_request *request, int wait_status, FILE *said, xp_error *err)
{
  char words[512];
  last_words(said, words, sizeof words);
  if (WIFSIGNALED(wait_status)) {
    return xp_fail(err, XP_ERR_PEER, "The compiler of %.200s crashed (%s)%s%.300s", request->plugin,
                   strsignal(WTERMSIG(wait_status)), words[0] != '\0' ? ". Its last words: " : "", words);
  }
  return xp_fail(err, XP_ERR_PEER, "The compiler of %.200s ended the process without an answer%s%.300s",
                 request->plugin, words[0] != '\0' ? ". Its last words: " : "", words);
}

static xp_status take_answer(int fd, xp_arena *arena, answer_head *head, xp_str *bytes, bool *is_whole, xp_error *err)
{
  *is_whole = read_all(fd, head, sizeof *head) == sizeof *head;
  if (!*is_whole) {
    return XP_OK;
  }
  char *room = xp_arena_alloc(arena, (size_t)head->bytes + 1);
  if (room == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "No memory for the compiled program");
  }
  *is_whole = read_all(fd, room, (size_t)head->bytes) == head->bytes;
  *bytes = xp_str_from(room, (size_t)head->bytes);
  return XP_OK;
}

static xp_status listen_to_child(const ahead_request *request, int fd, pid_t child, FILE *said, xp_arena *arena,
                                 xp_str *compiled, int64_t *compile_ps, xp_error *err)
{
  answer_head head = {0};
  xp_str bytes = {0};
  bool is_whole = false;
  int wait_status = 0;
  xp_status status = take_answer(fd, arena, &head, &bytes, &is_whole, err);
  if (status != XP_OK) {
    kill(child, SIGKILL);
  }
  while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {
  }
  if (status != XP_OK || !is_whole) {
    return status != XP_OK ? status : fail_dead(request, wait_status, said, err);
  }
  if (head.status != XP_OK) {
    return xp_fail(err, head.status, "%.*s", XP_STR_ARG(bytes));
  }
  *compile_ps = head.compile_ps;
  return xp_hlo_unwrap(bytes, compiled, err);
}

xp_status ahead_compile(const ahead_request *request, xp_arena *arena, xp_str *compiled, int64_t *compile_ps,
                        xp_error *err)
{
  int ends[2];
  FILE *said = tmpfile();
  if (said == NULL || pipe(ends) != 0) {
    return xp_fail(err, XP_ERR_IO, "Cannot start the compiler: %s", strerror(errno));
  }
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    run_child(request, ends[1], said);
  }
  close(ends[1]);
  xp_status status = child < 0 ? xp_fail(err, XP_ERR_IO, "Cannot start the compiler: %s", strerror(errno))
                               : listen_to_child(request, ends[0], child, said, arena, compiled, compile_ps, err);
  close(ends[0]);
  fclose(said);
  return status;
}
