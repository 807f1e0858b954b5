/* Pictures of digits to learn from, made on the spot: a 5x7 glyph somewhere in 8x8 pixels, under noise.  The same seed
 * gives the same pictures on every machine. */
#ifndef DIGITS_H
#define DIGITS_H

#include <xlaprof/lazy.h>

enum { DIGIT_SIDE = 8, DIGIT_PIXELS = DIGIT_SIDE * DIGIT_SIDE, DIGIT_CLASSES = 10 };

typedef struct {
  size_t count;
  float *pixels;   /* count x DIGIT_PIXELS */
  int64_t *labels; /* count */
} digits;

/* False when memory is out.  Pictures of different seeds are different. */
bool digits_make(digits *made, size_t count, uint64_t seed);
void digits_free(digits *made);

/* Number `index` of a sequence, in [0, 1). */
float digits_random(uint64_t seed, uint64_t index);

/* What the device loader needs to hand out batches of `size` pictures, one after the other; start is the next one. */
typedef struct {
  const digits *from;
  size_t start, size;
} digits_batches;

xp_status digits_fetch(void *batches, xl_host_array *arrays, xp_error *err);

/* ---- the training that mlp_digits.c and convnet.c share */

enum { PARAMETERS_MAX = 8 };

typedef struct {
  const char *name;
  double rate; /* of learning */
  size_t parameter_count;
  struct {
    xl_shape shape;
    int64_t inputs; /* that one output has; initial values lie within 1 / sqrt(inputs) */
  } parameters[PARAMETERS_MAX];
  xl_tensor (*forward)(xl_tensor pictures, const xl_tensor *parameters); /* [n, pixels] to logits [n, classes] */
} digits_model;

/* The whole program: reads the command line, trains, prints.  Returns the exit status. */
int digits_main(const digits_model *model, int count, char **words);

#endif
