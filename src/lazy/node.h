/* The nodes of graphs.
 *
 * A node is immutable, and counts who refers to it: other nodes, cells (lazy/tensor.h), and the cache of numbers.  Its
 * operands, extents and attributes lie behind it in one piece of memory (lazy/pieces.h).  All under the runtime's lock.
 */
#ifndef XL_NODE_H
#define XL_NODE_H

#include "lazy/op.h"
#include "lazy/scope.h"
#include "lazy/types.h"

typedef struct xl_data xl_data;

struct xl_node {
  uint32_t refs;
  uint16_t op; /* xl_op */
  uint8_t type, rank;
  uint16_t operand_count, attr_bytes;
  bool is_exempt;           /* its name was set by xl_set_op_name_prefix */
  uint32_t walk, number;    /* the last walk that came here (lazy/graph.h), and its number there */
  uint64_t hash;            /* of the operation, type, extents, attributes and name */
  const xl_scope *scope;    /* NULL: none */
  const xl_location *place; /* NULL: not known */
  xl_data *data;            /* device_data: the array */
  int64_t rest[];           /* extents, operands, attributes */
};

static inline const int64_t *xl_node_dims(const xl_node *node)
{
  return node->rest;
}

static inline xl_node **xl_node_operands(const xl_node *node)
{
  return (xl_node **)(uintptr_t)(node->rest + node->rank);
}

static inline const void *xl_node_attrs(const xl_node *node)
{
  return node->rest + node->rank + node->operand_count;
}

static inline xl_shape xl_node_shape(const xl_node *node)
{
  xl_shape shape = {node->rank, {0}};
  memcpy(shape.dims, node->rest, node->rank * sizeof *shape.dims);
  return shape;
}

static inline xp_hlo_shape xl_node_hlo_shape(const xl_node *node)
{
  const xl_shape shape = xl_node_shape(node);
  return xl_hlo_shape((xl_type)node->type, &shape);
}

/* What a node is made of.  attrs: hashed and compared as bytes, so padding must be 0. */
typedef struct {
  xl_op op;
  xl_type type;
  const xl_shape *shape;
  xl_node *const *operands;
  size_t operand_count;
  const void *attrs;
  size_t attr_bytes;
  const xl_scope *scope;
  const xl_location *place;
} xl_node_parts;

/* A node with one reference, which belongs to the caller; holds its operands.  NULL when memory is out. */
xl_node *xl_node_create(const xl_node_parts *parts);

static inline xl_node *xl_node_hold(xl_node *node)
{
  node->refs++;
  return node;
}

/* Gives a reference back; NULL is allowed.  Chains of any length are freed without recursion. */
void xl_node_drop(xl_node *node);

/* Puts a name of its own on a node (see xl_set_op_name_prefix). */
void xl_node_rename(xl_node *node, const xl_scope *scope);

/* Nodes that are alive, and the bytes that they take. */
size_t xl_nodes_alive(size_t *bytes);

#endif
