/* aot: compiles a program for a machine that is not here, and tells which scopes its instructions still carry. */
#include <stdlib.h>

#include "ahead.h"
#include "base/file.h"
#include "commands.h"
#include "hlo/read.h"
#include "report/program_scopes.h"
#include "terminal.h"

typedef struct {
  const options *o;
  xp_arena *arena;
  xp_str program;
  const char *format;
  const xp_hlo_module *source; /* NULL: the format is not read */
  const xp_hlo_module *compiled;
  int64_t compile_ps;
  xp_program_scopes scopes;
} job;

static bool is_mlir(xp_str bytes)
{
  return xp_str_starts(bytes, "ML\xefR") || xp_str_starts(xp_str_trim(xp_str_take(bytes, 4096)), "module") ||
         xp_str_starts(xp_str_trim(xp_str_take(bytes, 4096)), "#loc");
}

static xp_status read_source(job *j, xp_error *err)
{
  if (is_mlir(j->program)) {
    j->format = "mlir";
    return XP_OK;
  }
  j->format = "hlo";
  xp_status status = xp_hlo_unwrap(j->program, &j->program, err);
  return status == XP_OK ? xp_hlo_read(j->program, j->arena, &j->source, err) : status;
}

static xp_status compile(job *j, xp_error *err)
{
  const ahead_request request = {j->program, j->format, j->o->plugin, j->o->topology};
  xp_str compiled;
  xp_status status = ahead_compile(&request, j->arena, &compiled, &j->compile_ps, err);
  return status == XP_OK ? xp_hlo_read(compiled, j->arena, &j->compiled, err) : status;
}

/* torch_xla numbers its scopes. */
static bool is_lazy(const xp_hlo_module *module)
{
  return module != NULL && (xp_str_starts(module->name, "SyncTensorsGraph") || xp_str_starts(module->name, "IrToHlo"));
}

static void count(void *context)
{
  job *j = context;
  bool lazy = is_lazy(j->source) || is_lazy(j->compiled);
  xp_program_scopes_count(j->source, j->compiled, lazy, j->arena, &j->scopes);
}

static xp_status write_result(job *j, xp_error *err)
{
  const xp_program_scopes_view view = {.path = xp_str_c(j->o->path),
                                       .module = j->compiled->name,
                                       .plugin = xp_str_c(xp_base_name(j->o->plugin)),
                                       .topology = xp_str_c(j->o->topology),
                                       .compile_ps = j->compile_ps,
                                       .scopes = &j->scopes};
  xp_output output = terminal_output(j->o);
  return xp_program_scopes_write(&view, &output, err);
}

static xp_status run(job *j, xp_error *err)
{
  xp_status status = read_source(j, err);
  if (status == XP_OK) {
    status = compile(j, err);
  }
  if (status == XP_OK && !xp_arena_guard(j->arena, count, j)) {
    status = xp_fail(err, XP_ERR_MEMORY, "Memory ran out while the program was read");
  }
  return status == XP_OK ? write_result(j, err) : status;
}

int run_aot(const options *o)
{
  xp_error err = {0};
  xp_file file = {0};
  job j = {.o = o, .arena = xp_arena_create()};
  xp_status status = xp_file_open(o->path, &file, &err);
  if (status == XP_OK && j.arena == NULL) {
    status = xp_fail(&err, XP_ERR_MEMORY, "Memory ran out");
  }
  if (status == XP_OK && file.bytes.len == 0) {
    status =
        xp_fail(&err, XP_ERR_EMPTY, "%.300s is empty: give an HLO module (HloModuleProto, HloProto) or MLIR", o->path);
  }
  if (status == XP_OK) {
    j.program = file.bytes;
    status = run(&j, &err);
  }
  bool has_no_names = status == XP_OK && j.scopes.compiled_scoped == 0;
  xp_arena_destroy(j.arena);
  xp_file_close(&file);
  if (status != XP_OK) {
    return say(&err);
  }
  return o->require_names && has_no_names ? 1 : 0;
}
