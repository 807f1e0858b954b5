/* Where the captures of a path are: files "<run>/<host>.xplane.pb" below log directories.
 *
 * Everything depends on the file name alone: *.xplane.pb, also with .gz or .zst behind.  A run is a directory that
 * holds such files.  Symbolic links are followed; a directory is entered once.  Pipes and devices are skipped: to open
 * one might wait forever.  Of vm.xplane.pb and vm.xplane.pb.gz in one directory the unpacked one is taken.
 */
#ifndef XP_XSPACE_FIND_H
#define XP_XSPACE_FIND_H

#include "base/arena.h"
#include "base/error.h"

typedef struct {
  xp_str path;  /* of the run directory */
  xp_str name;  /* its last component */
  int64_t time; /* newest modification time of its captures, Unix s */
  xp_str *files;
  size_t file_count; /* sorted by name */
  xp_str *copies;    /* packed files that lie beside a file of the same name: not in files */
  size_t copy_count;
} xp_run;

typedef struct {
  xp_run *runs; /* newest first: by name where both names are times (2026_07_23_10_26_06), else by modification time */
  size_t run_count;
  size_t skipped;       /* entries that may be captures, or hold some, and could not be looked at */
  xp_str first_skipped; /* "PATH: why"; a long path is cut */
} xp_run_list;

/* Lists the runs at or below a path; a path to a file gives one run with this file, whatever its name.
 * XP_ERR_NOT_FOUND: no such path.  XP_ERR_EMPTY: no capture below it; the text says how many directories were searched,
 * what was skipped and what to do.  Memory comes from the arena. */
xp_status xp_find_runs(const char *path, xp_arena *arena, xp_run_list *list, xp_error *err);

#endif
