/* Text that grows in an arena, and the parts of HLO text that more than one file needs. */
#ifndef XP_HLO_TEXT_OUT_H
#define XP_HLO_TEXT_OUT_H

#include "hlo/hlo.h"

/* The arena has an escape while text is made. */
typedef struct {
  xp_arena *arena;
  char *data;
  size_t len, capacity;
} xp_hlo_out;

void xp_hlo_out_str(xp_hlo_out *out, xp_str s);
void xp_hlo_out_format(xp_hlo_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline void xp_hlo_out_text(xp_hlo_out *out, const char *text)
{
  xp_hlo_out_str(out, xp_str_c(text));
}

/* Between quotes, with the escapes of C (absl::CEscape) for what is not printable ASCII. */
void xp_hlo_out_quoted(xp_hlo_out *out, xp_str s);

/* "1,2,3" */
void xp_hlo_out_list(xp_hlo_out *out, const xp_hlo_list *list, const char *between);

void xp_hlo_out_shape(xp_hlo_out *out, const xp_hlo_shape *shape, bool with_layout);

/* The value of a constant; "{...}" for tuples and for arrays of more than 10 elements. */
void xp_hlo_out_literal(xp_hlo_out *out, const xp_hlo_literal *literal);

/* `key="value",..` in the order of the keys. */
void xp_hlo_out_pairs(xp_hlo_out *out, const xp_hlo_pair *pairs, size_t count);

/* ", window={size=2x2}" and so on: windows, dimension numbers, precision. */
void xp_hlo_out_window(xp_hlo_out *out, const xp_hlo_window *window);
void xp_hlo_out_convolution(xp_hlo_out *out, const xp_hlo_instruction *in);
void xp_hlo_out_dot(xp_hlo_out *out, const xp_hlo_instruction *in);
void xp_hlo_out_gather(xp_hlo_out *out, const xp_hlo_instruction *in);
void xp_hlo_out_scatter(xp_hlo_out *out, const xp_hlo_instruction *in);

/* ", name={1,2}", ", name=3", and ", name=true" if it is set. */
void xp_hlo_out_dims(xp_hlo_out *out, const char *name, const xp_hlo_list *list);
void xp_hlo_out_int(xp_hlo_out *out, const char *name, int64_t value);
void xp_hlo_out_flag(xp_hlo_out *out, const char *name, bool is_set);

/* ", to_apply=%add.1" and the like. */
void xp_hlo_out_calls(xp_hlo_out *out, const xp_hlo_module *module, const xp_hlo_computation *computation,
                      const xp_hlo_instruction *in);

/* ", dimensions={0}, to_apply=%add.1" and so on: what belongs to the opcode, the called computations, attributes of the
 * frontend, control predecessors. */
void xp_hlo_out_attributes(xp_hlo_out *out, const xp_hlo_module *module, const xp_hlo_computation *computation,
                           const xp_hlo_instruction *in);

#endif
