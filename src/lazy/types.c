/* Facts about element types, and numbers in them. */
#include "lazy/types.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

const xl_type_fact xl_type_facts[XL_TYPE_COUNT] = {
    [XL_F32] = {XP_HLO_F32, XP_ABI_F32, 4, true, true, "f32"},
    [XL_BF16] = {XP_HLO_BF16, XP_ABI_BF16, 2, true, true, "bf16"},
    [XL_I32] = {XP_HLO_S32, XP_ABI_S32, 4, false, true, "i32"},
    [XL_I64] = {XP_HLO_S64, XP_ABI_S64, 8, false, true, "i64"},
    [XL_U8] = {XP_HLO_U8, XP_ABI_U8, 1, false, false, "u8"},
    [XL_BOOL] = {XP_HLO_PRED, XP_ABI_PRED, 1, false, false, "bool"},
};

/* A shape may be one that a caller made up: what is beyond the most dimensions is not there. */
static void put_extents(char text[XL_SHAPE_TEXT], size_t len, const xl_shape *shape)
{
  len += (size_t)snprintf(text + len, XL_SHAPE_TEXT - len, "[");
  for (size_t i = 0; i < shape->rank && i < XL_MAX_RANK; i++) {
    len += (size_t)snprintf(text + len, XL_SHAPE_TEXT - len, "%s%" PRId64, i > 0 ? "," : "", shape->dims[i]);
  }
  snprintf(text + len, XL_SHAPE_TEXT - len, shape->rank > XL_MAX_RANK ? ",..]" : "]");
}

const char *xl_shape_text(char text[XL_SHAPE_TEXT], xl_type type, const xl_shape *shape)
{
  put_extents(text, (size_t)snprintf(text, XL_SHAPE_TEXT, "%s", xl_type_name(type)), shape);
  return text;
}

const char *xl_extents_text(char text[XL_SHAPE_TEXT], const xl_shape *shape)
{
  put_extents(text, 0, shape);
  return text;
}

/* The upper half of an f32, rounded to even. */
static uint16_t bf16_bits(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (isnan(value)) {
    return (uint16_t)(bits >> 16 | 0x40);
  }
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Numbers outside of the type's range become its ends, and what is no number 0. */
static int64_t whole(double value, double least, double most)
{
  return isnan(value) ? 0 : value <= least ? (int64_t)least : value >= most ? (int64_t)most : (int64_t)value;
}

size_t xl_number_bytes(xl_type type, double value, unsigned char bytes[8])
{
  const float f = (float)value;
  const uint16_t half = bf16_bits(f);
  const int32_t i32 = (int32_t)whole(value, INT32_MIN, INT32_MAX);
  const int64_t i64 = value >= 0x1p63 ? INT64_MAX : whole(value, -0x1p63, 0x1p63 - 1024);
  const uint8_t u8 = (uint8_t)whole(value, 0, 255), truth = value != 0;
  const void *const of_type[XL_TYPE_COUNT] = {&f, &half, &i32, &i64, &u8, &truth};
  memcpy(bytes, of_type[type], xl_type_facts[type].bytes);
  return xl_type_facts[type].bytes;
}
