/* The walk, and which arrays may be donated.
 *
 * An array may be donated to a root of its type and shape whose cell held it, if all references to it and to its node
 * come from that cell and from this graph: then nobody can ask for its old value.
 */
#include "lazy/graph.h"

#include <stdlib.h>

#define HIGH_MULTIPLIER UINT64_C(0x9fb21c651e98df25)
#define LOW_MULTIPLIER  UINT64_C(0xd6e8feb86659fd93)

static uint32_t last_walk;

static bool room(xl_graph *graph, void *array, size_t count, size_t *capacity, size_t size)
{
  if (count < *capacity) {
    return true;
  }
  void **pointer = array;
  const size_t larger = *capacity > 0 ? 2 * *capacity : 1024;
  void *grown = realloc(*pointer, larger * size);
  graph->failed |= grown == NULL;
  if (grown != NULL) {
    *pointer = grown;
    *capacity = larger;
  }
  return grown != NULL;
}

static inline uint64_t mix(uint64_t hash, uint64_t value, uint64_t multiplier)
{
  hash = (hash ^ value) * multiplier;
  return hash ^ hash >> 32;
}

static inline void key_add(xl_key *key, uint64_t value)
{
  key->high = mix(key->high, value, HIGH_MULTIPLIER);
  key->low = mix(key->low, value, LOW_MULTIPLIER);
}

static void add_parameter(xl_graph *graph, xl_data *data)
{
  if (room(graph, &graph->parameters, graph->parameter_count, &graph->parameter_capacity, sizeof *graph->parameters)) {
    data->uses = 0;
    data->parameter = (uint32_t)graph->parameter_count;
    graph->parameters[graph->parameter_count++] = data;
  }
}

static inline xl_key key_of(const xl_graph *graph, const xl_node *node)
{
  xl_key key = {UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707344)};
  key_add(&key, node->hash);
  for (size_t i = 0; i < node->operand_count; i++) {
    const xl_key operand = graph->hashes[xl_node_operands(node)[i]->number];
    key.high = mix(key.high, operand.high, HIGH_MULTIPLIER);
    key.low = mix(key.low, operand.low, LOW_MULTIPLIER);
  }
  return key;
}

/* Numbers a node whose operands are numbered. */
static inline void number(xl_graph *graph, xl_node *node)
{
  if (!room(graph, &graph->nodes, graph->node_count, &graph->node_capacity, sizeof *graph->nodes) ||
      !room(graph, &graph->hashes, graph->node_count, &graph->hash_capacity, sizeof *graph->hashes)) {
    return;
  }
  xl_key key = key_of(graph, node);
  for (size_t i = 0; i < node->operand_count; i++) {
    xl_data *data = xl_node_operands(node)[i]->data;
    if (data != NULL) {
      data->uses++;
    }
  }
  if (node->data != NULL) {
    key_add(&key, graph->parameter_count + 1);
    add_parameter(graph, node->data);
  }
  node->number = (uint32_t)graph->node_count;
  graph->hashes[graph->node_count] = key;
  graph->nodes[graph->node_count++] = node;
}

/* Depth first without recursion: a node stays on the stack until all its operands are numbered.  `number` is, until
 * then, how many operands were looked at. */
static void visit(xl_graph *graph, xl_node *root, uint32_t walk)
{
  size_t depth = 0;
  if (root->walk == walk || !room(graph, &graph->stack, depth, &graph->stack_capacity, sizeof *graph->stack)) {
    return;
  }
  root->walk = walk;
  root->number = 0;
  graph->stack[depth++] = root;
  while (depth > 0) {
    xl_node *node = graph->stack[depth - 1];
    if (node->number == node->operand_count) {
      depth--;
      number(graph, node);
      continue;
    }
    xl_node *operand = xl_node_operands(node)[node->number++];
    if (operand->walk != walk) {
      if (!room(graph, &graph->stack, depth, &graph->stack_capacity, sizeof *graph->stack)) {
        return;
      }
      operand->walk = walk;
      operand->number = 0;
      graph->stack[depth++] = operand;
    }
  }
}

/* Numbers the results: roots that are one node are one result.  What result_of has of a node is its result only if that
 * result is the node, so that it need not be cleared for each walk. */
static void add_output(xl_graph *graph, xl_root *root)
{
  xl_node *node = *root->place;
  uint32_t *result = &graph->result_of[node->number];
  root->is_first = *result >= graph->output_count || graph->outputs[*result] != node;
  if (root->is_first) {
    if (!room(graph, &graph->outputs, graph->output_count, &graph->output_capacity, sizeof *graph->outputs)) {
      return;
    }
    *result = (uint32_t)graph->output_count;
    graph->outputs[graph->output_count++] = node;
  }
  root->output = *result;
  key_add(&graph->key, graph->hashes[node->number].high);
  key_add(&graph->key, graph->hashes[node->number].low);
  key_add(&graph->key, root->output);
}

static void make_room_for_results(xl_graph *graph)
{
  if (graph->result_capacity < graph->node_count) {
    free(graph->result_of);
    graph->result_of = calloc(graph->node_capacity, sizeof *graph->result_of);
    graph->result_capacity = graph->result_of != NULL ? graph->node_capacity : 0;
    graph->failed |= graph->result_of == NULL;
  }
}

static bool fits(const xl_node *a, const xl_node *b)
{
  return a->type == b->type && a->rank == b->rank && memcmp(a->rest, b->rest, a->rank * sizeof *a->rest) == 0;
}

/* A parameter's leaf whose references are all of this graph, and whose array only the root's cell holds beside it. */
static bool may_reuse(const xl_root *root, uint32_t walk)
{
  const xl_data *data = root->last;
  return data != NULL && data->leaf != NULL && data->leaf->walk == walk && data->leaf->refs == data->uses &&
         data->refs == 2 && fits(data->leaf, *root->place);
}

static void find_aliases(xl_graph *graph, xl_root *roots, size_t count, bool may_donate, uint32_t walk)
{
  for (size_t i = 0; i < count; i++) {
    roots[i].alias = -1;
    if (may_donate && roots[i].is_first && may_reuse(&roots[i], walk)) {
      roots[i].alias = roots[i].last->parameter;
      graph->alias_count++;
      key_add(&graph->key, (uint64_t)roots[i].output << 32 | (uint64_t)roots[i].alias);
    }
  }
}

void xl_graph_walk(xl_graph *graph, xl_root *roots, size_t count, bool may_donate)
{
  const uint32_t walk = ++last_walk != 0 ? last_walk : ++last_walk;
  graph->node_count = graph->parameter_count = graph->output_count = graph->alias_count = 0;
  graph->key = (xl_key){UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707344)};
  graph->failed = false;
  for (size_t i = 0; i < count; i++) {
    visit(graph, *roots[i].place, walk);
  }
  make_room_for_results(graph);
  for (size_t i = 0; i < count && !graph->failed; i++) {
    add_output(graph, &roots[i]);
  }
  find_aliases(graph, roots, count, may_donate && !graph->failed, walk);
}

void xl_graph_end(xl_graph *graph)
{
  free(graph->nodes);
  free(graph->hashes);
  free(graph->parameters);
  free(graph->outputs);
  free(graph->result_of);
  free(graph->stack);
  *graph = (xl_graph){0};
}
