/* From the rope to the file through one buffer, so that the size of the capture does not matter.
 */
#include "session/profile_file.h"

#include <stdlib.h>

enum { CHUNK = 1 << 20 };

typedef struct {
  void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes);
  void *context;
} listener;

static xp_status write_rope(xp_new_file *file, const xp_rope *space, const listener *to, uint8_t *chunk, xp_error *err)
{
  xp_rope_reader reader = xp_rope_open(space);
  xp_status status = XP_OK;
  for (uint64_t done = 0; status == XP_OK && done < space->bytes;) {
    size_t count = xp_rope_read(&reader, chunk, CHUNK);
    status = count > 0 ? xp_new_file_write(file, chunk, count, err)
                       : xp_fail(err, XP_ERR_MEMORY, "No memory for writing the capture");
    done += count;
    if (to->progress != NULL) {
      to->progress(to->context, done, space->bytes);
    }
  }
  xp_rope_close(&reader);
  return status;
}

xp_status xp_profile_write(xp_profile *profile, const char *directory, const char *host, char path[XP_PATH_ROOM],
                           void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes), void *context,
                           xp_error *err)
{
  const xp_rope *space = xp_profile_space(profile, err);
  uint8_t *chunk = malloc(CHUNK);
  listener to = {progress, context};
  xp_new_file file = {.fd = -1};
  xp_status status = XP_OK;
  if (space == NULL) {
    status = XP_ERR_MEMORY;
  } else if (chunk == NULL) {
    status = xp_fail(err, XP_ERR_MEMORY, "No memory for writing the capture");
  } else {
    status = xp_new_file_open(directory, NULL, &file, err);
  }
  if (status == XP_OK) {
    status = write_rope(&file, space, &to, chunk, err);
  }
  if (status == XP_OK) {
    status = xp_new_file_publish(&file, host, ".xplane.pb", path, err);
  }
  xp_new_file_discard(&file);
  free(chunk);
  return status;
}
