/* The options of all commands as rows of one table, which help prints and the parser reads. */
#ifndef CLI_OPTIONS_TABLE_H
#define CLI_OPTIONS_TABLE_H

#include "options.h"

/* How the text becomes the value. */
typedef enum { KIND_SWITCH, KIND_TEXT, KIND_TIME, KIND_NUMBER, KIND_PERCENT, KIND_BY, KIND_PAIR, KIND_TPU } option_kind;

enum { NO_FIELD = 0 };

typedef struct {
  option_help shown;
  option_kind kind;
  size_t value; /* offset of the field */
  size_t given; /* offset of the bool that says that it was given; NO_FIELD: none */
} option_row;

extern const option_row option_rows[];
extern const size_t option_row_count;

/* The error of an option or a word, with what to do; false. */
bool options_fail(xp_error *err, const char *what, const char *word, const char *hint);

/* Writes the field of a row from the text behind the option, if its value is possible; `word` is the option as it was
 * written. */
bool options_set(options *o, const option_row *row, const char *word, const char *text, xp_error *err);

/* Whether the options make sense together. */
bool options_check(const options *o, xp_error *err);

#endif
