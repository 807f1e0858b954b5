/* The decode floor: the least that any reader of a capture has to do, as the measure for the real one.
 *
 *   floor FILE
 *
 * Every event's metadata id, offset and duration are decoded and summed; its stats are skipped by their length, and no
 * name is looked at.  Two threads: one walks the file from event to event by the length prefixes alone (the skip scan)
 * and hands out runs of events, the other decodes them as they come; when the scan has ended both decode.  This splits
 * even a single long line, whose middle cannot be found in any other way.
 *
 * Shares no code with the program, and trusts its input: it is for captures that a profiler has just written.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

#define KEY(field, type) ((field) << 3 | (type))
enum { SPACE_PLANE = KEY(1, BYTES), PLANE_LINE = KEY(3, BYTES), LINE_EVENT = KEY(4, BYTES) };
enum { EVENT_ID = KEY(1, VARINT), EVENT_OFFSET = KEY(2, VARINT), EVENT_DURATION = KEY(3, VARINT) };
enum { RUN_BYTES = 1 << 18, MAX_RUNS = 1 << 20, READ_AHEAD = 4096 };

typedef struct {
  const uint8_t *begin, *end;
} span;

typedef struct {
  uint64_t events, ids, offsets, durations;
} sums;

static span runs[MAX_RUNS]; /* pieces of lines, whole fields each */
static atomic_size_t ready; /* runs that may be decoded; stored by the scan after the run */
static atomic_size_t taken; /* runs that a decoder has asked for */
static atomic_bool scan_ended;

/* ---------------------------------------------------------------- the wire format */

static __attribute__((noinline)) uint64_t long_varint(const uint8_t **pos)
{
  uint64_t value = 0;
  for (int shift = 0;; shift += 7) {
    uint8_t byte = *(*pos)++;
    value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80 || shift == 63) {
      return value;
    }
  }
}

/* Reads a varint; up to 8 bytes at once: the first byte without its top bit is the last, and the groups of 7 bits are
 * pushed together, pairs first.  Eight bytes can be read anywhere in the file (map_file). */
