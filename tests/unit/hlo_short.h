/* Short ways to build HLO in tests. */
#ifndef XP_TESTS_HLO_SHORT_H
#define XP_TESTS_HLO_SHORT_H

#include "hlo/build.h"

#define SAMPLE_COUNT(list) (sizeof(list) / sizeof(list)[0])

static inline xp_hlo_value sample_parameter(xp_hlo_body *b, int64_t number, xp_hlo_type type, size_t rank,
                                            const int64_t *dims)
{
  const xp_hlo_shape shape = xp_hlo_shape_array(type, rank, dims);
  return xp_hlo_build_parameter(b, number, &shape, "p");
}

/* A computation of two scalars: binary operation, or comparison if `direction` is given. */
static inline uint32_t sample_scalars(xp_hlo_builder *builder, const char *name, xp_hlo_opcode opcode,
                                      xp_hlo_compare direction, xp_hlo_type type)
{
  xp_hlo_body *b = xp_hlo_body_begin(builder, name);
  xp_hlo_value x = sample_parameter(b, 0, type, 0, NULL), y = sample_parameter(b, 1, type, 0, NULL);
  return xp_hlo_body_end(b, direction != XP_HLO_COMPARE_NONE ? xp_hlo_build_compare(b, direction, x, y)
                                                             : xp_hlo_build_binary(b, opcode, x, y));
}

static inline uint32_t sample_end(xp_hlo_body *b, const xp_hlo_value *values, size_t count)
{
  return xp_hlo_body_end(b, xp_hlo_build_tuple(b, values, count));
}

static inline xp_hlo_list sample_list(const int64_t *values, size_t count)
{
  return (xp_hlo_list){values, count};
}

#endif
