/* A long message as a list of pieces: bytes that lie somewhere, and bytes that are made when they are read.
 *
 * The length of every piece is known when it is added, so that messages can be nested (protobuf writes the length
 * first) and a capture of gigabytes can be sent without a copy of it in memory.
 */
#ifndef XP_SESSION_ROPE_H
#define XP_SESSION_ROPE_H

#include "base/arena.h"
#include "wire/wire.h"

/* Bytes that are made: a source has any number of readers, each from its beginning. */
typedef struct {
  void *(*open)(const void *context); /* a reader; NULL when memory is out */
  /* The next bytes, at most room; 0 when memory is out. */
  size_t (*read)(void *reader, uint8_t *buffer, size_t room);
  void (*close)(void *reader);
} xp_rope_source;

typedef struct {
  uint64_t bytes;
  const uint8_t *data; /* NULL: from the source */
  const xp_rope_source *source;
  const void *context;
} xp_rope_piece;

typedef struct {
  xp_arena *arena; /* without escape */
  xp_rope_piece *pieces;
  size_t count, capacity;
  uint64_t bytes;
  bool failed; /* memory ran out, or the length overflowed: the rope is of no use */
} xp_rope;

void xp_rope_init(xp_rope *rope, xp_arena *arena);

/* Appends bytes: borrowed, or copied into the arena. */
void xp_rope_borrow(xp_rope *rope, xp_str bytes);
void xp_rope_copy(xp_rope *rope, xp_str bytes);

/* Appends records that a wire writer holds (copied), and frees the writer. */
void xp_rope_records(xp_rope *rope, xp_wire_writer *records);

/* Appends `bytes` bytes that the source makes. */
void xp_rope_make(xp_rope *rope, const xp_rope_source *source, const void *context, uint64_t bytes);

/* Appends a message as a field: its key and length, then its pieces. */
void xp_rope_nest(xp_rope *rope, uint32_t field, const xp_rope *message);

/* Where somebody reads. */
typedef struct {
  const xp_rope *rope;
  size_t piece;
  uint64_t offset; /* in the piece */
  void *reader;    /* of the piece's source */
} xp_rope_reader;

xp_rope_reader xp_rope_open(const xp_rope *rope);

/* The next bytes, at most room; 0 at the end, or when a source failed (the end was not reached then). */
size_t xp_rope_read(xp_rope_reader *reader, void *buffer, size_t room);

void xp_rope_close(xp_rope_reader *reader);

#endif
