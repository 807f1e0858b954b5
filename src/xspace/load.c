/* Loading a capture: the phases of load.h in turn.
 *
 * The loader is the first thing in the arena of the capture and begins with the xp_capture that the caller gets, so
 * that one pointer leads to everything that has to be given back.  Memory running out unwinds to `load`, which frees
 * it.
 */
#include "base/thread.h"
#include "xspace/load.h"

enum { LARGE_FILE = 16 << 20 };

/* ---- running a phase */

typedef struct {
  xp_loader *loader;
  xp_phase phase;
  xp_arena *arena;
  size_t item;
} phase_call;

static void call_phase(void *context)
{
  const phase_call *c = context;
  c->phase(c->loader, c->item, c->arena);
}

static void run_item(void *context, size_t item, int worker)
{
  phase_call call = *(phase_call *)context;
  call.arena = call.loader->worker_arenas[worker];
  call.item = item;
  if (!atomic_load_explicit(&call.loader->failed, memory_order_relaxed) &&
      !xp_arena_guard(call.arena, call_phase, &call)) {
    atomic_store(&call.loader->failed, true);
  }
  if (worker == 0) {
    xp_loader_progress(call.loader, 0, true);
  }
}

/* Memory is out: unwinds to whoever guards the arena of the capture. */
static void give_up(xp_loader *loader)
{
  xp_arena_array(loader->capture.arena, SIZE_MAX, 2);
}

void xp_loader_run(xp_loader *loader, size_t count, xp_phase phase)
{
  phase_call call = {.loader = loader, .phase = phase};
  xp_parallel(count, loader->threads, run_item, &call);
  if (atomic_load(&loader->failed)) {
    give_up(loader);
  }
}

void xp_loader_progress(xp_loader *loader, uint64_t bytes, bool is_first_worker)
{
  uint64_t done = atomic_fetch_add_explicit(&loader->bytes_done, bytes, memory_order_relaxed) + bytes;
  const xp_progress *progress = loader->options.progress;
  if (is_first_worker && progress != NULL && progress->report != NULL &&
      done - loader->bytes_told > loader->bytes_total / 200) {
    loader->bytes_told = done;
    progress->report(progress->context, "reading", done, loader->bytes_total);
  }
}

static void make_workers(xp_loader *loader)
{
  int threads = loader->options.threads > 0 ? loader->options.threads : xp_cpu_count();
  loader->threads = threads < XP_MOST_WORKERS ? threads : XP_MOST_WORKERS;
  for (int i = 0; i < loader->threads; i++) {
    loader->worker_arenas[i] = xp_arena_create();
    if (loader->worker_arenas[i] == NULL) {
      give_up(loader);
    }
  }
}

/* ---- after the phases */

static void collect_planes(xp_loader *loader)
{
  size_t count = 0;
  for (size_t i = 0; i < loader->capture.host_count; i++) {
    count += loader->hosts[i].left_out ? 0 : loader->hosts[i].draft_count;
  }
  loader->planes = xp_arena_array(loader->capture.arena, count, sizeof(xp_plane_draft *));
  for (size_t i = 0; i < loader->capture.host_count; i++) {
    for (size_t k = 0; !loader->hosts[i].left_out && k < loader->hosts[i].draft_count; k++) {
      loader->planes[loader->plane_count++] = &loader->hosts[i].drafts[k];
    }
  }
}

static void tell_damaged_plane(xp_loader *loader, xp_host_draft *host, const xp_plane_draft *draft)
{
  size_t at = (size_t)((const char *)draft->damage.pos - host->host->file.bytes.ptr);
  const char *what =
      draft->damage.why == XP_WIRE_TRUNCATED ? "reaches beyond the record that holds it" : "makes no sense";
  xp_str name = xp_str_take(draft->plane.name, 80);
  xp_host_problem(host, XP_FILE_DAMAGED, XP_ERR_FORMAT,
                  xp_arena_format(loader->capture.arena,
                                  "damaged: the record at byte %zu %s; plane %u (\"%.*s\") was left out", at, what,
                                  draft->plane.index, XP_STR_ARG(name)));
}

