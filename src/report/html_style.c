/* The style sheets are files that a browser and an editor understand; the assembler puts their bytes here.  Palette
 * first: what follows uses its colours. */
#include "report/html.h"

/* clang-format off */
__asm__(".pushsection .rodata\n"
        "xp_style_bytes:\n"
        ".incbin \"" XP_WEB_FOLDER "/palette.css\"\n"
        ".incbin \"" XP_WEB_FOLDER "/report.css\"\n"
        "xp_style_end:\n"
        ".popsection\n");
/* clang-format on */

extern const char xp_style_bytes[], xp_style_end[];

xp_str xp_html_style(void)
{
  return xp_str_from(xp_style_bytes, (size_t)(xp_style_end - xp_style_bytes));
}
