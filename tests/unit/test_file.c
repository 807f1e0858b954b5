/* Reading files: plain, packed, empty, not readable. */
#include "testing.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/file.h"

static char folder[] = "/tmp/xp_test_file_XXXXXX";
static char path[256];

static int make_folder(void **state)
{
  (void)state;
  if (mkdtemp(folder) == NULL) {
    return -1;
  }
  snprintf(path, sizeof path, "%s/file", folder);
  return 0;
}

static int remove_folder(void **state)
{
  (void)state;
  unlink(path);
  return rmdir(folder);
}

static void assert_opens(const char *want, size_t size)
{
  xp_file file;
  xp_error err;
  assert_int_equal(xp_file_open(path, &file, &err), XP_OK);
  assert_int_equal(err.status, XP_OK);
  assert_int_equal(file.bytes.len, size);
  assert_memory_equal(file.bytes.ptr, want, size);
  xp_file_close(&file);
}

static size_t gzip(const void *data, size_t size, unsigned char *out, size_t room)
{
  z_stream z = {0};
  assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = (Bytef *)(uintptr_t)data;
  z.avail_in = (uInt)size;
  z.next_out = out;
  z.avail_out = (uInt)room;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  deflateEnd(&z);
  return room - z.avail_out;
}

static void a_plain_file_is_given_as_it_is(void **state)
{
  (void)state;
  write_file(path, "hello", 5);
  assert_opens("hello", 5);
}

static void an_empty_file_is_an_empty_slice(void **state)
{
  (void)state;
  write_file(path, "", 0);
  xp_file file;
  xp_error err;
  assert_int_equal(xp_file_open(path, &file, &err), XP_OK);
  assert_int_equal(file.bytes.len, 0);
  xp_file_close(&file);
}

static void gzip_members_are_unpacked_one_after_the_other(void **state)
{
  (void)state;
  unsigned char packed[200];
  size_t n = gzip("hello ", 6, packed, sizeof packed);
  n += gzip("world", 5, packed + n, sizeof packed - n);
  write_file(path, packed, n);
  assert_opens("hello world", 11);
}

static void zstd_frames_are_unpacked_one_after_the_other(void **state)
{
  (void)state;
  unsigned char packed[200];
  size_t n = ZSTD_compress(packed, sizeof packed, "hello ", 6, 3);
  n += ZSTD_compress(packed + n, sizeof packed - n, "world", 5, 3);
  write_file(path, packed, n);
  assert_opens("hello world", 11);
}

static void content_larger_than_the_first_buffer_is_unpacked(void **state)
{
  (void)state;
  size_t size = (size_t)9 << 20;
  char *data = calloc(1, size);
  unsigned char *packed = malloc(1 << 20);
  assert_true(data != NULL && packed != NULL);
  data[size - 1] = 'x';
  write_file(path, packed, gzip(data, size, packed, 1 << 20));
  assert_opens(data, size);
  write_file(path, packed, ZSTD_compress(packed, 1 << 20, data, size, 1));
  assert_opens(data, size);
  free(data);
  free(packed);
}

static void assert_opens_in_part(const void *packed, size_t size, xp_status want, const char *part)
{
  xp_file file;
  xp_error err;
  write_file(path, packed, size);
  assert_int_equal(xp_file_open(path, &file, &err), XP_OK);
  assert_int_equal(err.status, want);
  assert_contains(err.text, part);
  assert_contains(err.text, path);
  assert_true(file.bytes.len <= 11 && memcmp("hello world", file.bytes.ptr, file.bytes.len) == 0);
  assert_int_equal(file.disk_bytes, size);
  xp_file_close(&file);
}

static void a_packed_stream_that_is_cut_gives_what_it_holds(void **state)
{
  (void)state;
  unsigned char packed[200];
  size_t n = gzip("hello world", 11, packed, sizeof packed);
  for (size_t cut = 3; cut < n; cut++) {
    assert_opens_in_part(packed, cut, XP_ERR_TRUNCATED, "gzip stream ends early");
  }
  n = ZSTD_compress(packed, sizeof packed, "hello world", 11, 3);
  for (size_t cut = 4; cut < n; cut++) {
    assert_opens_in_part(packed, cut, XP_ERR_TRUNCATED, "zstd stream ends early");
  }
}

static void what_follows_packed_data_is_told_unless_it_is_padding(void **state)
{
  (void)state;
  unsigned char packed[200] = {0};
  size_t n = gzip("hello world", 11, packed, sizeof packed);
  memcpy(packed + n, "junk", 4);
  assert_opens_in_part(packed, n + 4, XP_ERR_FORMAT, "no gzip data follow");
  memset(packed + n, 0, 4);
  write_file(path, packed, n + 4);
  assert_opens("hello world", 11);
  n = ZSTD_compress(packed, sizeof packed, "hello world", 11, 3);
  memcpy(packed + n, "some junk", 9);
  assert_opens_in_part(packed, n + 9, XP_ERR_FORMAT, "zstd stream is damaged");
}

static void a_damaged_packed_stream_is_told(void **state)
{
  (void)state;
  unsigned char packed[200];
  size_t n = gzip("hello world", 11, packed, sizeof packed);
  packed[n - 8] ^= 1; /* the checksum */
  assert_opens_in_part(packed, n, XP_ERR_FORMAT, "gzip stream is damaged");
}

static void assert_fails(const char *which, xp_status want, const char *part)
{
  xp_file file;
  xp_error err;
  assert_int_equal(xp_file_open(which, &file, &err), want);
  assert_int_equal(err.status, want);
  assert_contains(err.text, part);
}

static void what_is_no_file_is_refused(void **state)
{
  (void)state;
  assert_fails(folder, XP_ERR_USAGE, "is a directory");
  assert_fails("/nowhere/at/all", XP_ERR_NOT_FOUND, "/nowhere/at/all");
}

static void a_pipe_is_read_to_its_end(void **state)
{
  (void)state;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], "hello", 5), 5);
  close(ends[1]);
  int saved = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  xp_file file;
  xp_error err;
  assert_int_equal(xp_file_open("-", &file, &err), XP_OK);
  dup2(saved, STDIN_FILENO);
  close(saved);
  assert_str(file.bytes, "hello");
  xp_file_close(&file);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plain_file_is_given_as_it_is),
      cmocka_unit_test(an_empty_file_is_an_empty_slice),
      cmocka_unit_test(gzip_members_are_unpacked_one_after_the_other),
      cmocka_unit_test(zstd_frames_are_unpacked_one_after_the_other),
      cmocka_unit_test(content_larger_than_the_first_buffer_is_unpacked),
      cmocka_unit_test(a_packed_stream_that_is_cut_gives_what_it_holds),
      cmocka_unit_test(what_follows_packed_data_is_told_unless_it_is_padding),
      cmocka_unit_test(a_damaged_packed_stream_is_told),
      cmocka_unit_test(what_is_no_file_is_refused),
      cmocka_unit_test(a_pipe_is_read_to_its_end),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
