/* Two linear layers learn digits: build/examples/mlp_digits [--epochs N] [--json] [--logdir DIR]
 *
 * The model is here; digits_train.c has the loop, which is the same for every model.
 */
#include "digits.h"

enum { HIDDEN = 64 };

static xl_tensor forward(xl_tensor pictures, const xl_tensor *p)
{
  xl_tensor hidden = xl_relu(xl_linear(pictures, p[0], p[1]));
  return xl_linear(hidden, p[2], p[3]);
}

int main(int argc, char **argv)
{
  static const digits_model mlp = {
      .name = "mlp_digits",
      .rate = 0.3,
      .parameter_count = 4,
      .parameters = {{{2, {HIDDEN, DIGIT_PIXELS}}, DIGIT_PIXELS},
                     {{1, {HIDDEN}}, DIGIT_PIXELS},
                     {{2, {DIGIT_CLASSES, HIDDEN}}, HIDDEN},
                     {{1, {DIGIT_CLASSES}}, HIDDEN}},
      .forward = forward,
  };
  return digits_main(&mlp, argc, argv);
}