static inline uint64_t varint(const uint8_t **pos)
{
  uint64_t word;
  memcpy(&word, *pos, sizeof word);
  uint64_t last = ~word & UINT64_C(0x8080808080808080);
  if (last == 0) {
    return long_varint(pos);
  }
  *pos += ((unsigned)__builtin_ctzll(last) >> 3) + 1;
  word &= (last ^ (last - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f);
  word = (word & UINT64_C(0x007f007f007f007f)) | (word & UINT64_C(0x7f007f007f007f00)) >> 1;
  word = (word & UINT64_C(0x00003fff00003fff)) | (word & UINT64_C(0x3fff00003fff0000)) >> 2;
  return (word & UINT64_C(0x000000000fffffff)) | (word & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* Moves behind a field; its content, if it has a length, is [return value, *pos). */
static const uint8_t *skip_field(const uint8_t **pos, uint64_t *key)
{
  *key = long_varint(pos);
  const uint8_t *content = *pos;
  switch (*key & 7) {
  case VARINT:
    long_varint(pos);
    break;
  case FIXED64:
    *pos += 8;
    break;
  case FIXED32:
    *pos += 4;
    break;
  default: {
    uint64_t size = long_varint(pos);
    content = *pos;
    *pos += size;
  }
  }
  return content;
}

/* The same for the usual case in a line, an event of less than 128 bytes, in a few instructions. */
static inline const uint8_t *next_event(const uint8_t **pos, uint64_t *key)
{
  const uint8_t *p = *pos;
  if (p[0] == LINE_EVENT && p[1] < 0x80) {
    *key = LINE_EVENT;
    *pos = p + 2 + p[1];
    return p + 2;
  }
  return skip_field(pos, key);
}

/* ---------------------------------------------------------------- decoding */

static void decode_any_event(const uint8_t *pos, const uint8_t *end, sums *total)
{
  while (pos < end) {
    uint64_t key;
    const uint8_t *value = pos + 1;
    skip_field(&pos, &key);
    if (key == EVENT_ID) {
      total->ids += long_varint(&value);
    } else if (key == EVENT_OFFSET) {
      total->offsets += long_varint(&value);
    } else if (key == EVENT_DURATION) {
      total->durations += long_varint(&value);
    }
  }
}

/* The usual event, id, offset, duration and stats in this order, in straight code. */
static inline void decode_event(const uint8_t *pos, const uint8_t *end, sums *total)
{
  const uint8_t *p = pos + 1;
  uint64_t id = varint(&p), offset_key = *p++, offset = varint(&p), duration_key = *p++, duration = varint(&p);
  total->events++;
  if (p > end || pos[0] != EVENT_ID || offset_key != EVENT_OFFSET || duration_key != EVENT_DURATION) {
    decode_any_event(pos, end, total);
    return;
  }
  total->ids += id;
  total->offsets += offset;
  total->durations += duration;
}

static void decode_run(span run, sums *total)
{
  for (const uint8_t *pos = run.begin; pos < run.end;) {
    uint64_t key;
    const uint8_t *content = next_event(&pos, &key);
    if (key == LINE_EVENT) {
      decode_event(content, pos, total);
    }
  }
}

/* Decodes runs until all are taken. */
static void *decode(void *result)
{
  sums total = {0};
  for (;;) {
    size_t mine = atomic_fetch_add(&taken, 1);
    while (mine >= atomic_load(&ready)) {
      if (atomic_load(&scan_ended) && mine >= atomic_load(&ready)) {
        *(sums *)result = total;
        return NULL;
      }
    }
    decode_run(runs[mine], &total);
  }
}

/* ---------------------------------------------------------------- the skip scan */

static void hand_out(const uint8_t *begin, const uint8_t *end)
{
  size_t count = atomic_load(&ready);
  if (count == MAX_RUNS) {
    fputs("floor: too many runs\n", stderr);
    exit(1);
  }
  runs[count] = (span){begin, end};
  atomic_store(&ready, count + 1);
}

static void scan_line(span line)
{
  const uint8_t *begin = line.begin, *pos = begin;
  while (pos < line.end) {
    uint64_t key;
    next_event(&pos, &key);
    if (pos - begin >= RUN_BYTES || pos >= line.end) {
      hand_out(begin, pos);
      begin = pos;
    }
  }
}

/* Calls `visit` for every message with this key. */
static void each(span message, uint64_t wanted, void (*visit)(span))
{
  for (const uint8_t *pos = message.begin; pos < message.end;) {
    uint64_t key;
    const uint8_t *content = skip_field(&pos, &key);
    if (key == wanted) {
      visit((span){content, pos});
    }
  }
}

static void scan_plane(span plane)
{
  each(plane, PLANE_LINE, scan_line);
}

/* ---------------------------------------------------------------- */

/* Maps a file, with readable bytes behind its end; {NULL, NULL} if that fails. */
static span map_file(const char *path)
{
  int file = open(path, O_RDONLY);
  struct stat info;
  if (file < 0 || fstat(file, &info) != 0 || info.st_size == 0) {
    return (span){NULL, NULL};
  }
  size_t size = (size_t)info.st_size;
  void *room = mmap(NULL, size + READ_AHEAD, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED || mmap(room, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED) {
    return (span){NULL, NULL};
  }
  close(file);
  return (span){room, (const uint8_t *)room + size};
}

int main(int argc, char **argv)
{
  span space = argc == 2 ? map_file(argv[1]) : (span){NULL, NULL};
  if (!space.begin) {
    fputs("usage: floor FILE\n", stderr);
    return 2;
  }
  pthread_t helper;
  sums a = {0}, b = {0};
  bool has_helper = pthread_create(&helper, NULL, decode, &b) == 0;
  each(space, SPACE_PLANE, scan_plane);
  atomic_store(&scan_ended, true);
  decode(&a);
  if (has_helper) {
    pthread_join(helper, NULL);
  }
  printf("%" PRIu64 " events, ids %" PRIu64 ", offsets %" PRIu64 ", durations %" PRIu64 "\n", a.events + b.events,
         a.ids + b.ids, a.offsets + b.offsets, a.durations + b.durations);
  return 0;
}
