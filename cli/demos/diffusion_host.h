/* What pipelines do on the host: tokenising a prompt, and hiding a watermark in an image. */
#ifndef XLAPROF_DIFFUSION_HOST_H
#define XLAPROF_DIFFUSION_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Byte pairs: merges the most frequent pair of the text into a new token until none comes twice or there are `most`
 * kinds, and gives the first `count` tokens, each below `most`. */
void tokenize(const char *text, size_t most, int64_t *tokens, size_t count);

/* Adds a pattern to the spectrum of every block of 8 by 8 of an image of [3, size, size], by cosine transforms there
 * and back: in many small rounds, since values are cut to 0 and 1 behind each. */
void watermark(float *image, size_t size, int rounds);

#endif
