/* HLO modules for hlo_peer.py to compare with what XLA makes of them.
 *
 *   hlo_modules build FOLDER
 *     builds every sample, and writes FOLDER/NAME.hlo (HloModuleProto) and FOLDER/NAME.hlo.ours (our text)
 *   hlo_modules extract CAPTURE FOLDER
 *     writes the HloProtos of a capture to FOLDER/0.hlo, FOLDER/1.hlo, ..
 *   hlo_modules again FILE...
 *     reads HloModuleProtos or HloProtos, and writes FILE.again (the module as we write it) and FILE.ours
 *   hlo_modules names FILE...
 *     prints a line for each instruction: opcode, name, op_name, source file, line, with tabs between them
 */
#include <stdio.h>

#include "../unit/hlo_samples.h"
#include "base/file.h"
#include "hlo/read.h"
#include "hlo/text.h"
#include "hlo/write.h"
#include "xspace/xspace.h"

static bool write_file(const char *name, const char *ending, xp_str bytes)
{
  char path[1100];
  snprintf(path, sizeof path, "%s%s", name, ending);
  FILE *file = fopen(path, "wb");
  bool is_written = file != NULL && fwrite(bytes.ptr, 1, bytes.len, file) == bytes.len;
  is_written = file != NULL && fclose(file) == 0 && is_written;
  if (!is_written) {
    perror(path);
  }
  return is_written;
}

/* The message under one name, our text under another. */
static bool write_module(const xp_hlo_module *module, xp_arena *arena, const char *name, const char *ending)
{
  xp_wire_writer w = {0};
  xp_hlo_write(module, &w);
  bool is_written = !w.failed && write_file(name, ending, xp_str_from((const char *)w.data, w.len)) &&
                    write_file(name, ".ours", xp_hlo_module_text(arena, module));
  xp_wire_writer_free(&w);
  return is_written;
}

static bool build(const hlo_sample *sample, const char *folder)
{
  char name[1024];
  xp_arena *arena = xp_arena_create();
  xp_hlo_builder *builder = xp_hlo_builder_create(arena, sample->name);
  const xp_hlo_module *module;
  xp_error err;
  bool is_done = xp_hlo_builder_finish(builder, sample->build(builder), &module, &err) == XP_OK;
  if (!is_done) {
    fprintf(stderr, "%s: %s\n", sample->name, err.text);
  }
  snprintf(name, sizeof name, "%s/%s.hlo", folder, sample->name);
  is_done = is_done && write_module(module, arena, name, "");
  xp_arena_destroy(arena);
  return is_done;
}

/* The protos of a plane: a stat of each of its event metadata. */
static bool extract_plane(const xp_plane *plane, const char *folder, size_t *number)
{
  for (size_t i = 0; i < plane->event_meta_count; i++) {
    xp_stats stats = xp_meta_stats(plane, &plane->event_meta[i]);
    for (xp_stat stat; xp_stats_next(&stats, &stat);) {
      char name[1024];
      snprintf(name, sizeof name, "%s/%zu.hlo", folder, *number);
      if (xp_str_is(stat.name, "hlo_proto") || xp_str_is(stat.name, "Hlo Proto")) {
        (*number)++;
        if (!write_file(name, "", xp_stat_text(&stat))) {
          return false;
        }
      }
    }
  }
  return true;
}

static bool extract(const char *path, const char *folder)
{
  xp_capture *capture;
  xp_error err;
  size_t number = 0;
  bool is_done = true;
  if (xp_capture_load(path, NULL, &capture, &err) != XP_OK) {
    fprintf(stderr, "%s\n", err.text);
    return false;
  }
  for (size_t h = 0; h < capture->host_count; h++) {
    for (size_t p = 0; p < capture->hosts[h].plane_count; p++) {
      is_done = extract_plane(&capture->hosts[h].planes[p], folder, &number) && is_done;
    }
  }
  xp_capture_free(capture);
  return is_done;
}

static bool write_again(const xp_hlo_module *module, xp_arena *arena, const char *path)
{
  return write_module(module, arena, path, ".again");
}

/* File and line of an instruction: its own, or those of its innermost frame, whichever the compiler left. */
static void print_place(const xp_hlo_module *module, const xp_hlo_meta *meta)
{
  const xp_hlo_frame_tables *tables = &module->frames;
  xp_str file = meta->source_file;
  int32_t line = meta->source_line;
  if (line == 0 && meta->stack_frame_id > 0 && (size_t)meta->stack_frame_id <= tables->frame_count) {
    const int32_t location = tables->frames[meta->stack_frame_id - 1].location;
    const xp_hlo_file_location *place =
        location > 0 && (size_t)location <= tables->location_count ? &tables->locations[location - 1] : NULL;
    if (place != NULL && place->file_name > 0 && (size_t)place->file_name <= tables->file_name_count) {
      file = tables->file_names[place->file_name - 1];
      line = place->line;
    }
  }
  printf("%.*s\t%d\n", (int)file.len, file.ptr, line);
}

static bool print_names(const xp_hlo_module *module, xp_arena *arena, const char *path)
{
  (void)arena;
  (void)path;
  for (uint32_t c = 0; c < module->computation_count; c++) {
    for (uint32_t i = 0; i < module->computations[c].instruction_count; i++) {
      const xp_hlo_instruction *in = &module->computations[c].instructions[i];
      printf("%.*s\t%.*s\t%.*s\t", (int)in->opcode_text.len, in->opcode_text.ptr, (int)in->name.len, in->name.ptr,
             (int)in->meta.op_name.len, in->meta.op_name.ptr);
      print_place(module, &in->meta);
    }
  }
  return true;
}

/* Reads a message and hands the module on. */
static bool with_module(const char *path, bool (*use)(const xp_hlo_module *module, xp_arena *arena, const char *path))
{
  xp_error err;
  xp_file file;
  xp_str message;
  const xp_hlo_module *module;
  if (xp_file_open(path, &file, &err) != XP_OK) {
    fprintf(stderr, "%s\n", err.text);
    return false;
  }
  xp_arena *arena = xp_arena_create();
  bool is_read =
      xp_hlo_unwrap(file.bytes, &message, &err) == XP_OK && xp_hlo_read(message, arena, &module, &err) == XP_OK;
  if (!is_read) {
    fprintf(stderr, "%s: %s\n", path, err.text);
  }
  bool is_done = is_read && use(module, arena, path);
  xp_arena_destroy(arena);
  xp_file_close(&file);
  return is_done;
}

int main(int argc, char **argv)
{
  bool is_done = argc >= 3;
  if (argc == 3 && strcmp(argv[1], "build") == 0) {
    for (size_t i = 0; i < SAMPLE_COUNT(hlo_samples); i++) {
      is_done = build(&hlo_samples[i], argv[2]) && is_done;
    }
    return is_done ? 0 : 1;
  }
  if (argc == 4 && strcmp(argv[1], "extract") == 0) {
    return extract(argv[2], argv[3]) ? 0 : 1;
  }
  for (int i = 2; i < argc; i++) {
    is_done = with_module(argv[i], strcmp(argv[1], "names") == 0 ? print_names : write_again) && is_done;
  }
  return is_done ? 0 : 1;
}
