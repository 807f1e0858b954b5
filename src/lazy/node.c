/* Making, hashing and freeing nodes. */
#include "lazy/node.h"

#include "base/map.h"
#include "lazy/data.h"
#include "lazy/pieces.h"

static size_t alive, alive_bytes;

static size_t size_of(const xl_node *node)
{
  return sizeof *node + sizeof(int64_t) * ((size_t)node->rank + node->operand_count) + node->attr_bytes;
}

static void give_back(xl_node *node)
{
  const size_t bytes = size_of(node);
  alive--;
  alive_bytes -= bytes;
  xl_piece_give(node, bytes);
}

static uint64_t hash_of(const xl_node *node)
{
  uint64_t hash = (uint64_t)node->op << 32 | (uint64_t)node->type << 16 | node->rank;
  for (size_t i = 0; i < node->rank; i++) {
    hash = xp_hash_mix(hash, (uint64_t)node->rest[i]);
  }
  if (node->attr_bytes > 0) {
    hash = xp_hash_mix(hash, xp_str_hash(xp_str_from(xl_node_attrs(node), node->attr_bytes)));
  }
  return xp_hash_mix(hash, node->scope != NULL ? node->scope->hash : 0);
}

xl_node *xl_node_create(const xl_node_parts *parts)
{
  const size_t rank = parts->shape->rank, operands = parts->operand_count;
  if (operands > UINT16_MAX || parts->attr_bytes > UINT16_MAX) {
    return NULL;
  }
  const size_t bytes = sizeof(xl_node) + sizeof(int64_t) * (rank + operands) + parts->attr_bytes;
  xl_node *node = xl_piece_take(bytes);
  if (node == NULL) {
    return NULL;
  }
  alive++;
  alive_bytes += bytes;
  node->refs = 1;
  node->op = (uint16_t)parts->op;
  node->type = (uint8_t)parts->type;
  node->rank = (uint8_t)rank;
  node->operand_count = (uint16_t)operands;
  node->attr_bytes = (uint16_t)parts->attr_bytes;
  node->is_exempt = false;
  node->walk = 0;
  node->scope = parts->scope;
  node->place = parts->place;
  node->data = NULL;
  memcpy(node->rest, parts->shape->dims, rank * sizeof *node->rest);
  for (size_t i = 0; i < operands; i++) {
    xl_node_operands(node)[i] = xl_node_hold(parts->operands[i]);
  }
  if (parts->attr_bytes > 0) {
    memcpy(node->rest + rank + operands, parts->attrs, parts->attr_bytes);
  }
  node->hash = hash_of(node);
  return node;
}

/* The nodes that wait to be freed are linked through `data`, which the first of the list has no use for any more. */
void xl_node_drop(xl_node *node)
{
  if (node == NULL || --node->refs > 0) {
    return;
  }
  xl_node *waiting = NULL;
  for (;;) {
    if (node->data != NULL) {
      xl_data_leaf_gone(node->data);
    }
    xl_node **operands = xl_node_operands(node);
    for (size_t i = 0; i < node->operand_count; i++) {
      if (--operands[i]->refs == 0) {
        if (operands[i]->data != NULL) {
          xl_data_leaf_gone(operands[i]->data);
        }
        operands[i]->data = (xl_data *)(void *)waiting;
        waiting = operands[i];
      }
    }
    give_back(node);
    if (waiting == NULL) {
      return;
    }
    node = waiting;
    waiting = (xl_node *)(void *)node->data;
    node->data = NULL;
  }
}

void xl_node_rename(xl_node *node, const xl_scope *scope)
{
  node->scope = scope;
  node->is_exempt = true;
  node->hash = hash_of(node);
}

size_t xl_nodes_alive(size_t *bytes)
{
  *bytes = alive_bytes;
  return alive;
}
