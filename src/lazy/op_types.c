/* Checks of types.  They are as strict as torch's, so that a program that runs here runs there; products of mixed types
 * and the like are mistakes more often than they are meant, and cost copies that nobody sees. */
#include "lazy/op_types.h"

#include <stdio.h>

static const char *text_of(char text[XL_SHAPE_TEXT], const xl_var *x)
{
  return xl_shape_text(text, x->type, &x->shape);
}

void *xl_no_bools(const xl_var *x, const xl_var *y)
{
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT] = "";
  return xl_refuse(XP_ERR_USAGE,
                   "%s%s%s: this is not defined for bools; xl_cast makes numbers of them, xl_logical_not, "
                   "xl_logical_and, xl_logical_or and xl_logical_xor combine them",
                   text_of(a, x), y != NULL ? " and " : "", y != NULL ? text_of(b, y) : "");
}

bool xl_check_fractions(const xl_var *x)
{
  char text[XL_SHAPE_TEXT];
  return xl_is_float(x->type) ||
         xl_refuse(XP_ERR_USAGE, "%s has no fractions (f32, bf16); cast it to f32 (xl_cast)", text_of(text, x)) != NULL;
}

bool xl_check_same_types(const xl_var *x, const xl_var *y)
{
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
  return x->type == y->type || xl_refuse(XP_ERR_USAGE, "%s and %s are of different types; cast one of them (xl_cast)",
                                         text_of(a, x), text_of(b, y)) != NULL;
}

/* ---------------------------------------------------------------- updates */

static inline bool is_kept(const xl_var *x, const xl_var *value)
{
  return x == NULL || value == NULL || xl_category_of(value->type) <= xl_category_of(x->type);
}

static xl_var *not_kept(const xl_var *x, const xl_var *value, const char *with)
{
  char text[XL_SHAPE_TEXT];
  return xl_refuse(XP_ERR_USAGE,
                   "%s with %s gives %s, and an update in place keeps %s; cast the tensor first (xl_cast), or copy the "
                   "result into it (xl_copy_)",
                   text_of(text, x), with, xl_type_name(value->type), xl_type_name(x->type));
}

xl_var *xl_kept_with(const xl_var *x, xl_var *value, const xl_var *other, const xl_var *third)
{
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT], with[2 * XL_SHAPE_TEXT + 8];
  if (is_kept(x, value)) {
    return value;
  }
  snprintf(with, sizeof with, "%s%s%s", text_of(a, other), third != NULL ? " and " : "",
           third != NULL ? text_of(b, third) : "");
  return not_kept(x, value, with);
}

xl_var *xl_kept_with_number(const xl_var *x, xl_var *value, double number)
{
  char with[64];
  if (is_kept(x, value)) {
    return value;
  }
  snprintf(with, sizeof with, "the number %g", number);
  return not_kept(x, value, with);
}
