/* The element types of XLA, as a table.
 *
 * An element in memory has a whole number of bytes; those of less than 8 bits stand in the low bits of a byte.
 */
#include "hlo/type.h"

#define NO_KIND  XP_HLO_KIND_NONE
#define SIGNED   XP_HLO_KIND_SIGNED
#define UNSIGNED XP_HLO_KIND_UNSIGNED
#define FLOAT    XP_HLO_KIND_FLOAT
#define COMPLEX  XP_HLO_KIND_COMPLEX

const xp_hlo_type_fact xp_hlo_type_facts[XP_HLO_TYPE_COUNT] = {
    [XP_HLO_TYPE_INVALID] = {"invalid", 0, NO_KIND, 0},
    [XP_HLO_PRED] = {"pred", 8, XP_HLO_KIND_PRED, 2},
    [XP_HLO_S8] = {"s8", 8, SIGNED, 15},
    [XP_HLO_S16] = {"s16", 16, SIGNED, 17},
    [XP_HLO_S32] = {"s32", 32, SIGNED, 4},
    [XP_HLO_S64] = {"s64", 64, SIGNED, 5},
    [XP_HLO_U8] = {"u8", 8, UNSIGNED, 3},
    [XP_HLO_U16] = {"u16", 16, UNSIGNED, 16},
    [XP_HLO_U32] = {"u32", 32, UNSIGNED, 6},
    [XP_HLO_U64] = {"u64", 64, UNSIGNED, 7},
    [XP_HLO_F16] = {"f16", 16, FLOAT, 11},
    [XP_HLO_F32] = {"f32", 32, FLOAT, 8},
    [XP_HLO_F64] = {"f64", 64, FLOAT, 9},
    [XP_HLO_TUPLE] = {"tuple", 0, NO_KIND, 0},
    [XP_HLO_OPAQUE] = {"opaque", 0, NO_KIND, 0},
    [XP_HLO_C64] = {"c64", 64, COMPLEX, 12},
    [XP_HLO_BF16] = {"bf16", 16, FLOAT, 13},
    [XP_HLO_TOKEN] = {"token", 0, NO_KIND, 0},
    [XP_HLO_C128] = {"c128", 128, COMPLEX, 18},
    [XP_HLO_F8E5M2] = {"f8e5m2", 8, FLOAT, 19},
    [XP_HLO_F8E4M3FN] = {"f8e4m3fn", 8, FLOAT, 20},
    [XP_HLO_S4] = {"s4", 4, SIGNED, 21},
    [XP_HLO_U4] = {"u4", 4, UNSIGNED, 22},
    [XP_HLO_F8E4M3B11FNUZ] = {"f8e4m3b11fnuz", 8, FLOAT, 23},
    [XP_HLO_F8E5M2FNUZ] = {"f8e5m2fnuz", 8, FLOAT, 24},
    [XP_HLO_F8E4M3FNUZ] = {"f8e4m3fnuz", 8, FLOAT, 25},
    [XP_HLO_S2] = {"s2", 2, SIGNED, 26},
    [XP_HLO_U2] = {"u2", 2, UNSIGNED, 27},
    [XP_HLO_F8E4M3] = {"f8e4m3", 8, FLOAT, 28},
    [XP_HLO_F8E3M4] = {"f8e3m4", 8, FLOAT, 29},
    [XP_HLO_S1] = {"s1", 1, SIGNED, 30},
    [XP_HLO_U1] = {"u1", 1, UNSIGNED, 31},
    [XP_HLO_F4E2M1FN] = {"f4e2m1fn", 4, FLOAT, 32},
    [XP_HLO_F8E8M0FNU] = {"f8e8m0fnu", 8, FLOAT, 33},
    [XP_HLO_BUFFER] = {"b", 0, NO_KIND, 0},
    [XP_HLO_F6E3M2FN] = {"f6e3m2fn", 6, FLOAT, 35},
    [XP_HLO_F6E2M3FN] = {"f6e2m3fn", 6, FLOAT, 36},
};
