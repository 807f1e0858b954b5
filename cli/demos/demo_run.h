/* What the demonstrations share: a program captures itself, and what is found in the capture is shown beside what was
 * predicted.  All of them print three parts: counters, the reading, predicted and found.
 */
#ifndef XLAPROF_DEMO_RUN_H
#define XLAPROF_DEMO_RUN_H

#include "analyze/analyze.h"
#include "options.h"
#include "report/report.h"
#include "session/run_files.h"

typedef struct {
  const options *o;
  const char *name; /* of the demonstration */
  xp_output output;
  const char *device;                            /* what it runs on */
  char logdir[XP_PATH_ROOM], path[XP_PATH_ROOM]; /* of the capture: its folder and its file */
  bool is_device_seen;                           /* the capture has work of a device */
  bool ok;                                       /* what was found is what was predicted */
} demo_run;

/* Chooses the folder of the capture and makes it: that of --capture, or a new one. */
xp_status demo_make_logdir(demo_run *r, xp_error *err);

/* Opens the device that was asked for; embedded: options of the embedded one, or NULL. */
xp_status demo_open_device(demo_run *r, const char *const *embedded, xp_error *err);

/* Reads the capture and hands the reading on; sets is_device_seen before. */
xp_status demo_read_capture(demo_run *r, xp_status (*use)(void *context, xp_reading *reading, xp_error *err),
                            void *context, xp_error *err);

/* Removes a capture in a folder that was made for it: for output that does not name the folder. */
void demo_remove_capture(demo_run *r);

/* The heading of a part. */
void demo_part(const xp_printer *printer, int number, const char *title);

/* Part 2: what `xlaprof report` prints; without work of a device the counters and the steps.  which: "The third run",
 * the sentence's beginning. */
xp_status demo_tell_reading(demo_run *r, const char *which, xp_reading *reading, xp_error *err);

/* The heading of part 3, and whether all is as predicted.  advice: what to do if it is not, or NULL. */
xp_status demo_tell_verdict(demo_run *r, const char *built, const char *advice, xp_error *err);

/* "xlaprof view LOGDIR", and what it shows. */
void demo_tell_view(const xp_printer *printer, const demo_run *r);

#endif
