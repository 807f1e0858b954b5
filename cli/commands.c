/* What every command does, in one place. */
#include "commands.h"

#include "suggest.h"
#include "terminal.h"

const command commands[CMD_COUNT] = {
    [CMD_REPORT] =
        {"report", "PATH", "why the device waited: the answer, its evidence, and what to do",
         "Reads a capture and prints the verdict first, then counters, the health of the capture, steps, devices, "
         "causes of the waiting, the largest gaps, device time by scope, and what to do. "
         "\"xlaprof PATH\" does the same.",
         "xlaprof report logs/plugins/profile", run_reading},
    [CMD_INFO] = {"info", "PATH", "what the capture holds: files, planes, lines, events, warnings",
                  "Lists the files of the run, the planes (devices and parts of the host) and their lines (threads and "
                  "streams) with numbers of events and times, and every warning.",
                  "xlaprof info capture.xplane.pb", run_reading},
    [CMD_COUNTERS] =
        {"counters", "PATH|HOST:PORT", "compiles, executes, reads, uploads and syncs; cut points",
         "Counts them in the whole session, in a step and by scope, and lists what cut the program into "
         "pieces. PATH may also be a torch_xla metrics report; one that lies beside the capture "
         "(metrics.txt, or the capture's name with .metrics.txt) is compared with it. HOST:PORT asks a running "
         "program that carries libxlaprof's server.",
         "xlaprof counters capture.xplane.pb --metrics metrics.txt", run_counters},
    [CMD_STEPS] = {"steps", "PATH", "length and period of the steps, and the device work of each",
                   "Takes steps from annotations, else from the devices, else from runs of the main program, and says "
                   "which of these.",
                   "xlaprof steps capture.xplane.pb --csv > steps.csv", run_reading},
    [CMD_GAPS] =
        {"gaps", "PATH", "every stretch of time in which a device waited, and why",
         "Prints the devices, the causes of their waiting, every gap with its cause, and the longest ones with "
         "their parts and the events that show it.",
         "xlaprof gaps capture.xplane.pb --step denoise:3 --min-gap 10us", run_reading},
    [CMD_OPS] = {"ops", "PATH", "device time by operation, scope, category, module or source line",
                 "Sums the work of the devices. Self time leaves out what runs inside; the self times add up to all "
                 "device work.",
                 "xlaprof ops capture.xplane.pb --by scope --top 50", run_reading},
    [CMD_NAMES] =
        {"names", "PATH", "device time by the scopes of the program; whether names are on",
         "Shows the tree of scopes with the device time in each, what carries no name, and scopes that only the "
         "host or only the device knows.",
         "xlaprof names capture.xplane.pb", run_reading},
    [CMD_EVENTS] =
        {"events", "PATH", "single events by name, plane, line and time; or summed by name",
         "Lists events with start, length and arguments, in order of plane, line and time. With --by-name one "
         "row for each name.",
         "xlaprof events capture.xplane.pb --match '^PjRt' --from 59ms --to 61ms", run_events},
    [CMD_VIEW] =
        {"view", "PATH", "shows the capture in a browser: the answer, the timeline, tables",
         "Serves a page on 127.0.0.1 until Ctrl-C and prints its address, which holds a random token. The page "
         "shows the answer first, then a timeline of devices, gaps and host threads with search, and the tables "
         "of the other commands. Nothing is fetched from elsewhere and nothing is written. Over SSH: forward the "
         "port with ssh -L 8080:127.0.0.1:8080 HOST.",
         "xlaprof view logs/plugins/profile --open", run_view},
    [CMD_CAPTURE] = {"capture", "HOST:PORT[,HOST:PORT..] LOGDIR", "asks running programs for a capture",
                     "Asks the profiler servers of running programs (torch_xla, JAX, libxlaprof), waits while they "
                     "trace, and writes "
                     "LOGDIR/plugins/profile/RUN/HOST_PORT.xplane.pb. Asks again while that can help: the program may "
                     "not listen yet, "
                     "or be captured by somebody else. Exit status: 4 nothing listens or the connection broke, 6 the "
                     "name cannot be "
                     "resolved, 7 no profiler server, 8 busy, 9 the server failed, 10 the capture is empty, 5 only "
                     "some were captured.",
                     "xlaprof capture localhost:9012 logs --duration-ms 2000", run_capture},
    [CMD_AOT] =
        {"aot", "PROGRAM --plugin FILE --topology NAME",
         "compiles a program without its device, and tells which names remain",
         "Compiles an HLO module or MLIR for a machine that is not here, with the compiler of a PJRT plugin (such as "
         "libtpu), in a process of its own, and counts which scopes the compiled instructions carry: what a profile "
         "of that machine will show. Exit status 1 with --require-names if none does.",
         "xlaprof aot step.hlo.pb --plugin libtpu.so --topology v5e:2x2x1", run_aot},
    [CMD_CHECK] =
        {"check", "PATH --step NAME [--expect FILE]", "are the names on the device, the predicted gaps those found?",
         "Holds a capture against what its program should show: the name of the step and those of the scopes inside "
         "it are on instructions of the device, and the gaps are those that FILE predicts, a JSON list of rows such "
         "as {\"scope\": \"watermark\", \"trigger\": \"value_request\", \"count\": 1}; keys are scope, trigger_scope, "
         "cause, trigger, count (a number, or [least, most]), min_ps and max_ps. Exit status 1 if something is "
         "missing, or a gap that reaches the floor matches no row.",
         "xlaprof check logs --step train_step --scopes fwd,bwd --expect gaps.json", run_check},
    [CMD_DEMO] =
        {"demo", "lab|sd21|sdxl", "runs a small program on lazy tensors, and explains what it shows",
         "lab: trains two linear layers, lazily and operation by operation (eagerly), and counts the programs that are "
         "compiled and executed. sd21: a diffusion pipeline with one gap in the middle, where the host tokenises a "
         "prompt. sdxl: one with a large gap, where the host marks the image, and small ones, two for each step of the "
         "scheduler, which reads values. All capture themselves through a profiler server, and print counters, the "
         "reading, and what was predicted beside what was found. They run on the embedded device, or on that of a PJRT "
         "plugin. Exit status 1 if what is found is not what it was written to show, 5 (sd21, sdxl) if the plugin "
         "shows nothing of its device.",
         "xlaprof demo sdxl --fixed", run_demo},
};

