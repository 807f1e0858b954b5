/* Numbers out of bytes and back.
 *
 * Every float of 16 bits and less is a sign, an exponent and a fraction, with differences in what the largest exponent
 * means, so one function with a table of widths reads them all.
 */
#include "hlo/element.h"

#include <math.h>

/* How infinities and NaN are written in a format. */
typedef enum {
  IEEE,       /* the largest exponent: infinity with fraction 0, else NaN */
  ALL_ONES,   /* no infinity; all bits but the sign set: NaN */
  MINUS_ZERO, /* no infinity; minus zero is NaN */
  FINITE      /* numbers only */
} special;

typedef struct {
  int exponent_bits, fraction_bits, bias;
  special special;
} format;

static const format *format_of(xp_hlo_type type)
{
  static const format formats[XP_HLO_TYPE_COUNT] = {
      [XP_HLO_F16] = {5, 10, 15, IEEE},
      [XP_HLO_BF16] = {8, 7, 127, IEEE},
      [XP_HLO_F8E5M2] = {5, 2, 15, IEEE},
      [XP_HLO_F8E4M3] = {4, 3, 7, IEEE},
      [XP_HLO_F8E3M4] = {3, 4, 3, IEEE},
      [XP_HLO_F8E4M3FN] = {4, 3, 7, ALL_ONES},
      [XP_HLO_F8E4M3B11FNUZ] = {4, 3, 11, MINUS_ZERO},
      [XP_HLO_F8E5M2FNUZ] = {5, 2, 16, MINUS_ZERO},
      [XP_HLO_F8E4M3FNUZ] = {4, 3, 8, MINUS_ZERO},
      [XP_HLO_F4E2M1FN] = {2, 1, 1, FINITE},
      [XP_HLO_F6E3M2FN] = {3, 2, 3, FINITE},
      [XP_HLO_F6E2M3FN] = {2, 3, 1, FINITE},
  };
  return &formats[(unsigned)type < XP_HLO_TYPE_COUNT ? type : XP_HLO_TYPE_INVALID];
}

static double small_float(const format *f, uint32_t bits)
{
  uint32_t fraction = bits & ((1u << f->fraction_bits) - 1), most = (1u << f->exponent_bits) - 1;
  uint32_t exponent = bits >> f->fraction_bits & most;
  bool is_negative = bits >> (f->fraction_bits + f->exponent_bits) & 1;
  double sign = is_negative ? -1 : 1;
  if (f->special == IEEE && exponent == most) {
    return fraction == 0 ? sign * (double)INFINITY : copysign((double)NAN, sign);
  }
  if (f->special == ALL_ONES && exponent == most && fraction == (1u << f->fraction_bits) - 1) {
    return copysign((double)NAN, sign);
  }
  if (f->special == MINUS_ZERO && is_negative && exponent == 0 && fraction == 0) {
    return (double)NAN;
  }
  if (exponent == 0) {
    return sign * ldexp((double)fraction, 1 - f->bias - f->fraction_bits);
  }
  return sign * ldexp((double)(fraction | 1u << f->fraction_bits), (int)exponent - f->bias - f->fraction_bits);
}

static uint64_t load(const void *bytes, size_t count)
{
  uint64_t value = 0;
  for (size_t i = 0; i < count; i++) {
    value |= (uint64_t)((const uint8_t *)bytes)[i] << (8 * i);
  }
  return value;
}

double xp_hlo_element_to_double(xp_hlo_type type, const void *bytes)
{
  double wide;
  float narrow;
  switch (type) {
  case XP_HLO_F64:
  case XP_HLO_C128:
    memcpy(&wide, bytes, sizeof wide);
    return wide;
  case XP_HLO_F32:
  case XP_HLO_C64:
    memcpy(&narrow, bytes, sizeof narrow);
    return (double)narrow;
  case XP_HLO_F8E8M0FNU: /* an exponent alone */
    return load(bytes, 1) == 0xff ? (double)NAN : ldexp(1, (int)load(bytes, 1) - 127);
  default:
    return xp_hlo_type_is_float(type) ? small_float(format_of(type), (uint32_t)load(bytes, xp_hlo_type_bytes(type)))
                                      : 0;
  }
}

