/* Runs a fuzz target on stored inputs, without libFuzzer: what fuzzing found once is then checked in every build.
 *
 *   replay VARIANTS PATH...
 *
 * A PATH is a file, or a folder whose files are all run, also those in folders inside.  Each input is followed by
 * VARIANTS others: cut at a random place, or with a few bytes changed; and a small one by every prefix of it.  The
 * random numbers depend on the input alone, so that a failure happens again.  Every input lies in a block of its exact
 * size, where the address sanitizer notices a read behind its end.
 */
#define _XOPEN_SOURCE 700 /* nftw */

#include <errno.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SMALL_BYTES = 2048 }; /* inputs up to here are run cut at every byte */

static unsigned long variants;
static size_t files, runs;

/* xorshift64*; never 0. */
static uint64_t next_random(uint64_t *state)
{
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

/* Runs the first `kept` bytes, `changes` of them changed. */
static void run_copy(const uint8_t *data, size_t kept, uint64_t changes, uint64_t *state)
{
  uint8_t *copy = malloc(kept ? kept : 1);
  if (!copy) {
    abort();
  }
  memcpy(copy, data, kept);
  for (uint64_t i = 0; kept > 0 && i < changes; i++) {
    uint64_t r = next_random(state);
    uint8_t *byte = &copy[(r >> 16) % kept];
    *byte = (uint8_t)(r & 1 ? r >> 8 : *byte ^ UINT64_C(1) << (r >> 8) % 8); /* another byte, or one bit */
  }
  LLVMFuzzerTestOneInput(copy, kept);
  runs++;
  free(copy);
}

static void run_input(const uint8_t *data, size_t size)
{
  uint64_t state = UINT64_C(0x9e3779b97f4a7c15) ^ size;
  run_copy(data, size, 0, &state);
  for (size_t kept = 0; size <= SMALL_BYTES && kept < size; kept++) {
    run_copy(data, kept, 0, &state);
  }
  for (unsigned long i = 0; size > 0 && i < variants; i++) {
    if (next_random(&state) % 4 == 0) {
      run_copy(data, next_random(&state) % size, 0, &state);
    } else {
      run_copy(data, size, 1 + next_random(&state) % 4, &state);
    }
  }
}

/* The bytes of a file in a block of its size; NULL if they cannot be read. */
static uint8_t *read_file(const char *path, size_t size)
{
  FILE *file = fopen(path, "rb");
  if (!file) {
    return NULL;
  }
  uint8_t *data = malloc(size ? size : 1);
  if (data && fread(data, 1, size, file) != size) {
    free(data);
    data = NULL;
  }
  fclose(file);
  return data;
}

static int visit(const char *path, const struct stat *info, int type, struct FTW *walk)
{
  (void)walk;
  if (type != FTW_F) {
    return 0;
  }
  size_t size = (size_t)info->st_size;
  uint8_t *data = read_file(path, size);
  if (!data) {
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return 1;
  }
  puts(path); /* the last one printed is the one that failed */
  fflush(stdout);
  run_input(data, size);
  files++;
  free(data);
  return 0;
}

int main(int argc, char **argv)
{
  if (argc < 3) {
    fputs("usage: replay VARIANTS PATH...\n", stderr);
    return 2;
  }
  variants = strtoul(argv[1], NULL, 10);
  for (int i = 2; i < argc; i++) {
    if (nftw(argv[i], visit, 16, FTW_PHYS) != 0) {
      fprintf(stderr, "replay: cannot run %s\n", argv[i]);
      return 1;
    }
  }
  printf("%zu files, %zu runs\n", files, runs);
  return files ? 0 : 1;
}
