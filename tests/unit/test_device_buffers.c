/* Buffers of the embedded device: uploads, downloads, layouts, lives, and the memory that is counted. */
#include "device_programs.h"

static const int64_t two_by_three[2] = {2, 3};

static xp_abi_from_host_args upload_args(xp_abi_client *client, const void *data)
{
  return (xp_abi_from_host_args){.struct_size = sizeof(xp_abi_from_host_args),
                                 .client = client,
                                 .data = data,
                                 .type = XP_ABI_F32,
                                 .dimensions = two_by_three,
                                 .num_dimensions = 2};
}

static xp_abi_buffer *uploaded(xp_abi_from_host_args *args)
{
  assert_done(api()->client_buffer_from_host_buffer(args));
  await_and_destroy(args->done_with_host_buffer);
  return args->buffer;
}

static void assert_floats(const float *got, const float *want, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (got[i] != want[i]) {
      fail_msg("number %zu is %g, right is %g", i, (double)got[i], (double)want[i]);
    }
  }
}

static void what_went_up_comes_down(void **state)
{
  (void)state;
  const float data[6] = {1, 2, 3, 4, 5, 6};
  float back[6] = {0};
  xp_abi_client *client = plain_client();
  xp_abi_from_host_args args = upload_args(client, data);
  xp_abi_buffer *buffer = uploaded(&args);
  xp_abi_to_host_args size = {.struct_size = sizeof size, .buffer = buffer};
  assert_done(api()->buffer_to_host_buffer(&size));
  assert_int_equal(size.target_size, 24);
  download(buffer, back, 6);
  assert_floats(back, data, 6);
  on(api()->buffer_destroy, buffer);
  on(api()->client_destroy, client);
}

/* The host's array is a view: every second column of a matrix that is stored column by column. */
static void byte_strides_of_the_host_are_followed(void **state)
{
  (void)state;
  const float stored[12] = {11, 21, -1, -1, 12, 22, -1, -1, 13, 23, -1, -1};
  const float want[6] = {11, 12, 13, 21, 22, 23};
  const int64_t strides[2] = {4, 16};
  float back[6] = {0};
  xp_abi_client *client = plain_client();
  xp_abi_from_host_args args = upload_args(client, stored);
  args.byte_strides = strides;
  args.num_byte_strides = 2;
  xp_abi_buffer *buffer = uploaded(&args);
  download(buffer, back, 6);
  assert_floats(back, want, 6);
  on(api()->buffer_destroy, buffer);
  args.num_byte_strides = 1;
  assert_fails(api()->client_buffer_from_host_buffer(&args), XP_ABI_INVALID_ARGUMENT,
               "1 byte strides for 2 dimensions");
  on(api()->client_destroy, client);
}

static void strides_may_go_backwards(void **state)
{
  (void)state;
  const float stored[6] = {1, 2, 3, 4, 5, 6};
  const float want[6] = {6, 5, 4, 3, 2, 1};
  const int64_t strides[2] = {-12, -4};
  float back[6] = {0};
  xp_abi_client *client = plain_client();
  xp_abi_from_host_args args = upload_args(client, stored + 5);
  args.byte_strides = strides;
  args.num_byte_strides = 2;
  xp_abi_buffer *buffer = uploaded(&args);
  download(buffer, back, 6);
  assert_floats(back, want, 6);
  on(api()->buffer_destroy, buffer);
  on(api()->client_destroy, client);
}

