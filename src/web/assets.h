/* The files of the page: those in the program, or those of a folder while the page is being changed. */
#ifndef XP_WEB_ASSETS_H
#define XP_WEB_ASSETS_H

#include "base/error.h"
#include "web/reply.h"

/* A file in the program; the table ends with an empty name.  Made from web/ when the program is built. */
typedef struct {
  const char *name; /* "index.html" */
  const unsigned char *bytes;
  size_t size;
} xp_asset;

extern const xp_asset xp_assets[];

/* Opens a folder to serve files from; *folder is to be closed with close().  XP_ERR_NOT_FOUND, XP_ERR_USAGE. */
xp_status xp_assets_open_folder(const char *path, int *folder, xp_error *err);

/* Answers with a file: of the folder, or of the program if folder is -1.  The empty name is index.html.  Names have no
 * part that begins with a dot, and a file of a folder is read only if no link is on the way to it: nothing outside of
 * the folder can be named. */
void xp_assets_answer(int folder, xp_str name, xp_reply *reply);

#endif
