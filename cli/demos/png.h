/* Pictures as PNG files. */
#ifndef XLAPROF_PNG_H
#define XLAPROF_PNG_H

#include <stddef.h>
#include <stdint.h>

#include "xlaprof/error.h"

/* Writes RGB pixels, row after row, into a new file: XP_ERR_IO if there is one at the path. */
xp_status png_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height, xp_error *err);

#endif