int64_t xp_hlo_element_to_int64(xp_hlo_type type, const void *bytes)
{
  unsigned bits = xp_hlo_type_bits(type);
  xp_hlo_kind kind = xp_hlo_type_kind(type);
  if (kind == XP_HLO_KIND_NONE || kind == XP_HLO_KIND_FLOAT || kind == XP_HLO_KIND_COMPLEX) {
    return 0;
  }
  uint64_t value = load(bytes, xp_hlo_type_bytes(type));
  value &= bits < 64 ? ((uint64_t)1 << bits) - 1 : ~(uint64_t)0;
  if (kind == XP_HLO_KIND_SIGNED && bits < 64 && value >> (bits - 1) & 1) {
    value |= ~(uint64_t)0 << bits;
  }
  return (int64_t)value;
}

/* ---------------------------------------------------------------- from double */

/* A positive finite value as exponent and fraction of a 16-bit format, ties to even; too large gives infinity. */
static uint32_t round_small(const format *f, double value)
{
  int exponent;
  if (value == 0) {
    return 0;
  }
  frexp(value, &exponent);
  exponent += f->bias - 1; /* the biased exponent, if the number is a normal one */
  int scale = exponent > 0 ? exponent : 1;
  double fraction = nearbyint(ldexp(value, f->fraction_bits + f->bias - scale)); /* the mode of a program is to even */
  /* A carry out of the fraction goes into the exponent by itself. */
  uint64_t bits = (uint64_t)fraction + ((uint64_t)(scale - 1) << f->fraction_bits);
  uint64_t infinity = (uint64_t)((1u << f->exponent_bits) - 1) << f->fraction_bits;
  return (uint32_t)(bits < infinity ? bits : infinity);
}

static uint32_t to_small(const format *f, double value)
{
  uint32_t sign = signbit(value) ? 1u << (f->exponent_bits + f->fraction_bits) : 0;
  uint32_t infinity = ((1u << f->exponent_bits) - 1) << f->fraction_bits;
  if (isnan(value)) {
    return sign | infinity | 1u << (f->fraction_bits - 1);
  }
  return sign | (isinf(value) ? infinity : round_small(f, fabs(value)));
}

static uint64_t to_integer(xp_hlo_type type, double value)
{
  unsigned bits = xp_hlo_type_bits(type);
  bool is_signed = xp_hlo_type_kind(type) == XP_HLO_KIND_SIGNED;
  double limit = ldexp(1, (int)bits - (is_signed ? 1 : 0)), low = is_signed ? -limit : 0;
  if (isnan(value)) {
    return 0;
  }
  if (value >= limit) {
    return ~(uint64_t)0 >> (64 - bits + (is_signed ? 1 : 0));
  }
  value = value < low ? low : value;
  return is_signed ? (uint64_t)(int64_t)value : (uint64_t)value;
}

bool xp_hlo_element_from_double(xp_hlo_type type, double value, void *bytes)
{
  float narrow = (float)value;
  uint64_t bits = 0;
  size_t size = xp_hlo_type_bytes(type);
  if (type == XP_HLO_F64 || type == XP_HLO_C128) {
    memcpy(&bits, &value, sizeof value);
  } else if (type == XP_HLO_F32 || type == XP_HLO_C64) {
    memcpy(&bits, &narrow, sizeof narrow);
  } else if (type == XP_HLO_F16 || type == XP_HLO_BF16) {
    bits = to_small(format_of(type), value);
  } else if (type == XP_HLO_PRED) {
    bits = value != 0;
  } else if (xp_hlo_type_is_integer(type)) {
    bits = to_integer(type, value);
  } else {
    return false;
  }
  for (size_t i = 0; i < size; i++) {
    ((uint8_t *)bytes)[i] = (uint8_t)(i < 8 ? bits >> (8 * i) : 0);
  }
  return true;
}