static void a_download_may_ask_for_another_order_of_dimensions(void **state)
{
  (void)state;
  const float data[6] = {1, 2, 3, 4, 5, 6}, want[6] = {1, 4, 2, 5, 3, 6};
  const int64_t first_dimension_fastest[2] = {0, 1}, no_order[2] = {1, 1};
  float back[6] = {0};
  xp_abi_client *client = plain_client();
  xp_abi_from_host_args args = upload_args(client, data);
  xp_abi_buffer *buffer = uploaded(&args);
  xp_abi_layout layout = {.struct_size = XP_ABI_LAYOUT_SIZE, .type = XP_ABI_LAYOUT_TILED};
  layout.of.tiled = (xp_abi_layout_tiled){
      .struct_size = sizeof layout.of.tiled, .minor_to_major = first_dimension_fastest, .minor_to_major_size = 2};
  xp_abi_to_host_args down = {
      .struct_size = sizeof down, .buffer = buffer, .host_layout = &layout, .target = back, .target_size = sizeof back};
  assert_done(api()->buffer_to_host_buffer(&down));
  await_and_destroy(down.event);
  assert_floats(back, want, 6);
  layout.of.tiled.minor_to_major = no_order;
  assert_fails(api()->buffer_to_host_buffer(&down), XP_ABI_INVALID_ARGUMENT, "no order of the 2 dimensions");
  layout.of.tiled.num_tiles = 1;
  assert_fails(api()->buffer_to_host_buffer(&down), XP_ABI_UNIMPLEMENTED, "tiles");
  down.host_layout = NULL;
  down.target_size = 23;
  assert_fails(api()->buffer_to_host_buffer(&down), XP_ABI_INVALID_ARGUMENT, "room for 23 bytes, the array has 24");
  on(api()->buffer_destroy, buffer);
  on(api()->client_destroy, client);
}

static void a_part_of_the_bytes_can_be_copied(void **state)
{
  (void)state;
  const float data[6] = {1, 2, 3, 4, 5, 6};
  float back[2] = {0};
  xp_abi_client *client = plain_client();
  xp_abi_from_host_args args = upload_args(client, data);
  xp_abi_buffer *buffer = uploaded(&args);
  xp_abi_copy_raw_args raw = {
      .struct_size = sizeof raw, .buffer = buffer, .target = back, .offset = 16, .transfer_size = 8};
  assert_done(api()->buffer_copy_raw_to_host(&raw));
  await_and_destroy(raw.event);
  assert_floats(back, data + 4, 2);
  raw.offset = 17;
  assert_fails(api()->buffer_copy_raw_to_host(&raw), XP_ABI_INVALID_ARGUMENT, "8 bytes from 17 on are not in 24");
  on(api()->buffer_destroy, buffer);
  on(api()->client_destroy, client);
}

static void a_buffer_tells_its_shape_and_place(void **state)
{
  (void)state;
  const float data[6] = {0};
  xp_abi_client *client = plain_client();
  xp_abi_from_host_args args = upload_args(client, data);
  xp_abi_buffer *buffer = uploaded(&args);
  xp_abi_int32_args type = {.struct_size = XP_ABI_INT32_SIZE, .object = buffer};
  assert_done(api()->buffer_element_type(&type));
  assert_int_equal(type.value, XP_ABI_F32);
  xp_abi_list_args dims = {.struct_size = sizeof dims, .object = buffer};
  assert_done(api()->buffer_unpadded_dimensions(&dims));
  assert_int_equal(dims.count, 2);
  assert_memory_equal(dims.items, two_by_three, sizeof two_by_three);
  assert_done(api()->buffer_dynamic_dimension_indices(&dims));
  assert_int_equal(dims.count, 0);
  xp_abi_buffer_layout_args layout = {.struct_size = sizeof layout, .buffer = buffer};
  assert_done(api()->buffer_get_memory_layout(&layout));
  assert_int_equal(layout.layout.type, XP_ABI_LAYOUT_TILED);
  assert_int_equal(layout.layout.of.tiled.minor_to_major_size, 2);
  assert_int_equal(layout.layout.of.tiled.minor_to_major[0], 1);
  assert_int_equal(layout.layout.of.tiled.minor_to_major[1], 0);
  xp_abi_uint64_args size = {.struct_size = sizeof size, .object = buffer};
  assert_done(api()->buffer_on_device_size_in_bytes(&size));
  assert_int_equal(size.value, 24);
  xp_abi_pointer_args place = {.struct_size = sizeof place, .object = buffer};
  assert_done(api()->buffer_device(&place));
  assert_ptr_equal(place.value, device_of(client, 0));
  xp_abi_bool_args on_cpu = {.struct_size = XP_ABI_BOOL_SIZE, .object = buffer, .value = true};
  assert_done(api()->buffer_is_on_cpu(&on_cpu));
  assert_false(on_cpu.value);
  on(api()->buffer_destroy, buffer);
  on(api()->client_destroy, client);
}

