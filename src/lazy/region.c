/* Compiled regions, and prefixes of op names.
 *
 * A region has a barrier at both ends, as torch_xla.compile: the first computes what was pending, so that the program
 * of the region holds nothing else; the second computes the region.
 */
#include <stdlib.h>

#include "lazy/barrier.h"

static xp_status barrier(const char *cause, const char *graph_name, const xl_location *at, xp_error *err)
{
  xl_rt.graph_name = graph_name;
  const xp_status status = xl_barrier_step(cause, at, err);
  xl_rt.graph_name = NULL;
  return status;
}

static const char *innermost_name(const xl_thread *thread)
{
  const uint32_t depth = thread->compiled_depth;
  return depth > 0 && depth <= XL_COMPILED_NAMES ? thread->compiled_names[depth - 1] : NULL;
}

xp_status xl_compiled_begin_at(const xl_location *at, const char *name, xp_error *err)
{
  static const xl_entry entry = {"compiled_begin", NULL};
  xp_error own;
  err = xl_error_to(err, &own);
  xl_barrier_lock(&entry, at);
  xl_thread *thread = xl_rt.thread;
  const xp_status status =
      barrier("compiled region, clear the pending graph before it begins", innermost_name(thread), at, err);
  if (status == XP_OK && thread->compiled_depth++ < XL_COMPILED_NAMES) {
    thread->compiled_names[thread->compiled_depth - 1] = name;
  }
  xl_unlock();
  return xl_tell(err, status, "xl_compiled_begin", at);
}

xp_status xl_compiled_end_at(const xl_location *at, xp_error *err)
{
  static const xl_entry entry = {"compiled_end", NULL};
  xp_error own;
  err = xl_error_to(err, &own);
  xl_barrier_lock(&entry, at);
  xl_thread *thread = xl_rt.thread;
  xp_status status;
  if (thread->compiled_depth == 0) {
    status = xp_fail(err, XP_ERR_USAGE, "There is no compiled region to end: xl_compiled_begin comes first.");
  } else {
    status = barrier("compiled region", innermost_name(thread), at, err);
    thread->compiled_depth--;
  }
  xl_unlock();
  return xl_tell(err, status, "xl_compiled_end", at);
}

/* ---------------------------------------------------------------- prefixes */

/* Renames the node and those below it that have no prefix of their own yet; nodes that were seen are told by a walk. */
static bool rename_below(xl_node *node, const xl_scope *scope)
{
  xl_graph graph = {0};
  xl_node *place = node;
  xl_root root = {.place = &place};
  xl_graph_walk(&graph, &root, 1, false);
  for (size_t i = 0; i < graph.node_count && !graph.failed; i++) {
    xl_node *below = graph.nodes[i];
    if (below->data == NULL && (below == node || !below->is_exempt)) {
      xl_node_rename(below, scope);
    }
  }
  const bool is_done = !graph.failed;
  xl_graph_end(&graph);
  return is_done;
}

bool xl_set_op_name_prefix_at(const xl_location *at, xl_tensor tensor, const char *prefix, int max_depth)
{
  static xl_entry entry = {"set_op_name_prefix", NULL};
  bool is_set = false;
  xl_begin(&entry, at);
  xl_var *var = prefix != NULL ? xl_arg(tensor) : xl_refuse(XP_ERR_USAGE, "the prefix is NULL");
  xl_node *value = var != NULL ? xl_var_value(var) : NULL;
  if (value != NULL && value->data == NULL) {
    const xl_scope *scope = xl_scope_prefix(prefix, max_depth <= 0);
    is_set = scope != NULL && rename_below(value, scope);
    if (!is_set) {
      xl_refuse(XP_ERR_MEMORY, "there is no memory for the prefix");
    }
  }
  xl_end_with_nothing();
  return is_set;
}
