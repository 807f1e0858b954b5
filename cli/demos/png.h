/* Pictures as PNG files. */
#ifndef XLAPROF_PNG_H
#define XLAPROF_PNG_H

#include <stddef.h>
#include <stdint.h>

#include "xlaprof/error.h"

/* Writes RGB pixels, row after row.  Whatever was at path is replaced once the picture is whole. */
xp_status png_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height, xp_error *err);

/* Whether a picture can be written there; what is there stays. */
xp_status png_check(const char *path, xp_error *err);

#endif
