/* Where captures go: logdir/plugins/profile/<run>/<host>.xplane.pb, and how a file gets there.
 *
 * A file is written under a temporary name in its directory and gets its own name when it is whole; nothing that exists
 * is overwritten, and what fails leaves nothing behind. Layout: xla/tsl/profiler/rpc/client/save_profile.cc,
 * capture_profile.cc (ExportToTensorBoard).
 */
#ifndef XP_SESSION_RUN_FILES_H
#define XP_SESSION_RUN_FILES_H

#include "base/error.h"
#include "base/str.h"

enum { XP_PATH_ROOM = 4096, XP_RUN_ROOM = 128 };

/* Refuses "scheme://", and a logdir that cannot be made or written to.  Makes the directories that are missing. */
xp_status xp_logdir_check(const char *logdir, xp_error *err);

/* The name of a run that begins now: YYYY_MM_DD_HH_MM_SS in local time. */
void xp_run_name_now(char name[XP_RUN_ROOM]);

/* Makes root/<run> and what is missing above it; writes its absolute path.  run NULL: the name of now, with _2, _3 ..
 * behind it if that exists; a run that is named may exist.  root: logdir/plugins/profile. */
xp_status xp_run_directory_make(const char *root, const char *run, char path[XP_PATH_ROOM], xp_error *err);

/* The same below a logdir: logdir/plugins/profile/<run>. */
xp_status xp_logdir_run_make(const char *logdir, const char *run, char path[XP_PATH_ROOM], xp_error *err);

/* A file on its way. */
typedef struct {
  int fd;             /* -1: not open */
  const char *chosen; /* borrowed */
  char directory[XP_PATH_ROOM];
  char temporary[XP_PATH_ROOM + 64]; /* empty: there is none */
} xp_new_file;

/* chosen (borrowed): the path in the directory that somebody wants for it, which messages name then; NULL: it gets its
 * name when it is published. */
xp_status xp_new_file_open(const char *directory, const char *chosen, xp_new_file *file, xp_error *err);

/* The same beside a path that somebody chose, for xp_new_file_publish_chosen: fails if the path exists or names no
 * file. */
xp_status xp_new_file_open_as(const char *path, xp_new_file *file, xp_error *err);

/* Whether a new file can be written there; leaves nothing behind. */
xp_status xp_new_file_check(const char *path, xp_error *err);

/* Appends; XP_ERR_IO says what the system said. */
xp_status xp_new_file_write(xp_new_file *file, const void *bytes, size_t count, xp_error *err);

/* Ends the writing; the file keeps its temporary name. */
xp_status xp_new_file_close(xp_new_file *file, xp_error *err);

/* Gives the file its name, stem and suffix ("host", ".xplane.pb"), and closes it; _2, _3 .. goes behind the stem if the
 * name is taken.  '/', ':' and control characters of the stem become '_'.  path (may be NULL) gets the whole path.
 * After an error the file is gone. */
xp_status xp_new_file_publish(xp_new_file *file, const char *stem, const char *suffix, char path[XP_PATH_ROOM],
                              xp_error *err);

/* The same for a file whose path was chosen: fails if it exists. */
xp_status xp_new_file_publish_chosen(xp_new_file *file, xp_error *err);

/* Opens, writes and publishes a file whose bytes are all there. */
xp_status xp_new_file_save(const char *path, const void *bytes, size_t count, xp_error *err);

/* Removes a file that was not published; does nothing otherwise. */
void xp_new_file_discard(xp_new_file *file);

#endif
