/* Gradients of products: products with the other factor turned. */
#include "lazy/autograd.h"
#include "lazy/op_products.h"
#include "lazy/op_views.h"

static void mm(xl_gradient *to, size_t x, size_t y)
{
  if (xl_gradient_wanted(to, x)) {
    to->result[x] = xl_op_mm(to->grad, xl_op_transpose(to->in[y], 0, 1));
  }
  if (xl_gradient_wanted(to, y)) {
    to->result[y] = xl_op_mm(xl_op_transpose(to->in[x], 0, 1), to->grad);
  }
}

void xl_gradient_mm(xl_gradient *to)
{
  mm(to, 0, 1);
}

void xl_gradient_addmm(xl_gradient *to)
{
  to->result[0] = to->grad;
  mm(to, 1, 2);
}