/* The planes without damage become the planes of the host. */
static void keep_good_planes(xp_loader *loader, xp_host_draft *draft)
{
  xp_host *host = draft->host;
  size_t bad = 0;
  host->planes = xp_arena_array(loader->capture.arena, draft->draft_count, sizeof *host->planes);
  for (size_t i = 0; !draft->left_out && i < draft->draft_count; i++) {
    if (draft->drafts[i].damage.pos != NULL) {
      tell_damaged_plane(loader, draft, &draft->drafts[i]);
      bad++;
      continue;
    }
    xp_plane *plane = &host->planes[host->plane_count];
    *plane = draft->drafts[i].plane;
    plane->index = (uint32_t)host->plane_count++;
    for (size_t k = 0; k < plane->line_count; k++) {
      plane->lines[k].plane = plane;
      loader->capture.events += plane->lines[k].count;
    }
  }
  if (bad > 1) {
    host->problem =
        xp_arena_format(loader->capture.arena, "%.*s; %zu planes were left out in all", XP_STR_ARG(host->problem), bad);
  }
  loader->capture.partial |= host->status != XP_FILE_OK;
}

/* Leaves only the chosen host. */
static void drop_other_hosts(xp_loader *loader)
{
  xp_capture *capture = &loader->capture;
  for (size_t i = 0; i < capture->host_count; i++) {
    if (loader->hosts[i].left_out) {
      xp_file_close(&capture->hosts[i].file);
    }
  }
  for (size_t i = 0; i < capture->host_count; i++) {
    if (!loader->hosts[i].left_out && loader->options.host != NULL) {
      capture->hosts = &capture->hosts[i];
      loader->hosts = &loader->hosts[i];
      capture->host_count = 1;
      capture->hosts->index = 0;
    }
  }
}

/* Pages of large files leave this process: the columns are filled, and stats are read from the page cache when needed.
 */
static void forget_files(const xp_loader *loader)
{
  for (size_t i = 0; !loader->options.no_events && i < loader->capture.host_count; i++) {
    const xp_file *file = &loader->capture.hosts[i].file;
    if (file->bytes.len > LARGE_FILE) {
      xp_file_forget(file, file->bytes.ptr, file->bytes.len);
    }
  }
}

static xp_status read_planes(xp_loader *loader, xp_error *err)
{
  make_workers(loader);
  collect_planes(loader);
  xp_loader_run(loader, loader->plane_count, xp_plane_load);
  xp_segments_plan(loader);
  xp_loader_run(loader, loader->batch_count, xp_segments_scan);
  xp_segments_join(loader);
  xp_session_find(loader);
  xp_status status = xp_session_check(loader, err);
  if (status != XP_OK) {
    return status;
  }
  if (!loader->options.no_events) {
    xp_columns_allocate(loader);
    xp_loader_run(loader, loader->batch_count, xp_segments_decode);
  }
  xp_loader_run(loader, loader->plane_count, xp_plane_finish);
  for (size_t i = 0; i < loader->capture.host_count; i++) {
    keep_good_planes(loader, &loader->hosts[i]);
  }
  xp_session_extent(loader);
  forget_files(loader);
  return XP_OK;
}

/* XP_OK if some host could be read, at least in part. */
static xp_status check_something_read(const xp_loader *loader, xp_error *err)
{
  for (size_t i = 0; i < loader->capture.host_count; i++) {
    const xp_host *host = &loader->capture.hosts[i];
    if (host->status == XP_FILE_OK || host->plane_count > 0) {
      return XP_OK;
    }
  }
  const xp_host_draft *first = &loader->hosts[0];
  return xp_fail(err, first->error, "%.*s: %.*s", XP_STR_ARG(first->host->path), XP_STR_ARG(first->host->problem));
}

/* ---- entry points */

typedef struct {
  xp_loader *loader;
  const char *path; /* NULL: the host is there already */
  xp_error *err;
  xp_status status;
} load_call;