static void shapes_that_cannot_be_are_refused(void **state)
{
  (void)state;
  const float data[1] = {0};
  const int64_t negative[2] = {2, -3}, huge[2] = {(int64_t)1 << 40, (int64_t)1 << 40}, empty[2] = {0, (int64_t)1 << 62};
  xp_abi_client *client = plain_client();
  xp_abi_from_host_args args = upload_args(client, data);
  args.dimensions = negative;
  assert_fails(api()->client_buffer_from_host_buffer(&args), XP_ABI_INVALID_ARGUMENT, "extent");
  args.dimensions = huge;
  assert_fails(api()->client_buffer_from_host_buffer(&args), XP_ABI_INVALID_ARGUMENT, "larger than any memory");
  args.dimensions = two_by_three;
  args.type = XP_ABI_C64;
  assert_fails(api()->client_buffer_from_host_buffer(&args), XP_ABI_UNIMPLEMENTED, "no type number 14");
  args.type = XP_ABI_F32;
  args.data = NULL;
  assert_fails(api()->client_buffer_from_host_buffer(&args), XP_ABI_INVALID_ARGUMENT, "no data");
  args.dimensions = empty; /* an array without elements is one, however long its other dimensions are */
  on(api()->buffer_destroy, uploaded(&args));
  on(api()->client_destroy, client);
}

/* ---------------------------------------------------------------- lives */

static bool is_deleted(xp_abi_buffer *buffer)
{
  xp_abi_bool_args args = {.struct_size = XP_ABI_BOOL_SIZE, .object = buffer};
  assert_done(api()->buffer_is_deleted(&args));
  return args.value;
}

static void a_deleted_buffer_gives_its_memory_back_and_refuses(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  xp_abi_buffer *buffer = upload4(client, 1, 2, 3, 4);
  assert_int_equal(bytes_in_use(client), 64);
  on(api()->buffer_delete, buffer);
  on(api()->buffer_delete, buffer);
  assert_true(is_deleted(buffer));
  assert_int_equal(bytes_in_use(client), 0);
  float back[4];
  xp_abi_to_host_args down = {.struct_size = sizeof down, .buffer = buffer, .target = back, .target_size = sizeof back};
  assert_fails(api()->buffer_to_host_buffer(&down), XP_ABI_INVALID_ARGUMENT, "deleted or donated");
  xp_abi_pointer_args event = {.struct_size = sizeof event, .object = buffer};
  assert_fails(api()->buffer_ready_event(&event), XP_ABI_INVALID_ARGUMENT, "deleted or donated");
  on(api()->buffer_destroy, buffer);
  on(api()->client_destroy, client);
}

static void an_external_reference_keeps_the_memory(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  xp_abi_buffer *buffer = upload4(client, 1, 2, 3, 4);
  xp_abi_uint64_args address = {.struct_size = sizeof address, .object = buffer};
  on(api()->buffer_increase_external_reference_count, buffer);
  assert_done(api()->buffer_unsafe_pointer(&address));
  on(api()->buffer_delete, buffer);
  assert_int_equal(bytes_in_use(client), 64);
  assert_true(((const float *)(uintptr_t)address.value)[3] == 4);
  on(api()->buffer_decrease_external_reference_count, buffer);
  assert_int_equal(bytes_in_use(client), 0);
  xp_abi_object_args again = {.struct_size = sizeof again, .object = buffer};
  assert_fails(api()->buffer_decrease_external_reference_count(&again), XP_ABI_INVALID_ARGUMENT, "0 already");
  on(api()->buffer_destroy, buffer);
  on(api()->client_destroy, client);
}