const char *command_name(command_id id)
{
  return commands[id].name;
}

const command *command_find(const char *name)
{
  for (size_t i = 0; i < CMD_COUNT; i++) {
    if (strcmp(commands[i].name, name) == 0) {
      return &commands[i];
    }
  }
  return NULL;
}

const char *command_nearest(const char *word)
{
  const char *best = NULL;
  size_t distance = 3;
  for (size_t i = 0; i < CMD_COUNT; i++) {
    size_t d = edit_distance(word, strlen(word), commands[i].name);
    if (d < distance && d < strlen(commands[i].name) / 2 + 1) {
      distance = d;
      best = commands[i].name;
    }
  }
  return best;
}

int exit_status(xp_status status)
{
  switch (status) {
  case XP_OK:
    return 0;
  case XP_ERR_USAGE:
    return 2;
  case XP_ERR_CONNECT:
  case XP_ERR_TIMEOUT:
    return 4;
  default:
    return 3;
  }
}

xp_capture *load_capture(const options *o, bool no_events, int *status)
{
  xp_error err = {0};
  xp_capture *capture = NULL;
  xp_load_options load = {.run = o->run,
                          .host = o->host,
                          .threads = (int)o->threads,
                          .no_events = no_events,
                          .progress = terminal_progress()};
  *status = exit_status(xp_capture_load(o->path, &load, &capture, &err));
  if (*status == 0) {
    return capture;
  }
  terminal_progress_end();
  complain("", xp_str_c(err.text));
  return NULL;
}

int finish_capture(const xp_capture *capture, int status)
{
  if (!capture->partial && capture->note_count == 0) {
    return status;
  }
  fflush(stdout);
  for (size_t i = 0; i < capture->note_count; i++) {
    complain("warning: ", capture->notes[i]);
  }
  if (!capture->partial) {
    return status;
  }
  for (size_t i = 0; i < capture->host_count; i++) {
    if (capture->hosts[i].status != XP_FILE_OK) {
      complain_of_file(capture->hosts[i].path, capture->hosts[i].problem);
    }
  }
  complain("warning: ", xp_str_c("The capture was read in part; the result covers what could be read"));
  return status == 0 ? 5 : status;
}