static void load_guarded(void *context)
{
  load_call *call = context;
  xp_loader *loader = call->loader;
  call->status = call->path != NULL ? xp_hosts_open(loader, call->path, call->err) : XP_OK;
  if (call->status != XP_OK) {
    return;
  }
  for (size_t i = 0; i < loader->capture.host_count; i++) {
    xp_space_walk(loader, &loader->hosts[i]);
  }
  xp_hosts_name(loader);
  call->status = xp_hosts_select(loader, call->err);
  if (call->status == XP_OK) {
    drop_other_hosts(loader);
    call->status = read_planes(loader, call->err);
    if (call->status == XP_OK) {
      call->status = check_something_read(loader, call->err);
    }
  }
}

static xp_loader *new_loader(const xp_load_options *options)
{
  xp_arena *arena = xp_arena_create();
  xp_loader *loader = arena == NULL ? NULL : xp_arena_alloc(arena, sizeof *loader);
  if (loader == NULL) {
    xp_arena_destroy(arena);
    return NULL;
  }
  loader->capture.arena = arena;
  if (options != NULL) {
    loader->options = *options;
  }
  atomic_init(&loader->failed, false);
  atomic_init(&loader->bytes_done, 0);
  return loader;
}

static xp_status finish(load_call *call, bool had_memory, xp_capture **capture)
{
  xp_status status =
      had_memory ? call->status : xp_fail(call->err, XP_ERR_MEMORY, "out of memory while reading the capture");
  if (status != XP_OK) {
    xp_capture_free(&call->loader->capture);
    return status;
  }
  xp_fail(call->err, XP_OK, "%s", "");
  *capture = &call->loader->capture;
  return XP_OK;
}

xp_status xp_capture_load(const char *path, const xp_load_options *options, xp_capture **capture, xp_error *err)
{
  *capture = NULL;
  load_call call = {.loader = new_loader(options), .path = path, .err = err};
  if (call.loader == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "%s: out of memory", path);
  }
  bool had_memory = xp_arena_guard(call.loader->capture.arena, load_guarded, &call);
  return finish(&call, had_memory, capture);
}

typedef struct {
  load_call call;
  xp_str bytes;
  const char *name;
} memory_call;

static void load_memory_guarded(void *context)
{
  memory_call *m = context;
  xp_loader *loader = m->call.loader;
  xp_capture *capture = &loader->capture;
  capture->hosts = xp_arena_alloc(capture->arena, sizeof *capture->hosts);
  loader->hosts = xp_arena_alloc(capture->arena, sizeof *loader->hosts);
  xp_host *host = capture->hosts;
  loader->hosts->host = host;
  host->capture = capture;
  host->path = xp_arena_copy(capture->arena, xp_str_c(m->name));
  host->file.bytes = m->bytes;
  host->file.disk_bytes = host->bytes = m->bytes.len;
  xp_host_name_from_path(loader->hosts);
  capture->host_count = 1;
  load_guarded(&m->call);
}

xp_status xp_capture_load_memory(xp_str bytes, const char *name, const xp_load_options *options, xp_capture **capture,
                                 xp_error *err)
{
  *capture = NULL;
  memory_call m = {.call = {.loader = new_loader(options), .err = err}, .bytes = bytes, .name = name};
  if (m.call.loader == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "%s: out of memory", name);
  }
  bool had_memory = xp_arena_guard(m.call.loader->capture.arena, load_memory_guarded, &m);
  return finish(&m.call, had_memory, capture);
}

void xp_capture_free(xp_capture *capture)
{
  if (capture == NULL) {
    return;
  }
  xp_loader *loader = (xp_loader *)capture;
  for (size_t i = 0; i < capture->host_count; i++) {
    xp_file_close(&capture->hosts[i].file);
  }
  for (int i = 0; i < XP_MOST_WORKERS; i++) {
    xp_arena_destroy(loader->worker_arenas[i]);
  }
  xp_arena_destroy(capture->arena);
}
