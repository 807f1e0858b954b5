/* Rounds of a few pieces for each thread: they are written into memory, then to the stream, and the next round begins.
 * More pieces than threads even out that one piece takes longer than another.  The memory of a piece is kept for the
 * next round: its first touch costs as much as the writing. */
#include "report/pieces.h"

#include <stdlib.h>

#include "base/thread.h"

enum { THINGS_A_PIECE = 128, PIECES_A_THREAD = 4, MOST_THREADS = 64 };

typedef struct {
  FILE *out; /* into the text; NULL: not opened yet */
  char *text;
  size_t len;
  bool done;
} piece;

/* What a thread keeps from piece to piece. */
typedef struct {
  xp_arena *arena, *scratch;
} worker;

typedef struct {
  const xp_printer *printer; /* of the caller */
  xp_piece_write *write;
  const void *context;
  size_t first, count; /* of this round's things, and of all */
  piece pieces[MOST_THREADS * PIECES_A_THREAD];
  worker workers[MOST_THREADS];
} round_of;

/* One piece that is being written. */
typedef struct {
  const round_of *round;
  xp_printer printer;
  size_t first, end;
} job;

static void write_things(void *context)
{
  const job *j = context;
  j->round->write(j->round->context, &j->printer, j->first, j->end);
}

static void guard_scratch(void *context)
{
  job *j = context;
  if (!xp_arena_guard(j->printer.scratch, write_things, j)) {
    xp_arena_give_up(j->printer.arena);
  }
}

/* False if memory is out. */
static bool write_piece(const round_of *round, const worker *w, size_t number, FILE *out)
{
  size_t first = round->first + number * THINGS_A_PIECE, left = round->count - first;
  job j = {round, *round->printer, first, first + (left < THINGS_A_PIECE ? left : THINGS_A_PIECE)};
  j.printer.out = out;
  j.printer.arena = w->arena;
  j.printer.scratch = w->scratch;
  bool done = xp_arena_guard(w->arena, guard_scratch, &j);
  xp_arena_clear(w->scratch);
  xp_arena_clear(w->arena);
  return done;
}

static bool open_piece(piece *p, worker *w)
{
  p->out = p->out != NULL ? p->out : open_memstream(&p->text, &p->len);
  w->arena = w->arena != NULL ? w->arena : xp_arena_create();
  w->scratch = w->scratch != NULL ? w->scratch : xp_arena_create();
  return p->out != NULL && w->arena != NULL && w->scratch != NULL && fseeko(p->out, 0, SEEK_SET) == 0;
}

static void run_piece(void *context, size_t number, int thread)
{
  round_of *round = context;
  worker *w = &round->workers[thread];
  piece *p = &round->pieces[number];
  p->done = open_piece(p, w) && write_piece(round, w, number, p->out) && fflush(p->out) == 0;
}

/* Writes what the round has.  False if a piece is missing; nothing follows it then. */
static bool drain(const round_of *round, size_t pieces)
{
  for (size_t i = 0; i < pieces; i++) {
    const piece *p = &round->pieces[i];
    if (!p->done) {
      return false;
    }
    fwrite(p->text, 1, p->len, round->printer->out);
  }
  return true;
}

static bool write_rounds(round_of *round, int threads)
{
  bool whole = true;
  while (whole && round->first < round->count) {
    size_t most = (size_t)threads * PIECES_A_THREAD, left = round->count - round->first;
    size_t pieces = left / THINGS_A_PIECE + (left % THINGS_A_PIECE != 0);
    pieces = pieces < most ? pieces : most;
    xp_parallel(pieces, threads, run_piece, round);
    whole = drain(round, pieces);
    round->first += left < pieces * THINGS_A_PIECE ? left : pieces * THINGS_A_PIECE;
  }
  return whole;
}

static void give_back(round_of *round)
{
  for (size_t i = 0; i < sizeof round->pieces / sizeof round->pieces[0]; i++) {
    if (round->pieces[i].out != NULL) {
      fclose(round->pieces[i].out);
      free(round->pieces[i].text);
    }
  }
  for (size_t i = 0; i < MOST_THREADS; i++) {
    xp_arena_destroy(round->workers[i].arena);
    xp_arena_destroy(round->workers[i].scratch);
  }
}

void xp_pieces_write(const xp_printer *printer, size_t count, xp_piece_write *write, const void *context)
{
  int threads = xp_cpu_count();
  threads = threads < MOST_THREADS ? threads : MOST_THREADS;
  if (count <= THINGS_A_PIECE || threads == 1) {
    write(context, printer, 0, count);
    return;
  }
  round_of *round = xp_arena_alloc(printer->arena, sizeof *round);
  *round = (round_of){.printer = printer, .write = write, .context = context, .count = count};
  bool whole = write_rounds(round, threads);
  give_back(round);
  if (!whole) {
    xp_arena_give_up(printer->arena);
  }
}
