/* Public functions of the most usual forms: xl_NAME(x), xl_NAME(x, y) and xl_NAME(x, number).
 *
 * Each gives the value of an expression of the tensors x and y and the number.
 */
#ifndef XL_OP_PUBLIC_H
#define XL_OP_PUBLIC_H

#include "lazy/runtime.h"

#define XL_PUBLIC_1(name, expression)                                                                                  \
  xl_tensor xl_##name##_at(const xl_location *at, xl_tensor tensor)                                                    \
  {                                                                                                                    \
    static xl_entry entry = {#name, NULL};                                                                             \
    xl_begin(&entry, at);                                                                                              \
    xl_var *x = xl_arg(tensor);                                                                                        \
    return xl_end(expression);                                                                                         \
  }

#define XL_PUBLIC_2(name, expression)                                                                                  \
  xl_tensor xl_##name##_at(const xl_location *at, xl_tensor first, xl_tensor second)                                   \
  {                                                                                                                    \
    static xl_entry entry = {#name, NULL};                                                                             \
    xl_begin(&entry, at);                                                                                              \
    xl_var *x = xl_arg(first), *y = xl_arg(second);                                                                    \
    return xl_end(expression);                                                                                         \
  }

#define XL_PUBLIC_NUMBER(name, expression)                                                                             \
  xl_tensor xl_##name##_at(const xl_location *at, xl_tensor tensor, double number)                                     \
  {                                                                                                                    \
    static xl_entry entry = {#name, NULL};                                                                             \
    xl_begin(&entry, at);                                                                                              \
    xl_var *x = xl_arg(tensor);                                                                                        \
    return xl_end(expression);                                                                                         \
  }

#endif
