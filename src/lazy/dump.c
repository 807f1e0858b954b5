/* Graphs and programs as text and as files: what a barrier would compute now, without computing it.
 *
 * The text of a graph has the form of torch_xla's dumps: "  %3 = f32[16,4] aten::addmm(%2, %1, %0), scope=fwd,
 * location=main@lab.c:12", with ROOT=i behind a result.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "hlo/text.h"
#include "hlo/write.h"
#include "lazy/lower.h"
#include "lazy/run.h"
#include "lazy/runtime.h"
#include "session/run_files.h"

/* What is looked at: roots of one device, walked. */
typedef struct {
  xl_root *roots;
  xl_node **values; /* references; the roots' places */
  size_t count;
  xl_graph graph;
} view;

static void view_end(view *v)
{
  for (size_t i = 0; i < v->count; i++) {
    xl_node_drop(v->values[i]);
  }
  free(v->values);
  free(v->roots);
  xl_graph_end(&v->graph);
}

static bool view_reserve(view *v, size_t count)
{
  v->roots = calloc(count + 1, sizeof *v->roots);
  v->values = calloc(count + 1, sizeof *v->values);
  return v->roots != NULL && v->values != NULL;
}

static void view_add(view *v, xl_node *value, xl_data *last)
{
  v->values[v->count] = xl_node_hold(value);
  v->roots[v->count] = (xl_root){.place = &v->values[v->count], .last = last};
  v->count++;
}

static xp_status view_tensors(view *v, const xl_tensor *tensors, size_t count, xp_error *err)
{
  if (!view_reserve(v, count)) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for the list of %zu tensors.", count);
  }
  for (size_t i = 0; i < count; i++) {
    xl_var *var = xl_arg(tensors[i]);
    xl_node *value = var != NULL ? xl_var_value(var) : NULL;
    if (value == NULL) {
      return xl_kept();
    }
    view_add(v, value, NULL);
  }
  return XP_OK;
}

static xp_status view_live(view *v, xp_error *err)
{
  xl_device *device = xl_device_current(err);
  size_t count = 0;
  if (device == NULL) {
    return err->status;
  }
  for (xl_cell *cell = device->cells.next; cell != &device->cells; cell = cell->next) {
    count += cell->value->data == NULL;
  }
  if (!view_reserve(v, count)) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for the list of %zu tensors.", count);
  }
  for (xl_cell *cell = device->cells.next; cell != &device->cells; cell = cell->next) {
    if (cell->value->data == NULL) {
      view_add(v, cell->value, cell->last);
    }
  }
  return XP_OK;
}

/* Walks what is looked at: without donation, since the references held here would hide it. */
static xp_status view_begin(view *v, const xl_tensor *tensors, size_t count, xp_error *err)
{
  const xp_status status = tensors != NULL ? view_tensors(v, tensors, count, err) : view_live(v, err);
  if (status != XP_OK) {
    return status;
  }
  xl_graph_walk(&v->graph, v->roots, v->count, false);
  return v->graph.failed ? xp_fail(err, XP_ERR_MEMORY, "There is no memory for the walk through the graph.") : XP_OK;
}

/* ---------------------------------------------------------------- text of a graph */

/* first_root: which result of the program a node is, by its number, or none; next_root: the next one that it is. */
static void print_node(FILE *out, const view *v, const xl_node *node, const size_t *first_root, const size_t *next_root)
{
  char text[XL_SHAPE_TEXT];
  const xl_shape shape = xl_node_shape(node);
  fprintf(out, "  %%%u = %s %s(", node->number, xl_shape_text(text, (xl_type)node->type, &shape),
          xl_op_facts[node->op].text);
  for (size_t i = 0; i < node->operand_count; i++) {
    fprintf(out, "%s%%%u", i > 0 ? ", " : "", xl_node_operands(node)[i]->number);
  }
  fputc(')', out);
  if (node->op == XL_OP_CONSTANT) {
    double value;
    memcpy(&value, xl_node_attrs(node), sizeof value);
    fprintf(out, ", value=%g", value);
  }
  if (node->data != NULL) {
    fprintf(out, ", parameter=%u", node->data->parameter);
  }
  if (node->scope != NULL) {
    const xp_str scope = node->scope->text;
    fprintf(out, ", %s=%.*s", node->scope->is_prefix ? "prefix" : "scope",
            (int)(node->scope->is_prefix ? scope.len : scope.len - 1), scope.ptr);
  }
  if (node->place != NULL && node->place->file != NULL && xl_rt.names_are_open) {
    fprintf(out, ", location=%s@%s:%d", node->place->function != NULL ? node->place->function : "",
            xp_base_name(node->place->file), node->place->line);
  }
  for (size_t i = first_root[node->number]; i < v->graph.output_count; i = next_root[i]) {
    fprintf(out, ", ROOT=%zu", i);
  }
  fputc('\n', out);
}

