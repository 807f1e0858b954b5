/* Messages and structures, one table for both directions.
 *
 * A record says which field of a message stands where in a structure, so reading and writing cannot disagree.  What is
 * not a plain copy (shapes, literals, ids) is done in code around the tables.
 */
#ifndef XP_HLO_RECORD_H
#define XP_HLO_RECORD_H

#include <stddef.h>

#include "base/error.h"
#include "hlo/hlo.h"
#include "wire/wire.h"

typedef enum {
  XP_HLO_FIELD_INT64,
  XP_HLO_FIELD_INT32,
  XP_HLO_FIELD_BOOL,
  XP_HLO_FIELD_FLOAT,
  XP_HLO_FIELD_ENUM,    /* a number below `limit` in an int */
  XP_HLO_FIELD_NAME,    /* a text of `names` as its index, an int; the empty text is 0 */
  XP_HLO_FIELD_STR,     /* xp_str: string or bytes */
  XP_HLO_FIELD_LIST,    /* xp_hlo_list: repeated numbers */
  XP_HLO_FIELD_STRS,    /* pointer to xp_str, and a count: repeated string, or messages to be read later */
  XP_HLO_FIELD_INLINE,  /* a message in the structure itself, of `record` */
  XP_HLO_FIELD_POINTER, /* pointer to a structure of `record`; NULL if the message has none */
  XP_HLO_FIELD_ARRAY,   /* pointer to structures of `record`, and a count */
  XP_HLO_FIELD_SHAPE,   /* xp_hlo_shape */
  XP_HLO_FIELD_SHAPES,  /* pointer to xp_hlo_shape, and a count */
  XP_HLO_FIELD_LITERAL, /* pointer to xp_hlo_literal */
  XP_HLO_FIELD_DERIVED  /* read by nobody, and made anew by the writer */
} xp_hlo_field_kind;

typedef struct xp_hlo_record xp_hlo_record;

typedef struct {
  uint16_t number;
  uint16_t kind;
  uint16_t offset;
  uint16_t count; /* offset of the count of arrays; how many there are for ENUM and NAME */
  union {
    const xp_hlo_record *record;
    const char *const *names;
  } of;
  const char *name; /* as the message calls it */
} xp_hlo_field;

struct xp_hlo_record {
  const char *name;
  const xp_hlo_field *fields;
  size_t field_count; /* at most XP_HLO_MAX_FIELDS */
  size_t size;        /* of the structure */
  size_t rest;        /* offset of the xp_str that takes the fields without a line; or one of these: */
};

#define XP_HLO_DROP_REST SIZE_MAX /* such fields do not matter */
#define XP_HLO_REFUSE_REST                                                                                             \
  (SIZE_MAX - 1) /* a program with one is refused: it may mean something else than we think                            \
                  */
#define XP_HLO_MAX_FIELDS 48

/* What reading goes on with, and how it fails. */
typedef struct {
  xp_arena *arena; /* with an escape */
  xp_error *err;
  xp_status status;
  xp_str computation, instruction; /* that are being read; empty before the first */
  unsigned depth;                  /* of tuples around what is being read */
} xp_hlo_reader;

/* Fails: a sentence with the instruction, the field and what is wrong with it.  Returns false. */
bool xp_hlo_refuse(xp_hlo_reader *r, xp_status status, const char *field, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads a message into a zeroed structure.  False after a failure. */
bool xp_hlo_record_read(xp_hlo_reader *r, const xp_hlo_record *record, xp_str message, void *structure);

/* Appends the fields of a structure that are not zero, and its rest. */
void xp_hlo_record_write(xp_wire_writer *w, const xp_hlo_record *record, const void *structure);

/* The structures that only the messages have: ids where the module has indices. */
typedef struct {
  xp_hlo_instruction in;
  xp_hlo_list operand_ids, predecessor_ids, call_ids;
  xp_hlo_list gather_slice_sizes;
  xp_hlo_custom_call custom;
} xp_hlo_raw_instruction;

typedef struct {
  xp_hlo_computation in;
  const xp_str *instructions;
  size_t instruction_count;
  int64_t root_id;
} xp_hlo_raw_computation;

typedef struct {
  const xp_hlo_shape *parameters;
  size_t parameter_count;
  xp_hlo_shape result;
} xp_hlo_program_shape;

typedef struct {
  xp_hlo_module in;
  const xp_str *computations;
  size_t computation_count;
  int64_t entry_id;
  xp_str entry_name;
  const xp_hlo_program_shape *program;
} xp_hlo_raw_module;

extern const xp_hlo_record xp_hlo_instruction_record, xp_hlo_computation_record, xp_hlo_module_record;

/* Texts of xp_hlo_compare and xp_hlo_order: "EQ", "TOTALORDER"; "" for 0. */
extern const char *const xp_hlo_compare_names[XP_HLO_COMPARE_COUNT];
extern const char *const xp_hlo_order_names[XP_HLO_ORDER_COUNT];

/* ShapeProto and LiteralProto (proto_shape.c, proto_literal.c). */
bool xp_hlo_shape_read(xp_hlo_reader *r, const char *field, xp_str message, xp_hlo_shape *shape);
void xp_hlo_shape_write(xp_wire_writer *w, const xp_hlo_shape *shape);
bool xp_hlo_literal_read(xp_hlo_reader *r, xp_str message, xp_hlo_literal *literal);
void xp_hlo_literal_write(xp_wire_writer *w, const xp_hlo_literal *literal);

#endif
