/* The files of a capture: opening them, and calling their hosts by names that differ.
 *
 * A file that cannot be opened or read is a host with a problem; it does not stop the others.
 */
#include "xspace/find.h"
#include "xspace/load.h"

enum { LISTED_NAMES = 8 };

void xp_host_problem(xp_host_draft *draft, xp_file_status status, xp_status error, xp_str text)
{
  if (draft->host->status == XP_FILE_OK) {
    draft->host->status = status;
    draft->host->problem = text;
    draft->error = error;
  }
}

static xp_str without_suffix(xp_str s, const char *suffix)
{
  return xp_str_ends(s, suffix) ? xp_str_take(s, s.len - strlen(suffix)) : s;
}

void xp_host_name_from_path(xp_host_draft *draft)
{
  xp_str path = draft->host->path;
  size_t slash = xp_str_rfind(path, '/');
  xp_str name = slash < path.len ? xp_str_skip(path, slash + 1) : path;
  name = xp_str_is(name, "-") ? xp_str_c("stdin") : name;
  draft->file_name = name;
  name = without_suffix(without_suffix(name, ".gz"), ".zst");
  draft->host->name = without_suffix(without_suffix(name, ".pb"), ".xplane");
}

/* "a, b, c and 4 more" */
static xp_str append_name(xp_arena *arena, xp_str list, xp_str name, size_t i, size_t count)
{
  if (i == LISTED_NAMES) {
    return xp_arena_format(arena, "%.*s and %zu more", XP_STR_ARG(list), count - i);
  }
  return i > LISTED_NAMES ? list
                          : xp_arena_format(arena, "%.*s%s%.*s", XP_STR_ARG(list), i > 0 ? ", " : "", XP_STR_ARG(name));
}

static xp_status choose_run(xp_loader *loader, const xp_run_list *list, const xp_run **run, xp_error *err)
{
  xp_str names = {0};
  *run = &list->runs[0];
  if (loader->options.run == NULL) {
    return XP_OK;
  }
  for (size_t i = 0; i < list->run_count; i++) {
    if (xp_str_is(list->runs[i].name, loader->options.run)) {
      *run = &list->runs[i];
      return XP_OK;
    }
    names = append_name(loader->capture.arena, names, list->runs[i].name, i, list->run_count);
  }
  return xp_fail(err, XP_ERR_NOT_FOUND, "there is no run \"%s\"; the runs are: %.*s", loader->options.run,
                 XP_STR_ARG(names));
}

static xp_str run_name(const xp_run *run, const char *path)
{
  bool is_file = run->file_count == 1 && xp_str_is(run->files[0], path);
  return is_file ? xp_str_from("", 0) : run->name;
}

static void open_file(xp_loader *loader, xp_host_draft *draft, xp_str path)
{
  xp_host *host = draft->host;
  xp_error why = {.status = XP_OK};
  host->path = xp_arena_copy(loader->capture.arena, path);
  xp_status status = xp_file_open(host->path.ptr, &host->file, &why);
  host->bytes = host->file.disk_bytes;
  xp_host_name_from_path(draft);
  if (why.status == XP_OK) {
    return;
  }
  xp_str text = xp_arena_copy(loader->capture.arena, xp_str_c(why.text));
  if (xp_str_starts(text, host->path.ptr) && xp_str_starts(xp_str_skip(text, path.len), ": ")) {
    text = xp_str_skip(text, path.len + 2); /* the path is told beside the problem */
  }
  xp_file_status kind = status != XP_OK                  ? XP_FILE_UNREADABLE
                        : why.status == XP_ERR_TRUNCATED ? XP_FILE_TRUNCATED
                                                         : XP_FILE_DAMAGED;
  xp_host_problem(draft, kind, why.status, text);
}

/* What the search left out, in sentences. */
static void note_search(xp_loader *loader, const xp_run_list *list, const xp_run *run)
{
  xp_capture *capture = &loader->capture;
  capture->notes = xp_arena_array(capture->arena, run->copy_count + 1, sizeof *capture->notes);
  for (size_t i = 0; i < run->copy_count; i++) {
    capture->notes[capture->note_count++] = xp_arena_format(
        capture->arena, "%.*s was left out: by its name a packed copy of a file beside it, which was read",
        XP_STR_ARG(run->copies[i]));
  }
  if (list->skipped > 0) {
    capture->notes[capture->note_count++] = xp_arena_format(
        capture->arena, "the search for captures could not look at %zu %s: %.*s%s", list->skipped,
        list->skipped == 1 ? "entry" : "entries", XP_STR_ARG(list->first_skipped), list->skipped > 1 ? ", .." : "");
  }
}

xp_status xp_hosts_open(xp_loader *loader, const char *path, xp_error *err)
{
  xp_capture *capture = &loader->capture;
  xp_run_list list;
  xp_str only = xp_str_c(path);
  xp_run one = {.files = &only, .file_count = 1};
  const xp_run *run = &one;
  if (strcmp(path, "-") != 0) {
    xp_status status = xp_find_runs(path, capture->arena, &list, err);
    status = status == XP_OK ? choose_run(loader, &list, &run, err) : status;
    if (status != XP_OK) {
      return status;
    }
    note_search(loader, &list, run);
  }
  capture->run = run_name(run, path);
  capture->hosts = xp_arena_array(capture->arena, run->file_count, sizeof *capture->hosts);
  loader->hosts = xp_arena_array(capture->arena, run->file_count, sizeof *loader->hosts);
  for (size_t i = 0; i < run->file_count; i++) {
    xp_host *host = &capture->hosts[i];
    host->capture = capture;
    host->index = (uint32_t)i;
    loader->hosts[i].host = host;
    capture->host_count++;
    open_file(loader, &loader->hosts[i], run->files[i]);
  }
  return XP_OK;
}

void xp_hosts_name(xp_loader *loader)
{
  xp_capture *capture = &loader->capture;
  bool *repeats = xp_arena_array(capture->arena, capture->host_count, sizeof *repeats);
  xp_intern names;
  xp_intern_init(&names, capture->arena);
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < capture->host_count; i++) {
      xp_host *host = &capture->hosts[i];
      if (pass == 0) {
        size_t before = names.count;
        uint32_t first = xp_intern_add(&names, host->name);
        repeats[i] = names.count == before;
        for (size_t k = 0; repeats[i] && k < i; k++) {
          repeats[k] |= xp_str_eq(capture->hosts[k].name, names.strings[first]);
        }
      } else if (repeats[i]) {
        host->name = xp_arena_format(capture->arena, "%.*s (%.*s)", XP_STR_ARG(host->name),
                                     XP_STR_ARG(loader->hosts[i].file_name));
      }
    }
  }
}

xp_status xp_hosts_select(xp_loader *loader, xp_error *err)
{
  xp_capture *capture = &loader->capture;
  const char *wanted = loader->options.host;
  if (wanted == NULL) {
    return XP_OK;
  }
  xp_str names = {0};
  for (size_t i = 0; i < capture->host_count; i++) {
    xp_host_draft *draft = &loader->hosts[i];
    xp_str name = draft->host->name;
    if (xp_str_is(name, wanted) || xp_str_is(draft->file_name, wanted)) {
      for (size_t k = 0; k < capture->host_count; k++) {
        loader->hosts[k].left_out = k != i;
      }
      return XP_OK;
    }
    names = append_name(capture->arena, names, name, i, capture->host_count);
  }
  return xp_fail(err, XP_ERR_NOT_FOUND, "there is no host \"%s\"; the hosts are: %.*s", wanted, XP_STR_ARG(names));
}
