/* Two checks of a capture: the names of a step and of the scopes in it are on the device, and the gaps that were
 * predicted are the gaps that were found.
 *
 * A name is on an instruction if it is a component of the op name, the last one left out, with or without the number
 * that torch_xla puts behind it and what JAX wraps around it.  A name with slashes is as many components, at most 16.
 */
#ifndef XP_ANALYZE_CHECK_H
#define XP_ANALYZE_CHECK_H

#include "analyze/expected_gaps.h"

typedef enum { XP_FRONTEND_UNKNOWN, XP_FRONTEND_TORCH_XLA, XP_FRONTEND_JAX } xp_frontend;

const char *xp_frontend_name(xp_frontend frontend);

typedef struct {
  xp_str name;
  bool is_required;    /* the check fails if no instruction has it */
  size_t entered;      /* by the host: the step, or the scope inside it */
  size_t instructions; /* that ran and have the name */
  uint64_t runs;       /* of them */
  int64_t ps;          /* self time of them */
  xp_str op, op_name;  /* the one that took most time, "dot.5" and "train.1/fwd.2/aten__mm"; empty: none */
} xp_checked_name;

typedef struct {
  bool ok;
  xp_frontend frontend;
  size_t instructions; /* of devices, that ran */
  size_t scoped;       /* with a scope of any name */
  xp_checked_name step;
  xp_checked_name *scopes; /* those missing, those found, those that the host alone has */
  size_t scope_count;
} xp_names_check;

typedef struct {
  const xp_expected_gap *expected;
  bool ok;
  size_t found;          /* gaps */
  int64_t ps;            /* of them */
  const xp_gap *longest; /* NULL: none */
  const xp_gap *nearest; /* where too few were found: the longest gap that disagrees in one key only; NULL: none */
  const char *differs;   /* that key */
} xp_expected_result;

/* What the floor is a share of. */
typedef enum { XP_BASE_PERIOD, XP_BASE_LENGTH, XP_BASE_WINDOW } xp_floor_base;

typedef struct {
  bool asked, ok;
  double floor_percent;
  xp_floor_base base;
  int64_t base_ps, floor_ps;
  xp_expected_result *rows;
  size_t row_count;
  const xp_gap **unexpected; /* gaps of at least the floor that match no row; longest first */
  size_t unexpected_count;
  int64_t unexpected_ps;
  size_t small_count; /* the smaller ones that match no row */
  int64_t small_ps;
  const xp_cause_row **kinds; /* kinds of gaps with one of at least the floor, as the reading sums them */
  size_t kind_count;
} xp_gaps_check;

typedef struct {
  xp_names_check names;
  xp_gaps_check gaps;
} xp_check;

typedef struct {
  xp_str step;
  xp_str scopes;                   /* "fwd,bwd": those that must be on instructions; empty: those that are */
  const xp_expected_gap *expected; /* borrowed, as everything here */
  size_t expected_count;
  bool has_expected;
  double floor_percent;
} xp_check_options;

/* Checks a reading without filters of steps and times.  The result lies in the arena, and refers to the reading and the
 * options.  XP_ERR_MEMORY. */
xp_status xp_check_reading(const xp_reading *reading, const xp_check_options *options, xp_arena *arena, xp_check *check,
                           xp_error *err);

#endif
