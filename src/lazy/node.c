/* The pool of nodes: pieces of sizes that are multiples of 32 bytes, from large pages, with a list of free ones for
 * each size.  Larger nodes (concatenations of many tensors) come from malloc.
 */
#include "lazy/node.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/pages.h"
#include "lazy/data.h"

enum { GRAIN_BYTES = 32, CLASSES = 16, CHUNK_BYTES = 4 << 20 };

typedef struct chunk {
  struct chunk *next;
} chunk;

typedef struct free_piece {
  struct free_piece *next;
} free_piece;

static struct {
  free_piece *free[CLASSES + 1]; /* by size in grains */
  chunk *chunks;
  char *pos, *end;
  size_t alive, bytes;
} pool;

static void *take_new(size_t bytes)
{
  if ((size_t)(pool.end - pool.pos) < bytes) {
    const size_t size = xp_pages_size(CHUNK_BYTES);
    chunk *fresh = xp_pages_map(size);
    if (fresh == NULL) {
      return NULL;
    }
    fresh->next = pool.chunks;
    pool.chunks = fresh;
    pool.pos = (char *)fresh + GRAIN_BYTES;
    pool.end = (char *)fresh + size;
  }
  void *piece = pool.pos;
  pool.pos += bytes;
  return piece;
}

static xl_node *take(size_t bytes)
{
  const size_t grains = (bytes + GRAIN_BYTES - 1) / GRAIN_BYTES;
  xl_node *node;
  if (grains > CLASSES) {
    node = malloc(grains * GRAIN_BYTES);
  } else if (pool.free[grains] != NULL) {
    node = (xl_node *)(void *)pool.free[grains];
    pool.free[grains] = pool.free[grains]->next;
  } else {
    node = take_new(grains * GRAIN_BYTES);
  }
  if (node != NULL) {
    pool.alive++;
    pool.bytes += grains * GRAIN_BYTES;
    node->size_class = grains > CLASSES ? 0 : (uint16_t)grains;
  }
  return node;
}

static size_t size_of(const xl_node *node)
{
  return sizeof *node + sizeof(int64_t) * ((size_t)node->rank + node->operand_count) + node->attr_bytes;
}

static void give_back(xl_node *node)
{
  pool.alive--;
  pool.bytes -= (size_of(node) + GRAIN_BYTES - 1) / GRAIN_BYTES * GRAIN_BYTES;
  const size_t grains = node->size_class;
  if (grains == 0) {
    free(node);
    return;
  }
  free_piece *piece = (free_piece *)(void *)node;
  piece->next = pool.free[grains];
  pool.free[grains] = piece;
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
  xl_node *node = take(sizeof *node + sizeof(int64_t) * (rank + operands) + parts->attr_bytes);
  if (node == NULL) {
    return NULL;
  }
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
  *bytes = pool.bytes;
  return pool.alive;
}

void xl_nodes_end(void)
{
  if (pool.alive > 0) {
    return;
  }
  while (pool.chunks != NULL) {
    chunk *next = pool.chunks->next;
    xp_pages_unmap(pool.chunks, xp_pages_size(CHUNK_BYTES));
    pool.chunks = next;
  }
  memset(&pool, 0, sizeof pool);
}