static void print_nodes(FILE *out, const view *v, size_t *roots)
{
  const size_t nodes = v->graph.node_count;
  size_t *first_root = roots, *next_root = roots + nodes;
  for (size_t i = 0; i < nodes; i++) {
    first_root[i] = SIZE_MAX;
  }
  for (size_t i = v->graph.output_count; i > 0; i--) {
    size_t *first = &first_root[v->graph.outputs[i - 1]->number];
    next_root[i - 1] = *first;
    *first = i - 1;
  }
  for (size_t i = 0; i < nodes; i++) {
    print_node(out, v, v->graph.nodes[i], first_root, next_root);
  }
}

static char *print_graph(const view *v)
{
  char *text = NULL, hash[33];
  size_t size, *roots = malloc((v->graph.node_count + v->graph.output_count + 1) * sizeof *roots);
  FILE *out = roots != NULL ? open_memstream(&text, &size) : NULL;
  if (out == NULL) {
    free(roots);
    return NULL;
  }
  fputs("IR {\n", out);
  print_nodes(out, v, roots);
  free(roots);
  xl_key_text(v->graph.key, hash);
  fprintf(out, "}\nGraph Hash: %s\n", hash);
  const bool is_whole = !ferror(out);
  if (fclose(out) != 0 || !is_whole) {
    free(text);
    return NULL;
  }
  return text;
}

char *xl_graph_text(const xl_tensor *tensors, size_t count, xp_error *err)
{
  xp_error own;
  err = xl_error_to(err, &own);
  static const xl_entry entry = {"graph_text", NULL};
  view v = {0};
  char *text = NULL;
  xl_lock_for(&entry, NULL);
  xp_status status = view_begin(&v, tensors, count, err);
  if (status == XP_OK) {
    text = print_graph(&v);
    if (text == NULL) {
      status = xp_fail(err, XP_ERR_MEMORY, "there is no memory for the text of %zu nodes", v.graph.node_count);
    }
  }
  view_end(&v);
  xl_unlock();
  xl_tell(err, status, "xl_graph_text", NULL);
  return text;
}

/* ---------------------------------------------------------------- programs */

/* Lowers what is looked at, and hands the module to a function that returns a status. */
static xp_status with_program(const xl_entry *entry, const xl_tensor *tensors, size_t count,
                              xp_status (*use)(void *context, xp_arena *arena, const xp_hlo_module *module,
                                               xp_error *err),
                              void *context, xp_error *err)
{
  view v = {0};
  xl_lock_for(entry, NULL);
  xp_arena *arena = xp_arena_create();
  xp_status status =
      arena != NULL ? view_begin(&v, tensors, count, err) : xp_fail(err, XP_ERR_MEMORY, "There is no memory left.");
  const xp_hlo_module *module;
  if (status == XP_OK) {
    status = xl_run_lower(&v.graph, v.roots, v.count, arena, &module, err);
  }
  if (status == XP_OK) {
    status = use(context, arena, module, err);
  }
  view_end(&v);
  xp_arena_destroy(arena);
  xl_unlock();
  return status;
}

static xp_status copy_text(void *context, xp_arena *arena, const xp_hlo_module *module, xp_error *err)
{
  char **copy = context;
  const xp_str text = xp_hlo_module_text(arena, module);
  *copy = text.len > 0 ? strndup(text.ptr, text.len) : NULL;
  return *copy != NULL ? XP_OK : xp_fail(err, XP_ERR_MEMORY, "There is no memory for the text of a program.");
}

char *xl_program_text(const xl_tensor *tensors, size_t count, xp_error *err)
{
  xp_error own;
  static const xl_entry entry = {"program_text", NULL};
  char *text = NULL;
  err = xl_error_to(err, &own);
  const xp_status status = with_program(&entry, tensors, count, copy_text, &text, err);
  return xl_tell(err, status, "xl_program_text", NULL) == XP_OK ? text : NULL;
}

static xp_status save(void *context, xp_arena *arena, const xp_hlo_module *module, xp_error *err)
{
  (void)arena;
  if (context == NULL) {
    return xp_fail(err, XP_ERR_USAGE, "the path is NULL");
  }
  xp_wire_writer bytes = {0};
  xp_hlo_write(module, &bytes);
  const xp_status status = !bytes.failed ? xp_new_file_save(context, bytes.data, bytes.len, err)
                                         : xp_fail(err, XP_ERR_MEMORY, "There is no memory for a program.");
  xp_wire_writer_free(&bytes);
  return status;
}

xp_status xl_program_save(const xl_tensor *tensors, size_t count, const char *path, xp_error *err)
{
  xp_error own;
  static const xl_entry entry = {"program_save", NULL};
  err = xl_error_to(err, &own);
  const xp_status status = with_program(&entry, tensors, count, save, (void *)(uintptr_t)path, err);
  return xl_tell(err, status, "xl_program_save", NULL);
}
