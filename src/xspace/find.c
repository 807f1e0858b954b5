/* Finding captures below a directory by their file names.
 *
 * Directories are visited breadth first from a list; each is entered once (device and inode), so symbolic links may
 * form cycles.  The escape of the arena is set aside meanwhile, because an open directory must be closed.
 */
#define _GNU_SOURCE
#include "xspace/find.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

typedef struct {
  dev_t device;
  ino_t inode;
} identity;

typedef struct {
  xp_arena *arena;
  xp_str *directories; /* found so far, in the order in which they are entered */
  size_t directory_count, directory_room, next;
  identity *seen;
  size_t seen_count, seen_room;
  xp_run_list *list;
  size_t run_room;
  bool out_of_memory;
} search;

static bool is_capture_name(xp_str name)
{
  return xp_str_ends(name, ".xplane.pb") || xp_str_ends(name, ".xplane.pb.gz") || xp_str_ends(name, ".xplane.pb.zst");
}

static bool note_memory(search *s, const void *pointer)
{
  s->out_of_memory |= pointer == NULL;
  return pointer != NULL;
}

/* Notes something that might have been a capture. */
static void skip(search *s, xp_str path, const char *why)
{
  enum { SHOWN = 200 };
  if (s->list->skipped++ == 0) {
    xp_str cut = xp_str_take(path, SHOWN);
    s->list->first_skipped =
        xp_arena_format(s->arena, "%.*s%s: %s", XP_STR_ARG(cut), cut.len < path.len ? ".." : "", why);
    note_memory(s, s->list->first_skipped.ptr);
  }
}

static xp_str last_component(xp_str path)
{
  while (path.len > 1 && path.ptr[path.len - 1] == '/') {
    path.len--;
  }
  size_t slash = xp_str_rfind(path, '/');
  return slash + 1 < path.len ? xp_str_skip(path, slash + 1) : path;
}

static bool is_seen(search *s, const struct stat *st)
{
  for (size_t i = 0; i < s->seen_count; i++) {
    if (s->seen[i].device == st->st_dev && s->seen[i].inode == st->st_ino) {
      return true;
    }
  }
  identity *seen = xp_arena_grow(s->arena, s->seen, s->seen_count, &s->seen_room, sizeof *seen);
  if (note_memory(s, seen)) {
    s->seen = seen;
    seen[s->seen_count++] = (identity){st->st_dev, st->st_ino};
  }
  return false;
}

static void add_directory(search *s, xp_str path)
{
  xp_str *list = xp_arena_grow(s->arena, s->directories, s->directory_count, &s->directory_room, sizeof *list);
  if (note_memory(s, list)) {
    s->directories = list;
    list[s->directory_count++] = path;
  }
}

static xp_run *add_run(search *s, xp_str path)
{
  xp_run *runs = xp_arena_grow(s->arena, s->list->runs, s->list->run_count, &s->run_room, sizeof *runs);
  if (!note_memory(s, runs)) {
    return NULL;
  }
  s->list->runs = runs;
  xp_run *run = &runs[s->list->run_count++];
  *run = (xp_run){.path = path, .name = last_component(path)};
  return run;
}

static void add_file(search *s, xp_run *run, size_t *room, xp_str path, const struct stat *st)
{
  xp_str *files = xp_arena_grow(s->arena, run->files, run->file_count, room, sizeof *files);
  if (note_memory(s, files)) {
    run->files = files;
    files[run->file_count++] = path;
    run->time = (int64_t)st->st_mtime > run->time ? (int64_t)st->st_mtime : run->time;
  }
}

static xp_str without_packing(xp_str path)
{
  size_t ending = xp_str_ends(path, ".gz") ? 3 : xp_str_ends(path, ".zst") ? 4 : 0;
  return xp_str_take(path, path.len - ending);
}

/* Copies of one file lie together, the unpacked one first. */
static int by_name(const void *a, const void *b)
{
  xp_str x = *(const xp_str *)a, y = *(const xp_str *)b;
  int order = xp_str_cmp(without_packing(x), without_packing(y));
  return order != 0 ? order : xp_str_cmp(x, y);
}

/* The same capture twice would be two hosts, and every number doubled. */
static void set_copies_aside(search *s, xp_run *run)
{
  size_t kept = 1, room = 0;
  for (size_t i = 1; i < run->file_count; i++) {
    xp_str path = run->files[i];
    if (!xp_str_eq(without_packing(path), without_packing(run->files[kept - 1]))) {
      run->files[kept++] = path;
      continue;
    }
    xp_str *copies = xp_arena_grow(s->arena, run->copies, run->copy_count, &room, sizeof *copies);
    if (!note_memory(s, copies)) {
      return;
    }
    run->copies = copies;
    copies[run->copy_count++] = path;
  }
  run->file_count = kept;
}

