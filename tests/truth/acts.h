/* What the test of gaps does on purpose: acts, each of a known class, and the rounds that they are made in. */
#ifndef XP_TESTS_ACTS_H
#define XP_TESTS_ACTS_H

#include "xlaprof/lazy.h"

typedef struct {
  bool has_step;                            /* a step is open */
  xl_device *device, *other;                /* other: NULL if there is one device alone */
  int64_t latency_ns;                       /* of launches, where a scenario is about it */
  int64_t other_ns;                         /* what one launch on the other device takes */
  xl_tensor x, w, result;                   /* of the device's usual work */
  xl_tensor other_x, other_w, other_result; /* of the other device's */
  xl_tensor large[6];                       /* of 8, 16, 24 .. MiB */
  char *host;                               /* room for the largest */
  int chains;                               /* programs that were compiled */
} truth_state;

extern truth_state truth;

/* Ends the process with the error, if there is one. */
void must(xp_status status, const xp_error *err);

/* Makes what acts need on the open devices, and frees it. */
void acts_begin(void);
void acts_end(void);

/* A round: acts, then the usual work of the device, whose barrier is the end of the step if the round is one. */
xp_trace begin_round(bool has_step, int64_t number);
void end_round(xp_trace step);

/* Acts that take about a time. */
typedef void truth_act(int64_t length_ns);

truth_act act_sleep, act_compute;     /* host, in scopes */
truth_act act_unnamed;                /* host in a step, else unknown: under no annotation */
truth_act act_trace;                  /* tracing: nodes in the scope of nodes that run */
truth_act act_compile;                /* compile: a program that is new */
truth_act act_read, act_upload;       /* value_request, upload: of many bytes */
truth_act act_data_scope, act_loader; /* input: in a scope called data, and from a loader whose source is slow */

/* Acts that are as long as the device makes them. */
truth_act act_wait, act_peek; /* wait, value_request: for the work that was launched last */
truth_act act_elsewhere;      /* host, while a launch has not begun */
truth_act act_nothing;
truth_act act_other_wait, act_other_read; /* wait, value_request: for another device, which is given work first */

#endif
