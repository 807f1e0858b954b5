/* A directory of its own for a test, and what is in it. */
#ifndef XP_TESTS_FOLDERS_H
#define XP_TESTS_FOLDERS_H

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing.h"

/* Makes a new directory and writes its absolute path. */
static inline void folder_make(char path[256])
{
  const char *base = getenv("TMPDIR");
  char text[200];
  snprintf(text, sizeof text, "%.150s/xlaprof-test-XXXXXX", base != NULL && base[0] == '/' ? base : "/tmp");
  assert_non_null(mkdtemp(text));
  char *absolute = realpath(text, NULL);
  assert_non_null(absolute);
  snprintf(path, 256, "%s", absolute);
  free(absolute);
}

static inline int folder_remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
  (void)info;
  (void)kind;
  (void)where;
  return remove(path);
}

static inline void folder_remove(const char *path)
{
  assert_int_equal(nftw(path, folder_remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline int folder_compare(const void *a, const void *b)
{
  return strcmp(a, b);
}

/* Fails unless these are the names in a directory, sorted, each with ';' behind. */
static inline void assert_folder(const char *path, const char *want)
{
  static char names[2048][128];
  char text[4096] = "";
  size_t count = 0;
  DIR *dir = opendir(path);
  assert_non_null(dir);
  for (struct dirent *entry; (entry = readdir(dir)) != NULL && count < 2048;) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
      snprintf(names[count++], sizeof names[0], "%.127s", entry->d_name);
    }
  }
  closedir(dir);
  qsort(names, count, sizeof names[0], folder_compare);
  for (size_t i = 0; i < count && strlen(text) < sizeof text - 130; i++) {
    strcat(strcat(text, names[i]), ";");
  }
  assert_string_equal(text, want);
}

#endif
