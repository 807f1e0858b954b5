/* Which family prepares which opcode. */
#include "device/eval_ops.h"

#include "device/eval_element.h"

static const xp_dev_prepare table[XP_HLO_OP_COUNT] = {
    [XP_HLO_OP_BATCH_NORM_GRAD] = xp_dev_prepare_norm_grad,
    [XP_HLO_OP_BATCH_NORM_INFERENCE] = xp_dev_prepare_norm_inference,
    [XP_HLO_OP_BATCH_NORM_TRAINING] = xp_dev_prepare_norm_training,
    [XP_HLO_OP_BROADCAST] = xp_dev_prepare_broadcast,
    [XP_HLO_OP_CALL] = xp_dev_prepare_call,
    [XP_HLO_OP_CONCATENATE] = xp_dev_prepare_concatenate,
    [XP_HLO_OP_CONDITIONAL] = xp_dev_prepare_conditional,
    [XP_HLO_OP_CONVOLUTION] = xp_dev_prepare_convolution,
    [XP_HLO_OP_CUSTOM_CALL] = xp_dev_prepare_custom_call,
    [XP_HLO_OP_DOT] = xp_dev_prepare_dot,
    [XP_HLO_OP_DYNAMIC_SLICE] = xp_dev_prepare_dynamic_slice,
    [XP_HLO_OP_DYNAMIC_UPDATE_SLICE] = xp_dev_prepare_dynamic_update_slice,
    [XP_HLO_OP_FUSION] = xp_dev_prepare_call,
    [XP_HLO_OP_GATHER] = xp_dev_prepare_gather,
    [XP_HLO_OP_GET_DIMENSION_SIZE] = xp_dev_prepare_dimension_size,
    [XP_HLO_OP_IOTA] = xp_dev_prepare_iota,
    [XP_HLO_OP_MAP] = xp_dev_prepare_map,
    [XP_HLO_OP_PAD] = xp_dev_prepare_pad,
    [XP_HLO_OP_PARTITION_ID] = xp_dev_prepare_zero,
    [XP_HLO_OP_REDUCE] = xp_dev_prepare_reduce,
    [XP_HLO_OP_REDUCE_PRECISION] = xp_dev_prepare_reduce_precision,
    [XP_HLO_OP_REDUCE_WINDOW] = xp_dev_prepare_reduce_window,
    [XP_HLO_OP_REPLICA_ID] = xp_dev_prepare_zero,
    [XP_HLO_OP_REVERSE] = xp_dev_prepare_reverse,
    [XP_HLO_OP_RNG] = xp_dev_prepare_rng,
    [XP_HLO_OP_RNG_BIT_GENERATOR] = xp_dev_prepare_rng_bits,
    [XP_HLO_OP_RNG_GET_AND_UPDATE_STATE] = xp_dev_prepare_rng_state,
    [XP_HLO_OP_SCATTER] = xp_dev_prepare_scatter,
    [XP_HLO_OP_SELECT_AND_SCATTER] = xp_dev_prepare_select_and_scatter,
    [XP_HLO_OP_SLICE] = xp_dev_prepare_slice,
    [XP_HLO_OP_SORT] = xp_dev_prepare_sort,
    [XP_HLO_OP_TRANSPOSE] = xp_dev_prepare_transpose,
    [XP_HLO_OP_WHILE] = xp_dev_prepare_while,
};

xp_dev_prepare xp_dev_prepare_of(xp_hlo_opcode opcode)
{
  if ((unsigned)opcode >= XP_HLO_OP_COUNT) {
    return NULL;
  }
  return xp_dev_is_element_op(opcode) ? xp_dev_prepare_element : table[opcode];
}
