/* What the HLO protos of a capture (plane "/host:metadata") say of an instruction.
 *
 * A proto is read when its program is asked for first, and then only for names: instruction -> op_name, op_type,
 * opcode, source.  The program id of a proto is its stat program_id, else the id of its metadata entry (0 is a valid
 * one). Instructions are looked up across all computations, the first of equal names wins. Field numbers:
 * xla/service/hlo.proto.
 */
#ifndef XP_XSPACE_HLO_NAMES_H
#define XP_XSPACE_HLO_NAMES_H

#include "xspace/xspace.h"

typedef struct {
  xp_str name, opcode;
  xp_str op_name, op_type; /* OpMetadata */
  xp_str source_file;      /* from OpMetadata, else from its stack frame */
  int64_t source_line;
  bool is_fused;       /* stands in a computation other than the entry */
  xp_str *fused_names; /* of a fusion: the distinct op_names of the instructions that it calls, with themselves */
  size_t fused_count;
} xp_hlo_op;

typedef struct {
  xp_str module; /* HloModuleProto.name */
  uint64_t program_id;
  xp_hlo_op *instructions;
  size_t count;
  bool damaged; /* the proto could not be read to its end */
} xp_hlo_program;

typedef struct xp_hlo_names xp_hlo_names;

/* The protos of one host; nothing is decoded yet.  Memory comes from the arena and obeys its escape.  One thread at a
 * time. */
xp_hlo_names *xp_hlo_names_open(const xp_host *host, xp_arena *arena);

/* A program, decoded on first use; NULL if the capture has none with this id. */
const xp_hlo_program *xp_hlo_program_find(xp_hlo_names *names, uint64_t program_id);

/* An instruction of a program; NULL if there is none. */
const xp_hlo_op *xp_hlo_op_find(xp_hlo_names *names, uint64_t program_id, xp_str instruction);

/* Number of programs, and program i (decoded on first use). */
size_t xp_hlo_program_count(const xp_hlo_names *names);
const xp_hlo_program *xp_hlo_program_at(xp_hlo_names *names, size_t i);

#endif
