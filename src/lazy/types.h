/* The element types of tensors, in terms of HLO and of PJRT. */
#ifndef XL_TYPES_H
#define XL_TYPES_H

#include "hlo/shape.h"
#include "pjrt/client.h"
#include "xlaprof/lazy.h"

typedef struct {
  xp_hlo_type hlo;
  xp_abi_type abi;
  uint8_t bytes;
  bool is_float, is_signed;
  const char *name; /* that of the interface, XL_I32: HLO has others */
} xl_type_fact;

extern const xl_type_fact xl_type_facts[XL_TYPE_COUNT];

static inline xp_hlo_type xl_hlo_type(xl_type type)
{
  return xl_type_facts[type].hlo;
}

static inline bool xl_is_float(xl_type type)
{
  return xl_type_facts[type].is_float;
}

/* "f32", "i32", "bool" */
static inline const char *xl_type_name(xl_type type)
{
  return xl_type_facts[type].name;
}

/* Of two types of the same category neither is lost in the other; each category holds those before it (torch.can_cast).
 */
typedef enum { XL_TRUTHS, XL_WHOLE_NUMBERS, XL_FRACTIONS } xl_category;

static inline xl_category xl_category_of(xl_type type)
{
  return type == XL_BOOL ? XL_TRUTHS : xl_is_float(type) ? XL_FRACTIONS : XL_WHOLE_NUMBERS;
}

/* At most XL_MAX_RANK extents, none of them negative, and fewer than 2^60 elements even if those of extent 0 had one:
 * then products of extents and sizes in bytes stay in 64 bits. */
static inline bool xl_shape_is_sound(const xl_shape *shape)
{
  int64_t elements = 1;
  bool is_sound = shape->rank <= XL_MAX_RANK;
  for (size_t i = 0; is_sound && i < shape->rank; i++) {
    const int64_t extent = shape->dims[i];
    is_sound = extent >= 0 && !__builtin_mul_overflow(elements, extent > 0 ? extent : 1, &elements);
  }
  return is_sound && elements <= INT64_MAX / 8;
}

static inline int64_t xl_shape_elements(const xl_shape *shape)
{
  int64_t n = 1;
  for (size_t i = 0; i < shape->rank; i++) {
    n *= shape->dims[i];
  }
  return n;
}

/* The type in which a program counts to n. */
static inline xl_type xl_counting_type(int64_t n)
{
  return n <= INT32_MAX ? XL_I32 : XL_I64;
}

static inline bool xl_shape_equal(const xl_shape *a, const xl_shape *b)
{
  return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

static inline xp_hlo_shape xl_hlo_shape(xl_type type, const xl_shape *shape)
{
  return xp_hlo_shape_array(xl_hlo_type(type), shape->rank, shape->dims);
}

/* "f32[16,4]", at most room bytes; returns text. */
enum { XL_SHAPE_TEXT = 192 };
const char *xl_shape_text(char text[XL_SHAPE_TEXT], xl_type type, const xl_shape *shape);

/* The same without the type: "[16,4]". */
const char *xl_extents_text(char text[XL_SHAPE_TEXT], const xl_shape *shape);

/* Rounds a number to a type, as the bytes that go to a device; returns how many. */
size_t xl_number_bytes(xl_type type, double value, unsigned char bytes[8]);

#endif
