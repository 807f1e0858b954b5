/* A small convolutional network learns digits: build/examples/convnet [--epochs N] [--json] [--logdir DIR]
 *
 * It sees each 3x3 patch in the same way wherever it is.  The rate is small since larger ones make the training depend
 * on the last digit of every sum.
 */
#include "digits.h"

enum { CHANNELS = 8, PATCH = 3, POOLED = DIGIT_SIDE / 2, FEATURES = 2 * CHANNELS * POOLED * POOLED };

static xl_tensor forward(xl_tensor pictures, const xl_tensor *p)
{
  const xl_conv2d_options same_size = {{1, 1}, {1, 1}, {1, 1}, 1};
  xl_tensor x = xl_reshape(pictures, XL_SHAPE(-1, 1, DIGIT_SIDE, DIGIT_SIDE));
  XP_TRACE("conv1") {
    x = xl_relu(xl_conv2d(x, p[0], p[1], &same_size));
  }
  XP_TRACE("conv2") {
    x = xl_relu(xl_conv2d(x, p[2], p[3], &same_size));
    x = xl_avg_pool2d(x, 2, 2);
  }
  XP_TRACE("head") {
    x = xl_linear(xl_reshape(x, XL_SHAPE(-1, FEATURES)), p[4], p[5]);
  }
  return x;
}

int main(int argc, char **argv)
{
  enum { FROM_1 = PATCH * PATCH, FROM_2 = CHANNELS * PATCH * PATCH };
  static const digits_model convnet = {
      .name = "convnet",
      .rate = 0.15,
      .parameter_count = 6,
      .parameters = {{{4, {CHANNELS, 1, PATCH, PATCH}}, FROM_1},
                     {{1, {CHANNELS}}, FROM_1},
                     {{4, {2 * CHANNELS, CHANNELS, PATCH, PATCH}}, FROM_2},
                     {{1, {2 * CHANNELS}}, FROM_2},
                     {{2, {DIGIT_CLASSES, FEATURES}}, FEATURES},
                     {{1, {DIGIT_CLASSES}}, FEATURES}},
      .forward = forward,
  };
  return digits_main(&convnet, argc, argv);
}
