/* Pieces are kept in the order of the message; nesting copies their descriptions, never their bytes.
 *
 * Invariant: the sum of the pieces' lengths is rope->bytes.  A source that ends early is a failure of memory; readers
 * stop there.
 */
#include "session/rope.h"

void xp_rope_init(xp_rope *rope, xp_arena *arena)
{
  memset(rope, 0, sizeof *rope);
  rope->arena = arena;
}

static void add(xp_rope *rope, xp_rope_piece piece)
{
  if (rope->failed || piece.bytes == 0) {
    return;
  }
  xp_rope_piece *pieces = xp_arena_grow(rope->arena, rope->pieces, rope->count, &rope->capacity, sizeof *pieces);
  if (pieces == NULL || __builtin_add_overflow(rope->bytes, piece.bytes, &rope->bytes)) {
    rope->failed = true;
    return;
  }
  rope->pieces = pieces;
  pieces[rope->count++] = piece;
}

void xp_rope_borrow(xp_rope *rope, xp_str bytes)
{
  add(rope, (xp_rope_piece){.bytes = bytes.len, .data = (const uint8_t *)bytes.ptr});
}

void xp_rope_copy(xp_rope *rope, xp_str bytes)
{
  xp_str copy = xp_arena_copy(rope->arena, bytes);
  rope->failed |= copy.ptr == NULL;
  xp_rope_borrow(rope, copy);
}

void xp_rope_records(xp_rope *rope, xp_wire_writer *records)
{
  rope->failed |= records->failed;
  if (!rope->failed) {
    xp_rope_copy(rope, xp_str_from((const char *)records->data, records->len));
  }
  xp_wire_writer_free(records);
}

void xp_rope_make(xp_rope *rope, const xp_rope_source *source, const void *context, uint64_t bytes)
{
  add(rope, (xp_rope_piece){.bytes = bytes, .source = source, .context = context});
}

void xp_rope_nest(xp_rope *rope, uint32_t field, const xp_rope *message)
{
  xp_wire_writer head = {0};
  xp_wire_put_head(&head, field, message->bytes);
  xp_rope_records(rope, &head);
  rope->failed |= message->failed;
  for (size_t i = 0; i < message->count; i++) {
    add(rope, message->pieces[i]);
  }
}

/* ---- reading */

xp_rope_reader xp_rope_open(const xp_rope *rope)
{
  return (xp_rope_reader){.rope = rope};
}

void xp_rope_close(xp_rope_reader *r)
{
  if (r->reader != NULL) {
    r->rope->pieces[r->piece].source->close(r->reader);
    r->reader = NULL;
  }
}

static size_t read_made(xp_rope_reader *r, const xp_rope_piece *piece, uint8_t *buffer, size_t room)
{
  if (r->reader == NULL) {
    r->reader = piece->source->open(piece->context);
  }
  return r->reader == NULL ? 0 : piece->source->read(r->reader, buffer, room);
}

static size_t read_piece(xp_rope_reader *r, const xp_rope_piece *piece, uint8_t *buffer, size_t room)
{
  uint64_t left = piece->bytes - r->offset;
  size_t take = left < room ? (size_t)left : room;
  if (piece->data == NULL) {
    return read_made(r, piece, buffer, take);
  }
  memcpy(buffer, piece->data + r->offset, take);
  return take;
}

size_t xp_rope_read(xp_rope_reader *r, void *buffer, size_t room)
{
  size_t filled = 0;
  while (filled < room && r->piece < r->rope->count) {
    const xp_rope_piece *piece = &r->rope->pieces[r->piece];
    size_t taken = read_piece(r, piece, (uint8_t *)buffer + filled, room - filled);
    if (taken == 0) {
      break;
    }
    filled += taken;
    r->offset += taken;
    if (r->offset == piece->bytes) {
      xp_rope_close(r);
      r->piece++;
      r->offset = 0;
    }
  }
  return filled;
}
