/* The reading as one page of HTML that needs nothing else: no script, no picture beside it, no address.
 *
 * Sentences and tables come from the same functions as the text; the page adds pictures.  Every text of a capture goes
 * through xp_html_text, so that no name can become markup.
 */
#ifndef XP_REPORT_HTML_H
#define XP_REPORT_HTML_H

#include "report/view.h"

/* Writes a text: printable as on a terminal, with the five characters that mean something in HTML escaped. */
void xp_html_text(const xp_printer *printer, xp_str text);

/* <tag class="..">text</tag> and a newline; an empty class is left out. */
void xp_html_element(const xp_printer *printer, const char *tag, const char *class_name, xp_str text);

/* Writes a sentence of ours: what stands in it between two ` is set as code. */
void xp_html_prose(const xp_printer *printer, xp_str text);

/* A paragraph, with a sentence of ours or with text as it is; what is not blank in `first` ("     Seen: ") is its
 * label.  One whose further lines would be set back by more than a level is the head of an item. */
void xp_html_line(const xp_printer *printer, const char *first, const char *rest, xp_str text, bool is_prose);

/* The whole page of a reading. */
void xp_report_html(const xp_view *view);

/* The style sheet of the page, from web/palette.css and web/report.css. */
xp_str xp_html_style(void);

/* ---- pictures; each writes nothing where there is nothing to show */

/* A bar for each device: busy, and idle by cause; then what the colours mean, with sums. */
void xp_picture_devices(const xp_view *view);

/* A column for each step, by step name: its length, and how much of it the devices worked. */
void xp_picture_steps(const xp_view *view);

/* Device time by scope, nested. */
void xp_picture_scopes(const xp_view *view);

#endif