static void read_entries(search *s, DIR *dir, xp_str path)
{
  xp_run *run = NULL;
  size_t room = 0;
  for (struct dirent *e; !s->out_of_memory && (e = readdir(dir)) != NULL;) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
      continue;
    }
    const char *slash = path.ptr[path.len - 1] == '/' ? "" : "/";
    xp_str child = xp_arena_format(s->arena, "%s%s%s", path.ptr, slash, e->d_name);
    struct stat st;
    if (!note_memory(s, child.ptr)) {
      continue;
    }
    if (stat(child.ptr, &st) != 0) {
      if (errno != ENOENT || is_capture_name(child)) { /* else a link to nothing */
        skip(s, child, strerror(errno));
      }
    } else if (S_ISDIR(st.st_mode)) {
      add_directory(s, child);
    } else if (is_capture_name(child) && !S_ISREG(st.st_mode)) {
      skip(s, child, "not a plain file; to read it, give it as PATH");
    } else if (is_capture_name(child)) {
      run = run == NULL ? add_run(s, path) : run;
      if (run != NULL) {
        add_file(s, run, &room, child, &st);
      }
    }
  }
  if (run != NULL && run->file_count > 0) {
    qsort(run->files, run->file_count, sizeof *run->files, by_name);
    set_copies_aside(s, run);
  }
}

static void visit(search *s, xp_str path)
{
  struct stat st;
  if (stat(path.ptr, &st) == 0 && is_seen(s, &st)) {
    return;
  }
  DIR *dir = opendir(path.ptr);
  if (dir == NULL) {
    skip(s, path, strerror(errno));
    return;
  }
  read_entries(s, dir, path);
  closedir(dir);
}

/* "2026_07_23_10_26_06" */
static bool is_time_name(xp_str name)
{
  static const char shape[] = "0000_00_00_00_00_00";
  if (name.len != sizeof shape - 1) {
    return false;
  }
  for (size_t i = 0; i < name.len; i++) {
    bool is_digit = name.ptr[i] >= '0' && name.ptr[i] <= '9';
    if (shape[i] == '0' ? !is_digit : name.ptr[i] != '_') {
      return false;
    }
  }
  return true;
}

/* Newest first. */
static int by_age(const void *a, const void *b)
{
  const xp_run *x = a, *y = b;
  int order = 0;
  if (is_time_name(x->name) && is_time_name(y->name)) {
    order = xp_str_cmp(y->name, x->name);
  }
  if (order == 0) {
    order = (x->time < y->time) - (x->time > y->time);
  }
  return order != 0 ? order : xp_str_cmp(x->path, y->path);
}

static void find(search *s, const char *path, const struct stat *st)
{
  xp_str copy = xp_arena_copy(s->arena, xp_str_c(path));
  if (!note_memory(s, copy.ptr)) {
    return;
  }
  if (!S_ISDIR(st->st_mode)) {
    size_t slash = xp_str_rfind(copy, '/');
    xp_str directory = slash == copy.len ? xp_str_c(".") : slash == 0 ? xp_str_c("/") : xp_str_take(copy, slash);
    size_t room = 0;
    xp_run *run = add_run(s, directory);
    if (run != NULL) {
      add_file(s, run, &room, copy, st);
    }
    return;
  }
  add_directory(s, copy);
  while (s->next < s->directory_count && !s->out_of_memory) {
    visit(s, s->directories[s->next++]);
  }
  if (s->list->run_count > 0) {
    qsort(s->list->runs, s->list->run_count, sizeof *s->list->runs, by_age);
  }
}

xp_status xp_find_runs(const char *path, xp_arena *arena, xp_run_list *list, xp_error *err)
{
  memset(list, 0, sizeof *list);
  struct stat st;
  if (path[0] == '\0') {
    return xp_fail(err, XP_ERR_USAGE, "the path is empty");
  }
  if (stat(path, &st) != 0) {
    xp_status status = errno == ENOENT || errno == ENOTDIR ? XP_ERR_NOT_FOUND : XP_ERR_IO;
    return xp_fail(err, status, "%s: %s; name a capture (*.xplane.pb) or a directory above one", path, strerror(errno));
  }
  search s = {.arena = arena, .list = list};
  jmp_buf *escape = xp_arena_set_escape(arena, NULL);
  find(&s, path, &st);
  xp_arena_set_escape(arena, escape);
  if (s.out_of_memory) {
    return xp_fail(err, XP_ERR_MEMORY, "%s: out of memory while searching it", path);
  }
  if (list->run_count == 0) {
    char skipped[512] = "";
    if (list->skipped > 0) {
      snprintf(skipped, sizeof skipped, " (%zu could not be looked at: %.*s%s)", list->skipped,
               XP_STR_ARG(list->first_skipped), list->skipped > 1 ? ", .." : "");
    }
    return xp_fail(
        err, XP_ERR_EMPTY,
        "%s: no file *.xplane.pb in %zu director%s below it%s; give a capture, or a log directory that the profiler "
        "has written to",
        path, s.next, s.next == 1 ? "y" : "ies", skipped);
  }
  return XP_OK;
}
