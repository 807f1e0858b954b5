/* Element types of XLA: their numbers, names and sizes.
 *
 * The numbers are those of xla.PrimitiveType, so they go into messages as they are.
 */
#ifndef XP_HLO_TYPE_H
#define XP_HLO_TYPE_H

#include "base/str.h"

typedef enum {
  XP_HLO_TYPE_INVALID = 0,
  XP_HLO_PRED = 1,
  XP_HLO_S8 = 2,
  XP_HLO_S16 = 3,
  XP_HLO_S32 = 4,
  XP_HLO_S64 = 5,
  XP_HLO_U8 = 6,
  XP_HLO_U16 = 7,
  XP_HLO_U32 = 8,
  XP_HLO_U64 = 9,
  XP_HLO_F16 = 10,
  XP_HLO_F32 = 11,
  XP_HLO_F64 = 12,
  XP_HLO_TUPLE = 13,
  XP_HLO_OPAQUE = 14,
  XP_HLO_C64 = 15,
  XP_HLO_BF16 = 16,
  XP_HLO_TOKEN = 17,
  XP_HLO_C128 = 18,
  XP_HLO_F8E5M2 = 19,
  XP_HLO_F8E4M3FN = 20,
  XP_HLO_S4 = 21,
  XP_HLO_U4 = 22,
  XP_HLO_F8E4M3B11FNUZ = 23,
  XP_HLO_F8E5M2FNUZ = 24,
  XP_HLO_F8E4M3FNUZ = 25,
  XP_HLO_S2 = 26,
  XP_HLO_U2 = 27,
  XP_HLO_F8E4M3 = 28,
  XP_HLO_F8E3M4 = 29,
  XP_HLO_S1 = 30,
  XP_HLO_U1 = 31,
  XP_HLO_F4E2M1FN = 32,
  XP_HLO_F8E8M0FNU = 33,
  XP_HLO_BUFFER = 34,
  XP_HLO_F6E3M2FN = 35,
  XP_HLO_F6E2M3FN = 36,
  XP_HLO_TYPE_COUNT
} xp_hlo_type;

/* What arithmetic a type has. */
typedef enum {
  XP_HLO_KIND_NONE, /* no elements: tuples, tokens, unknown numbers */
  XP_HLO_KIND_PRED,
  XP_HLO_KIND_SIGNED,
  XP_HLO_KIND_UNSIGNED,
  XP_HLO_KIND_FLOAT,
  XP_HLO_KIND_COMPLEX
} xp_hlo_kind;

typedef struct {
  const char *name; /* as XLA prints it: "f32" */
  uint8_t bits;     /* of an element; 0 for what has no elements */
  uint8_t kind;     /* xp_hlo_kind */
  uint8_t field;    /* of the LiteralProto that holds its values; 0 if there is none */
} xp_hlo_type_fact;

/* By number; a number that is no type has no name, 0 bits and no kind. */
extern const xp_hlo_type_fact xp_hlo_type_facts[XP_HLO_TYPE_COUNT];

static inline const xp_hlo_type_fact *xp_hlo_type_fact_of(xp_hlo_type type)
{
  return &xp_hlo_type_facts[(unsigned)type < XP_HLO_TYPE_COUNT ? type : XP_HLO_TYPE_INVALID];
}

/* "f32"; "invalid" for what is no type. */
static inline const char *xp_hlo_type_name(xp_hlo_type type)
{
  return xp_hlo_type_fact_of(type)->name;
}

static inline unsigned xp_hlo_type_bits(xp_hlo_type type)
{
  return xp_hlo_type_fact_of(type)->bits;
}

/* Bytes of one element in memory: types of less than a byte take one, as in a LiteralProto. */
static inline size_t xp_hlo_type_bytes(xp_hlo_type type)
{
  return (xp_hlo_type_bits(type) + 7u) / 8;
}

static inline xp_hlo_kind xp_hlo_type_kind(xp_hlo_type type)
{
  return (xp_hlo_kind)xp_hlo_type_fact_of(type)->kind;
}

static inline bool xp_hlo_type_is_integer(xp_hlo_type type)
{
  return xp_hlo_type_kind(type) == XP_HLO_KIND_SIGNED || xp_hlo_type_kind(type) == XP_HLO_KIND_UNSIGNED;
}

static inline bool xp_hlo_type_is_float(xp_hlo_type type)
{
  return xp_hlo_type_kind(type) == XP_HLO_KIND_FLOAT;
}

static inline bool xp_hlo_type_is_complex(xp_hlo_type type)
{
  return xp_hlo_type_kind(type) == XP_HLO_KIND_COMPLEX;
}

/* True for types of array elements. */
static inline bool xp_hlo_type_is_array(xp_hlo_type type)
{
  return xp_hlo_type_kind(type) != XP_HLO_KIND_NONE;
}

#endif
