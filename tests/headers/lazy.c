/* The macros of lazy.h as a program uses them, in C and in C++: shapes, nested operations with their places, blocks.
 * Exit status 0 if the values are right. */
#include "xlaprof/lazy.h"

/* Leaves its blocks by return. */
static xl_tensor add_and_keep(xl_tensor x)
{
  XL_POOL
  {
    XL_NO_GRAD
    {
      return xl_keep(xl_add(x, xl_relu(xl_mul(xl_scalar(XL_F32, 2.0), xl_sub(x, x)))));
    }
  }
  return XL_NONE;
}

static xl_tensor train(xl_tensor x, xl_tensor w, int steps)
{
  xl_tensor loss = XL_NONE;
  xl_requires_grad(w, true);
  for (int i = 0; i < steps; i++) {
    XP_STEP("train", i) {
      XL_POOL
      {
        XP_TRACE("fwd") {
          xl_free(loss);
          loss = xl_keep(xl_mean(xl_mul(x, w)));
        }
        xl_backward(loss);
        XL_NO_GRAD
        {
          xl_add_scaled_(w, xl_grad(w), -1.0);
        }
        xl_zero_grad(w);
      }
    }
  }
  return loss;
}

int main(void)
{
  xp_error err;
  double sum = 0, loss = 0;
  const float values[6] = {1, 1, 1, 1, 1, 1};
  const int rows = 2;
  const xl_shape vector = XL_SHAPE(6), scalar = XL_SCALAR;
  xl_device_options device = XL_DEVICE_OPTIONS_INIT;
  const xl_conv2d_options conv = XL_CONV2D_OPTIONS_INIT;
  xl_shape shape;
  xl_type type;
  xl_device *opened;
  device.plugin = "embedded";
  if (xl_device_open(&device, &opened, &err) != XP_OK || vector.rank != 1 || scalar.rank != 0 || conv.groups != 1) {
    return 1;
  }
  const xl_tensor x = xl_from_host(XL_F32, XL_SHAPE(rows, 3), values), w = xl_from_host(XL_F32, XL_SHAPE(3), values);
  if (xl_describe(x, &type, &shape, &err) != XP_OK || shape.rank != 2 || shape.dims[0] != 2 || shape.dims[1] != 3) {
    return 2;
  }
  if (xl_item(xl_sum(add_and_keep(x)), &sum, &err) != XP_OK || xl_item(train(x, w, 2), &loss, &err) != XP_OK) {
    return 3;
  }
  xl_shutdown();
  return sum == 6 && loss > 0.66 && loss < 0.67 ? 0 : 4; /* 1 - 1/3: every w fell by 1/3 once */
}
