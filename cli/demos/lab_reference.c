/* The lab's steps by plain loops: forward, gradients by hand, update.  In double, so that it is the more exact side. */
#include "lab.h"

typedef struct {
  double w1[LAB_HIDDEN][LAB_IN], b1[LAB_HIDDEN], w2[LAB_OUT][LAB_HIDDEN], b2[LAB_OUT];
} numbers;

static void load(const lab_model *model, numbers *p)
{
  for (int h = 0; h < LAB_HIDDEN; h++) {
    p->b1[h] = (double)model->b1[h];
    for (int i = 0; i < LAB_IN; i++) {
      p->w1[h][i] = (double)model->w1[h * LAB_IN + i];
    }
  }
  for (int o = 0; o < LAB_OUT; o++) {
    p->b2[o] = (double)model->b2[o];
    for (int h = 0; h < LAB_HIDDEN; h++) {
      p->w2[o][h] = (double)model->w2[o * LAB_HIDDEN + h];
    }
  }
}

/* One row of the batch: adds its gradients, gives the sum of its outputs.  Each output weighs `weight` in the loss. */
static double row(const float *x, const numbers *p, double weight, numbers *grad)
{
  double hidden[LAB_HIDDEN], sum = 0;
  for (int h = 0; h < LAB_HIDDEN; h++) {
    hidden[h] = p->b1[h];
    for (int i = 0; i < LAB_IN; i++) {
      hidden[h] += p->w1[h][i] * (double)x[i];
    }
    hidden[h] = hidden[h] > 0 ? hidden[h] : 0;
  }
  for (int o = 0; o < LAB_OUT; o++) {
    sum += p->b2[o];
    grad->b2[o] += weight;
    for (int h = 0; h < LAB_HIDDEN; h++) {
      sum += p->w2[o][h] * hidden[h];
      grad->w2[o][h] += weight * hidden[h];
    }
  }
  for (int h = 0; h < LAB_HIDDEN; h++) {
    double back = 0;
    for (int o = 0; o < LAB_OUT && hidden[h] > 0; o++) {
      back += weight * p->w2[o][h];
    }
    grad->b1[h] += back;
    for (int i = 0; i < LAB_IN; i++) {
      grad->w1[h][i] += back * (double)x[i];
    }
  }
  return sum;
}

void lab_reference(const lab_model *model, size_t steps, double *losses)
{
  numbers p;
  load(model, &p);
  for (size_t s = 0; s < steps; s++) {
    numbers grad = {0};
    const double weight = 1.0 / (LAB_BATCH * LAB_OUT);
    losses[s] = 0;
    for (int n = 0; n < LAB_BATCH; n++) {
      losses[s] += weight * row(model->x + n * LAB_IN, &p, weight, &grad);
    }
    double *value = (double *)&p;
    const double *slope = (const double *)&grad;
    for (size_t i = 0; i < sizeof p / sizeof *value; i++) {
      value[i] -= LAB_RATE * slope[i];
    }
  }
}