static void a_copy_to_another_device_is_its_own(void **state)
{
  (void)state;
  const xp_abi_named_value options[] = {int_option("device_count", 2)};
  xp_abi_client *client = make_client(options, 1);
  xp_abi_buffer *buffer = upload4(client, 1, 2, 3, 4);
  xp_abi_copy_args copy = {.struct_size = sizeof copy, .buffer = buffer, .target = device_of(client, 1)};
  assert_done(api()->buffer_copy_to_device(&copy));
  on(api()->buffer_destroy, buffer);
  assert_holds4(copy.copy, 1, 2, 3, 4);
  xp_abi_pointer_args memory = {.struct_size = sizeof memory, .object = copy.copy};
  assert_done(api()->buffer_memory(&memory));
  xp_abi_copy_args again = {.struct_size = sizeof again, .buffer = copy.copy, .target = memory.value};
  assert_done(api()->buffer_copy_to_memory(&again));
  on(api()->buffer_destroy, copy.copy);
  assert_holds4(again.copy, 1, 2, 3, 4);
  on(api()->buffer_destroy, again.copy);
  on(api()->client_destroy, client);
}

static void a_buffer_may_outlive_its_client(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  xp_abi_buffer *buffer = upload4(client, 1, 2, 3, 4);
  on(api()->client_destroy, client);
  assert_holds4(buffer, 1, 2, 3, 4);
  on(api()->buffer_destroy, buffer);
}

/* ---------------------------------------------------------------- memory */

static void memory_above_the_limit_is_refused_with_the_figures(void **state)
{
  (void)state;
  const xp_abi_named_value options[] = {int_option("memory_limit_bytes", 128)};
  xp_abi_client *client = make_client(options, 1);
  const float data[17] = {0};
  const int64_t seventeen[1] = {17};
  xp_abi_buffer *first = upload4(client, 1, 2, 3, 4); /* 64 of 128: memory comes in steps of 64 bytes */
  xp_abi_from_host_args args = upload_args(client, data);
  args.dimensions = seventeen;
  args.num_dimensions = 1;
  assert_fails(api()->client_buffer_from_host_buffer(&args), XP_ABI_RESOURCE_EXHAUSTED,
               "f32[17] needs 68 bytes, 64 of 128 are in use");
  on(api()->buffer_destroy, first);
  on(api()->buffer_destroy, uploaded(&args));
  xp_abi_memory_stats_args stats = {.struct_size = XP_ABI_MEMORY_STATS_SIZE, .device = device_of(client, 0)};
  assert_done(api()->device_memory_stats(&stats));
  assert_int_equal(stats.bytes_in_use, 0);
  assert_int_equal(stats.peak_bytes_in_use.value, 128);
  assert_int_equal(stats.bytes_limit.value, 128);
  assert_int_equal(stats.num_allocs.value, 2);
  assert_true(stats.bytes_limit.is_set);
  assert_false(stats.pool_bytes.is_set);
  on(api()->client_destroy, client);
}

/* What lies behind the host's structure must stay as it is. */
static void memory_statistics_of_an_older_host_end_where_its_structure_does(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  xp_abi_memory_stats_args stats;
  memset(&stats, 0x5a, sizeof stats);
  stats.struct_size = offsetof(xp_abi_memory_stats_args, peak_allocated_bytes);
  stats.extension_start = NULL;
  stats.device = device_of(client, 0);
  assert_done(api()->device_memory_stats(&stats));
  unsigned char behind;
  memcpy(&behind, &stats.peak_allocated_bytes.is_set, 1);
  assert_int_equal(behind, 0x5a);
  on(api()->client_destroy, client);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_went_up_comes_down),
      cmocka_unit_test(byte_strides_of_the_host_are_followed),
      cmocka_unit_test(strides_may_go_backwards),
      cmocka_unit_test(a_download_may_ask_for_another_order_of_dimensions),
      cmocka_unit_test(a_part_of_the_bytes_can_be_copied),
      cmocka_unit_test(a_buffer_tells_its_shape_and_place),
      cmocka_unit_test(shapes_that_cannot_be_are_refused),
      cmocka_unit_test(a_deleted_buffer_gives_its_memory_back_and_refuses),
      cmocka_unit_test(an_external_reference_keeps_the_memory),
      cmocka_unit_test(a_copy_to_another_device_is_its_own),
      cmocka_unit_test(a_buffer_may_outlive_its_client),
      cmocka_unit_test(memory_above_the_limit_is_refused_with_the_figures),
      cmocka_unit_test(memory_statistics_of_an_older_host_end_where_its_structure_does),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
