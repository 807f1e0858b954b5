/* A use of everything that pjrt/client.h has, on the plugin of fake_pjrt.h.  Ends with the first error, and destroys
 * all that it made.  Include it once. */
#ifndef XP_TESTS_PJRT_WALK_H
#define XP_TESTS_PJRT_WALK_H

#include "fake_pjrt.h"

static inline const xp_pjrt_plugin *open_plugin(void)
{
  const xp_pjrt_plugin *plugin = NULL;
  xp_error err = {0};
  if (xp_pjrt_plugin_open(fake_get_api, "fake", &plugin, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  return plugin;
}

static inline void assert_ok(xp_status status, const xp_error *err)
{
  if (status != XP_OK) {
    fail_msg("%d %s", (int)status, err->text);
  }
}

/* What the walk made, and what it was told. */
typedef struct {
  const xp_pjrt_plugin *plugin;
  xp_pjrt_client *client;
  xp_pjrt_executable *executable, *ahead;
  xp_pjrt_buffer *buffers[2], *outputs[2], *copy;
  xp_pjrt_event *released, *done, *loaded, *ready;
  xp_pjrt_topology *topology;
  xp_pjrt_program program;
  atomic_int called_back;
  xp_error *err;
} walk;

static const int64_t walk_dimensions[2] = {2, 3};
static const float walk_values[6] = {6, 5, 4, 3, 2, 1};
static const xp_pjrt_shape walk_shape = {XP_ABI_F32, 2, walk_dimensions};
static const xp_pjrt_program walk_program = {XP_STR_INIT("hlo"), XP_STR_INIT("module")};

static void walk_called_back(void *context, xp_status status, const xp_error *err)
{
  assert_int_equal(status, XP_OK);
  assert_string_equal(err->text, "");
  atomic_fetch_add(&((walk *)context)->called_back, 1);
}

static xp_status walk_client(walk *w)
{
  int64_t used = 0, limit = 0;
  size_t count = 0;
  xp_status status = xp_pjrt_client_create(w->plugin, NULL, 0, &w->client, w->err);
  if (status == XP_OK) {
    const xp_pjrt_device *devices = xp_pjrt_client_devices(w->client, &count);
    assert_int_equal(count, FAKE_DEVICES);
    assert_int_equal(devices[0].id, 70);
    assert_int_equal(devices[1].id, 71);
    status = xp_pjrt_device_memory(w->client, &devices[1], &used, &limit, w->err);
  }
  if (status == XP_OK) {
    assert_int_equal(used, 1000);
    assert_int_equal(limit, 16000);
  }
  return status;
}

static xp_status walk_programs(walk *w)
{
  xp_pjrt_shape shapes[2];
  xp_str text;
  xp_status status = xp_pjrt_compile(w->client, NULL, walk_program, &w->executable, w->err);
  if (status == XP_OK) {
    assert_int_equal(xp_pjrt_executable_output_count(w->executable), 2);
    status = xp_pjrt_executable_output_shapes(w->executable, shapes, w->err);
  }
  if (status == XP_OK) {
    assert_true(shapes[0].type == XP_ABI_F32 && shapes[0].rank == 2 && shapes[0].dimensions[1] == 3);
    assert_true(shapes[1].type == XP_ABI_PRED && shapes[1].rank == 0);
    status = xp_pjrt_executable_name(w->executable, &text, w->err);
  }
  if (status == XP_OK) {
    assert_str(text, "jit_step");
    status = xp_pjrt_executable_fingerprint(w->executable, &text, w->err);
  }
  if (status == XP_OK) {
    assert_str(text, "0f1e2d");
    status = xp_pjrt_executable_optimized(w->executable, &w->program, w->err);
  }
  if (status == XP_OK) {
    assert_str(w->program.format, "hlo_with_config");
    assert_str(w->program.bytes, "optimized");
  }
  return status;
}

static xp_status walk_execution(walk *w)
{
  bool is_ready = false;
  xp_status status = xp_pjrt_upload(w->client, NULL, walk_shape, walk_values, 24, &w->buffers[0], &w->released, w->err);
  if (status == XP_OK) {
    status = xp_pjrt_upload(w->client, NULL, walk_shape, walk_values, 24, &w->buffers[1], NULL, w->err);
  }
  if (status == XP_OK) {
    status = xp_pjrt_execute(w->executable, w->buffers, 2, NULL, w->outputs, &w->done, w->err);
  }
  if (status == XP_OK) {
    status = xp_pjrt_event_on_ready(w->done, walk_called_back, w, w->err);
  }
  if (status == XP_OK) {
    assert_int_equal(atomic_load(&w->called_back), 1);
    status = xp_pjrt_event_is_ready(w->done, &is_ready, w->err);
  }
  if (status == XP_OK) {
    assert_true(is_ready);
    status = xp_pjrt_event_wait(w->done, w->err);
  }
  return status;
}

static xp_status walk_downloads(walk *w)
{
  float values[2][6] = {{0}};
  xp_status status = xp_pjrt_download(w->outputs[0], values[0], 24, NULL, w->err);
  if (status == XP_OK) {
    status = xp_pjrt_download(w->outputs[0], values[1], 24, &w->loaded, w->err);
  }
  if (status == XP_OK) {
    assert_true(values[0][0] == 1 && values[0][5] == 6 && values[1][5] == 6);
    size_t count = 0;
    const xp_pjrt_device *devices = xp_pjrt_client_devices(w->client, &count);
    status = xp_pjrt_copy(w->outputs[0], &devices[1], &w->copy, w->err);
  }
  return status;
}

static xp_status walk_questions(walk *w)
{
  xp_pjrt_shape shape;
  size_t bytes = 0;
  uintptr_t at = 0;
  bool is_deleted = false;
  const xp_pjrt_buffer *buffer = w->outputs[1];
  xp_status status = xp_pjrt_buffer_shape(buffer, &shape, w->err);
  status = status != XP_OK ? status : xp_pjrt_buffer_device_bytes(buffer, &bytes, w->err);
  status = status != XP_OK ? status : xp_pjrt_buffer_ready(buffer, &w->ready, w->err);
  status = status != XP_OK ? status : xp_pjrt_buffer_hold(buffer, w->err);
  status = status != XP_OK ? status : xp_pjrt_buffer_address(buffer, &at, w->err);
  status = status != XP_OK ? status : xp_pjrt_buffer_let_go(buffer, w->err);
  status = status != XP_OK ? status : xp_pjrt_buffer_delete(buffer, w->err);
  status = status != XP_OK ? status : xp_pjrt_buffer_is_deleted(buffer, &is_deleted, w->err);
  if (status == XP_OK) {
    assert_true(shape.type == XP_ABI_F32 && shape.rank == 2 && shape.dimensions[0] == 2);
    assert_int_equal(bytes, 64);
    assert_true(at == 0xfeedface12345678 && is_deleted);
  }
  return status;
}

static xp_status walk_topology(walk *w)
{
  xp_str platform;
  size_t count = 0;
  xp_status status = xp_pjrt_topology_create(w->plugin, "v5e:2x2", NULL, 0, &w->topology, w->err);
  if (status == XP_OK) {
    status = xp_pjrt_topology_platform(w->topology, &platform, w->err);
  }
  if (status == XP_OK) {
    assert_str(platform, "fake machine");
    status = xp_pjrt_topology_device_count(w->topology, &count, w->err);
  }
  if (status == XP_OK) {
    assert_int_equal(count, FAKE_DEVICES);
    status = xp_pjrt_topology_compile(w->topology, walk_program, &w->ahead, w->err);
  }
  return status;
}

static void walk_end(walk *w)
{
  for (int i = 0; i < 2; i++) {
    xp_pjrt_buffer_destroy(w->buffers[i]);
    xp_pjrt_buffer_destroy(w->outputs[i]);
  }
  xp_pjrt_buffer_destroy(w->copy);
  xp_pjrt_event_destroy(w->released);
  xp_pjrt_event_destroy(w->done);
  xp_pjrt_event_destroy(w->loaded);
  xp_pjrt_event_destroy(w->ready);
  xp_pjrt_program_free(&w->program);
  xp_pjrt_executable_destroy(w->executable);
  xp_pjrt_executable_destroy(w->ahead);
  xp_pjrt_topology_destroy(w->topology);
  xp_pjrt_client_destroy(w->client);
}

/* All of it, with a plugin that is open. */
static inline xp_status walk_plugin(const xp_pjrt_plugin *plugin, xp_error *err)
{
  static xp_status (*const parts[])(walk *) = {walk_client,    walk_programs,  walk_execution,
                                               walk_downloads, walk_questions, walk_topology};
  walk w = {.plugin = plugin, .err = err};
  xp_status status = XP_OK;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0] && status == XP_OK; i++) {
    status = parts[i](&w);
  }
  walk_end(&w);
  return status;
}

#endif
