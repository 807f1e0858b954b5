/* Gradients of products: products with the other factor turned. */
#include "lazy/autograd.h"
#include "lazy/op_products.h"
#include "lazy/op_views.h"

/* Of a product of inputs x and y, whose last two dimensions are those of the matrices. */
static void product(xl_gradient *to, xl_var *multiply(xl_var *, xl_var *), size_t x, size_t y)
{
  if (xl_gradient_wanted(to, x)) {
    to->result[x] = multiply(to->grad, xl_op_transpose(to->in[y], -2, -1));
  }
  if (xl_gradient_wanted(to, y)) {
    to->result[y] = multiply(xl_op_transpose(to->in[x], -2, -1), to->grad);
  }
}

void xl_gradient_mm(xl_gradient *to)
{
  product(to, xl_op_mm, 0, 1);
}

void xl_gradient_bmm(xl_gradient *to)
{
  product(to, xl_op_bmm, 0, 1);
}

void xl_gradient_addmm(xl_gradient *to)
{
  to->result[0] = to->grad;
  product(to, xl_op_mm, 1, 2);
}
